"""One program is the same on every host: in a file of JSON lines, in a store of SQLite or of
PostgreSQL, whether this process performs its requests or another one.

What a run was told is compared by request. Its frozen states are compared after each reply: the
replies of one host, in the order in which another one had them.
"""

import json
from contextlib import ExitStack

import pytest
from support.carried_runs import (
    NoEngine,
    drive_carried,
    looking_worker,
    workers,
)
from support.kill_trials import run_arguments
from support.killed_programs import generate_program

import sexplang
from sexplang.machine import Suspended
from sexplang.runs import assembly
from sexplang.runs.durable_run import freeze_outcome, read_header
from sexplang.runtime.fleet import open_engine
from sexplang.runtime.journal.databases import resolve_address
from sexplang.runtime.journal.fold import find_slice, fold_steps
from sexplang.runtime.journal.recording_reader import read_recording
from sexplang.runtime.journal.rows import CUT, digest
from sexplang.runtime.journal.run_store import open_store
from sexplang.runtime.journal.stored_journal import NO_REPLIES, read_rows
from sexplang.terms.json.tagged import dump, pack
from sexplang.terms.run_terms import RateBook

TIMED = ("timer", "sleep")
"""Operations whose replies depend on the time alone."""

HOSTS = ("jsonl", "sqlite", "sqlite carried")
SERVERS = ("postgresql", "postgresql carried")


def play(host, text, folder, address):
    """Run a program on a host; return its value and its rows."""
    folder.mkdir()
    given = run_arguments(folder)
    given |= {"inputs": {"log": str(folder.parent / "log")}}
    store = address if host.startswith("postgresql") else f"sqlite:{folder / 'runs.db'}"
    del given["store"]
    if host == "jsonl":
        value = sexplang.run(text, run_id="r", record=folder / "r.jsonl", **given)
        return value, [
            e.row for e in read_recording(str(folder / "r.jsonl")).rows if e.row is not None
        ]
    if not host.endswith("carried"):
        value = sexplang.run(text, run_id="r", store=store, **given)
    else:
        with ExitStack() as stack:
            if host.startswith("sqlite"):
                stack.enter_context(looking_worker(store, **given))
                engine = NoEngine
            else:
                open_store(store).close()
                stack.enter_context(workers(store, **given))

                def engine(db):
                    return open_engine(db, store)

            places = len(text) % 3
            unable = {**given, "permissions": None} if places == 0 else given
            value = drive_carried(text, store, "r", engine, places=places, **unable)
    kept = open_store(resolve_address(store))
    try:
        return value, read_rows(kept, kept.find("r"), whole=True).rows
    finally:
        kept.close()


def told_of(rows):
    """What a run was told of each request, without what depends on the time. A request that was
    withdrawn may have been begun or not."""
    told = {}
    for row in rows:
        if row.operation not in (*NO_REPLIES, *TIMED):
            asked = digest(row.operation, row.arguments)
            told[row.id] = dump([row.operation, asked, row.failed, row.attempts, pack(row.reply)])
    return told


def freeze_all(text, folder, rows, order):
    """The frozen states of a run after each of its replies, in the order of another host, whose
    store is in the folder."""
    program = sexplang.build(text, effects=run_arguments(folder)["effects"])
    kept = open_store(str(folder / "runs.db"))
    try:
        terms = read_header(kept.find("r"), program)
    finally:
        kept.close()
    by_id = {row.id: row for row in rows}
    rows = [by_id[id] for id in order]
    start = assembly.begin(program, terms, slice=find_slice(rows), book=RateBook({}))
    slice = find_slice(rows)
    return [
        json.dumps(freeze_outcome(each)) if isinstance(each, Suspended) else str(each)
        for _, each in fold_steps(start, rows, slice, slice)
    ]


def compare(seeds, hosts, tmp_path, new_address):
    """Compare hosts with one process and a store in a file; return how many states were
    compared."""
    states = 0
    for seed in seeds:
        text, _ = generate_program(seed, 6)
        folder = tmp_path / f"{seed}"
        value, rows = play("sqlite", text, folder, None)
        told, order = told_of(rows), [each.id for each in rows]
        is_timed = any(each.operation in (CUT, *TIMED, "passed") for each in rows)
        frozen = None if is_timed else freeze_all(text, folder, rows, order)
        for host in hosts:
            address = new_address()
            there, others = play(host, text, folder.with_name(f"{seed} {host}"), address)
            assert (value, told) == (there, told_of(others)), (seed, host)
            if frozen is not None:
                assert frozen == freeze_all(text, folder, others, order), (seed, host)
                states += len(frozen)
    return states


@pytest.mark.parametrize(
    "seeds",
    [range(6), pytest.param(range(50), marks=[pytest.mark.long, pytest.mark.timeout(900)])],
    ids=["some", "all"],
)
def test_programs_are_the_same_in_files(tmp_path, seeds):
    assert 20 < compare(seeds, HOSTS, tmp_path, lambda: None)


@pytest.mark.postgres
@pytest.mark.parametrize(
    "seeds",
    [range(6), pytest.param(range(50), marks=[pytest.mark.long, pytest.mark.timeout(900)])],
    ids=["some", "all"],
)
def test_programs_are_the_same_on_a_server(tmp_path, seeds, new_address):
    assert 20 < compare(seeds, SERVERS, tmp_path, new_address)
