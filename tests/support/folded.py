"""Kept runs, and what a fold of their headers and rows says of them.

The programs are generated ones, which have numbers, and those of `kept_programs`.

`python -m support.folded STORE COUNT` prints digests for each run, by header and rows alone.
"""

import asyncio
import json
import sys
from contextlib import contextmanager, suppress
from hashlib import sha256
from random import Random
from typing import Any

from attrs import define, field, frozen
from support.kept_programs import CANARY, PROGRAMS, KeptProgram
from support.messages_server import MessagesServer
from support.running import answer, built

import sexplang
from sexplang import machine
from sexplang.api.performer_table import make_performers
from sexplang.api.python_tools import tools_of
from sexplang.api.run_start import definitions, make_terms
from sexplang.guards.secrets import look, silence
from sexplang.machine import Limits, Suspended, state_of
from sexplang.machine.frozen_runs import freeze
from sexplang.runs import assembly
from sexplang.runs.durable_run import Keeping, keep_run, read_header
from sexplang.runtime import Endpoint, Journal, Permissions, Refusal, Retries, Settings, drive
from sexplang.runtime import performers as host_performers
from sexplang.runtime.journal.fold import find_slice, fold, fold_steps
from sexplang.runtime.journal.rows import CUT, PASSED, Row, digest
from sexplang.runtime.journal.run_store import open_store
from sexplang.runtime.journal.stored_journal import read_rows
from sexplang.terms.model.roles import read_models
from sexplang.terms.run_terms import RateBook
from sexplang.terms.values.value import Fault, Record
from sexplang.testing.program_writer import EVERYTHING, EVERYWHERE, Shape, program

SHAPES = (EVERYWHERE, Shape(allowed=EVERYTHING | {"permits"}))
OPERATIONS = ("ask", "model", "note", "enter", "leave", "tool")


def text_of(name: str) -> str:
    """Return the text of a program, which the header has as a digest."""
    if name in PROGRAMS:
        return PROGRAMS[name].text
    return program(Random(int(name)), SHAPES[int(name) % len(SHAPES)]).text


@define(eq=False)
class Witness:
    """What sees a run while it is driven: a storage that counts rows and a trace that is told each
    outcome. States of a run that computes are left out: a drive stops there by the clock."""

    rows: int = 0
    states: dict[int, str] = field(factory=dict)
    """Descriptions, by the number of rows before."""

    def append(self, row: Row) -> None:
        self.rows += 1

    def advance(self, outcome: Any, cut: Any = None) -> None:
        if not isinstance(outcome, Suspended) or state_of(outcome).pause is None:
            self.states[self.rows] = describe(outcome)

    def snap(self, outcome: Any, clock: float) -> None:
        assert self.states[self.rows] == describe(outcome)

    def ignore(self, *_: Any) -> None:
        """Ignore what changes no state."""

    begin = intend = note = commit = park = close = start_request = finish_request = ignore


def keep(store: str, name: str) -> dict[int, str]:
    """Run a program, kept under its name. Return its states while it ran, by the number of rows."""
    return _keep_program(store, name) if name in PROGRAMS else _keep_generated(store, name)


def _keep_generated(store: str, name: str) -> dict[int, str]:
    made = built(text_of(name))
    budget = {"usd": 1.0, "calls": 50} if int(name) % 2 else None
    terms = assembly.terms_of(made, {}, budget=budget)
    operations = dict.fromkeys(OPERATIONS, perform)
    return _drive(store, name, made, terms, lambda _: {**operations, "timer": never})


def perform(request: Any) -> Any:
    reply = answer(request.operation, request.arguments)
    if isinstance(reply, Record):
        raise Refusal(reply)
    return reply


async def never(seconds: Any) -> None:
    """Wait for a deadline that does not come."""
    await asyncio.sleep(1e6)


def _keep_program(store: str, name: str) -> dict[int, str]:
    given = PROGRAMS[name]
    made = built(given.text)
    tools = tools_of([look_up, leak])
    with _serve(given) as address, _hold_canary():
        terms = make_terms(
            made,
            given.inputs,
            definitions(tools),
            Limits(**given.limits) if given.limits else None,
            given.budget,
            model="anthropic:claude-sonnet-4-5",
            has_default=True,
            folder="/home/somebody/work",
        )
        effects = {"act": act, "hang": hang, "stop": stop, "leak": leak_number}
        used = {each: effects[each] for each in effects if f"({each}" in given.text}

        def make(journal: Journal) -> Any:
            table = make_performers(
                Permissions(),
                name,
                model=_say_in_order(given.replies),
                on_named=lambda *_: None,
                tools=tools,
                effects=used,
                files={},
                on_event=None,
            )
            if address is not None:
                retries = Retries(attempts=3, first=0.01, most=0.02, total=5)
                endpoint = Endpoint(silence=1, total=2)
                asked = Settings(
                    run_id=name, models=read_models(address), retries=retries, endpoint=endpoint
                )
                table["model"] = host_performers(asked)["model"]
            return table

        return _drive(store, name, made, terms, make)


def _drive(store: str, name: str, made: Any, terms: Any, performers: Any) -> dict[int, str]:
    """Run a program, kept, to its end or until it is interrupted."""
    storage = keep_run(Keeping(store, name, "here", "program"))
    witness = Witness()
    journal = Journal(name, storages=(storage, witness))
    journal.begin(terms)
    book = RateBook(note=journal.note)
    slice = machine.Slice()
    outcome = assembly.begin(made, terms, conceal=silence, slice=slice, book=book)
    witness.advance(outcome)
    ended = outcome
    if isinstance(outcome, Suspended):
        with suppress(KeyboardInterrupt):
            ended = drive(outcome, performers(journal), journal=journal, trace=witness)
    journal.close()  # a run that is said to have ended has no snapshot
    if not isinstance(ended, Suspended):
        kept = open_store(store)
        state = "failed" if isinstance(ended, machine.Failed) else "done"
        kept.db.execute("update runs set state = ? where id = ?", (state, name))
        kept.close()
    return witness.states


