"""The version of frozen runs, held to the shape of what they are made of."""

from hashlib import sha256
from importlib import import_module
from pkgutil import walk_packages

from support.running import begun

import sexplang.machine
from sexplang.machine import Limits
from sexplang.machine.frozen_runs import _VERSION, _nouns, freeze, machine_code
from sexplang.machine.stack import Ctx
from sexplang.pipeline.pipeline import tasks
from sexplang.terms.classes.node import fields
from sexplang.terms.values.sequences import LONG, Middle
from sexplang.terms.values.value import Record

SHAPES = {
    2: "50204855d655b9f2",
    3: "946c32233127f652",
    4: "af127426e9d36657",
    5: "ec93cf9bcbc1905f",
    6: "b41bd1250e1c5cd2",
    7: "adbd02038146db48",
    8: "9d9d47fc304667df",
    9: "e5ad8bd0df6dc465",
    10: "c4821487fe974293",
    11: "d75dd99d81c6dd79",
    12: "25bd113bddc67eb7",
    13: "980a641fe95a719a",
    14: "3403aff664ff3726",
    15: "d5302ed6ad690dff",
    16: "1779fa5037538fed",
    17: "5392bcac8e8175ff",
}
"""The digest of the shape, by version; the last is today's."""


def shape():
    """Each class that a frozen run may hold, with its fields in their order, and of what class they
    are where it is only one; the names of the machine's code; the keys of a frozen run."""
    lines = []
    for kind in (*_nouns(tasks()), Ctx, Limits, Record):
        notes = {}
        for each in kind.__mro__[::-1]:
            notes |= vars(each).get("__annotations__", {})
        parts = [f"{each.name}: {_class(notes[each.name])}" for each in fields(kind)]
        lines.append(f"{kind.__qualname__}({', '.join(parts)})")
    for kind in LONG | {Middle}:
        lines.append(f"{kind.__qualname__}({', '.join(sorted(kind.__slots__))})")
    for module in walk_packages(sexplang.machine.__path__, "sexplang.machine."):
        import_module(module.name)  # some are loaded at their first use
    lines += [name for name, _ in machine_code()]
    lines.append(f"frozen({', '.join(freeze(begun('(print 1)')))})")
    return "\n".join(sorted(lines))


def _class(note):
    return note.__name__ if type(note) is type else "…"


def test_another_shape_is_another_version():
    """What is frozen today is read by the classes of tomorrow only if they are the same: where this
    fails, raise `_VERSION` in `machine/frozen_runs.py`, and add the digest here."""
    found = sha256(shape().encode()).hexdigest()[:16]

    assert max(SHAPES) == _VERSION
    assert found == SHAPES[_VERSION], (
        f"version {_VERSION} is taken; this shape is {found}:\n{shape()}"
    )
    assert len(set(SHAPES.values())) == len(SHAPES)
