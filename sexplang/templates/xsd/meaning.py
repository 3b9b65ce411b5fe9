"""The text of a reply that does not fit as it stands, to the document that it was meant to be.

Law: the fewest repairs decide. Where two readings with the fewest differ in value, or a part of a
document stands outside of the one that is found, there is none.
"""

import re
from itertools import islice

from sexplang.templates.fences import fenced
from sexplang.templates.parse import MAX_NODES
from sexplang.templates.xsd.characters import LOST, forbidden, whole
from sexplang.templates.xsd.compiled import Schema
from sexplang.templates.xsd.documents import Failed, Found, valued
from sexplang.templates.xsd.fitting import Fitting, Misfit
from sexplang.templates.xsd.frames import with_end
from sexplang.templates.xsd.nesting import Budget, Ended, Spent, misfit, nestings
from sexplang.templates.xsd.notation import breaks_off
from sexplang.templates.xsd.rivals import rivals
from sexplang.templates.xsd.steps import MARGIN
from sexplang.templates.xsd.tokens import End, Names, NotXml, Start, Text, Token, left_out, tokens
from sexplang.templates.xsd.wrapping import Garbled, unwrapped
from sexplang.terms.node import frozen
from sexplang.terms.thoughts import ahead, is_open
from sexplang.terms.value import Value

MOST_CHARACTERS = 200_000
MOST_TOKENS = 3 * MAX_NODES
LEAST_WORK, WORK_PER_CHARACTER = 15_000, 0.4
"""Steps of the search for a reply, each of some ten microseconds."""

_COST_OF_READING = 2
"""Steps that a token of a reading costs which is held to the schema, after the first."""

_MOST_ROOTS, _MOST_READINGS = 3, 12

_TOO_MUCH = "too many of its tags do not match"
_AMBIGUOUS = "its tags do not match, and it can be read in several ways"
_AROUND = "left out the words around the XML"


def as_meant(schema: Schema, text: str) -> Found:
    """The value of a text. Raises Failed."""
    if len(text) > MOST_CHARACTERS:
        raise Failed("it does not fit as it stands, and is too long to be repaired")
    notes: list[str] = []
    text = whole(text, notes.append)
    text = _unwrapped(text, schema.root.name, notes)
    character = forbidden(text)
    if character is not None:
        raise Failed(f"it holds the character {character}, which XML does not have")
    names = Names(schema.names, schema.recursive)
    tag, answer = ahead(text)
    if answer and names.known(tag) is None:
        notes.append(_AROUND)
        text = text[answer:]
    budget = Budget(LEAST_WORK + int(WORK_PER_CHARACTER * len(text)))
    try:
        return _within(budget, schema, names, text, notes)
    except Spent:
        raise Failed(_TOO_MUCH) from None


def _unwrapped(text: str, root: str, notes: list[str]) -> str:
    """The text without the string of JSON around its document. Raises Failed."""
    try:
        inside = unwrapped(text, root)
    except Garbled as why:
        raise Failed(str(why)) from None
    if inside is None:
        return text
    notes.append("took the XML out of a string of JSON")
    return whole(inside, notes.append)


def _within(budget: Budget, schema: Schema, names: Names, text: str, notes: list[str]) -> Found:
    """The value of a text. Raises Failed, and Spent."""
    inside = _fenced(text, schema.root.name)
    if inside is not None:
        unfenced = [*notes, "took the XML out of its code fence"]
        try:
            return _read(schema, names, inside, unfenced, budget, is_whole=True)
        except Failed:
            # A fence may stand inside of the document, too.
            pass
    return _read(schema, names, text, notes, budget, is_whole=False)


def _fenced(text: str, root: str) -> str | None:
    """What stands in the only code fence that holds the root."""
    begins = re.compile(rf"<\s?(?:[\w.-]{{1,40}}:)?{re.escape(root)}\b", re.IGNORECASE)
    inside = [text[at:end] for at, end in fenced(text) if begins.search(text, at, end)]
    return inside[0] if len(inside) == 1 else None


def _read(
    schema: Schema,
    names: Names,
    text: str,
    notes: list[str],
    budget: Budget,
    *,
    is_whole: bool,
) -> Found:
    try:
        found = list(islice(tokens(text, names), MOST_TOKENS + 1))
    except NotXml as why:
        raise Failed(str(why)) from None
    if len(found) > MOST_TOKENS:
        raise Failed("it has too many tags")
    return _Attempt(schema, names, found, notes, budget, is_whole).document()


class _Several(Failed):
    """There are two readings, or more: to look further is no use."""


