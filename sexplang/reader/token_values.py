"""The values of tokens: names, labels, numbers, strings, text blocks.

Law: an invalid token raises `Flaw` with the place in the token and a hint.
"""

import re
from math import isinf

from sexplang.reader.characters import Flaw, word_flaw
from sexplang.terms.values.boundary import INTEGER_BITS

Constant = int | float | str | bool | None

_MOST_DIGITS = 4_216
"""The digits of an integer with its sign; a longer one is above INTEGER_BITS."""

CONSTANTS: dict[str, bool | None] = {
    "true": True,
    "false": False,
    "nil": None,
    "null": None,
    "#t": True,
    "#f": False,
}

_NUMBER_LIKE = re.compile(r"[-+]?\.?[0-9]")


def check_name(text: str) -> None:
    """Check a word. Raises Flaw if it looks like a name and is none."""
    if text.isascii() and text.replace("-", "").isalpha():
        return
    if text in CONSTANTS:
        return
    flaw = word_flaw(text)
    if flaw is not None:
        raise flaw
    if _NUMBER_LIKE.match(text):
        raise _bad_number(text)
    if text.startswith(":"):
        raise _leading_colon(text)
    if text.startswith("#"):
        raise _unknown_mark(text)
    if "#|" in text or "|#" in text:
        at = min(at for at in (text.find("#|"), text.find("|#")) if at >= 0)
        raise Flaw(
            "bad-symbol",
            f"a comment mark inside the symbol `{text}`",
            "a comment begins and ends outside of words",
            "put a space before `#|`" if text[at] == "#" else "`|#` closes no comment: delete it",
            at,
            at + 2,
        )


def check_label(text: str) -> None:
    """Check a label. Raises Flaw if it looks like a label, such as `style:`, and is none."""
    name = text[:-1]
    if not name:
        raise Flaw(
            "bad-label",
            "a colon that belongs to no label",
            "no label ends here",
            "write the colon directly after the label: `name: value`",
        )
    if _NUMBER_LIKE.match(name):
        raise Flaw(
            "bad-label",
            f"`{name}` cannot be a label",
            "a label is a symbol or a string",
            f'as a key in a table, write `"{name}":`',
        )
    if name.endswith(":"):
        raise Flaw(
            "bad-label",
            f"`{text}` ends in two colons",
            "a label ends in one colon",
            f"write `{name.rstrip(':') or 'name'}:`",
        )
    check_name(name)


def string_label(text: str) -> str:
    """Return `style` for `"style" :`."""
    return string(text[:-1].rstrip(" \t\r\n"))


def number(text: str) -> int | float:
    """Return a number in JSON's syntax."""
    if text.isdigit() or text[1:].isdigit():
        made = int(text) if len(text) <= _MOST_DIGITS else None
        if made is None or made.bit_length() > INTEGER_BITS:
            raise Flaw(
                "limit-number",
                f"an integer of {len(text.lstrip('-'))} digits",
                f"an integer may have {INTEGER_BITS:,} bits, about 4,200 digits",
                "write it as a string, or as a float: `1e5000` is too large even for that",
            )
        return made
    value = float(text)
    if isinf(value):
        raise Flaw(
            "limit-number",
            f"`{_short(text)}` is larger than any float",
            "the largest float is about 1.8e308",
            "write a smaller number, or keep it as a string",
        )
    return value


def string(text: str) -> str:
    """Return the value of a string literal: JSON's escapes; raw line breaks are kept."""
    if "\\" not in text:
        return text[1:-1]
    # Imported on first use: few texts have escapes, and json takes long to load.
    from json.decoder import scanstring  # type: ignore[attr-defined]

    try:
        # Its non-strict mode accepts raw line breaks.
        value: str = scanstring(text, 1, False)[0]
    except ValueError:
        raise _bad_escape(text) from None
    if re.search("[\ud800-\udfff]", value):
        raise _lone_surrogate(text)
    return value


def text_block(text: str) -> str:
    """Return the value of a text block, without the line breaks at the quotes and the common
    indentation."""
    lines = text[3:-3].split("\n")
    closing = lines[-1]
    opened = len(lines) > 1 and lines[0] in ("", "\r")
    alone = len(lines) > 1 and not closing.strip(" \t")
    lines = lines[opened : len(lines) - alone]
    depths = [_indentation(line) for line in lines if line.strip(" \t\r")]
    if alone:
        depths.append(len(closing))
    depth = min(depths, default=0)
    if depth:
        lines = [_outdent(line, depth) for line in lines]
    content = "\n".join(lines)
    # The break before the closing line may have two characters.
    return content[:-1] if alone and content.endswith("\r") else content


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _outdent(line: str, depth: int) -> str:
    return line[min(depth, _indentation(line)) :]


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "…"


