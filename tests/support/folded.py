"""Kept runs of generated programs, and what a fold of their headers and rows says of them.

`python -m support.folded STORE COUNT` prints a digest for each run, by header and rows alone.
"""

import json
import sys
from hashlib import sha256
from random import Random

from support.running import answer, built

from sexplang.machine import Suspended
from sexplang.machine.frozen_runs import freeze
from sexplang.runs import assembly
from sexplang.runs.durable_run import Keeping, end_run, keep_run
from sexplang.runtime import Journal, Refusal, drive
from sexplang.runtime.journal.fold import fold
from sexplang.runtime.journal.rows import digest
from sexplang.runtime.journal.run_store import open_store
from sexplang.runtime.journal.stored_journal import read_rows
from sexplang.terms.run_terms import RateBook, read_terms
from sexplang.terms.values.value import Fault, Record
from sexplang.testing.program_writer import EVERYTHING, EVERYWHERE, Shape, program

SHAPES = (EVERYWHERE, Shape(allowed=EVERYTHING | {"permits"}))
OPERATIONS = ("ask", "model", "note", "enter", "leave", "tool")


def text_of(seed: int) -> str:
    return program(Random(seed), SHAPES[seed % len(SHAPES)]).text


def perform(request):
    reply = answer(request.operation, request.arguments)
    if isinstance(reply, Record):
        raise Refusal(reply)
    return reply


def keep(store: str, count: int) -> None:
    """Run the programs, each kept under its number."""
    for seed in range(count):
        made = built(text_of(seed))
        terms = assembly.terms_of(made, {}, budget={"usd": 1.0, "calls": 50} if seed % 2 else None)
        storage = keep_run(Keeping(store, str(seed), "here", "program"))
        journal = Journal(str(seed), storages=(storage,))
        journal.begin(terms)
        outcome = assembly.begin(made, terms, book=RateBook(note=journal.note))
        if isinstance(outcome, Suspended):
            operations = dict.fromkeys(OPERATIONS, perform)
            outcome = drive(outcome, {**operations, "timer": never}, journal=journal)
        end_run(storage, outcome)
        journal.close()


async def never(seconds):
    """Wait for a deadline that does not come."""
    import anyio

    await anyio.sleep_forever()


def describe(outcome) -> str:
    """Return an outcome as a text: what is open, and the frozen state."""
    if not isinstance(outcome, Suspended):
        return repr(outcome)
    asked = [(each.id, digest(each.operation, each.arguments)) for each in outcome.requests]
    try:
        return json.dumps([asked, freeze(outcome)], sort_keys=True)
    except Fault as fault:
        return json.dumps([asked, fault.code])


def fold_all(store: str, count: int) -> list[str]:
    """Return a digest of each run's states after every row."""
    kept, found = open_store(store, must_exist=True), []
    for seed in range(count):
        made = built(text_of(seed))
        try:
            run = kept.find(str(seed))
        except Refusal:  # a program without requests
            continue
        rows = read_rows(kept, run, whole=True)
        terms = read_terms(json.loads(run.header), ())
        start = assembly.begin(made, terms, book=RateBook(rows.rates))
        marks = [at for at, row in enumerate(rows.rows) if row.operation != "cut"][1:]
        states = [describe(fold(start, rows.rows[:at])) for at in [*marks, len(rows.rows)]]
        found.append(f"{seed} {len(states)} {sha256(''.join(states).encode()).hexdigest()}")
    kept.close()
    return found


if __name__ == "__main__":
    print("\n".join(fold_all(sys.argv[1], int(sys.argv[2]))))
