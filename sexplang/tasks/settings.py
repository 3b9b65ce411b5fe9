"""The context settings of one call, from its subtype, template and request.

The request overrides the template, the template the defaults of the subtype. A set key wins over a
defaulted counterpart. Two set keys that conflict are an error.
"""

from typing import Any

from sexplang.tasks.failures import bad_input
from sexplang.tasks.requests.subtask_request import fields_of, snake
from sexplang.terms.classes.node import node
from sexplang.terms.template import ContextManagement
from sexplang.terms.values.value import Value


@node
class ContextSettings:
    """The decided values of the dimensions of context."""

    inherit_context: str
    accumulate_data: bool
    accumulation_format: str
    fresh_context: str
    keeps_out: bool = False
    """Whether `accumulate_data: false` was set rather than defaulted."""
    asks_fresh: bool = False
    """Whether `fresh_context: enabled` was set."""
    warnings: tuple[str, ...] = ()


_FULL = ("full", False, "notes_only", "disabled")
# inherit_context, accumulate_data, accumulation_format, fresh_context
DEFAULTS: dict[str, tuple[str, bool, str, str]] = {
    "standard": _FULL,
    "subtask": ("none", False, "notes_only", "enabled"),
    "director": _FULL,
    "evaluator": _FULL,
    "associative_matching": _FULL,
    "aider_interactive": ("none", True, "notes_only", "enabled"),
    "aider_automatic": ("none", False, "notes_only", "enabled"),
}

_CHOICES: dict[str, dict[Any, Any]] = {
    "inherit_context": {"full": "full", "none": "none", "subset": "subset"},
    "accumulate_data": {True: True, False: False, "true": True, "false": False},
    "accumulation_format": {
        "notes_only": "notes_only",
        "full_output": "full_output",
        "minimal": "notes_only",
        "full": "full_output",
    },
    "fresh_context": {"enabled": "enabled", "disabled": "disabled"},
}

CONFLICT = (
    "Context constraint violation: "
    'fresh_context="enabled" cannot be combined with inherit_context="{}"'
)
NOTHING_BEFORE = (
    "accumulate_data has nothing to show: outside of a conversation, previous_outputs say what was "
    "done before"
)
NO_MEMORY = "there is no fresh context: nobody here answers `search-memory`"
MINIMAL = (
    "Task will execute with minimal context (no inheritance, no accumulation, no fresh context)"
)


def read_requested(given: Value) -> dict[str, Any]:
    """Return the settings of a request in snake_case. Nil is unset. Raises Fault for unknown keys
    and values."""
    if given is None:
        return {}
    fields = fields_of(given)
    if fields is None:
        raise bad_input("context_management must be a table", fields=("context_management",))
    settings: dict[str, Any] = {}
    wrong: list[str] = []
    for key, value in fields.items():
        name = snake(key)
        choices = _CHOICES.get(name)
        # 1 and 1.0 are equal to True as keys, but booleans are not numbers here.
        known = isinstance(value, (str, bool)) and choices is not None and value in choices
        if (value is not None and not known) or (name in fields and name != key):
            wrong.append(name)
        elif value is not None and choices is not None:
            settings[name] = choices[value]
    if wrong:
        raise bad_input(
            f"context_management has no such setting or value: {', '.join(wrong)}",
            "write inherit_context: full|none|subset accumulate_data: true|false "
            "accumulation_format: notes_only|full_output fresh_context: enabled|disabled",
            fields=tuple(f"context_management.{name}" for name in wrong),
        )
    return settings


def accumulates(given: Value) -> bool:
    """Return whether a request asks for earlier outputs."""
    settings = {snake(key): value for key, value in (fields_of(given) or {}).items()}
    return settings.get("accumulate_data") in (True, "true")


def effective(
    subtype: str, template: ContextManagement, request: dict[str, Any]
) -> ContextSettings:
    """Return the settings: the subtype's defaults, then the template's, then the request's, held to
    the constraints. Raises Fault."""
    warnings: list[str] = []
    if subtype not in DEFAULTS:
        warnings.append(f"subtype `{subtype}` has no defaults of its own; those of standard hold")
    defaults = dict(zip(_CHOICES, DEFAULTS.get(subtype, _FULL), strict=True))
    chosen = {key: getattr(template, key) for key in _CHOICES}
    chosen = {key: value for key, value in chosen.items() if value is not None} | request
    merged: dict[str, Any] = defaults | chosen
    if merged["fresh_context"] == "enabled" and merged["inherit_context"] != "none":
        _settle(merged, chosen, warnings)
    if (
        merged["inherit_context"] == "none"
        and not merged["accumulate_data"]
        and merged["fresh_context"] == "disabled"
    ):
        warnings.append(MINIMAL)
    keeps_out = chosen.get("accumulate_data") is False
    asks_fresh = chosen.get("fresh_context") == "enabled"
    return ContextSettings(
        **merged, keeps_out=keeps_out, asks_fresh=asks_fresh, warnings=tuple(warnings)
    )


def _settle(merged: dict[str, Any], chosen: dict[str, Any], warnings: list[str]) -> None:
    """Let set values win over defaulted ones. Raises Fault if both were set."""
    inherit = merged["inherit_context"]
    if "inherit_context" in chosen and "fresh_context" in chosen:
        raise bad_input(
            CONFLICT.format(inherit),
            'set inherit_context to "none", or fresh_context to "disabled"',
            fields=("context_management",),
        )
    if "inherit_context" in chosen:
        merged["fresh_context"] = "disabled"
        warnings.append(f"fresh_context is disabled because inherit_context is {inherit}")
    else:
        merged["inherit_context"] = "none"
        warnings.append("inherit_context is none because fresh_context is enabled")
