"""What branches had come to that are cut short → the errors that tell it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from sexplang.machine.branch import Branch, Forked, Ready, Waiting, place
from sexplang.machine.converse import CONVERSATION
from sexplang.machine.crossing import CROSS
from sexplang.machine.exits import Lost, Settled
from sexplang.machine.graphs import is_graph
from sexplang.machine.stack import Continuation, Segment
from sexplang.terms.effect import Part
from sexplang.terms.node import node
from sexplang.terms.task import Cut, Session, cut_off, error_record, together
from sexplang.terms.value import Record, Value


@node(eq=False)
class Had:
    """What is cut off in a branch, and what model calls have got that were under way there."""

    cut: Cut
    parts: tuple[Part, ...] = ()

    def beside(self, part: Part | None) -> "Had":
        """The same without what a call has got that is told already."""
        return Had(self.cut, tuple([each for each in self.parts if each is not part]))

    def telling(self, error: Record, s: Segment, told: Sequence[Session] = ()) -> Record:
        """The error that tells of these, and what all of this took; of the conversations `told`,
        innermost first, it is their own."""
        if not isinstance(error.fields["details"], dict):
            return error
        if self.parts:
            before = {"usage": error.fields["details"].get("usage", {}), "text": ""}
            error = cut_off(error, {**together([before, *self.parts]), "text": ""})
        linked, cut = s[3].linked, self.cut
        if linked.tasks is None or not linked.known or not (cut.sessions or cut.inside or cut.done):
            return error
        return linked.tasks.cut_short(error, tuple(told), cut)  # type: ignore[no-any-return]


def ended(graph: Forked, had: Mapping[int, Had]) -> dict[int, Record]:
    """The errors that nodes of a graph end with which are cancelled, by index; none for those in
    which no conversation was at work."""
    found = {}
    for at, each in had.items():
        if each.cut.sessions or each.cut.inside:
            error = error_record("TASK_FAILURE", "cancelled", "the node was cancelled")
            if each.parts:
                error = cut_off(error, together(each.parts))
            cut_short = graph.s[3].linked.tasks.cut_short
            found[at] = cut_short(error, each.cut.sessions, each.cut)
    return found


def had_of(branch: Branch, node: Segment, inside: Iterable[Had], part: Part | None = None) -> Had:
    """What a branch has come to down to `node` (None: to its base), with those `inside` of it; what
    is deep in branches of branches is as near as what is in one of them."""
    cuts: list[Cut] = []
    parts = [] if part is None else [part]
    values = values_of(branch) if isinstance(branch, Forked) else []
    for had in inside:
        cuts += (had.cut,) if had.cut.sessions else had.cut.inside
        values += () if had.cut.sessions else had.cut.done
        parts += had.parts
    sessions = sessions_in(place(branch)[1], node)
    return Had(Cut(tuple(sessions), tuple(cuts), tuple(values), is_graph(branch)), tuple(parts))


def sessions_in(s: Segment, node: Segment) -> list[Session]:
    """The sessions of the conversations from `s` down to `node`, or to the base, innermost first:
    those that stand there, and those of which a clause there holds the continuation."""
    found: list[Session] = []
    while s is not node and s is not None:
        kind, data = s[0], s[4]
        if kind is CONVERSATION:
            found.append(data[0])
        elif data.__class__ is Continuation:
            found += [each[3][0] for each in data.segments if each[0] is CONVERSATION]
        s = data.s if kind is CROSS else s[2]
    return found


def with_held(error: Record, s: Segment, node: Segment) -> Record:
    """The error of a clause that has not resumed what it holds: of conversations, it tells."""
    sessions = sessions_in(s, node) if s[3].conversations else []
    return Had(Cut(tuple(sessions))).telling(error, s) if sessions else error


def values_of(fork: Forked) -> list[Value]:
    """The values of those of its branches that have ended, in their order."""
    found = [fork.values[at] for at in range(fork.width) if at in fork.values]
    return [
        each.value if isinstance(each, Settled) else each
        for each in found
        if not isinstance(each, Lost)
    ]


def naming(error: Record, waiting: Sequence[Branch]) -> Record:
    """The error of a deadline that ends several branches: how many wait or compute, and for what
    most of them wait."""
    if len(waiting) < 2:
        return error
    computing = sum(isinstance(branch, Ready) for branch in waiting)
    things = Counter(map(_awaited, waiting)).most_common()
    listed = [f"{many} for {what}" for what, many in things[:_NAMED]]
    if len(things) > _NAMED:
        listed.append(f"{sum([many for _, many in things[_NAMED:]])} for others")
    count, words = len(waiting), error.fields["message"]
    how = "were at work" if computing else "waited"
    words = f"{words}, and {count} branches {how}: {', '.join(listed)}"
    details = {**error.fields["details"], "waiting": count}
    return Record(error.kind, {**error.fields, "message": words, "details": details})


_NAMED = 3
"""Of so many things it is said that branches wait for them."""


def _awaited(branch: Branch) -> str:
    if isinstance(branch, Ready):
        return "computing"
    if not isinstance(branch, Waiting):
        return "a place"
    payload = branch.request.arguments[0] if branch.request.arguments else None
    task = payload.get("task") if isinstance(payload, dict) else None
    return f"`{branch.request.operation}`" + (f" of task `{task}`" if task else "")
