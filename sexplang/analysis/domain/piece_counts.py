"""A text to the pieces that it can be split into, counted."""

from sexplang.analysis.domain.bounds import number, plus
from sexplang.analysis.domain.primitive_results import RESULTS, size_of
from sexplang.analysis.domain.values import DATA, Abstract, Exact, Free, Values
from sexplang.terms.source import Span


def _split(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    """`(string-split text separator)`: no more pieces than characters, and one."""
    text, separator = arguments[0], arguments[1] if len(arguments) > 1 else None
    if isinstance(text, Exact) and isinstance(text.value, str):
        between = separator.value if isinstance(separator, Exact) else None
        is_known = isinstance(between, str) and between != ""
        most = text.value.count(str(between)) if is_known else len(text.value)
        return values.list_of_size(number(most + 1), DATA)
    if isinstance(text, Free):
        return values.list_of_size(plus(size_of(text, span), number(1)), DATA)
    return DATA


RESULTS["string-split"] = _split
