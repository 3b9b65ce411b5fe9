"""The credentials that this process knows, and texts, values and diagnostics without them.

Law: input is redacted before it is recorded and delivered, output before it is written. So no
program holds a credential, and a replay gets the same input.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from types import TracebackType
from typing import Any

from sexplang.package.process import ADDRESSES, CREDENTIALS, HEADERS, is_named
from sexplang.terms.classes.node import define, evolve, field
from sexplang.terms.diagnostic import Diagnostic, Diagnostics, Label
from sexplang.terms.source import Made, Source, Span
from sexplang.terms.texts.address import is_credential, split_credentials
from sexplang.terms.values.value import Record, Symbol, Value, distinct, symbol

MARK = "[redacted]"

SHORTEST = 8
"""The least length of a credential: a shorter one occurs in too many texts to be redacted."""

OWN = (
    *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"),
    *("OPENAI_API_KEY", "OPENAI_BASE_URL"),
)
"""Variables whose values are sent to models: their credentials need not look like any."""

MOST = 256
"""The most credentials given by persons that are kept, the latest: each user of a service may have
one."""


TELLING = 20
"""The length of a credential's beginning that is redacted too: messages shorten long texts."""


@define(eq=False)
class Secret:
    """A credential and the means to find it.

    `word` is its longest part of plain characters. It finds the credential in a text without
    escapes of plain characters. The pattern is compiled when a text has this word, or has such
    escapes.
    """

    value: str
    word: str
    _patterns: "dict[bool, re.Pattern[str]]" = field(factory=dict)
    _parts: "dict[bool, list[re.Pattern[str]]]" = field(factory=dict)

    def pattern(self, plain: bool) -> "re.Pattern[str]":
        """Return the pattern; with `plain` it allows escapes of plain characters too."""
        if plain not in self._patterns:
            from sexplang.terms.texts.spelling_patterns import parts_of

            self._patterns[plain] = re.compile("".join(parts_of(self.value, plain=plain)))
        return self._patterns[plain]

    def is_in(self, text: str, plain: bool) -> bool:
        """Return whether it is in a text; with `plain`, plain characters may be escaped there."""
        if not plain and (self.word not in text or self.word == self.value):
            return self.word in text
        return self.pattern(plain).search(text) is not None

    def find_begun(self, text: str, plain: bool) -> int:
        """Return where the end of a text begins to spell it; the text's length if it does not."""
        from sexplang.terms.texts.spelling_patterns import CUT_ESCAPE, compile_parts

        if plain not in self._parts:  # each piece of a model's text is looked at
            self._parts[plain] = compile_parts(self.value, plain=plain)
        parts = self._parts[plain]
        for found in parts[0].finditer(text):
            at = found.end()
            for part in parts[1:]:
                more = part.match(text, at) if at < len(text) else None
                if more is None:
                    break
                at = more.end()
            if at == len(text) or CUT_ESCAPE.match(text, at):
                return found.start()
        cut = CUT_ESCAPE.search(text)
        return len(text) if cut is None else cut.start()

    def remove_from(self, text: str, plain: bool) -> str:
        if not plain and self.word not in text:
            return text
        if not plain and self.word == self.value:
            return text.replace(self.value, MARK)
        return self.pattern(plain).sub(MARK, text)


@define(eq=False)
class SecretStore:
    """The known credentials. Mutable."""

    secrets: tuple[Secret, ...] = ()
    """The longest first; empty if none is known."""
    environment: frozenset[str] = frozenset()
    given: dict[str, None] = field(factory=dict)
    doubted: dict[str, bool] = field(factory=dict)
    """By the giver of a credential that is a plain word: whether a warning was given."""


KNOWN = SecretStore()


def look() -> None:
    """Learn the credentials in the environment."""
    found = frozenset(_of_environment())
    if found != KNOWN.environment:
        KNOWN.environment = found
        _keep()


