"""The limits of models over a fleet: one row of the store for each model.

Law: a permit is taken in one statement, by the clock of the database, so that no two workers take
the last one. A worker without a permit gives its job back with a time. Law: the permits of a lost
worker are free again after a lease.

The time is divided into slots, `SLOTS` of them in a window. Law: no window of the limit's length
has more calls, wherever it begins, if each call begins within `START` seconds after its permit. For
a permit counts at the end of its call, or `START` after it was taken if that is earlier. So what
begins in a window has a permit that counts in it, however busy a worker is.
"""

import re
from collections.abc import Mapping, Sequence
from math import ceil

from sexplang.runtime.fleet.leaves import Reply
from sexplang.runtime.journal.databases import Database
from sexplang.runtime.models.circuit_breaker import OVERLOAD_CODES, Retries
from sexplang.runtime.refusal import refuse
from sexplang.terms.classes.node import field, frozen
from sexplang.terms.values.value import Record

SLOTS = 20
"""Slots in a window."""

COUNTED = SLOTS + 1
"""Slots that are counted: a window begins within one, and ends within another."""

START = 5.0
"""Seconds after its permit by which a call has begun."""

SHORTEST, LONGEST = 0.05, 5.0
"""Seconds after which a job without a permit is offered again."""


@frozen
class Limit:
    """The limits of one model. None is no limit. `window` is in seconds."""

    in_flight: int | None = None
    calls: int | None = None
    tokens: int | None = None
    window: float = 60.0

    @property
    def slot(self) -> float:
        """Seconds of a slot."""
        return self.window / SLOTS

    @property
    def ahead(self) -> int:
        """The slots of START."""
        return ceil(START / self.slot)


@frozen
class Permit:
    """A permit to make one call."""

    queue: str
    name: str
    slot: int
    """The slot in which it counts while its call is open."""


@frozen
class FleetLimits:
    """The limits of models, by queue (`model:NAME`)."""

    limits: Mapping[str, Limit] = field(factory=dict)
    retries: Retries = Retries()

    def bounds(self, queue: str) -> bool:
        """Whether a queue has limits."""
        return queue in self.limits

    def take(self, db: Database, queue: str, name: str, lease: float) -> Permit | float:
        """Take a permit. Return it, or the seconds after which another try is worth it."""
        limit = self.limits[queue]
        given = {
            "model": queue,
            "permit": name,
            "lease": lease,
            "in_flight": limit.in_flight,
            "calls": limit.calls,
            "tokens": limit.tokens,
            "slot": limit.slot,
            "slots": COUNTED,
            "ahead": limit.ahead,
        }
        with db.explain():
            taken = db.execute(*_bind(_TAKE, given)).fetchone()
            if taken is None:
                db.execute(
                    "insert into pressure (model, holders, ends, slots, calls, tokens) "
                    "values (?, '{}', '{}', '{}', '{}', '{}') on conflict do nothing",
                    (queue,),
                )
                taken = db.execute(*_bind(_TAKE, given)).fetchone()
            if taken is not None:
                return Permit(queue, name, int(taken[0]))
            (left,) = db.execute(*_bind(_LEFT, given)).fetchone()
        return float(min(max(left, SHORTEST), LONGEST))

    def renew(self, db: Database, permit: Permit, lease: float) -> None:
        """Hold a permit for another lease."""
        with db.explain():
            db.execute(
                f"update pressure set ends[array_position(holders, ?)] = {db.clock} + ? "
                "where model = ? and array_position(holders, ?) is not null",
                (permit.name, lease, permit.queue, permit.name),
            )

    def shut(self, db: Database, queue: str, seconds: float) -> None:
        """Let no call begin for some seconds: the server has asked for it."""
        with db.explain():
            db.execute(
                f"update pressure set shut = greatest(shut, {db.clock} + ?) where model = ?",
                (seconds, queue),
            )

    def give_back(self, db: Database, permit: Permit, reply: Reply | None) -> None:
        """Give a permit back, with what came of the call: its tokens, and whether its server is
        overloaded or wants no calls for a while."""
        limit = self.limits[permit.queue]
        said = _read(reply, self.retries)
        given = {
            "model": permit.queue,
            "permit": permit.name,
            "taken": permit.slot,
            "slot": limit.slot,
            "slots": COUNTED,
            "used": said.tokens,
            "shut": said.shut,
            "is_failed": int(said.is_failed),
            "is_answered": int(said.is_answered),
            "most_failures": self.retries.overloads,
            "alone": self.retries.alone,
            "most": self.retries.most,
        }
        with db.explain():
            db.execute(*_bind(_GIVE, given))


