"""`python -m sexplang` and the `sexplang` script."""

import gc
import sys


def main() -> None:
    """Runs the command and exits with its status."""
    # What is loaded now stays: looking for garbage in it is a tenth of the start.
    gc.disable()
    try:
        from sexplang.hosts import main as command

        status = command()
    except KeyboardInterrupt:
        # Before there is anything to interrupt, or after.
        status = 130
    sys.exit(status)


if __name__ == "__main__":
    main()
