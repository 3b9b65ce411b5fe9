"""The stack: what the registers hold, and the kinds of segment it is made of.

The machine has four registers. A step is `fn, a, k, s = fn(a, k, s)`:

    fn   what to do next: code (then `a` is an environment) or a frame's resume (then a value)
    a    an environment or a value
    k    the frames of the segment on top: `(resume, next frame, …)`, ending in `BOTTOM`
    s    the segments: `(kind, frames below, segments below, context, data)`

Code is `code(env, k, s)` and resumes are `resume(value, k, s)` with their own frame in `k`; both
give the next four registers. Nothing is ever changed in place, so frames and segments may be
shared by any number of continuations.

Law: only the loop changes handlers. Whoever gives back another `s` does nothing else in the same
step, so that an error raised by a step belongs to the segments the step began with.
"""

from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeAlias

from sexplang.machine.positions.sites import Sites
from sexplang.terms.classes.node import field, node
from sexplang.terms.program import Function
from sexplang.terms.task import Context, Conversation, TaskSystem
from sexplang.terms.values.rope import TEXTS, whole_text
from sexplang.terms.values.value import Procedure, Value
from sexplang.terms.work import Work

Step: TypeAlias = tuple[Any, Any, Any, Any]
Run: TypeAlias = Callable[[Any, Any, Any], Step]
Frame: TypeAlias = tuple[Any, ...]
Segment: TypeAlias = Any
"""`(kind, frames below, segments below, context, data)`; None below a branch's base."""


class Code:
    """A function's compiled code. Filled once, while its program is linked."""

    # fmt: off
    __slots__ = (
        "body", "defaults", "index", "is_library", "name", "names", "outer", "pure", "quick",
        "rest", "simple", "size",
    )
    # fmt: on

    def __init__(
        self,
        name: str,
        index: int,
        names: tuple[str, ...],
        rest: bool,
        outer: int = 1,
        is_library: bool = False,
    ) -> None:
        self.name = name
        self.index = index
        self.names = names
        self.rest = rest
        self.outer = outer
        """How much of the environment that it closes over it may see."""
        self.is_library = is_library
        self.size = len(names)
        self.body: Run
        self.pure: Callable[[Any], Value] | None = None
        """The body, if it cannot call, suspend or capture."""
        self.defaults: tuple[Run | None, ...] = ()
        self.simple = not rest
        """Whether a call fills exactly its parameters."""
        self.quick = False
        """Whether it is simple and of a program: a call of the library keeps its place."""


class Closure(Procedure):
    """A function value: code and the environment it was made in."""

    __slots__ = ("code", "env")

    def __init__(self, code: Code, env: tuple[Any, ...]) -> None:
        self.code = code
        self.env = env

    @property
    def name(self) -> str:
        return self.code.name

    @property
    def identity(self) -> Hashable:
        """The code and what could be seen where the function is defined: an environment may have
        grown until the function is named."""
        return (id(self.code), *map(_mark, self.env[: self.code.outer]))


def _mark(value: Value) -> Hashable:
    """What tells a value from any other that a function may close over: text, where somebody can
    choose it, and else its place."""
    kind = type(value)
    if kind is int or kind is float:
        return kind.__name__, value.hex() if kind is float else hex(value)
    return ("str", whole_text(value)) if kind in TEXTS else id(value)


class Continuation(Procedure):
    """Segments copied from the stack, innermost first: `(kind, frames, context, data)` each.

    Copies, not stack nodes: those would keep all that was ever below them alive. `origin` is the
    context that was in force around them; `cleanup` says whether leaving them has work to do;
    `resumable` is false where a primitive failed.
    """

    __slots__ = ("cleanup", "origin", "resumable", "segments")

    name = "continuation"

    def __init__(
        self, segments: tuple[Any, ...], origin: "Ctx", cleanup: bool, resumable: bool = True
    ) -> None:
        self.segments = segments
        self.origin = origin
        self.cleanup = cleanup
        self.resumable = resumable


