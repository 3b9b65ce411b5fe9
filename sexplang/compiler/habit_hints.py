"""Hints for unbound names that other languages have, made of the call in which they stand.

Imported for the first name that is not bound: a program without a mistake pays nothing.
"""

import re
from collections.abc import Sequence
from itertools import permutations

from sexplang.compiler.compilation import Lowering
from sexplang.compiler.forms.shapes import RESERVED, SHAPES
from sexplang.compiler.habit_patterns import fill, match, may_be
from sexplang.package import habits, package_data
from sexplang.package.habits import Habit
from sexplang.terms.classes.node import frozen
from sexplang.terms.diagnostic import Edit
from sexplang.terms.form import Form, ListForm, Name
from sexplang.terms.program import Export
from sexplang.terms.source import Made, Span
from sexplang.terms.values.value import Higher, Operation, Primitive

MOST_SHOWN = 160
"""The greatest length of a rewritten call in a hint."""

_NOUNS = frozenset(
    [
        *("agent", "ask", "box", "cache", "cell", "class", "class-of", "clock", "constant", "date"),
        *("datetime", "day", "default", "embedding", "env", "exception", "fail", "head"),
        *("hour", "in", "index", "info", "init", "input", "instant", "interface", "it", "item"),
        *("items", "key", "limit", "lines", "lock", "lookup", "max-of", "min-of", "minimum"),
        *(
            "maximum",
            "mode",
            "month",
            "name",
            "next",
            "no",
            "numbers",
            "object",
            "off",
            "on",
            "only",
        ),
        *("order", "output", "pairs", "parser", "position", "process", "prompt", "promise"),
        *("property", "record", "reset", "save", "say", "search", "set", "show", "signal"),
        *("state", "string", "struct", "symbol", "system", "tail", "task", "text", "time"),
        *("timeout", "timestamp", "top", "total", "transform", "type", "unit", "use", "var"),
        *("vec", "vector", "warn", "window", "words", "yes", "year", "number", "number-of"),
        *("generate", "complete", "template-string", "chat", "call", "check", "some-"),
        *("value", "content", "table", "dict", "hash", "array"),
    ]
)
"""Words that a program may well use for a value of its own: they are habits at the head of a call
alone."""


@frozen
class Suggestion:
    """What to write for a name; `is_form` if the operands of its call are no expressions."""

    hint: str
    edits: tuple[Edit, ...] = ()
    is_form: bool = False


def find_suggestion(c: Lowering, name: str, span: Span, call: ListForm | None) -> Suggestion | None:
    """Return the suggestion for an unbound name, None if it is no habit. `call` is the call whose
    head it is."""
    if call is None and habits.normalize(name) in _NOUNS:
        return None
    if call is not None and (arrow := _find_arrow(call)) is not None:
        return arrow
    if name in _COMMENTS or (call is None and name in ("//", "--")):
        return _suggest_comment(c, span)
    known = {*c.names.scope, *package_data.STANDARD, *SHAPES}
    found = habits.find_habits(name, known)
    if name.startswith(".") and (not found or habits.normalize(name[1:]) in _NOUNS):
        return _suggest_field(name[1:], span, call)
    if not found:
        module = habits.find_module(name)
        return Suggestion(f"`(import {module})` has it") if module else None
    rewritten = _rewrite(found, call) if call is not None else None
    if rewritten is not None:
        return rewritten
    row = next((each for each in found if not each.pattern), found[0])
    if not row.name:
        return Suggestion(row.hint, is_form=row.is_form)
    return _rename(c, row, span, call)


def _find_arrow(call: ListForm) -> Suggestion | None:
    """Return what to write for `(x => body)`; None for any other call."""
    if isinstance(call.span, Made) or len(call.items) < 3 or call.items[1].span.text not in _ARROWS:
        return None
    body = " ".join([each.span.text for each in call.items[2:]])
    written = f"(lambda ({call.items[0].span.text}) {body})"
    hint = f"write `{written}`" if len(written) <= MOST_SHOWN else "write `(lambda (x) body…)`"
    return Suggestion(hint, (Edit(call.span, written),), True)


_ARROWS = frozenset(("=>", "->"))

