"""The runs that a worker drives: each in a thread, on a connection of its own."""

import sys
from collections import Counter, OrderedDict
from collections.abc import Sequence
from importlib import import_module
from threading import Lock
from time import monotonic
from traceback import format_exc
from typing import TYPE_CHECKING, Any

from sexplang.guards.interrupt import GRACE, GraceOver, Interrupt, interruptible
from sexplang.hosts.cli.programs import has_tasks, permissions_of, terms_of
from sexplang.hosts.fleet.grants import find_lack, take_grants
from sexplang.hosts.fleet.handing_back import DrainGate, HandedBack
from sexplang.hosts.fleet.leaf_offers import LeafOffers
from sexplang.hosts.fleet.store_pool import StorePool
from sexplang.hosts.kept_runs.waiting_runs import is_ready, take_answers
from sexplang.hosts.kept_runs.worker import ENDS
from sexplang.hosts.settings.mcp_options import describe_tools, servers_of
from sexplang.hosts.settings.python_options import load_files
from sexplang.hosts.settings.run_arguments import Settings
from sexplang.hosts.settings.store_options import read_command
from sexplang.machine import Failed, Limits, Suspended
from sexplang.pipeline.pipeline import build
from sexplang.runs.durable_run import ResumedRun, check_format, end_run, resume_run
from sexplang.runs.program_texts import read_program
from sexplang.runs.submitted_run import (
    OVER,
    find_wished,
    hold_run,
    read_decisions,
    renew_terms,
)
from sexplang.runtime import Journal, drive, performers
from sexplang.runtime import Settings as RunSettings
from sexplang.runtime.driver.current_request import make_history
from sexplang.runtime.fleet import open_engine
from sexplang.runtime.journal.doubts import Decision
from sexplang.runtime.journal.run_store import (
    CANCEL,
    CANCELLED,
    FAILED,
    SUBMITTED,
    WAITING,
    RunStore,
    StoredRun,
    refuse_busy,
)
from sexplang.runtime.journal.stored_journal import StoredJournal
from sexplang.runtime.refusal import Refusal
from sexplang.terms.classes.node import define, field, frozen
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.json.tagged import load
from sexplang.terms.program import Program
from sexplang.terms.python_file import list_decisions
from sexplang.terms.run_terms import read_terms
from sexplang.terms.values.value import Fault

if TYPE_CHECKING:
    from sexplang.api.python_files.file_functions import FileFunctions
    from sexplang.runtime.mcp import Servers

_LOADED = (
    "asyncio",
    "anyio",
    "anyio._backends._asyncio",
    "sexplang.api.python_files.file_functions",
    "sexplang.machine.frozen_runs",
    "sexplang.runtime.driver.event_loop",
    "sexplang.runtime.memory.index_paths",
    "sexplang.runtime.models.adapters.chat",
    "sexplang.runtime.models.adapters.local",
    "sexplang.runtime.models.adapters.messages",
    "sexplang.runtime.models.prices",
    "sexplang.runtime.models.retry",
    "sexplang.runtime.fleet.procrastinate_engine",
)

PROGRAMS = 32
"""Built programs that a worker remembers."""

FIRST_WAIT = 0.05
"""Seconds before a run is offered again that this worker cannot go on with; doubled each time."""

_TRANSIENT = frozenset({"store-failed", "run-busy"})
"""Reasons for which a run is tried again soon."""

_VERSIONS = frozenset({"newer-run"})
"""Reasons for which another worker may go on with a run."""


@frozen(eq=False)
class Driven:
    """A run that is driven now, and is locked on the connection of a store."""

    interrupt: Interrupt
    store: RunStore


@frozen(eq=False)
class Prepared:
    """A run that can be driven: its program, and what the worker grants it."""

    settings: Settings
    program: Program
    files: "FileFunctions | None"


