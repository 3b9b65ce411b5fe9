"""Readers of the data in a clause of a `defatom`: words, texts, numbers and settings.

Law: nothing is evaluated. A part of the wrong kind is reported, and its value is None.
"""

from collections.abc import Callable, Iterator
from typing import Any

from sexplang.compiler.compilation import Lowering
from sexplang.compiler.forms.quotation import datum, entries
from sexplang.compiler.forms.shapes import word_of
from sexplang.compiler.types.definitions import read_type
from sexplang.terms.diagnostic import Label as Place
from sexplang.terms.form import Form, Label, ListForm, Literal, Name, TableForm
from sexplang.terms.texts.nearest import fewest_letters_off
from sexplang.terms.values.boundary import plain
from sexplang.terms.values.value import Fault

Read = Callable[[Lowering, Form], Any]
"""A reader of a form. It returns None (and reports) for a form of another kind."""

Hint = Callable[[str], str]
"""The replacement for an unknown key."""


def report_expected(c: Lowering, form: Form, what: str, hint: str | None = None) -> Any:
    """Report a part of the wrong kind. Return None."""
    c.report("malformed-form", form.span, f"I expected {what} here", "this is not", hint=hint)
    return None


def unquote(form: Form) -> Form:
    """Return `x` for `'x`: data in a clause may be quoted."""
    is_quote = type(form) is ListForm and word_of(form) == "quote" and len(form.items) == 2
    return form.items[1] if is_quote else form  # type: ignore[union-attr]


def _is_nil(form: Form) -> bool:
    return type(form) is Literal and form.value is None


def text(c: Lowering, form: Form) -> Any:
    if type(form) is Literal and isinstance(form.value, str):
        return form.value
    hint = "a task's texts are written out; values come in as {{params}}"
    return report_expected(c, form, "a string", hint)


def word(*choices: str) -> Read:
    """Return a reader of a string or a symbol: any, or one of the choices."""

    def read(c: Lowering, form: Form) -> Any:
        form = unquote(form)
        found: Any = form.spelling if type(form) is Name else getattr(form, "value", None)
        if not isinstance(found, str) or not found.strip():
            return report_expected(
                c, form, _list_choices(choices) if choices else "a word or a string"
            )
        found = " ".join(found.split())
        if choices and found not in choices:
            close = fewest_letters_off(found, choices)
            hint = f"did you mean `{close}`?" if close else None
            return report_expected(c, form, _list_choices(choices), hint)
        return found

    return read


def _list_choices(choices: tuple[str, ...]) -> str:
    return "one of " + ", ".join(choices)


def flag(c: Lowering, form: Form) -> Any:
    if type(form) is Literal and isinstance(form.value, bool):
        return form.value
    return report_expected(c, form, "true or false")


def count(c: Lowering, form: Form) -> Any:
    if type(form) is Literal and type(form.value) is int and 0 < form.value < 10**9:
        return form.value
    return report_expected(c, form, "a whole number from 1 to 999999999")


def seconds(c: Lowering, form: Form) -> Any:
    value = form.value if type(form) is Literal else None
    if type(value) in (int, float) and 0 < value < 10**9:  # type: ignore[operator]
        return float(value)  # type: ignore[arg-type]
    return report_expected(c, form, "seconds above 0, such as 60 or 0.5")


def data(c: Lowering, form: Form) -> Any:
    """Read a form as plain data: symbols are words."""
    try:
        return plain(datum(c, form))
    except Fault as fault:
        c.report(fault.code, form.span, fault.message, hint=fault.hint)
        return None


def schema(c: Lowering, form: Form) -> Any:
    """Read a word of the mini-language, a file name, or a schema as a table or text."""
    form = unquote(form)
    written = form.value if type(form) is Literal else None
    if isinstance(written, str) and written.lstrip().startswith(("{", "<")):
        return written.strip()
    if type(form) is not TableForm:
        return word()(c, form)
    return data(c, form)


def type_(c: Lowering, form: Form) -> Any:
    """Read a type as the equivalent JSON Schema."""
    made = read_type(c, form, closed=True)
    return None if made is None else made.whole


# -- several settings


def settings(c: Lowering, form: ListForm) -> Iterator[tuple[str, Form, Form]]:
    """Yield each key, its form and its value. A clause may be written as `key: value …`, `(key
    value) …`, `((key value) …)` or `{key: value …}`."""
    items = tuple(map(unquote, form.items[1:]))
    if len(items) == 1:
        whole = items[0]
        if type(whole) is TableForm:
            for key, value in entries(c, whole, splices=False):
                yield key, value, value
            return
        if type(whole) is ListForm and all(type(item) is ListForm for item in whole.items):
            items = whole.items
    left = iter(items)
    for item in left:
        if type(item) is Label:
            value = next(left, item)
            if type(value) is not Label:
                yield item.text, item, value
                continue
        elif type(item) is ListForm and word_of(item) and len(item.items) == 2:
            yield word_of(item), item.items[0], item.items[1]
            continue
        report_expected(c, item, "a setting and its value", "write `key: value` or `(key value)`")


def read_settings(
    c: Lowering, form: ListForm, readers: dict[str, Read], hint: Hint | None = None
) -> dict[str, Any]:
    """Read the settings of a clause, each by its reader; nil omits one. `hint` gives the
    replacement for an unknown key."""
    found: dict[str, Any] = {}
    places: dict[str, Form] = {}
    for key, at, value in settings(c, form):
        if key in places:
            report_twice(c, at, places[key], f"the setting `{key}`")
        elif key not in readers:
            title = f"`{word_of(form)}` has no setting `{key}`"
            report_unknown(c, at, title, key, tuple(readers), hint)
        elif not _is_nil(value):
            found[key] = readers[key](c, value)
        places.setdefault(key, at)
    return {key: value for key, value in found.items() if value is not None}


def report_twice(c: Lowering, at: Form, first: Form, what: str) -> None:
    c.report(
        "duplicate-clause",
        at.span,
        f"{what} occurs twice in this task",
        "again here",
        also=(Place(first.span, "first here"),),
        hint="keep one of them",
    )


def report_unknown(
    c: Lowering,
    at: Form,
    title: str,
    key: str,
    known: tuple[str, ...],
    hint: Hint | None = None,
) -> None:
    close = fewest_letters_off(key, known)
    words = f"did you mean `{close}`?" if close else "there are " + ", ".join(known)
    c.report("unknown-clause", at.span, title, hint=hint(key) if hint else words)
