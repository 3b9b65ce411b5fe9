"""The writer: the shortest text that reads to the same form.

Law: `read(write(form))` equals the form for every form that can be read.
"""

import re

from sexplang.reader.characters import escape, pattern_of_hidden
from sexplang.reader.parser import MARKS
from sexplang.terms.form import Form, Label, ListForm, Literal, Name, TableForm, VectorForm
from sexplang.terms.values.text import number, quote

_BRACKETS = {ListForm: ("(", ")"), VectorForm: ("[", "]"), TableForm: ("{", "}")}
_CONSTANTS = {None: "nil", True: "true", False: "false"}
_SPELLED = {name: mark for mark, name in MARKS.items()}
_PLAIN_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_!?*/<=>.-]*")


def write(form: Form) -> str:
    """Return the text of a form, on one line. (NaN and the infinities have no text.)"""
    out: list[str] = []
    work: list[Form | str] = [form]
    while work:
        item = work.pop()
        if isinstance(item, str):
            out.append(item)
        elif isinstance(item, (ListForm, VectorForm, TableForm)):
            mark = _mark(item)
            if mark is None:
                work.extend(_bracket(item))
            else:
                body = item.items[1]
                work.append(body)
                # `~ @x` unquotes the symbol `@x`; `~@x` would splice x.
                out.append("~ " if mark == "~" and _begins_with_at(body) else mark)
        else:
            out.append(_atom(item))
    return "".join(out)


def _mark(form: ListForm | VectorForm | TableForm) -> str | None:
    """Return the mark of a list such as `(quote x)`."""
    if not isinstance(form, ListForm) or len(form.items) != 2:
        return None
    head, body = form.items
    if not isinstance(head, Name) or isinstance(body, Label):
        return None
    return _SPELLED.get(head.text)


def _begins_with_at(form: Form) -> bool:
    return isinstance(form, Name) and form.text.startswith("@")


def _bracket(form: ListForm | VectorForm | TableForm) -> list[Form | str]:
    """Return the stack entries of the items between the brackets."""
    opening, closing = _BRACKETS[type(form)]
    work: list[Form | str] = [closing]
    for at, item in enumerate(reversed(form.items)):
        if at:
            work.append(" ")
        work.append(item)
    work.append(opening)
    return work


def _atom(form: Name | Literal | Label) -> str:
    if isinstance(form, Name):
        return form.text
    if isinstance(form, Label):
        plain = _PLAIN_LABEL.fullmatch(form.text)
        return f"{form.text if plain else _string(form.text)}:"
    value = form.value
    if isinstance(value, str):
        return _string(value)
    if value is None or isinstance(value, bool):
        return _CONSTANTS[value]
    return number(value)


def _string(text: str) -> str:
    if text.isascii() and text.isprintable():
        return quote(text)
    return pattern_of_hidden().sub(lambda match: escape(match[0]), quote(text))
