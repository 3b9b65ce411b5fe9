"""The commands of the session that begin with a colon."""

import shlex
from collections.abc import Callable

from sexplang.hosts.repl.definitions import explain, find_by_words
from sexplang.hosts.repl.session import Session
from sexplang.terms.diagnostic import Diagnostics

HELP = """\
What you type is run when its brackets are closed, and its value is shown.
Names may be defined again. Tab completes, the arrow keys bring back what was typed.

:doc NAME                what a name means
:apropos WORDS           the names that fit words of what they do
:effects EXPR            what running it would ask for, and how often a model
:names                   the names that this session has defined
:load FILE [name=value]  run a file here, with its inputs
:undo                    go back to before the last input
:help                    this text
:quit                    leave; so does Ctrl-D

Ctrl-C stops what is running, or drops what is typed."""


class Quit(Exception):
    """The person leaves."""


def obey(session: Session, text: str) -> None:
    """Perform `:word …`. Raises Quit."""
    word, _, rest = text.strip().partition(" ")
    order = _ORDERS.get(word)
    if order is None:
        session.failures += 1
        session.say(f"there is no `{word}`; :help lists what there is")
        return
    order(session, rest.strip())


def _help(session: Session, rest: str) -> None:
    print(HELP, file=session.out, flush=True)


def _doc(session: Session, name: str) -> None:
    if not name:
        session.say("name what you mean, as in :doc map")
        return
    found = explain(name, session.growing.names)
    if found is None:
        session.failures += 1
        session.say(f"nothing here is called `{name}`; `:apropos {name}` finds names by words")
        return
    print(found, file=session.out, flush=True)


def _apropos(session: Session, words: str) -> None:
    if not words:
        session.say("write words of what you look for, as in :apropos split text")
        return
    found = find_by_words(words, session.growing.names)
    if not found:
        session.failures += 1
        session.say(f"no name fits `{words}`")
        return
    print(found, file=session.out, flush=True)


def _effects(session: Session, text: str) -> None:
    if not text:
        session.say("write what to look at, as in :effects (summarize note)")
        return
    try:
        print(session.foresee(text), file=session.out, flush=True)
    except Diagnostics as found:
        session.refuse(found.diagnostics)


def _names(session: Session, rest: str) -> None:
    names = sorted(session.growing.names)
    print("\n".join(names) or "nothing yet", file=session.out, flush=True)


def _load(session: Session, rest: str) -> None:
    try:
        words = shlex.split(rest)
    except ValueError:
        words = []
    if not words:
        session.say("name a file, as in :load program.sexp topic=tea")
        return
    session.load(words[0], tuple(words[1:]))


def _undo(session: Session, rest: str) -> None:
    if not session.undo():
        session.say("there is nothing to undo")


def _quit(session: Session, rest: str) -> None:
    raise Quit


_ORDERS: dict[str, Callable[[Session, str], None]] = {
    ":apropos": _apropos,
    ":doc": _doc,
    ":effects": _effects,
    ":help": _help,
    ":load": _load,
    ":names": _names,
    ":quit": _quit,
    ":undo": _undo,
}

ORDERS = tuple(_ORDERS)
