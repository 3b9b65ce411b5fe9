"""Runs that wait: what they wait for, their answers, and those whose time has come."""

import json
import os
import sys
from typing import Any

from sexplang.hosts.cli.guard import DONE, WAITING, say
from sexplang.hosts.kept_runs.descriptions import (
    describe_answer,
    describe_questions,
    describe_waiting,
)
from sexplang.hosts.kept_runs.question_hook import tell_questions
from sexplang.hosts.kept_runs.stored_runs import name_address, open_runs, resume, say_problem
from sexplang.hosts.settings.run_arguments import Settings
from sexplang.hosts.settings.store_options import read_table
from sexplang.hosts.terminal.show import draw_hidden
from sexplang.runs.submitted_run import wake_run
from sexplang.runtime.driver.requests import Performers
from sexplang.runtime.driver.waits import Paused
from sexplang.runtime.journal.questions import (
    Question,
    answer_question,
    list_questions,
    make_answer_finder,
)
from sexplang.runtime.journal.run_store import SUBMITTED, RunStore, StoredRun
from sexplang.runtime.journal.run_store import WAITING as IS_WAITING
from sexplang.runtime.journal.stored_journal import StoredJournal
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.json.json_reader import NotJson
from sexplang.terms.json.strict import certain
from sexplang.terms.values.boundary import value_of
from sexplang.terms.values.value import Value


def say_waiting(settings: Settings, storage: StoredJournal, since: float) -> int:
    """Say what a parked run waits for and what to type, and tell questions that opened `since` then
    to the person's command. Return the exit status."""
    store, run = storage.opened
    run = store.find(run.id)
    asked = _list_open(store, run)
    if settings.json:
        told = [each.plain() for each in asked]
        document = {"status": "waiting", "run": run.id, "questions": told, "due": run.due}
        print(json.dumps(document, ensure_ascii=False))
    # Also with --quiet: nothing else says which run waits.
    print("\n".join(describe_waiting(store, run, asked)), file=sys.stderr)
    hook = read_table(settings).get("on-question")
    if hook:
        tell_questions(hook, [each for each in asked if each.opened >= since])
    return WAITING


def take_answers(settings: Settings, storage: StoredJournal, performers: Performers) -> bool:
    """Give a parked run the answers that are there: those of `--answers FILE`, and those that came
    while it went on. Return whether there is one. Raises Diagnostics for a file that cannot be
    read."""
    store, run = storage.opened
    given = {} if settings.answers is None else read_answers(settings.answers)
    for each in _list_open(store, run):
        named = [name for name in (each.request, each.words) if name in given]
        if named:
            _take_answer(store, run, each, value_of(given[named[0]]))
    questions = list_questions(store, run)
    known = {name for each in questions for name in (each.request, each.words)}
    for name in given.keys() - known:
        print(f"note: --answers has `{draw_hidden(name)}`, which is not asked", file=sys.stderr)
    if not any(each.is_answered for each in questions):
        return False
    for performer in performers.values():
        if isinstance(performer, Paused):
            performer.find_answer = make_answer_finder(questions)
    storage.go_on()
    return True


def _take_answer(store: RunStore, run: StoredRun, question: Question, given: Value) -> None:
    try:
        answer_question(store, run, lambda _: given, question.request)
    except Refusal as problem:
        say_problem(problem)


def read_answers(path: str) -> dict[str, Any]:
    """Return the answers in a file, by the ids of requests or the words of questions. Raises
    Diagnostics."""
    hint = 'it holds JSON: {"Send it?": "yes"}, by the words of questions or the ids of requests'
    try:
        with open(path, encoding="utf-8") as file:
            data = certain(file.read())
        if isinstance(data, dict):
            return data
        why = "it is no JSON object"
    except OSError as problem:
        why = problem.strerror or "it cannot be read"
    except (NotJson, ValueError) as problem:
        why = f"it is no JSON: {problem}" if isinstance(problem, NotJson) else "it is no JSON"
    raise Diagnostics([Diagnostic("bad-input", f"--answers {path}: {why}", hint=hint)])


