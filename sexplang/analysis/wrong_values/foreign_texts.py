"""Texts that mean something in another language, and stay as they are here."""

import re
from collections.abc import Iterator
from typing import Any

from sexplang.analysis.own_nodes import own_units
from sexplang.analysis.signs import SHOWING
from sexplang.terms.core import Call, CallPrimitive, Const, Let
from sexplang.terms.diagnostic import Diagnostic, Edit, Label
from sexplang.terms.program import Bind, Program
from sexplang.terms.source import Made
from sexplang.terms.values.value import Higher, Operation, Task

_FORMAT = '(format "~a" x)'
_FORMATTED = {
    "print": f"(print {_FORMAT})",
    "error": f"(error {_FORMAT})",
    "log": f'(log "info" {_FORMAT})',
}

_MARKS = r"%(?:[-+0]?\d*(?:\.\d+)?[dsifgxr])|~[asd]|~,\d*f|\{\d*(?::[^{}]*)?\}"
"""The places of values in the formats of other languages, and of `format`."""

_NAMED = r"(?<!\{)[$#]?\{(?P<one>[A-Za-z][\w.?!-]*)\}(?!\})|\{\{ *(?P<two>[A-Za-z][\w.?!-]*) *\}\}"
"""A name in braces, single or double."""

_REGEX = r"\\[dswbDSW]|\[[^\[\]]+\][*+?]?|\.[*+]|\(\?|^\^.|.\$$|\w\+$"
"""What only a regular expression has."""

_LITERAL_PARTS = {"string-split": 1, "string-replace": 1, "string-contains?": 1, "string-index": 1}
"""Functions that look for a part as it is written, and its position."""

_MATCHING = frozenset(("re-find", "re-matches", "re-seq", "re-split", "re-replace"))

_SLASHED = re.compile(r"/(.+)/([gimsuy]{1,4})", re.DOTALL)
"""A pattern between slashes, with flags."""

_REGEX_INSTEAD = {
    "string-split": "(re-split {1} {0})",
    "string-replace": "(re-replace {1} {0} {2})",
    "string-contains?": "(re-find {1} {0})",
    "string-index": "(re-find {1} {0})",
}