@node(eq=False)
class Linked:
    """What a running program refers to besides its own closures."""

    tasks: TaskSystem | None
    known: dict[str, Any]
    """The program's task values by name."""
    defaults: dict[str, Closure]
    plan: Callable[[str, tuple[str, ...], frozenset[str]], Any] | None = None
    """Text from a model to a Program, or to the diagnostics that say why not."""
    plans: dict[Any, Any] = field(factory=dict)
    """The programs made of such texts so far: a plan that runs twice is one program."""
    tools: Mapping[str, Function] = field(factory=dict)
    """The functions that models may have as tools, by the names of these."""
    codes: Any = None
    """The code of the program's functions by index."""
    sites: Sites = field(factory=Sites)
    """Where its code was made of what."""
    top: Run | None = None
    """The resume of the frame in which the program waits for one of its items."""
    program: Callable[[], Any] = lambda: None
    """The program itself, as long as somebody else keeps it: what is linked is kept with it."""
    around: "Linked | None" = None
    """Of a program from a model: what its caller refers to."""
    key: Any = None
    """Of a program from a model: which it is."""
    inner: dict[Any, Any] = field(factory=dict)
    """What the programs from a model refer to that it has run, by their keys."""

    @property
    def outermost(self) -> "Linked":
        """What the program refers to that nobody's plan is."""
        linked = self
        while linked.around is not None:
            linked = linked.around
        return linked


_NOTHING = Context()

_SAME: Any = object()


@node(eq=False)
class Ctx:
    """The context in force above a segment: what the work is done for."""

    linked: Linked
    conversations: tuple[Conversation, ...] = ()
    scopes: tuple[str, ...] = ()
    """The deadlines and budgets in force, by the identity of their entry, outermost first."""
    expired_scopes: tuple[str, ...] = ()
    """Those that broke, and for which this cleans up: they bound no time, but model calls."""
    work: Work | None = None
    """What traces show this as a part of; None in a run that is not traced."""
    jobs: tuple[str, ...] | None = ()
    """The jobs that this is a part of, outermost first: what waits in one needs a place. None
    where others have gone on and this cleans up, which needs none."""
    plans: tuple[str, ...] = ()
    """Those of both that are programs from a model: they bound steps."""

    def plain(self) -> Context:
        """What the host sees of it."""
        if self.conversations or self.work is not None:
            return Context(self.conversations, self.work)
        return _NOTHING

    def replace(
        self,
        conversations: tuple[Conversation, ...] = _SAME,
        work: Work | None = _SAME,
        *,
        scopes: tuple[str, ...] = _SAME,
        expired_scopes: tuple[str, ...] = _SAME,
        jobs: tuple[str, ...] | None = _SAME,
        plans: tuple[str, ...] = _SAME,
        linked: Linked = _SAME,
    ) -> "Ctx":
        """The same but for what is named: the only way to make a context of another. It does what
        `evolve` does, in a quarter of the time, and each call of a task needs it."""
        return Ctx(
            self.linked if linked is _SAME else linked,
            self.conversations if conversations is _SAME else conversations,
            self.scopes if scopes is _SAME else scopes,
            self.expired_scopes if expired_scopes is _SAME else expired_scopes,
            self.work if work is _SAME else work,
            self.jobs if jobs is _SAME else jobs,
            self.plans if plans is _SAME else plans,
        )

    def with_scope(self, scope: str, is_plan: bool = False) -> "Ctx":
        """The same work, under one more deadline or budget."""
        plans = (*self.plans, scope) if is_plan else self.plans
        return self.replace(scopes=(*self.scopes, scope), plans=plans)

    def rebase(self, left: set[str], around: "Ctx", inside: int) -> "Ctx":
        """The same work elsewhere: without the deadlines and budgets that it has left, and the
        first `inside` jobs, and under those around it."""
        left = left.union(around.scopes, around.expired_scopes)
        expired_scopes = (
            *around.expired_scopes,
            *[id for id in self.expired_scopes if id not in left],
        )
        scopes = (*around.scopes, *[id for id in self.scopes if id not in left])
        scopes = tuple([id for id in scopes if id not in expired_scopes])
        known = {*around.plans, *self.plans}
        plans = tuple([id for id in (*scopes, *expired_scopes) if id in known]) if known else ()
        jobs = None
        if self.jobs is not None and around.jobs is not None:
            jobs = (*around.jobs, *[id for id in self.jobs[inside:] if id not in around.jobs])
        return self.replace(scopes=scopes, expired_scopes=expired_scopes, jobs=jobs, plans=plans)

    def with_program_of(self, around: "Ctx") -> "Ctx":
        """The same work, done by code that stands `around`: it refers to what that does."""
        return self if self.linked is around.linked else self.replace(linked=around.linked)

    def with_work(self, work: Work) -> "Ctx":
        """The same, as a part of a piece of work."""
        return self.replace(work=work)

    def with_permit(self, id: str) -> "Ctx":
        """The same, as a part of one more job."""
        return self.replace(jobs=(*(self.jobs or ()), id))

    def with_expired(self, broken: str) -> "Ctx":
        """Cleaning up for a scope that broke: its time does not count, its money and steps do."""
        scopes = tuple([id for id in self.scopes if id != broken])
        return self.replace(scopes=scopes, expired_scopes=(*self.expired_scopes, broken))


