"""Plans as data: the surroundings of a proposal, and its judgement.

Fields are those of the documents (inventory 9.2); `spec/12a-subplans.md` has their meaning.
"""

from typing import Any

from sexplang.terms.classes.node import field, frozen
from sexplang.terms.values.value import Value


@frozen
class PlanLimits:
    """The limits of the plans of a run. A program can only lower them.

    `subtasks` of one plan, at most 10, `depth` of its nodes, `nodes` of all plans of the run, and
    `decompositions` of one conversation. A node without a cap has at most `seconds`, and a plan
    ends after `factor` times the seconds of its parent.
    """

    subtasks: int = 10
    depth: int = 3
    nodes: int = 100
    decompositions: int = 3
    seconds: float = 300
    factor: int = 2


@frozen
class PlanNode:
    """A subtask of a plan in progress.

    `id` is its parent's with `/sub-<i>`; `seconds` is its budget; `conversations` is the number
    around it. Its depth follows from the number of nodes around it.
    """

    id: str
    seconds: float
    conversations: int
    plan_depth: int | None = None
    """The depth of plans below it; None if it is not known."""


@frozen
class Standing:
    """The surroundings of a proposal when it is made.

    `nodes` are the enclosing plan nodes, outermost first; `planned` counts the nodes of all plans
    of the run so far, and `frontier` are the unfinished ones (tables, as in a judgement). `left` is
    the rest of the enclosing budgets in calls, tokens and usd; `seconds` is the shortest enclosing
    deadline, counted from its beginning. `conversations` are the enclosing Conversations, outermost
    first. `is_ours` is false if the program or its host answers `subtask`, so that the executor is
    not known.
    """

    limits: PlanLimits = field(factory=PlanLimits)

    nodes: tuple[PlanNode, ...] = ()
    planned: int = 0
    frontier: tuple[Value, ...] = ()
    left: tuple[tuple[str, float], ...] = ()
    seconds: float | None = None
    conversations: tuple[Any, ...] = ()
    is_ours: bool = False


@frozen
class Judgement:
    """The accepted plan, or the reason of its refusal."""

    plan: dict[str, Value] | None
    reason: str = ""

    @property
    def count(self) -> int:
        """The number of nodes that it adds to the run."""
        subtasks = self.plan["subtasks"] if self.plan is not None else ()
        return len(subtasks) if isinstance(subtasks, tuple) else 0
