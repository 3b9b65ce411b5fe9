"""What a text between tags may say: tags in another notation, such as `[/code]` or `note: …`, or
that something is left out.

Where the tag that is asked for is not there, the first may be it, or text.
"""

import re
from collections.abc import Iterable

_OPENERS, _CLOSERS = r"[\[({<«‹⟨〈《【＜]", r"[\])}>»›⟩〉》】＞]"
_TAG = re.compile(rf"{_OPENERS}\s?[/\\]?\s?([\w.:-]{{1,80}})\s?{_CLOSERS}")
_LABEL = re.compile(r"\s*([\w.-]{1,80}) ?[:=] ?\S")
_LONGEST = 100
_ELISION = re.compile(
    r"\.\.|…|⋯|\b(?:etc|more|remain(?:ing|der)|rest|total|todo|tbd|placeholder|ditto|likewise)\b"
    r"|\b(?:similar(?:ly)?|missing|same (?:as|for)|so (?:on|forth)|left out|not shown|et al)\b"
    # A colon behind it announces them.
    r"|\bothers?\b(?!:)|\b(?:additional|further)\b"
    r"|\b\d+ (?:items?|lines?|rows?|entr(?:y|ies)|elements?|records?)\b"
    r"|\b(?:truncat|omi[ts]|abridg|abbreviat|shorten|snip|elid|continu|redact|skip|repeat)"
    r"|\b(?:usw|u\. ?s\. ?w|und so|weiter|restlich|übrig|ausgelassen|weggelassen|gekürzt)"
    r"|\b(?:suite|autres?|reste|otr[ao]s?|resto|demás|así|ecc|altr[ei]|outr[ao]s?|demais)\b"
    r"|\b(?:и т|остальн|друг|ещё|еще|пропущ)|생략|나머지|기타"
    r"|略|以下|以此|同上|同様|其余|其他|其它|その他|等等|残り|剩余|余下|更多",
    re.IGNORECASE,
)
_LEFT_OUT = re.compile(
    r"\b(?:left out|not shown|omi[ts]|truncat|abridg|abbreviat|shortened|ausgelassen|weggelassen"
    r"|gekürzt|пропущ)|省略|생략",
    re.IGNORECASE,
)
_REMARK = re.compile(r"\W*[\[({].*[\])}]\W*", re.DOTALL)
_ESCAPES = re.compile(r"\s*(?:\\[nrt]\s*)+")


def ends(text: str, name: str) -> str:
    """What a text ends with in place of an end tag, under whatever name; empty if nothing is."""
    words = rf"(?:[/\\]\s*[\w.:-]+|{re.escape(name)})"
    found = re.search(rf"{_OPENERS}\s*{words}\s*{_CLOSERS}?\s*\Z", text[-_LONGEST:])
    return found[0].strip() if found else ""


def elides(text: str) -> bool:
    """Whether a text says that something is left out, or may say so: a remark in brackets does."""
    return bool(_ELISION.search(text) or _REMARK.fullmatch(text))


def breaks_off(text: str) -> bool:
    """Whether what stands behind a document begins as if its end were left out, or says that
    something is."""
    line = text.strip().split("\n", 1)[0]
    if _LEFT_OUT.search(text):
        return True
    return line.startswith(("..", "…")) or bool(_REMARK.fullmatch(line) and _ELISION.search(line))


def is_escaped(text: str) -> bool:
    """Whether a text is a line break as a string of JSON writes it."""
    return _ESCAPES.fullmatch(text) is not None


def within(text: str, names: Iterable[str]) -> str:
    """What stands in a text where an element of one of the names may be meant."""
    plain = {name.casefold() for name in names}
    label = _LABEL.match(text)
    if label and label[1].casefold() in plain:
        return label[0].strip()
    return next((tag[0] for tag in _TAG.finditer(text) if tag[1].casefold() in plain), "")
