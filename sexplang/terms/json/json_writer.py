"""The writer of JSON text, for values of any depth."""

from collections.abc import Callable
from functools import cache
from math import isfinite
from sys import maxsize

from sexplang.terms.values.boundary import LARGEST
from sexplang.terms.values.rope import Rope, whole_text
from sexplang.terms.values.text import LONGEST, check_length, number, text_size, write_with
from sexplang.terms.values.value import Fault, Symbol, Value

Quote = Callable[[str], str]

CONSTANTS: dict[Value, str] = {None: "null", True: "true", False: "false"}


def write(
    value: Value,
    refuse: Callable[[Value], Exception],
    *,
    quote: Quote,
    label: Quote,
    comma: str = ", ",
    most: int = maxsize,
    most_parts: int = maxsize,
    is_sorted: bool = False,
    contents: bool = False,
    any_number: bool = False,
) -> str:
    """Return the JSON text of a value. Symbols are strings, records objects. `refuse` makes the
    exception for a part without JSON: a function, NaN and infinities unless `any_number`, an
    integer beyond those that CPython prints.

    `quote` writes a text, `label` a key with its colon. For the others see `spelled`.
    """

    def atom(item: Value) -> str:
        if item is None or item is True or item is False:
            return CONSTANTS[item]
        if isinstance(item, str):
            return quote(item)
        if isinstance(item, (int, float)) and (any_number or _is_finite(item)):
            try:
                return number(item)
            except ValueError:
                raise refuse(item) from None
        if type(item) is Rope:
            return quote(whole_text(item))
        if isinstance(item, Symbol):
            return quote(item.name)
        raise refuse(item)

    return write_with(
        value, atom, label, comma, most, most_parts, is_sorted=is_sorted, contents=contents
    )


def _is_finite(item: int | float) -> bool:
    return isinstance(item, int) or isfinite(item)


@cache
def plain_quote() -> Quote:
    """Return the writer of JSON string literals with all characters as they are. Imported on first
    use."""
    from json.encoder import encode_basestring

    return encode_basestring


def plain_label(key: str) -> str:
    return plain_quote()(key) + ": "


def json_text(value: Value, *, canonical: bool = False) -> str:
    """Return the text that a model reads, and that signatures are computed from. A TaskResult is
    its content, as in every text. Raises Fault `not-data` for functions, `not-json` for NaN and
    infinities, and `limit-data` for more than LARGEST parts, `limit-string` for more than LONGEST
    code points.

    Canonical: keys are sorted and runs of white space in strings are one space, so that values
    which differ only in these have one text. It is only hashed, so it may hold NaN and infinities.
    """
    quote = _narrow if canonical else plain_quote()
    if type(value) is str:
        return quote(value)
    check_length(text_size(value, LONGEST))
    return write(
        value,
        _unsendable,
        quote=quote,
        label=plain_label,
        most_parts=LARGEST,
        is_sorted=canonical,
        contents=True,
        any_number=canonical,
    )


def _narrow(text: str) -> str:
    return plain_quote()(" ".join(text.split()))


def _unsendable(item: Value) -> Fault:
    if isinstance(item, (int, float)):
        return Fault(
            "not-json",
            f"a model cannot be given {number(item)}: JSON has no such number",
            hint="put nil or a text in its place",
        )
    return Fault(
        "not-data",
        "a function cannot be sent to a model",
        hint="call it first and pass what it gives",
    )
