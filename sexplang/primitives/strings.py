"""String primitives. Strings are sequences of code points; a TaskResult counts as its content.

The size of a result is checked before it is made.
"""

from collections.abc import Callable

from sexplang.primitives.arithmetic import MISSING
from sexplang.primitives.sizes import (
    STRING_POINTS,
    out_of_range,
    too_large,
    too_long,
    weigh,
    whole,
    wrong_type,
)
from sexplang.terms.quota import GLANCE, SMALL, charge, scan
from sexplang.terms.values import text as terms_text
from sexplang.terms.values.rope import PLAIN, TEXTS, Rope, Text, join_texts, put_after, whole_text
from sexplang.terms.values.sequences import LISTS
from sexplang.terms.values.text import text_size
from sexplang.terms.values.value import Record, Value


def content(name: str, value: Value, hint: str | None = None) -> str:
    """Return the text of `value`: a string, or a TaskResult's content. Raises Fault."""
    if type(value) is str:
        return value
    if type(value) is Rope:
        return whole_text(value)
    if isinstance(value, Record) and value.kind == "TaskResult":
        return terms_text.text(value)
    hint = hint or "`(str x)` makes text of any value" if value is not None else hint
    raise wrong_type(name, "strings", value, hint)


def text_of(name: str, value: Value) -> str:
    """Return the text of any value, for `str` and `~a`."""
    if type(value) is str:
        return value
    if type(value) is int and -0x3FFFFFFF < value < 0x3FFFFFFF:
        return repr(value)
    if type(value) is int:
        weigh(value, value)
    return _check_bound(name, value, terms_text.text)


def write_value(name: str, value: Value) -> str:
    """Return a value as source text, for `~s`."""
    return _check_bound(name, value, terms_text.to_source)


def _check_bound(name: str, value: Value, make: Callable[[Value], str]) -> str:
    size = text_size(value, STRING_POINTS)
    if size > STRING_POINTS:
        raise too_long(name, size)
    try:
        return make(value)
    except ValueError:  # an integer from outside, above the limit of CPython's printing
        raise too_large(name) from None


def join_parts(name: str, parts: list[str], separator: str = "") -> str:
    """Return the parts as one string. Raises Fault if it is too long."""
    size = sum(map(len, parts)) + len(separator) * max(len(parts) - 1, 0)
    if size > STRING_POINTS:
        raise too_long(name, size)
    return separator.join(parts)


def to_str(*values: Value) -> Value:
    parts: list[Text] = []
    size = 0
    for value in values:
        part: Text = value
        if value.__class__ is not str and value.__class__ is not Rope:
            part = text_of("str", value)
        size += len(part)
        if size > STRING_POINTS:
            raise too_long("str", size)
        parts.append(part)
    return _in_a_row(parts, size)


def _in_a_row(parts: list[Text], size: int) -> Text:
    if size <= PLAIN and size < GLANCE:
        if size > SMALL:
            charge(size)
        return "".join(parts)  # type: ignore[arg-type]  # a Rope is longer
    text = parts[0]
    if text.__class__ is Rope and size - len(text) <= SMALL:
        return put_after(text, "".join(map(whole_text, parts[1:])))
    return join_texts(parts, size)


def append(a: Value = "", b: Value = "", *rest: Value) -> Value:
    if b.__class__ is str and not rest:
        if a.__class__ is str:
            if len(a) + len(b) <= SMALL:
                return a + b
        elif a.__class__ is Rope and len(b) <= SMALL and a.size < STRING_POINTS - SMALL:
            return put_after(a, b)
    parts: list[Text] = [
        part if part.__class__ is str or part.__class__ is Rope else content("string-append", part)
        for part in (a, b, *rest)
    ]
    size = sum(map(len, parts))
    if size > STRING_POINTS:
        raise too_long("string-append", size)
    return _in_a_row(parts, size)


def length(value: Value) -> Value:
    if type(value) is str or type(value) is Rope:
        return len(value)
    hint = "`(length xs)` counts the items of a list" if type(value) in LISTS else None
    return len(content("string-length", value, hint))


def substring(value: Value, start: Value, end: Value = None) -> Value:
    text = content("substring", value)
    first = whole("substring", "start", start)
    last = len(text) if end is None else whole("substring", "end", end)
    if not first <= last <= len(text):
        raise out_of_range(
            "substring",
            f"{first} to {last} does not lie in a string of {len(text)} code points",
            f"`(string-drop s {first})` gives all that is left"
            if first <= len(text) < last
            else None,
        )
    return text[first:last]


def split(value: Value, separator: Value = MISSING) -> Value:
    text = content("string-split", value)
    scan(len(text))
    if separator is MISSING:
        return tuple(text.split())
    between = content("string-split", separator)
    return tuple(text.split(between)) if between else tuple(text)


def join(values: Value, separator: Value = " ") -> Value:
    if type(values) not in LISTS:
        raise wrong_type("string-join", "a list of strings", values, "`(string-join xs separator)`")
    between = content("string-join", separator)
    hint = "`(map str xs)` makes text of every item"
    return join_parts(
        "string-join", [content("string-join", item, hint) for item in values], between
    )


def trim(value: Value) -> Value:
    text = content("string-trim", value)
    scan(len(text))
    return text.strip()


def upcase(value: Value) -> Value:
    text = value if type(value) is str else content("string-upcase", value)
    return _charge_change("string-upcase", text.upper())


def downcase(value: Value) -> Value:
    text = value if type(value) is str else content("string-downcase", value)
    return _charge_change("string-downcase", text.lower())


def _charge_change(name: str, made: str) -> str:
    # A change of case makes at most three code points of one, so a later check is enough.
    if len(made) > SMALL:
        if len(made) > STRING_POINTS:
            raise too_long(name, len(made))
        charge(len(made))
    return made


def contains(value: Value, part: Value) -> Value:
    hint = "`(member? x xs)` looks in a list" if type(value) in LISTS else None
    text = value if type(value) is str else content("string-contains?", value, hint)
    scan(len(text))
    return content("string-contains?", part) in text


def replace(value: Value, old: Value, new: Value) -> Value:
    text, old, new = (content("string-replace", part) for part in (value, old, new))
    if not old:
        raise out_of_range("string-replace", "the text to replace is empty")
    scan(len(text))
    size = len(text) + text.count(old) * (len(new) - len(old))
    if size > STRING_POINTS:
        raise too_long("string-replace", size)
    return text.replace(old, new)


def same(a: Value, b: Value = MISSING, *rest: Value) -> Value:
    if type(a) is str and type(b) is str and not rest:
        scan(len(a) if len(a) == len(b) else 0)
        return a == b
    if type(a) in TEXTS and type(b) in TEXTS and not rest:
        scan(len(a) if len(a) == len(b) else 0)
        return len(a) == len(b) and whole_text(a) == whole_text(b)
    hint = "`(equal? a b)` compares values of every kind"
    given = (a,) if b is MISSING else (a, b, *rest)
    texts = [content("string=?", value, hint) for value in given]
    scan(len(texts[0]) * len(texts))
    return all(text == texts[0] for text in texts)
