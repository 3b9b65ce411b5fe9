"""The engine on procrastinate, a task queue on PostgreSQL, in the database of the store.

A run is a job of the queue `run` with `lock` and `queueing_lock` of its id, so one worker has it
and several wake-ups are one job. Its timer is a job without `lock`, because a waiting job keeps
later ones with its lock from being claimed; when its time comes, it wakes the run.

Law: the end of a job is not fenced in procrastinate. So the job of a dead worker is replaced by
another one instead of being retried: its worker, woken later, ends a job that is not there.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from itertools import count
from json import dumps
from typing import TYPE_CHECKING, Any

from sexplang.runtime.fleet.engine import Leaf, Owed, Wake, Work
from sexplang.runtime.journal.databases import Database
from sexplang.runtime.journal.databases.database import refuse_failed
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.classes.node import define, evolve, field

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from procrastinate import App
    from procrastinate.job_context import JobContext
    from procrastinate.worker import Worker

RUNS = "run"
"""The queue of runs."""

DRIVE, LOOK, PERFORM = "sexplang.drive", "sexplang.look", "sexplang.perform"
"""The tasks of the jobs: drive a run, wake a run whose time has come, perform a leaf."""

SCHEMA = "sexplang"
"""The schema of the tables: that of the store."""

CONNECTIONS = 4
"""Most connections of a worker, beside one for notifications of each of runs and leaves."""

CONNECT = 10
"""Seconds to wait for a connection."""

POLL = 5.0
"""The most seconds between two looks for a job whose time has come. Others are notified."""

BEATS = 4
"""Signs of life in a lease, and looks for dead workers."""

RESTART = 1.0
"""Seconds before a worker that has lost the database tries again."""

REAPER = 0x73787072
"""The number of the advisory lock of the process that looks for dead workers."""

LONGEST = 40
"""Bytes of the name of a queue: a channel has 63 with what procrastinate puts before it."""

_LOG = logging.getLogger("sexplang.fleet")

_COLUMNS = "(queue_name, task_name, priority, lock, queueing_lock, args, scheduled_at)"

_PUT = f"insert into procrastinate_jobs {_COLUMNS} "

_ONCE = " on conflict (queueing_lock) where status = 'todo' do nothing"

_MOVE = (
    " on conflict (queueing_lock) where status = 'todo' do update set "
    "scheduled_at = excluded.scheduled_at, priority = excluded.priority "
    "where procrastinate_jobs.scheduled_at is distinct from excluded.scheduled_at"
)


@define(eq=False)
class ProcrastinateEngine:
    """The engine of a store. Its statements are those of the store's connection; `work` has
    connections of its own."""

    _db: Database
    _url: str = field(repr=False)

    def carry(self, leaves: Iterable[Leaf]) -> None:
        rows = [_leaf_job(each) for each in leaves]
        if rows:
            self._db.executemany(f"{_PUT} values {_MARKS} {_ONCE}", rows)

    def wake(self, run: str, at: float | None = None, priority: int = 0) -> None:
        self._db.execute(
            f"{_PUT} values {_MARKS} {_ONCE if at is None else _MOVE}",
            _run_job(Wake(run, at, priority)),
        )

    def cancel(self, ids: Iterable[str]) -> None:
        locks = [lock for id in ids for lock in (id, _name_timer(id))]
        self._db.execute(
            "delete from procrastinate_jobs where status = 'todo' and queueing_lock = any(?)",
            (locks,),
        )

    def count(self) -> dict[str, int]:
        """Return how many jobs wait or are done, by `TASK STATUS`. Raises Refusal."""
        with self._db.explain():
            found = self._db.execute(
                "select task_name || ' ' || status, count(*) from procrastinate_jobs group by 1"
            )
        return {name.removeprefix("sexplang."): count for name, count in found}

    async def work(self, places: int, work: Work) -> None:
        errors = _errors()
        asyncio.get_running_loop().set_exception_handler(partial(_tell_unheard, errors))
        while not work.stop.is_set():
            try:
                async with _open_app(self._url, work.lease) as app:
                    await _Claims(app, places, work).run()
            except errors as error:
                said = _first_line(error)
                if work.once:
                    if isinstance(error, Refusal):
                        raise
                    raise refuse("store-failed", f"the engine has failed: {said}") from None
                _LOG.warning("the engine has failed, and is tried again: %s", said)
            if work.once:
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(work.stop.wait(), RESTART)


def _first_line(error: Exception) -> str:
    return str(error.__cause__ or error).split("\n")[0]


def _tell_unheard(
    errors: tuple[type[Exception], ...],
    loop: asyncio.AbstractEventLoop,
    context: dict[str, Any],
) -> None:
    """Say in one sentence that the end of a job could not be noted, as when another worker has the
    job: this one was silent for a lease."""
    error = context.get("exception")
    if not isinstance(error, errors):
        loop.default_exception_handler(context)
        return
    said = _first_line(error)
    _LOG.warning("the end of a job is not noted, and another worker looks at it: %s", said)


_MARKS = "(?, ?, ?, ?, ?, ?::jsonb, to_timestamp(?))"


def _run_job(wake: Wake) -> tuple[Any, ...]:
    args = dumps({"run": wake.run})
    if wake.at is None:
        return RUNS, DRIVE, wake.priority, wake.run, wake.run, args, None
    return RUNS, LOOK, wake.priority, None, _name_timer(wake.run), args, wake.at


def _leaf_job(leaf: Leaf) -> tuple[Any, ...]:
    args = dumps({"run": leaf.run, "request": leaf.request})
    return _name_queue(leaf.queue), PERFORM, leaf.priority, None, leaf.id, args, None


def _name_queue(queue: str) -> str:
    """Return the engine's name of a queue: a long one is its kind and a digest."""
    known = queue.encode()
    if len(known) <= LONGEST:
        return queue
    return f"{queue.partition(':')[0]}:{sha256(known).hexdigest()[:32]}"


