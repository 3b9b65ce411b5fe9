"""The index of the search: the words of each page, weighed, as a script that the pages load.

A page has a weight for each of its words, by BM25: a word in the title counts more than one in a
heading, and that more than one in the text. The script of the pages adds them up.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import log

from lxml import html

from builder.pages import Page
from builder.search_words import ENDINGS, IDLE, NAME, WORD, divide, root
from builder.written_pages import settings

KINDS: Mapping[str, tuple[str, float]] = {
    "start": ("Start", 1.25),
    "tutorial": ("Tutorial", 1.1),
    "how-to": ("How-to", 1.4),
    "explanation": ("Explanation", 1.1),
    "chapter": ("Chapter", 1.0),
    "glossary": ("Reference", 0.5),
    "reference": ("Reference", 0.9),
    "command": ("Command", 0.85),
    "name": ("Name", 0.6),
    "python": ("Python", 0.6),
    "error": ("Error code", 0.6),
    "example": ("Example", 0.8),
    "index": ("Reference", 0.3),
    "decision": ("Decision", 0.35),
    "project": ("Project", 0.3),
    "inner name": ("Name", 0.2),
}
"""What a result of each kind of page is called, and how much it counts. A kind that is not here is
not found."""

_TITLE, _KEYWORD, _HEADING, _TEXT = 9, 6, 3, 1
_SATURATION, _LENGTH = 1.4, 0.5
_SHOWN = 320
"""The characters of a section that are kept, to show around a found word."""


@dataclass
class Section:
    """A part of a page below a heading: all of its text, and that of its sentences alone."""

    anchor: str
    heading: str
    text: list[str] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())

    @property
    def shown(self) -> str:
        return " ".join(" ".join(self.prose).split()) or self.words


def read_sections(document: html.HtmlElement) -> list[Section]:
    """Return the sections of a page, the first with what stands above the first heading."""
    found = [Section("", "")]
    for article in document.cssselect("article"):
        for each in article.iterchildren():
            _read(each, found)
    return [each for each in found if each.words or each.heading]


def _read(element: html.HtmlElement, found: list[Section]) -> None:
    if not isinstance(element.tag, str) or "trail" in (element.get("class") or ""):
        return
    if element.tag in ("h2", "h3") and element.get("id"):
        words = "".join(element.itertext()).replace("¶", "").strip()
        found.append(Section(element.get("id", ""), words))
    elif element.tag != "h1":
        text = "".join(_texts(element))
        found[-1].text.append(text)
        if element.tag != "pre" and "highlight" not in (element.get("class") or ""):
            found[-1].prose.append(text)


_BLOCKS = frozenset(("p", "li", "td", "th", "div", "pre", "h4", "br", "blockquote"))


def _texts(element: html.HtmlElement) -> Iterator[str]:
    """Yield the text of an element, with a space after each block."""
    yield element.text or ""
    for each in element.iterchildren():
        if isinstance(each.tag, str):
            yield from _texts(each)
        yield each.tail or ""
    if element.tag in _BLOCKS:
        yield " "


def make_index(pages: Iterable[tuple[Page, list[Section]]]) -> str:
    """Return the script: a list of pages, and for each word the pages with their weights."""
    known = [(page, sections) for page, sections in pages if page.kind in KINDS]
    counts: list[Counter[str]] = [_count(page, sections) for page, sections in known]
    lengths = [sum(each.values()) for each in counts]
    mean = sum(lengths) / max(1, len(lengths))
    documents = Counter(word for each in counts for word in each)
    rows: dict[str, list[float | int]] = {}
    for at, (words, length) in enumerate(zip(counts, lengths, strict=True)):
        room = _SATURATION * (1 - _LENGTH + _LENGTH * length / mean)
        for word, count in words.items():
            rarity = log(1 + (len(known) - documents[word] + 0.5) / (documents[word] + 0.5))
            weight = rarity * count * (_SATURATION + 1) / (count + room)
            rows.setdefault(word, []).extend((at, round(weight * 10)))
    index = {
        "word": WORD,
        "name": NAME,
        "endings": ENDINGS,
        "idle": sorted(IDLE),
        "synonyms": _synonyms(),
        "kinds": {name: list(row) for name, row in KINDS.items()},
        "pages": [_describe(page, sections) for page, sections in known],
        "words": {word: rows[word] for word in sorted(rows)},
    }
    text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    return f"window.siteIndex={text};\n"


def _count(page: Page, sections: list[Section]) -> Counter[str]:
    found: Counter[str] = Counter()
    for text, weight in (
        (page.title, _TITLE),
        (_keywords(page), _KEYWORD),
        *((each.heading, _HEADING) for each in sections),
        *((each.words, _TEXT) for each in sections),
    ):
        for word in divide(text):
            found[word] += weight
    return found


def _keywords(page: Page) -> str:
    given = settings().get("keywords", {}).get(page.source or page.path, "")
    return f"{page.keywords} {given}"


def _synonyms() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for word, others in settings().get("synonyms", {}).items():
        found[root(word)] = [root(each) for each in re.split(r"\s+", others.strip())]
    return found


def _describe(page: Page, sections: list[Section]) -> list[object]:
    """Return a page as the script reads it: title, address, kind, and its sections."""
    rows = [[each.anchor, each.heading, _cut(each.shown)] for each in sections]
    return [page.title, page.address, page.kind, rows]


def _cut(text: str) -> str:
    """Return the first words of a text."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN].rpartition(' ')[0]} …"
