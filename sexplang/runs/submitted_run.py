"""Runs that one process submits and another one begins."""

import json
from collections.abc import Mapping
from typing import Any

from sexplang.guards.secrets import redact
from sexplang.runs.durable_run import make_header
from sexplang.runs.program_texts import ProgramTexts, keep_program
from sexplang.runtime.fleet import open_engine
from sexplang.runtime.journal.doubts import Decision
from sexplang.runtime.journal.run_store import (
    CANCEL,
    CANCELLED,
    DONE,
    FAILED,
    REPLACED,
    RUNNING,
    SUBMITTED,
    WAITING,
    RunStore,
    StoredRun,
    check_not_ended,
    refuse_busy,
)
from sexplang.terms.classes.node import field, frozen
from sexplang.terms.run_terms import Terms

OVER = frozenset({DONE, FAILED, CANCELLED, REPLACED})
"""The states of runs with which no worker goes on."""


@frozen
class Submission:
    """A run to be kept. `command` is what a host needs to begin it."""

    run_id: str
    project: str
    name: str
    program: ProgramTexts
    terms: Terms
    command: Mapping[str, Any] = field(factory=dict)
    priority: int = 0


def submit_run(store: RunStore, url: str, given: Submission) -> StoredRun:
    """Keep a run with its program, and offer it to the workers of its store, whose address is
    `url`. Raises a Refusal: `run-exists`, `store-failed`."""
    header = make_header(given.terms, given.run_id)
    command = json.dumps(redact(dict(given.command)))
    engine = open_engine(store.db, url)
    with store.explain(), store.transaction():
        digest = keep_program(store, given.program)
        run = store.add_run(
            *(given.run_id, given.project, given.name, command, header),
            program=digest,
            priority=given.priority,
            state=SUBMITTED,
        )
        if engine is not None:
            engine.wake(run.id, None, run.priority)
    store.unlock(run.id)
    return run


def renew_terms(store: RunStore, run: StoredRun, terms: Terms) -> StoredRun:
    """Give a run that nobody has begun the terms of the process that begins it. The caller has
    locked it."""
    with store.explain():
        store.db.execute(
            "update runs set header = ?, state = ? where n = ? and state = ?",
            (make_header(terms, run.id), RUNNING, run.n, SUBMITTED),
        )
    return store.find(run.id)


def wake_run(store: RunStore, url: str, run: StoredRun) -> None:
    """Let a worker look at a run of its store, if workers go on with it."""
    if run.program is not None:
        engine = open_engine(store.db, url, must_exist=True)
        if engine is not None:
            with store.explain():
                engine.wake(run.id, None, run.priority)


def wish_cancellation(store: RunStore, url: str, run: StoredRun) -> None:
    """Let a worker cancel a run, which another one may drive. Raises a Refusal `run-ended`."""
    with store.explain(), store.transaction(run):
        check_not_ended(store.find(run.id), (DONE, CANCELLED, REPLACED))
        store.db.execute(
            "update runs set wish = ?, held = null, is_stuck = 0 where n = ?", (CANCEL, run.n)
        )
    wake_run(store, url, run)


def wish_resumption(
    store: RunStore, url: str, run: StoredRun, replay: Mapping[str, Decision]
) -> None:
    """Let a worker go on with a run that has failed or that waits for a person's decisions, which
    are these. Raises a Refusal: `run-ended`, `run-busy`."""
    with store.explain(), store.transaction(run):
        run = store.find(run.id)
        check_not_ended(run, (DONE, CANCELLED, REPLACED))
        if store.is_alive(run):
            raise refuse_busy(run.id)
        store.db.execute(
            "update runs set wish = ?, held = null, is_stuck = 0 where n = ?",
            (json.dumps(dict(replay)), run.n),
        )
    wake_run(store, url, run)


def read_decisions(run: StoredRun) -> dict[str, Decision]:
    """Return a person's decisions on requests in doubt."""
    if run.wish is None or run.wish == CANCEL:
        return {}
    decisions: dict[str, Decision] = json.loads(run.wish)
    return decisions


def find_wished(store: RunStore, ids: list[str]) -> list[str]:
    """Return those of some runs that are to be cancelled."""
    with store.explain():
        marks = ", ".join("?" * len(ids))
        asked = f"select id from runs where wish = ? and id in ({marks})"
        return [id for (id,) in store.db.execute(asked, (CANCEL, *ids))]


def hold_run(store: RunStore, run: StoredRun, why: str, *, is_stuck: bool) -> None:
    """Say why a worker does not go on with a run that nobody drives. With `is_stuck` no worker
    tries it again until a person has decided."""
    with store.explain():
        store.db.execute(
            "update runs set held = ?, is_stuck = ?, "
            "state = case when state = ? then 'interrupted' else state end "
            "where n = ? and state in (?, ?, ?, 'interrupted', 'failed')",
            (why, int(is_stuck), RUNNING, run.n, SUBMITTED, WAITING, RUNNING),
        )


def find_open(store: RunStore) -> list[tuple[str, float | None, int]]:
    """Return the id, the time and the priority of each run with which a worker can go on."""
    with store.explain():
        found = store.db.execute(
            f"select id, case when state = ? and wish is null and not {_HAS_ANSWER} then due end, "
            "priority from runs "
            "where (state in (?, ?, ?, 'interrupted') or (state = 'failed' and wish is not null)) "
            "and program is not null and is_stuck = 0 "
            f"and (state <> ? or wish is not null or due is not null or {_HAS_ANSWER})",
            (WAITING, SUBMITTED, WAITING, RUNNING, WAITING),
        )
        return [(id, due, priority) for id, due, priority in found]


_HAS_ANSWER = (
    "exists (select 1 from questions where run = runs.n and answered is not null and is_over = 0)"
)


def count_states(store: RunStore) -> dict[str, int]:
    """Return how many runs are in each state."""
    with store.explain():
        found = store.db.execute("select state, count(*) from runs group by state")
        return dict(found.fetchall())
