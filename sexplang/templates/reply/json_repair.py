"""The repair of text that is nearly JSON: the data that it certainly means, and a note for each
slip.

Law: nothing is invented and nothing is lost. A string, word or number that breaks off, a quote that
ends in the middle, and a bracket that could close at several places are each refused with a
sentence. The work is bounded in steps. Beyond them it is given up by name.
"""

import re
from collections.abc import Callable
from typing import Any, NoReturn

from sexplang.terms.json.json_reader import NotJson
from sexplang.terms.json.strict import MAX_DEPTH, each_key_once, same, strict, twice

MOST_STEPS = 10_000
"""The steps of one repair. A value, a key, a comment, or `_OF_A_STEP` characters are a step, of
five microseconds."""
_OF_A_STEP = 100

_WHITE = re.compile(r"[ \t\r\n]*+")
_COMMENT = re.compile(r"//[^\n]*+|/\*.*?\*/", re.DOTALL)
_LEFT_OUT = re.compile(
    r"\.\.\.|…|\b(?:etc|so on|more|rest|remaining|omitted|truncated|others|left out)\b",
    re.IGNORECASE,
)
_MAY_STAND = "a comment may stand for what is left out"
_NAME = re.compile(r"[^\W\d]\w*+(?=[ \t\r\n]*+:)")
_WORD = re.compile(r"[^ \t\r\n,:\[\]{}\"]++")
_NUMBER = re.compile(r"([+-]?)(?:(0|[1-9]\d*+)(?:\.(\d*+))?|\.(\d++))([eE][+-]?\d++)?", re.ASCII)
_SHORT = 15
_CONSTANTS = {"true": True, "false": False, "null": None, "none": None}
# The quote that ends a string, by the quote that begins it.
_QUOTES = {'"': '"', "'": "'", "“": "”"}
_INSIDE = {end: re.compile(rf"(?:[^{end}\\]|\\.)*+", re.DOTALL) for end in _QUOTES.values()}
# Characters of a string that stand for others, or may not stand there.
_ESCAPED = re.compile(r"[\\\0-\x1f]")
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_BREAKS = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_CROSSES = re.compile(r'\\.|["“][ \t\r\n]*+[]},:]', re.DOTALL)


class GaveUp(Exception):
    """The failure of a repair that takes too many steps."""


def repair(text: str, at: int, note: Callable[[str], None], words: bool = False) -> tuple[Any, int]:
    """Return the data that begin at `at`, and their end. `note` receives each slip. With `words`,
    words that are not JSON are texts. Raises NotJson, and GaveUp for a text that takes too many
    steps."""
    mender = Mender(text, at, note, words)
    return mender.value(), mender.at


