"""`sexplang runs fork`, `diff`, `export`, `import` and `gc`: runs beside one another."""

import json
import os
import sys
from collections.abc import Callable
from typing import Any

from sexplang.hosts.cli.guard import DONE, FAILED
from sexplang.hosts.kept_runs.stored_runs import (
    build_kept,
    name_address,
    open_runs,
    say_problem,
)
from sexplang.hosts.terminal.show import draw_hidden
from sexplang.machine import Suspended
from sexplang.runs.durable_run import BYTES, DAYS, prune
from sexplang.runs.forked_run import (
    Difference,
    copy_run,
    find_difference,
    find_outcome,
    fork_run,
    import_run,
)
from sexplang.runs.submitted_run import OVER, wake_run
from sexplang.runtime.journal.databases import is_server, resolve_address
from sexplang.runtime.journal.rows import Row
from sexplang.runtime.journal.run_store import RunStore
from sexplang.runtime.journal.stored_journal import read_rows
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.json.tagged import pack
from sexplang.terms.values.abbreviation import abbreviate


def _with_store(
    path: str | None, work: Callable[[RunStore], int], *, as_json: bool, must_exist: bool = True
) -> int:
    try:
        store = open_runs(path, must_exist=must_exist)
        try:
            return work(store)
        finally:
            store.close()
    except (Refusal, Diagnostics) as problem:
        return say_problem(problem, as_json=as_json)


def fork(id: str, at: int, new_id: str | None, path: str | None, *, as_json: bool) -> int:
    """Make a run that has the first replies of another one; return the exit status."""

    def work(store: RunStore) -> int:
        made = fork_run(store, store.find(id), at, new_id)
        if is_server(store.path):
            wake_run(store, name_address(path), made)
        if as_json:
            print(json.dumps({"run": made.id, "replies": made.replies}))
        else:
            print(made.id)
            print(draw_hidden(store.describe_resumption(made)), file=sys.stderr)
        return DONE

    return _with_store(path, work, as_json=as_json)


def show_at(id: str, at: int, path: str | None, *, as_json: bool) -> int:
    """Print what a run waits for after its first replies; return the exit status."""
    here = os.getcwd()

    def work(store: RunStore) -> int:
        run = store.find(id)
        program, uses = build_kept(store, run)
        outcome = find_outcome(store, run, program, at, has_tasks=uses)
        requests = outcome.requests if isinstance(outcome, Suspended) else ()
        asked = [
            {"id": each.id, "operation": each.operation, "arguments": pack(each.arguments)}
            for each in requests
        ]
        if as_json:
            print(json.dumps({"run": run.id, "replies": at, "requests": asked}, ensure_ascii=False))
            return DONE
        replies = "1 reply" if at == 1 else f"{at:,} replies"
        if not isinstance(outcome, Suspended):
            print(f"after {replies} the run has ended")
        for each in requests:
            given = " ".join([each.operation, *[abbreviate(value) for value in each.arguments]])
            print(draw_hidden(f"after {replies} it asks: ({given}) as {each.id}"))
        return DONE

    try:
        return _with_store(path, work, as_json=as_json)
    finally:
        os.chdir(here)


def diff(one: str, other: str, path: str | None, *, as_json: bool) -> int:
    """Print where two runs part; return the exit status: 1 if they do."""

    def work(store: RunStore) -> int:
        runs = [store.find(each) for each in (one, other)]
        rows = [read_rows(store, run, whole=True).rows for run in runs]
        found = find_difference(*rows)
        if as_json:
            told = None if found is None else _plain(found)
            print(json.dumps(told, ensure_ascii=False))
        elif found is None:
            print("the same replies")
        else:
            print(f"the same for {found.same} {'reply' if found.same == 1 else 'replies'}, then:")
            for run, row in zip(runs, (found.one, found.other), strict=True):
                print(f"  {run.id}: {_describe(row)}")
        return DONE if found is None else FAILED

    return _with_store(path, work, as_json=as_json)


def _plain(found: Difference) -> dict[str, Any]:
    sides = [None if row is None else row.plain() for row in (found.one, found.other)]
    return {"same": found.same, "one": sides[0], "other": sides[1]}


def _describe(row: Row | None) -> str:
    if row is None:
        return "nothing more"
    asked = " ".join([row.operation, *[abbreviate(each) for each in row.arguments]])
    end = "failed with" if row.failed else "gave"
    return draw_hidden(f"{row.id} ({asked}) {end} {abbreviate(row.reply)}")


def export(id: str, to: str, path: str | None, *, as_json: bool) -> int:
    """Write a run to a store of its own; return the exit status."""

    def work(store: RunStore) -> int:
        run, file = store.find(id), resolve_address(to)
        if not os.path.isabs(file):
            raise refuse("bad-input", "`runs export` writes a file", hint="name a file")
        copy_run(store, run, file)
        if as_json:
            print(json.dumps({"run": run.id, "file": file, "bytes": os.path.getsize(file)}))
        elif run.state not in OVER:
            words = "has not ended: if it goes on here and elsewhere, the rest is done twice"
            print(f"run {run.id} {words}", file=sys.stderr)
        return DONE

    return _with_store(path, work, as_json=as_json)


def take_in(source: str, path: str | None, *, as_json: bool) -> int:
    """Add the runs of another store to this one; return the exit status."""

    def work(store: RunStore) -> int:
        made = [run.id for run in import_run(store, resolve_address(source))]
        if as_json:
            print(json.dumps(made))
        else:
            print("\n".join(made))
            words = "they are not your own: runs resume ID --as-recorded gives them what they ask"
            if is_server(store.path):
                words = "workers go on with those that were submitted"
            print(words, file=sys.stderr)
        return DONE

    return _with_store(path, work, as_json=as_json, must_exist=False)


def collect(days: float | None, most: int | None, path: str | None, *, as_json: bool) -> int:
    """Remove old runs, and give their room back; return the exit status."""

    def work(store: RunStore) -> int:
        removed = prune(store, DAYS if days is None else days, BYTES if most is None else most)
        store.compact()
        if as_json:
            print(json.dumps({"removed": removed, "bytes": store.size()}))
        else:
            runs = "1 run" if removed == 1 else f"{removed:,} runs"
            print(f"removed {runs}; the store has {store.size():,} bytes")
        return DONE

    return _with_store(path, work, as_json=as_json)
