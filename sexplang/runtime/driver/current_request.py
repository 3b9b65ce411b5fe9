"""The request that is being performed, and its idempotency key."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from sexplang.runtime.journal.journal import Journal
from sexplang.terms.classes.node import define, field, frozen
from sexplang.terms.effect import Request

if TYPE_CHECKING:
    from sexplang.runtime.journal.stored_journal import StoredJournal


@define(eq=False)
class AttemptHistory:
    """What other processes have attempted of a run's requests."""

    run: str = field(factory=lambda: os.urandom(8).hex())
    """The id of a run that is kept. Only such a run can repeat a request, so another one has a
    random text here: its own id may name many runs."""
    failures: Mapping[str, int] = field(factory=dict)
    """For each request that is made again after it has failed, how often it has."""
    pauses: Mapping[str, Sequence[Any]] = field(factory=dict)
    """For each model call that waits for another attempt, the model, the number of the failed
    attempt, and the end of the pause in seconds since the epoch."""
    on_pause: Callable[[str, str, int, float], None] | None = None
    """Takes a request and its pause. Raises Refusal."""


def make_history(journal: Journal, storage: "StoredJournal | None") -> AttemptHistory:
    """Return the history of a run, which may be kept in a storage."""
    if storage is None:
        return AttemptHistory()
    pauses = {  # those of this process are none of the past
        id: (model, attempt, until - storage.ahead)
        for id, (model, attempt, until) in storage.pauses.items()
    }
    return AttemptHistory(journal.run_id, storage.failures, pauses, storage.note_pause)


@frozen
class CurrentRequest:
    """The request that a function answers, or that a tool is called for.

    `key` is an idempotency key: a server that is given it does twice at most once. It is the same
    when the request is performed again because nobody knows whether it was done, and another one
    when the request has failed and a resumption makes it again.
    """

    run_id: str
    id: str
    operation: str
    key: str


Performed = tuple[Request, str, AttemptHistory]
"""A request, the id of its run, and the history."""

PERFORMED: ContextVar[Performed] = ContextVar("performed")
"""What is being performed."""


def current_request() -> CurrentRequest:
    """Return the request that is being performed. For functions of effects and tools, also async
    ones. Raises LookupError elsewhere."""
    try:
        request, run_id, history = PERFORMED.get()
    except LookupError:
        raise LookupError("no request of a program is being performed here") from None
    return CurrentRequest(run_id, request.id, request.operation, _make_key(request, history))


def find_key() -> str | None:
    """Return the idempotency key of the request that is being performed, or None elsewhere."""
    performed = PERFORMED.get(None)
    return None if performed is None else _make_key(performed[0], performed[2])


def _make_key(request: Request, history: AttemptHistory) -> str:
    """Return run, request and attempt as one ASCII text."""
    from urllib.parse import quote  # most runs make no key

    run = quote(history.run, safe="", errors="replace")
    return f"{run}:{request.id}:{history.failures.get(request.id, 0) + 1}"
