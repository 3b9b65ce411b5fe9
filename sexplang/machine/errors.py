"""Errors: their records, their positions in the program, and what they keep of its values.

A record comes from the arguments of `raise` and `error` (`language.md` §4), or is the machine's
own. It gets the nearest known place, of the code at work or of a frame below it, and the bindings
that it leaves behind, in its `details.partial_results`.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, takewhile
from typing import Any
from weakref import WeakKeyDictionary

from sexplang.machine.positions.sites import Sites
from sexplang.machine.stack import BASE, Continuation, Frame, Linked, Segment, Step
from sexplang.terms.classes.node import node
from sexplang.terms.core import Call, Const, Core, Local
from sexplang.terms.program import Program
from sexplang.terms.source import Span, is_library
from sexplang.terms.task import error_record
from sexplang.terms.values.abbreviation import LONGEST, MOST, abbreviate, part
from sexplang.terms.values.boundary import plain
from sexplang.terms.values.text import text, text_size
from sexplang.terms.values.value import (
    Fault,
    Primitive,
    Procedure,
    Record,
    Symbol,
    Task,
    Value,
    has_failed,
)


def error_from(value: Value, span: Span | None) -> Record:
    """Return the error record for a raised value: an error itself, the error of a FAILED
    TaskResult, a table with `reason` or `type`, a symbol as the reason, or any other value. Raises
    Fault `wrong-type` for a table that gives a field twice."""
    error = value
    if isinstance(value, Record) and value.kind == "TaskResult":
        notes = value.fields.get("notes")
        error = notes.get("error") if isinstance(notes, dict) else None
    if isinstance(error, Record) and error.kind == "error":
        return error
    if isinstance(value, dict) and ("reason" in value or "type" in value):
        return _from_table(value, span)
    reason = value.name if isinstance(value, Symbol) else "raised"
    return error_record(
        "USER_ERROR", reason, _words(value), details={"value": value}, span=_place(span)
    )


def user_error(arguments: tuple[Value, ...], span: Span | None) -> Record:
    """Return the error of `(error "text" x…)`. The further arguments are `details.values`."""
    words = " ".join(map(_words, arguments))
    return error_record(
        "USER_ERROR", "raised", words, details={"values": arguments[1:]}, span=_place(span)
    )


def limit(reason: str, message: str, hint: str) -> Record:
    """Return the error that ends a run at a limit of the interpreter."""
    return error_record("RESOURCE_EXHAUSTION", reason, message, hint=hint)


_FIELDS = frozenset(("type", "reason", "message", "details", "content", "span", "hint"))


def _from_table(table: dict[str, Value], span: Span | None) -> Record:
    """Return the error of a table. Text fields must be texts. Unknown fields go to the details."""
    more = {name: value for name, value in table.items() if name not in _FIELDS}
    place, hint = table.get("span", _place(span)), table.get("hint")
    given = {} if table.get("details") is None else table["details"]
    if not _is_place(place):
        more["span"], place = place, _place(span)
    if not isinstance(given, dict):
        given = {"value": given}
    details = {**more, **given}
    if len(details) < len(more) + len(given):
        twice = next(name for name in more if name in given)
        words = f"`{twice}` is given twice: beside the `details` of an error and in them"
        raise Fault("wrong-type", words, hint="what an error has no field for belongs in `details`")
    return error_record(
        _words(table.get("type")) or "USER_ERROR",
        _words(table.get("reason")) or "raised",
        _words(table.get("message")),
        details=details,
        content=table.get("content"),
        span=place,
        hint=None if hint is None else _words(hint),
    )


def _is_place(span: Value) -> bool:
    """Return whether a value is the `span` of an error: a source, a line and a column, or nil."""
    if span is None:
        return True
    if not isinstance(span, dict) or not isinstance(span.get("source"), str):
        return False
    numbers = [span.get("line"), span.get("column")]
    numbers += [span[name] for name in ("end_line", "end_column") if name in span]
    return all(type(one) is int and one > 0 for one in numbers)


def _words(value: Value) -> str:
    """Return the text of a value, abbreviated if it is too long."""
    try:
        return text(value)
    except Fault:
        return abbreviate(value)


def _place(span: Any) -> Value:
    return span.plain() if span is not None else None


def too_many_subtasks(most: int) -> Record:
    """Return the error of a request for one subtask too many."""
    return error_record(
        "TASK_FAILURE",
        "execution_halted",
        f"a run may ask for at most {most} subtasks",
        details={"limit_kind": "subtasks", "limit": most},
        hint="look for a task that asks for itself, or raise the limit: "
        f"--limit subtasks={2 * most}",
    )


def all_failed(values: tuple[Value, ...]) -> Record:
    """Return the error of a race without a winner."""
    errors = tuple([lost.error for lost in values])
    words = "; ".join(str(error.fields["message"]) for error in errors[:3])
    return error_record(
        "TASK_FAILURE",
        "all-failed",
        f"every branch of the race failed: {words}",
        details={"errors": errors},
    )


def not_resumable() -> Fault:
    """Return the fault of resuming where a primitive failed."""
    return Fault(
        "not-resumable",
        "this error was raised inside a primitive and can be caught, but not resumed",
        hint="resume where `raise` or a task failed, or catch it",
    )


def cannot_resume_across(operation: str, span: Span | None, is_tool: bool) -> Record:
    """Return the error of a clause beyond a branch's base that would resume and go on."""
    where, instead = "a `par`", "to share values, use `with-cache` or `once` of std/models"
    if is_tool:
        where = "a conversation, which calls its tools in branches,"
        instead = "to call a tool with state in order, write (allowed_tools (in-order name))"
    return error_record(
        "PROGRAM_ERROR",
        "resume-across-par",
        f"a handler around {where} takes `{operation}` and uses its continuation, but not as "
        "its last step",
        span=span.plain() if span is not None else None,
        hint=f"resume in tail position, `forward`, or put the handler inside the branch; {instead}",
    )