@define(eq=False)
class RunDriver:
    """What a worker needs to drive runs. `granted` has its permissions, models and servers."""

    address: str = field(repr=False)
    granted: Settings
    lease: float
    offers: LeafOffers
    stores: StorePool
    quiet: bool = False
    counts: Counter[str] = field(factory=Counter)
    driven: dict[str, Driven] = field(factory=dict)
    is_draining: bool = False
    _programs: OrderedDict[str, Program] = field(factory=OrderedDict)
    _refusals: Counter[str] = field(factory=Counter)
    _mutex: Any = field(factory=Lock)
    _preparing: Any = field(factory=Lock)
    """Held while a run is prepared: a Python file runs once."""

    def load(self) -> None:
        """Load what drives need, before there are threads: two that load the same modules in
        another order may wait for one another."""
        for name in _LOADED:
            import_module(name)

    def drive(self, id: str) -> float | None:
        """Drive a run until it ends, is parked or is handed back. Return the seconds after which it
        is to be offered again."""
        try:
            with self.stores.lend() as store:
                return self._look_at(store, id)
        except Refusal as refusal:
            reason = str(refusal.error.fields["reason"])
            if reason == "unknown-run":  # it was removed
                return None
            if reason != "run-busy":
                self._say(f"run {id}: {tell(refusal)}")
            return self.lease / 4

    def _look_at(self, store: RunStore, id: str) -> float | None:
        run = store.find(id)
        is_over = run.state in OVER and (run.state != FAILED or run.wish is None)
        if run.id != id or is_over or run.program is None or run.is_stuck:
            return None
        if run.wish == CANCEL and run.state == SUBMITTED:  # it has nothing to clean up
            self._cancel(store, run, None)
            return None
        if run.wish is None and run.state == WAITING and not is_ready(store, run):
            self._set_timer(store, run)
            return None
        try:
            check_format(run)
            with self._preparing:
                prepared = self._prepare(store, run)
        except Refusal as refusal:
            if refusal.error.fields["reason"] in _TRANSIENT:
                raise
            is_stuck = refusal.error.fields["reason"] not in _VERSIONS
            return self._hold(store, run, tell(refusal), is_stuck)
        except (Diagnostics, Fault) as problem:
            return self._hold(store, run, tell(problem), False)
        if isinstance(prepared, str):
            return self._hold(store, run, prepared, False)
        try:
            return self._go_on(store, run, prepared)
        except Refusal as refusal:
            if refusal.error.fields["reason"] in _TRANSIENT:
                raise
            return self._hold(store, run, tell(refusal), True)
        except (Diagnostics, Fault) as problem:  # a server of tools, for example
            return self._hold(store, run, tell(problem), False)
        except Exception as error:  # a bug holds up its run alone
            print(format_exc(), file=sys.stderr, flush=True)
            return self._hold(store, run, f"an internal error: {error!r}", False)

    def _prepare(self, store: RunStore, run: StoredRun) -> Prepared | str:
        """Return what drives a run, or why this worker cannot."""
        asked, _ = read_command(run)
        settings = take_grants(asked, self.granted, run.id)
        program = self._build(store, run)
        lack = find_lack(asked, self.granted, program, self.offers.queues.left)
        if lack is not None:
            return lack
        return Prepared(settings, program, load_files(settings, program, None))

    def _build(self, store: RunStore, run: StoredRun) -> Program:
        assert run.program is not None
        with self._mutex:
            known = self._programs.get(run.program)
        if known is not None:
            return known
        texts = read_program(store, run)
        program = build(texts.source, texts.make_finder(self.granted.allow_python))
        with self._mutex:
            self._programs[run.program] = program
            if len(self._programs) > PROGRAMS:
                self._programs.popitem(last=False)
        return program

    def _go_on(self, store: RunStore, run: StoredRun, prepared: Prepared) -> float | None:
        settings, program = prepared.settings, prepared.program
        servers = servers_of(settings, None)
        storage = None
        try:
            with interruptible() as interrupt:
                if run.state == SUBMITTED:
                    run = self._begin(store, run, prepared, servers)
                declared: dict[str, Decision] = {
                    **list_decisions(program.python),
                    **({} if servers is None else servers.list_decisions()),
                }
                driven = Driven(interrupt, store)
                if self.driven.setdefault(run.id, driven) is not driven:
                    raise refuse_busy(run.id)
                try:
                    resumed = resume_run(
                        store,
                        run,
                        program,
                        replay=read_decisions(run),
                        declared=declared,
                        has_tasks=has_tasks(program),
                        carries=True,
                    )
                    storage = resumed.storage
                    if run.wish == CANCEL:
                        if not isinstance(resumed.outcome, Suspended):  # it has failed
                            self._cancel(store, run, storage)
                            return None
                        resumed = resumed.cancel()
                    self._refusals.pop(run.id, None)
                    self._say(f"run {run.id} goes on")
                    self.counts["driven"] += 1
                    return self._drive_to_end(store, run, resumed, prepared, servers, declared)
                # It was cancelled, or ended by a second signal.
                except (KeyboardInterrupt, GraceOver):
                    if find_wished(store, [run.id]):
                        self._cancel(store, run, storage)
                    return None
                finally:
                    del self.driven[run.id]
                    interrupt.presses = 0  # it was for this run
        finally:
            if storage is not None:
                storage.release()
            store.unlock(run.id)
            if servers is not None:
                servers.close()

    def _cancel(self, store: RunStore, run: StoredRun, storage: StoredJournal | None) -> None:
        if storage is None:
            store.unlock(run.id)
            store.cancel_run(run)
        else:
            storage.end(CANCELLED, "the run was cancelled")
        self.counts["cancelled"] += 1
        self._say(f"run {run.id} {ENDS[CANCELLED]}")

    def _begin(
        self, store: RunStore, run: StoredRun, prepared: Prepared, servers: "Servers | None"
    ) -> StoredRun:
        """Give a submitted run the models and tools of this worker."""
        settings, program = prepared.settings, prepared.program
        tools = describe_tools(servers, program)
        if prepared.files is not None:
            tools |= prepared.files.definitions
        asked = read_terms(load(run.header), ())
        terms = terms_of(
            program, asked.inputs, settings, Limits(**asked.limits), asked.budget, tools
        )
        if store.lock(run.id):
            try:
                run = renew_terms(store, run, terms)
            finally:
                store.unlock(run.id)
        return run

    def _drive_to_end(
        self,
        store: RunStore,
        run: StoredRun,
        resumed: ResumedRun,
        prepared: Prepared,
        servers: "Servers | None",
        declared: dict[str, Decision],
    ) -> float | None:
        settings, storage, files = prepared.settings, resumed.storage, prepared.files
        journal = Journal(run.id, storages=(storage,), clock=resumed.clock)
        table = performers(
            RunSettings(
                run_id=run.id,
                permissions=permissions_of(settings, None),
                log=lambda level, text: self._say(f"run {run.id}: {level}: {text}"),
                pause=frozenset((*settings.pause, "ask-user")),
                parks=True,
                models=settings.models,
                memory=settings.index,
                servers=servers,
                tools={} if files is None else files.answers,
            ),
            {} if files is None else files.performers,
        )
        if "now" not in settings.pause:  # workers' clocks may differ
            table["now"] = lambda request: store.db.now()
        resumed.advance_scripts(table["model"], settings.models)
        engine = open_engine(store.db, self.address, must_exist=True)
        engine = engine or open_engine(store.db, self.address)  # its tables were dropped
        assert engine is not None  # the store is on a server
        carrier = self.offers.make_carrier(engine, settings, declared, run.priority)
        journal.gate = DrainGate(lambda: self.is_draining, carrier.is_carried)
        table = resumed.perform_with(table, carrier)
        more: dict[str, Any] = {}
        more |= {} if settings.parallel is None else {"parallel": settings.parallel}
        outcome = resumed.outcome
        try:
            while isinstance(outcome, Suspended):
                outcome = drive(
                    outcome,
                    table,
                    journal=journal,
                    single_flight=settings.single_flight,
                    history=make_history(journal, storage),
                    **more,
                )
                if not isinstance(outcome, Suspended) or not take_answers(settings, storage, table):
                    break
        except HandedBack:
            self.counts["handed back"] += 1
            self._say(f"run {run.id} is handed back")
            return 0.0
        if isinstance(outcome, Failed) and outcome.error.fields["reason"] == "store-failed":
            raise Refusal(outcome.error)  # the run is open, and goes on when there is a store
        end_run(storage, outcome)
        if isinstance(outcome, Suspended):
            self.counts["parked"] += 1
            run = store.find(run.id)
            self._set_timer(store, run)
            self._say(f"run {run.id} waits")
        else:
            end = store.find(run.id).state
            self.counts[end] += 1
            self._say(f"run {run.id} {ENDS[end]}")
        return None

    def _set_timer(self, store: RunStore, run: StoredRun) -> None:
        engine = open_engine(store.db, self.address, must_exist=True)
        if run.due is not None and engine is not None:
            with store.explain():
                engine.wake(run.id, run.due, run.priority)

    def _hold(self, store: RunStore, run: StoredRun, why: str, is_stuck: bool) -> float | None:
        """Say why this worker does not go on with a run; another one may."""
        if run.held != why:
            self._say(f"run {run.id} waits: {why}")
        hold_run(store, run, why, is_stuck=is_stuck)
        self.counts["held"] += 1
        if is_stuck:
            return None
        self._refusals[run.id] += 1
        return float(min(self.lease, FIRST_WAIT * 2 ** (self._refusals[run.id] - 1)))

    def cancel_wished(self) -> None:
        """Interrupt the runs that are driven here and are to be cancelled, and those that this
        worker has lost: a reply that another driver took would be waited for. Raises Refusal."""
        driven = {**self.driven}
        self.interrupt([id for id, each in driven.items() if each.store.db.is_lost])
        if driven:
            with self.stores.lend() as store:
                self.interrupt(find_wished(store, [*driven]))

    def interrupt(self, ids: Sequence[str]) -> None:
        """Cancel runs that are driven here; their `finally` bodies run."""
        for driven in filter(None, map(self.driven.get, ids)):
            if not driven.interrupt.presses:
                driven.interrupt.until = monotonic() + GRACE
                driven.interrupt.presses = 1

    def _say(self, words: str) -> None:
        if not self.quiet:
            say_line(words)


def say_line(words: str) -> None:
    """Write a line to stderr in one piece, because other threads do so too."""
    sys.stderr.write(f"{words}\n")
    sys.stderr.flush()


def tell(problem: Refusal | Diagnostics | Fault) -> str:
    """Return an error in one line, with its hint."""
    if isinstance(problem, Diagnostics):
        first = problem.diagnostics[0]
        return first.title if first.hint is None else f"{first.title}; {first.hint}"
    if isinstance(problem, Fault):
        return problem.message
    fields = problem.error.fields
    return f"{fields['message']}" + (f"; {fields['hint']}" if fields["hint"] else "")
