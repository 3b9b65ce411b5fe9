"""The stack: the registers, and the kinds of segment.

The machine has four registers. A step is `fn, a, k, s = fn(a, k, s)`; the package describes them.
Code is `code(env, k, s)`, and a resume is `resume(value, k, s)` with its own frame in `k`. Both
return the next four registers. Nothing changes in place, so any number of continuations may share
frames and segments.

Law: only the loop changes handlers. A step that returns another `s` does nothing else, so an error
raised by a step belongs to the segments that the step began with.
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
    """A function's compiled code. It is filled once, while its program is linked."""

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
        """The number of slots that it may see of the environment it closes over."""
        self.is_library = is_library
        self.size = len(names)
        self.body: Run
        self.pure: Callable[[Any], Value] | None = None
        """The body, if it cannot call, suspend or capture."""
        self.defaults: tuple[Run | None, ...] = ()
        self.simple = not rest
        """Whether a call fills exactly its parameters."""
        self.quick = False
        """Whether it is simple and the program's own: a call into the library keeps its place."""


class Closure(Procedure):
    """A function value: code and the environment it was made in.

    It has no `__init__`: Python takes half the time to make an instance without one.
    """

    __slots__ = ("code", "env")

    code: Code
    env: tuple[Any, ...]

    @property
    def name(self) -> str:
        return self.code.name

    @property
    def identity(self) -> Hashable:
        """The code and the visible slots of the environment. An environment may grow until the
        function is named."""
        return (id(self.code), *map(_mark, self.env[: self.code.outer]))


def make_closure(code: Code, env: tuple[Any, ...]) -> Closure:
    made = Closure()
    made.code, made.env = code, env
    return made


def _mark(value: Value) -> Hashable:
    """Return a mark that distinguishes a closed-over value: its text if a program can choose it,
    else its address."""
    kind = type(value)
    if kind is int or kind is float:
        return kind.__name__, value.hex() if kind is float else hex(value)
    return ("str", whole_text(value)) if kind in TEXTS else id(value)


class Continuation(Procedure):
    """Segments copied from the stack, innermost first: `(kind, frames, context, data)` each.

    They are copies, since stack nodes would keep all that was ever below them alive. `origin` is
    the context that was in force around them. `cleanup` says whether leaving them has work to do.
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
    """The references of a running program besides its own closures."""

    tasks: TaskSystem | None
    known: dict[str, Any]
    """The program's task values by name."""
    defaults: dict[str, Closure]
    plan: Callable[[str, tuple[str, ...], frozenset[str]], Any] | None = None
    """A function from a model's text to a Program or diagnostics."""
    plans: dict[Any, Any] = field(factory=dict)
    """The programs of such texts so far. A plan that runs twice is one program."""
    tools: Mapping[str, Function] = field(factory=dict)
    """The functions that models may have as tools, by name."""
    validators: Mapping[Any, tuple[Code, Run]] = field(factory=dict)
    """The functions that judge answers, by task, each with the `top` of its program."""
    codes: Any = None
    """The code of the program's functions by index."""
    sites: Sites = field(factory=Sites)
    """The site table of its code."""
    top: Run | None = None
    """The resume of the frame in which the program waits for one of its items."""
    program: Callable[[], Any] = lambda: None
    """The program itself, while it is alive: links live as long as their program."""
    around: "Linked | None" = None
    """For a program from a model, the links of its caller."""
    key: Any = None
    """For a program from a model, its key."""
    inner: dict[Any, Any] = field(factory=dict)
    """The links of the programs from a model that it has run, by key."""

    @property
    def outermost(self) -> "Linked":
        """The links of the program around all plans."""
        linked = self
        while linked.around is not None:
            linked = linked.around
        return linked


_NOTHING = Context()

_SAME: Any = object()


