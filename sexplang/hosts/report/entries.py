"""The sums of a recorded run: usage, time and dollars of each entry and of everything below it."""

from collections.abc import Iterator
from typing import Any

from sexplang.runtime.driver import events
from sexplang.runtime.journal.recording_reader import Entry, Recording
from sexplang.runtime.models.prices import FREE, rates
from sexplang.terms.classes.node import define, field
from sexplang.terms.json.tagged import dump, pack

USAGE = (
    "input_tokens",
    "output_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
)
"""The counters of a model's usage. Cached tokens are separate from `input_tokens`."""


@define(eq=False)
class Sum:
    """The sums of an entry and of everything below it.

    `rows` are answered requests, `tries` the attempts beyond the first of each, `withdrawn` the
    withdrawn model calls, `uncounted` the attempts whose input was not counted. `usd` is None if a
    price is not known.
    """

    rows: int = 0
    calls: int = 0
    withdrawn: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float | None = 0.0
    errors: int = 0
    tries: int = 0
    uncounted: int = 0

    def add(self, other: "Sum") -> None:
        self.rows += other.rows
        self.calls += other.calls
        self.withdrawn += other.withdrawn
        self.tokens_in += other.tokens_in
        self.tokens_out += other.tokens_out
        self.usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        self.errors += other.errors
        self.tries += other.tries
        self.uncounted += other.uncounted


@define(eq=False)
class Run:
    """A recording with its sums, by the numbers of its entries.

    Times are seconds since the epoch; `until` is the last that is recorded.
    """

    recording: Recording
    sums: dict[int, Sum] = field(factory=dict)
    until: float = 0.0

    @property
    def root(self) -> Entry:
        return self.recording.root

    @property
    def state(self) -> str:
        """Return how the run ended: done, failed, or not finished."""
        if self.root.ended is None:
            return "not finished"
        return "failed" if self.root.error is not None else "done"

    def seconds(self, entry: Entry) -> float:
        return max(0.0, (self.until if entry.ended is None else entry.ended) - entry.began)


def sum_entries(recording: Recording) -> Run:
    """Return the recording with the sums of every entry."""
    default = recording.root.model or ""

    def price(named: str | None, name: str, *tokens: int) -> float | None:
        if name not in recording.prices:  # the recording has no prices
            then = recording.answers.get(named)
            asked = default if then is None else then.model
            if asked.partition(":")[0] in FREE:
                return 0.0
            each = rates(name)
            return None if each is None else each.cost(*tokens)
        each = recording.prices[name]
        return None if each is None else each.cost(*tokens)

    entries = recording.entries
    run = Run(recording, until=max([each.ended or each.began for each in entries]))
    for entry in entries:
        run.sums[entry.number] = _own(entry, price)
    for entry in reversed(entries):  # an entry begins after its parent
        if entry.above is not None:
            run.sums[entry.above.number].add(run.sums[entry.number])
    run.sums[run.root.number].withdrawn += recording.unmade
    return run


def sum_doubts(run: Run) -> Sum:
    """Return what calls of a model that were in doubt may have cost beside the sums: each time as
    much as its reply cost. `usd` is None if one has no reply or no known price."""
    rows = {each.row.id: each for each in run.recording.rows if each.row is not None}
    total = Sum()
    for doubt in run.recording.doubts:
        if doubt["operation"] == "model":
            entry = rows.get(doubt["id"])
            if entry is None or entry.error is not None:
                total.add(Sum(calls=1, usd=None))
            else:
                total.add(run.sums[entry.number])
    return total


def _own(entry: Entry, price: Any) -> Sum:
    row = entry.row or entry.part
    if entry.row is not None:
        own = Sum(1, errors=int(entry.row.failed), tries=max(0, entry.row.attempts - 1))
        own.calls = int(entry.name == "model" and entry.row.attempts > 0)
    else:
        is_call = entry.kind == "request" and entry.name == "model"
        own = Sum(withdrawn=int(entry.cut and is_call))
    if row is not None and entry.name == "model":
        used = {name: _count(row.usage.get(name)) for name in USAGE}
        taken, given, written, read = used.values()
        own.tokens_in, own.tokens_out = taken + written + read, given
        own.uncounted = _count(row.usage.get("uncounted")) + _was_cut_uncounted(row.reply)
        name = model_of(entry)
        if not row.failed or row.usage:
            own.usd = (
                None
                if name is None
                else price(model_in_program(entry), name, taken, given, written, read)
            )
    return own


def _was_cut_uncounted(part: Any) -> bool:
    """Return whether an attempt was cut of which nothing was counted."""
    return isinstance(part, dict) and "uncounted" in part


def model_in_program(entry: Entry) -> str | None:
    """Return the model that the program named, or None."""
    return None if entry.row is None else events.model_name_of(entry.row)


def model_of_host(run: Run, entry: Entry) -> str | None:
    """Return the model that the host asked for it."""
    is_call = entry.kind == "request" and entry.name == "model"
    then = run.recording.answers.get(model_in_program(entry)) if is_call else None
    return None if then is None else then.model


def model_of(entry: Entry) -> str | None:
    """Return the model that the reply names."""
    row = entry.row or entry.part
    return None if row is None else row.model


def _count(number: Any) -> int:
    return number if type(number) is int and number > 0 else 0


def around(entry: Entry) -> Iterator[Entry]:
    """Yield the ancestors of an entry, the nearest first."""
    above = entry.above
    while above is not None:
        yield above
        above = above.above


def as_data(run: Run) -> str:
    """Return the rows as one JSON document; lone surrogates are escaped."""
    rows = [_plain(run, each) for each in run.recording.rows]
    total, doubtful = run.sums[run.root.number], sum_doubts(run)
    text = dump(
        {
            "run": run.recording.run,
            "name": run.root.name,
            "state": run.state,
            "seconds": run.seconds(run.root),
            "calls": total.calls,
            "withdrawn": total.withdrawn,
            "tokens_in": total.tokens_in,
            "tokens_out": total.tokens_out,
            "uncounted": total.uncounted,
            "usd": total.usd,
            "doubts": list(run.recording.doubts),
            "doubtful": {
                "calls": doubtful.calls,
                "tokens_in": doubtful.tokens_in,
                "tokens_out": doubtful.tokens_out,
                "usd": doubtful.usd,
            },
            "rows": rows,
        }
    )
    return text.encode(errors="backslashreplace").decode() + "\n"


def _plain(run: Run, entry: Entry) -> dict[str, Any]:
    row, own = entry.row, run.sums[entry.number]
    assert row is not None
    return {
        "id": row.id,
        "operation": row.operation,
        "task": entry.task,
        "within": [f"{each.kind} {each.name}" for each in around(entry)][::-1],
        "place": entry.position,
        "started": row.started,
        "ended": row.ended,
        "seconds": run.seconds(entry),
        "attempts": row.attempts,
        "retries": pack(entry.retries),
        "named": model_in_program(entry),
        "answered": model_of_host(run, entry),
        "model": model_of(entry),
        "tokens_in": own.tokens_in,
        "tokens_out": own.tokens_out,
        "usd": own.usd,
        "arguments": pack(row.arguments),
        "error" if row.failed else "reply": pack(row.reply),
    }
