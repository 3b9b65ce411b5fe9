"""Refusals of money that end `finally` bodies, told in the error that is cleaned up for."""

from sexplang.machine.scopes.accounts import RESOURCES
from sexplang.terms.classes.node import node
from sexplang.terms.values.value import Record, Value

_MOST = 8
"""So many refusals are told."""


def is_other(error: Value) -> bool:
    """Whether it is any other error than that of a budget which has no room for a model call."""
    fields = error.fields if isinstance(error, Record) else {}
    return fields.get("type") != "RESOURCE_EXHAUSTION" or fields.get("reason") not in RESOURCES


def suppress(error: Record, refusals: tuple[Record, ...]) -> Record:
    """The error with the refusals in `details.suppressed`: the first of them, in one flat list."""
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
    """What passes segments that are left, where else a value does: the refusals that have ended
    `finally` bodies on the way, in their order."""

    suppressed: tuple[Record, ...] = ()

    def combine_with(self, other: "Unwinding") -> "Unwinding":
        """With those of another, which came later."""
        if not other.suppressed:
            return self
        return Unwinding((*self.suppressed, *_flat(other.suppressed))[:_MOST])


NOTHING = Unwinding()


def _flat(refusals: tuple[Record, ...]) -> list[Record]:
    """Each refusal, and behind it those that it tells of."""
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
