"""The tree of a run's work, for traces. A run without a trace has none."""

from sexplang.terms.classes.node import field, frozen
from sexplang.terms.values.value import Record


@frozen
class Work:
    """A node of the tree: the run, a branch, a conversation, or a named piece of the library.

    `id` is unique within the run. `kind` is `run`, `branch`, `race` (a branch of one), `task`, or a
    word of the library's; `parent` is the work that began it.
    """

    id: str
    kind: str
    name: str
    parent: "Work | None" = field(default=None, eq=False, repr=False)
    after: tuple[str, ...] = field(default=(), eq=False)
    """The ids of the work that had to be over first: a branch of a plan follows others."""


BRANCHES = ("branch", "race")
"""The kinds of branches. Their ids are their paths, behind a letter."""

RUN = Work("", "run", "")
"""The root of the work of every traced run."""


@frozen
class Begins:
    """A piece of work begins in the branch with this path."""

    work: Work
    path: tuple[int, ...]


@frozen
class Ends:
    """A piece of work ends: with an error, by cancellation, or normally."""

    id: str
    error: Record | None = None
    cut: bool = False
