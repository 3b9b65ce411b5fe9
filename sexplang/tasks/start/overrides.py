"""The table of a call's overrides to checked settings: what is not given stays as it is."""

from typing import Any

from sexplang.tasks.failures import bad_input
from sexplang.tasks.prompt.history import configure, flaw_of, is_history, messages_of
from sexplang.tasks.requests.subtask_request import FIELDS, snake
from sexplang.tasks.session import Block
from sexplang.tasks.settings import read_requested
from sexplang.terms.classes.node import field, node
from sexplang.terms.model.payload import OPTIONS, SHOWN, elsewhere, flaw, option_meant
from sexplang.terms.template import HistoryConfig
from sexplang.terms.values.value import Procedure, Symbol, Value


@node
class Overrides:
    """What a request says about one call. Limits can only be lowered by it."""

    subtype: str | None = None
    asked_for: str | None = None
    """The name that the request had, which may be no task's."""
    matched: dict[str, Value] | None = None
    """How the task was found for the request: `{by score others}`."""
    model: str | None = None
    max_depth: int | None = None
    max_turns: int | None = None
    tools: tuple[str, ...] | None = None
    """In place of the template's; `*` stands for all that are registered."""
    file_paths: tuple[str, ...] | None = None
    context_management: dict[str, Any] = field(factory=dict)
    previous_outputs: Value = None
    history: tuple[Block, ...] | None = None
    """The messages of an earlier conversation that this one goes on with."""
    history_config: Value = None
    options: dict[str, Value] = field(factory=dict)
    """Settings of the model calls, each in the place of the template's."""
    expected_words: str = ""
    warnings: tuple[str, ...] = ()


NO_OVERRIDES = Overrides()

# A call is made with whole requests; these fields have done their work when a template is found.
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
    """The overrides of a call, checked; all that is wrong is one failure. Raises Fault."""
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
            wrong[name] = f"it stands twice, also as `{key}`: keep one"
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
    """The settings that are set, and what is wrong with others, by their place."""
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
                hint = elsewhere(key, value)
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