@frozen
class _Said:
    """What a reply says of its server."""

    tokens: int = 0
    shut: float = 0.0
    """Seconds for which the server wants no calls."""
    is_failed: bool = False
    """Whether the server is overloaded or cannot be reached."""
    is_answered: bool = False


def _read(reply: Reply | None, retries: Retries) -> _Said:
    if reply is None:
        return _Said()
    value, failed, _ = reply
    told = value
    if failed and isinstance(value, Record):
        told = value.fields.get("details")
    usage = told.get("usage") if isinstance(told, dict) else None
    counts = usage if isinstance(usage, dict) else {}
    tokens = sum(each for each in map(counts.get, _COUNTED) if type(each) is int and each > 0)
    if not failed or not isinstance(told, dict):
        return _Said(tokens, is_answered=not failed)
    if told.get("status") == 429 and told.get("code") == "model-busy":
        return _Said(tokens, retries.first)
    is_failed = told.get("code") in OVERLOAD_CODES
    return _Said(tokens, is_failed=is_failed, is_answered=not is_failed)


_COUNTED = ("input_tokens", "output_tokens")


def parse_limit(text: str) -> tuple[str, Limit]:
    """Read `MODEL=in_flight:10,calls:60/5s,tokens:100000/1m`. Return the queue and the limit.
    Raises a Refusal `bad-input`."""
    name, _, rest = text.rpartition("=")
    counts: dict[str, int] = {}
    windows: set[float] = set()
    for word in rest.split(","):
        found = _LIMIT.fullmatch(word.strip())
        kind = found["kind"].replace("-", "_") if found is not None else ""
        if found is None or kind in counts or (kind == "in_flight") != (found["time"] is None):
            raise _refuse_limit(text)
        counts[kind] = int(found["count"])
        if found["time"] is not None:
            windows.add(float(found["time"]) * _UNITS[found["unit"]])
    if not name or len(windows) > 1 or 0 in (*counts.values(), *windows):
        raise _refuse_limit(text)
    return f"model:{name}", Limit(**counts, window=min(windows, default=60.0))


_LIMIT = re.compile(
    r"(?P<kind>in[-_]flight|calls|tokens):(?P<count>\d{1,12})"
    r"(/(?P<time>\d{1,6}(\.\d{1,3})?)(?P<unit>s|m|h))?"
)

_UNITS = {"s": 1, "m": 60, "h": 3600}


def _refuse_limit(text: str) -> Exception:
    return refuse(
        "bad-input",
        f"`{text}` is no limit of a model",
        hint="write MODEL=in_flight:10,calls:60/5s,tokens:100000/5s, with one window for both",
    )


def _bind(statement: str, given: Mapping[str, object]) -> tuple[str, Sequence[object]]:
    """Return a statement with names as one with marks, and its arguments."""
    order: list[object] = []

    def mark(found: "re.Match[str]") -> str:
        order.append(given[found[1]])
        return "?"

    return _NAME.sub(mark, statement), order


_NAME = re.compile(r"(?<!:):(\w+)")

_NOW = "extract(epoch from statement_timestamp())::float8"
"""The time of the database. It is the same in all parts of a statement."""

_SLOT = f"floor({_NOW} / :slot)::bigint"

