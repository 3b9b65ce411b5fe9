"""A reply that was stopped for good to the failure that ends its conversation. All raise Fault."""

from typing import NoReturn

from sexplang.tasks import failures
from sexplang.tasks.session import HandlerSession, Rules
from sexplang.tasks.turns.replies import Reply


def full(rules: Rules, session: HandlerSession, reply: Reply) -> NoReturn:
    """There was no room for more output."""
    limit = session.payload.get("max_tokens") or reply.own[1]
    raise failures.exhaust(
        "output",
        f"the reply was cut off at {limit} tokens" if limit else "the reply was cut off",
        "raise <limits max_output_tokens=…>, or ask for a shorter answer",
        session.said + reply.text,
        used=reply.own[1],
        limit=limit,
    )


def fail_overflow(rules: Rules, session: HandlerSession, reply: Reply) -> NoReturn:
    """There was no room for more of the conversation."""
    raise failures.exhaust(
        "context",
        "the conversation does not fit into the model's context window",
        "pass less text or fewer files, split the task, or name a model with a larger window",
        session.said + reply.text,
        used=session.taken[0],
        limit=session.setup.window,
    )


def fail_refusal(rules: Rules, session: HandlerSession, reply: Reply) -> NoReturn:
    """The model does not answer this."""
    raise failures.refuse(reply.category, session.said + reply.text)
