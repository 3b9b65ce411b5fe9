"""Values of programs. All are immutable.

nil      None          boolean  bool         integer  int        float  float
string   str           symbol   Symbol       list     tuple      table  dict (never mutated)
record   Record        function Procedure (closures and continuations are the machine's)

Lists are Python tuples; inside of a run long ones may share their items (`sequences`). Tables are
Python dicts with string keys that are never changed after their construction; a change works on a
copy.
"""

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, TypeAlias

from sexplang.terms.classes.node import field, node

if TYPE_CHECKING:
    from sexplang.terms.template import Template

Value: TypeAlias = Any


@node(eq=False, repr=False)
class Symbol:
    """A name as data. Symbols compare by name; `symbol(text)` returns the unique one of that
    name."""

    name: str

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Symbol) and other.name == self.name)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return self.name


@node(eq=False)
class Record:
    """A value with a kind that reads like a table: `TaskResult`, `error`.

    The attributes beside `fields` are no fields. `answer` holds a TaskResult's answer if it differs
    from the content; `conversation` holds its conversation, if `continue` can continue it.
    """

    kind: str
    fields: dict[str, Value]
    answer: tuple[Value] | None = field(default=None)
    conversation: "tuple[Task, Any, Any] | None" = field(default=None)
    """The task, the entry of the context, and the last session."""


class Procedure:
    """A value that may be at the head of a call."""

    __slots__ = ()

    @property
    def identity(self) -> Hashable:
        """A key that is equal for two procedures of one type that are the same function."""
        return id(self)


@node(eq=False)
class Primitive(Procedure):
    """A pure first-order function of values, called as `function(*arguments)`, positions only.

    It raises only `Fault`. `most` is None if any number of arguments is allowed. `params` are its
    parameters as a person reads them: `s start [end]`, `x …`.
    """

    name: str
    function: Callable[..., Value]
    least: int
    most: int | None
    doc: str = ""
    params: str = ""

    @property
    def usage(self) -> str | None:
        """A call with the names of its parameters, and an example; None if they are not known."""
        if not self.params:
            return None
        _, head, call = self.doc.partition(f"({self.name}")
        as_in = f", as in `{head}{call.partition(' ;=> ')[0]}`" if head else ""
        return f"`({self.name} {self.params})`{as_in}"


@node(eq=False)
class Higher(Procedure):
    """A prelude function that calls back (`map`, `apply`): a frame of the machine, by name."""

    name: str
    least: int
    most: int | None
    doc: str = ""
    params: str = ""

    @property
    def usage(self) -> str | None:
        """A call with the names of its parameters; None if they are not known."""
        return f"`({' '.join([self.name, *self.params.split()])})`" if self.doc else None


@node(eq=False)
class Operation(Procedure):
    """An effect operation as a function: a call performs it.

    `least` is the number of required arguments; absent ones are sent as nil. `rest` allows any
    number more (`print`). `text` lists the positions where a TaskResult becomes its content before
    the request is made.
    """

    name: str
    params: tuple[str, ...]
    least: int = 0
    rest: bool = False
    text: frozenset[int] = frozenset()
    doc: str = ""


@node(eq=False)
class Task(Procedure):
    """An atomic task as a function: a call is a conversation with a model."""

    template: "Template"
    names: tuple[str, ...] = field(init=False)
    """The names of its parameters."""

    @names.default
    def _names(self) -> tuple[str, ...]:
        return tuple([param.name for param in self.template.params])

    @property
    def name(self) -> str:
        return self.template.name


class Fault(Exception):
    """The refusal of a primitive or another pure function: an `error` effect in the machine.

    `code` is the diagnostic's code; a PROGRAM_ERROR has it as its reason. `error` is set if the
    error record already exists.
    """

    env: Any = None
    """The environment at its place, if it is known."""
    calls: tuple[Any, ...] = ()
    """The calls on Python's stack that it has left: the code of each function, innermost first,
    followed by the places in its caller."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        hint: str | None = None,
        details: dict[str, Value] | None = None,
        error: Record | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.details = details or {}
        self.error = error
        self.span: Any = None


def answer_of(value: Value) -> Value:
    """Return the answer of a TaskResult; any other value is returned as it is."""
    if type(value) is not Record or value.kind != "TaskResult":
        return value
    return value.fields["content"] if value.answer is None else value.answer[0]


def has_failed(value: Value) -> bool:
    """Return whether a value is a FAILED TaskResult."""
    is_result = type(value) is Record and value.kind == "TaskResult"
    return bool(is_result and value.fields["status"] == "FAILED")


_symbols: dict[str, Symbol] = {}


def symbol(name: str) -> Symbol:
    """Return the symbol called `name`."""
    found = _symbols.get(name)
    return found if found is not None else _symbols.setdefault(name, Symbol(name))


def truth(value: Value) -> bool:
    """Return the truth of a value: only false and nil are false."""
    return value is not False and value is not None


def distinct(table: dict[str, Any], written: Callable[[str], str]) -> dict[str, Any]:
    """Return the table with its keys as `written`. Of two equal keys the later is numbered, so that
    no value is lost."""
    made: dict[str, Any] = {}
    counts: dict[str, int] = {}
    for name, part in table.items():
        key = word = written(name)
        while key in made or (key != name and key in table):
            counts[word] = counts.get(word, 1) + 1
            key = f"{word} ({counts[word]})"
        made[key] = part
    return made
