"""Places inside the transactions of a worker, and a trap that holds it there until it is stopped.

Each worker is another user of the database. A trigger lets the first of them that comes to a place
wait for a lock that the test has. The test sees who waits, stops that process by its id, and lets
the lock go: the server executes the rest of the statement, and its answer reaches nobody.
"""

from contextlib import contextmanager
from time import monotonic, sleep

import psycopg

from sexplang.terms.classes.node import frozen

NAMES = ("w0", "w1", "w2")
"""The users, one for each worker."""

FIRST, HELD = 7701, 7702
"""The numbers of two locks: of who came first, and the one that the test holds."""


@frozen
class Place:
    """A change of one row, after which a worker is held."""

    table: str
    event: str
    condition: str = "true"
    """What is true of the change: an expression of `old` and `new`."""


def _query(words):
    return f"current_query() like '%{words}%'"


JOBS, WORKERS = "procrastinate_jobs", "procrastinate_workers"

_RUN, _LEAF = "task_name = 'sexplang.drive'", "task_name = 'sexplang.perform'"

_TIMER = "new.task_name = 'sexplang.look'"

_ENDS, _REAPS, _RESTORES, _OFFERS = map(
    _query, ("finish_job", "with gone as", "as owed", "make_interval")
)

PLACES = {
    # The engine
    "claims the job of a run": Place(JOBS, "update", f"new.status = 'doing' and new.{_RUN}"),
    "claims the job of a leaf": Place(JOBS, "update", f"new.status = 'doing' and new.{_LEAF}"),
    "ends the job of a run": Place(JOBS, "delete", f"{_ENDS} and old.{_RUN}"),
    "ends the job of a leaf": Place(JOBS, "delete", f"{_ENDS} and old.{_LEAF}"),
    "gives a sign of life": Place(WORKERS, "update"),
    "gives back a leaf without a permit": Place(
        JOBS, "insert", f"new.{_LEAF} and new.scheduled_at is not null"
    ),
    "gives back a run that it may not drive": Place(JOBS, "insert", f"{_TIMER} and {_OFFERS}"),
    "removes the job of a dead worker": Place(JOBS, "delete", _REAPS),
    "puts a job instead": Place(JOBS, "insert", _REAPS),
    "puts a job that is owed": Place(JOBS, "insert", _RESTORES),
    "sets a timer": Place(JOBS, "insert", f"{_TIMER} and not {_OFFERS} and not {_RESTORES}"),
    "wakes a run whose time has come": Place(
        JOBS,
        "insert",
        f"new.{_RUN} and new.scheduled_at is null and not {_RESTORES} and not {_REAPS}",
    ),
    # The leaves
    "puts a leaf": Place("leaves", "insert"),
    "puts the job of a leaf": Place(
        JOBS, "insert", f"new.{_LEAF} and new.scheduled_at is null and not {_RESTORES}"
    ),
    "takes a permit": Place("pressure", "update", "cardinality(new.ends) > cardinality(old.ends)"),
    "frees a permit": Place("pressure", "update", "cardinality(new.ends) < cardinality(old.ends)"),
    "claims a leaf": Place("leaves", "update", "new.claims > old.claims"),
    "holds a leaf": Place("leaves", "update", "new.until > old.until and new.claims = old.claims"),
    "settles a leaf": Place("leaves", "update", "old.settled is null and new.settled is not null"),
    "forgets a leaf": Place("leaves", "delete", "old.delivered is not null"),
    "takes a reply": Place("leaves", "update", "old.delivered is null and new.delivered > 0"),
    # The driver
    "gives a run its terms": Place("runs", "update", "new.header <> old.header"),
    "begins to drive": Place("runs", "update", "new.boots > old.boots"),
    "keeps an entry": Place("entries", "insert", "new.seq > 3"),
    "keeps a snapshot": Place("snapshots", "insert"),
    "says why a run waits": Place("runs", "update", "new.held is not null"),
    "parks a run": Place("runs", "update", "new.state = 'waiting'"),
    "keeps a question": Place("questions", "insert"),
    "ends a run": Place("runs", "update", "new.state = 'done'"),
}
"""What a worker does, and where."""

BEGINNING = {
    "removes the row of a dead worker": Place(WORKERS, "delete"),
    "registers itself": Place(WORKERS, "insert"),
}
"""What a worker does when it begins."""

_TRAP = f"""
create or replace function sexplang.hold() returns trigger language plpgsql as $$
begin
  if current_user like 'w_' and pg_try_advisory_xact_lock({FIRST}) then
    perform pg_advisory_xact_lock_shared({HELD});
  end if;
  return null;
end $$
"""

_WAITING = (
    "select usename from pg_locks join pg_stat_activity using (pid) "
    f"where locktype = 'advisory' and not granted and objid = {HELD}"
)


def name_address(address, name):
    """Return the address of a database for another user."""
    return address.replace("sexplang@", f"{name}@")


def make_users(connection):
    """Make the users of the workers."""
    for name in NAMES:
        if not connection.execute("select 1 from pg_roles where rolname = %s", [name]).fetchone():
            connection.execute(f"create role {name} superuser login")


@contextmanager
def trap(address, place):
    """Hold the first worker that comes to a place; give the function that waits until one is held
    and returns its name. The lock is let go when the block ends."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("select pg_advisory_lock(%s)", [HELD])
        connection.execute(_TRAP)
        connection.execute(
            f"create trigger held after {place.event} on sexplang.{place.table} for each row "
            f"when ({place.condition}) execute function sexplang.hold()"
        )

        def wait(seconds=20.0):
            until = monotonic() + seconds
            while not (found := connection.execute(_WAITING).fetchone()):
                assert monotonic() < until, "nobody comes to this place"
                sleep(0.005)
            return found[0]

        yield wait
