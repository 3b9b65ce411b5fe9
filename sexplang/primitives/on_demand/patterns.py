"""Regular expressions, matched in linear time by RE2.

The pattern comes first. A match is its text; with groups, a list of the whole and each group; with
named groups, a table of these. A group that took no part is nil.
"""

from collections.abc import Callable, Iterator
from typing import Any

import re2

from sexplang.primitives.sizes import LIST_ITEMS, STRING_POINTS, too_long, too_many_items
from sexplang.primitives.strings import content
from sexplang.terms.quota import charge, scan, work
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.value import Fault, Value

LONGEST = 10_000
"""The greatest length of a pattern, in code points."""

_MATCHED = 8
"""The steps that a match costs, beside the characters that are read."""


def find(pattern: Value, text: Value) -> Value:
    """Return the first match anywhere in the text, or nil."""
    compiled, subject = _read("re-find", pattern, text)
    found = compiled.search(subject)
    return None if found is None else _result(compiled)(found)


def match_whole(pattern: Value, text: Value) -> Value:
    """Return the match of the whole text, or nil."""
    compiled, subject = _read("re-matches", pattern, text)
    found = compiled.fullmatch(subject)
    return None if found is None else _result(compiled)(found)


def find_all(pattern: Value, text: Value) -> Value:
    compiled, subject = _read("re-seq", pattern, text)
    result = _result(compiled)
    return tuple([result(found) for found in _search("re-seq", compiled, subject)])


def replace(pattern: Value, text: Value, replacement: Value) -> Value:
    """Replace all matches. In the replacement `$1` and `${name}` are groups, `$0` is the match and
    `$$` a dollar sign."""
    compiled, subject = _read("re-replace", pattern, text)
    parts = _read_replacement(content("re-replace", replacement), compiled)
    made: list[bytes] = []
    size = end = 0
    for found in _search("re-replace", compiled, subject):
        made.append(subject[end : found.start()])
        made.extend([part if type(part) is bytes else found[part] or b"" for part in parts])
        end = found.end()
        size += sum(map(len, made[-1 - len(parts) :]))
        if size > 4 * STRING_POINTS:  # a code point has at most four bytes
            raise too_long("re-replace", size // 4)
    made.append(subject[end:])
    replaced = b"".join(made).decode("utf-8", _KEEP)
    if len(replaced) > STRING_POINTS:
        raise too_long("re-replace", len(replaced))
    charge(len(replaced))
    return replaced


def split(pattern: Value, text: Value) -> Value:
    """Return the parts of the text between matches. An empty match splits nothing."""
    compiled, subject = _read("re-split", pattern, text)
    made: list[str] = []
    end = 0
    for found in _search("re-split", compiled, subject):
        start, after = found.span()
        if after > start:
            made.append(subject[end:start].decode("utf-8", _KEEP))
            end = after
    return (*made, subject[end:].decode("utf-8", _KEEP))


_KEEP = "surrogatepass"
"""Text is matched as UTF-8; half a surrogate pair stays as it is."""


def _read(name: str, pattern: Value, text: Value) -> tuple[Any, bytes]:
    """Return the compiled pattern and the text as UTF-8. Raises Fault."""
    compiled = _compile(name, content(name, pattern))
    subject = content(name, text)
    scan(len(subject))
    return compiled, subject.encode("utf-8", _KEEP)


def _compile(name: str, pattern: str) -> Any:
    if len(pattern) > LONGEST:
        raise _bad(name, f"it has {len(pattern)} characters; at most {LONGEST} are allowed")
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern.encode("utf-8", _KEEP), options)
    except re2.error as error:
        why = error.args[0]
        why = why.decode("utf-8", "replace") if isinstance(why, bytes) else str(why)
        raise _bad(name, why, pattern) from None


_LACKING = ("(?=", "(?!", "(?<=", "(?<!", "(?>")


def _bad(name: str, why: str, pattern: str = "") -> Fault:
    hint = "in a string a backslash is written twice: `\\\\d`"
    if any(mark in pattern for mark in _LACKING):
        hint = "there is no look-ahead or look-behind: match more, and take a group of it"
    elif re2.search(r"invalid escape sequence: \\[1-9]", why):
        hint = "there are no back references: compare the groups of a match with `equal?`"
    elif "repetition" in why:
        hint = "write `*`, `+` or `?` once, after the part to repeat; `\\\\*` is the character"
    shown = f" {abbreviate(pattern)}" if pattern else ""
    return Fault("bad-regex", f"`{name}`: the pattern{shown} cannot be read: {why}", hint=hint)


def _search(name: str, compiled: Any, subject: bytes) -> Iterator[Any]:
    """Yield all matches, counted as steps."""
    count = 0
    for found in compiled.finditer(subject):
        start, end = found.span()
        if start == end < len(subject) and subject[start] & 0xC0 == 0x80:
            continue  # inside of a code point
        count += 1
        if count > LIST_ITEMS:
            raise too_many_items(name, count)
        if count % 1_000 == 0:
            work(1_000 * _MATCHED)
            charge(1_000)
        yield found
    work(count % 1_000 * _MATCHED)


def _result(compiled: Any) -> Callable[[Any], Value]:
    """Return the function of a match to its value."""
    if not compiled.groups:
        return lambda found: found[0].decode("utf-8", _KEEP)
    names = sorted((at, name.decode("utf-8", _KEEP)) for name, at in compiled.groupindex.items())
    if names:
        return lambda found: {name: _text(found[at]) for at, name in names}
    places = range(compiled.groups + 1)
    return lambda found: tuple([_text(found[at]) for at in places])


def _text(group: bytes | None) -> str | None:
    return None if group is None else group.decode("utf-8", _KEEP)


def _read_replacement(text: str, compiled: Any) -> list[bytes | int]:
    """Return the parts of a replacement: texts, and the numbers of groups. Raises Fault."""
    parts: list[bytes | int] = []
    at = 0
    while (dollar := text.find("$", at)) >= 0:
        parts.append(text[at:dollar].encode("utf-8", _KEEP))
        if text[dollar + 1 : dollar + 2] == "$":
            parts.append(b"$")
            at = dollar + 2
            continue
        name, at = _read_group(text, dollar + 1)
        known = compiled.groupindex.get(name.encode("utf-8", _KEEP), -1)
        number = int(name) if name.isdecimal() else known
        if not 0 <= number <= compiled.groups:
            raise _no_group(text[dollar:at], compiled.groups)
        parts.append(number)
    parts.append(text[at:].encode("utf-8", _KEEP))
    return parts


def _read_group(text: str, at: int) -> tuple[str, int]:
    """Return the name of a group at a place of a replacement, and the place behind it."""
    if text[at : at + 1] == "{":
        end = text.find("}", at)
        return (text[at + 1 : end], end + 1) if end > 0 else ("", at + 1)
    end = at
    while end < at + 2 and text[end : end + 1] in _DIGITS:
        end += 1
    return text[at:end], end


_DIGITS = tuple("0123456789")


def _no_group(written: str, groups: int) -> Fault:
    return Fault(
        "bad-regex",
        f"`re-replace`: `{written}` in the replacement names none of the {groups} groups",
        hint="`$1` is the first group, `${name}` a named one, `$0` all; `$$` is a dollar sign",
    )
