"""The reader of template files: XML becomes templates and calls, or Diagnostics with places.
Warnings go to `report`."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from sexplang.templates.template_checks import MOST, Finding, findings
from sexplang.templates.xml.call_elements import call_of, function_of
from sexplang.templates.xml.structure import breaches, legacy, normal
from sexplang.templates.xml.task_element import gaps_in, names_in, template_of
from sexplang.templates.xml.xml_parser import Document, parse
from sexplang.terms.classes.node import evolve
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.model.payload import OPTIONS, flaw
from sexplang.terms.source import Source, Span
from sexplang.terms.template import Part, Template, answering

if TYPE_CHECKING:
    from lxml.etree import _Element

Report = Callable[[Diagnostic], None]

Load = Callable[[str, Span], str]
"""The loader of a schema's file: its name and the span of the name give its text. Raises
Diagnostics."""


ReadType = Callable[[str, Span], dict[str, Any]]
"""The reader of a type: its text and span give its JSON Schema. Raises Diagnostics."""


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
    for written, span in islice(_find_returns(document, task, wrapper), 1):
        returns = {} if read_type is None else read_type(written, span)
        template = evolve(template, returns=returns)
    found += _check(document, task, wrapper, template)
    return answering(template)


def _find_returns(
    document: Document, task: "_Element", wrapper: "_Element | None"
) -> Iterator[tuple[str, Span]]:
    """Return each declared return type with its span."""
    for holder in (task,) if wrapper is None else (wrapper, task):
        if holder.get("returns"):
            yield holder.get("returns", ""), document.span(holder, "returns")
    for element in task.iterfind("returns"):
        yield element.text or "", document.span(element)


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
    said = [written for written, _ in _find_returns(document, task, wrapper)]
    if len({normal(each) for each in said}) > 1:
        title = "it is said twice what this task returns"
        found = Finding("duplicate-clause", title, "keep one of them", "returns")
        yield found.at(_span(document, task, wrapper, found))
    own = (
        *_find_outdated(task),
        *_relevance(task, template),
        *_options(template),
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


def _options(template: Template) -> Iterator[Finding]:
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
