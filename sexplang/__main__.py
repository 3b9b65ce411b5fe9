"""`python -m sexplang` and the `sexplang` script."""

import gc
import sys


def main() -> None:
    """Runs the command and exits with its status."""
    # What is loaded now stays: looking for garbage in it is a tenth of the start.
    gc.disable()
    from sexplang.hosts import main as command

    sys.exit(command())


if __name__ == "__main__":
    main()
