"""`python -m sexplang` and the `sexplang` script."""

import sys


def main() -> None:
    """Runs the command and exits with its status."""
    from sexplang.hosts import main as command

    sys.exit(command())


if __name__ == "__main__":
    main()
