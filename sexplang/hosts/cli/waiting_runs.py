"""Runs that wait: what they wait for, their answers, and those whose time has come."""

import json
import os
import sys
import time
from typing import Any

from sexplang.hosts.cli.guard import DONE, WAITING
from sexplang.hosts.cli.stored_runs import open_runs, resume, say_problem
from sexplang.hosts.settings.run_arguments import Settings
from sexplang.hosts.terminal.show import draw_hidden
from sexplang.runtime.journal.questions import Question, answer_question, list_questions
from sexplang.runtime.journal.run_store import WAITING as IS_WAITING
from sexplang.runtime.journal.run_store import RunStore, StoredRun
from sexplang.runtime.journal.stored_journal import StoredJournal
from sexplang.runtime.refusal import Refusal
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.values.value import Value


def say_waiting(settings: Settings, storage: StoredJournal) -> int:
    """Say what a parked run waits for and what to type; return the exit status."""
    store, run = storage.opened
    run = store.find(run.id)
    asked = [each for each in list_questions(store, run) if each.is_open]
    if settings.json:
        told = [each.plain() for each in asked]
        document = {"status": "waiting", "run": run.id, "questions": told, "due": run.due}
        print(json.dumps(document, ensure_ascii=False))
    if not settings.quiet:
        print("\n".join(describe_waiting(run, asked)), file=sys.stderr)
    return WAITING


def describe_waiting(run: StoredRun, asked: list[Question]) -> list[str]:
    """Return the lines that say what a run waits for, and what to type."""
    lines = [f"run {run.id} waits for " + ("an answer:" if len(asked) == 1 else "answers:")]
    if not asked and run.due is None:  # the answers came while it went on
        return [f"run {run.id} has its answers; go on with: sexplang runs resume {run.id}"]
    if not asked:
        lines = [f"run {run.id} waits until {describe_time(run.due)}"]
    for each in asked:
        choices = f"  ({', '.join(each.choices)})" if each.choices else ""
        lines.append(f"  {each.request}  {draw_hidden(each.words + choices)}")
    more = f" --request {asked[0].request}" if len(asked) > 1 else ""
    if asked:
        lines.append(f"answer with: sexplang runs answer {run.id} VALUE{more}")
        if run.due is not None:
            lines.append(f"without an answer it goes on at {describe_time(run.due)}")
    if run.due is not None:
        lines.append(
            "sexplang worker goes on with it then, and so does: sexplang runs resume --due"
        )
    return lines


def describe_time(at: float | None) -> str:
    """Return a time of the wall clock, of this place."""
    return "?" if at is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))


def answer_run(
    id: str, given: str, request: str | None, path: str | None, *, as_json: bool, goes_on: bool
) -> int:
    """Answer a question of a run; return the exit status."""
    try:
        store = open_runs(path)
        try:
            question = answer_question(store, store.find(id), _read(given), request)
            left = _count_open(store, question.run)
        finally:
            store.close()
    except (Refusal, Diagnostics) as problem:
        return say_problem(problem)
    if as_json and not goes_on:
        print(json.dumps({**question.plain(), "open": left}, ensure_ascii=False))
    elif not as_json:
        more = f"; {left} more to answer" if left else ""
        print(f"answered {question.run} {question.request}{more}", file=sys.stderr)
        if not goes_on:
            print(f"go on with: sexplang runs resume {question.run}", file=sys.stderr)
    if not goes_on:
        return DONE
    return resume(question.run, path, (), (), as_recorded=False, as_json=as_json, quiet=False)


def _count_open(store: RunStore, id: str) -> int:
    asked = list_questions(store, store.find(id))
    return sum(each.is_open for each in asked)


def _read(given: str) -> Value:
    """Return a typed answer: JSON where it is JSON of a table, a list, a number or a truth; else
    text."""
    from sexplang.terms.values.boundary import value_of

    try:
        data: Any = json.loads(given)
    except (ValueError, RecursionError):
        return given
    return value_of(data)


def resume_due(path: str | None, *, as_json: bool, quiet: bool) -> int:
    """Go on with all runs whose time has come or that have an answer; return the exit status: that
    of the first one that is not done."""
    try:
        store = open_runs(path)
        try:
            ready = [each.id for each in store.runs() if is_ready(store, each)]
        finally:
            store.close()
    except (Refusal, Diagnostics) as problem:
        return say_problem(problem)
    status, here = DONE, os.getcwd()
    for id in reversed(ready):
        ended = resume(id, path, (), (), as_recorded=False, as_json=as_json, quiet=quiet)
        status = status or ended
        os.chdir(here)
    if not ready and not quiet:
        print("no run is due", file=sys.stderr)
    return status


def is_ready(store: RunStore, run: StoredRun) -> bool:
    """Whether a waiting run can go on."""
    if run.state != IS_WAITING:
        return False
    if run.due is not None and run.due <= time.time():
        return True
    asked = list_questions(store, run)
    return any(each.answered is not None and not each.is_over for each in asked)
