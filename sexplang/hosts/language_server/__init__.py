"""The language server: messages of an editor on standard input, answers on standard output.

It runs no program. Its knowledge comes from the texts and from the checks of `check`.
"""

import gc
import os
import sys
from contextlib import redirect_stdout
from typing import BinaryIO, cast

from sexplang.hosts.cli.guard import DONE, FAILED, MISUSE, say
from sexplang.package.signals import restore_signals


def serve() -> int:
    """Serve one editor until it leaves; return the exit status.

    The status is 1 if the editor left without `exit` or sent a message that is too large. Raises
    ModuleNotFoundError if pygls is missing.
    """
    from sexplang.hosts.language_server.protocol import LimitedInput, TooLarge
    from sexplang.hosts.language_server.server import server

    if sys.stdin is None:
        say("there is no standard input; an editor starts this command and talks to it there")
        return MISUSE
    # An editor that ends its server like this waits for no answer.
    restore_signals()
    # Short commands run without the garbage collector; this one stays.
    gc.enable()
    made, editor = server()
    # Only messages may go to standard output.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out, redirect_stdout(sys.stderr):
        try:
            made.start_io(stdin=cast(BinaryIO, LimitedInput(sys.stdin.buffer)), stdout=out)
        except TooLarge as large:
            say(f"{large}; the connection is closed")
            return FAILED
    return DONE if editor.has_ended else FAILED
