"""The performers of a run: the host's own, and those that the caller registers."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from sexplang.api.python_tools import Tool
from sexplang.api.python_values import AsyncReply, Functions, from_model, performer, reply_with
from sexplang.machine import Failed
from sexplang.runtime import Permissions, Refusal, Settings, performers
from sexplang.runtime.driver.events import Event
from sexplang.runtime.models import OnNamed
from sexplang.terms.effect import Request
from sexplang.terms.model.payload import is_embedding
from sexplang.terms.model.roles import Models, read_models
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.boundary import plain, value_of

if TYPE_CHECKING:
    from sexplang.runtime.mcp import Servers
    from sexplang.runtime.traces.tree import Trace

Reply: TypeAlias = str | dict[str, Any] | list[Any]
"""A model's reply: its text; `{"tool_use": {"name" "input"}}`; a list of content blocks; a whole
reply `{content stop_reason usage model}`. To a request for embeddings, a list of vectors or
`{"embeddings": vectors}`."""

Model: TypeAlias = (
    str | Mapping[str, str | Sequence[str]] | Sequence[Reply] | Callable[[dict[str, Any]], Any]
)
"""A model's name; models by their names in the program, beside `default` and `*`; a list of
replies, for each task from the beginning; or a function, sync or async, from a payload to a Reply.
"""

Performers: TypeAlias = dict[str, Callable[[Request], Any]]


def make_performers(
    permissions: Permissions,
    run_id: str,
    *,
    model: Model | None,
    on_named: OnNamed,
    tools: Mapping[str, Tool],
    effects: Functions,
    files: Mapping[str, Callable[[Request], Any]],
    on_event: Callable[[Event], None] | None,
    memory: str | None = None,
    servers: "Servers | None" = None,
    trace: "Trace | None" = None,
    pause: Sequence[str] = (),
    parks: bool = False,
) -> Performers:
    """Return the host's performers, overridden by those of Python files and by the caller's."""
    own = {**files, **{name: performer(name, function) for name, function in effects.items()}}
    if callable(model):
        own = {"model": _answer_by_call(model), **own}
    elif model is not None and not isinstance(model, (str, Mapping)):
        own = {"model": _answer_in_order(model), **own}
    return performers(
        Settings(
            run_id=run_id,
            permissions=permissions,
            models=models_of(model),
            on_named=on_named,
            write=_write,
            log=_log if trace is None else partial(_log, trace=trace),
            on_event=on_event if trace is None else trace.wrap_watch(on_event),
            tools={name: tool.answer for name, tool in tools.items()},
            memory=memory,
            servers=servers,
            pause=frozenset(pause),
            parks=parks,
        ),
        own,
    )


def models_of(model: Model | None) -> Models:
    """Return the Models. A list of replies answers to all names, as a script does; the model of a
    function is not known."""
    if callable(model):
        return Models()
    if isinstance(model, Mapping):
        names = {name: each for name, each in model.items() if name != "default"}
        return read_models(model.get("default"), names)
    return read_models(model if model is None or isinstance(model, str) else "scripted:list")


def _answer_in_order(replies: Sequence[Reply]) -> Callable[[Request], Any]:
    from sexplang.runtime.models.adapters.scripted import check_script, make_replies

    try:
        reply = make_replies(check_script(list(replies), "the list of replies"), "list")
    except Refusal as refusal:
        raise Failed(refusal.error) from None
    return lambda request: reply(_payload(request), request)


def _answer_by_call(function: Callable[[dict[str, Any]], Any]) -> Callable[[Request], Any]:
    name = getattr(function, "__name__", type(function).__name__)

    def perform(request: Request) -> Any:
        payload = _payload(request)
        reply = reply_with(lambda: function(payload), from_model)
        if hasattr(reply, "__await__"):
            return AsyncReply(reply, lambda said: whole_reply(said, request, name))
        return whole_reply(reply, request, name)

    return perform


def _payload(request: Request) -> dict[str, Any]:
    """Return the payload of a model's request, held to the same form as for every other model."""
    from sexplang.runtime.models.payload_check import check_payload

    return check_payload(plain(request.arguments[0]))


def whole_reply(reply: Any, request: Request, name: str = "function") -> Any:
    """Return a reply with all its parts; a short one is that of a scripted model. `name` is that of
    the function that gave it."""
    from sexplang.runtime.models.adapters.scripted import (
        check_script,
        check_usage,
        is_reply,
        shape_reply,
    )

    said = plain(reply)
    if is_embedding(request.arguments[0]) and isinstance(said, list):
        said = {"embeddings": said}
    if not is_reply(said):
        from sexplang.runtime.refusal import refuse

        raise refuse(
            "bad-script",
            f"the function `{name}` returned {abbreviate(value_of(said))}: "
            'return the reply as text (json.dumps(…)) or {"text": …}',
        )
    if isinstance(said, dict) and "stop_reason" in said:
        if said.get("usage") is not None:
            check_usage(said["usage"], "the function", 1)
        return value_of(said)
    return value_of(shape_reply(check_script([said], "the function")[0], "function", request))


def _write(text: str) -> None:
    import sys

    sys.stdout.write(text)


def _log(level: str, text: str, trace: "Trace | None" = None) -> None:
    import logging

    ids = None if trace is None else trace.ids
    logging.getLogger("sexplang").log(_LEVELS.get(level, logging.INFO), "%s", text, extra=ids)


_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}