# -- The position of an error ---------------------------------------------------------------------

# A step stores no place. The code that an error passes first on Python's stack locates it. Other
# code and frames are located by the site table. A call from a program into the library leaves a
# frame with its place: an error of the library is located at the call in the program.

_FRAMES = 200
"""The greatest number of frames that are searched."""


@node(eq=False)
class Failure:
    """A step that raised: the code at work, its register, and the fault."""

    fault: Fault
    fn: Any
    a: Any


@node(eq=False)
class FailureSite:
    """The registers of the step that failed, with the environment of the error and the calls on
    Python's stack that it came out of. `start` are the frames and segments that the step began
    with, if it raised the error."""

    fn: Any
    a: Any
    k: Frame
    s: Segment
    env: Any = None
    calls: tuple[Any, ...] = ()
    start: tuple[Frame, Segment] | None = None

    def count_own_frames(self, most: int) -> int:
        """Return the number of frames, up to `most`, that the step resumed or pushed."""
        if self.start is None:
            return 0
        k, s = self.start
        older = [frame for frame, _ in islice(frames(k, s), most)]
        if self.fn is k[0]:
            del older[0]
        ids = {id(frame) for frame in older}
        own = takewhile(lambda each: id(each[0]) not in ids, frames(self.k, self.s))
        return sum(1 for _ in islice(own, most))


def frames(k: Frame | None, s: Segment) -> Iterator[tuple[Frame, Sites]]:
    """Yield the frames from here on, innermost first, each with the site table of its code."""
    while s is not None:
        sites = s[3].linked.sites
        while k is not None:
            yield k, sites
            k = k[1]
        if s[0] is BASE:  # go on where the branch began
            k, s = (None, None) if s[4] is None else (s[4].k, s[4].s)
        else:
            k, s = s[1], s[2]


def place_of(step: Step) -> Span | None:
    """Return the place of a step outside the library."""
    fn, _, k, s = step
    found = None if s is None else _own(s[3].linked.sites.span(fn))
    for frame, sites in islice(frames(k, s), _FRAMES):
        if found is not None:
            break
        found = _own(span_in_frame(frame)) or _own(sites.span(frame[0]))
    return found


def span_in_frame(frame: Frame) -> Span | None:
    """Return the place that a frame of the machine's own holds."""
    return next((part for part in frame[2:] if isinstance(part, Span)), None)


def _own(place: Span | None) -> Span | None:
    return None if place is None or place.source.is_library else place


