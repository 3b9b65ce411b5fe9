"""Signature help: the call around an offset, and the operand that is being typed."""

from collections.abc import Sequence

from sexplang.hosts.language_server.brackets import brackets_around, is_data
from sexplang.hosts.language_server.outline import Outline
from sexplang.hosts.reference.name_entries import Entry, find_entry
from sexplang.hosts.reference.signatures import Operand, operands
from sexplang.terms.classes.node import frozen
from sexplang.terms.form import Form, Label, ListForm, Name

_CALLED = ("function", "operation", "primitive", "special form", "task")


@frozen
class Call:
    """A way to write a call, the places of its operands in that text, and the one being typed.

    `active` is None where there is no operand for what is being typed.
    """

    signature: str
    places: tuple[tuple[int, int], ...]
    active: int | None
    doc: str


def find_calls(found: Outline, offset: int) -> list[Call]:
    """Return the ways to write the innermost call around an offset; none outside of calls, in
    data, and where nothing is known of the function."""
    chain = brackets_around(found.text.forms, offset)
    if is_data(chain):
        return []
    heads = {mention.start: mention.meaning for mention in found.scopes.mentions}
    for form in reversed(chain):
        head = form.items[0] if isinstance(form, ListForm) and form.items else None
        if type(head) is not Name or offset <= head.span.end:
            continue
        meaning = heads.get(head.span.start)
        if meaning is not None and meaning.kind in _CALLED:
            before = [each for each in form.items[1:] if each.span.end < offset]  # type: ignore[union-attr]
            return _list_calls(find_entry(meaning), before)
    return []


def _list_calls(entry: Entry, before: Sequence[Form]) -> list[Call]:
    calls = []
    is_form = entry.kind == "special form"
    # A default may be written over several lines.
    ways = entry.signature.split("\n") if is_form else [" ".join(entry.signature.split())]
    for signature in ways if entry.signature.startswith("(") else ():
        known = operands(signature)
        places = tuple([(each.start, each.end) for each in known])
        calls.append(Call(signature, places, _find_active(known, before), entry.doc))
    return calls


def _find_active(known: tuple[Operand, ...], before: Sequence[Form]) -> int | None:
    """Return the index of the operand that stands after other forms: the one that a label in front
    names, else the next by position."""
    names = [each.name for each in known]
    label = before[-1] if before else None
    if type(label) is Label:
        return names.index(label.text) if label.text in names else None
    given = [at for at, form in enumerate(before) if type(form) is Label]
    position = len(before) - 2 * len(given)
    labelled = {form.text for form in before if type(form) is Label}
    free = [at for at, each in enumerate(known) if each.name not in labelled]
    if position < len(free):
        return free[position]
    return len(known) - 1 if known and known[-1].repeated else None
