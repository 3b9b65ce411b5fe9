"""Suppression: refusals of money that end `finally` bodies, added to the pending error."""

from sexplang.machine.scopes.accounts import RESOURCES
from sexplang.terms.classes.node import node
from sexplang.terms.values.value import Record, Value

_MOST = 8
"""The greatest number of refusals in an error."""


def is_other(error: Value) -> bool:
    """Return whether an error is anything but a budget's refusal of a model call."""
    fields = error.fields if isinstance(error, Record) else {}
    return fields.get("type") != "RESOURCE_EXHAUSTION" or fields.get("reason") not in RESOURCES


def suppress(error: Record, refusals: tuple[Record, ...]) -> Record:
    """Return the error with the refusals in `details.suppressed`: the first of them, in one flat
    list."""
    details = error.fields["details"]
    if not refusals or not isinstance(details, dict):
        return error
    told = details.get("suppressed", ())
    if not isinstance(told, tuple):
        return error
    details = {**details, "suppressed": (*told[:_MOST], *_flat(refusals))[:_MOST]}
    return Record(error.kind, {**error.fields, "details": details})


@node
class Unwinding:
    """The value that passes segments which are unwound: the refusals that have ended `finally`
    bodies on the way, in order."""

    suppressed: tuple[Record, ...] = ()

    def append(self, other: "Unwinding") -> "Unwinding":
        """Return these refusals with later ones."""
        if not other.suppressed:
            return self
        return Unwinding((*self.suppressed, *_flat(other.suppressed))[:_MOST])


NOTHING = Unwinding()


def _flat(refusals: tuple[Record, ...]) -> list[Record]:
    """Return each refusal, followed by those in its own details."""
    found = []
    for each in refusals:
        details = each.fields["details"]
        inner = details.get("suppressed") if isinstance(details, dict) else None
        if isinstance(inner, tuple):
            rest = {name: value for name, value in details.items() if name != "suppressed"}
            found += [Record(each.kind, {**each.fields, "details": rest}), *inner[:_MOST]]
        else:
            found.append(each)
    return found
