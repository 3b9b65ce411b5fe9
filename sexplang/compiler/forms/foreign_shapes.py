"""Special forms as other languages write them, and what to write for them here.

Imported for a form that is refused: a program without a mistake pays nothing.
"""

from collections.abc import Sequence

from sexplang.compiler.compilation import Lowering
from sexplang.terms.diagnostic import Diagnostic, Edit
from sexplang.terms.form import Form, Label, ListForm, Name

_ELSE = frozenset((":else", "else", "else:", ":default", "default", "otherwise", "t", "true", "_"))
"""Words of other languages for `else`."""

_LONGEST = 120
"""The greatest length of a form in a hint."""

Advice = tuple[str, tuple[Edit, ...]]
"""A hint and its edits."""


def pair_clauses(form: ListForm) -> Advice:
    """Return the advice for a `cond` or a `case` whose tests and values stand without parentheses
    of their own."""
    word = form.items[0].span.text
    start = 1 if word == "cond" else 2
    parts = form.items[start:]
    if word == "cond" and len(parts) % 2:
        return "each test and its value are a list: `((> a b) value)`", ()
    clauses = [
        f"({_datum(test) if word == 'case' else _test(test)} {_text(value)})"
        for test, value in zip(parts[::2], parts[1::2], strict=False)
    ]
    if len(parts) % 2:
        clauses.append(f"(else {_text(parts[-1])})")
    key = [_text(each) for each in form.items[1:start]]
    text = f"({' '.join([word, *key, *clauses])})"
    return _write(form, text, "each test and its value are a list")


def _text(form: Form) -> str:
    """Return the text of a form, without the colon of a keyword after it."""
    return form.span.text.removesuffix(":").rstrip()


def _test(form: Form) -> str:
    return "else" if _text(form) in _ELSE else _text(form)


def _datum(form: Form) -> str:
    if _text(form) in _ELSE:
        return "else"
    return f"({_text(form)})" if type(form) is Name else _text(form)


def chain_tests(form: ListForm) -> Advice | None:
    """Return the advice for an `if` with several tests; None if it has no pairs of them."""
    parts = [each.span.text for each in form.items[1:]]
    if len(parts) < 5 or any(each in ("else", "elif", "elseif", "else-if") for each in parts):
        return None
    last = [f"(else {parts.pop()})"] if len(parts) % 2 else []
    pairs = [f"({' '.join(parts[at : at + 2])})" for at in range(0, len(parts), 2)]
    return _write(form, f"(cond {' '.join([*pairs, *last])})", "several tests are a `cond`")


def wrap_parameters(form: ListForm) -> Advice | None:
    """Return the advice for a `lambda` whose parameters end in a colon or an arrow, as in
    `(lambda x: body)`; None for any other."""
    params: list[str] = []
    if type(form.items[1]) is ListForm and form.items[2].span.text in ("=>", "->"):
        body = " ".join([each.span.text for each in form.items[3:]])
        text = f"({form.items[0].span.text} {form.items[1].span.text} {body})"
        return _write(form, text, "no arrow stands before the body")
    parts = list(form.items[1:])
    while parts:
        each = parts.pop(0)
        if type(each) is Name and each.text in ("=>", "->"):
            break
        if type(each) not in (Name, Label):
            return None
        params.append(each.span.text.removesuffix(":"))
        if type(each) is Label:
            break
    body = " ".join([each.span.text for each in parts])
    if not body or not params:
        return None
    head = form.items[0].span.text
    return _write(form, f"({head} ({' '.join(params)}) {body})", "parameters stand in parentheses")


def close_try(form: ListForm) -> Advice | None:
    """Return the advice for a `try` in which `catch` or `finally` stands in front of its part;
    None if there is none of them."""
    words = [each for each in form.items[1:] if type(each) is Name]
    found = next((each for each in words if each.text in ("catch", "finally")), None)
    if found is None:
        return None
    after = form.items[form.items.index(found) + 1 :]
    if found.text == "finally" and len(after) == 1:
        return f"write `(finally {after[0].span.text})`", ()
    return f"write `({found.text}{' (e)' if found.text == 'catch' else ''} body…)`", ()


def advise_let_star(c: Lowering, form: ListForm, before: int, targets: Sequence[Form]) -> None:
    """Give the findings after the first `before` that a name is not bound, where it is a name of
    the same `let`, the hint to write `let*`."""
    names = {each.text for each in targets if type(each) is Name}
    for at, found in enumerate(c.findings[before:], before):
        name = found.labels[0].span.text.partition(".")[0]
        if found.code == "unbound-name" and name in names:
            c.findings[at] = Diagnostic(
                found.code,
                found.title,
                found.labels,
                found.notes,
                "the values of a `let` do not see its names: write `let*`",
                found.severity,
                (Edit(form.items[0].span, "let*"),),
            )


def _write(form: ListForm, text: str, why: str) -> Advice:
    is_short = len(text) <= _LONGEST and "\n" not in text and "`" not in text
    return f"{why}: `{text}`" if is_short else why, (Edit(form.span, text),)
