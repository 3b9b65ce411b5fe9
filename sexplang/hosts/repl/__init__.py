"""The interactive session: `sexplang repl`.

Without a terminal or without prompt_toolkit it reads plain lines of standard input.
"""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import suppress

from sexplang.hosts.cli.guard import DONE, FAILED, MISUSE, say
from sexplang.hosts.cli.output import say_all
from sexplang.hosts.repl.colon_commands import Quit, obey
from sexplang.hosts.repl.session import Session
from sexplang.hosts.settings.configuration import apply_configuration
from sexplang.hosts.settings.limit_options import limits_of
from sexplang.hosts.settings.path_arguments import source_at
from sexplang.hosts.settings.run_arguments import Settings
from sexplang.package.signals import is_ending
from sexplang.terms.diagnostic import Diagnostics

_INSTALL = "pip install 'sexplang[repl]'"


def repl(settings: Settings) -> int:
    """Run a session; return 1 if standard input is no terminal and an input failed."""
    # Short commands run without the garbage collector; this one stays.
    gc.enable()
    if sys.stdin is None:
        say("there is no standard input to read; pipe the text in")
        return MISUSE
    try:
        if settings.file not in (None, "-") and not os.path.exists(settings.file or ""):
            source_at(settings.file)
        limits_of(settings, None)
        settings = apply_configuration(settings, None)
    except Diagnostics as found:
        return say_all(found.diagnostics, MISUSE)
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    session = Session(settings, sys.stdout, sys.stderr)
    try:
        with suppress(Quit):
            if settings.file is not None:
                _enter(session, None, is_terminal)
            for text in _texts(session, is_terminal):
                _enter(session, text, is_terminal)
    finally:
        session.close()
    return FAILED if session.failures and not is_terminal else DONE


def _enter(session: Session, text: str | None, is_terminal: bool) -> None:
    """Run one input, or the file of the command line; Ctrl-C stops only that."""
    try:
        if text is None:
            session.load(session.settings.file or "-", session.settings.inputs)
        elif text.lstrip().startswith(":"):
            obey(session, text)
        else:
            session.enter(text)
    except KeyboardInterrupt:
        if not is_terminal or is_ending():
            raise
        session.say("interrupted")


def _texts(session: Session, is_terminal: bool) -> Iterator[str]:
    from sexplang.hosts.repl import input_lines

    if not is_terminal:
        return input_lines.texts(False)
    session.say("sexplang: :help says what there is, Ctrl-D leaves")
    try:
        from sexplang.hosts.repl.terminal import texts
    except ModuleNotFoundError as missing:
        if missing.name != "prompt_toolkit":
            raise
        session.say(f"history and completion need prompt_toolkit; type: {_INSTALL}")
        return input_lines.texts(True)
    return texts(session, os.environ)
