"""Runs whose requests are carried to workers in threads of the same process."""

import asyncio
import threading
from contextlib import contextmanager, suppress
from time import sleep

from sexplang.api.mcp_servers import make_servers
from sexplang.api.performer_table import make_performers
from sexplang.api.program_source import permissions_for
from sexplang.api.python_tools import tools_of
from sexplang.api.python_values import result
from sexplang.api.run_start import Settings, begin, open_resumed, program_of
from sexplang.machine import Suspended
from sexplang.package.zone_use import ZoneUse
from sexplang.runtime.driver.drive import drive
from sexplang.runtime.driver.event_loop import share_resources
from sexplang.runtime.fleet import Owed, Work, open_engine
from sexplang.runtime.fleet.carried_requests import CarriedRequests, Places
from sexplang.runtime.fleet.leaf_performer import LeafPerformer
from sexplang.runtime.fleet.leaves import list_owed
from sexplang.runtime.fleet.pressure import FleetLimits
from sexplang.runtime.fleet.reply_watch import ReplyWatch
from sexplang.runtime.journal.databases import Database, open_database, resolve_address
from sexplang.runtime.permissions import Permissions
from sexplang.terms.classes.node import evolve


def queue_of(request):
    """The queue of a request, and the request as it is sent. All models are one."""
    first = request.arguments[0] if request.arguments else None
    queues = {"model": "model:m", "tool": f"tool:{first}", "run-script": "script"}
    return queues[request.operation], request


def settings_of(given, store, run_id):
    names = ("inputs", "model", "tools", "effects", "primitives", "permissions", "limits", "budget")
    more = ("memory", "mcp", "record")
    known = {name: given.get(name) for name in (*names, *more)}
    known["tools"] = given.get("tools", ())
    return Settings(**known, run_id=run_id, trace=None, traceparent=None, store=store)


def drive_carried(
    text, store, run_id, engine, *, places=0, is_resumed=False, declared=None, watch=None, **given
):
    """Drive a run, which performs so many requests itself; return its value. `engine` makes the
    engine of a database."""
    settings = settings_of(given, None if is_resumed else store, run_id)
    program = program_of(text, settings)
    allowed = permissions_for(text, settings.permissions)
    servers = make_servers(None, allowed)
    replies = ReplyWatch(lambda: open_database(resolve_address(store), must_exist=True))

    def go(resumed):
        started = begin(program, allowed, settings, servers, {}, watch, ZoneUse(), resumed)
        with started as ready:
            kept, _ = ready.storage.opened
            carrier = CarriedRequests(
                engine(kept.db), replies, Places(places), queue_of, declared=declared or {}
            )
            if resumed is None:
                ready.storage.carrier = carrier
                performers = carrier.wrap(ready.performers)
            else:
                performers = resumed.perform_with(ready.performers, carrier)
            outcome = drive(
                ready.outcome,
                performers,
                journal=ready.journal,
                parallel=10_000,
                on_event=watch,
                history=ready.history,
            )
            ready.finish(outcome)
            return outcome if isinstance(outcome, Suspended) else result(outcome)

    try:
        if not is_resumed:
            return go(None)
        replay = given.get("replay")
        with open_resumed(program, run_id, store, replay, settings, servers, carries=True) as found:
            return go(evolve(found))
    finally:
        replies.close()


def make_leaf_performer(store, lease=2.0, limits=None, worker=None, **given):
    """What performs leaves with the functions that a run has."""
    found = {}
    table = make_performers(
        given.get("permissions") or Permissions(),
        "worker",
        model=given.get("model"),
        on_named=None,
        tools=tools_of(given.get("tools", ())),
        effects={},
        files={},
        on_event=lambda event: found["it"].watch(event),
        trace=None,
        memory=None,
        servers=None,
        pause=(),
        parks=False,
    )
    named = {} if worker is None else {"worker": worker}
    found["it"] = LeafPerformer(
        lambda: open_database(resolve_address(store), must_exist=True, **_lease(store, lease)),
        table,
        lease,
        limits or FleetLimits(),
        **named,
    )
    return found["it"]


def _lease(store, lease):
    return {}


QUEUES = ("model:m", "script", "tool:look")


def work(store, stop, places=5, lease=2.0, queues=QUEUES, performer=None, **given):
    """Work on the leaves of a store on a server until told to stop."""
    made = performer or make_leaf_performer(store, lease, **given)
    opened = open_database(resolve_address(store), must_exist=True)

    async def drive_none(run):
        return None

    async def main():
        told = asyncio.Event()
        todo = Work(
            drive_none,
            made.perform,
            queues,
            find_owed=lambda: Owed(leaves=list_owed(opened)),
            lease=lease,
            grace=1.0,
            stop=told,
        )

        async def wait():
            while not stop.is_set():
                await asyncio.sleep(0.02)
            told.set()

        async with share_resources():
            waiting = asyncio.create_task(wait())
            await open_engine(opened, store).work(places, todo)
            await waiting

    try:
        asyncio.run(main())
    finally:
        made.close()
        opened.close()


@contextmanager
def workers(store, count=1, **given):
    """Workers in threads."""
    stop = threading.Event()
    threads = [
        threading.Thread(target=work, args=(store, stop), kwargs=given, daemon=True)
        for _ in range(count)
    ]
    for each in threads:
        each.start()
    try:
        yield
    finally:
        stop.set()
        for each in threads:
            each.join(10)


class NoEngine:
    """An engine that loses everything: a worker finds what is owed in the store."""

    def __init__(self, db: Database):
        pass

    def carry(self, leaves):
        """Lose leaves."""


@contextmanager
def looking_worker(store, **given):
    """A worker in a thread that looks for leaves in a store of any kind, without an engine."""
    stop = threading.Event()
    open_database(resolve_address(store), must_exist=False).close()

    def look():
        made = make_leaf_performer(store, **given)

        async def main():
            tasks = {}
            async with share_resources():
                while not stop.is_set():
                    with suppress(Exception):
                        db = open_database(resolve_address(store), must_exist=True)
                        try:
                            while not stop.is_set():
                                tasks = {id: each for id, each in tasks.items() if not each.done()}
                                for leaf in list_owed(db):
                                    if leaf.id not in tasks:
                                        tasks[leaf.id] = asyncio.create_task(made.perform(leaf))
                                await asyncio.sleep(0.005)
                        finally:
                            db.close()
                    sleep(0.01)

        try:
            asyncio.run(main())
        finally:
            made.close()

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(10)
