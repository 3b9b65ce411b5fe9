"""`sexplang task --preview`: the payload of a task's first request, without a model call."""

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from time import time
from typing import Any

from sexplang.hosts.cli.guard import DONE, MISUSE
from sexplang.hosts.cli.output import say_all, say_error
from sexplang.hosts.cli.programs import outcome_of, permissions_of, terms_of
from sexplang.hosts.settings.configuration import apply_configuration
from sexplang.hosts.settings.mcp_options import describe_tools, servers_of
from sexplang.hosts.settings.run_arguments import Settings
from sexplang.hosts.terminal.show import draw_hidden
from sexplang.pipeline.dispatcher import DispatchedProgram
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.host.host_operations import SHOWN, find_operations
from sexplang.terms.model.payload import OPTIONS
from sexplang.terms.source import Source
from sexplang.terms.task import error_of
from sexplang.terms.values.boundary import plain, value_of
from sexplang.terms.values.text import to_source
from sexplang.terms.values.value import Fault, Value

SLOW = ("list-files", "search-memory")
"""Operations that may take a while."""

READING = (find_operations(effect="reads") | find_operations(effect="tells")).difference(SLOW)
"""Operations that are performed on the way: a task reads its files first."""


class _Over(OSError):
    """The error by which a preview ends its program."""


