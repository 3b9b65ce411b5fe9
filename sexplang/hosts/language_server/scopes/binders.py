"""The walks of special forms, by the scoping that the compiler's shapes declare."""

from collections.abc import Iterable, Iterator

from sexplang.compiler.forms.shapes import SHAPES, Scoping, word_of
from sexplang.hosts.language_server.scopes.declarations import parameter, value
from sexplang.hosts.language_server.scopes.scope_table import Scope
from sexplang.hosts.language_server.scopes.walk import (
    Walk,
    WalkForm,
    bound_to,
    name_function,
    pairs,
)
from sexplang.terms.form import Form, Label, ListForm, Name, TableForm, VectorForm


def _part(form: ListForm, at: int) -> Form | None:
    return form.items[at] if at < len(form.items) else None


def _values(found: Iterable[tuple[Name, Form | None]]) -> list[Form]:
    return [made for _, made in found if made is not None]


def _nothing(walk: Walk, form: ListForm, scope: Scope) -> None:
    """Walk data: nothing."""


def _quasiquote(walk: Walk, form: ListForm, scope: Scope) -> None:
    """Walk data with unquoted expressions."""
    work: list[tuple[Form, int]] = [(item, 1) for item in form.items[1:]]
    while work:
        item, level = work.pop()
        if not isinstance(item, (ListForm, VectorForm, TableForm)):
            continue
        word = word_of(item)
        level += {"quasiquote": 1, "unquote": -1, "unquote-splicing": -1}.get(word, 0)
        if level == 0:
            walk.push(item.items[1:], scope)
        else:
            work.extend((part, level) for part in item.items)


def _lambda(walk: Walk, form: ListForm, scope: Scope) -> None:
    """Walk `(lambda params body…)`."""
    if len(form.items) > 1:
        walk.function(form.items[1], form.items[2:], scope, form)


def _let(walk: Walk, form: ListForm, scope: Scope) -> None:
    """Walk `(let ((name e) …) body…)` and `(let name ((x e) …) body…)`."""
    name = _part(form, 1)
    if type(name) is Name:
        found = pairs(_part(form, 2))
        walk.push(_values(found), scope)
        inner = walk.bind(scope, [(name, name_function(name, form, found))], *_from(form, 3))
        params = [(each, parameter(each, form)) for each, _ in found]
        walk.body(form.items[3:], walk.bind(inner, params, *_from(form, 3)), form.span.end)
        return
    found = pairs(name)
    walk.push(_values(found), scope)
    inner = walk.bind(scope, bound_to(found, form), *_from(form, 2))
    walk.body(form.items[2:], inner, form.span.end)


def _from(form: ListForm, at: int) -> tuple[int, int]:
    """Return the range from the end of the part before `at` to the end of the form."""
    before = form.items[min(at, len(form.items)) - 1]
    return before.span.end, form.span.end


def _let_star(walk: Walk, form: ListForm, scope: Scope) -> None:
    """Walk `(let* ((name e) …) body…)`: each name sees the ones before."""
    for name, made in pairs(_part(form, 1)):
        if made is not None:
            walk.push([made], scope)
        start = made.span.end if made is not None else name.span.end
        scope = walk.bind(scope, [(name, value(name, form, made))], start, form.span.end)
    walk.body(form.items[2:], scope, form.span.end)


def _letrec(walk: Walk, form: ListForm, scope: Scope) -> None:
    """Walk `(letrec ((name e) …) body…)`: all names see all."""
    found = pairs(_part(form, 1))
    inner = walk.bind(scope, bound_to(found, form), form.span.start, form.span.end)
    walk.push(_values(found), inner)
    walk.body(form.items[2:], inner, form.span.end)


def _loop(walk: Walk, form: ListForm, scope: Scope) -> None:
    """Walk `(loop count body…)` and `(loop ((name e) …) body…)`."""
    first = _part(form, 1)
    if type(first) is ListForm and (not first.items or type(first.items[0]) is ListForm):
        _let(walk, form, scope)
        return
    _test_and_body(walk, form, scope)


def _test_and_body(walk: Walk, form: ListForm, scope: Scope) -> None:
    """Walk `(when test body…)`."""
    walk.push(form.items[1:2], scope)
    walk.body(form.items[2:], scope, form.span.end)


def _cond(walk: Walk, form: ListForm, scope: Scope) -> None:
    """Walk `(cond (test body…) … (else body…))`."""
    for clause in form.items[1:]:
        if type(clause) is ListForm:
            walk.push(clause.items[:1], scope)
            walk.body(clause.items[1:], scope, clause.span.end)
        else:
            walk.push([clause], scope)


