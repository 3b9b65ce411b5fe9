"""The store of runs: one database with the journals of many runs.

Law: what `commit` wrote is on the disk when it returns. An entry is what one commit wrote: rows and
intents as compressed JSON lines, with a checksum that continues that of the entry before.
"""

import os
import re
import stat
from contextlib import AbstractContextManager, suppress
from time import time
from typing import Any

from sexplang.guards.secrets import redact_text
from sexplang.runtime.journal.databases import Database, is_server, open_database, resolve_address
from sexplang.runtime.journal.rows import LONE
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.classes.node import define, evolve, frozen

RUNNING, WAITING, INTERRUPTED = "running", "waiting", "interrupted"
"""The states of a run that can go on. A waiting one is parked: it needs an answer, or its time."""

SUBMITTED = "submitted"
"""The state of a run that no process has driven yet."""

DONE, FAILED, CANCELLED = "done", "failed", "cancelled"
"""The states of a run that is over. A failed one can be resumed."""

REPLACED = "replaced"
"""The state of a run whose changed program runs on as another run, its successor."""

UNKEPT = "unkept"
"""The state of a run that went on when the store had failed: the store does not know what it did
then."""


@frozen
class StoredRun:
    """A run of the store. Times are seconds since the epoch."""

    n: int
    id: str
    project: str
    name: str
    command: str
    header: str
    state: str
    began: float
    ended: float | None
    replies: int
    tokens: int
    boots: int
    error: str | None
    owner: str | None
    """None for a run that was begun here."""
    due: float | None
    """The time at which a waiting run goes on without an answer."""
    value: str | None
    """The value of a run that is done, as source."""
    successor: str | None
    """The id of the run that replaced this one."""
    program: str | None
    """The digest of its program, whose texts the store has; None for a program in files."""
    priority: int
    held: str | None
    """Why no worker goes on with it."""
    is_stuck: bool
    """Whether a person has to decide before a worker goes on with it."""
    wish: str | None
    """What a person wishes of the worker that goes on with it: CANCEL, or decisions on requests in
    doubt, as JSON."""

    @property
    def has_command(self) -> bool:
        """Whether the run was begun on the command line."""
        return self.command != "{}"


_COLUMNS = (
    "n, id, project, name, command, header, state, began, ended, replies, tokens, boots, error, "
    "owner, due, value, successor, program, priority, held, is_stuck, wish"
)

AS_RECORDED = "--as-recorded"
"""The option that gives a run the permissions that it was begun with."""

CANCEL = "cancel"
"""The wish that a run is cancelled."""


_REPLACEABLE = (SUBMITTED, RUNNING, WAITING, INTERRUPTED, FAILED)