def learn(values: Iterable[str]) -> None:
    """Learn credentials that a person gave. Too short ones are left out."""
    is_new = False
    for value in values:
        if len(value) >= SHORTEST:
            is_new |= value not in KNOWN.given
            KNOWN.given.pop(value, None)
            KNOWN.given[value] = None
    if is_new:
        for value in [*KNOWN.given][:-MOST]:
            del KNOWN.given[value]
        _keep()


def declare(name: str) -> str:
    """Return the value of a variable that a person declares to be a secret, and learn it.

    Raises ValueError that says why it cannot be one.
    """
    value = os.environ.get(name, "")
    if not value:
        raise ValueError(f"the environment has no `{name}`")
    if len(value) < SHORTEST:
        raise ValueError(
            f"the value of `{name}` is shorter than {SHORTEST} characters: it stands in too many "
            "texts to be taken out of them"
        )
    _doubt(name, value)
    learn([value])
    return value


def doubts() -> list[str]:
    """Return the warnings of credentials that are plain words, each once."""
    new = [name for name, is_told in KNOWN.doubted.items() if not is_told]
    KNOWN.doubted.update(dict.fromkeys(new, True))
    return [
        f"`{name}` holds a plain word as a credential, and it is taken out of every text: give it "
        f"another value, or one of fewer than {SHORTEST} characters where nobody looks at it"
        for name in new
    ]


def credentials_of(address: str) -> list[str]:
    """Return the credentials in an address, as written and as a server may repeat them."""
    _, user, found = split_credentials(address)
    values = [*found]
    if user:
        from base64 import b64encode

        name, colon, password = user.partition(":")
        if colon or is_plausible(name):
            values += [password if colon else name]
            values += [b64encode(_unquote(user).encode("utf-8", "replace")).decode()]
    return [each for value in values for each in dict.fromkeys((value, _unquote(value)))]


def is_plausible(value: str) -> bool:
    """Return whether a value looks like a credential, beside its variable's name.

    It is long enough, is neither one word nor two (`production`, `customer_id`), and is no path.
    """
    if len(value) < SHORTEST:
        return False
    words = value.replace("-", "_").replace(".", "_").replace(" ", "_").split("_")
    if len(words) <= 2 and all(map(str.isalpha, words)):
        return False
    return "/" not in value or not os.path.exists(os.path.expanduser(value))


def longest() -> int:
    """Return the most bytes of a credential in any spelling; 0 if none is known."""
    if not KNOWN.secrets:
        return 0
    from sexplang.terms.texts.spelling_patterns import LONGEST

    return LONGEST * len(KNOWN.secrets[0].value)


def redact_text(text: str) -> str:
    """Return the text with `[redacted]` in the place of every credential."""
    if not KNOWN.secrets:
        return text
    plain = _escapes_plain(text)
    for each in KNOWN.secrets:
        text = each.remove_from(text, plain)
    return text


def find_begun(text: str) -> int:
    """Return where the end of a redacted text may begin a credential; its length if it does not."""
    plain = "\\" in text or "%" in text
    return min([len(text), *[each.find_begun(text, plain) for each in KNOWN.secrets]])


def mask(text: str) -> str:
    """Return the text with `*` for each character of a credential: length and lines stay."""
    plain = bool(KNOWN.secrets) and _escapes_plain(text)
    for each in KNOWN.secrets:
        if each.is_in(text, plain):
            text = each.pattern(plain).sub(lambda found: re.sub("[^\r\n]", "*", found[0]), text)
    return text


def silent(text: str) -> str:
    """Return the text without credentials and without their beginnings, which shortening leaves."""
    text = redact_text(text)
    plain = bool(KNOWN.secrets) and _escapes_plain(text)
    for each in KNOWN.secrets:
        text = _without_begun(text, each.value, plain)
    return text


def redact(value: Value) -> Value:
    """Return a value, or plain data, with all its text redacted; itself if it has no credential."""
    if not KNOWN.secrets:
        return value
    texts = value if isinstance(value, str) else "\0".join(_texts_in(value))
    plain = _escapes_plain(texts)
    if not any(each.is_in(texts, plain) for each in KNOWN.secrets):
        return value
    return redact_text(value) if isinstance(value, str) else _rebuild(value, redact_text)


