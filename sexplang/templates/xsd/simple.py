"""The simple types of an XSD: the texts that fit, their values, and the words for a model."""

import math
import re
from decimal import Decimal
from typing import Any, Literal

from sexplang.templates.xml.structure import normal
from sexplang.templates.xsd.xsd_patterns import BadXsd
from sexplang.terms.classes.node import frozen
from sexplang.terms.values.value import Value

_XS = "{http://www.w3.org/2001/XMLSchema}"
# CPython converts no longer ones.
_MOST_DIGITS = 4_000
_MOST_SHOWN = 40
_MOST_MEMBERS = 20
_OF_VALUE = 300
"""The library's steps for a value, some tens of microseconds."""

Form = Literal["integer", "decimal", "float", "boolean", "text", "list", "union"]


class NoValue(Exception):
    """The failure of a text that fits its type and has no value here."""


@frozen(eq=False)
class Simple:
    """A simple type. `choices` holds its enumeration. Empty if it has none."""

    form: Form
    words: str
    choices: tuple[str, ...]
    type: Any
    parts: tuple["Simple", ...] = ()
    """The type of a list's items; or the types of a union, none of which is a union."""

    def steps(self, text: str) -> int:
        """Return the worst cost of a check of a text: each item with each of its types."""
        if self.form == "union":
            return sum([part.steps(text) for part in self.parts])
        if self.form == "list":
            return (1 + len(text.split())) * self.parts[0].steps("")
        return _OF_VALUE

    def fits(self, text: str) -> bool:
        valid: bool = self.type.text_is_valid(text)
        return valid and _is_written(normal(text), self.form)

    def value(self, text: str) -> tuple[Value, str | None]:
        """Return the value of a text that fits, and the note of a loss, if any. Raises NoValue."""
        text = _white(text, self.type.white_space)
        match self.form:
            case "text":
                return text, None
            case "boolean":
                return text in ("true", "1"), None
            case "list":
                values = [self.parts[0].value(item) for item in text.split()]
                lost = next((lost for _, lost in values if lost), None)
                return tuple([value for value, _ in values]), lost
            case "union":
                part = next((part for part in self.parts if part.fits(text)), None)
                if part is None:
                    raise NoValue("is none of the types it may have")
                return part.value(text)
            case _:
                return _number(text, self.form)


# The library admits Python's notation: `1_000`, digits of other scripts.
_WRITTEN = {
    "integer": re.compile(r"[+-]?[0-9]+"),
    "decimal": re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"),
    "float": re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"),
}


def _is_written(text: str, form: Form) -> bool:
    """Return whether a text has XSD's notation of a number, if its type is one."""
    return form not in _WRITTEN or _WRITTEN[form].fullmatch(text) is not None


def _white(text: str, rule: str | None) -> str:
    """Apply the type's rule of white space. The library counts a no-break space, XSD does not."""
    if rule == "collapse":
        return normal(text)
    return re.sub("[\t\n\r]", " ", text) if rule == "replace" else text


def _number(text: str, form: Form) -> tuple[Value, str | None]:
    if len(text) > _MOST_DIGITS:
        raise NoValue("has too many digits")
    if not _is_written(text, form):
        raise NoValue("is not a number that can be used here")
    if form == "integer":
        return int(text), None
    exact = Decimal(text)
    if form == "decimal" and exact == exact.to_integral_value():
        return int(exact), None
    value = float(text)
    if not math.isfinite(value):
        raise NoValue("is too large")
    if form == "decimal" and Decimal(repr(value)) != exact:
        return value, f"rounded {text[:40]} to {value!r}"
    return value, None


def simple_of(type_: Any) -> Simple:
    """Return the simple type of a type of the library."""
    form, parts, words = _variety(type_)
    choices = tuple([str(each) for each in type_.enumeration or ()])
    if choices:
        words = " | ".join(choices[:_MOST_SHOWN]) + (" | …" if len(choices) > _MOST_SHOWN else "")
    else:
        words += _facets(type_)
    return Simple(form, words, choices, type_, parts)