# -- Calls into the library ---------------------------------------------------------------------


def call_frame(span: Span | None, k: Frame, env: tuple[Any, ...] = ()) -> Frame:
    """Return the frames below a library call in the program. Two such calls in a row, the second in
    tail position, take no more than one. `env` is the environment of the call, if it is known."""
    if span is None or span.source.is_library:
        return k
    if k[0] is not return_value:
        return (return_value, k, span, env)
    return k if k[2] is span else (return_value, k[1], span, env)


def return_value(value: Value, k: Frame, s: Segment) -> Step:
    """Resume a frame that holds the place of a call and its environment."""
    below = k[1]
    return below[0], value, below, s


def blame(error: Record, k: Frame, s: Segment, fn: Any = None) -> Record:
    """Return an error located in the program. An error without a place, or of the library, gets the
    place of the call in the program, if that is known; its span then also gives the place in the
    library. `fn` is the code at work."""
    place = error.fields.get("span")
    if place is not None and not _is_in_library(place):
        return error
    caller = place_of((fn, None, k, s))
    if caller is None:
        return error
    span = caller.plain()
    if place is not None:
        span["library"] = f"{place['source']}:{place.get('line')}:{place.get('column')}"
    return Record(error.kind, {**error.fields, "span": span})


def _is_in_library(place: Value) -> bool:
    return isinstance(place, dict) and is_library(str(place.get("source")))


# -- Answers of the wrong type --------------------------------------------------------------------

# The fault of a function that gets the answer of a task with the wrong type names the task and the
# way to declare another type. The binding of a variable to an answer is looked up when the fault
# occurs. Running code does not know it.

Tasks = tuple[tuple[int, Task], ...]
"""The indexes of the arguments that are answers, each with its task."""

Answers = tuple[tuple[Local, Task], ...]
"""The arguments of a call that are variables, each with the task whose answer it holds."""

_answers_by_program: WeakKeyDictionary[Linked, dict[Span, Answers]] = WeakKeyDictionary()

_TYPES = (
    ("number", "integer"),
    ("integer", "integer"),
    ("table", "{name: string}"),
    ("list", "[string]"),
)
"""A word in a function's expectation, and the answer type that would fit."""


def tasks_of(arguments: Sequence[Core]) -> Tasks:
    """Return the arguments that are calls of tasks."""
    found: list[tuple[int, Task]] = []
    for at, argument in enumerate(arguments):
        if type(argument) is Call and type(argument.callee) is Const:
            task = argument.callee.value
            if type(task) is Task:
                found.append((at, task))
    return tuple(found)


def name_tasks(primitive: Primitive, tasks: Tasks) -> Primitive:
    """Return the primitive with faults that name the task whose answer does not fit."""
    function: Callable[..., Value] = primitive.function

    def name_answer(*values: Value) -> Value:
        try:
            return function(*values)
        except Fault as fault:
            raise misfit(fault, tasks, values) from None

    return Primitive(primitive.name, name_answer, primitive.least, primitive.most, primitive.doc)


def misfit(fault: Fault, tasks: Tasks, values: Sequence[Any]) -> Fault:
    """Return the fault with the name of the task whose answer has the wrong type."""
    if fault.code != "wrong-type" or fault.error is not None:
        return fault
    for at, task in tasks:
        if type(values[at]) is not str or abbreviate(values[at]) not in fault.message:
            continue
        takes = fault.message.partition(", not ")[0]
        type_ = next((each for word, each in _TYPES if word in takes), None)
        hint = fault.hint
        if type_ is not None and task.template.returns is None:
            hint = f"`{task.name}` answers with a text; (returns {type_}) in it says what it gives"
        words = f"{fault.message}, which is the answer of `{task.name}`"
        made = Fault(fault.code, words, hint=hint, details=fault.details)
        made.span, made.env, made.calls = fault.span, fault.env, fault.calls
        return made
    return fault


def name_task(fault: Fault, linked: Linked) -> Fault:
    """Return the fault with the name of the task, if the misfit is a variable bound to its
    answer."""
    if fault.code != "wrong-type" or fault.span is None or fault.span.source.is_library:
        return fault
    found = _answers(linked).get(fault.span)
    if not found or fault.env is None:
        return fault
    tasks = tuple([(at, task) for at, (_, task) in enumerate(found)])
    return misfit(fault, tasks, [_value(fault.env, local) for local, _ in found])


