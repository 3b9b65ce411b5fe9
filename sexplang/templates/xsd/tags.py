"""A tag as a model writes it to its name and attributes: quotes lost, curly or unescaped.

Nothing here is read twice: a value ends at the latest where the next tag of the schema begins.
"""

import re
from collections.abc import Callable

from sexplang.templates.xsd.characters import Note, unescaped
from sexplang.terms.node import frozen

_NAME = r"[^\W\d][\w.:-]*+"
_CLOSES = re.compile(r"\s*+(/?)>")
_ATTRIBUTE = re.compile(rf"\s*+({_NAME})\s*+=\s*+")
_ALONE = re.compile(rf"\s++({_NAME})(?=\s|/?>)")
# What may follow the quote that ends a value.
_AFTER = re.compile(rf"\s*+(?:/?>|{_NAME}\s*+=)")
_NEXT = re.compile(rf"\s({_NAME})\s*+=")
# Words up to the end of the tag, or to the next attribute. The group is not possessive: Python
# before 3.11.5 gives up in one that holds another repetition.
_UNQUOTED = re.compile(rf"(?:(?!/>)[^<>\s]|\s++(?!{_NAME}\s*+=|/?>))*")
_OPENING = re.compile(r"\\?([\"'“”„‟″‘’‚‛′])")


def _paired(quote: str) -> re.Pattern[str]:
    """Texts in which a quote stands in pairs, around words."""
    said = rf"(?<![^\s(\[]){quote}[^{quote}]++{quote}(?![^\s.,;:!?)\]])"
    return re.compile(rf"[^{quote}]*+(?:{said}[^{quote}]*+)*+")


_PAIRED = {quote: _paired(quote) for quote in "\"'"}

# What is left of the quotes around a value, or what stands for them.
_HALF = re.compile(r"^[`«]|(?:['“”„‟″‘’‚‛′`»]|&(?:quot|apos);)$")

_DOUBLE, _SINGLE = '"“”„‟″', "'‘’‚‛′"
MOST_ATTRIBUTES = 64
MOST_VALUE = 20_000
"""Characters of a value that is not written as it should be."""


Known = Callable[[str], object]


@frozen
class Tag:
    """What stands between `<name` and where the tag ends. An attribute without a value has None.

    `slash` is set where the `/` before `>` may also be the last character of a value.
    """

    attributes: tuple[tuple[str, str | None], ...]
    closed: bool
    end: int
    slash: bool
    doubtful: frozenset[str]
    """Attributes with a quote that may be part of the value, or what is left of those around it."""


def tag_at(text: str, at: int, limit: int, names: Known, note: Note) -> Tag | None:
    """The rest of a start tag, from after its name on; None where it is none. `names` tells what
    is a name of the schema, `limit` is where the next tag begins."""
    found: list[tuple[str, str | None]] = []
    doubtful: set[str] = set()
    while len(found) <= MOST_ATTRIBUTES:
        closes = _CLOSES.match(text, at)
        if closes:
            slash = bool(closes[1]) and bool(found) and text[closes.start() - 1] not in "\"' \t\n"
            return Tag(tuple(found), bool(closes[1]), closes.end(), slash, frozenset(doubtful))
        attribute = _ATTRIBUTE.match(text, at)
        if attribute:
            name = attribute[1]
            value, at, is_doubtful = _value(text, attribute.end(), limit, name, names, note)
            found.append((name, unescaped(re.sub(r"[\t\n]", " ", value), note)))
            if is_doubtful:
                doubtful.add(name)
            continue
        alone = _ALONE.match(text, at)
        if alone is None:
            return None
        found.append((alone[1], None))
        at = alone.end()
    return None


def _value(
    text: str, at: int, limit: int, name: str, names: Known, note: Note
) -> tuple[str, int, bool]:
    limit = min(limit, at + MOST_VALUE)
    opening = _OPENING.match(text, at)
    end = None if opening is None else _closing(text, opening.end(), limit, opening[1], names)
    if opening is None or end is None:
        note(f"wrote quotes around {name}")
        unquoted = _UNQUOTED.match(text, at, limit)
        assert unquoted is not None
        value = unquoted[0]
        # “One” of two: curly quotes inside of a value stand in pairs.
        paired = opening is not None and opening[1] in "“‘„" and re.search("[”’]", value)
        doubtful = (opening is not None and not paired) or '"' in value
        doubtful = doubtful or _HALF.search(value) is not None
        return value, unquoted.end(), doubtful or value.startswith(("=", "&"))
    quote, value = opening[1], text[opening.end() : end]
    if opening[0] not in "\"'":
        note(f"wrote straight quotes around {name}")
        value = value.removesuffix("\\")
    if quote in value:
        note(f"escaped the quotes in {name}")
    if "<" in value:
        note("took a bare < as text")
    if quote in _PAIRED:
        is_twice = value[:1] == quote == value[-1:]
        return value, end + 1, is_twice or _PAIRED[quote].fullmatch(value) is None
    return value, end + 1, value.count("“") != value.count("”")


def _closing(text: str, at: int, limit: int, quote: str, names: Known) -> int | None:
    """The quote that ends a value: the first after which the tag goes on or ends; before the next
    attribute in any case."""
    for attribute in _NEXT.finditer(text, at, limit):
        if names(attribute[1]):
            limit = attribute.end()
            break
    closers = quote if quote in "\"'" else _DOUBLE if quote in _DOUBLE else _SINGLE
    for found in re.finditer(f"[{closers}]", text[at:limit]):
        if _AFTER.match(text, at + found.end(), limit):
            return at + found.start()
    return None
