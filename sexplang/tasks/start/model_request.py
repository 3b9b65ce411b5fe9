"""A session to the request that its model is asked with."""

from sexplang.tasks.session import Block, HandlerPayload, HandlerSession
from sexplang.terms.task import Ask, Perform
from sexplang.terms.values.value import Value


def ask_model(session: HandlerSession) -> Perform:
    """The next model request: the payload with all messages so far."""
    payload, messages = session.payload.copy(), session.messages
    payload["messages"] = messages
    sent = None
    if len(messages) == 1 and not payload["tools"] and _SCALAR.issuperset(payload):
        sent = _messages_of_prompt(payload, messages[0]["content"])
    return Perform((Ask("model", (payload,), False, sent),))


_SCALAR = frozenset(
    (
        *("model", "system", "messages", "tools", "max_tokens", "timeout", "task"),
        *("temperature", "top_p", "top_k", "seed", "effort", "cache", "service_tier"),
    )
)
"""The keys of a payload that is sent as it is, but for its messages and tools."""


def _messages_of_prompt(
    payload: HandlerPayload, content: tuple[Block, ...]
) -> tuple[Value, ...] | None:
    """What `plain` makes of the request if it is as most are: a prompt, no tools and no schema."""
    if len(content) > 1:
        return None
    sent = payload.copy()
    sent["messages"] = [{"role": "user", "content": [content[0].copy()]}]
    sent["tools"] = []
    return (sent,)
