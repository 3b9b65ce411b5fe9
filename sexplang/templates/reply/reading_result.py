"""What becomes of the text of a reply."""

from sexplang.terms.classes.node import field, frozen
from sexplang.terms.values.value import Value


@frozen
class Reading:
    """`value` is meaningful where `problem` is None; `problem` is a sentence for the model.

    `details` hold expectedType and actualType, parseError, violations as they apply.
    """

    value: Value
    repairs: tuple[str, ...] = ()
    problem: str | None = None
    details: dict[str, Value] = field(factory=dict)
