"""`python -m sexplang` and the `sexplang` script."""

import gc

from sexplang.package.process import begin, heed, leave


def main() -> None:
    """Runs the command and exits with its status."""
    # What is loaded now stays: looking for garbage in it is a tenth of the start.
    gc.disable()
    try:
        begin()
        from sexplang.hosts import main as command

        heed()
        status = command()
    except KeyboardInterrupt:  # before there is anything to interrupt, or after
        status = 130
    leave(status)


if __name__ == "__main__":
    main()
