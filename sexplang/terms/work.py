"""Pieces of work: what a run does is done for one of them, and they stand in one another.

They are what a trace shows beside the requests. A run that nobody traces has none.
"""

from sexplang.terms.classes.node import field, frozen
from sexplang.terms.values.value import Record


@frozen
class Work:
    """The run itself, a branch, a conversation, or what the language's own library names.

    `id` is its own within the run. `kind` is `run`, `branch`, `race` (a branch of one), `task`,
    or a word of the library's; `parent` is the work on whose behalf it began.
    """

    id: str
    kind: str
    name: str
    parent: "Work | None" = field(default=None, eq=False, repr=False)
    after: tuple[str, ...] = field(default=(), eq=False)
    """The ids of those that had to be over first: a branch of a plan comes after others."""


BRANCHES = ("branch", "race")
"""The kinds of branches. Their ids are their places, behind a letter."""

RUN = Work("", "run", "")
"""The outermost work of every run that is traced."""


@frozen
class Begins:
    """A piece of work begins in the branch with this path."""

    work: Work
    path: tuple[int, ...]


@frozen
class Ends:
    """A piece of work is over: with an error, or cut short by somebody else's end, or well."""

    id: str
    error: Record | None = None
    cut: bool = False
