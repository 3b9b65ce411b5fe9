"""The nodes of `<call>` elements: the called template and its arguments."""

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sexplang.templates.template_checks import check_name, check_params, gaps_in, names_in
from sexplang.templates.xml.structure import normal
from sexplang.templates.xml.xml_parser import Document
from sexplang.terms.classes.node import frozen
from sexplang.terms.diagnostic import Diagnostic
from sexplang.terms.json.json_reader import NotJson
from sexplang.terms.json.strict import certain
from sexplang.terms.template import (
    NAME,
    ArgumentNode,
    FunctionCallNode,
    ParameterPath,
    TemplateNode,
)
from sexplang.terms.texts.nearest import did_you_mean
from sexplang.terms.values.boundary import value_of

if TYPE_CHECKING:
    from lxml.etree import _Element

_PATH = re.compile(rf"({NAME})((?:\.[\w-]+)*)")
_WORDS = ("true", "false", "null")


def function_of(
    document: Document, template: "_Element", report: Callable[[Diagnostic], None]
) -> TemplateNode:
    """Return the node of a `<template>` that holds a `<call>`."""
    name = normal(template.get("name", ""))
    written = template.get("params", "")
    params = tuple(names_in(written))
    for finding in (*check_name(name), *gaps_in(written), *check_params(params)):
        attribute = "name" if finding.part == "name" else "params"
        report(finding.at(document.span(template, attribute)))
    reading = _CallReader(document, params, report)
    return TemplateNode(name, params, reading.call(template[0]), document.span(template))


def call_of(
    document: Document, call: "_Element", report: Callable[[Diagnostic], None]
) -> FunctionCallNode:
    """Return the node of a `<call>` by itself, without parameters."""
    return _CallReader(document, (), report).call(call)


@frozen
class _CallReader:
    document: Document
    params: tuple[str, ...]
    report: Callable[[Diagnostic], None]

    def call(self, call: "_Element") -> FunctionCallNode:
        arguments = tuple(map(self._argument, call))
        return FunctionCallNode(
            normal(call.get("template", "")), arguments, self.document.span(call)
        )

    def _argument(self, argument: "_Element") -> ArgumentNode:
        if len(argument):
            return ArgumentNode(self.call(argument[0]), self.document.span(argument[0]))
        text = normal(argument.text or "")
        path = _PATH.fullmatch(text) if text not in _WORDS else None
        if path is None:
            return ArgumentNode(self._data(argument), self._place(argument, text))
        if path[1] not in self.params:
            self._report_undeclared(argument, path[1])
        fields = tuple(path[2].split(".")[1:])
        return ArgumentNode(ParameterPath(path[1], fields), self._place(argument, text))

    def _data(self, argument: "_Element") -> Any:
        # The normalised text would lose white space inside strings.
        text = (argument.text or "").strip(" \t\r\n")
        try:
            return value_of(certain(text))
        except NotJson as why:
            quoted = json.dumps(text if len(text) <= 40 else f"{text[:39]}…", ensure_ascii=False)
            self._wrong(
                argument,
                "bad-argument",
                f"an argument is JSON, a parameter, a path into one as `a.b`, or a call: {why}",
                f"write a text in double quotes: <arg>{quoted}</arg>",
            )
            return None

    def _report_undeclared(self, argument: "_Element", name: str) -> None:
        title = f"`{name}` is no parameter of this template"
        if not self.params:
            title = f"`{name}` is no parameter: there are none here"
        as_text = f'write <arg>"{name}"</arg> for the text'
        hint = did_you_mean(name, self.params, as_text, "{}")
        self._wrong(argument, "unbound-name", title, hint)

    def _wrong(self, argument: "_Element", code: str, title: str, hint: str) -> None:
        label = self.document.label(argument)
        self.report(Diagnostic(code, title, (label,), hint=hint))

    def _place(self, argument: "_Element", text: str) -> Any:
        return self.document.span_of(argument, text)
