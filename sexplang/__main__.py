"""`python -m sexplang` and the `sexplang` script."""

import gc
import sys

INTERRUPTED = 130


def main() -> None:
    """Runs the command and exits with its status."""
    # What is loaded now stays: looking for garbage in it is a tenth of the start.
    gc.disable()
    status = INTERRUPTED
    try:
        try:
            sys.unraisablehook = _dropped
            from sexplang.process import heed

            heed()
            from sexplang.hosts import main as command

            status = command()
        except KeyboardInterrupt:  # before there is anything to interrupt, or after
            pass  # nothing is loaded yet, not even `suppress`
        status = _left(status)
    except KeyboardInterrupt:  # while we were leaving
        status = _left(INTERRUPTED)
    sys.exit(status)


def _left(status: int) -> int:
    from sexplang.process import leave

    return leave(status)


def _dropped(lost: "sys.UnraisableHookArgs") -> None:
    """Ctrl-C where nothing can be raised comes again; anything else is told as always."""
    if lost.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(lost)
        return
    from sexplang.process import ended_by, press_again

    press_again(ended_by())


if __name__ == "__main__":
    main()
