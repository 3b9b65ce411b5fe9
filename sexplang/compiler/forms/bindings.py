"""The bindings `((name e) …)` of `let` and its kin; a pattern may stand for a name."""

from collections.abc import Iterable, Iterator

from sexplang.compiler.compilation import Lowering
from sexplang.compiler.forms.patterns import is_pattern, names_in, report_duplicate
from sexplang.terms.diagnostic import Edit
from sexplang.terms.form import Form, ListForm, Literal, Name, VectorForm
from sexplang.terms.source import Span
from sexplang.terms.values.abbreviation import excerpt

Pair = tuple[Form, Form]
"""A name or a pattern, and the expression of its value."""


def bindings_of(c: Lowering, form: ListForm, listing: Form, *, unique: bool) -> list[Pair]:
    """Return the bindings of a form. A malformed one has its names, so that their uses are not
    reported too."""
    out: list[Pair] = []
    seen: dict[str, Span] = {}
    if type(listing) is not ListForm:
        is_vector = type(listing) is VectorForm
        hint = "use parentheses: `((name e) …)`" if is_vector else None
        edits = _in_pairs(listing) if type(listing) is VectorForm else ()
        words = "I expected a list of bindings `((name e) …)` here"
        c.report_malformed(form, listing, words, hint=hint, edits=edits)
        return _nils(listing.items[::2]) if type(listing) is VectorForm else out
    for target, value in _pairs(c, form, listing):
        if type(target) is ListForm and not is_pattern(target):
            parts = excerpt(target.span.text[1:-1])
            c.report_malformed(form, target, "I expected a name here", hint=f"a list: `[{parts}]`")
            out += _nils(target.items)
            continue
        if not is_pattern(target) and not c.is_bindable(target):
            continue
        for name in names_in(target) if unique else ():
            if name.text in seen:
                report_duplicate(c, name, seen[name.text])
            seen.setdefault(name.text, name.span)
        out.append((target, value))
    return out


def _in_pairs(listing: VectorForm) -> tuple[Edit, ...]:
    """Return the edit of `[name e …]` to `((name e) …)`, if each name has a value."""
    texts = [item.span.text for item in listing.items]
    if len(texts) % 2:
        return ()
    pairs = [f"({' '.join(texts[at : at + 2])})" for at in range(0, len(texts), 2)]
    return (Edit(listing.span, f"({' '.join(pairs)})"),)


_NO_PATTERN = "a value that sees its own name is a function; `let*` takes patterns"


def plain_bindings_of(c: Lowering, form: ListForm, listing: Form) -> list[tuple[Name, Form]]:
    """Return the bindings of a form that binds names alone."""
    out: list[tuple[Name, Form]] = []
    for target, value in bindings_of(c, form, listing, unique=True):
        if type(target) is Name:
            out.append((target, value))
            continue
        c.report_malformed(form, target, "I expected a name here", hint=_NO_PATTERN)
        nil = Literal(None, span=target.span)
        out += [(name, nil) for name in names_in(target)]
    return out


def _pairs(c: Lowering, form: ListForm, listing: ListForm) -> Iterator[Pair]:
    items = listing.items
    words = "I expected a binding `(name e)` here"
    if items and all(map(_is_bracketed, items)):
        written = " ".join(f"({excerpt(item.span.text[1:-1])})" for item in items)
        edits = tuple([Edit(item.span, f"({item.span.text[1:-1]})") for item in items])
        c.report_malformed(
            form, items[0], words, hint=f"use parentheses: `({written})`", edits=edits
        )
        yield from _nils([item.items[0] for item in items])  # type: ignore[union-attr]
        return
    if items and (type(items[0]) is Name or is_pattern(items[0])):
        is_pair = len(items) == 2
        hint = None
        if is_pair:
            hint = f"two pairs of parentheses: `({excerpt(listing.span.text)})`"
        edits = (Edit(listing.span, f"({listing.span.text})"),) if is_pair else ()
        if all(type(item) is Name for item in items) and not is_pair:
            pairs = " ".join([f"({item.span.text} nil)" for item in items])
            hint = f"each name has a value: `({pairs})`"
        c.report_malformed(form, items[0], words, hint=hint, edits=edits)
        yield from _nils(items[:1])
        return
    for pair in items:
        if type(pair) is ListForm and len(pair.items) == 2:
            yield pair.items[0], pair.items[1]
            continue
        c.report_malformed(form, pair, words)
        yield from _nils(pair.items[:1] if type(pair) is ListForm else (pair,))


def _is_bracketed(form: Form) -> bool:
    """Return whether a form is `[name e]`, a binding in another Lisp."""
    return type(form) is VectorForm and len(form.items) == 2 and type(form.items[0]) is Name


def _nils(targets: Iterable[Form]) -> list[Pair]:
    """Bind the names of what is malformed to nil."""
    return [
        (name, Literal(None, span=name.span))
        for target in targets
        if type(target) is Name or is_pattern(target)
        for name in names_in(target)
    ]
