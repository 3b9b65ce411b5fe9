"""The text of a reply to tags of its schema and what stands between them.

Only what the schema names, or what looks like a tag through and through, is one; any other `<` is
text. What had to be read differently from what is written is noted in the token.
"""

import re
from collections.abc import Iterator

from sexplang.templates.xsd.characters import unescaped
from sexplang.templates.xsd.likeness import folded, slips
from sexplang.templates.xsd.tags import tag_at
from sexplang.terms.node import define, field, node


class NotXml(Exception):
    """Says why a text is not XML."""


@node(eq=False)
class Text:
    """`suspect` where the text holds what may be left of a tag of the schema; `bare` where it
    holds a `<`, or a `>` behind a word, that is written as it is. `marks` are its comments,
    instructions and document types; `parted` where one of them stands between words of it."""

    text: str
    notes: tuple[str, ...] = ()
    suspect: bool = False
    bare: bool = False
    marks: tuple[str, ...] = ()
    parted: bool = False


@node(eq=False)
class Start:
    """`name` is a name of the schema, or None; `raw` the tag as it is written. `suspect` where a
    tag that is none of the schema's may be meant for one. `lead` is the white space before it."""

    name: str | None
    raw: str
    attributes: tuple[tuple[str, str | None], ...] = ()
    closed: bool = False
    slash: bool = False
    doubtful: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    suspect: bool = False
    lead: str = ""
    recurs: bool = False
    """Whether elements of that name stand in each other."""


@node(eq=False)
class End:
    """`written` is the name as it is written. `cut` where the text ends inside the tag. `lead` and
    `recurs` are as in a start tag."""

    name: str | None
    raw: str
    written: str
    cut: bool = False
    notes: tuple[str, ...] = ()
    suspect: bool = False
    lead: str = ""
    recurs: bool = False


Token = Text | Start | End


def left_out(mark: str) -> str:
    """The note on a comment, an instruction or a document type that is left out."""
    kind = {"<!--": "a comment", "<!DO": "the document type"}
    return f"left out {kind.get(mark[:4].upper(), 'a processing instruction')}"


BARE = "took a bare < as text"

_NAME = r"[^\W\d][\w.:-]*+"
_START = re.compile(rf"<({_NAME})")
_END = re.compile(rf"<\s*+/\s*+({_NAME})?+\s*+(>?)")
_WORD = re.compile(r"<\s*/?\s*([\w.:-]{1,80})")
_BEHIND_WORD = re.compile(r"[\w\"']>")
_REST = re.compile(r"(?<![\w.:-])([\w.:-]{1,80}+)\s?>")
_LONGEST = 80
_OTHER = re.compile(r"[^<>]*+>")
_DECLARATION = re.compile(r"<!DOCTYPE[^<>\[]*+>", re.IGNORECASE)
_SPECIAL = {"<!--": "-->", "<![CDATA[": "]]>", "<?": "?>"}


@define(eq=False)
class Names:
    """The names of a schema, found however they are written."""

    exact: frozenset[str]
    recursive: frozenset[str] = frozenset()
    """Those of elements that may stand in themselves, however deep."""
    loose: dict[str, str | None] = field(factory=dict)
    _seen: dict[str, str | None] = field(factory=dict)
    _slips: set[str] = field(factory=set)
    _beginnings: set[str] = field(factory=set)

    def __attrs_post_init__(self) -> None:
        for name in self.exact:
            plain = folded(name)
            self.loose[plain] = None if plain in self.loose else name
            self._slips |= slips(plain)
            if len(plain) > 3:
                self._beginnings.add(plain[: max(len(plain) - 2, 3)])

    def known(self, written: str) -> str | None:
        """The name of the schema that is written so; None where there is none, or several."""
        if written not in self._seen:
            name = written.rpartition(":")[2]
            self._seen[written] = name if name in self.exact else self.loose.get(folded(name))
        return self._seen[written]

    def near(self, written: str) -> bool:
        """Whether a word may be a slip for one of the names, or begins as one of them."""
        plain = folded(written)[:_LONGEST]
        if not self._slips.isdisjoint(slips(plain)):
            return True
        return any(plain[:many] in self._beginnings for many in range(3, len(plain) + 1))


def tokens(text: str, names: Names) -> Iterator[Token]:
    """The tokens of a text. Raises NotXml for a document type with declarations."""
    return _Scanner(text, names).tokens()