def _case(walk: Walk, form: ListForm, scope: Scope) -> None:
    """Walk `(case key ((datum …) body…) … (else body…))`."""
    walk.push(form.items[1:2], scope)
    for clause in form.items[2:]:
        if type(clause) is ListForm:
            walk.body(clause.items[1:], scope, clause.span.end)


def _handle(walk: Walk, form: ListForm, scope: Scope) -> None:
    """Walk `(handle body ((operation param…) resume body…) … (return name body…))`."""
    walk.push(form.items[1:2], scope)
    for clause in form.items[2:]:
        if type(clause) is not ListForm or not clause.items:
            walk.push([clause], scope)
            continue
        pattern = clause.items[0]
        names: list[Form] = list(clause.items[1:2])
        if type(pattern) is ListForm:
            walk.push(pattern.items[:1], scope)
            names += pattern.items[1:]
        _binding(walk, clause, names, clause.items[2:], scope)


def _try(walk: Walk, form: ListForm, scope: Scope) -> None:
    """Walk `(try e… (catch (name word…) body…) … (finally body…))`."""
    walk.body([each for each in form.items[1:] if not _is_ending(each)], scope, form.span.end)
    for ending in form.items[1:]:
        if not _is_ending(ending):
            continue
        assert isinstance(ending, ListForm)
        walk.mention(ending.items[0], walk.special.get(word_of(ending)))
        if word_of(ending) == "finally":
            walk.body(ending.items[1:], scope, ending.span.end)
        else:
            names = getattr(_part(ending, 1), "items", ())[:1]
            _binding(walk, ending, names, ending.items[2:], scope)


def _is_ending(form: Form) -> bool:
    return word_of(form) in ("catch", "finally")


def _binding(
    walk: Walk, clause: ListForm, names: Iterable[Form], body: tuple[Form, ...], scope: Scope
) -> None:
    """Walk a clause whose names are visible in its body."""
    bound = [(name, parameter(name, clause)) for name in names if type(name) is Name]
    inner = walk.bind(scope, bound, clause.span.start, clause.span.end)
    walk.body(body, inner, clause.span.end)


def _match(walk: Walk, form: ListForm, scope: Scope) -> None:
    """Walk `(match e (pattern body…) (pattern when guard body…) …)`."""
    walk.push(form.items[1:2], scope)
    for clause in form.items[2:]:
        if type(clause) is not ListForm or not clause.items:
            continue
        names = list(_pattern_names(walk, clause.items[0], scope))
        rest = clause.items[1:]
        if rest and type(rest[0]) is Name and rest[0].text == "when":
            walk.mention(rest[0], walk.special.get("when"))
            rest = rest[1:]
        _binding(walk, clause, names, rest, scope)


def _pattern_names(walk: Walk, pattern: Form, scope: Scope) -> Iterator[Name]:
    """Yield the names that a pattern binds: `x  [p . r]  {k: p}  (? predicate p)  'symbol`."""
    work = [pattern]
    while work:
        form = work.pop()
        word = word_of(form)
        if type(form) is Name:
            if form.text not in ("_", ".", "..."):
                yield form
        elif word == "?":
            walk.push(form.items[1:2], scope)  # type: ignore[union-attr]
            work += form.items[2:]  # type: ignore[union-attr]
        elif isinstance(form, (ListForm, VectorForm, TableForm)) and word != "quote":
            work += form.items


def _input(walk: Walk, form: ListForm, scope: Scope) -> None:
    """Walk `(define-input name type: t choices: […] doc: "…" default: e)`; the type is a word."""
    for label, item in zip(form.items[2:], form.items[3:], strict=False):
        if type(label) is Label and label.text != "type":
            walk.push([item], scope)


def _operands(walk: Walk, form: ListForm, scope: Scope) -> None:
    """Walk `(perform operation e…)` and `(forward resume operation e…)`."""
    walk.push(form.items[1:], scope)


_WALKS: dict[Scoping, WalkForm] = {
    "operands": _operands,
    "data": _nothing,
    "unquoted": _quasiquote,
    "parameters": _lambda,
    "names": _let,
    "names in order": _let_star,
    "names of all": _letrec,
    "names or count": _loop,
    "first": _test_and_body,
    "clauses of tests": _cond,
    "clauses of data": _case,
    "clauses of patterns": _match,
    "clauses of operations": _handle,
    "endings": _try,
    "labels": _input,
}

WALKS: dict[str, WalkForm] = {
    "syntax-rules": _nothing,
    **{word: _WALKS[each.scoping] for word, each in SHAPES.items() if each.scoping in _WALKS},
}
"""The walks of special forms whose operands are not simply a body."""