@define(eq=False)
class RunStore:
    """An open store."""

    db: Database

    @property
    def path(self) -> str:
        """The path or URL that names the store, without a password."""
        return self.db.address

    @property
    def is_new(self) -> bool:
        """Whether the store was made just now."""
        return self.db.is_new

    def explain(self) -> AbstractContextManager[None]:
        """Turn an error of the database into a Refusal."""
        return self.db.explain()

    def transaction(self, run: StoredRun | None = None) -> AbstractContextManager[None]:
        """Write several statements as one. Nobody else writes to the run meanwhile."""
        return self.db.transaction(None if run is None else run.n)

    def add_run(
        self,
        id: str,
        project: str,
        name: str,
        command: str,
        header: str,
        owner: str | None = None,
        *,
        program: str | None = None,
        priority: int = 0,
        state: str = RUNNING,
    ) -> StoredRun:
        """Add a run and lock it. Raises a Refusal `run-exists`."""
        id, project, name = map(_encodable, (id, project, name))
        if not self.lock(id):
            raise self._refuse_id(id) or refuse_busy(id)
        with self.explain():
            self.db.forget_mark(id)
            made = self.db.execute(
                "insert into runs (id, project, name, command, header, state, began, owner, "
                "program, priority) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                "on conflict do nothing returning n",
                (id, project, name, command, header, state, time(), owner, program, priority),
            ).fetchone()
        if made is None:
            self.unlock(id)
            raise self._refuse_id(id) or refuse_busy(id)
        return self.find(id)

    def _refuse_id(self, id: str) -> Any:
        """Return the refusal of an id that a run of the store has; None if no run has it."""
        with suppress(Refusal):
            found = self.find(id)
            if found.id == id:
                return refuse(
                    "run-exists",
                    f"the store has a run {id} already",
                    hint=f"{self.describe_resumption(found)}; or give another id",
                )
        return None

    def find(self, id: str) -> StoredRun:
        """Return a run by its id, or by the beginning of one. Raises a Refusal `unknown-run`."""
        id = _encodable(id)
        asked = f"select {_COLUMNS} from runs where"
        with self.explain():
            found = self.db.execute(f"{asked} id = ?", (id,)).fetchall()
            if not found and len(id) > 3:  # no index has the beginnings
                begins = f"{asked} substr(id, 1, length(?)) = ? limit 2"
                found = self.db.execute(begins, (id, id)).fetchall()
        runs = [self._make(*each) for each in found]
        if len(runs) != 1:
            words = "has several runs that begin with" if runs else "has no run"
            raise refuse(
                "unknown-run",
                f"the store {words} {id}",
                hint="the beginning of an id needs four characters; sexplang runs list shows the "
                "runs of this project, --all those of every project",
            )
        return runs[0]

    def runs(self, project: str | None = None) -> list[StoredRun]:
        """Return the runs of a project, or all, the newest first."""
        with self.explain():
            where, given = "", tuple[str, ...]()
            if project is not None:
                where, given = "where project = ?", (_encodable(project),)
            told = self.db.execute(
                f"select {_COLUMNS} from runs {where} order by began desc, n desc", given
            )
            return [self._make(*each) for each in told]

    def find_old(self, until: float) -> list[StoredRun]:
        """Return the runs that ended, or of which nothing more is known, before a time. One that
        waits, or with which a worker goes on, is not old."""
        with self.explain():
            asked = (
                f"select {_COLUMNS} from runs where coalesce(ended, began) < ? "
                "and state <> ? and (program is null or state in (?, ?, ?, ?))"
            )
            given = (until, WAITING, DONE, FAILED, CANCELLED, REPLACED)
            return [self._make(*each) for each in self.db.execute(asked, given)]

    def find_before(self, run: StoredRun) -> StoredRun | None:
        """Return the run of the same command in the same project before this one."""
        with self.explain():
            found = self.db.execute(
                f"select {_COLUMNS} from runs where project = ? and command = ? and n < ? "
                "order by n desc limit 1",
                (run.project, run.command, run.n),
            ).fetchone()
        return None if found is None else self._make(*found)

    def _make(self, *columns: Any) -> StoredRun:
        run = StoredRun(*columns)
        if run.is_stuck is not False:
            run = evolve(run, is_stuck=bool(run.is_stuck))
        is_marked = run.state != UNKEPT and self.db.is_marked(run.id)
        return evolve(run, state=UNKEPT) if is_marked else run

    def mark_unkept(self, run: StoredRun) -> None:
        """Say that a run goes on without the store. The store itself may have no room for it."""
        self.db.mark_unkept(run.id)
        with suppress(Refusal), self.explain():
            self.db.execute("update runs set state = ? where n = ?", (UNKEPT, run.n))

    def replace_run(self, run: StoredRun, successor: StoredRun) -> None:
        """Say, within a transaction, that a run that can go on does so as another one, which has
        the answers that came meanwhile. The caller has locked it."""
        self.db.execute(
            "update runs set state = ?, successor = ?, ended = ? where n = ? "
            "and state in (?, ?, ?, ?, ?)",
            (REPLACED, successor.id, time(), run.n, *_REPLACEABLE),
        )
        self.db.execute(
            "insert into questions (run, request, data, opened, answer, answered, is_over) "
            "select ?, request, data, opened, answer, answered, 1 from questions "
            "where run = ? and answered is not null and is_over = 0",
            (successor.n, run.n),
        )

    def cancel_run(self, run: StoredRun) -> None:
        """Cancel a run without its program. Raises a Refusal: `run-busy`, `run-ended`."""
        if not self.lock(run.id):
            raise refuse_busy(run.id)
        with self.explain(), self.transaction(run):
            run = self.find(run.id)
            check_not_ended(run, (DONE, CANCELLED, REPLACED))
            self.db.execute(
                "update runs set state = ?, ended = ?, due = null where n = ?",
                (CANCELLED, time(), run.n),
            )
            self.db.execute("update questions set is_over = 1 where run = ?", (run.n,))
        self.unlock(run.id)

    def resume_command(self, run: StoredRun) -> str:
        """Return the command that resumes a run."""
        from shlex import join

        named = self.name_store()
        words = ["sexplang", "runs", "resume", run.id, *named]
        is_left = run.program is not None and is_server(self.path)  # to a worker
        is_trusted = is_left or self._is_trusted(run, named)
        return join([*words, *([] if is_trusted else [AS_RECORDED])])

    def _is_trusted(self, run: StoredRun, named: list[str]) -> bool:
        return not named and is_private(self.path) and run.owner is None

    def explain_command(self, run: StoredRun) -> str:
        """Return the command that resumes a run, and why it has `--as-recorded`."""
        command = self.resume_command(run)
        if not command.endswith(f" {AS_RECORDED}"):
            return command
        if run.owner is not None:
            why = "this run is not your own"
        else:
            why = (
                "this store is not your own" if self.name_store() else "others can write the store"
            )
        return f"{command} ({AS_RECORDED}, because {why})"

    def name_store(self) -> list[str]:
        """Return the option that names the store; none for the person's own."""
        own = default_store()
        if own is not None and is_server(own):
            from sexplang.runtime.journal.databases.postgresql import describe_address

            is_default = is_server(self.path) and describe_address(own) == self.path
        else:
            is_default = own is not None and os.path.realpath(own) == os.path.realpath(self.path)
        return [] if is_default else ["--store", self.path]

    def describe_resumption(self, run: StoredRun) -> str:
        """Return what a person does to resume a run."""
        if run.program is not None and run.state != FAILED:
            from shlex import join

            named = self.name_store()
            is_trusted = is_server(self.path) or self._is_trusted(run, named)
            begun = join(["sexplang", "worker", *named, *([] if is_trusted else [AS_RECORDED])])
            does = "cancels it" if run.wish == CANCEL else "goes on with it"
            return f"a worker {does}; if there is none: {begun}"
        if run.has_command:
            return f"resume with: {self.explain_command(run)}"
        given = f"program, {run.id!r}, store={self.path!r}"
        return f"resume it from Python: sexplang.resume({given})"

    def is_alive(self, run: StoredRun) -> bool:
        """Whether a process drives the run."""
        return run.state == RUNNING and self.db.is_locked(run.id)

    def lock(self, id: str) -> bool:
        """Lock a run until this process ends. Return False if another drive has it."""
        return self.db.lock(id)

    def unlock(self, id: str) -> None:
        """Release a run."""
        self.db.unlock(id)

    def remove(self, runs: list[StoredRun]) -> None:
        """Remove runs with all that belongs to them."""
        with self.explain(), self.transaction():
            for run in runs:
                for table in ("entries", "blobs", "snapshots", "questions", "leaves", "late"):
                    self.db.execute(f"delete from {table} where run = ?", (run.n,))
                self.db.execute("delete from runs where n = ?", (run.n,))
            self.db.execute(
                "delete from programs where not exists "
                "(select 1 from runs where runs.program = programs.digest)"
            )
        for run in runs:
            self.db.forget(run.id)

    def size(self) -> int:
        """Return the bytes of the data in the store."""
        with self.explain():
            return self.db.size()

    def compact(self) -> None:
        """Give the room of what was removed back to the disk."""
        with self.explain():
            self.db.execute("vacuum")

    def close(self) -> None:
        """Close the store and release all runs."""
        self.db.close()