def _name_timer(run: str) -> str:
    return f"{run}@timer"


@define(eq=False)
class _Claims:
    """What one worker claims, on the connections of an app."""

    app: "App"
    places: int
    work: Work
    rings: set[tuple[str, int]] = field(factory=set)
    is_idle: bool = True
    """Whether nothing was claimed since the last look."""

    @property
    def queues(self) -> Mapping[str, str]:
        """The queues of its leaves, by the engine's names."""
        return {_name_queue(each): each for each in self.work.queues}

    async def run(self) -> None:
        """Work until the worker is told to stop, or the connection is lost."""
        for name, function in ((DRIVE, self.drive), (LOOK, self.look), (PERFORM, self.perform)):
            self.app.task(name=name, pass_context=True)(function)
        if self.work.once:
            await self.reap()
            while not self.work.stop.is_set():
                self.is_idle = True
                workers = self._make_workers()
                stopping = asyncio.create_task(self._stop(workers))
                try:
                    await asyncio.gather(*[each.run() for each in workers])
                finally:
                    stopping.cancel()
                if self.is_idle:
                    return
            return
        workers = self._make_workers()
        running = [asyncio.create_task(each.run()) for each in workers]
        aside = [asyncio.create_task(each) for each in (self._stop(workers), self._keep_up())]
        try:
            await asyncio.wait([*running, aside[1]], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in workers:
                each.stop()
            ended = await asyncio.gather(*running, return_exceptions=True)
            for task in aside:
                task.cancel()
            ended += await asyncio.gather(*aside, return_exceptions=True)
        for error in ended:
            if isinstance(error, Exception):
                raise error

    def _make_workers(self) -> "list[Worker]":
        # Runs and leaves have places of their own: a run may wait for a leaf.
        from procrastinate.jobs import DeleteJobCondition
        from procrastinate.worker import Worker

        queues = [[RUNS], list(self.queues)]
        lease = self.work.lease
        return [
            Worker(
                self.app,
                queues=each,
                concurrency=self.places,
                wait=not self.work.once,
                # A notification that comes while it fetches is lost.
                fetch_job_polling_interval=min(POLL, lease / BEATS),
                abort_job_polling_interval=3600,
                shutdown_graceful_timeout=self._grace(each),
                delete_jobs=DeleteJobCondition.ALWAYS,
                install_signal_handlers=False,
                update_heartbeat_interval=lease / BEATS,
                stalled_worker_timeout=lease,
            )
            for each in queues
            if each
        ]

    def _grace(self, queues: list[str]) -> float | None:
        """Return how long what is under way may hold up a new beginning if the engine has failed.
        A run goes on in its thread."""
        if self.work.once:
            return None
        return 0.0 if RUNS in queues else min(self.work.lease, self.work.grace)

    async def _stop(self, workers: "Sequence[Worker]") -> None:
        await self.work.stop.wait()
        for each in workers:
            each.shutdown_graceful_timeout = self.work.grace
            each.stop()

    async def _keep_up(self) -> None:
        """Replace the jobs of dead workers four times in a lease, and what is lost once."""
        for beat in count():
            await self.reap(is_whole=beat % BEATS == 0)
            await asyncio.sleep(self.work.lease / BEATS)

    async def reap(self, is_whole: bool = True) -> None:
        """Replace the jobs of dead workers, and put jobs for what the journal says is owed, if no
        other process does so."""
        # Before the transaction: on a slow network it takes as long as the server waits for one.
        owed = await asyncio.to_thread(self.work.find_owed) if is_whole else Owed()
        connector = self.app.connector
        asked = f"select pg_try_advisory_xact_lock({REAPER}) as is_ours"
        async with (
            connector.pool.connection() as connection,  # type: ignore[attr-defined]
            connection.transaction(),
        ):
            found = await (await connection.execute(asked)).fetchone()
            if not found[0]:
                return
            await connection.execute(_END_STOPPED, {"lease": self.work.lease})
            manager = self.app.job_manager
            for job in await manager.get_stalled_jobs(seconds_since_heartbeat=self.work.lease):
                await connection.execute(_REPLACE, {"id": job.id, "worker": job.worker_id})
            await _restore(connection, owed)

    async def drive(self, context: "JobContext", run: str) -> None:
        """The task of a run: drive it until nobody wakes it any more."""
        self.is_idle = False
        again = Wake(run, priority=context.job.priority)
        try:
            while True:
                later = await self.work.drive(run)
                if later is not None:
                    await self._offer(_run_job(evolve(again, at=0.0)), later)
                    self._ring_at(RUNS, later)
                    return
                # A wake-up that came meanwhile could not be claimed, and nobody is notified now.
                if self.work.stop.is_set() or not await self._take_wake(run):
                    return
        except asyncio.CancelledError:
            await asyncio.shield(self._offer(_run_job(again), None))
            raise

    async def look(self, context: "JobContext", run: str) -> None:
        """The task of a timer: wake its run."""
        self.is_idle = False
        await self._offer(_run_job(Wake(run, priority=context.job.priority)), None)

    async def perform(self, context: "JobContext", run: str, request: str) -> None:
        """The task of a leaf."""
        self.is_idle = False
        assert self.work.perform is not None
        queue = context.job.queue
        leaf = Leaf(run, request, self.queues[queue], context.job.priority)
        try:
            later = await self.work.perform(leaf)
        except asyncio.CancelledError:
            await asyncio.shield(self._offer(_leaf_job(leaf), 0.0))
            raise
        if later is not None:
            await self._offer(_leaf_job(leaf), later)
            self._ring_at(queue, later)

    def _ring_at(self, queue: str, later: float) -> None:
        """Let the workers of a queue look in so many seconds, when a job is due: they would look
        after POLL. Ten times a second at most."""
        loop = asyncio.get_running_loop()
        tick = int((loop.time() + later) / _TICK) + 1
        if (queue, tick) not in self.rings:
            self.rings.add((queue, tick))
            loop.call_at(tick * _TICK, lambda: loop.create_task(self._ring(queue, tick)))

    async def _ring(self, queue: str, tick: int) -> None:
        self.rings.discard((queue, tick))
        with suppress(*_errors()):
            await self.app.connector.execute_query_async(
                "select pg_notify('procrastinate_queue_v1#' || %(queue)s, "
                """'{"type": "job_inserted", "job_id": 0}')""",
                queue=queue,
            )

    async def _take_wake(self, run: str) -> bool:
        taken = await self.app.connector.execute_query_all_async(
            "delete from procrastinate_jobs where status = 'todo' and queueing_lock = %(run)s "
            "returning id",
            run=run,
        )
        return bool(taken)

    async def _offer(self, job: tuple[Any, ...], later: float | None) -> None:
        """Put a job, for now or so many seconds from now by the clock of the database."""
        await self.app.connector.execute_query_async(
            f"{_PUT} values (%(queue)s, %(task)s, %(priority)s, %(lock)s, %(queueing_lock)s, "
            "%(args)s::jsonb, now() + make_interval(secs => %(later)s::float8)) "
            f"{_ONCE if later is None else _MOVE}",
            **dict(zip(_FIELDS, job, strict=False)),
            later=later,
        )


_TICK = 0.1
"""Seconds between two moments at which workers are told that a job is due."""

_FIELDS = ("queue", "task", "priority", "lock", "queueing_lock", "args", "at")

_END_STOPPED = (
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() "
    "and pg_has_role(usesysid, 'usage') and application_name in ('sexplang', 'sexplang engine') "
    "and state <> 'idle' and wait_event in ('ClientRead', 'ClientWrite') and greatest(query_start, "
    "state_change) < clock_timestamp() - make_interval(secs => %(lease)s::float8)"
)
"""End the connections of stopped processes that take nothing of a long answer, or have sent a part
of several statements. No timeout of the server ends them, and they hold locks. (A message `Flush`
after the last statement of a pipeline ends the timeout of an idle transaction.)"""

_REPLACE = (
    "with gone as (delete from procrastinate_jobs where id = %(id)s and status = 'doing' "
    "and worker_id is not distinct from %(worker)s returning *) "
    f"{_PUT} select queue_name, task_name, priority, lock, queueing_lock, args, null from gone"
    f"{_ONCE}"
)
"""Another job instead of that of a dead worker, unless one waits already."""

_RESTORE = (
    f"{_PUT} select queue, task, priority, lock, queueing_lock, args::jsonb, to_timestamp(at) "
    "from unnest(%(queue)s::text[], %(task)s::text[], %(priority)s::int[], %(lock)s::text[], "
    "%(queueing_lock)s::text[], %(args)s::text[], %(at)s::float8[]) "
    f"as owed ({', '.join(_FIELDS)}) "
    "where not exists (select 1 from procrastinate_jobs each where each.status = 'doing' "
    f"and each.args = owed.args::jsonb){_ONCE}"
)
"""Jobs for what is owed and neither waits nor is done now."""


async def _restore(connection: Any, owed: Owed) -> None:
    rows = [*map(_run_job, owed.wakes), *map(_leaf_job, owed.leaves)]
    if rows:
        columns = zip(*rows, strict=True)
        await connection.execute(_RESTORE, dict(zip(_FIELDS, map(list, columns), strict=True)))


@asynccontextmanager
async def _open_app(url: str, lease: float) -> "AsyncIterator[App]":
    from procrastinate import App, PsycopgConnector

    async def configure(connection: Any) -> None:
        # A worker that is stopped after a statement holds nothing.
        await connection.set_autocommit(True)

    connector = PsycopgConnector(
        conninfo=url,
        kwargs=connect_options(lease),
        configure=configure,
        min_size=1,
        max_size=CONNECTIONS,
    )
    app = App(connector=connector)
    async with app.open_async():
        yield app


def connect_options(lease: float) -> dict[str, Any]:
    """Return how the engine connects. The server ends a connection that is silent in a
    transaction, whose rows nobody else could claim.

    A claim that was planned while the table was empty would read all of it for each of its jobs:
    seconds among 10,000. So it goes by indexes. Where a statement has none, the server's estimate
    is so high that it would be compiled each time."""
    milliseconds = max(1, round(lease * 1000))
    return {
        "options": f"-c search_path={SCHEMA} -c idle_in_transaction_session_timeout={milliseconds} "
        "-c enable_seqscan=off -c jit=off",
        "application_name": "sexplang engine",
        "connect_timeout": CONNECT,
        "keepalives_idle": max(1, round(lease)),
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": milliseconds,
    }


def _errors() -> tuple[type[Exception], ...]:
    """Return the errors of a lost database."""
    import psycopg
    from procrastinate.exceptions import AppNotOpen, ConnectorException

    return AppNotOpen, ConnectorException, psycopg.Error, Refusal


def open_engine(db: Database, url: str, *, must_exist: bool) -> ProcrastinateEngine | None:
    """Return the engine of an open store. Its tables are made if they are not there; with
    `must_exist` None says that there are none. Raises a Refusal `store-failed` or `bad-store`."""
    with db.explain():
        is_there = _has_tables(db)
        if must_exist:
            return ProcrastinateEngine(db, url) if is_there else None
        _prepare(db)
    return ProcrastinateEngine(db, url)


def _has_tables(db: Database) -> bool:
    found = db.execute(
        "select count(*) from pg_tables where schemaname = ? and tablename = any(?)",
        (SCHEMA, list(_TABLES)),
    )
    return bool(found.fetchone()[0] == len(_TABLES))


_TABLES = ("procrastinate_jobs", "procrastinate_workers", "procrastinate_events")

_INDEX = """
create index sexplang_jobs_lock on procrastinate_jobs (lock) where status in ('todo', 'doing')
"""
"""A claim looks for the other jobs with the lock of each job that waits. procrastinate has no index
for it."""

_CLEAR = f"""do $$ declare each record; begin
for each in select tablename as name from pg_tables
  where schemaname = '{SCHEMA}' and starts_with(tablename, 'procrastinate_')
loop execute 'drop table {SCHEMA}.' || each.name || ' cascade'; end loop;
for each in select oid::regprocedure as name from pg_proc
  where pronamespace = '{SCHEMA}'::regnamespace and starts_with(proname, 'procrastinate_')
loop execute 'drop function ' || each.name || ' cascade'; end loop;
for each in select oid::regtype as name from pg_type
  where typnamespace = '{SCHEMA}'::regnamespace and starts_with(typname, 'procrastinate_')
loop execute 'drop type ' || each.name || ' cascade'; end loop;
end $$"""
"""Drop what is left of tables that were dropped in part. What they held is in the journal."""


def _find_version(db: Database) -> tuple[str, str] | None:
    """Return the digest and the version of the tables, if this package made them."""
    asked = "select 1 from pg_tables where schemaname = ? and tablename = 'engine'"
    if db.execute(asked, (SCHEMA,)).fetchone() is None:
        return None
    known: tuple[str, str] | None = db.execute(
        f"select digest, release from {SCHEMA}.engine"
    ).fetchone()
    return known


def _prepare(db: Database) -> None:
    """Make the tables of the installed procrastinate, or compare with them."""
    try:
        from procrastinate.schema import SchemaManager
    except ImportError:
        raise refuse_failed(
            db.address,
            "`procrastinate` is not installed",
            "type: pip install 'sexplang[fleet]'",
        ) from None
    text = SchemaManager.get_schema()
    digest, release = sha256(text.encode()).hexdigest(), version("procrastinate")
    if _has_tables(db) and _find_version(db) == (digest, release):
        return
    with db.transaction():
        db.execute("select pg_advisory_xact_lock(?)", (REAPER + 1,))
        db.execute(f"create table if not exists {SCHEMA}.engine (digest text, release text)")
        known = _find_version(db)
        if not _has_tables(db):
            db.execute(_CLEAR)
            db.execute(text.replace("%", "%%") + _INDEX)
            db.execute(f"delete from {SCHEMA}.engine")
            db.execute(f"insert into {SCHEMA}.engine values (?, ?)", (digest, release))
        elif known is None or known[0] != digest:
            theirs = "an unknown version" if known is None else f"version {known[1]}"
            raise refuse(
                "bad-store",
                f"the tables of procrastinate in {db.address} are of {theirs}, and {release} is "
                "installed",
                hint="install that version; or end all workers and drop its table: drop table "
                f"{SCHEMA}.procrastinate_jobs cascade. A worker makes all of them anew, and "
                "nothing is lost",
            )
