"""The other documents that a reply may be of: those of which one tag was lost, doubled, written for
another, or exchanged with one.

Law: whatever document had one such slip, it is found, so that the reading of a reply with one slip
is its value, or none. What fits as it stands is no slip.
"""

from collections.abc import Iterator
from itertools import islice

from sexplang.templates.xsd.frames import opened
from sexplang.templates.xsd.lost import lost_start
from sexplang.templates.xsd.nesting import WIDTH, Budget, Spent, begun
from sexplang.templates.xsd.shapes import Element
from sexplang.templates.xsd.steps import steps
from sexplang.templates.xsd.tokens import End, Start, Text, Token
from sexplang.templates.xsd.ways import Way
from sexplang.terms.node import evolve, field, frozen

_MOST_EXCHANGES = 2_000
"""How many pairs of tags are tried, those nearest to where the reply does not fit."""

_LEAST_WORK, _WORK_PER_TOKEN = 10_000, 10
"""Steps."""

_Waiting = tuple[Token, Token] | None
"""Two tags that were exchanged, of which the first was seen: what stands for the second, and it."""


def rivals(root: Element, tokens: list[Token]) -> list[Way]:
    """The ways to read the tokens, from the root's start tag on, with one slip. Raises Spent."""
    tags = [at for at, each in enumerate(tokens) if not isinstance(each, Text)]
    budget = Budget(_LEAST_WORK + _WORK_PER_TOKEN * len(tokens))
    return _Search(root, tokens[: tags[-1] + 1], budget).found()


@frozen(eq=False)
class _Search:
    root: Element
    tokens: list[Token]
    budget: Budget
    live: dict[tuple[int, int, int], tuple[Way, _Waiting]] = field(factory=dict)

    def found(self) -> list[Way]:
        """A slip is before the first token that does not fit, or is it; and no token that does not
        fit when one reads from behind is behind it."""
        fits = self._forward()
        first, last = len(fits) - 1, self._behind()
        others = self._others(last)
        for at, token in enumerate(self.tokens):
            before = list(self.live.values())
            self.live.clear()
            for way, waiting in before:
                self._on(at, way, token, waiting)
                if waiting and _is_named_as(token, waiting[1]):
                    self._on(at, way, waiting[0], None)
            if 0 < at <= first:
                for way in fits[at]:
                    if at >= last:
                        self._slips(at, way, last)
                    if (first - at) * len(others) <= _MOST_EXCHANGES:
                        self._exchanges(at, way, others)
            if len(self.live) > WIDTH:
                raise Spent
        return [way for way, waiting in self.live.values() if way.done and waiting is None]

    def _on(self, at: int, way: Way, token: Token, waiting: _Waiting = None) -> None:
        for new in _fitting(way, token):
            self._keep(at, new, waiting)

    def _keep(self, at: int, way: Way, waiting: _Waiting = None) -> None:
        """Goes on behind the token `at`; the root is closed by the last tag, and by none else."""
        self.budget.spend(1)
        if (way.done is not None) == (at == len(self.tokens) - 1):
            built = way.frame.digest if way.done is None else way.done.digest
            exchanged = (0, 0) if waiting is None else (id(waiting[0]), id(waiting[1]))
            self.live.setdefault((built, *exchanged), (way, waiting))

    def _forward(self) -> list[list[Way]]:
        """What fits before each token, up to the first that does not fit."""
        start = self.tokens[0]
        assert isinstance(start, Start)
        ways = [way for way in begun(self.root, start) if not way.done]
        fits: list[list[Way]] = [[]]
        for token in self.tokens[1:]:
            if not ways:
                break
            fits.append(ways)
            ways = [new for way in ways for new in _fitting(way, token) if not new.done]
        return fits

    def _behind(self) -> int:
        """The last token that does not fit what stands behind it."""
        inside = _inside(self.root)
        names: list[str] = []
        for at in reversed(range(len(self.tokens))):
            token = self.tokens[at]
            children, holds_text = inside[names[-1]] if names else ({self.root.name}, False)
            if isinstance(token, Text):
                fits = holds_text or not token.text.strip()
            elif isinstance(token, Start) and not token.closed:
                fits = bool(names) and names.pop() == token.name
            else:
                fits = token.name in children
                if isinstance(token, End) and token.name is not None:
                    names.append(token.name)
            if not fits:
                return at
        return 0

    def _slips(self, at: int, way: Way, last: int) -> None:
        """The token may be another one, or one is lost before it."""
        token = self.tokens[at]
        starts = list(_starts(way, token))
        if at > last:
            lost = way.supplied()
            for new in [] if lost is None else [lost]:
                self._on(at, Way(new.frame, way.cost), token)
            for new in starts:
                if not (isinstance(token, End) and new.frame.is_to_say_more):
                    self._on(at, new, _without_lead(token))
        if isinstance(token, Text):
            return
        for new in starts:
            self._keep(at, new)
        self._on(at, way, End(way.frame.name, "", way.frame.name))
        if _is_named_as(_tag_before(self.tokens, at), token):
            self._keep(at, way)

    def _others(self, last: int) -> dict[tuple[type, str | None], Token]:
        """One tag of each name that may stand for one before it: there nothing fits from behind."""
        tags = [each for each in self.tokens[last:] if not isinstance(each, Text)]
        return {(type(each), each.name): each for each in tags}

    def _exchanges(self, at: int, way: Way, others: dict[tuple[type, str | None], Token]) -> None:
        """The token may be one of those behind it, which is then it."""
        token = self.tokens[at]
        if not isinstance(token, Text):
            for other in others.values():
                if not _is_named_as(token, other):
                    self._on(at, way, other, (token, other))


def _fitting(way: Way, token: Token) -> list[Way]:
    """The ways on without a repair, which come first."""
    return [new for new in islice(steps(way, token), 2) if new.cost == way.cost]


def _starts(way: Way, token: Token) -> Iterator[Way]:
    """Every element that may begin in what is open. Its attributes are those of the token, if that
    is of its name; else they are lost."""
    frame = way.frame
    for child in frame.element.type.children.values():
        element = child.element
        if isinstance(token, Start) and token.name == element.name:
            given = evolve(token, closed=False, slash=False)
            yield way.at(opened(element, given, frame, False))
        else:
            yield way.at(lost_start(element, frame))


def _without_lead(token: Token) -> Token:
    """A token behind a start tag that is lost: the line break before a text is layout."""
    if not isinstance(token, Text):
        return token
    said = token.text.lstrip()
    lead = token.text[: len(token.text) - len(said)]
    return evolve(token, text=said) if "\n" in lead else token


def _is_named_as(one: Token | None, other: Token) -> bool:
    if one is None or isinstance(one, Text) or isinstance(other, Text):
        return False
    return type(one) is type(other) and one.name == other.name


def _tag_before(tokens: list[Token], at: int) -> Token | None:
    before = tokens[max(at - 2, 0) : at][::-1]
    blank = before and isinstance(before[0], Text) and not before[0].text.strip()
    return next(iter(before[1:] if blank else before), None)


def _inside(root: Element) -> dict[str, tuple[set[str], bool]]:
    """What may stand in an element of each name: elements, and whether text."""
    found: dict[str, tuple[set[str], bool]] = {}
    work, seen = [root], {(root.name, id(root.type))}
    while work:
        element = work.pop()
        type_ = element.type
        children, holds_text = found.get(element.name, (set(), False))
        found[element.name] = children | type_.children.keys(), holds_text or type_.holds_text
        for child in type_.children.values():
            known = (child.element.name, id(child.element.type))
            if known not in seen:
                seen.add(known)
                work.append(child.element)
    return found
