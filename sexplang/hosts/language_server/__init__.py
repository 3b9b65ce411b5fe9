"""An editor's messages on standard input to answers on standard output: the language server.

It runs nothing: what it knows it has from reading texts and from the same checks as `check`.
"""

import gc
import os
import sys
from contextlib import redirect_stdout
from typing import BinaryIO, cast

from sexplang.hosts.cli.guard import DONE, FAILED, MISUSE, say
from sexplang.package.process import restore_signals


def serve() -> int:
    """Serves one editor until it leaves; 1 if it left without a word, or sent a message that is too
    large. Raises ModuleNotFoundError where pygls is missing."""
    from sexplang.hosts.language_server.protocol import Incoming, TooLarge
    from sexplang.hosts.language_server.server import server

    if sys.stdin is None:
        say("there is no standard input; an editor starts this command and talks to it there")
        return MISUSE
    # An editor that ends its server in this way waits for nothing more.
    restore_signals()
    # A command that ends soon does without looking for garbage; this one stays.
    gc.enable()
    made, editor = server()
    # Nothing but messages may go where the messages go.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out, redirect_stdout(sys.stderr):
        try:
            made.start_io(stdin=cast(BinaryIO, Incoming(sys.stdin.buffer)), stdout=out)
        except TooLarge as large:
            say(f"{large}; the connection is closed")
            return FAILED
    return DONE if editor.has_ended else FAILED
