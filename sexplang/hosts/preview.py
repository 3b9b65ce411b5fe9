"""What a task's model would get: the payload of its first request, and no call of a model."""

import json
import sys
from typing import Any

from sexplang.dispatcher import Dispatched
from sexplang.hosts.ending import say_error
from sexplang.hosts.guard import DONE
from sexplang.hosts.options import Settings
from sexplang.hosts.programs import outcome_of, permissions_of
from sexplang.hosts.serving import described, servers_of
from sexplang.hosts.show import drawn
from sexplang.terms.source import Source
from sexplang.terms.task import error_of
from sexplang.terms.text import plain, value_of, written
from sexplang.terms.value import Fault, Value

LOOKING = ("read-file", "list-files", "search-memory", "now", "random", "timer")
"""What is performed on the way: a task looks for its files before it asks."""

SAYING = ("print", "log", "progress", "sleep")
"""What is passed over: nobody is told, and nothing waited for."""


def previewed(settings: Settings, asked: Dispatched, source: Source) -> int:
    """Writes system prompt, messages, tools, model and the estimated tokens; with --json the
    payload itself."""
    from sexplang.runtime import Journal, drive, performers
    from sexplang.runtime import Settings as RunSettings

    seen: list[Any] = []
    left: list[Any] = []

    def model(request: Any) -> Any:
        seen.append(request.arguments[0])
        raise LookupError("nothing is asked in a preview")

    def leave(request: Any) -> Any:
        left.append(request)
        raise LookupError(f"a preview performs no `{request.operation}`")

    def run(request: Any) -> Any:
        # A task may find its files by a command.
        return table["run-script"](request) if request.context.conversations else leave(request)

    journal = Journal()
    permissions = permissions_of(settings, settings.folder)
    table = performers(
        RunSettings(
            run_id=journal.run_id,
            permissions=permissions,
            model=settings.model,
            memory=settings.index,
        )
    )
    answers = {
        **dict.fromkeys(table, leave),
        **{name: table[name] for name in LOOKING if name in table},
        **dict.fromkeys(SAYING, lambda request: None),
        "run-script": run,
        "model": model,
    }
    servers = servers_of(settings, settings.folder)
    try:
        tools = described(servers, asked.program)
    except Fault as fault:  # a server that the task needs
        return say_error(error_of(fault), asked.program, source, settings)
    finally:
        if servers is not None:
            servers.close()
    outcome = outcome_of(asked.program, asked.inputs, tools=tools, settings=settings)
    if hasattr(outcome, "requests"):
        outcome = drive(outcome, answers, journal=journal)
    if not seen and left:
        return _left(left[0], settings)
    if not seen:
        error = getattr(outcome, "error", None)
        if error is not None:
            return say_error(error, asked.program, source, settings)
        print("nothing of this asks a model", file=sys.stderr)
        if settings.json:
            sys.stdout.write('{"payload": null}\n')
        return DONE
    payload = plain(seen[0])
    sizes = _sizes(seen[0], payload, settings)
    # The run has ended at the question, and says what it was warned of until then.
    end = outcome.error.fields["details"] if hasattr(outcome, "error") else {}
    sizes["warnings"] = list(end.get("warnings", ()))
    sys.stdout.write(_as_json(payload, sizes) if settings.json else _shown(payload, sizes))
    return DONE


def _left(request: Any, settings: Settings) -> int:
    """Shows what is asked for first, where that is no model."""
    operation, arguments = request.operation, request.arguments
    if settings.json:
        shown = {"operation": operation, "arguments": plain(arguments)}
        sys.stdout.write(json.dumps({"payload": None, "request": shown}, ensure_ascii=False) + "\n")
    else:
        print(drawn(f"({' '.join([operation, *[written(value_of(each)) for each in arguments]])})"))
    words = f"this asks for `{operation}` first, which a preview does not perform, and no model"
    print(f"{words} before it", file=sys.stderr)
    return DONE


def _as_json(payload: Any, sizes: dict[str, Any]) -> str:
    return json.dumps({"payload": payload, **sizes}, ensure_ascii=False) + "\n"


def _sizes(asked: Any, payload: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """Tokens of the request, estimated or as the model's own server counts them."""
    from sexplang.runtime.models import default_model
    from sexplang.runtime.models.counting import counted
    from sexplang.tasks.window import estimate, windows

    model = settings.model or payload.get("model") or default_model()
    exact = counted(model, payload) if model else None
    return {
        "input_tokens": estimate(asked) if exact is None else exact,
        "counted": exact is not None,
        "window": windows()(model),
        "model": model,
    }


def _shown(payload: dict[str, Any], sizes: dict[str, Any]) -> str:
    about = "" if sizes["counted"] else "about "
    lines = [f"model   {sizes['model'] or 'none: name one with --model'}"]
    lines.append(f"tokens  {about}{sizes['input_tokens']} of {sizes['window']} in")
    lines.append(f"        at most {payload.get('max_tokens')} out")
    for tool in payload.get("tools") or []:
        lines.append(f"tool    {tool['name']}  {tool.get('description') or ''}".rstrip())
    lines += [f"warning {drawn(warning)}" for warning in sizes["warnings"]]
    if payload.get("system"):
        lines += ["", "system", *_indented(payload["system"])]
    for message in payload["messages"]:
        lines += ["", message["role"], *_indented(_words(message["content"]))]
    return "\n".join(lines) + "\n"


def _words(content: Value) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(
        block["text"] if block.get("type") == "text" else json.dumps(block, ensure_ascii=False)
        for block in content
    )


def _indented(words: str) -> list[str]:
    return [f"  {line}".rstrip() for line in drawn(words, keep="\n").split("\n")]
