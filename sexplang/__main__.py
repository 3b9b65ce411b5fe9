"""`python -m sexplang` and the `sexplang` script."""

import gc

from sexplang.package.signals import exit_on_interrupt, exit_process, raise_on_signals


def main() -> None:
    """Run the command and exit with its status."""
    # What is loaded now stays: looking for garbage in it is a tenth of the start.
    gc.disable()
    try:
        exit_on_interrupt()
        from sexplang.hosts import main as command

        raise_on_signals()
        status = command()
    except KeyboardInterrupt:  # before there is anything to interrupt, or after
        status = 130
    exit_process(status)


if __name__ == "__main__":
    main()
