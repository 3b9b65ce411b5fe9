"""The settings of one call: its context settings, the values of its parameters, its overrides.

The request overrides the template, the template the defaults of the subtype. A set key wins over a
defaulted counterpart. Two set keys that conflict are an error. There is one failure for all faults
of the values.
"""

from collections.abc import Callable
from typing import Any

from sexplang.tasks.failures import bad_input
from sexplang.tasks.prompt.history import configure, flaw_of, is_history, messages_of
from sexplang.tasks.prompt.media import is_file, is_image
from sexplang.tasks.requests.subtask_request import FIELDS, fields_of, snake
from sexplang.tasks.session import Block
from sexplang.terms.classes.node import field, node
from sexplang.terms.model.payload import OPTIONS, SHOWN, flaw, option_meant, suggest_place
from sexplang.terms.template import ContextManagement, HistoryConfig, Param, Template
from sexplang.terms.values.value import Procedure, Record, Symbol, Value


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


def _is_text(value: Value) -> bool:
    is_result = isinstance(value, Record) and value.kind == "TaskResult"
    return isinstance(value, (str, Symbol)) or is_result


def _is_number(value: Value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_integer(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_FITS: dict[str, Callable[[Value], bool]] = {
    "any": lambda value: not isinstance(value, Procedure),
    "string": _is_text,
    "number": _is_number,
    "integer": _is_integer,
    "boolean": lambda value: isinstance(value, bool),
    "list": lambda value: isinstance(value, tuple),
    "object": lambda value: isinstance(value, (dict, Record)),
    "image": is_image,
    "file": is_file,
}


def values_of(template: Template, given: dict[str, Value]) -> dict[str, Value]:
    """Return the values of a template's parameters, in their order. Nil for an optional parameter
    means its default. Raises Fault."""
    values, missing, unfit, taken = _sort_inputs(template, given)
    if missing or unfit or taken < len(given):
        raise _unfit(template, given, missing, unfit)
    return values


def fits(template: Template, given: dict[str, Value]) -> bool:
    """Return whether `values_of` raises nothing."""
    _, missing, unfit, taken = _sort_inputs(template, given)
    return not missing and not unfit and taken == len(given)


def fill_inputs(template: Template, given: dict[str, Value], description: str) -> dict[str, Value]:
    """Return the inputs of a request. Without inputs, the description is the input of a task that
    needs one text."""
    if given or not description:
        return given
    needed = [param for param in template.params if param.required]
    if len(needed) == 1 and needed[0].type in ("any", "string"):
        return {needed[0].name: description}
    return given


def _sort_inputs(
    template: Template, given: dict[str, Value]
) -> tuple[dict[str, Value], list[str], list[str], int]:
    """Return the values, the missing names, the names with values of another type, and the number
    of declared inputs among those given."""
    values: dict[str, Value] = {}
    missing: list[str] = []
    unfit: list[str] = []
    taken = 0
    for param in template.params:
        name = param.name
        value = given.get(name)
        if name in given:
            taken += 1
        if value is None and not param.required:
            value = param.default
        elif name not in given:
            missing.append(name)
        elif not _FITS[param.type](value) or _misfit(param, value):
            unfit.append(name)
        values[name] = value
    return values, missing, unfit, taken


def _unfit(
    template: Template, given: dict[str, Value], missing: list[str], unfit: list[str]
) -> Exception:
    params = {param.name: param for param in template.params}
    declared = {param.name: param.type for param in template.params}
    unknown = [name for name in given if name not in declared]
    said = [f"missing {_names(missing)}"] if missing else []
    if unknown:
        said.append(f"unknown {_names(unknown)}")
    said += [
        _misfit(params[name], given[name]) or _other(params[name], given[name]) for name in unfit
    ]
    takes = ", ".join([f"{name} ({type})" for name, type in declared.items()]) or "nothing"
    return bad_input(
        f"the inputs of task `{template.name}` do not fit: {'; '.join(said)}",
        f"`{template.name}` takes {takes}",
        missing=tuple(missing),
        unknown=tuple(unknown),
        invalid=tuple(
            {"name": name, "expected": declared[name], "actual": _kind(given[name])}
            for name in unfit
        ),
    )


def _misfit(param: Param, value: Value) -> str | None:
    """Return the misfit of a value and the type of a parameter. None if it fits, or if the type is
    a word."""
    if param.schema is None:
        return None
    from sexplang.schemas.values import misfit_of

    return misfit_of(value, param.schema, param.name)


def _other(param: Param, value: Value) -> str:
    return f"`{param.name}` is {_kind(value)}, not {_WANTED.get(param.type, param.type)}"


def _names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


_WANTED = {
    "any": "data",
    "image": "the path of an image (png jpg gif webp), or an image block",
    "file": "the path of a file, or a block of an image or a document",
}

_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    ((str, Symbol), "string"),
    (tuple, "list"),
    ((dict, Record), "object"),
    (Procedure, "a function"),
)


def _kind(value: Value) -> str:
    if value is None:
        return "nil"
    return next((kind for types, kind in _KINDS if isinstance(value, types)), "unknown")


@node
class Overrides:
    """The settings of one call. They can only lower limits."""

    subtype: str | None = None
    asked_for: str | None = None
    """The name in the request. It may be the name of no task."""
    matched: dict[str, Value] | None = None
    """The way in which the task was found for the request: `{by score others}`."""
    model: str | None = None
    max_depth: int | None = None
    max_turns: int | None = None
    tools: tuple[str, ...] | None = None
    """The tools that replace the template's. `*` stands for all registered tools."""
    file_paths: tuple[str, ...] | None = None
    context_management: dict[str, Any] = field(factory=dict)
    previous_outputs: Value = None
    history: tuple[Block, ...] | None = None
    """The messages of an earlier conversation that this one continues."""
    history_config: Value = None
    options: dict[str, Value] = field(factory=dict)
    """Settings of the model calls. Each replaces the template's."""
    expected_words: str = ""
    warnings: tuple[str, ...] = ()


NO_OVERRIDES = Overrides()

# A call may be made with a whole request. These fields only find the template.
_PASSED_OVER = frozenset(
    {"name", "type", "description", "inputs", "template_hints", "depth", "result"} | {"task_id"}
)


def _is_count(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _are_tools(value: Value) -> bool:
    return isinstance(value, tuple) and all(isinstance(name, str) for name in value)


_CHECKS = {
    **FIELDS,
    "asked_for": FIELDS["name"],
    "matched": FIELDS["inputs"],
    "tools": (_are_tools, 'write a list of the names of tools, or ["*"]'),
    "model": (lambda value: isinstance(value, str) and value != "", 'write "provider:name"'),
    "history": (is_history, "write a list of {role content} alone, role user or assistant"),
    "options": (lambda value: isinstance(value, dict), "write a table of settings"),
    "max_turns": (_is_count, "write an integer of at least 1"),
    "previous_outputs": (lambda value: not isinstance(value, Procedure), "write text or results"),
}


def overrides_of(given: dict[str, Value]) -> Overrides:
    """Return the checked overrides of a call. Raises one Fault for all faults."""
    fields: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    warnings: list[str] = []
    for key, value in given.items():
        name = snake(key)
        if value is None and name == "history":
            wrong[name] = _NO_HISTORY
        if value is None or name in _PASSED_OVER:
            continue
        if isinstance(value, Symbol):
            value = value.name
        check = _CHECKS.get(name)
        if check is None:
            warnings.append(f"a task call has no option `{key}`; it was left out")
        elif name in given and name != key:
            wrong[name] = f"it occurs twice, also as `{key}`: keep one"
        elif not check[0](value):
            wrong[name] = check[1]
        elif name == "options":
            fields[name], misfits = _options(value)
            wrong |= misfits
        elif name == "history" and (flaw := flaw_of(value)) is not None:
            wrong[name] = flaw
        else:
            fields[name] = value
    if wrong:
        listed = "; ".join(f"{name}: {what}" for name, what in wrong.items())
        raise bad_input(f"the options of a task call do not fit: {listed}", fields=tuple(wrong))
    return _make(fields, tuple(warnings))


def _options(given: dict[str, Value]) -> tuple[dict[str, Value], dict[str, str]]:
    """Return the settings that are set, and the faults of others by their place."""
    read: dict[str, Value] = {}
    wrong: dict[str, str] = {}
    for key, value in given.items():
        if isinstance(value, Symbol):
            value = value.name
        if key not in OPTIONS:
            wrong[f"options.{key[:SHOWN]}"] = f"there is no such setting; {option_meant(key)}"
        elif value is not None:
            why = flaw(key, value)
            if why is not None:
                hint = suggest_place(key, value)
                wrong[f"options.{key}"] = f"it {why}; {hint}" if hint else f"it {why}"
            read[key] = value
    return read, wrong


_NO_HISTORY = (
    "it is nil, which is what notes have where no history was given: write `history: []` for the "
    'first call, or go on with `(continue r "words")`'
)


def _make(fields: dict[str, Any], warnings: tuple[str, ...]) -> Overrides:
    expectations = fields.pop("return_expectations", None)
    if expectations is not None:
        fields["expected_words"] = f"Form of the answer: {expectations}"
    if "file_paths" in fields:
        fields["file_paths"] = tuple(dict.fromkeys(fields["file_paths"]))
    if "history_config" in fields:
        configure(HistoryConfig(), fields["history_config"])
    if "history" in fields:
        fields["history"] = messages_of(fields["history"])
    fields["context_management"] = read_requested(fields.get("context_management"))
    return Overrides(**fields, warnings=warnings)