@frozen(eq=False)
class _Attempt:
    """The tokens of one text. `is_whole` where its author says where it ends."""

    schema: Schema
    names: Names
    tokens: list[Token]
    notes: list[str]
    budget: Budget
    is_whole: bool

    def document(self) -> Found:
        """The only document. Raises Failed."""
        root = self.schema.root.name
        begins = [at for at, each in enumerate(self.tokens) if _begins(each, root)]
        if not begins:
            raise Failed(f"there is no <{root}> in it")
        first: Failed | None = None
        found: Found | None = None
        for at in begins[:_MOST_ROOTS]:
            if found is not None and at < found.after:
                continue
            try:
                another = self._cheapest(at)
            except _Several:
                raise
            except Failed as why:
                first = first or why
                continue
            if found is None:
                self._words_alone(self.tokens[:at])
                found = another
            elif _same(found.value, another.value):
                found = Found(found.value, found.repairs, another.after)
            else:
                raise Failed("it holds several documents, and one is asked for")
        if found is None:
            assert first is not None
            raise first
        after = self.tokens[found.after :]
        self._words_alone(after)
        if after and isinstance(after[0], Text) and breaks_off(after[0].text):
            raise Failed(f"something may be left out where <{root}> ends")
        return found

    def _words_alone(self, outside: list[Token]) -> None:
        """Raises Failed where a part of a document stands outside of it, or of thoughts around."""
        root = self.schema.root.name
        unknown = [each.raw for each in outside if not isinstance(each, Text) and not each.name]
        thought = is_open("".join(unknown))
        if thought:
            raise Failed(f"<{root}> may stand in a part for thinking: {thought} has no other half")
        for token in outside:
            if not isinstance(token, Text) and token.name not in (None, root):
                raise Failed(f"<{token.name}> stands outside of <{root}>")

    def _cheapest(self, begin: int) -> Found:
        """The value of the fewest repairs. Raises Failed where there are two, or none.

        A reading is the only one of its cost when all that cost as much at any moment were
        followed; beyond MARGIN, those that cost as much more.
        """
        margin = 0
        while True:
            root = self.schema.root
            nesting = nestings(root, self.tokens, begin, self.budget, margin, whole=self.is_whole)
            if nesting.crowded:
                raise Failed(_TOO_MUCH)
            cost = nesting.ended[0].way.cost if nesting.ended else None
            if cost is not None and (cost <= margin or margin == MARGIN):
                found = self._only(begin, [each for each in nesting.ended if each.way.cost == cost])
                if cost:
                    self._held_to_rivals(begin, found)
                return found
            if cost is None and margin == MARGIN:
                raise Failed(misfit(nesting))
            margin = min(cost or max(1, margin * 2), MARGIN)

    def _only(self, begin: int, cheapest: list[Ended]) -> Found:
        """The value of the cheapest readings, of which one at least is to fit the schema: what
        takes more repairs than one that does not fit is a guess."""
        best: Found | None = None
        first: Failed | None = None
        if len(cheapest) > _MOST_READINGS:
            raise Failed(_TOO_MUCH)
        for number, ended in enumerate(cheapest):
            if number:
                self.budget.spend(_COST_OF_READING * (ended.after - begin))
            try:
                found = self._reading(begin, ended)
            except _Several:
                raise
            except Failed as why:
                first = first or why
                continue
            if best is None:
                best = found
            elif not _same(best.value, found.value):
                raise _Several(_AMBIGUOUS)
        if best is None:
            assert first is not None
            raise first
        return best

    def _held_to_rivals(self, begin: int, found: Found) -> None:
        """Raises Failed where the document may be another one with a single slip."""
        for way in rivals(self.schema.root, self.tokens[begin : found.after]):
            try:
                another = self._reading(begin, Ended(way, found.after))
            except _Several:
                raise
            except Failed:
                continue
            if not _same(found.value, another.value):
                raise _Several(_AMBIGUOUS)

    def _reading(self, begin: int, ended: Ended) -> Found:
        repairs = [*self.notes]
        outside = [*self.tokens[:begin], *self.tokens[ended.after :]]
        if any(not isinstance(token, Text) or token.text.strip() for token in outside):
            repairs.append(_AROUND)
        within = self.tokens[begin : ended.after]
        # A note without a text is on what was left out of the whole.
        told = [*within, *[each for each in outside if isinstance(each, Text) and not each.text]]
        for token in told:
            repairs += token.notes if isinstance(token, Text) else ()
        marks = [mark for each in outside if isinstance(each, Text) for mark in each.marks]
        repairs += [left_out(mark) for mark in marks if not mark.startswith("<?xml ")]
        repairs += ended.way.repairs()
        root = ended.way.done
        assert root is not None
        after = self._after_ends(ended.after)
        after_it = self.tokens[ended.after : after]
        behind = [token.name for token in after_it if isinstance(token, End)]
        if root.name in behind and (root.may_go_on or {*behind} != {root.name}):
            raise _Several(f"</{root.name}> stands in it more than once, and may be text")
        for name in behind:
            root = with_end(root, name or "")
        fitting = Fitting(self.names, repairs.append)
        try:
            document = fitting.document(root)
        except Misfit as why:
            raise Failed(str(why), (str(why),)) from None
        found = valued(self.schema, document, repairs)
        doubts = [*fitting.doubts, *[each for each in repairs if each.endswith(LOST)]]
        doubts += fitting.misplaced(repairs)
        if doubts:
            raise _Several(doubts[0])
        return Found(found.value, found.repairs, after)

    def _after_ends(self, at: int) -> int:
        """Where the end tags end that stand behind a document, crossed with its own."""
        while at < len(self.tokens):
            token = self.tokens[at]
            if token.text.strip() if isinstance(token, Text) else not _ends(token):
                break
            at += 1
        return at


def _ends(token: Token) -> bool:
    return isinstance(token, End) and token.name is not None


def _begins(token: Token, root: str) -> bool:
    return isinstance(token, Start) and token.name == root


def _same(one: Value, other: Value) -> bool:
    # To Python, 1 is True.
    return repr(one) == repr(other)
