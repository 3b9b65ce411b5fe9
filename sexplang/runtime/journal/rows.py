"""The rows of a journal: what a run was given, and what a replay must repeat."""

from time import time
from typing import Any

from sexplang.terms.classes.node import define
from sexplang.terms.effect import Part
from sexplang.terms.json.tagged import dump, pack
from sexplang.terms.quota import STEPS
from sexplang.terms.values.value import Record, Value

LONE = "backslashreplace"
"""The error handler that encodes a surrogate half as JSON writes it."""


@define(eq=False)
class Row:
    """One answered request. `reply` is a value, or an error record if `failed`.

    Not frozen, for speed; it is not changed after it is appended.
    """

    id: str
    operation: str
    arguments: tuple[Value, ...]
    reply: Value
    failed: bool
    attempts: int
    started: float
    ended: float
    clock: float = 0.0
    """Seconds since the start of the drive at which the row was appended."""

    @property
    def digest(self) -> str:
        """The sha256 of the request's canonical JSON. Computed on demand: values are immutable, and
        most runs in memory do not need it."""
        return digest(self.operation, self.arguments)

    @property
    def model(self) -> str | None:
        """The model that replied, or that counted a partial reply, by its own name."""
        return self.read_usage()[0]

    @property
    def usage(self) -> dict[str, Value]:
        """Tokens of a model call over all attempts, as reported."""
        return self.read_usage()[1]

    def read_usage(self) -> tuple[str | None, dict[str, Value]]:
        """Return the model and the usage. A reply that an earlier run has paid has no attempts, and
        no usage."""
        said = self.reply if self.operation in _USAGE_OPERATIONS else None
        if self.failed and isinstance(said, Record):
            said = said.fields.get("details")
        if not isinstance(said, dict):
            return None, {}
        name, usage = said.get("model"), said.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        is_said = isinstance(name, str) and name and (usage or not self.failed)
        return name if is_said else None, usage if self.attempts else {}

    def plain(self) -> dict[str, Any]:
        """Return the row as data for a recording."""
        return {
            "id": self.id,
            "operation": self.operation,
            "digest": self.digest,
            "arguments": pack(self.arguments),
            "attempts": self.attempts,
            "error" if self.failed else "reply": pack(self.reply),
            "usage": pack(self.usage),
            "started": self.started,
            "ended": self.ended,
            "clock": self.clock,
        }


CANCEL = "cancel"
"""The operation of a row that records a cancellation from outside."""


def make_cancellation_row() -> Row:
    """Return the row of a cancellation from outside."""
    now = time()
    return Row("", CANCEL, (), None, False, 1, now, now)


ATTEMPT = "attempt"
"""The operation of a row that records a failed attempt which is followed by another."""


def make_attempt_row(id: str, attempt: int, usage: dict[str, int]) -> Row:
    """Return the row after which the request's budgets hold the usage of a failed attempt."""
    now = time()
    return Row(id, ATTEMPT, (), usage, False, attempt, now, now)


PASSED = "passed"
"""The operation of a row that records a deadline which fired while the run computed."""


def make_deadline_row(scope: str, at: str, steps: int) -> Row:
    """Return the row of a deadline that fired `steps` steps after the branch of `at` could have
    made its next request."""
    now = time()
    return Row(scope, PASSED, (at, steps, STEPS), None, False, 1, now, now)


CUT = "cut"
"""The operation of a row that records a request withdrawn by the delivery of the last ordinary row.
"""

_USAGE_OPERATIONS = ("model", CUT)
"""The operations of rows that contain a model's usage."""


def make_withdrawal_row(id: str, asked: str, part: Part) -> Row:
    """Return the row with the partial reply of a withdrawn call. `asked` is the digest of the
    request, or empty if it was not sent."""
    now = time()
    return Row(id, CUT, (asked,), part, False, 1, now, now)


def digest(operation: str, arguments: tuple[Value, ...]) -> str:
    """Return the sha256 of a request's canonical JSON: sorted keys, no white space."""
    from hashlib import sha256

    asked = dump([operation, pack(arguments)], canonical=True)
    return sha256(asked.encode("utf-8", LONE)).hexdigest()
