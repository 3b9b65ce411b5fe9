"""The run of a program against a script of requests and replies, without any input or output."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import sexplang
from sexplang.api.performer_table import whole_reply
from sexplang.api.python_values import Function, Functions, value
from sexplang.machine import Failed, Limits, Outcome, Suspended
from sexplang.runtime import Refusal
from sexplang.terms.effect import Request
from sexplang.terms.host.host_operations import SHOWN
from sexplang.terms.program import Program
from sexplang.terms.values.boundary import plain
from sexplang.terms.values.text import to_source
from sexplang.terms.values.value import Record, Value

Expected: TypeAlias = str | tuple[Any, ...]
"""An operation with any arguments, or a tuple of operation and arguments.

In the arguments `...` matches anything, and a dict needs only the keys that matter.
"""

Script: TypeAlias = Sequence[tuple[Expected, Any]] | Callable[..., Any]


class Mismatch(AssertionError):
    """The program did not follow its script; the message lists its requests."""


def run_script(
    program: str | os.PathLike[str] | Program,
    script: Script,
    *,
    inputs: Mapping[str, Any] | None = None,
    tools: Iterable[Function] | Functions = (),
    primitives: Functions | None = None,
    limits: Limits | None = None,
    budget: Mapping[str, float] | None = None,
) -> Any:
    """Run a program against a script and return its value as plain Python data.

    A script is a list of pairs: an expected request and its reply. The reply is data, a Failed
    (`sexplang.error(…)`) and, for `model`, anything that a scripted model may say. With several
    branches the first open request that matches the next pair is answered. A deadline (`timer`)
    passes only if the script says so. A function in the place of the list answers every request: it
    is called with the operation and its arguments.

    Raises Mismatch, an AssertionError; Failed, with the requests as a note, if the program fails;
    Diagnostics for a text that is no program.
    """
    if not isinstance(program, Program):
        program = sexplang.build(program, primitives=primitives)
    outcome = sexplang.start(program, inputs=inputs, tools=tools, limits=limits, budget=budget)
    done: list[str] = []
    left = [] if callable(script) else list(script)
    while isinstance(outcome, Suspended):
        if callable(script):
            request = _first(outcome.requests, done)
            reply = _call(script, request)
        else:
            request, reply = _next(outcome.requests, left, done)
        outcome = _answer(outcome, request, reply, done)
    if left and not isinstance(outcome, Failed):
        raise Mismatch(_log(done, "the program ended", f"the script expects {_pair(left[0])}"))
    return _end(outcome, done)


def _end(outcome: Outcome, done: list[str]) -> Any:
    try:
        return sexplang.result(outcome)
    except Failed as failed:
        if done:
            failed.add_note("\n".join(["what the program had asked:", *_number(done)]))
        raise


def _next(
    requests: Sequence[Request], left: list[tuple[Expected, Any]], done: list[str]
) -> tuple[Request, Any]:
    for request in requests:
        if left and _fits_request(left[0][0], request):
            return request, left.pop(0)[1]
    for request in requests:
        if request.operation in SHOWN:
            return request, None
    asked = " and ".join([_show_request(request) for request in requests])
    wanted = f"the script expects {_pair(left[0])}" if left else "the script is at its end"
    raise Mismatch(_log(done, f"the program asks {asked}", wanted))


def _first(requests: Sequence[Request], done: list[str]) -> Request:
    for request in requests:
        if request.operation != "timer":
            return request
    raise Mismatch(_log(done, "the program waits only for time", "a function answers no timer"))


def _call(script: Callable[..., Any], request: Request) -> Any:
    try:
        return script(request.operation, *[plain(each) for each in request.arguments])
    except Failed as failed:
        return failed


def _answer(outcome: Suspended, request: Request, reply: Any, done: list[str]) -> Outcome:
    if not isinstance(reply, Failed) and request.operation == "model":
        try:
            reply = whole_reply(value(reply), request)
        except Refusal as refusal:
            reply = Failed(refusal.error)
    if isinstance(reply, Failed):
        done.append(f"{_show_request(request)} fails: {reply}")
        return outcome.fail(request.id, reply.error)
    answer = value(reply)
    done.append(f"{_show_request(request)} → {_short(answer)}")
    return outcome.resume(request.id, answer)


# -- Matching -----------------------------------------------------------------------------------


def _fits_request(expected: Expected, request: Request) -> bool:
    if isinstance(expected, str):
        return request.operation == expected
    operation, *arguments = expected
    if request.operation != operation or len(arguments) < len(request.arguments):
        return False
    given = [*request.arguments, *[None] * (len(arguments) - len(request.arguments))]
    return all(fits(wanted, item) for wanted, item in zip(arguments, given, strict=True))


def fits(wanted: Any, given: Value) -> bool:
    """Return whether plain data match: `...` is anything, a dict names some keys, 1 is 1.0 but not
    True."""
    work = [(wanted, given)]
    while work:
        wanted, given = work.pop()
        if wanted is ...:
            continue
        if isinstance(given, Record):
            given = given.fields
        if isinstance(wanted, (list, tuple)) and isinstance(given, (list, tuple)):
            if len(wanted) != len(given):
                return False
            work.extend(zip(wanted, given, strict=True))
        elif isinstance(wanted, dict) and isinstance(given, dict):
            if not wanted.keys() <= given.keys():
                return False
            work.extend((item, given[key]) for key, item in wanted.items())
        elif isinstance(wanted, bool) is not isinstance(given, bool) or wanted != given:
            return False
    return True


# -- Showing ------------------------------------------------------------------------------------


def _log(done: list[str], given: str, wanted: str) -> str:
    return "\n".join([given, f"  but {wanted}", *(["after"] if done else []), *_number(done)])


def _number(done: list[str]) -> list[str]:
    return [f"{number:>4}  {line}" for number, line in enumerate(done, 1)]


def _pair(pair: tuple[Expected, Any]) -> str:
    expected, _ = pair
    if isinstance(expected, str):
        return f"({expected} …)"
    return f"({' '.join([str(expected[0]), *[_describe_expected(each) for each in expected[1:]]])})"


def _describe_expected(item: Any) -> str:
    return "…" if item is ... else repr(item)


def _show_request(request: Request) -> str:
    words = [_short(value(argument)) for argument in request.arguments]
    return f"({' '.join([request.operation, *words])})"


def _short(item: Value) -> str:
    words = to_source(item)
    return words if len(words) <= 200 else words[:199] + "…"
