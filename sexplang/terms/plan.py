"""Plans as data: where a proposed plan would stand, and what is said about it.

Fields are those of the documents (inventory 9.2); `spec/12a-subplans.md` says what they mean.
"""

from typing import Any

from sexplang.terms.classes.node import frozen
from sexplang.terms.values.value import Value


@frozen
class PlanLimits:
    """What the plans of a run are held to; a program can only lower it.

    `subtasks` of one plan, at most 10, `depth` of its nodes, `nodes` of all plans of the run, and
    `decompositions` of one conversation. A node whose cap says nothing has at most `seconds`, and a
    plan ends after `factor` times the seconds of its parent.
    """

    subtasks: int = 10
    depth: int = 3
    nodes: int = 100
    decompositions: int = 3
    seconds: float = 300
    factor: int = 2


@frozen
class PlanNode:
    """A subtask of a plan that is being worked on.

    `id` is its parent's with `/sub-<i>`; `seconds` is its budget; `conversations` are how many
    stood around it. How deep it is follows from how many nodes stand around it.
    """

    id: str
    seconds: float
    conversations: int
    plan_depth: int | None = None
    """How deep plans may stand in plans below it; None where it is not known."""


@frozen
class Standing:
    """What is around a proposal when it is made.

    `nodes` are the plan nodes that it is made in, outermost first; `planned` counts the nodes of
    all plans of the run so far, and `frontier` are those (tables, as a judgement gives them) that
    are not done. `left` is what the budgets around leave of calls, tokens and usd; `seconds` is
    the shortest deadline around, counted from its beginning. `conversations` are those around,
    a Conversation each, outermost first. `is_ours` is false where the program or its host answers
    `subtask` itself, so that nobody knows what will do it.
    """

    limits: PlanLimits = PlanLimits()

    nodes: tuple[PlanNode, ...] = ()
    planned: int = 0
    frontier: tuple[Value, ...] = ()
    left: tuple[tuple[str, float], ...] = ()
    seconds: float | None = None
    conversations: tuple[Any, ...] = ()
    is_ours: bool = False


@frozen
class Judgement:
    """The plan as it will be worked on, or the reason why it will not."""

    plan: dict[str, Value] | None
    reason: str = ""

    @property
    def count(self) -> int:
        """How many nodes it adds to the run."""
        subtasks = self.plan["subtasks"] if self.plan is not None else ()
        return len(subtasks) if isinstance(subtasks, tuple) else 0
