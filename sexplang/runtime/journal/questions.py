"""The questions of parked runs, and their answers, in the store of runs.

A question is a request that a person answers. Law: an answer is kept once, before anything follows
from it; the run takes it when it goes on. Law: an answer belongs to its operation and arguments. An
edited program that asks something else has no answer.
"""

from collections.abc import Callable, Iterable, Sequence
from time import time
from typing import Any

from sexplang.guards.secrets import redact
from sexplang.runtime.journal.run_store import (
    CANCELLED,
    DONE,
    FAILED,
    REPLACED,
    WAITING,
    RunStore,
    StoredRun,
    check_not_ended,
)
from sexplang.runtime.refusal import refuse
from sexplang.terms.classes.node import frozen
from sexplang.terms.effect import Request
from sexplang.terms.json.tagged import dump, load, pack, unpack
from sexplang.terms.texts.nearest import did_you_mean
from sexplang.terms.values.text import text, to_source
from sexplang.terms.values.value import Value


@frozen
class Question:
    """A question of a run. Times are seconds since the epoch; `answered` is None while it is
    open."""

    run: str
    request: str
    operation: str
    arguments: tuple[Value, ...]
    opened: float
    answer: Value = None
    answered: float | None = None
    is_over: bool = False
    """Whether the run does not wait for it any more."""

    @property
    def is_open(self) -> bool:
        """Whether the question waits for an answer."""
        return self.answered is None and not self.is_over

    @property
    def is_answered(self) -> bool:
        """Whether it has an answer that the run has not taken."""
        return self.answered is not None and not self.is_over

    def is_asked_by(self, request: Request) -> bool:
        """Whether a request asks this question."""
        asked = _dump_question(request.operation, request.arguments)
        return asked == _dump_question(self.operation, self.arguments)

    @property
    def words(self) -> str:
        """The question as a person reads it."""
        if self.operation == "ask-user":
            return text(self.arguments[0]) if self.arguments else ""
        given = [to_source(each) for each in self.arguments]
        return f"({' '.join([self.operation, *given])})"

    @property
    def choices(self) -> tuple[str, ...]:
        """The answers that the question admits; empty for any."""
        given = self.arguments[1] if self.operation == "ask-user" and self.arguments[1:] else ()
        return tuple([text(each) for each in given]) if isinstance(given, tuple) else ()

    def plain(self) -> dict[str, Any]:
        """Return the question as data."""
        told: dict[str, Any] = {
            "run": self.run,
            "request": self.request,
            "operation": self.operation,
            "question": self.words,
            "choices": [*self.choices],
            "opened": self.opened,
        }
        if self.answered is not None:
            told |= {"answer": pack(self.answer), "answered": self.answered}
        return told

    def read(self, value: Value) -> Value:
        """Return an answer as the program gets it: for choices the text of one, of which the number
        will do. Raises a Refusal `bad-answer`."""
        if self.operation != "ask-user":
            return value
        words, choices = text(value), self.choices
        if choices and words not in choices:
            near = did_you_mean(words, choices)
            number = words if words.isascii() and words.isdigit() else "0"
            if not 0 < int(number[:9]) <= len(choices):
                raise refuse(
                    "bad-answer",
                    f"`{words}` is no answer to: {self.words}",
                    hint="; ".join(filter(None, (f"one of: {', '.join(choices)}", near))),
                )
            return choices[int(number) - 1]
        return words


def keep_questions(store: RunStore, run: StoredRun, requests: Sequence[Request]) -> None:
    """Keep the open questions of a run, within a transaction. The run does not wait for others any
    more. A question that asks something else than before loses its answer."""
    at = time()
    asked = [_dump_question(each.operation, each.arguments) for each in requests]
    store.db.execute("update questions set is_over = 1 where run = ?", (run.n,))
    store.db.executemany(
        "insert into questions (run, request, data, opened) values (?, ?, ?, ?) "
        "on conflict (run, request) do update set is_over = 0",
        [(run.n, each.id, data, at) for data, each in zip(asked, requests, strict=True)],
    )
    store.db.executemany(
        "update questions set data = ?, opened = ?, answer = null, answered = null "
        "where run = ? and request = ? and data <> ?",
        [(data, at, run.n, each.id, data) for data, each in zip(asked, requests, strict=True)],
    )


