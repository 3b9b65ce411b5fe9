"""The operands in the text of a signature, such as `(string-split s [separator])`."""

import re
from collections.abc import Iterator

from sexplang.terms.classes.node import frozen

_TOKEN = re.compile(r'"[^"]*"|[(\[{]|[)\]}]|[^\s()\[\]{}"]+')
_DEFAULTED = re.compile(r"\(([^\s()]+) (…|.*[^…])\)", re.DOTALL)


@frozen
class Operand:
    """An operand in a signature, from `start` to `end`.

    One with a default may be left out, as may an optional one. A repeated one takes all arguments
    from its position on.
    """

    name: str
    start: int
    end: int
    optional: bool = False
    default: str | None = None
    repeated: bool = False


def operands(signature: str) -> tuple[Operand, ...]:
    """Return the operands of one call, in order; none of a text that is no call."""
    found: list[Operand] = []
    spans = list(_split(signature))[1:]
    for at, (start, end) in enumerate(spans):
        text = signature[start:end]
        if text == "…" and found:
            last = found.pop()
            found.append(Operand(last.name, last.start, end, last.optional, repeated=True))
        elif text == "." and at + 1 < len(spans):
            after, end = spans[at + 1]
            found.append(Operand(signature[after:end], start, end, repeated=True))
            break
        elif text.endswith(":") and at + 1 < len(spans):
            found.append(Operand(text[:-1], start, spans[at + 1][1], optional=True))
        elif at and signature[slice(*spans[at - 1])].endswith(":"):
            continue
        elif text.startswith("[") and text != "[…]":
            found.append(Operand(text[1:-1], start, end, True))
        elif (written := _DEFAULTED.fullmatch(text)) is not None:
            found.append(Operand(written[1], start, end, True, written[2]))
        else:
            name = text.removesuffix("…")
            found.append(Operand(name, start, end, repeated=name != text))
    return tuple(found)


def _split(signature: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the parts directly inside the outer brackets."""
    depth = start = 0
    for token in _TOKEN.finditer(signature):
        text = token[0]
        if text in "([{":
            depth += 1
            if depth == 2:
                start = token.start()
        elif text in ")]}":
            depth -= 1
            if depth == 1:
                yield start, token.end()
        elif depth == 1:
            yield token.span()
