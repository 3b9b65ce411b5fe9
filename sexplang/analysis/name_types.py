"""The types of names, as editors show them."""

from collections.abc import Iterator
from typing import Any

from sexplang.analysis.domain.typed_values import find_typed, schema_of, words_of
from sexplang.analysis.domain.values import Abstract
from sexplang.analysis.interpreter.interpreter import AbstractInterpreter
from sexplang.analysis.own_nodes import is_own
from sexplang.schemas.type_parts import ANY_TYPE, LIST, branches, part_at
from sexplang.terms.classes.node import frozen
from sexplang.terms.core import Core, InputValue, Local
from sexplang.terms.source import Span
from sexplang.terms.values.text import type_words


@frozen
class NameType:
    """The type of a name where it is used: the source of the value, and the type as it is
    written."""

    span: Span
    words: str


def types_of_names(m: AbstractInterpreter) -> tuple[NameType, ...]:
    """Return the types of the names whose fields are read, and of names that are arguments."""
    found: dict[Core, set[Abstract]] = {}
    for node, value in _list_observed(m):
        if isinstance(node, (Local, InputValue)) and is_own(node.span):
            found.setdefault(node, set()).add(value)
    types = [(node, _describe(m, *values)) for node, values in found.items() if len(values) == 1]
    return tuple([NameType(node.span, words) for node, words in types if words])


def _list_observed(m: AbstractInterpreter) -> Iterator[tuple[Any, Abstract]]:
    for node, values in m.observations.values.items():
        for value in values:
            yield node, value
    for call, given in m.observations.calls.items():
        for _, arguments in given:
            yield from zip(call.arguments, arguments, strict=True)


def _describe(m: AbstractInterpreter, value: Abstract) -> str:
    typed = find_typed(m.values, value)
    if typed is None:
        return ""
    type_, is_list = schema_of(typed.source), typed.pointer[-1:] == (LIST,)
    pointer = typed.pointer[:-1] if is_list else typed.pointer
    known = branches(type_, pointer)
    part = part_at(type_, known[0] if len(known) == 1 else pointer)
    if part == ANY_TYPE:
        return ""
    words, source = type_words(part), words_of(typed)
    return f"{source[0].upper()}{source[1:]}: `{f'[{words}]' if is_list else words}`."