def show_preview(settings: Settings, asked: DispatchedProgram, source: Source) -> int:
    """Print system prompt, messages, tools, model and estimated tokens; with --json the payload.

    The preview ends at the first request of a model, or of an operation that it does not perform.
    That request fails, and no later one is performed.
    """
    from sexplang.runtime import Journal, Refusal, drive, performers
    from sexplang.runtime import Settings as RunSettings
    from sexplang.runtime.driver.deadlines import VirtualClock
    from sexplang.runtime.driver.requests import OutputLost
    from sexplang.runtime.models import predict_model

    try:
        settings = apply_configuration(settings, settings.folder)
        servers = servers_of(settings, settings.folder)
    except Diagnostics as found:
        return say_all(found.diagnostics, MISUSE, settings)
    seen: list[Any] = []
    left: list[Any] = []
    idle = VirtualClock()

    def model(request: Any) -> Any:
        seen.append(request.arguments[0])
        raise LookupError("nothing is asked in a preview")

    def leave(request: Any) -> Any:
        left.append(request)
        raise LookupError(f"a preview performs no `{request.operation}`")

    def until_then(performer: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def perform(request: Any) -> Any:
            if seen or left:
                raise OutputLost(_Over())
            return performer(request)

        return perform

    def sleep(request: Any) -> Any:
        table["sleep"](request).close()  # it refuses an invalid time
        return idle.sleep(request.arguments[0])

    def wait_until(request: Any) -> Any:
        table["wait-until"](request).close()
        return idle.sleep(max(0.0, request.arguments[0] - time()))

    def look(request: Any) -> Any:
        return idle.perform_busy(table[request.operation], request)

    journal = Journal()
    permissions = permissions_of(settings, settings.folder)
    table = performers(
        RunSettings(run_id=journal.run_id, permissions=permissions, memory=settings.index)
    )
    answers = {
        **dict.fromkeys(table, leave),
        **{name: table[name] for name in READING if name in table},
        **dict.fromkeys(SLOW, look),
        **dict.fromkeys(SHOWN, lambda request: None),
        "sleep": sleep,
        "wait-until": wait_until,
        "model": model,
    }
    try:
        tools = describe_tools(servers, asked.program)
    except Fault as fault:  # a server that the task needs
        return say_error(error_of(fault), asked.program, source, settings)
    finally:
        if servers is not None:
            servers.close()
    terms = terms_of(asked.program, asked.inputs, settings, tools=tools)
    outcome = outcome_of(asked.program, terms)
    if hasattr(outcome, "requests"):
        held = {name: until_then(performer) for name, performer in answers.items()}
        with suppress(_Over):
            outcome = drive(outcome, held, journal=journal)
    if not seen and left:
        return _show_first_request(left[0], settings)
    if not seen:
        error = getattr(outcome, "error", None)
        if error is not None:
            return say_error(error, asked.program, source, settings)
        print("nothing of this asks a model", file=sys.stderr)
        if settings.json:
            sys.stdout.write('{"payload": null}\n')
        return DONE
    payload = plain(seen[0])
    try:
        sizes = _sizes(seen[0], predict_model(payload.get("model"), settings.models, permissions))
    except Refusal as refusal:
        return say_error(refusal.error, asked.program, source, settings)
    # The run ends here; its warnings are printed.
    end = outcome.error.fields["details"] if hasattr(outcome, "error") else {}
    sizes["warnings"] = [*end.get("warnings", ()), *_unread(payload, sizes["model"])]
    sys.stdout.write(_as_json(payload, sizes) if settings.json else _show(payload, sizes))
    return DONE


def _show_first_request(request: Any, settings: Settings) -> int:
    """Show the first request if it is not one of a model."""
    operation, arguments = request.operation, request.arguments
    if settings.json:
        shown = {"operation": operation, "arguments": plain(arguments)}
        sys.stdout.write(json.dumps({"payload": None, "request": shown}, ensure_ascii=False) + "\n")
    else:
        print(
            draw_hidden(
                f"({' '.join([operation, *[to_source(value_of(each)) for each in arguments]])})"
            )
        )
    words = f"this asks for `{operation}` first, which a preview does not perform, and no model"
    print(f"{words} before it", file=sys.stderr)
    return DONE


def _as_json(payload: Any, sizes: dict[str, Any]) -> str:
    return json.dumps({"payload": payload, **sizes}, ensure_ascii=False) + "\n"


def _sizes(asked: Any, model: str | None) -> dict[str, Any]:
    """Return the estimated tokens of the request, the model's window, and the output limit of the
    model if the request sets none."""
    from sexplang.tasks.prompt.window import estimate, output, windows

    used, window = estimate(asked), windows()(model)
    return {"input_tokens": used, "window": window, "most": output(model), "model": model}


def _unread(payload: Any, model: str | None) -> tuple[str, ...]:
    """Return what of a request the model cannot take: that in the process, or one of the OpenAI
    protocol."""
    scheme = (model or "").partition(":")[0]
    if scheme not in ("local", "openai"):
        return ()
    from sexplang.runtime import Refusal
    from sexplang.runtime.models.adapters.chat_request import build_chat_body
    from sexplang.runtime.models.adapters.local_request import build_request

    try:
        if scheme == "local":
            build_request(payload)
        else:
            build_chat_body(payload, "", is_provider=False)
    except Refusal as refusal:
        return (str(refusal.error.fields["message"]),)
    return ()


def _show(payload: dict[str, Any], sizes: dict[str, Any]) -> str:
    lines = [f"model   {sizes['model'] or 'none: name one with --model'}"]
    lines.append(f"tokens  about {sizes['input_tokens']} of {sizes['window']} in")
    lines.append(f"        at most {payload.get('max_tokens') or sizes['most']} out")
    options = {key: payload[key] for key in OPTIONS if key in payload}
    lines += [
        f"option  {key}: {draw_hidden(to_source(value_of(each)))}" for key, each in options.items()
    ]
    for tool in payload.get("tools") or []:
        said, *more = (tool.get("description") or "").split("\n")
        lines.append(f"tool    {draw_hidden(tool['name'])}  {draw_hidden(said)}".rstrip())
        lines += [f"        {draw_hidden(line)}".rstrip() for line in more]
    lines += [f"warning {draw_hidden(warning)}" for warning in sizes["warnings"]]
    if payload.get("system"):
        lines += ["", "system", *_indent(payload["system"])]
    for message in payload["messages"]:
        lines += ["", message["role"], *_indent(_words(message["content"]))]
    return "\n".join(lines) + "\n"


def _words(content: Value) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(map(_of_block, content))


def _of_block(block: Any) -> str:
    """Return a text block as it is; of an image or a document its type and size."""
    match block:
        case {"type": "text", "text": str(words)}:
            return words
        case {"type": str(kind), "source": {"type": "base64", "data": str(data)} as source}:
            size = len(data) * 3 // 4 - data[-2:].count("=")
            return f"[{kind} {source.get('media_type')}, {size:,} bytes]"
        case _:
            return json.dumps(block, ensure_ascii=False)


def _indent(words: str) -> list[str]:
    return [f"  {line}".rstrip() for line in draw_hidden(words, keep="\n").split("\n")]
