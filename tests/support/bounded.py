"""Program text to how it ends in a process of its own, whose memory and time are bounded.

A program that is not stopped by the language is stopped by the operating system, which the test
then sees: a signal or a traceback.
"""

import gc
import os
import sys
import traceback
from collections.abc import Iterable, Iterator
from functools import cache
from multiprocessing import forkserver, get_context
from multiprocessing.connection import Connection
from resource import RLIMIT_AS, RLIMIT_CPU, RUSAGE_SELF, getrusage, setrlimit
from time import process_time
from typing import Any

from attrs import evolve, frozen
from support.sources import no_files

from sexplang.hosts.cli.output import as_json, format_value
from sexplang.hosts.terminal.show import show, show_error
from sexplang.machine import Done, Failed, Limits, Suspended
from sexplang.pipeline.pipeline import build
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.source import Source
from sexplang.terms.values.boundary import plain
from sexplang.terms.values.value import Fault

MEMORY = 1_500_000_000
"""Bytes that a process may hold."""
SECONDS = 20
"""Processor time after which a process is stopped; what ends at all needs a small part of it."""

LOADED = (
    *("sexplang.tasks", "sexplang.templates", "sexplang.expander", "sexplang.analysis"),
    *("json", "decimal", "difflib"),
)
"""What only some programs need; to load it takes longer than most of them."""


@frozen
class Hostile:
    """A program, the codes with which it may end (empty for a value), and its limits."""

    text: str
    codes: frozenset[str]
    limits: Limits = Limits()


@frozen
class Ending:
    """How a program ended."""

    code: str = ""
    """A diagnostic's code, an error's reason; empty for a value."""
    type: str = ""
    """An error's type."""
    text: str = ""
    """The value as it is written, the message, or the traceback of a Python exception."""
    seconds: float = 0
    """Processor time from the text to the end."""
    megabytes: int = 0
    """The most memory that the process held."""
    exit: int = 0
    """The process's status; the negative number of the signal that ended it."""


@cache
def _forks() -> Any:
    """A process is forked from one that has imported all of this and nothing of the tests."""
    forks = get_context("forkserver")
    forks.set_forkserver_preload([__name__, *LOADED])
    before = dict(os.environ)
    # It looks there alone: in Python 3.11 it is not told where else modules are, and what it cannot
    # import each process imports anew.
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    try:
        forkserver.ensure_running()
    finally:
        os.environ.clear()
        os.environ.update(before)
    return forks


def ended(hostile: Hostile) -> Ending:
    """How one program ends, in a process of its own."""
    return [*all_ended([hostile.text], hostile.limits)][-1]


def assert_ends(hostile: Hostile) -> None:
    """The program ends by itself, with its code."""
    ending = ended(hostile)

    assert ending.exit == 0 and ending.code in hostile.codes, (ending.code, ending.text)


def all_ended(
    texts: Iterable[str],
    limits: Limits = Limits(),  # noqa: B008
    memory: int = MEMORY,
) -> Iterator[Ending]:
    """How each of the programs ends, one after the other in the same process."""
    here, there = _forks().Pipe(duplex=False)
    process = _forks().Process(target=_all, args=(there, list(texts), limits, memory))
    process.start()
    there.close()
    while True:
        try:
            ending = here.recv()
        except EOFError:
            break
        yield ending
    process.join()
    if process.exitcode:
        yield Ending("no-end", exit=process.exitcode)


def _all(pipe: Connection, texts: list[str], limits: Limits, memory: int) -> None:
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)  # as the command has it
    setrlimit(RLIMIT_AS, (memory, memory))
    setrlimit(RLIMIT_CPU, (SECONDS * len(texts), SECONDS * len(texts)))
    for text in texts:
        pipe.send(_one(text, limits))


def _one(text: str, limits: Limits) -> Ending:
    begun = process_time()
    try:
        ending = end(text, limits)
    except BaseException:
        ending = Ending("python", text=traceback.format_exc(limit=-8)[-4000:])
    seconds = process_time() - begun
    most = getrusage(RUSAGE_SELF).ru_maxrss // 1000
    return evolve(ending, seconds=seconds, megabytes=most)


def end(text: str, limits: Limits = Limits(), steps: int = 100) -> Ending:  # noqa: B008
    """Builds and runs a program here and makes its value leave by every way out.

    A host answers its requests with nil, `steps` times at most.
    """
    from sexplang import machine
    from sexplang.pipeline import pipeline

    try:
        program = build(Source("hostile", text), no_files)
    except Diagnostics as found:
        all(map(show, found.diagnostics[:20]))
        first = next(each for each in found.diagnostics if each.severity == "error")
        return Ending(first.code, "DIAGNOSTIC", first.title)
    outcome = machine.start(program, {}, pipeline.tasks(), limits)
    while isinstance(outcome, Suspended) and steps:
        steps -= 1
        outcome = outcome.resume(outcome.requests[0].id, None)
    if isinstance(outcome, Suspended):
        return Ending("waits")
    if isinstance(outcome, Failed):
        fields = outcome.error.fields
        show_error(outcome.error)
        return Ending(fields["reason"], fields["type"], fields["message"])
    assert isinstance(outcome, Done)
    return _left(outcome.value)


def _left(value: Any) -> Ending:
    try:
        text = format_value(value)
        plain(value)
        as_json(value)
    except Fault as fault:
        return Ending(fault.code, "PROGRAM_ERROR", fault.message)
    return Ending(text=text[:1000])