@contextmanager
def _serve(given: KeptProgram) -> Any:
    """Serve the replies of a program, if a server says them. Return the model's address."""
    if not given.is_served:
        yield None
        return
    with MessagesServer(*given.replies) as server:
        yield f"{server.url}#m"


@contextmanager
def _hold_canary() -> Any:
    """Have a credential in the environment."""
    import os

    os.environ["SHOP_TOKEN"] = CANARY
    look()
    try:
        yield
    finally:
        del os.environ["SHOP_TOKEN"]
        look()


def _say_in_order(replies: tuple[Any, ...]) -> Any:
    """Return a model that says these one after the other, whichever task asks."""
    left = list(replies)

    async def say(payload: Any) -> Any:
        reply = left.pop(0)
        if isinstance(reply, dict) and "wait" in reply:
            await asyncio.sleep(reply["wait"])
        return reply

    return say


def act(n: int) -> int:
    if n < 0:
        raise sexplang.error("negative", "it is negative")
    return n * 10


async def hang() -> None:
    await asyncio.sleep(1e6)


def stop() -> None:
    raise KeyboardInterrupt


def leak_number(n: int) -> Any:
    if n < 0:
        raise sexplang.error("leaky", f"not with {CANARY}", details={CANARY: n})
    if n == 2:
        return CANARY
    return {"said": f"{CANARY} {n}", CANARY: [n, f"{CANARY}{CANARY}"]}


def leak() -> str:
    """Tell a secret."""
    return f"the token is {CANARY}"


def look_up(word: str) -> dict[str, Any]:
    """Look a word up.

    word: the word
    """
    return {"text": f"{word} is a plant", "sources": [f"teas.org/{word}"]}


def describe(outcome: Any) -> str:
    """Return an outcome as a text: what is open, and the frozen state."""
    if not isinstance(outcome, Suspended):
        return repr(outcome)
    pause = state_of(outcome).pause
    if pause is not None:
        return json.dumps(["computes", pause.at, pause.steps])
    asked = [(each.id, digest(each.operation, each.arguments)) for each in outcome.requests]
    try:
        return json.dumps([asked, freeze(outcome)], sort_keys=True)
    except Fault as fault:
        return json.dumps([asked, fault.code])


@frozen
class FoldedRun:
    """What a fold finds: the rows, the requests in the order in which they were made, and for each
    number of rows the state behind them."""

    rows: list[Row]
    effects: list[tuple[str, str, str]]
    states: dict[int, str]
    snapshot: tuple[int, str] | None
    """The kept snapshot, and the number of rows before it."""


def fold_run(kept: Any, name: str) -> FoldedRun | None:
    """Fold a run by header and rows alone, or return None for one that was not kept: it made no
    request."""
    try:
        run = kept.find(name)
    except Refusal:
        return None
    made = built(text_of(name))
    found = read_rows(kept, run, whole=True)
    rows, slice = found.rows, find_slice(found.rows)
    terms, book = read_header(run, made), RateBook(found.rates)
    start = assembly.begin(made, terms, slice=slice, book=book)
    states, effects = {0: describe(start)}, _list_opened(start)
    for at, after in fold_steps(start, rows, slice, slice):
        behind = at + 1
        while behind < len(rows) and rows[behind].operation == CUT:
            behind += 1
        next_row = rows[behind] if behind < len(rows) else None
        while is_computing(after) and not stops_here(after, next_row):
            effects += _list_opened(after)
            after = machine.advance(after, slice)
        states[behind] = describe(after)
        effects += _list_opened(after)
    states[len(rows)] = describe(fold(start, rows))
    newest = read_rows(kept, run)
    snapshot = None
    if newest.snapshot is not None:
        at = len(rows) - len(newest.rows)
        snapshot = at, json.dumps(newest.snapshot, sort_keys=True)
    return FoldedRun(rows, effects, states, snapshot)


def is_computing(outcome: Any) -> bool:
    return isinstance(outcome, Suspended) and state_of(outcome).pause is not None


def stops_here(outcome: Any, row: Row | None) -> bool:
    """Return whether a run that computes stands where the deadline of a row passed."""
    pause = state_of(outcome).pause
    return (
        row is not None and row.operation == PASSED and row.arguments[:2] == (pause.at, pause.steps)
    )


def _list_opened(outcome: Any) -> list[tuple[str, str, str]]:
    if not isinstance(outcome, Suspended):
        return []
    opened = state_of(outcome).opened
    return [(each.id, each.operation, digest(each.operation, each.arguments)) for each in opened]


def fold_all(store: str, count: int) -> dict[str, FoldedRun]:
    """Return what a fold finds of the first generated programs and of all written ones, as far as
    the store has them."""
    kept = open_store(store, must_exist=True)
    try:
        found = {name: fold_run(kept, name) for name in [*map(str, range(count)), *PROGRAMS]}
    finally:
        kept.close()
    return {name: each for name, each in found.items() if each is not None}


def digests(found: dict[str, FoldedRun]) -> list[str]:
    """Return a line for each run: its name, the number of its states, and digests of its effects
    and of its states after every row."""
    lines = []
    for name, each in found.items():
        told = [json.dumps(each.effects), json.dumps(list(each.states.items()))]
        marks = [sha256(part.encode()).hexdigest() for part in told]
        lines.append(f"{name}: {len(each.states)} states {' '.join(marks)}")
    return lines


if __name__ == "__main__":
    print("\n".join(digests(fold_all(sys.argv[1], int(sys.argv[2])))))
