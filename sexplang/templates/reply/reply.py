"""The reading of a reply: its text becomes a value by the output format, with repairs, or a
problem.

Repairs go from the harmless to the bold: none, the code fence, the surrounding words, slips of the
pen. Each is recorded. The type is checked after all repairs. An uncertain reading is refused.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from sexplang.schemas.checker import Account, TooMuch
from sexplang.schemas.schema import fits, misfit, opening_brackets, resolve
from sexplang.templates.output_schemas import json_schema
from sexplang.templates.reply.answers import AnswerFitter, bare, may_be_text, with_integers
from sexplang.templates.reply.json_repair import GaveUp, repair
from sexplang.terms.classes.node import field, frozen
from sexplang.terms.json.json_reader import NotJson
from sexplang.terms.json.strict import (
    begins,
    each_key_once,
    same,
    strict,
    whole_characters,
    with_floats,
)
from sexplang.terms.template import OutputFormat
from sexplang.terms.texts.thoughts import ahead, is_open
from sexplang.terms.values.boundary import value_of
from sexplang.terms.values.value import Value


@frozen
class Reading:
    """The result of reading a reply. `value` has a meaning if `problem` is None. `problem` is a
    sentence for the model.

    `details` holds expectedType and actualType, parseError, violations as they apply.
    """

    value: Value
    repairs: tuple[str, ...] = ()
    problem: str | None = None
    details: dict[str, Value] = field(factory=dict)


MOST_SEARCHED = 1_000_000
"""The most characters of a text in which JSON is searched for."""
_MOST_TRIES = 20
_MOST_FENCES = 200

_SEVERAL = "it holds several JSON values, and one is asked for"
_EITHER = "it may be a text, or another value: write a text in double quotes"
_AGAIN = "Reply again with JSON that fits, alone."
_PART = "what stands around the JSON may be a part of it"
_THOUGHT = "the JSON may stand in a part for thinking, and not be the answer"
# Signs that the JSON is a part of something larger.
_KEY = re.compile(r"[\"'”]\s*:")
_TAKES_IN = ("[", "{", "~~", "<!--", "//", "/*")
_GOES_ON = re.compile(r"[^\n\w]*+\w")
_MORE = re.compile(r",\s*+(?:[{\[\"']|\w++\s*+[:=])")
_CLOSERS = re.compile(r"[\s}\]]+")


def read_reply(text: str, output_format: OutputFormat) -> Reading:
    """Read a reply. A text format takes the text unchanged."""
    if output_format.type == "text":
        return Reading(text)
    if output_format.type == "xml":
        from sexplang.templates.xsd import read_xml

        return read_xml(text, str(output_format.schema))
    schema = resolve(output_format.schema)
    notes: list[str] = []
    typed = schema if output_format.typed and isinstance(schema, dict) else None
    account = Account()
    try:
        data = _Text(
            schema if typed is None else None, notes.append, each_key_once(notes.append), account
        ).data(text)
        data, halved = whole_characters(data)
    except NotJson as error:
        said = None if typed is None else bare(text, typed, notes.append)
        if said is None:
            return _report_unparsed(error, schema)
        data, halved = said[0], False
    changed = notes and typed is not None and data != text.strip()
    if changed and typed is not None and may_be_text(text, typed):
        return _report_unparsed(NotJson(_EITHER), schema)
    if halved:
        notes.append("replaced half characters (lone surrogates)")
    if typed is None:
        wrong = misfit(data, schema, account)
    else:
        fitting = AnswerFitter(typed)
        data, repairs = fitting.fit(fitting.unwrap(data, notes.append))
        notes += repairs
        wrong = fitting.unfit(data)
        if notes and wrong is None and _is_word(text, typed, data):
            return _report_unparsed(NotJson(_EITHER), schema)
    if wrong is None:
        data = with_integers(data, json_schema(output_format) if typed is None else typed)
    data = with_floats(data, notes.append)
    repairs = _shorten(tuple(dict.fromkeys(notes)))
    if wrong is None:
        return Reading(value_of(data), repairs)
    details: dict[str, Value] = {"expectedType": wrong.expected, "actualType": wrong.actual}
    if wrong.violations:
        details["violations"] = wrong.violations
    problem = f"The reply is JSON, but {wrong.sentence}. {_AGAIN}"
    return Reading(value_of(data), repairs, problem, details)


def _report_unparsed(why: NotJson, schema: str | dict[str, Any] | None) -> Reading:
    reason = str(why)
    expected = schema.get("type") if isinstance(schema, dict) else schema
    details: dict[str, Value] = {
        "parseError": reason,
        "expectedType": expected if isinstance(expected, str) else "json",
        "actualType": "text",
    }
    if why.given_up:
        details["givenUp"] = why.given_up
    problem = f"The reply is not JSON: {reason}. Reply again with the JSON alone, without a word."
    return Reading(None, (), problem, details)


def _is_word(text: str, typed: dict[str, Any], found: Any) -> bool:
    """Return whether the answer would differ if words that are not JSON, `None` or `+5`, were
    texts."""
    try:
        data = _Text(None, _ignore, each_key_once(_ignore), Account(), words=True).data(text)
    except NotJson:
        return False
    fitting = AnswerFitter(typed)
    data, _ = fitting.fit(fitting.unwrap(data, _ignore))
    return not same(data, found) and fitting.unfit(data) is None


def _ignore(_: str) -> None:
    pass


@frozen(eq=False)
class _Text:
    """The search for JSON in one text. `note` receives each repair."""

    schema: str | dict[str, Any] | None
    note: Callable[[str], None]
    decoder: json.JSONDecoder
    account: Account
    words: bool = False
    """Whether words that are not JSON are texts."""

    def data(self, text: str) -> Any:
        """Return the one value that a text holds. Raises NotJson."""
        first, found = self._strict(text)
        if first is None:
            return found
        if first.final:
            raise first
        if len(text) > MOST_SEARCHED:
            most = f"what is longer than {MOST_SEARCHED:,} characters is not searched for JSON"
            raise NotJson(str(first), given_up=most)
        _, answer = ahead(text)
        if answer:
            self.note("left out the words around the JSON")
            text = text[answer:]
            first, found = self._strict(text)
            if first is None:
                return found
        inside = self._strip_fence(text)
        if inside is not None:
            self.note("took the JSON out of its code fence")
            why, found = self._strict(inside)
            if why is None:
                return found
            text = inside
        values = self._among_words(text, self.note)
        if len(values) > 1:
            raise NotJson(_SEVERAL)
        return values[0] if values else self._repair(text, first)

    def _strict(self, text: str) -> tuple[NotJson | None, Any]:
        try:
            return None, strict(text, self.decoder)
        except NotJson as error:
            return error, None

    def _strip_fence(self, text: str) -> str | None:
        """Return the content of the only code fence that may hold JSON. Raises NotJson if another
        part of the text may be the answer too."""
        fences = list(islice(find_fences(text), _MOST_FENCES + 1))
        if len(fences) > _MOST_FENCES:
            raise NotJson(f"it has more than {_MOST_FENCES} code fences")
        held = [(begin, end) for begin, end in fences if self._may_be_json(text[begin:end])]
        held = fences if len(fences) == 1 else held
        if not held:
            return None
        begin, end = held[0]
        inside = text[begin:end]
        why, value = self._strict(inside)
        others = [self._strict(text[begin:end]) for begin, end in held[1:]]
        if others and not all(_is_same((why, value), each) for each in others):
            raise NotJson(_SEVERAL)
        rivals = self._among_words(outside(text, fences), _ignore, strictly=False)
        if any(self._may_fit(each) and not same(each, value) for each in rivals):
            raise NotJson(_SEVERAL)
        _thinks_apart((text[:begin], text[end:]))
        return inside

    def _may_fit(self, data: Any) -> bool:
        try:
            return fits(data, self.schema, self.account)
        except TooMuch:
            return True

    def _may_be_json(self, text: str) -> bool:
        return text.lstrip()[:1] in ("{", "[") or self._strict(text)[0] is None

    def _among_words(
        self, text: str, note: Callable[[str], None], *, strictly: bool = True
    ) -> list[Any]:
        """Return the JSON values of the wanted kind among words. Empty if brackets stand around
        that are not JSON, because the meaning is then uncertain."""
        brackets = opening_brackets(self.schema)
        decoder = each_key_once(note)
        found: list[Any] = []
        outside: list[str] = []
        at = 0
        for _ in range(_MOST_TRIES):
            starts = [start for start in (text.find(b, at) for b in brackets) if start >= 0]
            if not starts:
                if len(found) == 1 and strictly:
                    self._around((*outside, text[at:]), found[0])
                return found
            outside.append(text[at : min(starts)])
            try:
                data, at = begins(text, min(starts), decoder)
            except NotJson:
                return []
            found.append(data)
        return found

    def _around(self, outside: tuple[str, ...], data: Any) -> None:
        """Note the words that are left out. Raises NotJson if they may belong to the value, or if a
        list or an empty table stands in a line of words, which may have brackets too."""
        _thinks_apart(outside)
        before, after = outside[0].rstrip(), outside[-1].strip()
        if before.endswith(_TAKES_IN) or any(_KEY.search(each) for each in outside):
            raise NotJson(_PART)
        if _is_inside(before) or _MORE.match(after):
            raise NotJson(_PART)
        if not (isinstance(data, dict) and data) and _GOES_ON.match(outside[1]):
            raise NotJson(_PART)
        if not before and _CLOSERS.fullmatch(after):
            self.note("left out a closing bracket too many")
        else:
            self.note("left out the words around the JSON")

    def _repair(self, text: str, first: NotJson) -> Any:
        starts = [start for start in map(text.find, "{[") if start >= 0]
        at = min(starts, default=len(text) - len(text.lstrip()))
        try:
            data, end = repair(text, at, self.note, self.words)
        except GaveUp as why:
            raise NotJson(str(first), given_up=str(why)) from None
        except NotJson as why:
            raise (why if starts else first) from None
        before, after = text[:at], text[end:]
        if before.strip() or after.strip():
            if any(bracket in after for bracket in "{}[]") or not starts:
                raise first
            self._around((before, after), data)
        return data


def _is_inside(before: str) -> bool:
    """Return whether an unclosed bracket stands before a value."""
    return any(before.count(one) > before.count(other) for one, other in ("[]", "{}"))


def _thinks_apart(outside: Sequence[str]) -> None:
    """Raise NotJson if thoughts begin or end around a value, one without the other."""
    if any(map(is_open, outside)):
        raise NotJson(_THOUGHT)


def _is_same(one: tuple[NotJson | None, Any], other: tuple[NotJson | None, Any]) -> bool:
    return one[0] is None and other[0] is None and same(one[1], other[1])


_MOST_REPAIRS = 30


def _shorten(repairs: tuple[str, ...]) -> tuple[str, ...]:
    rest = len(repairs) - _MOST_REPAIRS
    return (*repairs[:_MOST_REPAIRS], f"and {rest} more") if rest > 0 else repairs


Span = tuple[int, int]

_LINE = re.compile(r"^[ \t]*+(`{3,}+|~{3,}+)[ \t]*+(\w*+)[ \t]*+\r?$", re.MULTILINE)


def find_fences(text: str) -> Iterator[Span]:
    """Return the span of the content of each closed code fence, in order. A fence is closed by one
    of its own kind that is at least as long."""
    opening = ""
    begin = 0
    for fence in _LINE.finditer(text):
        if not opening:
            opening, begin = fence[1], fence.end() + 1
        elif not fence[2] and fence[1].startswith(opening):
            yield begin, fence.start()
            opening = ""


def outside(text: str, spans: list[Span]) -> str:
    """Return a text without its spans, which are in order."""
    ends = [0, *[end for _, end in spans]]
    begins = [*[begin for begin, _ in spans], len(text)]
    return "".join([text[one:other] for one, other in zip(ends, begins, strict=True)])