def silence(value: Value) -> Value:
    """Return the value with all its text `silent`, for errors, which may be shortened."""
    return _rebuild(value, silent) if KNOWN.secrets else value


def _texts_in(value: Value) -> list[str]:
    """Return all texts of a value, with keys and symbols."""
    texts: list[str] = []
    work = [value]
    for item in work:  # it grows meanwhile
        kind = item.__class__
        if kind is str:
            texts.append(item)
        elif kind is Symbol:
            texts.append(item.name)
        elif kind is tuple or kind is list:
            work += item
        elif kind is dict:
            texts += item
            work += item.values()
        elif kind is Record:
            work += (item.fields, item.answer)
    return texts


def _rebuild(value: Value, written: Callable[[str], str]) -> Value:
    """Return a value rebuilt with other texts, without recursion.

    Containers are listed before their content, and rebuilt in the opposite order.
    """
    root: list[Any] = [value]
    work: list[tuple[Any, Any]] = [(root, 0)]
    holders: list[tuple[Any, Any, Any]] = []
    while work:
        place, key = work.pop()
        item = place[key]
        if isinstance(item, str):
            place[key] = written(item)
        elif isinstance(item, Symbol):
            place[key] = symbol(written(item.name))
        elif isinstance(item, dict):
            place[key] = table = distinct(item, written)
            work.extend((table, name) for name in table)
        elif isinstance(item, (tuple, list)):
            place[key] = parts = list(item)
            holders.append((place, key, item))
            work.extend((parts, at) for at in range(len(parts)))
        elif isinstance(item, Record):
            place[key] = parts = [item.fields, item.answer]
            holders.append((place, key, item))
            work += [(parts, 0), (parts, 1)]
    for place, key, item in reversed(holders):
        parts = place[key]
        if isinstance(item, Record):
            place[key] = evolve(item, fields=parts[0], answer=parts[1])
        elif isinstance(item, tuple):
            place[key] = tuple(parts)
    return root[0]


def redact_bytes(data: bytes) -> bytes:
    """Redact bytes, which need not be text."""
    if not KNOWN.secrets:
        return data
    is_escaped = b"%" in data or b"\\" in data
    if not is_escaped and not any(each.word.encode() in data for each in KNOWN.secrets):
        return data
    text = data.decode(errors="surrogateescape")
    made = redact_text(text)
    return data if made == text else made.encode(errors="surrogateescape")


def _of_environment() -> Iterator[str]:
    for name in os.environ:
        endings = _telling_endings(name)
        if endings is None:
            continue
        value = os.environ.get(name, "").strip()
        if endings is CREDENTIALS:
            found = [value]
        elif endings is ADDRESSES:
            found = credentials_of(value)
        else:
            found = _of_headers(name, value)
        if name in OWN:
            for each in found:
                _doubt(name, each)
        yield from (each for each in found if name in OWN or is_plausible(each))


@lru_cache(1_000)
def _telling_endings(name: str) -> tuple[str, ...] | None:
    """Return the endings of which a variable's name has one; each run looks at all variables."""
    found = (each for each in (CREDENTIALS, ADDRESSES, HEADERS) if is_named(name, each))
    return next(found, None)


def _of_headers(name: str, text: str) -> list[str]:
    """Return the last word of each header that is a credential: `KEY` of `Basic KEY`.

    Headers of traces are `name=value,…`, with any name for a key.
    """
    of_traces = name.startswith("OTEL_")
    found = []
    for line in text.split("," if of_traces else "\n"):
        header, _, value = line.partition("=" if of_traces else ":")
        if of_traces or is_credential(header.strip()):
            for each in (value.replace("%20", " "), _unquote(value)):
                found += each.split()[-1:]
    return found


def _unquote(text: str) -> str:
    if "%" not in text:
        return text
    from urllib.parse import unquote

    return unquote(text)


