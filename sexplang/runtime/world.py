"""Performers of small operations of the host: `print log progress now random`."""

import json
from collections.abc import Callable
from time import time

from sexplang.guards.secrets import redact_text
from sexplang.runtime.driver.events import Progressed
from sexplang.runtime.driver.requests import OutputLost, Performer, Watch
from sexplang.runtime.files.surrogates import require_text
from sexplang.runtime.refusal import refuse
from sexplang.terms.effect import Request
from sexplang.terms.values.boundary import value_of
from sexplang.terms.values.text import text
from sexplang.terms.values.value import Value

Write = Callable[[str], None]
Log = Callable[[str, str], None]


def make_print(write: Write) -> Performer:
    """Return the performer of `(print value…)`: the texts of the values, separated by spaces, and a
    line break."""

    def perform(request: Request) -> None:
        words = " ".join([text(value_of(argument)) for argument in request.arguments])
        line = redact_text(require_text(words, "print")) + "\n"
        try:
            write(line)
        except OSError as error:
            raise OutputLost(error) from None

    return perform


def make_log(log: Log, run_id: str) -> Performer:
    """Return the performer of `(log level text)`. A table of fields is written as JSON. A nil
    `traceId` in it becomes the run's id."""

    def perform(request: Request) -> None:
        level, words = _pad(request.arguments, 2)
        if isinstance(words, dict):
            if "traceId" in words and words["traceId"] is None:
                words = {**words, "traceId": run_id}
            words = json.dumps(words, ensure_ascii=False)
        line = redact_text(require_text(text(value_of(words)), "log"))
        try:
            log(redact_text(require_text(text(level), "log")) or "info", line)
        except OSError as error:
            raise OutputLost(error) from None

    return perform


def make_progress(on_event: Watch | None) -> Performer:
    """Return the performer of `(progress text fraction)`. The fraction, from 0 to 1, is
    optional."""

    def perform(request: Request) -> None:
        words, fraction = _pad(request.arguments, 2)
        if fraction is not None:
            fraction = float(_number(fraction, "a fraction", '(progress "reading" 0.5)'))
        if on_event is not None:
            line = redact_text(require_text(text(value_of(words)), "progress"))
            on_event(Progressed(request, line, fraction))

    return perform


def make_progress_report(
    request: Request, on_event: Watch | None
) -> Callable[[str, float | None], None] | None:
    """Return a function that reports the progress of a request, if anyone watches."""
    if on_event is None:
        return None
    return lambda words, fraction: on_event(Progressed(request, words, fraction))


def now(request: Request) -> float:
    """Perform `(now)`: UTC seconds."""
    return time()


async def wait(seconds: float) -> None:
    """Wait for some seconds."""
    import anyio

    await anyio.sleep(seconds)


def make_random(run_id: str) -> Performer:
    """Return the performer of `(random)` in [0, 1) and `(random n)`, an integer in [0, n). The
    number is derived from the identities of run and request, so a run repeats."""

    def perform(request: Request) -> float | int:
        (bound,) = _pad(request.arguments, 1)
        from hashlib import sha256  # loads a library

        seed = f"{run_id}/{request.id}".encode()
        if bound is None:
            return (int.from_bytes(sha256(seed).digest()[:7]) >> 3) / 2**53
        if type(bound) is not int or bound < 1:
            raise refuse(
                "wrong-type",
                "`random` takes an integer, 1 or more",
                hint="(random 6) gives 0 to 5; (random) gives a number from 0 up to 1",
            )
        return draw_integer(seed, bound)

    return perform


def draw_integer(seed: bytes, bound: int) -> int:
    """Return an integer in [0, bound). 128 extra bits keep the distribution uniform."""
    from hashlib import sha256

    wanted = (bound.bit_length() + 128) // 8 + 1
    digits, block = b"", 0
    while len(digits) < wanted:
        digits += sha256(seed + block.to_bytes(4)).digest()
        block += 1
    return int.from_bytes(digits[:wanted]) % bound


def _pad(arguments: tuple[Value, ...], size: int) -> tuple[Value, ...]:
    """Fill omitted trailing arguments with nil."""
    return (arguments + (None,) * size)[:size]


def _number(value: Value, what: str, example: str) -> float:
    if type(value) is not int and type(value) is not float:
        raise refuse("wrong-type", f"{what} must be a number", hint=f"for example {example}")
    return float(value) if abs(value) < 1e300 else float("inf")
