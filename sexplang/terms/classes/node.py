"""The decorators of this project's classes. The type checker takes them for attrs'.

At run time `sexplang/terms/classes/maker.py` makes the classes, so that a command starts without
attrs.

`node` is for classes with many objects: spans, forms, core, states of a run. They are frozen for
the type checker, which reads every line of this project; at run time there is no check.
`spec/decisions/nodes-are-frozen-for-the-checker.md` has the figures.
"""

from typing import TYPE_CHECKING

from sexplang.terms.classes.maker import attributes

if TYPE_CHECKING:
    from attrs import define, evolve, field, fields, frozen, has
    from attrs import frozen as node
else:
    from sexplang.terms.classes.maker import define, evolve, field, fields, frozen, has

    node = define

__all__ = ["attributes", "define", "evolve", "field", "fields", "frozen", "has", "node"]