class _Scanner:
    def __init__(self, text: str, names: Names) -> None:
        self.text, self.names = text, names
        self.at = 0
        self.last = {close: text.rfind(close) for close in _SPECIAL.values()}
        self.next_tag = -1
        self.spoken: list[str] = []
        self.marks: list[tuple[int, str]] = []
        """With how much of the text stands before each."""
        self.notes: list[str] = []
        spelled = "|".join(re.escape(name) for name in sorted(names.exact, reverse=True))
        self.tag = re.compile(rf"</?(?:[\w.-]+:)?(?:{spelled})[\s/>]", re.IGNORECASE)
        self.suspect = self.bare = False

    def tokens(self) -> Iterator[Token]:
        text = self.text
        while self.at < len(text):
            start = text.find("<", self.at)
            start = len(text) if start < 0 else start
            said = text[self.at : start]
            self.spoken.append(unescaped(said, self.notes.append))
            self.suspect = self.suspect or self._has_rest(said)
            self.bare = self.bare or _BEHIND_WORD.search(said) is not None
            self.at = start
            if start == len(text) or self._special():
                continue
            token = self._tag()
            if token is None:
                word = _WORD.match(text, start)
                near = word is not None and self.names.near(word[1])
                # A comment or a CDATA section that does not end may have been meant to, anywhere.
                lost = text.startswith(("<<", "<!", "<?"), start)
                self.suspect = self.suspect or near or lost
                self.notes.append(BARE)
                self.spoken.append("<")
                self.at += 1
            else:
                yield from self._text()
                yield token
        yield from self._text()

    def _text(self) -> Iterator[Text]:
        said = "".join(self.spoken)
        if said or self.notes or self.marks:
            notes = tuple(dict.fromkeys(self.notes))
            bare = BARE in notes or self.bare
            marks = tuple([mark for _, mark in self.marks])
            filled = [at for at, part in enumerate(self.spoken) if part.strip()]
            parted = any(filled[0] < at <= filled[-1] for at, _ in self.marks if filled)
            yield Text(said, notes, self.suspect, bare, marks, parted)
        self.spoken, self.marks, self.notes = [], [], []
        self.suspect = self.bare = False

    def _has_rest(self, said: str) -> bool:
        """Whether the text holds what is left of a tag that has lost its beginning."""
        return any(self.names.known(word) for word in _REST.findall(said))

    def _special(self) -> bool:
        """Steps over a comment, an instruction or a document type; takes CDATA as it stands."""
        text, at = self.text, self.at
        for opening, closing in _SPECIAL.items():
            if text.startswith(opening, at) and self.last[closing] >= at + len(opening):
                end = text.find(closing, at + len(opening))
                self.at = end + len(closing)
                if opening == "<![CDATA[":
                    self.spoken.append(text[at + len(opening) : end])
                else:
                    self.marks.append((len(self.spoken), text[at : self.at]))
                return True
        declaration = _DECLARATION.match(text, at)
        if declaration:
            self.marks.append((len(self.spoken), declaration[0]))
            self.at = declaration.end()
        elif text[at : at + 9].upper() == "<!DOCTYPE":
            raise NotXml("it declares a document type, which is not taken")
        return declaration is not None

    def _tag(self) -> Start | End | None:
        text, at = self.text, self.at
        end = _END.match(text, at)
        if end:
            return self._end(end)
        start = _START.match(text, at)
        if start is None:
            return None
        name = self.names.known(start[1])
        notes: list[str] = []
        if name is not None:
            limit = self._limit(start.end())
            tag = tag_at(text, start.end(), limit, self.names.known, notes.append)
            if tag is not None:
                self.at = tag.end
                notes += _renamed(start[1], name)
                return Start(
                    name,
                    text[at : tag.end],
                    tag.attributes,
                    tag.closed,
                    tag.slash,
                    tag.doubtful,
                    tuple(dict.fromkeys(notes)),
                    lead=_before(text, at),
                    recurs=name in self.names.recursive,
                )
        other = _OTHER.match(text, start.end())
        if other is None or name is not None:
            return None
        self.at = other.end()
        raw = text[at : other.end()]
        word = re.sub(r"\W", "", raw.split()[0])
        return Start(None, raw, closed=raw.endswith("/>"), suspect=self.names.near(word))

    def _end(self, end: re.Match[str]) -> End | None:
        written = end[1] or ""
        cut = not end[2] and end.end() == len(self.text)
        name = self.names.known(written)
        # Without its > it is a tag where another begins, or where the text ends.
        if not end[2] and not cut and (name is None or self.text[end.end()] != "<"):
            return None
        if not written and not cut:
            return None
        self.at = end.end()
        notes = () if end[2] else (f"completed the tag </{written}",)
        suspect = name is None and self.names.near(written)
        notes = (*notes, *_renamed(written, name))
        lead = _before(self.text, end.start())
        recurs = name in self.names.recursive
        return End(name, end[0], written, cut, notes, suspect, lead, recurs)

    def _limit(self, at: int) -> int:
        """Where the next tag of the schema begins."""
        if self.next_tag < at:
            found = self.tag.search(self.text, at)
            self.next_tag = len(self.text) if found is None else found.start()
        return self.next_tag


def _before(text: str, at: int) -> str:
    """The white space before a place, as far as anybody indents."""
    said = text[max(at - _LONGEST, 0) : at]
    return said[len(said.rstrip()) :]


def _renamed(written: str, name: str | None) -> list[str]:
    if name is None or written == name:
        return []
    if written.rpartition(":")[2] == name:
        return ["left out the prefixes of names"]
    return [f"took {written} for {name}"]
