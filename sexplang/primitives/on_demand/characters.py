"""More primitives of text: where a part is, parts by position, padding, order, characters."""

from collections.abc import Callable
from itertools import pairwise

from sexplang.primitives.lists import as_list
from sexplang.primitives.sizes import (
    LIST_ITEMS,
    STRING_POINTS,
    out_of_range,
    too_long,
    too_many_items,
    whole,
    wrong_type,
)
from sexplang.primitives.strings import content, join_parts
from sexplang.terms.quota import charge, scan
from sexplang.terms.values.value import Symbol, Value, symbol


def index(text: Value, part: Value, start: Value = 0) -> Value:
    """Return where a part first begins, or nil."""
    return _find("string-index", text, part, str.find, whole("string-index", "start", start))


def last_index(text: Value, part: Value) -> Value:
    return _find("string-index-right", text, part, str.rfind, 0)


def _find(name: str, text: Value, part: Value, find: Callable[..., int], start: int) -> Value:
    subject = content(name, text)
    scan(len(subject))
    found = find(subject, content(name, part), start)
    return None if found < 0 else found


def has_prefix(prefix: Value, text: Value) -> Value:
    return content("string-prefix?", text).startswith(content("string-prefix?", prefix))


def has_suffix(suffix: Value, text: Value) -> Value:
    return content("string-suffix?", text).endswith(content("string-suffix?", suffix))


def starts_with(text: Value, prefix: Value) -> Value:
    return content("starts-with?", text).startswith(content("starts-with?", prefix))


def ends_with(text: Value, suffix: Value) -> Value:
    return content("ends-with?", text).endswith(content("ends-with?", suffix))


def count(text: Value, part: Value) -> Value:
    """Return how often a part occurs, without overlaps."""
    subject, sought = content("string-count", text), content("string-count", part)
    if not sought:
        raise out_of_range("string-count", "the text to count is empty")
    scan(len(subject))
    return subject.count(sought)


def lines(text: Value) -> Value:
    """Return the lines. A line break at the end begins no line."""
    subject = content("string-lines", text)
    scan(len(subject))
    made = subject.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return _items("string-lines", made[:-1] if made[-1] == "" else made)


def to_list(text: Value) -> Value:
    return _items("string->list", list(content("string->list", text)))


def from_list(items: Value) -> Value:
    name = "list->string"
    return join_parts(name, [content(name, item) for item in as_list(name, items)])


def reference(text: Value, at: Value) -> Value:
    """Return the character at an index, as a text."""
    subject, place = content("string-ref", text), whole("string-ref", "index", at)
    if place >= len(subject):
        raise out_of_range("string-ref", f"there is no index {place} in {len(subject)} code points")
    return subject[place]


def take(text: Value, count: Value) -> Value:
    """Return at most the first characters."""
    return _charge_text(content("string-take", text)[: whole("string-take", "count", count)])


def drop(text: Value, count: Value) -> Value:
    return _charge_text(content("string-drop", text)[whole("string-drop", "count", count) :])


def take_right(text: Value, count: Value) -> Value:
    name = "string-take-right"
    subject, length = content(name, text), whole(name, "count", count)
    return _charge_text(subject[max(0, len(subject) - length) :])


def drop_right(text: Value, count: Value) -> Value:
    name = "string-drop-right"
    subject, length = content(name, text), whole(name, "count", count)
    return _charge_text(subject[: max(0, len(subject) - length)])


def pad_left(text: Value, width: Value, fill: Value = " ") -> Value:
    """Return the text with as much before it as makes it so wide. Longer text is left as it is."""
    subject, more = _padding("string-pad-left", text, width, fill)
    return more + subject


def pad_right(text: Value, width: Value, fill: Value = " ") -> Value:
    subject, more = _padding("string-pad-right", text, width, fill)
    return subject + more


def _padding(name: str, text: Value, width: Value, fill: Value) -> tuple[str, str]:
    hint = "`(str x)` makes text of a number: `(string-pad-left (str n) 5)`"
    subject, length = content(name, text, hint), whole(name, "width", width)
    character = content(name, fill)
    if len(character) != 1:
        raise wrong_type(name, "one character to fill with", fill)
    if length > STRING_POINTS:
        raise too_long(name, length)
    charge(max(length, len(subject)))
    return subject, character * (length - len(subject))


def repeat(text: Value, times: Value) -> Value:
    subject, count = content("string-repeat", text), whole("string-repeat", "count", times)
    if len(subject) * count > STRING_POINTS:
        raise too_long("string-repeat", len(subject) * count)
    return _charge_text(subject * count)


def reverse(text: Value) -> Value:
    return _charge_text(content("string-reverse", text)[::-1])


def capitalize(text: Value) -> Value:
    """Return the text with its first character in upper case; the others stay as they are."""
    subject = content("string-capitalize", text)
    return _charge_text(subject[:1].upper() + subject[1:])


def trim_left(text: Value) -> Value:
    return _charge_text(content("string-trim-left", text).lstrip())


def trim_right(text: Value) -> Value:
    return _charge_text(content("string-trim-right", text).rstrip())


def is_blank(text: Value) -> Value:
    """Return whether a text has nothing but white space."""
    return not content("string-blank?", text).strip()


def _order_test(name: str, fits: Callable[[str, str], bool]) -> Callable[..., Value]:
    def compare(*values: Value) -> Value:
        hint = "`<` compares numbers" if type(values[0]) in (int, float) else None
        texts = [content(name, value, hint) for value in values]
        scan(sum(map(len, texts)))
        return all(fits(a, b) for a, b in pairwise(texts))

    return compare


less = _order_test("string<?", str.__lt__)
more = _order_test("string>?", str.__gt__)
at_most = _order_test("string<=?", str.__le__)
at_least = _order_test("string>=?", str.__ge__)
alike = _order_test("string-ci=?", lambda a, b: a.casefold() == b.casefold())


def code(text: Value) -> Value:
    """Return the code point of a text of one character."""
    subject = content("char->integer", text)
    if len(subject) != 1:
        raise out_of_range("char->integer", "it takes a text of one character")
    return ord(subject)


def from_code(point: Value) -> Value:
    number = whole("integer->char", "code point", point)
    if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        raise out_of_range("integer->char", f"there is no character {number}")
    return chr(number)


def to_symbol(text: Value) -> Value:
    return symbol(content("string->symbol", text))


def from_symbol(given: Value) -> Value:
    if not isinstance(given, Symbol):
        raise wrong_type("symbol->string", "a symbol", given)
    return given.name


def _items(name: str, items: list[str]) -> Value:
    if len(items) > LIST_ITEMS:
        raise too_many_items(name, len(items))
    charge(len(items))
    return tuple(items)


def _charge_text(text: str) -> str:
    charge(len(text))
    return text
