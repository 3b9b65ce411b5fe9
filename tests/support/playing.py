"""A program and a script of expected requests to its end: no world, no waiting."""

from collections.abc import Sequence
from typing import Any

from attrs import field, frozen
from support.sources import no_files

from sexplang.machine import Done, start
from sexplang.pipeline.pipeline import build, tasks
from sexplang.reader import read
from sexplang.runtime.models.adapters.scripted import shape_reply
from sexplang.runtime.refusal import Refusal
from sexplang.terms.effect import Request
from sexplang.terms.form import Form, ListForm, Literal, Name, TableForm, VectorForm
from sexplang.terms.host.host_operations import SHOWN
from sexplang.terms.source import Source
from sexplang.terms.values.boundary import plain, value_of
from sexplang.terms.values.text import to_source
from sexplang.terms.values.value import Record, Symbol, Value, symbol


class Anything:
    """What `_` stands for in an expected value."""


class Unexpected(AssertionError):
    """The program did something else than its marks say."""


@frozen
class Exchange:
    """A request that is expected, if any is named, and the text of its reply."""

    request: str | None
    reply: str | None
    where: str = field(default="")


def play(
    program: Any, exchanges: Sequence[Exchange], inputs: dict[str, Value] | None = None
) -> Any:
    """The outcome of a program whose requests are answered in order of the script."""
    system = tasks(has_own_memory=program.handles("search-memory"))
    outcome = start(program, inputs or {}, system)
    left = list(exchanges)
    while hasattr(outcome, "requests"):
        request, exchange = _next(outcome.requests, left)
        answered = _answered(request, exchange)
        if isinstance(answered, Record) and answered.kind == "error":
            outcome = outcome.fail(request.id, answered)
        else:
            outcome = outcome.resume(request.id, answered)
    if left:
        raise Unexpected(f"{left[0].where}: the program ended without asking this")
    return outcome


def _next(requests: Sequence[Request], left: list[Exchange]) -> tuple[Request, Exchange | None]:
    for request in requests:
        if left and (left[0].request is None or asks(left[0].request, request)):
            return request, left.pop(0)
    for request in requests:
        if request.operation in SHOWN:
            return request, None
    shown = " and ".join(to_source((symbol(r.operation), *r.arguments)) for r in requests)
    wanted = f"expected {left[0].request} ({left[0].where})" if left else "no mark answers it"
    raise Unexpected(f"the program asks {shown[:2000]}; {wanted}")


def asks(mark: str, request: Request) -> bool:
    """Whether `(op args)` of a mark fits a request; tables need only the named keys."""
    (form,) = read(Source("mark", mark))
    if not isinstance(form, ListForm) or not isinstance(form.items[0], Name):
        raise Unexpected(f"a request is written (op args), not {mark}")
    wanted = _trimmed([value_in(item) for item in form.items[1:]])
    given = _trimmed([value_of(plain(argument)) for argument in request.arguments])
    return form.items[0].text == request.operation and fits(wanted, given, partly=True)


def _trimmed(arguments: list[Value]) -> tuple[Value, ...]:
    while arguments and arguments[-1] is None:
        arguments.pop()
    return tuple(arguments)


def value_in(form: Form) -> Value:
    """The value that a form denotes, with Anything for `_`."""
    if isinstance(form, Literal):
        return form.value
    if isinstance(form, Name):
        return Anything if form.text == "_" else symbol(form.text)
    if isinstance(form, VectorForm):
        return tuple(map(value_in, form.items))
    if isinstance(form, TableForm):
        return {label.text: value_in(item) for label, item in form.entries()}
    if isinstance(form, ListForm):
        head = form.items[0] if form.items else None
        if isinstance(head, Name) and head.text == "quote":
            return value_in(form.items[1])
        return tuple(map(value_in, form.items))
    raise Unexpected(f"{form!r} is not a value")


def fits(wanted: Value, given: Value, partly: bool = False) -> bool:
    """Whether a value is the wanted one: 1 is 1.0 but not true, tables in any order."""
    if wanted is Anything:
        return True
    if isinstance(given, Record):
        given = given.fields
    if isinstance(wanted, Symbol) and partly:
        return given in (wanted, wanted.name)
    if isinstance(wanted, tuple) and isinstance(given, tuple):
        return len(wanted) == len(given) and all(
            fits(a, b, partly) for a, b in zip(wanted, given, strict=True)
        )
    if isinstance(wanted, dict) and isinstance(given, dict):
        return (partly or len(wanted) == len(given)) and all(
            key in given and fits(item, given[key], partly) for key, item in wanted.items()
        )
    return isinstance(wanted, bool) == isinstance(given, bool) and bool(wanted == given)


def value_fits(mark: str, value: Value) -> bool:
    """Whether the text after `;=>` says this value."""
    if mark == to_source(value):
        return True
    try:
        forms = read(Source("mark", mark))
    except Exception:
        # A function is written `#<function f>`, which nothing reads back.
        return False
    return len(forms) == 1 and fits(value_in(forms[0]), value)


def _answered(request: Request, exchange: Exchange | None) -> Value:
    """The reply's value, or the error it raises; a text is a model's text."""
    if exchange is None or exchange.reply is None:
        return None
    outcome = start(build(Source(exchange.where, exchange.reply), no_files))
    if not isinstance(outcome, Done):
        return outcome.error
    value = outcome.value
    is_short = isinstance(value, (str, tuple)) or (
        isinstance(value, dict) and "content" not in value
    )
    if request.operation != "model" or not is_short:
        return value
    try:
        return value_of(shape_reply(plain(value), "spec", request))
    except Refusal as refusal:
        return refusal.error
