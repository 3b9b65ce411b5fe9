"""What branches had come to that are cut short → the errors that tell it."""

from collections import Counter
from collections.abc import Iterable

from sexplang.machine.branch import Forked, Queued, Waiting
from sexplang.machine.exits import Settled
from sexplang.machine.stack import Segment
from sexplang.terms.effect import Part
from sexplang.terms.node import node
from sexplang.terms.task import Session, cut_off, error_record, together
from sexplang.terms.value import Record, Value


@node(eq=False)
class Had:
    """What has been said and taken in some branches."""

    sessions: tuple[Session, ...] = ()
    """Their conversations, innermost first."""
    parts: tuple[Part, ...] = ()
    """What model calls have got that were under way."""
    done: tuple[Value, ...] = ()
    """The values of branches in them that have ended."""

    def telling(self, error: Record, s: Segment, told: list[Session]) -> Record:
        """The error that ends the conversations `told`, innermost first, which tells of these, and
        beside them of what all of this took."""
        if self.parts:
            before = {"usage": error.fields["details"].get("usage", {}), "text": ""}
            error = cut_off(error, {**together([before, *self.parts]), "text": ""})
        if not (told or self.sessions or self.done):
            return error
        tasks = s[3].linked.tasks
        if tasks is None:
            return error
        return tasks.cut_short(error, tuple(told), self.sessions, self.done)  # type: ignore[no-any-return]


def ended(graph: Forked, had: dict[int, Had]) -> dict[int, Record]:
    """The errors that nodes of a graph end with which are cancelled, by index; none for those in
    which no conversation was at work."""
    found = {}
    for at, each in had.items():
        if each.sessions:
            error = error_record("TASK_FAILURE", "cancelled", "the node was cancelled")
            if each.parts:
                error = cut_off(error, together(each.parts))
            cut_short = graph.s[3].linked.tasks.cut_short
            found[at] = cut_short(error, each.sessions, (), each.done)
    return found


def beside(told: list[Session], part: Part | None, fork: Forked, had: Iterable[Had]) -> Had:
    """What the branches of a fork have come to beside the conversations `told` and the call whose
    `part` is told already."""
    ids = {id(session) for session in told}
    sessions, parts, done = [], [], values_of(fork)
    for each in had:
        sessions += [session for session in each.sessions if id(session) not in ids]
        parts += [other for other in each.parts if other is not part]
        done += each.done
    return Had(tuple(sessions), tuple(parts), tuple(done))


def values_of(fork: Forked) -> list[Value]:
    """The values of those of its branches that have ended."""
    return [each.value if isinstance(each, Settled) else each for each in fork.values.values()]


def naming(error: Record, waiting: list[Waiting | Queued]) -> Record:
    """The error of a deadline that ends several branches: how many wait, and for what most of
    them do."""
    if len(waiting) < 2:
        return error
    things = Counter(map(_awaited, waiting)).most_common()
    listed = [f"{many} for {what}" for what, many in things[:_NAMED]]
    if len(things) > _NAMED:
        listed.append(f"{sum([many for _, many in things[_NAMED:]])} for others")
    count, words = len(waiting), error.fields["message"]
    words = f"{words}, and {count} branches waited: {', '.join(listed)}"
    details = {**error.fields["details"], "waiting": count}
    return Record(error.kind, {**error.fields, "message": words, "details": details})


_NAMED = 3
"""Of so many things it is said that branches wait for them."""


def _awaited(branch: Waiting | Queued) -> str:
    if not isinstance(branch, Waiting):
        return "a place"
    payload = branch.request.arguments[0] if branch.request.arguments else None
    task = payload.get("task") if isinstance(payload, dict) else None
    return f"`{branch.request.operation}`" + (f" of task `{task}`" if task else "")
