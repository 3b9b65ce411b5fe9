"""One program is the same on every host: in a file of JSON lines, in a store of SQLite or of
PostgreSQL, whether this process performs its requests or another one, and by the commands, with
three workers that drive all programs at once and leave requests to each other.

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
from test_fleet_offers import settlers

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
from sexplang.terms.values.text import to_source

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


def freeze_all(program, folder, rows, order):
    """The frozen states of a run after each of its replies, in the order of another host, whose
    store is in the folder."""
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


def is_timed(rows):
    return any(each.operation in (CUT, *TIMED, "passed") for each in rows)


def compare(seeds, hosts, tmp_path, new_address):
    """Compare hosts with one process and a store in a file; return how many states were
    compared."""
    states = 0
    for seed in seeds:
        text, _ = generate_program(seed, 6)
        folder = tmp_path / f"{seed}"
        value, rows = play("sqlite", text, folder, None)
        told, order = told_of(rows), [each.id for each in rows]
        program = sexplang.build(text, effects=run_arguments(folder)["effects"])
        frozen = None if is_timed(rows) else freeze_all(program, folder, rows, order)
        for host in hosts:
            address = new_address()
            there, others = play(host, text, folder.with_name(f"{seed} {host}"), address)
            assert (value, told) == (there, told_of(others)), (seed, host)
            if frozen is not None:
                assert frozen == freeze_all(program, folder, others, order), (seed, host)
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


EFFECTS = """
import time

import sexplang


@sexplang.operation
def act(n: int) -> int:
    return n * 10


@sexplang.operation
def deny(n: int) -> None:
    raise sexplang.error("denied", "it is denied")


@sexplang.operation
def wait(n: int) -> int:
    time.sleep(0.005 * (n % 4))
    return n * 10
"""
"""The effects of the programs, for a worker."""


def write_rules(path):
    """Write replies by the text of a request; the greater numbers first, which hold the others."""
    asked = {"contains": "is said", "reply": {"text": "it is dug", "usage": {"output_tokens": 3}}}
    rules = [asked]
    for n in range(200, -1, -1):
        request = {"name": "say", "inputs": {"n": f"dug {n}"}}
        whole = {"status": "CONTINUATION", "notes": {"subtask_request": request}}
        for contains, text in (
            (f"Say dug {n}", f"dug {n} is said"),
            (f"Say {n}", f"{n} is said"),
            (f"Dig {n}", json.dumps(whole)),
        ):
            usage = {"input_tokens": 900 + n, "output_tokens": 1 + n % 17}
            rules.append({"contains": contains, "reply": {"text": text, "usage": usage}})
    path.write_text(json.dumps(rules))


@pytest.mark.postgres
@pytest.mark.parametrize(
    "seeds",
    [range(6), pytest.param(range(50), marks=[pytest.mark.long, pytest.mark.timeout(900)])],
    ids=["some", "all"],
)
@pytest.mark.parametrize("leaves", [(), ("model:gpt-4o-mini", "script")], ids=["driven", "left"])
def test_programs_are_the_same_by_commands(fleet, seeds, leaves):
    """All are submitted at once. Drivers that leave all calls and scripts to others have a worker
    beside them that offers them."""
    folder = fleet.folder
    (folder / "tools.py").write_text(EFFECTS)
    write_rules(folder / "replies.json")
    model = f"scripted:{folder / 'replies.json'}"
    programs = {f"r{seed}": f'(import "tools.py"){generate_program(seed, 6)[0]}' for seed in seeds}
    log = f"log={folder / 'log'}"
    for name, text in programs.items():
        fleet.submit(text, name, log, "--allow-run", "sh")
    given = ("--places", "1", "--model", model, "--allow-run", "sh")
    offered = ("--offers", "model:gpt-4o-mini", "--offers", "script")
    for _ in range(3):
        fleet.begin(*given, *([f"--leaves={each}" for each in leaves] or offered))
    if leaves:
        fleet.begin(*given, *offered, "--places", "5")
    runs = {name: fleet.wait_for_state(name, seconds=30) for name in programs}
    assert settlers(fleet)
    states = 0
    for name in programs:
        given = {"permissions": sexplang.Permissions(run=["sh"], python=[folder / "tools.py"])}
        program = sexplang.build(folder / f"{name}.sexp", **given)
        here = folder / name
        here.mkdir()
        given |= {"store": here / "runs.db", "inputs": {"log": str(folder / "log")}}
        value = sexplang.run(program, run_id="r", model=model, **given)
        kept = open_store(str(here / "runs.db"))
        rows = read_rows(kept, kept.find("r"), whole=True).rows
        kept.close()
        others = read_rows(fleet.store, runs[name], whole=True).rows
        assert (to_source(value), told_of(rows)) == (runs[name].value, told_of(others)), name
        if not is_timed(rows):
            order = [each.id for each in rows]
            frozen = [freeze_all(program, here, each, order) for each in (rows, others)]
            assert frozen[0] == frozen[1], name
            states += len(frozen[0])
    assert states > 20
