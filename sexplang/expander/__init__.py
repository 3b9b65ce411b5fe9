"""The expander: uses of `syntax-rules` macros to forms.

A function from the compiler renames the names of a template. The compiler resolves renamed names
(`spec/decisions/hygiene.md`). Nothing here recurses.
"""

from sexplang.expander.expansion import Expander

__all__ = ["Expander"]
