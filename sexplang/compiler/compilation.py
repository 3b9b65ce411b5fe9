"""The state of one compilation: the scope with its bindings, positions and diagnostics.

Lowering functions are generators: `core = yield c.lower(form)`. A lowering function returns core,
or a generator that `run` drives on an explicit stack. So the depth of forms is not limited by
Python's stack.

Law: no binding outlives one compilation. A name from a macro's template has its binding at the
macro's definition (`spec/decisions/hygiene.md`); diagnostics show it as it is spelled there.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Generator, Iterable, Mapping
from types import GeneratorType
from typing import TYPE_CHECKING, Any, TypeAlias

from sexplang.compiler.forms.shapes import RESERVED, SHAPES
from sexplang.terms.classes.node import define, evolve, node
from sexplang.terms.core import ClauseKind, Const, Core
from sexplang.terms.diagnostic import Diagnostic, Edit, Label, Severity
from sexplang.terms.form import MARK, Form, ListForm, Name, VectorForm, source_name
from sexplang.terms.macro import Expander, Macro
from sexplang.terms.program import Export, Function, Input
from sexplang.terms.source import Made, Span
from sexplang.terms.values.abbreviation import shorten_names
from sexplang.terms.values.value import Operation, Primitive, Task

if TYPE_CHECKING:
    from sexplang.terms.template import Template

Where = Callable[[str, str], Span]
"""The span of a part of a task, by its name in the template and a text to look for in it."""

CheckTemplate = Callable[["Template", Where], Iterable[Diagnostic]]
"""A check of a template. It yields diagnostics with spans."""

LoadSchema = Callable[[str, Span], str]
"""A loader of a schema's file, by its name and the span of the name. Raises Diagnostics."""


@node
class Signature:
    """The parameters of a function of the program, for checks of its calls."""

    name: str
    params: tuple[str, ...]
    optional: frozenset[str]
    rest: str | None
    is_task: bool = False

    @property
    def is_exact(self) -> bool:
        return not self.optional and self.rest is None


def signature_of(function: Function) -> Signature:
    """Return the signature of a compiled function."""
    optional = frozenset(p.name for p in function.params if p.default is not None)
    return Signature(function.name, tuple(p.name for p in function.params), optional, function.rest)


Shape: TypeAlias = Any
"""A Signature, Primitive, Higher, Operation, Task or Macro; None if nothing is known."""


@define(eq=False)
class Place:
    """A slot of an activation."""

    level: int
    index: int
    name: str
    shape: Shape = None


KINDS: tuple[ClauseKind, ...] = ("never", "tail", "calls", "kept")
NEVER, TAIL, CALLS, KEPT = range(4)


@define(eq=False)
class Continuation(Place):
    """The slot of a clause's continuation, and its strongest use so far.

    `fence` is the number of lambdas and branches around the clause. A mention behind a further one
    outlives the clause.
    """

    operation: str = ""
    fence: int = 0
    use: int = NEVER


@define(eq=False)
class NamedFunction:
    """A named function, which has no slot."""

    level: int
    function: int
    shape: Signature


@define(eq=False)
class Namespace:
    """`(import "path" as: u)`: the public names of a module behind one name."""

    path: str
    exports: Mapping[str, Export]


@define(eq=False)
class LaterDefinition:
    """A name that is defined further down in this body; `became` is its binding from there on."""

    span: Span
    function: bool
    became: Any = None


@define(eq=False)
class Keyword:
    """A macro of this file.

    Names from its templates have their meaning of the time when the trail of names was `mark` long:
    at the definition of the macro. `mark` is None before that.
    """

    macro: Macro
    mark: int | None = None


Binding: TypeAlias = (
    Place | Continuation | NamedFunction | Namespace | LaterDefinition | Keyword | Export
)


_MARKED = f"{MARK}[0-9]+"