@node(eq=False)
class Ctx:
    """The context in force above a segment: the conversations, scopes, jobs and work around it."""

    linked: Linked
    conversations: tuple[Conversation, ...] = ()
    scopes: tuple[str, ...] = ()
    """The deadlines and budgets in force, by the identity of their entry, outermost first."""
    expired_scopes: tuple[str, ...] = ()
    """The broken scopes that this work cleans up for. They bound no time, but model calls."""
    work: Work | None = None
    """The piece of traced work around this; None in a run that is not traced."""
    jobs: tuple[str, ...] | None = ()
    """The jobs around this, outermost first. Work in a job needs a permit to wait. None for
    cleaning up while others go on, which needs no permit."""
    plans: tuple[str, ...] = ()
    """The scopes, in force or broken, that are programs from a model. They bound steps."""

    def plain(self) -> Context:
        """Return the context for the host."""
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
        """Return the context with these changes. It does the same as `evolve` in a quarter of the
        time; each call of a task needs it."""
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
        """Return the context under one more deadline or budget."""
        plans = (*self.plans, scope) if is_plan else self.plans
        return self.replace(scopes=(*self.scopes, scope), plans=plans)

    def rebase(self, left: set[str], around: "Ctx", inside: int) -> "Ctx":
        """Return the context elsewhere: without the deadlines and budgets that it has left and the
        first `inside` jobs, under those of `around`."""
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
        """Return the context with the links of the code that stands `around`."""
        return self if self.linked is around.linked else self.replace(linked=around.linked)

    def with_work(self, work: Work) -> "Ctx":
        """Return the context as a part of a piece of traced work."""
        return self.replace(work=work)

    def with_permit(self, id: str) -> "Ctx":
        """Return the context as a part of one more job."""
        return self.replace(jobs=(*(self.jobs or ()), id))

    def with_expired(self, broken: str) -> "Ctx":
        """Return the context for cleaning up after a broken scope: its time does not count, its
        money and steps do."""
        scopes = tuple([id for id in self.scopes if id != broken])
        return self.replace(scopes=scopes, expired_scopes=(*self.expired_scopes, broken))


class Exit(Exception):
    """A reason for which the loop returns to the scheduler."""

    __slots__ = ()


def leave(exit: Exit, k: Frame, s: Segment) -> Step:
    """Leave the loop in a step of its own. Python keeps each frame that an exception passes, which
    takes longer than the step."""
    raise exit


class BranchEnd(Exit):
    """A value that has reached the base of the branch."""

    def __init__(self, value: Value) -> None:
        self.value = value


class Kind:
    """A kind of segment: how a value leaves it, and which operations it takes.

    `clauses` maps operations to the clauses tried in order. `cleanup` is true if leaving it has
    work to do. `stripped` replaces it in a continuation that is abandoned.

    A frozen run names the kind. One that a module of the machine holds as a global, and its
    `stripped`, are found by `machine_code`. One that is made for a node is entered in the site
    table: `maker.enter(node, KIND, kind)`, and with STRIPPED its `stripped`, if that is another.
    """

    # fmt: off
    __slots__ = (
        "clauses", "cleanup", "guard", "is_traced", "leave", "name", "pends", "stripped",
    )
    # fmt: on

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
        """A function called when an operation passes outward. It refuses by raising Fault."""
        self.is_traced = False
        """Whether only a traced run has such segments."""
        self.pends = False
        """Whether the `then` of an unwinding may wait here. The data of the stripped kind is
        `(data, then or None)`."""


def give(value: Value, s: Segment) -> Step:
    """Let a value pass a segment to the frame below."""
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
"""The border below a clause, which restores the context. Data is the continuation that the clause
holds."""


@node(eq=False)
class Parent:
    """The parent's stack below a branch's base, in which the search for a handler goes on,
    read-only.

    `level` is the depth in the tree of the branch that owns these segments. `k` are the frames on
    top of them, which locate errors. `onward` is the parent at which the search goes on if none of
    these segments has clauses.
    """

    s: Segment
    level: int
    k: Frame = BOTTOM
    onward: "Parent | None" = None