class Mender:
    def __init__(self, text: str, at: int, note: Callable[[str], None], words: bool) -> None:
        self.text, self.at, self.note, self.words = text, at, note, words
        self.depth = self.steps = self.comments = 0
        self.decoder = each_key_once(note)

    def value(self) -> Any:
        self._spend(1)
        match self._next():
            case "{" | "[" as char:
                self.depth += 1
                if self.depth > MAX_DEPTH:
                    self._refuse(f"it is nested more than {MAX_DEPTH} levels deep")
                made = self._object() if char == "{" else self._array()
                self.depth -= 1
                return made
            case char if char in _QUOTES:
                return self._string(char)
            case "":
                self._refuse("it ends where a value is due")
        return self._word()

    def _spend(self, steps: int) -> None:
        self.steps += steps
        if self.steps > MOST_STEPS:
            raise GaveUp(f"the mending of JSON was given up after {MOST_STEPS:,} steps")

    def _next(self) -> str:
        """Return the next character after white space and comments. Empty at the end."""
        while True:
            white = _WHITE.match(self.text, self.at)
            assert white is not None
            self.at = white.end()
            comment = _COMMENT.match(self.text, self.at)
            if comment is None:
                return self.text[self.at : self.at + 1]
            self._spend(1)
            if _LEFT_OUT.search(comment[0]):
                self._refuse(_MAY_STAND)
            self.comments += 1
            self.note("left out a comment")
            self.at = comment.end()

    def _refuse(self, why: str) -> NoReturn:
        line = self.text.count("\n", 0, self.at) + 1
        column = self.at - self.text.rfind("\n", 0, self.at)
        raise NotJson(f"{why}, at line {line}, column {column}")

    # -- lists and tables

    def _object(self) -> dict[str, Any]:
        made: dict[str, Any] = {}
        self.at += 1
        while self._goes_on("}", bool(made)):
            key = self._key()
            if self._next() != ":":
                self._refuse("a : is due")
            self.at += 1
            item = self.value()
            if key in made and not same(made[key], item):
                self._refuse(twice(key))
            if key in made:
                self.note(f"took the key {key[:40]} once that occurs twice")
            made[key] = item
        return made

    def _array(self) -> list[Any]:
        made: list[Any] = []
        self.at += 1
        while self._goes_on("]", bool(made), made[-1:]):
            made.append(self.value())
        return made

    def _goes_on(self, closer: str, has_items: bool, last: list[Any] | None = None) -> bool:
        """Return whether another item follows. Consumes the comma before it, or the closing
        bracket."""
        ended, comments = self.at, self.comments
        char = self._next()
        comma = char == "," and has_items
        if comma:
            self.at += 1
            comments = self.comments
            char = self._next()
        if char == closer:
            if self.comments > comments and (comma or not has_items):
                self._refuse(_MAY_STAND)
            if comma:
                self.note(f"left out a comma before {closer}")
            self.at += 1
            return False
        if char == "":
            if comma:
                self._refuse("it ends where another item is due")
            if not has_items:
                self._refuse("it ends where its first item is due")
            self._refuse(f"it ends where {closer} is due")
        if has_items and not comma:
            between = self.text[ended : self.at]
            both = bool(last) and isinstance((last or [None])[0], (dict, list)) and char in "{["
            certain = char in _QUOTES if closer == "}" else both or "\n" in between
            if not certain:
                self._refuse(f"a comma or {closer} is due")
            self.note("supplied a comma")
        return True

    def _key(self) -> str:
        self._spend(1)
        char = self._next()
        if char in _QUOTES:
            return self._string(char)
        name = _NAME.match(self.text, self.at)
        if name is None:
            self._refuse("a key is due")
        self.at = name.end()
        self.note(f"wrote quotes around the key {name[0][:40]}")
        return name[0]

    # -- scalars

    def _string(self, quote: str) -> str:
        end = _QUOTES[quote]
        inside = _INSIDE[end].match(self.text, self.at + 1)
        assert inside is not None
        if not self.text.startswith(end, inside.end()):
            self._refuse("a string is not closed")
        if quote != '"':
            self.note("wrote straight double quotes around a string")
        said = inside[0]
        self._spend(len(said) // _OF_A_STEP)
        if quote == "“" and any(found[0][0] != "\\" for found in _CROSSES.finditer(said)):
            self._refuse("a quote that may end a string or stand in it")
        if end == '"' or "\\'" in said:
            said = self._plain_quotes(said)
        if end != '"':
            said = re.sub(r'\\.|"', lambda m: '\\"' if m[0] == '"' else m[0], said, flags=re.DOTALL)
        if any(char in said for char in _BREAKS):
            if any(found[0][1] in _BREAKS for found in _ESCAPE.finditer(said)):
                self._refuse("a backslash before a line break or tab in a string")
            self.note("escaped the line breaks and tabs of a string")
            said = re.sub("[\n\r\t]", lambda found: _BREAKS[found[0]], said)
        try:
            whole: str = strict(f'"{said}"') if _ESCAPED.search(said) else said
        except NotJson as error:
            # The error's place counts within the string.
            self._refuse(f"{str(error).partition(' at line ')[0]} in a string")
        self.at = inside.end() + 1
        return whole

    def _plain_quotes(self, said: str) -> str:
        """Drop the backslash before a single quote, which JSON does not know."""
        plain = re.sub(r"\\(.)", lambda m: "'" if m[1] == "'" else m[0], said, flags=re.DOTALL)
        if plain != said:
            self.note("left out the backslash before a single quote")
        return plain

    def _word(self) -> Any:
        word = _WORD.match(self.text, self.at)
        if word is None:
            self._refuse("a value is due")
        written = word[0]
        folded = written.casefold()
        if folded in _CONSTANTS:
            self.at = word.end()
            value = _CONSTANTS[folded]
            exact = "null" if value is None else str(value).lower()
            if written == exact:
                return value
            self.note(f"took {written} for {exact}")
            return written if self.words else value
        number = _NUMBER.fullmatch(written)
        if number is None:
            self._refuse(f"`{written[:40]}` is not a value")
        exact = _as_json(number)
        short = len(exact) <= _SHORT and exact.isdigit()
        found = int(exact) if short else strict(exact, self.decoder)
        self.at = word.end()
        if exact == written:
            return found
        self.note(f"took {written[:40]} for {exact[:40]}")
        return written if self.words else found


def _as_json(number: re.Match[str]) -> str:
    """Return `+1`, `.5`, `1.` in the notation of JSON."""
    sign, whole, decimals, only, exponent = number.groups(default="")
    fraction = decimals or only
    return "".join(
        ("-" if sign == "-" else "", whole or "0", f".{fraction}" if fraction else "", exponent)
    )