def split_path(text: str) -> tuple[str, list[str]]:
    """Split `plan.notes.success` into the bound name and the fields."""
    spelling, mark, which = text.partition(MARK)
    head, *fields = spelling.split(".")
    return head + mark + which, fields


def readable(finding: Diagnostic) -> Diagnostic:
    """Return a diagnostic without marks in its words. One about a form from a macro says so."""
    labels = tuple(Label(label.span, _plain(label.words)) for label in finding.labels)
    span = finding.span
    if isinstance(span, Made):
        labels += (Label(span.template, f"`{span.macro}` puts this there"),)
    return evolve(
        finding,
        title=_plain(finding.title),
        labels=labels,
        notes=tuple(_plain(note) for note in finding.notes),
        hint=None if finding.hint is None else _plain(finding.hint),
    )


def _plain(text: str) -> str:
    return shorten_names(re.sub(_MARKED, "", text) if MARK in text else text)


class NameTable:
    """The current bindings of names, and the trail of shadowed bindings."""

    def __init__(self, scope: Mapping[str, Export]) -> None:
        self.scope = scope
        # Shadowed bindings, innermost last, and the index of each name's last one.
        self.table: dict[str, Binding] = {}
        self.trail: list[tuple[str, Binding | None]] = []
        self.history: dict[str, list[int]] = {}
        # By the number of a mark: the rest of the spelling in the template, and the template's
        # macro.
        self.marks: list[tuple[str, Keyword | Macro]] = []

    def find(self, name: str) -> Binding | None:
        """Return the binding of `name` here."""
        found = self.table.get(name)
        if found is None:
            found = self.scope.get(name)
            if found is None and MARK in name:
                return self.resolve(*self.unmark(name))
        return found

    def unmark(self, name: str) -> tuple[str, Keyword | Macro]:
        """Return a name with a mark as it is spelled in its template, and the template's macro."""
        spelling, _, which = name.partition(MARK)
        rest, owner = self.marks[int(which)]
        return spelling + rest, owner

    def resolve(self, name: str, owner: Keyword | Macro) -> Binding | None:
        """Return the binding of `name` at the definition of a macro."""
        while type(owner) is Keyword:
            found = self._find_at(name, owner.mark)
            if found is not None or MARK not in name:
                return found if found is not None else self.scope.get(name)
            name, owner = self.unmark(name)
        return owner.names.get(name)  # type: ignore[union-attr]

    def _find_at(self, name: str, mark: int | None) -> Binding | None:
        """Return the binding of `name` when the trail was `mark` long, or the current one."""
        places = self.history.get(name)
        at = bisect_left(places, mark) if places and mark is not None else 0
        if places and mark is not None and at < len(places):
            found = self.trail[places[at]][1]
        else:
            found = self.table.get(name)
        while type(found) is LaterDefinition and found.became is not None:
            found = found.became
        return found

    def define(self, name: str, later: Binding | None) -> None:
        """Complete the announced definition of `name` with its binding."""
        if type(later) is LaterDefinition:
            later.became = self.table.get(name)

    def bind(self, name: str, binding: Binding) -> None:
        """Bind `name` until `restore_scope` to an earlier place."""
        self.history.setdefault(name, []).append(len(self.trail))
        self.trail.append((name, self.table.get(name)))
        self.table[name] = binding

    def forget(self, mark: int) -> None:
        """Restore the bindings of the time when the trail was `mark` long."""
        while len(self.trail) > mark:
            name, old = self.trail.pop()
            self.history[name].pop()
            if old is None:
                del self.table[name]
            else:
                self.table[name] = old

    def find_in_module(self, text: str) -> Export | None:
        """Return the export `f` of a module `u` for `u.f`."""
        head, fields = split_path(text)
        if not fields or self.find(text) is not None:
            return None
        space = self.find(head)
        return space.exports.get(".".join(fields)) if type(space) is Namespace else None


