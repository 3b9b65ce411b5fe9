"""The models that are asked in turn when one fails.

The next is asked after the retries of one that is busy, fails or cannot be reached, and where a key
or a package is missing or refused. What is wrong with the request is wrong with it for all.
"""

from collections.abc import Callable, Sequence
from inspect import isawaitable
from time import monotonic
from typing import Any

from sexplang.runtime.driver.event_loop import may_retry
from sexplang.runtime.driver.events import Retrying
from sexplang.runtime.driver.requests import RetriedReply, Watch
from sexplang.runtime.models.retry import Attempts, with_budget_stop
from sexplang.runtime.refusal import Refusal
from sexplang.terms.effect import Request
from sexplang.terms.model.roles import Answer

PASSING_CODES = frozenset(
    ("bad-key", "missing-key", "missing-model", "model-overloaded", "not-available")
)
"""Codes of failures that another model need not have, beside those that may pass."""


async def ask_in_turn(
    answers: Sequence[Answer],
    request: Request,
    seconds: float | None,
    open_answer: Callable[[Answer], tuple[str, Any]],
    ask: Callable[..., Any],
    on_event: Watch | None,
) -> Any:
    """Return the reply of the first model that gives one. `seconds` limits all together. Raises the
    Refusal of the last."""
    lost, until = Attempts(), None if seconds is None else monotonic() + seconds
    for at, answer in enumerate(answers, 1):
        left = None if until is None else max(until - monotonic(), 0.0)
        try:
            reply = ask(*_open(answer, open_answer, lost), left, lost)
            reply = await reply if isawaitable(reply) else reply
            if lost.count and reply.__class__ is not RetriedReply:
                reply = RetriedReply(lost.add_usage(reply), lost.count + 1)
            return reply
        except Refusal as refusal:
            if at == len(answers) or not _may_pass(refusal):
                raise
            lost.count = refusal.attempts
            if lost.last_usage and not may_retry(request.id, lost.count, lost.last_usage):
                raise with_budget_stop(refusal) from None
            lost.last_usage = {}
            if on_event is not None:
                on_event(Retrying(request, lost.count, 0.0, refusal.error))
    raise AssertionError


def _open(
    answer: Answer, open_answer: Callable[[Answer], tuple[str, Any]], lost: Attempts
) -> tuple[str, Any]:
    try:
        return open_answer(answer)
    except Refusal as refusal:
        refusal.attempts = lost.count
        raise


def _may_pass(refusal: Refusal) -> bool:
    details = refusal.error.fields["details"]
    if "stopped" in details:  # no budget admits another attempt
        return False
    return refusal.again or details.get("code") in PASSING_CODES
