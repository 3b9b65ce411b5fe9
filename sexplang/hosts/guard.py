"""Whatever happens inside a command to an exit status: 130 for Ctrl-C, 2 for a fault of ours.

Law: no traceback reaches a person who did not ask for one.
"""

import os
import sys
from collections.abc import Callable

DONE, FAILED, MISUSE, INTERRUPTED = 0, 1, 2, 130

TRACEBACK = "SEXPLANG_TRACEBACK"


def guarded(command: Callable[[], int]) -> int:
    """The command's own status, or the one for what broke it."""
    try:
        status = command()
        sys.stdout.flush()
    except KeyboardInterrupt:
        _say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone; Python's own flush at exit must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    # Anything else is our own fault: a program's are diagnostics and outcomes, never exceptions.
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        summary = " ".join(f"{type(error).__name__}: {error}".split())
        _say(f"this is a bug in sexplang: {summary[:300]}")
        _say(f"set {TRACEBACK}=1 to see the traceback, and please report it with the program")
        return MISUSE
    return status


def _say(words: str) -> None:
    print(f"sexplang: {words}", file=sys.stderr)