def _variety(type_: Any) -> tuple[Form, tuple[Simple, ...], str]:
    if type_.is_list():
        item = simple_of(_above(type_, "item_type"))
        return "list", (item,), f"{item.words}, any number of them with spaces between"
    if type_.is_union():
        members = tuple([simple_of(each) for each in _above(type_, "member_types")])
        if sum(len(member.parts) or 1 for member in members) > _MOST_MEMBERS:
            raise BadXsd(f"a union has more than {_MOST_MEMBERS} members")
        leaves = tuple([each for member in members for each in _leaves(member)])
        return "union", leaves, ", or ".join([member.words for member in members])
    form, words = _atomic(type_)
    return form, (), words


def _leaves(simple: Simple) -> tuple[Simple, ...]:
    return simple.parts if simple.form == "union" else (simple,)


def _above(type_: Any, attribute: str) -> Any:
    """Return an attribute of the nearest type that has it, from here upwards."""
    while not hasattr(type_, attribute):
        type_ = type_.base_type
    return getattr(type_, attribute)


_FORMS: dict[str, tuple[Form, str]] = {
    "integer": ("integer", "whole number"),
    "decimal": ("decimal", "decimal number"),
    "float": ("float", "number"),
    "double": ("float", "number"),
    "boolean": ("boolean", "true | false"),
    "date": ("text", "date such as 2026-01-31"),
    "dateTime": ("text", "date and time such as 2026-01-31T09:30:00"),
    "time": ("text", "time such as 09:30:00"),
    "duration": ("text", "duration such as P1DT2H"),
    "gYear": ("text", "year such as 2026"),
    "gYearMonth": ("text", "month such as 2026-01"),
    "anyURI": ("text", "URI"),
    "language": ("text", "language code such as en"),
    "base64Binary": ("text", "data in base64"),
    "hexBinary": ("text", "data in hexadecimal"),
    "ID": ("text", "name that no other element has"),
    "IDREF": ("text", "name of another element"),
}


def _atomic(type_: Any) -> tuple[Form, str]:
    """Return the form and words of the nearest known type, from here upwards."""
    while type_ is not None:
        found = _FORMS.get((type_.name or "").removeprefix(_XS))
        if found and (type_.name or "").startswith(_XS):
            return found
        type_ = type_.base_type
    return "text", "text"


_LENGTHS = {"length": "of {}", "minLength": "of at least {}", "maxLength": "of at most {}"}


def _facets(type_: Any) -> str:
    """Describe the restrictions of a type."""
    said = [_bound(type_, "min", "from", "above"), _bound(type_, "max", "to", "below")]
    unit = "items" if type_.is_list() else "characters"
    for name, words in _LENGTHS.items():
        length = _facet(type_, name)
        if length is not None and not _is_builtin(type_):
            said.append(f"{words.format(length)} {unit}")
    decimals = _facet(type_, "fractionDigits")
    if decimals:
        said.append(f"with at most {decimals} decimals")
    pattern = type_.get_facet(f"{_XS}pattern")
    if pattern is not None and not _is_builtin(type_):
        said.append(f"like {' or '.join(pattern.regexps)}")
    return "".join(f" {words}" for words in said if words)


# The largest built-in ranges tell a model nothing.
_VAST = 2**31 - 1


def _bound(type_: Any, side: str, at: str, beyond: str) -> str:
    value = type_.min_value if side == "min" else type_.max_value
    if value is None or (_is_builtin(type_) and abs(value) >= _VAST):
        return ""
    return f"{beyond if value == _facet(type_, f'{side}Exclusive') else at} {value}"


def _is_builtin(type_: Any) -> bool:
    return (type_.name or "").startswith(_XS)


def _facet(type_: Any, name: str) -> Any:
    return getattr(type_.get_facet(f"{_XS}{name}"), "value", None)
