"""Values of the language as plain Python data, and back, and functions of Python as its procedures.

A TaskResult is an object on both sides.
"""

import inspect
from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from sexplang.api import argument_checks
from sexplang.api.python_arguments import converter_of
from sexplang.guards.secrets import conceal, look, redact, redact_text
from sexplang.machine import Done, Failed, Outcome, Suspended
from sexplang.runtime import Refusal
from sexplang.runtime.driver.cleanup import await_whole
from sexplang.runtime.driver.requests import close_awaitable
from sexplang.terms.classes.node import field, fields, frozen
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.effect import Request
from sexplang.terms.task import error_of, error_record
from sexplang.terms.values.boundary import holds_itself, plain, value_of, writable_value
from sexplang.terms.values.value import Fault, Operation, Primitive, Value

if TYPE_CHECKING:
    from sexplang.runtime.journal.doubts import Decision


@frozen
class TaskResult:
    """An atomic task's result; its text is its content.

    `status` is COMPLETE, CONTINUATION or FAILED; `parsed_content` is what a declared output
    format made of the content; `usage` holds `input_tokens` and `output_tokens`. A FAILED result
    has its error, a dict, as `notes["error"]`.
    """

    status: str
    content: str
    parsed_content: Any = None
    notes: dict[str, Any] = field(factory=dict)
    usage: dict[str, Any] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        argument_checks.text("the status of a TaskResult", self.status)
        if not isinstance(self.content, str):
            raise argument_checks.wrong("the content of a TaskResult", "a text", self.content)
        argument_checks.by_name("the notes of a TaskResult", self.notes)
        argument_checks.by_name("the usage of a TaskResult", self.usage)

    def __str__(self) -> str:
        return self.content


_FIELDS = tuple([each.name for each in fields(TaskResult)])


def result(outcome: Outcome) -> Any:
    """Return the value of a run that is Done, as plain Python data.

    The data are list, dict, str (also for symbols), int, float, bool and None. TaskResults stay,
    errors are dicts.

    Raises Failed: the run's own, or with the reason `not-data` for a value with a function in it.
    Raises TypeError for a run that still waits.
    """
    if isinstance(outcome, Failed):
        raise outcome
    if isinstance(outcome, Suspended):
        raise TypeError("the run still waits: answer its requests first")
    if not isinstance(outcome, Done):
        raise argument_checks.wrong("outcome", "what start, resume or fail gives", outcome)
    try:
        return python(redact(outcome.value))
    except Fault as fault:
        raise Failed(error_of(fault)) from None


def error(reason: str, message: str, *, type: str = "USER_ERROR", **details: Any) -> Failed:
    """Return a Failed to raise in a function that a program calls; its `.error` is for
    `Suspended.fail`.

    The program sees the error `{type reason message details …}` and may catch it by its reason.
    Raises Failed, reason `not-data`, for details that are not data.
    """
    for what, given in (("reason", reason), ("message", message), ("type", type)):
        argument_checks.text(what, given)
    try:
        return Failed(error_record(type, reason, message, details=dict(value(details))))
    except Fault as fault:
        raise Failed(error_of(fault)) from None


def python(value: Value) -> Any:
    """Return a value as plain Python data. Raises Fault `not-data`."""
    return plain(value, _object)


def value(data: Any) -> Value:
    """Return plain Python data as a value.

    Raises Fault: `not-data`, `not-text`, `limit-data`, `limit-integer`.
    """
    return writable_value(data, _record)


def value_with_classes(data: Any) -> Value:
    """Return data as a value; instances of classes with fields are tables. Raises Fault."""
    try:
        return value(data)
    except Fault as fault:
        if fault.code != "not-data" or holds_itself(data):
            raise
        from sexplang.api.python_types import as_data

        try:
            plain = as_data(data)
        except RecursionError:
            raise fault from None
        return value(plain)


def from_model(data: Any) -> Value:
    """Return the value of a model's data; a lone surrogate in it becomes `?`."""
    try:
        return value(data)
    except Fault as fault:
        if fault.code != "not-text":
            raise
    from sexplang.runtime.journal.redaction import clean_data

    return value_of(clean_data(plain(value_of(data, _record))))


def _object(kind: str, found: dict[str, Any]) -> Any:
    is_result = kind == "TaskResult" and tuple(found) == _FIELDS
    return TaskResult(**found) if is_result else found


def _record(item: Any) -> tuple[str, dict[str, Any]] | None:
    if not isinstance(item, TaskResult):
        return None
    return "TaskResult", {name: getattr(item, name) for name in _FIELDS}


# -- Functions ------------------------------------------------------------------------------------

# The signature gives the number of arguments. For a parameter annotated `str`, a TaskResult arrives
# as its content.

Function: TypeAlias = Callable[..., Any]
Functions: TypeAlias = Mapping[str, Function]
Performer: TypeAlias = Callable[[Request], Any]


