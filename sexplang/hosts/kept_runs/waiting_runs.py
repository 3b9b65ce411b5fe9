"""Runs that wait: what they wait for, their answers, and those whose time has come."""

import json
import os
import sys
import time
from typing import Any

from sexplang.hosts.cli.guard import DONE, WAITING
from sexplang.hosts.kept_runs.descriptions import describe_waiting
from sexplang.hosts.kept_runs.stored_runs import open_runs, resume, say_problem
from sexplang.hosts.settings.run_arguments import Settings
from sexplang.hosts.settings.store_options import read_table
from sexplang.hosts.terminal.show import draw_hidden
from sexplang.runtime.driver.requests import Performers
from sexplang.runtime.driver.waits import Paused
from sexplang.runtime.journal.questions import (
    Question,
    answer_question,
    list_questions,
    make_answer_finder,
)
from sexplang.runtime.journal.run_store import WAITING as IS_WAITING
from sexplang.runtime.journal.run_store import RunStore, StoredRun
from sexplang.runtime.journal.stored_journal import StoredJournal
from sexplang.runtime.refusal import Refusal
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.values.boundary import value_of
from sexplang.terms.values.value import Value


def say_waiting(settings: Settings, storage: StoredJournal, since: float) -> int:
    """Say what a parked run waits for and what to type, and tell questions that opened `since` then
    to the person's command. Return the exit status."""
    store, run = storage.opened
    run = store.find(run.id)
    asked = [each for each in list_questions(store, run) if each.is_open]
    if settings.json:
        told = [each.plain() for each in asked]
        document = {"status": "waiting", "run": run.id, "questions": told, "due": run.due}
        print(json.dumps(document, ensure_ascii=False))
    # Also with --quiet: nothing else says which run waits.
    print("\n".join(describe_waiting(store, run, asked)), file=sys.stderr)
    hook = read_table(settings).get("on-question")
    for each in asked:
        if hook and each.opened >= since:
            _tell(hook, each)
    return WAITING


def _tell(hook: list[str], question: Question) -> None:
    """Run the person's command with a question as JSON on its standard input."""
    import subprocess

    told = json.dumps(question.plain(), ensure_ascii=False)
    try:
        subprocess.run(hook, input=told.encode(), timeout=_HOOK_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError) as problem:
        why = getattr(problem, "strerror", None) or "it failed"
        print(f"warning: the command of on-question, {hook[0]}: {why}", file=sys.stderr)


_HOOK_SECONDS = 30


def take_answers(settings: Settings, storage: StoredJournal, performers: Performers) -> bool:
    """Give a parked run the answers that are there: those of `--answers FILE`, and those that came
    while it went on. Return whether there is one. Raises Diagnostics for a file that cannot be
    read."""
    store, run = storage.opened
    given = {} if settings.answers is None else _read_file(settings.answers)
    for each in list_questions(store, run):
        for name in (each.request, each.words):
            if each.is_open and name in given:
                try:
                    answer_question(store, run, value_of(given[name]), each.request)
                except Refusal as problem:
                    say_problem(problem)
                break
    questions = list_questions(store, run)
    if not any(each.answered is not None and not each.is_over for each in questions):
        return False
    for performer in performers.values():
        if isinstance(performer, Paused):
            performer.find_answer = make_answer_finder(questions)
    storage.go_on()
    return True


def _read_file(path: str) -> dict[str, Any]:
    """Return the answers in a file, by the ids of requests or the words of questions. Raises
    Diagnostics."""
    hint = 'it holds JSON: {"Send it?": "yes"}, by the words of questions or the ids of requests'
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        if isinstance(data, dict):
            return data
        why = "it is no JSON object"
    except OSError as problem:
        why = problem.strerror or "it cannot be read"
    except (ValueError, RecursionError):
        why = "it is no JSON"
    raise Diagnostics([Diagnostic("bad-input", f"--answers {path}: {why}", hint=hint)])


def answer_run(
    id: str, given: str, request: str | None, path: str | None, *, as_json: bool, goes_on: bool
) -> int:
    """Answer a question of a run; return the exit status."""
    try:
        store = open_runs(path)
        try:
            question = answer_question(store, store.find(id), _read(given), request)
            left = _count_open(store, question.run)
            how = store.resume_command(store.find(question.run))
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
            words = f"go on with: {draw_hidden(how)}, or leave it to sexplang worker"
            print(words, file=sys.stderr)
    if not goes_on:
        return DONE
    return resume(question.run, path, (), (), as_recorded=False, as_json=as_json, quiet=False)


def _count_open(store: RunStore, id: str) -> int:
    asked = list_questions(store, store.find(id))
    return sum(each.is_open for each in asked)


def _read(given: str) -> Value:
    """Return a typed answer: JSON where it is JSON of a table, a list, a number or a truth; else
    text."""
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