class Exit(Exception):
    """The loop is left: somebody outside decides what comes next."""

    __slots__ = ()


def leave(exit: Exit, k: Frame, s: Segment) -> Step:
    """Leaves the loop in a step of its own, for whoever stands deep: Python keeps each frame that
    an exception passes, which takes longer than the step."""
    raise exit


class BranchEnd(Exit):
    """A value reached the base of the branch."""

    def __init__(self, value: Value) -> None:
        self.value = value


class Kind:
    """What a segment is: how a value leaves it, and which operations it takes.

    `clauses` maps operations to the clauses tried in order. `cleanup` is true where leaving has
    work to do. `stripped` is what is left of it in a continuation that is abandoned.
    """

    __slots__ = ("clauses", "cleanup", "guard", "leave", "name", "pends", "stripped")

    def __init__(
        self,
        name: str,
        leave: Callable[[Value, Segment], Step],
        clauses: dict[str, Any] | None = None,
        cleanup: bool = False,
    ) -> None:
        self.name = name
        self.leave = leave
        self.clauses: dict[str, Any] = {} if clauses is None else clauses
        self.cleanup = cleanup
        self.stripped: Kind = self
        self.guard: Callable[[Segment, str, tuple[Value, ...]], None] | None = None
        """Called when an operation passes outward; it may refuse, by raising Fault."""
        self.pends = False
        """Whether something to do may wait here while what is above is left. Then the stripped
        kind's data is `(data, what to do or None)`."""


def give(value: Value, s: Segment) -> Step:
    """A value passes a segment and goes on to the frame below."""
    k = s[1]
    return k[0], value, k, s[2]


def _bottom(value: Value, k: Frame, s: Segment) -> Step:
    step: Step = s[0].leave(value, s)
    return step


BOTTOM: Frame = (_bottom, None)


def _reach_base(value: Value, s: Segment) -> Step:
    raise BranchEnd(value)


BASE = Kind("base", _reach_base)
"""The end of a branch's stack. Data is None for the root, else a `Parent`."""

BOUNDARY = Kind("boundary", give)
"""Restores the context below. Data is the continuation that the clause above holds."""


@node(eq=False)
class Parent:
    """Where a branch's stack ends: the search for a handler goes on here, read-only.

    `level` is the depth in the tree of the branch that owns these segments; `k` are the frames on
    top of them, which errors are placed by. `onward` is where the search goes on at once, if none
    of these segments can take anything.
    """

    s: Segment
    level: int
    k: Frame = BOTTOM
    onward: "Parent | None" = None
