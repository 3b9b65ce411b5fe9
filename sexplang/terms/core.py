"""Core: a program with every name resolved and every special form lowered.

The environment of an activation is a tuple

    (enclosing, slot, slot, …)

where `enclosing` is the environment of the function, loop or program around it. Parameters come
first; a later binding in the same activation (`Let`, a clause, a return clause) is appended. So
`Local(depth, index)` means: follow slot 0 `depth` times, then take slot `index`. A longer
environment is valid for code that was resolved against a shorter one. A `Function` body and a
`Loop` body each open an activation; no other node does. The program's own environment is
`(inputs, value, value, …)`, shared by all modules in the order of their evaluation; its slot 0 is
the table of inputs.

Functions that are defined by name (`define`, `letrec`, named let) have no slot: `Known(depth,
function)` is the function closed over the environment `depth` levels up. Functions of one group
refer to each other in the same way.

Every node has the span of the form it came from.
"""

from typing import Literal, TypeAlias

from sexplang.terms.classes.node import field, node
from sexplang.terms.source import Span
from sexplang.terms.values.value import Primitive, Value


@node(eq=False)
class _Core:
    span: Span = field(kw_only=True, repr=False)


@node(eq=False)
class Const(_Core):
    """A value: a literal, a quotation, a primitive, an operation, a task."""

    value: Value
    span: Span = field(repr=False)


@node(eq=False)
class Local(_Core):
    """A variable by its slot."""

    depth: int
    index: int
    name: str
    span: Span = field(repr=False)


@node(eq=False)
class Known(_Core):
    """A named function as a value, closed over the environment `depth` levels up."""

    depth: int
    function: int


@node(eq=False)
class Lambda(_Core):
    """A function closed over the environment here."""

    function: int


@node(eq=False)
class If(_Core):
    test: "Core"
    then: "Core"
    otherwise: "Core"


@node(eq=False)
class And(_Core):
    """At least two items; the value is that of the deciding item."""

    items: "tuple[Core, ...]"


@node(eq=False)
class Or(_Core):
    items: "tuple[Core, ...]"


@node(eq=False)
class Seq(_Core):
    """At least two items, in order; the value of the last."""

    items: "tuple[Core, ...]"


@node(eq=False)
class Let(_Core):
    """Evaluate `values` in the environment here, append them all, then evaluate the body.

    `names` are the names of the values in the program, if any.
    """

    values: "tuple[Core, ...]"
    body: "Core"
    names: tuple[str, ...] = ()


@node(eq=False)
class Call(_Core):
    """A call of a computed `callee`.

    `labels` names the last `len(labels)` of the arguments; the ones before are positional.
    """

    callee: "Core"
    arguments: "tuple[Core, ...]"
    labels: tuple[str, ...] = ()


@node(eq=False)
class CallKnown(_Core):
    """A call of a named function with exactly its parameters, in order.

    The function has neither defaults nor rest. `depth` as in `Known`.
    """

    depth: int
    function: int
    arguments: "tuple[Core, ...]"


@node(eq=False)
class CallPrimitive(_Core):
    """A call of a pure primitive with a number of arguments that it takes."""

    primitive: Primitive
    arguments: "tuple[Core, ...]"
    span: Span = field(repr=False)


@node(eq=False)
class MakeTable(_Core):
    """`{a: x b: y}`: keys in the order of the text; the last of equal keys wins."""

    keys: tuple[str, ...]
    values: "tuple[Core, ...]"


@node(eq=False)
class Path(_Core):
    """`plan.notes.success`: nested field access on `base`, nil through nil. In an `<arg>` each
    field is `needed`, as in a placeholder."""

    base: "Core"
    fields: tuple[str, ...]
    needed: bool = False


@node(eq=False)
class Repeat(_Core):
    """`(loop n body…)`: the last value, `()` for none. The body is in the same activation."""

    count: "Core"
    body: "Core"


@node(eq=False)
class Loop(_Core):
    """`(loop ((x e) …) body…)`: the initial values in the environment here, the body in a new
    activation whose slots 1… are the loop variables."""

    inits: "tuple[Core, ...]"
    body: "Core"


@node(eq=False)
class Recur(_Core):
    """The next turn of the innermost `Loop` of this activation, in its tail position."""

    arguments: "tuple[Core, ...]"


ClauseKind = Literal["never", "tail", "calls", "kept"]
"""The use of the continuation k in a clause's text.

never  no mention
tail   every mention is a tail call of the clause or a `forward` in tail position
calls  every mention is the head of a call (or a forward, or the k of `(abandon k)`, which is
       never a tail call), at least one of them not in tail position; none under a lambda, in a
       nested handle that has a `kept` clause, or in a branch of a `par`
kept   anything else
"""


@node(eq=False)
class Clause(_Core):
    """`((op p…) k body)`: the body sees the parameters and then k, appended to the environment of
    the handle expression. There is a slot for each parameter and for k, named or not.

    `words`: for `catch`, the words to compare with the error's type and reason; empty takes all.
    """

    operation: str
    params: tuple[str, ...]
    body: "Core"
    kind: ClauseKind
    words: tuple[str, ...] = ()


@node(eq=False)
class Handle(_Core):
    """`(handle body clause… (return x e))`. `returns` sees the body's value appended.

    A `try`'s catches are clauses of the operation `error`, of kind never.
    """

    body: "Core"
    clauses: tuple[Clause, ...]
    returns: "Core | None" = None


@node(eq=False)
class Finally(_Core):
    """`(try … (finally b…))`: `cleanup` runs once each time the body's scope is left."""

    body: "Core"
    cleanup: "Core"


@node(eq=False)
class Attempt(_Core):
    """`(attempt e)`: e's value, or a FAILED TaskResult for an error."""

    body: "Core"


@node(eq=False)
class PerformOp(_Core):
    """`(perform op arg…)`."""

    operation: str
    arguments: "tuple[Core, ...]"


@node(eq=False)
class Forward(_Core):
    """`(forward k op arg…)`, in tail position of the clause that has k.

    If it `fails`, the error is raised where the clause's operation was performed.
    """

    continuation: "Core"
    operation: str
    arguments: "tuple[Core, ...]"
    fails: bool = False


@node(eq=False)
class Par(_Core):
    """`(par e…)`: each branch in the environment here; the list of their values."""

    branches: "tuple[Core, ...]"


@node(eq=False)
class Race(_Core):
    """`(race e…)`: the first value; the other branches are cancelled."""

    branches: "tuple[Core, ...]"


@node(eq=False)
class Timed(_Core):
    """`(with-timeout seconds e…)`."""

    seconds: "Core"
    body: "Core"


@node(eq=False)
class Budgeted(_Core):
    """`(with-budget {…} e…)`."""

    limits: "Core"
    body: "Core"


@node(eq=False)
class InputValue(_Core):
    """The value of a declared input: the given value (converted), else the default."""

    name: str
    default: "Core | None"


# fmt: off
Core: TypeAlias = (
    Const | Local | Known | Lambda | If | And | Or | Seq | Let | Call | CallKnown
    | CallPrimitive | MakeTable | Path | Repeat | Loop | Recur | Handle | Finally | Attempt
    | PerformOp | Forward | Par | Race | Timed | Budgeted | InputValue
)
# fmt: on