_IN_FLIGHT = f"(select count(*) from unnest(ends) as held (until) where until > {_NOW})"

_WITHIN = f"at > {_SLOT} - :slots"

_CALLS = (
    f"(select coalesce(sum(each), 0) from unnest(slots, calls) as made (at, each) where {_WITHIN})"
)

_TOKENS = (
    f"(select coalesce(sum(each), 0) from unnest(slots, tokens) as used (at, each) where {_WITHIN})"
)

_IS_OPEN = f"shut <= {_NOW} and (openings = 0 or {_IN_FLIGHT} = 0)"

_HELD = (
    f"from unnest(holders, ends) as held (holder, until) where until > {_NOW} and holder <> :permit"
)


def _add_slots(added: str) -> str:
    """Return the assignments that add rows of a slot, calls and tokens."""
    every = (
        "(select at, calls, tokens from unnest(slots, calls, tokens) as kept (at, calls, tokens) "
        f"where {_WITHIN} union all {added}) as every (at, calls, tokens)"
    )
    sums = [
        f"{column} = (select array_agg(total order by at) from "
        f"(select at, sum({column})::bigint as total from {every} group by at) as summed)"
        for column in ("calls", "tokens")
    ]
    return f"slots = (select array_agg(distinct at order by at) from {every}), {', '.join(sums)}"


_TAKE = (
    f"update pressure set "
    f"holders = (select coalesce(array_agg(holder order by holder), '{{}}') {_HELD}) "
    f"|| array[:permit::text], "
    f"ends = (select coalesce(array_agg(until order by holder), '{{}}') {_HELD}) "
    f"|| array[{_NOW} + :lease::float8], "
    f"{_add_slots(f'select {_SLOT} + :ahead, 1, 0')} "
    f"where model = :model and {_IS_OPEN} "
    f"and (:in_flight::bigint is null or {_IN_FLIGHT} < :in_flight) "
    f"and (:calls::bigint is null or {_CALLS} < :calls) "
    f"and (:tokens::bigint is null or {_TOKENS} < :tokens) "
    f"returning {_SLOT} + :ahead"
)

_OLDEST = (
    "(select min(at) from unnest(slots, calls, tokens) as made (at, calls, tokens) "
    f"where {_WITHIN} and (made.calls > 0 or made.tokens > 0))"
)

_LEFT = (
    f"select greatest(shut - {_NOW}, case when (:calls::bigint is not null and {_CALLS} >= "
    f":calls) or (:tokens::bigint is not null and {_TOKENS} >= :tokens) "
    f"then coalesce((least({_OLDEST}, {_SLOT}) + :slots) * :slot::float8 - {_NOW}, 0) else 0 end) "
    f"from pressure where model = :model"
)

_IS_EARLY = f"{_SLOT} < :taken::bigint"
"""Whether a call has ended before its permit counts. Then it counts now."""

_ENDED = (
    f"select {_SLOT}, case when {_IS_EARLY} then 1 else 0 end, :used::bigint "
    f"union all select :taken::bigint, -1, 0 where {_IS_EARLY}"
)

_OPENS = "(:is_failed = 1 and (openings > 0 or failures + 1 >= :most_failures))"

_GIVE = (
    f"update pressure set "
    f"holders = (select coalesce(array_agg(holder order by holder), '{{}}') {_HELD}), "
    f"ends = (select coalesce(array_agg(until order by holder), '{{}}') {_HELD}), "
    f"{_add_slots(_ENDED)}, "
    f"shut = greatest(shut, {_NOW} + :shut::float8, case when {_OPENS} "
    f"then {_NOW} + least(:alone::float8 * power(2, openings), :most::float8) else 0 end), "
    f"failures = case when :is_answered = 1 then 0 else failures + :is_failed end, "
    f"openings = case when :is_answered = 1 then 0 when {_OPENS} then openings + 1 "
    f"else openings end "
    f"where model = :model"
)