@frozen
class Shape:
    """The positional parameters of a Python function."""

    params: tuple[str, ...]
    least: int
    rest: bool
    texts: frozenset[int]
    """The positions that are annotated as `str`."""


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def shape_of(name: str, function: Function) -> Shape:
    """Return the shape of a function. Raises Diagnostics for one that a program cannot call."""
    if not callable(function):
        raise bad_function(name, f"a {type(function).__name__} cannot be called")
    try:
        given = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some functions written in C have no signature
        return Shape(("value",), 0, True, frozenset())
    needed = [
        each.name for each in given if each.kind == each.KEYWORD_ONLY and each.default is each.empty
    ]
    if needed:
        raise bad_function(name, f"its parameter `{needed[0]}` can only be given by keyword")
    positional = [each for each in given if each.kind in _POSITIONAL]
    params = tuple([each.name for each in positional])
    least = sum(each.default is each.empty for each in positional)
    rest = any(each.kind == each.VAR_POSITIONAL for each in given)
    texts = [at for at, each in enumerate(positional) if each.annotation in (str, "str")]
    return Shape(params, least, rest, frozenset(texts))


def primitive(name: str, function: Function) -> Primitive:
    """Return a pure Python function as a primitive. Raises Diagnostics."""
    shape = shape_of(name, function)
    if inspect.iscoroutinefunction(function):
        raise bad_function(name, "a primitive gives its value at once, and this one is async")

    convert = converter_of(name, function) or list

    def call(*arguments: Value) -> Value:
        try:
            made = function(*convert([python(argument) for argument in arguments]))
        except Failed as failed:
            reason = str(failed.error.fields["reason"])
            raise Fault(reason, str(failed), error=failed.error) from None
        except Fault:
            raise
        # Any exception of the host's function is an error of the program.
        except Exception as error:
            raise Fault(
                "primitive-failed",
                redact_text(f"`{name}` failed: {type(error).__name__}: {error}"),
                hint="the function is the host's: what it was given does not suit it",
                details={"primitive": name, "exception": type(error).__name__},
            ) from None
        try:
            return redact(value_with_classes(made))
        except Fault as fault:
            words = f"what `{name}` gave: {fault.message}"
            raise Fault(fault.code, words, hint=fault.hint) from None

    most = None if shape.rest else len(shape.params)
    return Primitive(name, call, shape.least, most, inspect.getdoc(function) or "")


def operation(name: str, function: Function) -> Operation:
    """Return the operation that a Python function performs. Raises Diagnostics."""
    shape = shape_of(name, function)
    params = shape.params or (("value",) if shape.rest else ())
    doc = inspect.getdoc(function) or ""
    return Operation(name, params, shape.least, shape.rest, shape.texts, doc)


def performer(name: str, function: Function) -> Performer:
    """Return the performer for a Python function, sync or async."""
    shape, convert = shape_of(name, function), converter_of(name, function) or list

    def perform(request: Request) -> Any:
        # They are copies: changes by the function do not reach the journal.
        given = [plain(argument) for argument in request.arguments]
        given += [None] * (shape.least - len(given))
        return reply_with(lambda: function(*convert(given)))

    return perform


_REPLAY = "__sexplang_replay__"
"""The attribute of a function that holds its decision."""

_F = TypeVar("_F", bound=Function)


def replay(decision: "Decision") -> Callable[[_F], _F]:
    """Return a decorator for the function of an effect or a tool. It says what `resume` does with a
    call that was under way when the process ended, and may have been done.

    `"safe"` calls the function again, `"never"` fails the call with the reason `in-doubt`, `"ask"`
    lets a person decide, which is what happens without it. `replay=` of `resume` precedes it.
    """
    argument_checks.decision("decision", decision)

    def mark(function: _F) -> _F:
        setattr(function, _REPLAY, decision)
        return function

    return mark


def list_decisions(functions: Functions, prefix: str = "") -> "dict[str, Decision]":
    """Return the decisions of the functions that have one, by name."""
    found = {f"{prefix}{name}": getattr(each, _REPLAY, None) for name, each in functions.items()}
    return {name: decision for name, decision in found.items() if decision is not None}


def reply_with(call: Callable[[], Any], made: Callable[[Any], Value] = value_with_classes) -> Any:
    """Call a Python function and return its value by `made`, or an awaitable of it.

    A Failed that it raises is an error of the program. Raises Refusal, and any other exception of
    the function.
    """
    try:
        reply = call()
        return AsyncReply(reply, made) if hasattr(reply, "__await__") else made(reply)
    except Failed as failed:
        raise Refusal(failed.error) from None


class AsyncReply:
    """The value of an async function. Closed before it is awaited, it closes the coroutine, so that
    Python does not warn."""

    def __init__(self, reply: Any, made: Callable[[Any], Value]) -> None:
        self._reply = reply
        self._made = made

    def __await__(self) -> Generator[Any, Any, Value]:
        try:
            return self._made((yield from await_whole(self._reply).__await__()))
        except Failed as failed:
            raise Refusal(failed.error) from None

    def close(self) -> None:
        close_awaitable(self._reply)


def bad_function(name: str, why: str, hint: str | None = None) -> Diagnostics:
    """Return the Diagnostics for a Python function that cannot be registered."""
    look()
    found = Diagnostic(
        "bad-function",
        f"`{name}` cannot be registered: {why}",
        hint=hint or "wrap it in a function that a program can call",
    )
    return Diagnostics(conceal([found]))
