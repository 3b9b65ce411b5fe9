"""The reader of template files: XML becomes templates and calls, or Diagnostics with places.

The structure is checked first, then each `<task>` becomes a Template node, then its meaning is
checked. Warnings go to `report`.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from sexplang.templates.template_checks import MOST, Finding, findings, gaps_in, names_in
from sexplang.templates.xml.call_elements import call_of, function_of
from sexplang.templates.xml.structure import breaches, legacy, normal
from sexplang.templates.xml.xml_parser import Document, parse
from sexplang.terms.classes.node import evolve
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.model.payload import OPTIONS, flaw
from sexplang.terms.source import Source, Span
from sexplang.terms.template import Part, Template, with_answer_format

if TYPE_CHECKING:
    from lxml.etree import _Element
from typing import TYPE_CHECKING

from sexplang.schemas.schema import resolve
from sexplang.terms.json.json_reader import NotJson
from sexplang.terms.json.strict import certain
from sexplang.terms.template import (
    ContextManagement,
    FilePaths,
    HistoryConfig,
    Limits,
    OutputFormat,
    Param,
    Validator,
)
from sexplang.terms.values.boundary import value_of

if TYPE_CHECKING:
    from lxml.etree import _Element


Report = Callable[[Diagnostic], None]

Load = Callable[[str, Span], str]
"""The loader of a schema's file: its name and the span of the name give its text. Raises
Diagnostics."""


ReadType = Callable[[str, Span, str | None], dict[str, Any]]
"""The reader of a type: its text, its span and the path of the module with its names, if one is
given, give its JSON Schema. Raises Diagnostics."""


def read_templates(
    source: Source,
    report: Report | None = None,
    load: Load | None = None,
    read_type: ReadType | None = None,
) -> tuple[Part, ...]:
    """Return the templates and calls of a file, in order. Raises Diagnostics with all errors of the
    first stage that has any.

    `report` receives the warnings of a good file. Without `load`, a schema in a file of its own
    stays a name. Without `read_type`, a declared return type admits anything.
    """
    document = parse(source)
    wrong = legacy(document) or breaches(document)
    if wrong:
        raise Diagnostics(wrong)
    parts: list[Part] = []
    found: list[Diagnostic] = []
    for element in [document.root] if document.root.tag in _TEMPLATES else document.root:
        if element.tag == "call":
            parts.append(call_of(document, element, found.append))
        elif element.find("call") is not None:
            parts.append(function_of(document, element, found.append))
        else:
            parts.append(_template(document, element, load, read_type, found))
    errors = [diagnostic for diagnostic in found if diagnostic.severity == "error"]
    if errors:
        raise Diagnostics(errors[:MOST])
    if report is not None:
        for warning in found:
            report(warning)
    return tuple(parts)


_TEMPLATES = ("task", "template")


def _template(
    document: Document,
    element: "_Element",
    load: Load | None,
    read_type: ReadType | None,
    found: list[Diagnostic],
) -> Template:
    """Return the template of a `<task>`, maybe in a `<template>`."""
    inner = element.find("task")
    task, wrapper = (element, None) if inner is None else (inner, element)
    template = template_of(task, wrapper, document.span(element))
    if load is not None:
        template = _load_xsd(document, task, template, load)
    validator = task.find("validate")
    if template.validate is not None and validator is not None:
        named = evolve(template.validate, span=document.span(validator))
        template = evolve(template, validate=named)
    for written, span, module in islice(_find_returns(document, task, wrapper), 1):
        returns = {} if read_type is None else read_type(written, span, module)
        template = evolve(template, returns=returns)
    found += _check(document, task, wrapper, template)
    return with_answer_format(template)


def _find_returns(
    document: Document, task: "_Element", wrapper: "_Element | None"
) -> Iterator[tuple[str, Span, str | None]]:
    """Return each declared return type with its span, and the path of the module with its names."""
    for holder in (task,) if wrapper is None else (wrapper, task):
        if holder.get("returns"):
            yield holder.get("returns", ""), document.span(holder, "returns"), None
    for element in task.iterfind("returns"):
        yield element.text or "", document.span(element), element.get("from")


def _load_xsd(document: Document, task: "_Element", template: Template, load: Load) -> Template:
    """Return the template with the text of its XSD."""
    format_ = template.output_format
    element = task.find("output_format")
    if element is None or not format_.names_file:
        return template
    text = load(str(format_.schema), document.span(element, "schema"))
    return evolve(template, output_format=evolve(format_, schema=text))


def _check(
    document: Document, task: "_Element", wrapper: "_Element | None", template: Template
) -> Iterator[Diagnostic]:
    said = _find_returns(document, task, wrapper)
    if len({(normal(written), module) for written, _, module in said}) > 1:
        title = "this task declares twice what it returns"
        found = Finding("duplicate-clause", title, "keep one of them", "returns")
        yield found.at(_span(document, task, wrapper, found))
    own = (
        *_find_outdated(task),
        *_relevance(task, template),
        *_check_options(template),
        *_positions(wrapper),
    )
    for finding in (*findings(template), *own):
        yield finding.at(_span(document, task, wrapper, finding))


_DEPRECATED = {
    "output_slot": "the value of a call is its result: name it with bind or let",
    "input_source": "pass the value to the call as an argument",
}


def _find_outdated(task: "_Element") -> Iterator[Finding]:
    if task.get("type") is None:
        title = "this task has no type, and is taken as atomic"
        yield Finding("missing-type", title, 'write type="atomic"', severity="warning")
    for tag, hint in _DEPRECATED.items():
        if task.find(tag) is not None:
            title = f"<{tag}> is of the past and does nothing"
            yield Finding("deprecated-element", title, hint, tag, severity="warning")


_SHOWN = {
    "stop_sequences": '["END"]',
    "metadata": '{"user_id": "…"}',
    "provider": '{"name": "…"}',
}
"""Examples of settings that are written as JSON."""


def _check_options(template: Template) -> Iterator[Finding]:
    for key, value in template.options.items():
        why = flaw(key, value)
        if why is not None:
            title = f"`{key}` {why}"
            hint = f'write <options {key}="…"> with {OPTIONS[key].words}'
            if key in _SHOWN:
                hint = f"it is written as JSON: <options {key}='{_SHOWN[key]}'/>"
            yield Finding("xml-invalid", title, hint, f"options:{key}")


def _relevance(task: "_Element", template: Template) -> Iterator[Finding]:
    for element in task.iterfind("context_relevance/input"):
        name = normal(element.get("name", ""))
        if template.param(name) is None:
            yield Finding(
                "unknown-param",
                f"context_relevance names `{name[:40]}`, which is no parameter of this task",
                "declare it in <params> or <inputs>, or remove it here",
                f"relevance:{name}",
            )


def _positions(wrapper: "_Element | None") -> Iterator[Finding]:
    written = "" if wrapper is None else wrapper.get("params", "")
    yield from gaps_in(written)
    names = names_in(written)
    for at, name in enumerate(names[:MOST]):
        if name in names[:at]:
            title = f"there are two parameters called {name}"
            yield Finding("duplicate-param", title, "give one of them another name", "params")


def _span(
    document: Document, task: "_Element", wrapper: "_Element | None", finding: Finding
) -> Span:
    kind, _, name = finding.part.partition(":")
    outer = task if wrapper is None else wrapper
    if kind in ("name", "subtype", "returns") or finding.part == "params":
        holder = outer if kind in outer.attrib else task
        if kind in holder.attrib or kind != "returns":
            return document.span(holder, kind)
    if kind == "relevance":
        element = _find_named(task, "context_relevance/input", name)
        return document.span(task if element is None else element)
    if kind == "options":
        element = task.find(kind)
        return document.span(task if element is None else element, name)
    if kind == "tool":
        return document.span(task.findall("allowed_tools/tool")[int(name)])
    if kind == "param":
        return document.span(*_declaration(task, outer, name))
    element = task.find(kind) if kind else None
    if element is None:
        return document.span(outer)
    return document.span_of(element, finding.raw)


def _declaration(task: "_Element", outer: "_Element", name: str) -> "tuple[_Element, str | None]":
    for path in ("params/param", "inputs/input"):
        found = _find_named(task, path, name)
        if found is not None:
            return found, None
    return outer, "params"


def _find_named(task: "_Element", path: str, name: str) -> "_Element | None":
    for element in task.iterfind(path):
        if normal(element.get("name", "")) == name:
            return element
    return None


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
    "validate": ("validate", lambda element: Validator(_text(element))),
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