def find_foreign_texts(program: Program, nodes: list[Any]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each format or name in a text that nothing fills in, and each regular
    expression that is looked for as it is written."""
    names = _names(program, nodes)
    told: set[int] = set()
    for node in nodes:
        name = _callee(node)
        if not name or isinstance(node.span, Made):
            continue
        if name in SHOWING:
            for found in _find_format(node, name):
                told.add(id(node.arguments[1 if name == "log" else 0]))
                yield found
        elif name in _MATCHING:
            yield from _find_marks_of_patterns(node, name)
        elif name in _LITERAL_PARTS and len(node.arguments) > _LITERAL_PARTS[name]:
            part = node.arguments[_LITERAL_PARTS[name]]
            if _is_regex(part):
                yield _regex(node, name, part)
    texts = [node for node in nodes if isinstance(node, Const) and id(node) not in told]
    yield from _find_interpolations(texts, names)


def _callee(node: Any) -> str:
    if isinstance(node, CallPrimitive):
        return node.primitive.name
    value = node.callee.value if isinstance(node, Call) and isinstance(node.callee, Const) else None
    if isinstance(value, (Operation, Higher)):
        return value.name
    return "a task" if isinstance(value, Task) else ""


def _names(program: Program, nodes: list[Any]) -> set[str]:
    """Return the names that the program binds."""
    names: set[str] = set()
    for unit in own_units(program):
        names |= {item.name for item in unit.items if isinstance(item, Bind)}
        for function in unit.functions:
            names |= {each.name for each in function.params}
    for node in nodes:
        if isinstance(node, Let):
            names.update(node.names)
    return names


def _find_format(node: Any, name: str) -> Iterator[Diagnostic]:
    values = node.arguments[1:] if name == "log" else node.arguments
    if len(values) > 1 and _is_text(values[0]):
        mark = re.search(_MARKS, values[0].value)
        if mark is not None:
            yield _warn(
                values[0],
                f"`{name}` fills nothing in: `{mark[0]}` stays in the text",
                f"write `{_FORMATTED.get(name, _FORMAT)}`, where `~a` is a value's text",
            )


def _find_interpolations(nodes: list[Const], names: set[str]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each text with the name of a value in braces. A program that has the
    name in its braces as a text of its own puts the value there."""
    texts = [(node, text) for node in nodes for text in _texts_in(node.value)]
    own = {text for _, text in texts}
    for node, text in texts:
        found = re.search(_NAMED, text)
        if found is None or found[0] in own or isinstance(node.span, Made):
            continue
        if _name_in(found).partition(".")[0] in names:
            yield _warn(
                node,
                f"a text has no values in it: `{found[0]}` stays as it is",
                f"write {_join_values(text, names)}",
            )


def _texts_in(value: Any) -> Iterator[str]:
    work = [value]
    while work:
        each = work.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            work += each.values()
        elif isinstance(each, tuple):
            work += each


def _name_in(found: re.Match[str]) -> str:
    name = found["one"] or found["two"]
    assert name is not None
    return name


def _join_values(text: str, names: set[str]) -> str:
    """Return the call of `str` that gives a text with its names filled in."""
    parts = []
    last = 0
    for found in re.finditer(_NAMED, text):
        if _name_in(found).partition(".")[0] in names:
            parts += [f'"{text[last : found.start()]}"', _name_in(found)]
            last = found.end()
    parts.append(f'"{text[last:]}"')
    joined = " ".join([each for each in parts if each != '""'])
    is_short = len(joined) < 80 and "\n" not in joined and "\\" not in text and '"' not in text
    return f"`(str {joined})`" if is_short else '`(str "text " name)`'


def _is_text(node: Any) -> bool:
    return isinstance(node, Const) and isinstance(node.value, str)


def _is_regex(node: Any) -> bool:
    return _is_text(node) and len(node.value) > 1 and re.search(_REGEX, node.value) is not None


def _regex(node: Any, name: str, part: Any) -> Diagnostic:
    written = [each.span.text for each in node.arguments]
    return _warn(
        part,
        f"`{name}` looks for this text as it is written, not for a pattern",
        f"write `{_REGEX_INSTEAD[name].format(*written)}`",
    )


def _find_marks_of_patterns(node: Any, name: str) -> Iterator[Diagnostic]:
    """Yield a diagnostic for a pattern between slashes, and for a group of another language in a
    replacement."""
    pattern, *_, last = node.arguments
    slashed = _SLASHED.fullmatch(pattern.span.text[1:-1]) if _is_text(pattern) else None
    if slashed is not None:
        flags = "".join([each for each in slashed[2] if each in "ims"])
        meant = f'"(?{flags}){slashed[1]}"' if flags else f'"{slashed[1]}"'
        yield _warn(
            pattern,
            "a pattern is its text alone: slashes and flags are looked for as they are written",
            f"write `{meant}`",
            (Edit(pattern.span, meant),),
        )
    if name == "re-replace" and _is_text(last) and re.search(r"\\(?:g<)?[1-9]", last.value):
        meant = re.sub(r"\\\\(?:g<)?([1-9])>?(?![0-9])", r"$\1", last.span.text)
        yield _warn(
            last,
            "a group in a replacement is written with `$`: a backslash stays as it is",
            f"write `{meant}`",
            (Edit(last.span, meant),),
        )


def _warn(node: Any, title: str, hint: str, edits: tuple[Edit, ...] = ()) -> Diagnostic:
    return Diagnostic(
        "foreign-text", title, (Label(node.span),), hint=hint, severity="warning", edits=edits
    )
