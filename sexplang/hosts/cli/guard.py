"""The last guard around a command: any exception to an exit status.

The status is 3 for a run that waits, 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP, 2 for an
internal fault. Law: no traceback reaches a person who did not ask for one.
"""

import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress

from sexplang.package.signals import ENDING, ending_signal

DONE, FAILED, MISUSE, WAITING = 0, 1, 2, 3

TRACEBACK = "SEXPLANG_TRACEBACK"

_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""Errors of an output that takes no more. The error of a file would have its name."""


def guard(command: Callable[[], int]) -> int:
    """Return the command's own status, or the one for the exception that ended it."""
    try:
        status = command()
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _report_interrupt()
    # Any other exception is an internal fault: programs give diagnostics and outcomes.
    except Exception as error:
        # Python wraps the exception if it comes while a class is being made.
        if isinstance(error.__cause__, KeyboardInterrupt):
            return _report_interrupt()
        if isinstance(error, OSError) and error.filename is None:
            # The reader of the output has gone.
            if isinstance(error, BrokenPipeError) and error.errno in (errno.EPIPE, None):
                return _unwritten("")
            if error.errno in _UNWRITABLE:
                why = os.strerror(error.errno).lower()
                return _unwritten(
                    f"cannot write the result: {why}; make room, or send it elsewhere"
                )
        if os.environ.get(TRACEBACK):
            import traceback

            traceback.print_exc()
            return MISUSE
        summary = " ".join(f"{type(error).__name__}: {error}".split())
        say(f"this is a bug in sexplang: {summary[:300]}")
        say(f"set {TRACEBACK}=1 to see the traceback, and please report it with the program")
        return MISUSE
    return status


def _report_interrupt() -> int:
    number = ending_signal()
    _unwritten(ENDING.get(number, "interrupted"))  # the terminal may be gone
    return 128 + number


def _unwritten(words: str) -> int:
    if words:
        say(words)
    # Python's own flush at exit must not complain either.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
            continue
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
    return FAILED


def say(words: str) -> None:
    """Print a line to the terminal, if there is one."""
    with suppress(OSError):
        print(f"sexplang: {words}", file=sys.stderr)