RUN_ID = re.compile(r"\w[\w.-]{0,63}")
"""The ids that a person may give."""

RUN_ID_WORDS = "at most 64 letters, digits, `-`, `_` and `.`, with a letter, digit or `_` first"


def _encodable(text: str) -> str:
    """Return a text that the store can keep. The name of a folder or a file may have bytes that are
    no UTF-8, and credentials."""
    return redact_text(text).encode("utf-8", LONE).decode()


def default_store() -> str | None:
    """Return the address of the person's own store, or None if runs are not to be kept."""
    said = os.environ.get("SEXPLANG_STORE")
    if said is not None:
        return resolve_address(said) if said else None
    home = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return os.path.join(home, "sexplang", "runs.db")


def is_own(path: str) -> bool:
    """Whether a store is the person's own: it is the default one, and nobody else can write it."""
    own = default_store()
    return own is not None and os.path.realpath(own) == os.path.realpath(path) and is_private(path)


def is_private(path: str) -> bool:
    """Whether a file and its folder belong to the person, who alone can write them."""
    file = os.path.realpath(path)
    with suppress(OSError):
        found = [os.stat(each) for each in (file, os.path.dirname(file))]
        return all(each.st_uid == os.geteuid() and not each.st_mode & _OTHERS for each in found)
    return False


_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def open_store(address: str, *, must_exist: bool = False, lease: float | None = None) -> RunStore:
    """Open a store, and make it if it is not there. `lease` is for one on a server. Raises a
    Refusal `store-failed` or `bad-store`."""
    return RunStore(open_database(address, must_exist=must_exist, lease=lease))


def check_not_ended(run: StoredRun, states: tuple[str, ...]) -> None:
    """Raise a Refusal `run-ended` for a run in one of these states."""
    if run.state not in states:
        return
    if run.successor is not None:
        message = f"the run {run.id} was replaced by {run.successor}"
        hint = f"resume that run; sexplang runs fork {run.id} --at N makes a new run from this one"
    else:
        what = "its value" if run.state == DONE else "how it ended"
        message, hint = f"the run {run.id} has ended", f"sexplang runs show {run.id} shows {what}"
    raise refuse("run-ended", message, hint=hint)


def refuse_busy(id: str) -> Any:
    """Return the refusal of a run that another process drives."""
    return refuse(
        "run-busy",
        f"another process drives the run {id}",
        hint="wait until it has ended, or stop it first",
    )