def _dump_question(operation: str, arguments: tuple[Value, ...]) -> str:
    return dump(redact([operation, pack(arguments)]))


def close_questions(store: RunStore, run: StoredRun, operation: str) -> None:
    """Say that a person answers the open questions of an operation elsewhere, at a terminal."""
    open = [each for each in list_questions(store, run) if each.is_open]
    with store.explain():
        store.db.executemany(
            "update questions set is_over = 1 where run = ? and request = ? and answered is null",
            [(run.n, each.request) for each in open if each.operation == operation],
        )


def list_questions(store: RunStore, run: StoredRun) -> list[Question]:
    """Return the questions of a run in the order of their paths, the answered ones too. Raises
    Refusal."""
    with store.explain():
        rows = store.db.execute(
            "select request, data, opened, answer, answered, is_over from questions where run = ?",
            (run.n,),
        ).fetchall()
    return sorted([_read(run, *each) for each in rows], key=lambda each: _path(each.request))


def _read(
    run: StoredRun,
    id: str,
    data: str,
    opened: float,
    answer: str | None,
    answered: float | None,
    is_over: int,
) -> Question:
    try:
        operation, arguments = load(data)
        given = None if answer is None else unpack(load(answer))
        asked = tuple(unpack(arguments))
        return Question(run.id, id, str(operation), asked, opened, given, answered, bool(is_over))
    except (ValueError, TypeError, KeyError) as wrong:
        raise refuse(
            "bad-store",
            f"a question of run {run.id} is damaged",
            hint="run the program again; sexplang runs list shows other runs",
        ) from wrong


def _path(id: str) -> tuple[Any, ...]:
    return tuple(
        [(0, int(each), "") if each.isdecimal() else (1, 0, each) for each in id.split(".")]
    )


def make_answer_finder(questions: Iterable[Question]) -> Callable[[Request], Question | None]:
    """Return the function that finds the answered question of a request, if it asks the same."""
    answered = {each.request: each for each in questions if each.answered is not None}

    def find_answer(request: Request) -> Question | None:
        found = answered.get(request.id)
        return found if found is not None and found.is_asked_by(request) else None

    return find_answer


def answer_question(
    store: RunStore,
    run: StoredRun,
    read: Callable[[Question], Value],
    request: str | None = None,
) -> Question:
    """Keep the answer that `read` returns to an open question of a run; return the answered
    question.

    Without `request` the run has one open question. Raises a Refusal: `run-ended`, `no-question`,
    `answered-already`, `bad-answer`.
    """
    with store.explain(), store.transaction(run):
        run = store.find(run.id)
        check_not_ended(run, (DONE, FAILED, CANCELLED, REPLACED))
        question = _find(store, run, request)
        given, at = question.read(read(question)), time()
        store.db.execute(
            "update questions set answer = ?, answered = ? where run = ? and request = ?",
            (_dump_answer(given), at, run.n, question.request),
        )
    return Question(
        run.id, question.request, question.operation, question.arguments, question.opened, given, at
    )


def _dump_answer(given: Value) -> str:
    told = dump(redact(pack(given)))
    try:
        told.encode()
    except UnicodeEncodeError:
        raise refuse(
            "bad-answer", "the answer has half of a surrogate pair", hint="type text of UTF-8"
        ) from None
    return told


def _find(store: RunStore, run: StoredRun, request: str | None) -> Question:
    questions = list_questions(store, run)
    waiting = [each for each in questions if each.is_open]
    if request is None:
        if len(waiting) == 1:
            return waiting[0]
        if waiting:
            raise refuse(
                "no-question",
                f"the run {run.id} has {len(waiting)} open questions",
                hint="say which one: --request " + " or ".join([each.request for each in waiting]),
            )
    found = [each for each in questions if request in (None, each.request)]
    if found and found[-1].answered is not None:
        said = found[-1]
        raise refuse(
            "answered-already",
            f"the question {said.request} of run {run.id} was answered: {text(said.answer)}",
            hint=f"go on with the run: {store.resume_command(run)}",
            answer=said.answer,
        )
    if found and found[-1].is_open:
        return found[-1]
    raise refuse(
        "no-question",
        f"the run {run.id} has no question" + (f" {request}" if request else ""),
        hint=f"sexplang runs show {run.id} tells what it waits for"
        if run.state == WAITING
        else f"it has not come to a question yet: sexplang runs resume {run.id}",
    )
