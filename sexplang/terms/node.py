"""How the classes are made of which a program has hundreds: spans, forms, core, functions.

They are frozen for the type checker, which reads every line of this project. At run time nothing
stands guard: an attrs class that guards itself takes two to three times as long to make,
which was 18 % of all instructions from a program's text to its value
(`spec/decisions/nodes-are-frozen-for-the-checker.md`).
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attrs import frozen as node
else:
    from attrs import define as node

__all__ = ["node"]
