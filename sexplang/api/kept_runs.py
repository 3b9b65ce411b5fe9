"""The questions of runs that a store keeps, and their answers."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sexplang.api import argument_checks
from sexplang.api.python_values import value
from sexplang.machine import Failed
from sexplang.runtime import Refusal
from sexplang.runtime.journal.questions import Question, answer_question, list_questions
from sexplang.runtime.journal.run_store import WAITING, RunStore, open_store


@contextmanager
def _open(store: str | os.PathLike[str]) -> Iterator[RunStore]:
    argument_checks.place("store", store)
    try:
        kept = open_store(os.path.abspath(store), must_exist=True)
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
    with _open(store) as kept:
        said: Question = answer_question(kept, kept.find(run_id), value(given), request)
        return said.plain()
