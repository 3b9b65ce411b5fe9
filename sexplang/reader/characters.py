"""Characters that may occur in a program, words that may be names, and the flaw of one token.

Law: invisible characters take no part in a program. Control characters, and characters that reorder
or hide text, are refused everywhere; a string has them as escapes.
"""

import re
from collections.abc import Iterator
from functools import cache
from sys import maxsize


class Flaw(Exception):
    """An invalid token: the flaw is from `start` to `end` within it (None: its end), in the words
    of a diagnostic."""

    def __init__(
        self,
        code: str,
        title: str,
        words: str,
        hint: str | None = None,
        start: int = 0,
        end: int | None = None,
    ) -> None:
        super().__init__(title)
        self.code, self.title, self.words, self.hint = code, title, words, hint
        self.start, self.end = start, end


# Categories Cc (but tab and line breaks), Cf (but the visible Arabic and Indic number signs), Cs.
# Joiners (200C, 200D) form letters of many scripts and most emoji of families: they may follow any
# character of such a script. One variation selector selects the glyph of the character before it; a
# row of them hides text.
_HIDDEN_CLASS = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e007f"
)
_JOINERS, _VARIATIONS = "\u200c\u200d", "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_HIDDEN_ASCII = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

# Characters without ink that count as letters or marks.
_BLANK = (
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200c\u200d\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)

# Lookalike characters and their replacements.
_INSTEAD = {
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02", '`"`'),
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\uff07", "`'`"),
    **dict.fromkeys("\uff08", "`(`"),
    **dict.fromkeys("\uff09", "`)`"),
    **dict.fromkeys("\uff3b\u3010", "`[`"),
    **dict.fromkeys("\uff3d\u3011", "`]`"),
    **dict.fromkeys("\uff5b", "`{`"),
    **dict.fromkeys("\uff5d", "`}`"),
    **dict.fromkeys("\uff1a", "`:`"),
    **dict.fromkeys("\uff1b", "`;`"),
    **dict.fromkeys("\uff0c\u3001", "`,`"),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "`-`"),
    **dict.fromkeys("\u00a0\u2002\u2003\u2009\u202f\u3000", "a space"),
}

_WRITTEN_TOGETHER = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "KATAKANA-HIRAGANA": "CJK"}


@cache
def pattern_of_hidden() -> re.Pattern[str]:
    """Return a pattern for a character that may occur nowhere in a program."""
    # Compiled on first use: that takes longer than reading a page of ASCII. The pattern begins with
    # a character class, which Python scans for several times as fast as for an alternative.
    joiner = f"(?<=[{_JOINERS}])(?<![\u0600-\U0010ffff].)"
    variation = f"(?<=[{_VARIATIONS}])(?=[{_VARIATIONS}])"
    doubtful = f"[{_HIDDEN_CLASS}{_JOINERS}{_VARIATIONS}]"
    return re.compile(f"{doubtful}(?:(?<=[{_HIDDEN_CLASS}])|{joiner}|{variation})")


def find_hidden(text: str, at: int = 0, end: int = maxsize) -> Iterator[re.Match[str]]:
    """Yield the forbidden characters of a text, or of a part of it."""
    return (_HIDDEN_ASCII if text.isascii() else pattern_of_hidden()).finditer(text, at, end)


def name_character(char: str) -> str:
    """Return a character as messages show it: `U+202E RIGHT-TO-LEFT OVERRIDE`."""
    import unicodedata

    name = unicodedata.name(char, "")
    return f"U+{ord(char):04X}" + (f" {name}" if name else "")


def escape(char: str) -> str:
    """Return a character as an escape in a string."""
    code = ord(char)
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def word_flaw(word: str) -> Flaw | None:
    """Return the reason why a word is no name: a forbidden character, a spelling other than NFC, or
    letters of two scripts."""
    if word.isascii():
        return None
    import unicodedata

    for at, char in enumerate(word):
        if not _is_word_character(char):
            return Flaw(
                "bad-character",
                f"{name_character(char)} cannot stand outside a string",
                "no part of a symbol",
                f"write {_INSTEAD[char]}" if char in _INSTEAD else "delete it",
                at,
                at + 1,
            )
    if unicodedata.combining(word[0]):
        return Flaw(
            "bad-symbol",
            f"a symbol begins with {name_character(word[0])}",
            "it is drawn on the character before it",
            "delete it",
            0,
            1,
        )
    normal = unicodedata.normalize("NFC", word)
    if normal != word:
        return Flaw(
            "bad-symbol",
            f"`{word}` is not in normal form (NFC)",
            "it looks like another symbol, but differs from it",
            f"type it anew: `{normal}`",
        )
    return _mixture(word)


def _mixture(word: str) -> Flaw | None:
    first = ""
    for at, char in enumerate(word):
        script = _script(char)
        if script and first and script != first:
            return Flaw(
                "bad-symbol",
                f"`{word}` mixes {first.capitalize()} and {script.capitalize()} letters",
                name_character(char),
                "write the whole symbol in one script",
                at,
                at + 1,
            )
        first = first or script
    return None


@cache
def _script(char: str) -> str:
    """Return the script of a letter (the first word of its name), or an empty text if all scripts
    share it."""
    import unicodedata

    if not unicodedata.category(char).startswith("L"):
        return ""
    script = unicodedata.name(char, "UNKNOWN").split()[0]
    return _WRITTEN_TOGETHER.get(script, script)


@cache
def _is_word_character(char: str) -> bool:
    import unicodedata

    if char.isascii():
        return True
    if char in _INSTEAD or re.match(_BLANK, char):
        return False
    kind = unicodedata.category(char)
    return kind[0] in "LMNS" or kind in ("Pc", "Pd", "Po")