_COMMENTS = frozenset(("/*", "*/", "/**", "///", "<!--"))


def _suggest_comment(c: Lowering, span: Span) -> Suggestion:
    """Return what to write for a comment of another language. The words of its line are not
    reported."""
    text = span.source.text
    line = text[span.start :].partition("\n")[0]
    c.refused |= {word.rstrip(")]}") for word in line.split()}
    is_rest = not isinstance(span, Made) and text[span.start] in "/-" and span.text != "*/"
    edits = (Edit(span, ";"),) if is_rest and "*" not in span.text else ()
    return Suggestion("a comment begins with `;` and ends with its line", edits)


def _suggest_field(field: str, span: Span, call: ListForm | None) -> Suggestion | None:
    """Return what to write for `.field`, and for the call `(.field row)`."""
    if isinstance(span, Made) or not re.fullmatch(r"[A-Za-z_][\w-]*", field):
        return None
    if span.source.text[span.start - 1 : span.start] in _CLOSERS:
        return None
    if call is None:
        reader = f"(lambda (x) x.{field})"
        return Suggestion(f"a field is read by a function: write `{reader}`", _edits(span, reader))
    if len(call.items) == 2 and type(call.items[1]) is Name:
        read = f"{call.items[1].span.text}.{field}"
        return Suggestion(f"write `{read}`", _edits(call.span, read))
    return Suggestion(f'write `row.{field}`, or `(get t "{field}")`')


_CLOSERS = tuple(')]}"')


def find_mark(name: str, span: Span) -> Suggestion | None:
    """Return what to write for a name with a mark of another language: a text with a letter in
    front, `name=value`, what is spread, an index behind a list, a dereference; None for any other
    name."""
    if isinstance(span, Made):
        return None
    text = span.source.text
    if text[span.end : span.end + 1] == '"' and name.lower() in _PREFIXES:
        return Suggestion(_PREFIXES[name.lower()])
    given = re.fullmatch(r"([A-Za-z_][\w-]*)=(.*)", name)
    if given is not None:
        label = f"{given[1]}: {given[2]}"
        return Suggestion(f"write `{label if given[2] else f'{label}…'}`", _edits(span, label))
    if name.startswith(("...", "…")) and name.strip(".…"):
        xs = name.lstrip(".…")
        return Suggestion(f"nothing is spread: write `(append {xs} [x])`, or `(apply f {xs})`")
    if name.startswith(".") and text[span.start - 1 : span.start] == "]":
        return Suggestion('write `(get-in t ["items" 0 "name"])` for an item and its field')
    if name.startswith("@") and len(name) > 1:
        return Suggestion(f"write `{name[1:]}`, or `(get-state)` of `(import std/state)`")
    return None


def find_name_before(c: Lowering, span: Span) -> Suggestion | None:
    """Return what to write for `f("a")`, which is a name and a list; None where no name touches the
    list."""
    if isinstance(span, Made):
        return None
    start = max(0, span.start - _LONGEST_NAME)
    touching = re.search(
        r"(?<![^\s()\[\]{}])[A-Za-z_][\w.?!*>-]*$", span.source.text[start : span.start]
    )
    if touching is None or touching[0] in RESERVED:
        return None
    call = f"({touching[0]} {span.text[1:-1]})"
    shown = call if len(call) <= MOST_SHOWN else f"({touching[0]} …)"
    at = start + touching.start()
    is_head = span.source.text[at - 1 : at] == "("
    edits = (
        ()
        if is_head or c.names.find(touching[0]) is None
        else (Edit(Span(span.source, at, span.end), call),)
    )
    return Suggestion(f"the name stands in the parentheses: write `{shown}`", edits)


_LONGEST_NAME = 60

_PREFIXES = {
    "f": 'a text has no values in it: write `(str "n is " n)`, or `(format "n is ~a" n)`',
    "r": 'a text has no letter in front: write a backslash twice, as in `"\\\\d+"`',
    "b": "a text has no letter in front: leave it out",
    "u": "a text has no letter in front: leave it out",
}
"""Letters before a text in Python."""


