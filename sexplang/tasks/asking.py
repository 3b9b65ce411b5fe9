"""A session to the request that its model is asked with."""

from sexplang.tasks.session import HandlerPayload, HandlerSession
from sexplang.terms.task import Ask, Perform
from sexplang.terms.value import Value


def ask_model(session: HandlerSession) -> Perform:
    """The next model request: the payload with all messages so far."""
    payload = session.payload.copy()
    payload["messages"] = session.messages
    return Perform((Ask("model", (payload,), False, _sent(payload)),))


def _sent(payload: HandlerPayload) -> tuple[Value, ...] | None:
    """What `plain` makes of the request if it is as most are: a prompt, no tools and no schema."""
    messages = payload["messages"]
    if len(messages) > 1 or payload["tools"] or "output_schema" in payload:
        return None
    content = messages[0]["content"]
    if len(content) > 1:
        return None
    sent = payload.copy()
    sent["messages"] = [{"role": "user", "content": [content[0].copy()]}]
    sent["tools"] = []
    return (sent,)
