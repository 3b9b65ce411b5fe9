"""The limits at the boundary of a program: parts, bits of integers, and text that cannot be
encoded."""

import re
from collections.abc import Callable
from typing import Any

from sexplang.terms.values.value import Fault, Procedure, Record, Value

INTEGER_BITS = 14_000
"""Bits of an integer: about 4,200 digits, below the length at which CPython refuses to print."""

LARGEST = 1_000_000
"""Parts of a value that leaves the program. A value with shared parts may stand for more of them
than fit in memory."""

_HALF = "[\ud800-\udfff]"


def check_integer(number: int) -> int:
    """Return the number. Raises Fault `limit-integer` for one beyond the limit of programs."""
    if number.bit_length() > INTEGER_BITS:
        raise Fault(
            "limit-integer",
            f"an integer of more than {INTEGER_BITS:,} bits does not enter a program",
            hint="give it as text",
        )
    return number


def too_large() -> Fault:
    """Return the fault for a value of more than LARGEST parts; each container is a part too."""
    return Fault(
        "limit-data",
        f"a value of more than {LARGEST:,} parts neither enters nor leaves a program",
        hint="lists may share their parts inside a program, but not outside of it",
    )


def endless() -> Fault:
    """Return the fault for data that contains itself."""
    words = "a list or a table that holds itself is not a value"
    return Fault("not-data", words, hint="give the part that matters, or refer to it by a name")


def without_functions(value: Value, words: Callable[[Value], str]) -> Value:
    """Return the value as data, with `words` in place of each function and continuation. Raises
    Fault `limit-data` for more than LARGEST parts."""
    root = [value]
    work: list[Any] = [root]
    made: list[tuple[Any, Any, str | None]] = []
    left = LARGEST
    for parts in work:  # the list grows meanwhile
        for key, item in parts.items() if parts.__class__ is dict else enumerate(parts):
            if isinstance(item, Procedure):
                parts[key] = words(item)
            elif isinstance(item, (tuple, dict, Record)):
                kind = item.kind if isinstance(item, Record) else None
                inside = item.fields if isinstance(item, Record) else item
                parts[key] = list(inside) if isinstance(inside, tuple) else inside.copy()
                made.append((parts, key, kind))
                work.append(parts[key])
                left -= len(inside) + 1
                if left < 0:
                    raise too_large()
    for parts, key, kind in reversed(made):  # inner ones come first
        part = parts[key]
        whole: Any = tuple(part) if part.__class__ is list else part
        parts[key] = whole if kind is None else Record(kind, whole)
    return root[0]


def holds_itself(data: Any) -> bool:
    """Return whether some list or table of Python contains itself."""
    around: set[int] = set()
    done: set[int] = set()
    work = [(data, False)]
    while work:
        item, is_left = work.pop()
        if is_left:
            around.discard(id(item))
            done.add(id(item))
        elif id(item) in around:
            return True
        elif isinstance(item, (list, tuple, dict)) and id(item) not in done:
            around.add(id(item))
            work.append((item, True))
            parts = item.values() if isinstance(item, dict) else item
            work.extend([(part, False) for part in parts])
    return False


def check_texts(value: Value) -> Value:
    """Return the value. Raises Fault `not-text` if a text in it cannot be encoded in UTF-8."""
    texts: list[str] = []
    work = [value]
    for item in work:  # the list grows meanwhile
        kind = item.__class__
        if kind is str:
            texts.append(item)
        elif kind is tuple:
            work += item
        elif kind is dict or kind is Record:
            fields = item if kind is dict else item.fields
            texts += fields
            work += fields.values()
    check_text("".join(texts))
    return value


def check_text(text: str) -> None:
    """Raise Fault `not-text` for a text that UTF-8 cannot encode."""
    if not text.isascii() and re.search(_HALF, text):
        raise Fault(
            "not-text",
            "half of a surrogate pair is no character",
            hint=r"look at where the text comes from: \ud800 to \udfff stand only in pairs",
        )