def list_open_questions(id: str | None, path: str | None, *, as_json: bool) -> int:
    """Print the open questions of a run, or of all that wait; return the exit status."""
    try:
        store = open_runs(path)
        try:
            runs = store.runs()[::-1] if id is None else [store.find(id)]
            waiting = [run for run in runs if run.state == IS_WAITING]
            found = [(run, _list_open(store, run)) for run in waiting]
            hints = [describe_answer(store, *each) for each in found]
        finally:
            store.close()
    except (Refusal, Diagnostics) as problem:
        return say_problem(problem, as_json=as_json)
    if as_json:
        told = [each.plain() for _, asked in found for each in asked]
        print(json.dumps(told, ensure_ascii=False, indent=2))
        return DONE
    for (run, asked), how in zip(found, hints, strict=True):
        if asked:
            print(draw_hidden(f"{run.id}  {run.name}"))
            print("\n".join([*describe_questions(asked), how]))
    if not any(asked for _, asked in found):
        say("no question is open")
    return DONE


def _list_open(store: RunStore, run: StoredRun) -> list[Question]:
    return [each for each in list_questions(store, run) if each.is_open]


def answer_run(
    id: str,
    given: str,
    request: str | None,
    path: str | None,
    *,
    as_json: bool,
    goes_on: bool,
    as_recorded: bool = False,
    quiet: bool = False,
) -> int:
    """Answer a question of a run; return the exit status."""

    def read(question: Question) -> Value:
        return given if question.operation == "ask-user" else _read(given)

    try:
        store = open_runs(path)
        try:
            question = answer_question(store, store.find(id), read, request)
            wake_run(store, name_address(path), store.find(question.run))
            left = len(_list_open(store, store.find(question.run)))
            how = store.explain_command(store.find(question.run))
            is_ours = "--as-recorded" not in how
        finally:
            store.close()
    except (Refusal, Diagnostics) as problem:
        return say_problem(problem, as_json=as_json)
    if as_json and not goes_on:
        print(json.dumps({**question.plain(), "open": left}, ensure_ascii=False))
    elif not as_json and not quiet:
        more = f"; {left} more to answer" if left else ""
        print(f"answered {question.run} {question.request}{more}", file=sys.stderr)
        if not goes_on:
            part = "go on with this one alone" if left else "go on"
            told = f"{part} with: {draw_hidden(how)}"
            told += ", or leave it to sexplang worker" if is_ours else ""
            print(told, file=sys.stderr)
    if not goes_on:
        return DONE
    flags = {"as_recorded": as_recorded, "as_json": as_json, "quiet": quiet}
    return resume(question.run, path, (), (), **flags)


def _read(given: str) -> Value:
    """Return a typed answer: JSON where it can be read as JSON; else text. Raises a Refusal
    `bad-answer` for text that looks like JSON and is none."""
    try:
        return value_of(certain(given))
    except NotJson as problem:
        if given.lstrip()[:1] not in ("{", "[", '"'):
            return given
        raise refuse(
            "bad-answer",
            f"the answer is no JSON: {problem}",
            hint="type text that begins so in quotes of JSON: '\"[1] is fine\"'",
        ) from None


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
        return say_problem(problem, as_json=as_json)
    status, here = DONE, os.getcwd()
    for id in reversed(ready):
        ended = resume(id, path, (), (), as_recorded=False, as_json=as_json, quiet=quiet)
        status = status or ended
        os.chdir(here)
    if not ready and not quiet:
        print("no run is due", file=sys.stderr)
    return status


def is_ready(store: RunStore, run: StoredRun) -> bool:
    """Whether a run that waits can go on."""
    if run.state != IS_WAITING:
        return run.state == SUBMITTED
    if run.due is not None and run.due <= store.db.now():
        return True
    asked = list_questions(store, run)
    return any(each.is_answered for each in asked)
