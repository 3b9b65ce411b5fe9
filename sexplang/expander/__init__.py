"""Forms to forms: uses of `syntax-rules` macros to what they stand for.

A template's names come out renamed, by a function that is handed in; what a renamed name stands
for is the compiler's to know (`spec/decisions/hygiene.md`). Nothing here recurses.
"""

from sexplang.expander.expansion import Expander

__all__ = ["Expander"]