def _answers(linked: Linked) -> dict[Span, Answers]:
    """Return the calls of the program that take such variables, by place."""
    if linked not in _answers_by_program:
        _answers_by_program[linked] = _find_answers(linked)
    return _answers_by_program[linked]


def _find_answers(linked: Linked) -> dict[Span, Answers]:
    program = linked.program()
    if not isinstance(program, Program) or not program.tasks:
        return {}
    made: dict[Span, Answers] = {}
    for call, scope in linked.sites.environments.calls():
        answers: list[tuple[Local, Task]] = []
        for each in call.arguments:
            if isinstance(each, Local):
                origin = scope.origin(each)
                answers += [(each, task) for _, task in tasks_of([origin] if origin else [])]
        if answers:
            made[call.span] = tuple(answers)
    return made


def _value(env: Any, local: Local) -> Any:
    """Return the value of a variable; None if the environment belongs to another place."""
    for _ in range(local.depth):
        env = env[0] if type(env) is tuple and env else None
    return env[local.index] if type(env) is tuple and local.index < len(env) else None


# -- Earlier values -------------------------------------------------------------------------------

# A program loses the bindings of a body when an error leaves the body. The names are looked up
# then. Running code does not know them.

_LOOKED = 500
"""The greatest number of frames that are searched."""


def add_bound_values(error: Record, k: Frame, s: Segment, node: Segment = None) -> Record:
    """Return an error with the bindings around it, if the program has tasks. In other programs they
    cost nothing."""
    is_told = s[3].linked.known and isinstance(error.fields["details"], dict)
    return with_bound(error, k, s, node) if is_told else error


def with_bound(error: Record, k: Frame, s: Segment, node: Segment = None) -> Record:
    """Return the error with the bindings around the calls between here and `node` (None: around
    all), the innermost of each name. If a sequence or a list has reported its results, those stand
    alone."""
    details = error.fields["details"]
    before = details.get("partial_results", {})
    if not isinstance(before, dict):
        return error
    found: dict[str, Value] = {}
    for name, value in _bound(k, s, node):
        if len(found) + len(before) >= MOST:
            break
        if name not in found and name not in before and _is_result(value):
            found[name] = part(value)
    if not found:
        return error
    in_order = dict(reversed(found.items()))
    details = {**details, "partial_results": {**in_order, **before}}
    return Record(error.kind, {**error.fields, "details": details})


def _bound(k: Frame, s: Segment, node: Segment) -> Iterator[tuple[str, Value]]:
    """Yield the names and values in the frames, innermost first."""
    from sexplang.machine.library.iteration import partial_result
    from sexplang.machine.positions.environments import names_of  # only a failing run needs it

    linked = s[3].linked
    programs = [linked.program(), *linked.plans.values()]
    known = [names_of(each, linked.tasks) for each in programs if isinstance(each, Program)]
    for frame in islice(_frames(k, s, node), _LOOKED):
        if so_far := partial_result(frame):
            yield so_far
        for names in known:
            yield from names.bound(frame)


def _frames(k: Frame, s: Segment, node: Segment) -> Iterator[Frame]:
    """Yield the frames above `node`, innermost first, with those of the parent branches and of
    continuations that a clause holds."""
    while True:
        while k is not None:
            yield k
            k = k[1]
        if s is node:
            return
        if s[4].__class__ is Continuation:
            for _, held, _, _ in s[4].segments:
                while held is not None:
                    yield held
                    held = held[1]
        if s[0] is not BASE:
            k, s = s[1], s[2]
        elif s[4] is None:
            return
        else:
            k, s = s[4].k, s[4].s


def _is_result(value: Value) -> bool:
    """Return whether a value is data and not an earlier error."""
    if isinstance(value, Procedure) or has_failed(value):
        return False
    if isinstance(value, Record) and value.kind == "error":
        return False
    if text_size(value, LONGEST) > LONGEST:  # it is abbreviated
        return True
    try:
        plain(value)
    except Fault:  # it holds functions
        return False
    return True