def _rename(c: Lowering, row: Habit, span: Span, call: ListForm | None) -> Suggestion:
    """Return the suggestion of another name, with its parameters. The edit puts the arguments in
    their order, if they are written in another one."""
    operands = call.items[1:] if call is not None else ()
    params = _parameters_for(c, row.name, len(operands))
    if params is None or row.name in RESERVED:
        usage = SHAPES[row.name].syntax if row.name in RESERVED else row.name
        return Suggestion(f"write `{usage}`", _edits(span, row.name))
    hint = f"write `({' '.join([row.name, *params])})`"
    if len(operands) > len(params) and "…" not in params:
        hint += f", which takes no more than {len(params)}"
    order = _order(params, operands)
    if order is None:
        return Suggestion(hint)
    if call is None or order == tuple(range(len(operands))):
        return Suggestion(hint, _edits(span, row.name))
    ordered = " ".join([row.name, *[operands[at].span.text for at in order]])
    return Suggestion(hint, _edits(call.span, f"({ordered})"))


def _edits(span: Span, text: str) -> tuple[Edit, ...]:
    return () if isinstance(span, Made) else (Edit(span, text),)


def _order(params: Sequence[str], operands: Sequence[Form]) -> tuple[int, ...] | None:
    """Return the order of the operands, the first that may fit the parameters; None if none does,
    or it is not known."""
    if len(operands) != len(params) or "…" in params:
        kinds = [may_be(param, each) for param, each in zip(params, operands, strict=False)]
        return tuple(range(len(operands))) if all(kinds) else None
    for order in permutations(range(min(len(operands), MOST_MOVED))):
        if all(may_be(param, operands[at]) for param, at in zip(params, order, strict=True)):
            return order
    return None


MOST_MOVED = 3
"""The greatest number of arguments that are put in another order."""


def _parameters_for(c: Lowering, name: str, count: int) -> list[str] | None:
    """Return the parameters of a name of the prelude for `count` arguments; None if they are not
    known."""
    params = _parameters(c, name)
    if params is None:
        return None
    extra = count - sum(each[0] not in "[…" for each in params)
    shown = []
    for each in params:
        if each[0] not in "[…":
            shown.append(each)
        elif extra > 0:
            shown.append(each.strip("[]"))
            extra -= each != "…"
    return shown


def _parameters(c: Lowering, name: str) -> list[str] | None:
    export = c.names.scope.get(name)
    shape = export.shape if isinstance(export, Export) else None
    if isinstance(shape, (Primitive, Higher)) and shape.usage:
        call = shape.usage.partition("`")[2].partition("`")[0]
        return call.strip("()").split(" ")[1:]
    if isinstance(shape, Operation):
        optional = [f"[{each}]" for each in shape.params[shape.least :]]
        return ["value", "…"] if shape.rest else [*shape.params[: shape.least], *optional]
    if name in package_data.STANDARD:
        text = package_data.read_shipped(f"stdlib/{package_data.STANDARD[name]}.sexp")
        found = re.search(rf"^\(define \({re.escape(name)} ([^()]*)\)", text, re.M)
        return found[1].split() if found else None
    return None


def find_call(c: Lowering, name: str, call: ListForm) -> Suggestion | None:
    """Return what to write for a call of a name of the library with arguments that it does not
    take; None if no other language has such a call."""
    if name in c.names.table:
        return None
    found = habits.find_habits(name, ())
    return _rewrite(found, call)


def _rewrite(found: Sequence[Habit], call: ListForm) -> Suggestion | None:
    """Return the call by the template of the first row whose pattern it has; None if it has none
    of them."""
    if isinstance(call.span, Made):
        return None
    for row in found:
        bound = match(row.pattern, call.items[1:], row.is_form) if row.pattern else None
        if bound is None:
            continue
        if not row.template:
            return Suggestion(row.hint, is_form=row.is_form)
        text = fill(row.template, bound)
        is_short = len(text) <= MOST_SHOWN and "\n" not in text and "`" not in text
        hint = row.hint.replace(f"`{row.template}`", f"`{text}`") if is_short else row.hint
        return Suggestion(hint, (Edit(call.span, text),), row.is_form)
    return None