Steps: TypeAlias = Generator[Any, Any, Core]
Lowered: TypeAlias = Core | Steps
Lower: TypeAlias = Callable[["Lowering", Any, int], Lowered]

IN_LOOP, IN_CLAUSE = 1, 2
"""Bits of a position: tail position of the innermost loop, of the innermost clause."""


def run(step: Any) -> Any:
    """Return the value of a generator that yields generators. Any other object is its own value."""
    if type(step) is not GeneratorType:
        return step
    stack: list[GeneratorType[Any, Any, Any]] = []
    value: Any = None
    while True:
        try:
            value = step.send(value)
            if type(value) is GeneratorType:
                stack.append(step)
                step, value = value, None
        except StopIteration as done:
            value = done.value
            if type(value) is GeneratorType:
                step, value = value, None
            elif stack:
                step = stack.pop()
            else:
                return value


class Lowering:
    """The state that lowering functions read and write; `names` holds the bindings in scope."""

    def __init__(
        self,
        scope: Mapping[str, Export],
        by_type: Mapping[type, Lower],
        *,
        slots: int = 1,
        functions: int = 0,
        main: bool = True,
        expander: Expander,
    ) -> None:
        self.names = NameTable(scope)
        self.by_type = by_type
        self.main = main
        self.expander = expander
        self.is_exhausted = False
        # The macros of the body that is being split into statements.
        self.new_macros: set[Keyword] = set()
        # The current place: the activation and the size of its environment, the number of lambdas
        # and branches around, the continuation of the innermost clause.
        self.level = 0
        self.size = slots
        self.fence = 0
        self.clause: Continuation | None = None
        self.loops: list[int] = []
        # The words of the catches around: a name, and conditions.
        self.catches: list[ListForm] = []
        self.origins: dict[str, str] = {}
        # The names that the module defines as values, and the loader of its schemas.
        self.hidden: frozenset[str] = frozenset()
        self.load_schema: LoadSchema | None = None
        self.type_parts = 0
        self.import_failed = False
        # The output.
        self.first_function = functions
        self.functions: list[Function | None] = []
        self.operations: dict[str, Operation] = {}
        self.tasks: dict[str, Task] = {}
        self.types: dict[str, Export] = {}
        self.handled: set[str] = set()
        self.performed: list[tuple[str, Span]] = []
        self.inputs: list[Input] = []
        # The continuations mentioned so far, and the number of opened scopes (`finally`, `par`).
        self.mentions: list[Continuation] = []
        self.scopes = 0
        self.findings: list[Diagnostic] = []
        # Names in forms that were refused whole: they are not reported again.
        self.refused: set[str] = set()
        # The number of names that were compared with all others.
        self.suggested = 0

    # -- lowering

    def lower(self, form: Form, position: int = 0) -> Lowered:
        """Return the core of an expression."""
        return self.by_type[type(form)](self, form, position)

    def lower_later(self, form: Form, position: int = 0) -> Steps:
        """Return a step that lowers a form when `run` comes to it: for a form that stands for
        another."""
        core: Core = yield self.lower(form, position)
        return core

    def each(self, forms: Iterable[Form]) -> Any:
        """Return a step that gives the cores of several expressions as a tuple. None is in tail
        position."""
        by_type = self.by_type
        made = [by_type[type(form)](self, form, 0) for form in forms]
        return _all(made) if GeneratorType in map(type, made) else tuple(made)

    # -- names

    def place(self, name: str, shape: Shape = None) -> Place:
        """Reserve a slot in the environment and bind its name; `_` is none."""
        place = self.slot(name, shape)
        if name != "_":
            self.names.bind(name, place)
        return place

    def slot(self, name: str, shape: Shape = None) -> Place:
        """Reserve a slot in the environment."""
        place = Place(self.level, self.size, source_name(name), shape)
        self.size += 1
        return place

    def save_scope(self) -> tuple[int, int, int, int, Continuation | None]:
        """Return the current place, for `restore_scope`."""
        return self.level, self.size, len(self.names.trail), self.fence, self.clause

    def restore_scope(self, place: tuple[int, int, int, int, Continuation | None]) -> None:
        """Forget every name and slot since `place`."""
        self.level, self.size, mark, self.fence, self.clause = place
        self.names.forget(mark)

    def activate(self, fence: int = 0) -> None:
        """Enter a new activation; `fence` is 1 for a function's."""
        self.level += 1
        self.size = 1
        self.fence += fence

    def note_use(self, continuation: Continuation, use: int, position: int = 0) -> None:
        """Record a mention of a clause's continuation. TAIL counts as a tail use in that clause
        alone."""
        if self.fence > continuation.fence:
            use = KEPT
        elif use == TAIL and not (position & IN_CLAUSE and continuation is self.clause):
            use = CALLS
        continuation.use = max(continuation.use, use)
        self.mentions.append(continuation)

    def primitive(self, name: str) -> Primitive:
        """Return a primitive of the prelude, even if the program rebinds its name."""
        core = self.names.scope[name].core
        assert isinstance(core, Const)
        assert isinstance(core.value, Primitive)
        return core.value

    def operation(self, name: str) -> Operation | None:
        """Return an operation by its name here, or through a module; None if it is not known."""
        found = self.operations.get(name)
        if found is not None:
            return found
        export = self.names.find(name) or self.names.find_in_module(name)
        shape = export.shape if isinstance(export, Export) else None
        return shape if isinstance(shape, Operation) else None

    # -- findings

    def report(
        self,
        code: str,
        span: Span,
        title: str,
        words: str = "",
        *,
        hint: str | None = None,
        also: tuple[Label, ...] = (),
        notes: tuple[str, ...] = (),
        severity: Severity = "error",
        edits: tuple[Edit, ...] = (),
    ) -> Const:
        """Record a diagnostic. Return a constant to go on with."""
        labels = (Label(span, words), *also)
        self.keep(Diagnostic(code, title, labels, notes, hint, severity, edits))
        return Const(None, span=span)

    def keep(self, finding: Diagnostic) -> None:
        """Record a diagnostic in readable form: without marks, with the span in a macro's
        template."""
        self.findings.append(readable(finding))

    def report_malformed(
        self,
        form: ListForm,
        at: Form,
        words: str,
        *,
        hint: str | None = None,
        edits: tuple[Edit, ...] = (),
    ) -> Const:
        """Report a form that does not follow its syntax; `at` is the part that does not fit. A list
        in brackets where one in parentheses belongs can be edited."""
        if hint is None and type(at) is VectorForm and "`(" in words:
            text = f"({at.span.text[1:-1]})"
            shown = f": `{text}`" if len(text) < 60 and "`" not in text else ""
            hint, edits = (
                f"brackets make lists of values; use parentheses{shown}",
                (Edit(at.span, text),),
            )
        head = form.items[0]
        assert isinstance(head, Name)
        syntax = SHAPES[head.text].syntax.replace(") or (", ")` or `(")
        return self.report(
            "malformed-form",
            at.span,
            f"`{head.text}` is written `{syntax}`",
            words,
            hint=hint,
            edits=edits,
        )

    def is_bindable(self, form: Form, words: str = "I expected a name here") -> bool:
        """Return whether `form` may be bound; report why not."""
        if type(form) is not Name:
            self.report("malformed-form", form.span, "only a name can be bound", words)
            return False
        if form.text in RESERVED:
            self.report(
                "reserved-name",
                form.span,
                f"`{form.text}` is a word of the language and cannot be bound",
                hint=f"choose another name, such as `{form.text.strip('!*')}-1`",
            )
            return False
        return True


def _all(made: list[Any]) -> Generator[Any, Any, tuple[Core, ...]]:
    out: list[Core] = []
    for one in made:
        out.append((yield one) if type(one) is GeneratorType else one)
    return tuple(out)