def _bad_number(text: str) -> Flaw:
    shown = _short(text)
    return Flaw(
        "bad-number",
        f"`{shown}` is not a number",
        "numbers are written as in JSON, and a symbol cannot begin like one",
        _mend_number(text),
    )


def _mend_number(text: str) -> str:
    """Return the number that was probably meant."""
    plain = text.removeprefix("+")
    ratio = re.fullmatch(r"(-?[0-9]+)/([0-9]+)", plain)
    if ratio:
        return f"write `(/ {ratio[1]} {ratio[2]})`"
    power = re.fullmatch(r"[0-9]+([-+])", text)
    if power:
        call = f"({power[1]} n {text[:-1]})"
        return f"write `{call}`, as a function `(lambda (n) {call})`"
    parts = re.fullmatch(r"(-?)0*([0-9]*)(\.?)([0-9]*)((?:[eE][-+]?[0-9]+)?)", plain)
    if parts:
        sign, whole, point, fraction, exponent = parts.groups()
        mended = sign + (whole or "0") + (f".{fraction or '0'}" if point else "") + exponent
        return f"write `{_short(mended)}`"
    digits = plain.replace("_", "")
    if re.fullmatch(r"-?[1-9][0-9]*", digits):
        return f"write `{_short(digits)}`"
    return 'write it in JSON\'s syntax (`10`, `-2`, `0.5`, `1e3`), or as a string: `"…"`'


def _leading_colon(text: str) -> Flaw:
    name = text.strip(":")
    return Flaw(
        "leading-colon",
        f"`{_short(text)}` has its colon in front",
        "a label ends in its colon",
        f"write `{_short(name) or 'name'}:`",
    )


_MARKS = {
    "#true": "write `true`",
    "#false": "write `false`",
    "#!eof": "there is no end-of-file value; write `nil`",
    "#nil": "write `nil`",
}


def _unknown_mark(text: str) -> Flaw:
    hint = _MARKS.get(text)
    if text.startswith("#\\"):
        hint = f'a character is a string of one: write `"{text[2:3] or "a"}"`'
    elif re.fullmatch(r"#[xXbBoOdDeEiI].+", text):
        hint = "write the number in decimal"
    return Flaw(
        "bad-symbol",
        f"`{_short(text)}` means nothing here",
        "a symbol cannot begin with `#`",
        hint
        or "`#t`, `#f`, `#;form` and `#| comment |#` are all that begins with `#`; a comment "
        "begins with `;`",
    )


def _bad_escape(text: str) -> Flaw:
    """Return the first invalid escape in a string."""
    pattern = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
    at = text.find("\\")
    while at >= 0:
        escape = pattern.match(text, at)
        if escape is None:
            break
        at = text.find("\\", escape.end())
    shown = text[at : at + 2]
    hint = {
        "\\u": "write four hexadecimal digits: `\\u00e9`",
        "\\x": "write `\\u00` and two hexadecimal digits",
        "\\'": "write `'` as it is",
        "\\0": "write `\\u0000`",
        "\\a": "write `\\u0007`",
        "\\e": "write `\\u001b`",
    }.get(
        shown, 'for a backslash write `\\\\`; there are `\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX`'
    )
    if shown == "\\\n" or shown == "\\\r":
        shown = "\\"
        hint = "a line break in a string needs no backslash; it is kept"
    return Flaw(
        "bad-escape", f"`{shown}` is not an escape", "no such escape", hint, at, at + len(shown)
    )


def _lone_surrogate(text: str) -> Flaw:
    pattern = re.compile(
        r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F]..|[\ud800-\udfff])|\\.",
        re.DOTALL,
    )
    found = next(match for match in pattern.finditer(text) if match[1])
    return Flaw(
        "bad-escape",
        f"`{found[1]}` is half a character",
        "the other half of this pair is missing",
        "write the character itself, or both halves: `\\ud83d\\ude00` is 😀",
        *found.span(1),
    )