def _doubt(name: str, value: str) -> None:
    """Note that a credential is a plain word, which is redacted wherever it occurs."""
    if len(value) >= SHORTEST and not is_plausible(value):
        KNOWN.doubted.setdefault(name, False)


def _keep() -> None:
    values = {each for value in (*KNOWN.environment, *KNOWN.given) for each in _parts(value)}
    values = {each for each in values if len(each) >= SHORTEST and each not in MARK}
    values = set(filter(_is_text, values))
    if not values:
        KNOWN.secrets = ()
        return
    from sexplang.terms.texts.spelling_patterns import word_in  # most processes know no credential

    longest_first = sorted(values, key=lambda each: (-len(each), each))
    KNOWN.secrets = tuple([Secret(each, word_in(each)) for each in longest_first])


def _parts(value: str) -> Iterator[str]:
    r"""Yield a value and the lines of one that has several, such as a key in a file.

    Each line reveals a part. `\n` counts as a line break, because a variable may hold it.
    """
    yield value.strip()
    lines = [each.strip() for each in value.replace("\\n", "\n").splitlines()]
    if len(lines) > 1:
        yield from (each for each in lines if _opens(each))


def _opens(line: str) -> bool:
    """Return whether a line of a credential is one: letters alone are, if they are no word."""
    is_letters = len(line) >= 2 * SHORTEST and line.isalpha()
    return (is_letters or is_plausible(line)) and not line.startswith("-----")


def _is_text(value: str) -> bool:
    """Return whether the value of a variable is valid UTF-8: no text contains any other."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _escapes_plain(text: str) -> bool:
    from sexplang.terms.texts.spelling_patterns import escapes_plain

    return escapes_plain(text)


def _without_begun(text: str, secret: str, plain: bool) -> str:
    """Return the text without beginnings of the secret.

    Only secrets of one word have them removed: the beginning of an address or of a key file occurs
    in other texts.
    """
    if len(secret) <= TELLING or "://" in secret or " " in secret:
        return text
    from sexplang.terms.texts.spelling_patterns import parts_of, word_in

    if not plain and word_in(secret[:TELLING]) not in text:
        return text
    parts = parts_of(secret, plain=plain)
    made, at = "", 0
    for begun in re.finditer("".join(parts[:TELLING]), text):
        if begun.start() < at:
            continue
        made += text[at : begun.start()] + MARK
        at = begun.end()
        for part in parts[TELLING:]:
            more = re.compile(part).match(text, at)
            if more is None:
                break
            at = more.end()
    return made + text[at:]


# -- Diagnostics without credentials --------------------------------------------------------------


class Concealment:
    """A context in which Diagnostics that are raised, and the texts of their spans, hold no
    credential."""

    def __enter__(self) -> None:
        look()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        if isinstance(raised, Diagnostics):
            look()
            raise Diagnostics(conceal(raised.diagnostics)) from None


def conceal(found: tuple[Diagnostic, ...] | list[Diagnostic]) -> list[Diagnostic]:
    """Return the diagnostics without credentials."""
    if not KNOWN.secrets:
        return list(found)
    sources: dict[Source, Source] = {}
    return [
        Diagnostic(
            each.code,
            silent(each.title),
            tuple([_label(label, sources) for label in each.labels]),
            silence(each.notes),
            silence(each.hint),
            each.severity,
        )
        for each in found
    ]


def _label(label: Label, sources: dict[Source, Source]) -> Label:
    return Label(_place(label.span, sources), silent(label.words))


def _place(span: Span, sources: dict[Source, Source]) -> Span:
    source = _source(span.source, sources)
    if not isinstance(span, Made):
        return evolve(span, source=source)
    template = _place(span.template, sources)
    return evolve(span, source=source, template=template, macro=silent(span.macro))


def _source(source: Source, sources: dict[Source, Source]) -> Source:
    """Return the source with `*` for each character of a credential, so that spans stay valid."""
    if source not in sources:
        sources[source] = Source(silent(source.name), mask(source.text))
    return sources[source]
