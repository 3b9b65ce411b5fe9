"""Values: what a program computes with. All are immutable.

    nil      None          boolean  bool         integer  int        float  float
    string   str           symbol   Symbol       list     tuple      table  dict (never mutated)
    record   Record        function Procedure (closures and continuations are the machine's)

Lists are Python tuples, and inside of a run long ones may share what is there (`sequences`);
tables are Python dicts with string keys that nobody writes to after they are made: whoever
changes one copies it first.
"""

from collections.abc import Callable, Hashable
from typing import Any, TypeAlias

from sexplang.terms.classes.node import field, node
from sexplang.terms.template import Template

Value: TypeAlias = Any


@node(eq=False, repr=False)
class Symbol:
    """A name as data. Symbols compare by name; `symbol(text)` gives the one of that name."""

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

    What stands beside the fields is none. `answer` holds the one value that a TaskResult answers
    with, where that is another one than its content; `conversation` the one that it came from, if
    `continue` can go on with that.
    """

    kind: str
    fields: dict[str, Value]
    answer: tuple[Value] | None = field(default=None)
    conversation: "tuple[Task, Any, Any] | None" = field(default=None)
    """The task, the entry of the context, and the session at the end."""


class Procedure:
    """Whatever may stand at the head of a call."""

    __slots__ = ()

    @property
    def identity(self) -> Hashable:
        """What is equal for two procedures of one type that are the same function."""
        return id(self)


@node(eq=False)
class Primitive(Procedure):
    """A pure first-order function of values, called as `function(*arguments)`, positions only.

    It raises `Fault` and nothing else. `most` is None when any number is taken.
    """

    name: str
    function: Callable[..., Value]
    least: int
    most: int | None
    doc: str = ""


@node(eq=False)
class Higher(Procedure):
    """A prelude function that calls back (`map`, `apply`): a frame of the machine, by name."""

    name: str
    least: int
    most: int | None
    doc: str = ""


@node(eq=False)
class Operation(Procedure):
    """An effect operation as a function: calling it performs it.

    `least` counts the arguments that may not be left out; missing ones are sent as nil.
    `rest` allows any number more (`print`). `text` lists the positions where a TaskResult
    becomes its content before the request is made.
    """

    name: str
    params: tuple[str, ...]
    least: int = 0
    rest: bool = False
    text: frozenset[int] = frozenset()
    doc: str = ""


@node(eq=False)
class Task(Procedure):
    """An atomic task as a function: calling it is a conversation with a model."""

    template: Template
    names: tuple[str, ...] = field(init=False)
    """Of its parameters."""

    @names.default
    def _names(self) -> tuple[str, ...]:
        return tuple([param.name for param in self.template.params])

    @property
    def name(self) -> str:
        return self.template.name


class Fault(Exception):
    """A primitive or another pure part refuses: becomes an `error` effect in the machine.

    `code` is the diagnostic's code; a PROGRAM_ERROR has it as its reason. `error` is set where
    the error record already exists.
    """

    env: Any = None
    """The environment at its place, where that is known."""
    calls: tuple[Any, ...] = ()
    """The calls that it has come out of on Python's stack: the code of each function, innermost
    first, and behind it the places in its caller that it has passed."""

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
    """What a TaskResult answers; any other value is itself."""
    if type(value) is not Record or value.kind != "TaskResult":
        return value
    return value.fields["content"] if value.answer is None else value.answer[0]


def has_failed(value: Value) -> bool:
    """Whether it is a FAILED TaskResult."""
    is_result = type(value) is Record and value.kind == "TaskResult"
    return bool(is_result and value.fields["status"] == "FAILED")


_symbols: dict[str, Symbol] = {}


def symbol(name: str) -> Symbol:
    """The symbol called `name`."""
    found = _symbols.get(name)
    return found if found is not None else _symbols.setdefault(name, Symbol(name))


def truth(value: Value) -> bool:
    """Only false and nil are false."""
    return value is not False and value is not None


def distinct(table: dict[str, Any], written: Callable[[str], str]) -> dict[str, Any]:
    """The table with its keys as they are `written`; where two become one, the later is numbered,
    so that no value is lost."""
    made: dict[str, Any] = {}
    counts: dict[str, int] = {}
    for name, part in table.items():
        key = word = written(name)
        while key in made or (key != name and key in table):
            counts[word] = counts.get(word, 1) + 1
            key = f"{word} ({counts[word]})"
        made[key] = part
    return made
