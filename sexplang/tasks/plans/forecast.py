"""The forecast of a plan's node: its task, and whether its inputs fit.

Law: the node is matched as `stdlib/subplans.sexp` and `stdlib/subtask.sexp` will match it, and
begun up to its first request, which is not made.
"""

from collections.abc import Callable
from typing import TypeAlias

from sexplang.tasks.plans.judgement import Foreseen
from sexplang.tasks.requests.match import describe_substitute
from sexplang.tasks.requests.subtask_request import fields_of
from sexplang.terms.plan import Standing
from sexplang.terms.task import Broke, Conversation, Match, Session, Want
from sexplang.terms.template import Template
from sexplang.terms.values.value import Record, Value

Matched: TypeAlias = Callable[[Value, tuple[Conversation, ...]], Match | Record]
Bid: TypeAlias = Callable[[Value, tuple[Conversation, ...]], tuple[Value, ...]]
Begin: TypeAlias = Callable[
    [Template, dict[str, Value], dict[str, Value], tuple[Conversation, ...]],
    tuple[Conversation, Session, Want],
]


def foreseen(
    matched: Matched,
    bid: Bid,
    begin: Begin,
    node: dict[str, Value],
    max_depth: Value,
    around: Standing,
) -> Foreseen:
    """Return why a node would fail before its first request, and the note about its task. Both are
    empty if there is nothing to say."""
    if not around.is_ours:
        return "", ""
    winner = fields_of(next(iter(bid(node, around.conversations)), None)) or {}
    request = {
        "name": node["name"] or winner.get("task"),
        "description": node["description"],
        "inputs": node["inputs"],
        "template_hints": (*node["required_capabilities"], *node["template_hints"]),
    }
    found = matched(request, around.conversations)
    if isinstance(found, Record):
        return found.fields["message"], ""
    overrides = {"subtype": "subtask", "file_paths": node["file_paths"], "max_depth": max_depth}
    _, _, want = begin(found.template, found.inputs, overrides, around.conversations)
    if isinstance(want, Broke):
        return _why(want.error.fields, found.template), ""
    return "", describe_substitute(node["name"], found.template.name)


def _why(error: dict[str, Value], template: Template) -> str:
    """Describe the error. Inputs that do not fit are described in JSON's words."""
    details = error["details"]
    problems = [f"`{name}` is missing" for name in details.get("missing", ())]
    problems += [f"`{name}` is unknown" for name in details.get("unknown", ())]
    problems += [
        f"`{each['name']}` is {_KINDS.get(each['actual'], each['actual'])}, not {each['expected']}"
        for each in details.get("invalid", ())
    ]
    if not problems or "unknown" not in details:
        message: str = error["message"]
        return message
    takes = ", ".join(
        [f"`{param.name}` ({param.type}{_optional(param.required)})" for param in template.params]
    )
    return (
        f"its inputs do not fit task `{template.name}`: {', '.join(problems)}; the task takes "
        f"{takes or 'no inputs'}"
    )


_KINDS = {"nil": "null"}


def _optional(is_required: bool) -> str:
    return "" if is_required else ", optional"
