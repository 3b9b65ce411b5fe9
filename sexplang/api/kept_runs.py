"""Runs that a store keeps: their questions and answers, and their replies for another run."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sexplang.api import argument_checks
from sexplang.api.python_values import python, value
from sexplang.api.run_start import Settings
from sexplang.machine import Failed, Limits, Outcome, Suspended
from sexplang.runs.durable_run import read_terms_of
from sexplang.runs.reused_run import Announcement, lock_replaceable, read_replies, reuse
from sexplang.runs.submitted_run import wake_run
from sexplang.runtime import Refusal
from sexplang.runtime.driver.requests import OutputLost, Performer
from sexplang.runtime.journal.databases import resolve_address
from sexplang.runtime.journal.doubts import Decision
from sexplang.runtime.journal.questions import Question, answer_question, list_questions
from sexplang.runtime.journal.run_store import WAITING, RunStore, open_store
from sexplang.runtime.refusal import refuse
from sexplang.terms.classes.node import evolve
from sexplang.terms.effect import Request
from sexplang.terms.program import Program
from sexplang.terms.task import error_of
from sexplang.terms.values.value import Fault, Value


@contextmanager
def _open(store: str | os.PathLike[str]) -> Iterator[RunStore]:
    argument_checks.place("store", store)
    try:
        kept = open_store(resolve_address(store), must_exist=True)
        try:
            yield kept
        finally:
            kept.close()
    except Refusal as refusal:
        raise Failed(refusal.error) from None


def questions(store: str | os.PathLike[str], run_id: str | None = None) -> list[dict[str, Any]]:
    """Return the open questions of a run, or of all runs that wait, in the order of their paths.

    Each is a dict of `run`, `request`, `operation`, `question` (its words), `choices` (empty for
    any answer) and `opened`, in seconds since the epoch.

    Raises Failed: `store-failed`, `unknown-run`, `bad-store`.
    """
    with _open(store) as kept:
        runs = kept.runs() if run_id is None else [kept.find(run_id)]
        return [
            each.plain()
            for run in runs
            if run.state == WAITING or run_id is not None
            for each in list_questions(kept, run)
            if each.is_open
        ]


def answer(
    run_id: str,
    given: Any,
    *,
    store: str | os.PathLike[str],
    request: str | None = None,
) -> dict[str, Any]:
    """Answer a question of a run that waits, and return the question with its answer. The run takes
    the answer when `resume` goes on with it, in this process or in another one.

    `request` is the id of the question, where the run has more than one.

    Raises Failed: `no-question`, `bad-answer`, `answered-already`, `run-ended`, `unknown-run`,
    `store-failed`.
    """
    argument_checks.string("run_id", run_id)
    if request is not None:
        argument_checks.string("request", request)
    with _open(store) as kept:
        read = _read(given)
        said: Question = answer_question(kept, kept.find(run_id), lambda _: read, request)
        wake_run(kept, resolve_address(store), kept.find(said.run))
        return said.plain()


def _read(given: Any) -> Value:
    """Return an answer as a value. Raises a Refusal `bad-answer`."""
    try:
        return value(given)
    except Fault as fault:
        hint = "an answer is text, a number, a truth, None, a list or a dict of them"
        raise refuse("bad-answer", str(error_of(fault).fields["message"]), hint=hint) from None


@contextmanager
def hold_replaced(run_id: str, store: str | os.PathLike[str]) -> Iterator[None]:
    """Keep a run locked that a new one is to replace. Raises Failed."""
    with _open(store) as kept:
        lock_replaceable(kept, run_id)
        yield


def reuse_run(
    program: Program | Suspended,
    run_id: str,
    store: str | os.PathLike[str],
    replay: Mapping[str, Decision] | None,
    changes: bool | Callable[[Announcement], bool],
    given: Settings,
) -> Settings:
    """Return the settings of a new run with the inputs and the replies of one of the store. Raises
    Failed."""
    argument_checks.decisions("replay", replay)
    if not isinstance(program, Program):
        raise argument_checks.wrong("source", "a program; its run is in the store", program)
    with _open(store) as kept:
        run = kept.find(run_id)
        terms, _ = read_terms_of(run, program)

    def agree(announced: Announcement) -> bool:
        return changes(announced) if callable(changes) else True

    def admit(request: Request) -> None:
        calls, acts = ((request,), ()) if request.operation == "model" else ((), (request,))
        if not agree(Announcement(0, calls, acts, 0, None)):
            words = "nobody approved a request that was not announced"
            raise OutputLost(Failed(refuse("not-agreed", words).error))

    def with_replies(
        outcome: Outcome, performers: Mapping[str, Performer]
    ) -> Mapping[str, Performer]:
        with _open(store) as kept:
            found = read_replies(kept, kept.find(run.id))
        return reuse(outcome, performers, found, replay or {}, agree, admit)

    names = {each.name for each in program.inputs}
    return evolve(
        given,
        inputs={name: python(each) for name, each in terms.inputs.items() if name in names},
        limits=Limits(**terms.limits),
        budget=None if terms.budget is None else python(terms.budget),
        store=store,
        run_id=None,
        reuse=with_replies,
        replaces=run.id,
    )
