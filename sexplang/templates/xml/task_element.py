"""The Template node of a valid `<task>` element, maybe in a `<template>`. Its structure was checked
before; `check` checks its meaning."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from sexplang.templates.json_schema.schema import resolve
from sexplang.templates.template_checks import Finding
from sexplang.templates.xml.structure import normal
from sexplang.terms.json.json_reader import NotJson
from sexplang.terms.json.strict import certain
from sexplang.terms.source import Span
from sexplang.terms.template import (
    ContextManagement,
    FilePaths,
    HistoryConfig,
    Limits,
    OutputFormat,
    Param,
    Template,
)
from sexplang.terms.values.boundary import value_of

if TYPE_CHECKING:
    from lxml.etree import _Element


def template_of(task: "_Element", wrapper: "_Element | None", span: Span) -> Template:
    """Return the node of `task`. `wrapper` is the `<template>` around it."""
    outer = task if wrapper is None else wrapper
    fields = {
        FIELDS[str(child.tag)][0]: FIELDS[str(child.tag)][1](child)
        for child in task
        if child.tag in FIELDS
    }
    return Template(
        name=normal(outer.get("name", "")),
        params=_params(task, outer),
        subtype=normal(task.get("subtype", "standard")),
        ref=_word(task.get("ref")),
        span=span,
        in_order=_in_order(task),
        **fields,
    )


def _word(text: str | None) -> str | None:
    return None if text is None else normal(text)


def _text(element: "_Element") -> str:
    return normal(element.text or "")


def _prose(element: "_Element") -> str:
    return prose(element.text or "")


def _flag(text: str) -> bool:
    return normal(text) == "true"


def _output_format(element: "_Element") -> OutputFormat:
    """Return the format of `<output_format type="json" schema="string[]"/>`, or of a schema between
    the tags."""
    schema = _word(element.get("schema")) or _text(element) or None
    type_: Any = normal(element.get("type", ""))
    if type_ == "xml":
        return OutputFormat(type_, _xsd(element, schema))
    if schema is None or not schema.startswith("{"):
        return OutputFormat(type_, schema)
    # The normalised text would lose white space inside strings.
    return OutputFormat(type_, resolve(element.get("schema") or element.text))


def _xsd(element: "_Element", schema: str | None) -> str | None:
    """Return the text of an XSD, or the name of its file."""
    if len(element):
        from lxml import etree

        return etree.tostring(element[0], encoding="unicode", with_tail=False)
    if schema is None or not schema.startswith("<"):
        return schema
    return (element.get("schema") or element.text or "").strip()


_ACCUMULATION = {"minimal": "notes_only", "full": "full_output"}


def _context_management(element: "_Element") -> ContextManagement:
    fields: dict[str, Any] = {str(child.tag): _text(child) for child in element}
    if "accumulate_data" in fields:
        fields["accumulate_data"] = _flag(fields["accumulate_data"])
    if "accumulation_format" in fields:
        word = fields["accumulation_format"]
        fields["accumulation_format"] = _ACCUMULATION.get(word, word)
    return ContextManagement(**fields)


def _context_assembly(element: "_Element") -> tuple[tuple[str, str], ...]:
    return tuple((str(child.tag), _prose(child)) for child in element)


def _file_paths(element: "_Element") -> FilePaths:
    source: Any = normal(element.get("source", "literal"))
    if source == "literal":
        return FilePaths(source, tuple(_text(path) for path in element))
    return FilePaths(source, text=_text(element[0]))


def _in_order(task: "_Element") -> tuple[str, ...]:
    """Return the tools that are called one after the other."""
    tools = task.iterfind("allowed_tools/tool")
    return tuple([_text(tool) for tool in tools if _flag(tool.get("in_order", "false"))])


def _read_allowed_tools(element: "_Element") -> tuple[str, ...]:
    return tuple([_text(tool) for tool in element])


def _subtasks(element: "_Element") -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(_text, element)))


def _limits(element: "_Element") -> Limits:
    found: dict[str, Any] = {name: int(text) for name, text in element.items() if name in _COUNTS}
    seconds = element.get("timeout")
    if seconds is not None:
        found["timeout"] = float(seconds)
    return Limits(**found)


_COUNTS = (
    *("max_turns", "max_output_tokens"),
    *("max_depth", "max_subtasks", "max_decompositions", "max_plan_depth"),
)


def _options(element: "_Element") -> dict[str, Any]:
    """Return the settings as written: JSON, else texts. The template reader checks them."""
    return {str(name): option_of(text) for name, text in element.attrib.items()}


def option_of(written: str) -> Any:
    """Return the value of a setting."""
    try:
        return value_of(certain(written))
    except NotJson:
        return normal(written)


def _history_config(element: "_Element") -> HistoryConfig:
    fields: dict[str, Any] = {}
    for child in element:
        name, text = str(child.tag), _text(child)
        fields[name] = int(text) if name == "history_turns_to_include" else _flag(text)
    return HistoryConfig(**fields)


def _element_flag(element: "_Element") -> bool:
    return _flag(element.text or "")


# The field of Template for each element, and its reader.
FIELDS: "dict[str, tuple[str, Callable[[_Element], Any]]]" = {
    "description": ("description", _prose),
    "instructions": ("instructions", _prose),
    "system": ("system", _prose),
    "criteria": ("criteria", _prose),
    "provider": ("provider", _text),
    "model": ("model", _text),
    "output_format": ("output_format", _output_format),
    "context_management": ("context_management", _context_management),
    "context_assembly": ("context_assembly", _context_assembly),
    "file_paths": ("file_paths", _file_paths),
    "allowed_tools": ("allowed_tools", _read_allowed_tools),
    "subtasks": ("subtasks", _subtasks),
    "limits": ("limits", _limits),
    "options": ("options", _options),
    "history_config": ("history_config", _history_config),
    "manual_xml": ("manual_xml", _element_flag),
    "disable_reparsing": ("disable_reparsing", _element_flag),
}


def _params(task: "_Element", outer: "_Element") -> tuple[Param, ...]:
    """Return the parameters of all three declarations: the `params` attribute, which sets the order
    of the positions, then `<params>`, then `<inputs>`."""
    found: dict[str, dict[str, Any]] = {name: {} for name in names_in(outer.get("params", ""))}
    for name, said in _read_declared(task):
        found.setdefault(name, {}).update(said)
    for element in task.iterfind("context_relevance/input"):
        name = normal(element.get("name", ""))
        if name in found:
            found[name]["relevant"] = _flag(element.get("include", ""))
    return tuple(Param(name, **said) for name, said in found.items())


def _read_declared(task: "_Element") -> Iterator[tuple[str, dict[str, Any]]]:
    for element in task.iterfind("params/param"):
        yield normal(element.get("name", "")), _param(element)
    for element in task.iterfind("inputs/input"):
        said: dict[str, Any] = {}
        if element.get("from"):
            said["source"] = normal(element.get("from", ""))
        if _prose(element):
            said["doc"] = _prose(element)
        yield normal(element.get("name", "")), said


def _param(element: "_Element") -> dict[str, Any]:
    type_ = normal(element.get("type", "any"))
    type_ = "object" if type_ == "table" else type_
    default = element.get("default")
    required = element.get("required")
    return {
        "type": type_,
        "doc": _prose(element),
        "required": default is None if required is None else _flag(required),
        "default": default if default is None else _default(default, type_),
    }


def _default(text: str, type_: str) -> Any:
    """Return the value of a default's text. `check` reports a text that has no value of the
    type."""
    if type_ in ("any", "string"):
        return text
    try:
        return value_of(certain(text))
    except NotJson:
        return text


def names_in(params: str) -> list[str]:
    """Return the names of a `params` attribute, separated by commas or white space."""
    return params.replace(",", " ").split()


def gaps_in(params: str) -> Iterator[Finding]:
    """Find a comma without a name on one side: a missing name shifts the positions."""
    if "," in params and not all(map(str.strip, params.split(","))):
        title = "a parameter has no name: nothing stands before or after one of these commas"
        yield Finding("bad-name", title, 'name it, or remove the comma: params="a, b"', "params")


def prose(text: str) -> str:
    """Return a text without its surrounding line breaks and its common indentation.

    Text on the line of the opening tag has no visible indentation, so it does not count for the
    common one.
    """
    lines = text.split("\n")
    if len(lines) == 1:
        return text.strip()
    first, *rest = lines
    common = _common([line for line in rest if line.strip()])
    kept = [line[common:] if line.strip() else line[common:].strip() for line in rest]
    if first.strip():
        kept.insert(0, first.lstrip())
    if kept and not kept[-1].strip():
        kept.pop()
    return "\n".join(kept)


def _common(lines: list[str]) -> int:
    """Return the number of white space characters with which all lines begin."""
    if not lines:
        return 0
    # A prefix of the first and the last line in order is one of all lines.
    low, high = min(lines), max(lines)
    indent = low[: len(low) - len(low.lstrip())]
    return next((at for at, char in enumerate(indent) if high[at : at + 1] != char), len(indent))
