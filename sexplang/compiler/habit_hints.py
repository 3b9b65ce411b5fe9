"""Hints for unbound names that other languages have, made of the call in which they stand.

Imported for the first name that is not bound: a program without a mistake pays nothing.
"""

import re
from collections.abc import Mapping, Sequence

from sexplang.compiler.compilation import Lowering
from sexplang.compiler.forms.shapes import RESERVED, SHAPES
from sexplang.package import habits, package_data
from sexplang.package.habits import Habit
from sexplang.terms.classes.node import frozen
from sexplang.terms.diagnostic import Edit
from sexplang.terms.form import Form, ListForm, Literal, Name, VectorForm
from sexplang.terms.program import Export
from sexplang.terms.source import Made, Span

MOST_SHOWN = 160
"""The greatest length of a rewritten call in a hint."""

_NOUNS = frozenset(
    """
    agent box cache cell class class-of clock constant date datetime day default embedding env
    exception fail head hour in index info init input instant interface it item items key limit
    lines lock lookup max-of min-of minimum maximum mode month name next no numbers object off on
    only order output pairs parser position process prompt promise property record reset save say
    search set show signal state string struct symbol system tail task text time timeout timestamp
    top total transform type unit use var vec vector warn window words yes year number number-of
    generate complete template-string chat call check some-value content table dict hash array
    """.split()
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
    known = {*c.names.scope, *package_data.STANDARD, *SHAPES}
    found = habits.find_habits(name, known)
    if not found:
        module = habits.find_module(name)
        return Suggestion(f"`(import {module})` has it") if module else None
    if found[0].pattern:
        return _rewrite(found, call)
    row = found[0]
    if not row.name:
        return Suggestion(row.hint)
    usage = signature(c, row.name, _count_arguments(call))
    hint = f"write `{usage}`" if usage else row.hint
    # A method has its object in front, not always where the function has it.
    is_certain = not name.startswith(".") and not isinstance(span, Made)
    return Suggestion(hint, (Edit(span, row.name),) if is_certain else ())


def _count_arguments(call: ListForm | None) -> int:
    return len(call.items) - 1 if call is not None else 0


def signature(c: Lowering, name: str, count: int) -> str:
    """Return a call of a name of the prelude with the parameters for `count` arguments; empty if
    they are not known."""
    if name in RESERVED:
        return SHAPES[name].syntax
    params = _parameters(c, name)
    if params is None:
        return ""
    required = [each for each in params if each[0] not in "[…"]
    extra = max(0, count - len(required))
    shown = list(required)
    for each in params:
        if each == "…" and extra:
            shown.append(each)
        elif each.startswith("[") and extra:
            shown.append(each.strip("[]"))
            extra -= 1
    return f"({' '.join([name, *shown])})"


def _parameters(c: Lowering, name: str) -> list[str] | None:
    export = c.names.scope.get(name)
    shape = export.shape if isinstance(export, Export) else None
    usage = getattr(shape, "usage", None)
    if usage:
        call = usage.partition("`")[2].partition("`")[0]
        return call.strip("()").split(" ")[1:]
    if hasattr(shape, "params") and not isinstance(shape.params, str):
        least = getattr(shape, "least", len(shape.params))
        rest = ["…"] if getattr(shape, "rest", False) else []
        optional = [f"[{each}]" for each in shape.params[least:]]
        return [*shape.params[:least], *optional, *rest] if not rest else [*shape.params, *rest]
    if name in package_data.STANDARD:
        text = package_data.read_shipped(f"stdlib/{package_data.STANDARD[name]}.sexp")
        found = re.search(rf"^\(define \({re.escape(name)} ([^()]*)\)", text, re.M)
        return found[1].split() if found else None
    return None


def _rewrite(found: Sequence[Habit], call: ListForm | None) -> Suggestion:
    """Return the call by the template of the first row whose pattern it has."""
    if call is not None and not isinstance(call.span, Made):
        for row in found:
            bound = _match(_read(row.pattern), call.items[1:])
            if bound is not None and row.template:
                text = _fill(row.template, bound)
                if len(text) <= MOST_SHOWN and "\n" not in text and "`" not in text:
                    return Suggestion(f"write `{text}`", (Edit(call.span, text),), True)
                return Suggestion(row.hint, (Edit(call.span, text),), True)
            if bound is not None:
                return Suggestion(row.hint, (), True)
    return Suggestion(found[0].hint, (), True)


_Pattern = str | list["_Pattern"]


def _read(text: str) -> list[_Pattern]:
    """Return the operands of a pattern in parentheses."""
    stack: list[list[_Pattern]] = [[]]
    for token in re.findall(r"[()]|[^\s()]+", text):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    (whole,) = stack[0]
    assert isinstance(whole, list)
    return whole


def _match(pattern: list[_Pattern], forms: Sequence[Form]) -> dict[str, str] | None:
    """Return the texts that the words of a pattern stand for; None if it does not fit. `x…` is all
    the rest, `body…` at least one form. Brackets of both kinds fit."""
    bound: dict[str, str] = {}
    for at, part in enumerate(pattern):
        if isinstance(part, str) and part.endswith("…"):
            rest = forms[at:]
            if not rest and part == "body…":
                return None
            bound[part] = " ".join([each.span.text for each in rest])
            return bound
        if at >= len(forms):
            return None
        form = forms[at]
        if isinstance(part, list):
            inner = _match(part, form.items) if isinstance(form, (ListForm, VectorForm)) else None
            if inner is None:
                return None
            bound.update(inner)
        elif part in _FIXED:
            if not isinstance(form, Name) or form.text not in (part, "Exception", "e"):
                return None
        elif part in _NAMED and not isinstance(form, Name):
            return None
        elif isinstance(form, Literal) and part == "name":
            return None
        else:
            bound[part] = form.span.text
    return bound if len(forms) == len(pattern) else None


_FIXED = frozenset(("error", "else", "lambda"))
"""Words of a pattern that stand for themselves."""

_NAMED = frozenset(("name", "x", "y", "i", "acc", "a", "b"))
"""Words of a pattern that stand for a name alone."""


def _fill(template: str, bound: Mapping[str, str]) -> str:
    """Return a template with the texts of the words."""
    filled = re.sub(r"[^\s()\[\]{}]+", lambda found: bound.get(found[0], found[0]), template)
    return re.sub(r" (?=[)\]])", "", filled)
