"""Tags and texts to the trees they may mean, by the fewest repairs first.

A search over the ways of reading: token by token, the cheapest kept; ways that have built the same
are one. Law: the caller refuses a reply when two trees of the same cost mean different things.
"""

from sexplang.templates.xsd.frames import Frame, opened
from sexplang.templates.xsd.likeness import nearest
from sexplang.templates.xsd.shapes import Element
from sexplang.templates.xsd.steps import steps
from sexplang.templates.xsd.tokens import End, Start, Text, Token
from sexplang.templates.xsd.ways import Way
from sexplang.terms.node import define, frozen, node

WIDTH = 300
"""How many ways are followed at once."""

_A_STEP = 8
"""Elements that are open: to look at them is as much work as a way more."""

_MARGIN_ENDED = 2
"""How much more a way may cost than one whose root is closed."""


_MOST_SHOWN = 8
"""Names of elements."""


class Spent(Exception):
    """The work that a reply is worth is done, and nothing certain found."""


@define
class Budget:
    """How many more steps may be taken: the same for the same reply, wherever it is read."""

    left: int

    def spend(self, steps: int) -> None:
        """Raises Spent."""
        self.left -= steps
        if self.left < 0:
            raise Spent


@node(eq=False)
class Ended:
    """A way whose root is closed, and the number of the token after it."""

    way: Way
    after: int


@frozen(eq=False)
class Nesting:
    """The ended ways, cheapest first; where there is none, the token that fits nowhere (None at the
    end) and what it stands in. `crowded` where ways as good as the best were left aside."""

    ended: tuple[Ended, ...]
    crowded: bool = False
    stuck: Token | None = None
    inside: Frame | None = None


def nestings(
    root: Element, tokens: list[Token], begin: int, budget: Budget, margin: int, *, whole: bool
) -> Nesting:
    """The ways to read the tokens from the root's start tag at `begin` on. A way may cost `margin`
    more than the cheapest has cost so far. `whole`: the author said where the document ends, so
    that nothing was to follow."""
    first = tokens[begin]
    assert isinstance(first, Start)
    ways = begun(root, first)
    ended = [Ended(way, begin + 1) for way in ways if way.done]
    ways = [way for way in ways if not way.done]
    crowded = False
    at = begin + 1
    while ways and at < len(tokens):
        token = tokens[at]
        before, at = ways, at + 1
        following = [new for way in ways for new in steps(way, token)]
        # A step may look at all that is open.
        budget.spend(len(following) + sum([way.frame.depth for way in ways]) // _A_STEP)
        ended += [Ended(way, at) for way in following if way.done]
        best = min([each.way.cost for each in ended], default=None)
        ways, dropped = _kept([way for way in following if not way.done], best, margin)
        crowded = crowded or dropped
        if not ways and not ended:
            is_cut = at == len(tokens) and isinstance(token, Text) and token.suspect
            return Nesting((), crowded, None if is_cut else token, before[0].frame)
    ended += _finished(ways, tokens[-1], at, whole=whole)
    if not ended:
        return Nesting((), crowded, None, ways[0].frame)
    return Nesting(tuple(sorted(ended, key=lambda each: each.way.cost)), crowded)


def _finished(ways: list[Way], last: Token, at: int, *, whole: bool) -> list[Ended]:
    """Those of the ways that may end here, though their end is not there. One that may not, at no
    higher cost, is as likely: then the document was cut off."""
    if isinstance(last, Text) and (last.suspect or last.text.rstrip().endswith("<")):
        return []  # in the middle of a tag nobody ends a document, whatever stands around it
    whole = whole and not (isinstance(last, End) and last.cut)
    found = [(way.cost, way.finished(whole)) for way in ways]
    most = min([cost for cost, finished in found if finished is None], default=None)
    return [
        Ended(finished, at)
        for cost, finished in found
        if finished is not None and (most is None or cost < most)
    ]


def begun(root: Element, start: Start) -> list[Way]:
    """The root is open; or closed at once, if its tag may say so."""
    ways: list[Way] = []
    if not start.closed or start.slash:
        ways.append(Way(opened(root, start, None, start.closed)).noted(*start.notes))
    if start.closed:
        ways += Way(opened(root, start, None, False)).noted(*start.notes).ended()
    return ways


def _kept(ways: list[Way], ended: int | None, margin: int) -> tuple[list[Way], bool]:
    """The ways that are followed, each once, cheapest first; and whether one was left aside that
    is nearly as good as the best."""
    once: dict[int, Way] = {}
    for way in sorted(ways, key=lambda way: way.cost):
        once.setdefault(way.frame.digest, way)
    found = list(once.values())
    if not found:
        return [], False
    most = found[0].cost + margin
    if ended is not None:
        most = min(most, ended + _MARGIN_ENDED)
    found = [way for way in found if way.cost <= most]
    crowded = len(found) > WIDTH and found[WIDTH].cost <= found[0].cost + 1
    return found[:WIDTH], crowded


def misfit(nesting: Nesting) -> str:
    """Why the tokens could not be read to the end."""
    frame, token = nesting.inside, nesting.stuck
    assert frame is not None
    if token is None:
        return f"it ends before <{frame.name}> is closed"
    if frame.is_lost:
        children = ", ".join([f"<{name}>" for name in frame.element.type.children][:_MOST_SHOWN])
        said = " ".join(frame.stray.split())[:60]
        return f"<{frame.name}> holds elements ({children or 'none'}), and no text such as `{said}`"
    if isinstance(token, Text):
        advice = "write each tag whole, and a < of the text as &lt;"
        return f"the text in <{frame.name}> holds what may be left of a tag ({advice})"
    if isinstance(token, End):
        return f"{token.raw} has no start tag before it; open there is <{frame.name}>"
    shown = token.raw.strip("<>/").split()[0]
    near = nearest(shown, [*frame.element.type.children, *frame.element.type.attributes])
    hint = f" (did you mean <{near}>?)" if near else ""
    return f"<{frame.name}> has no element <{shown}>{hint}"
