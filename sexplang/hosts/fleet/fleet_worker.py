"""`sexplang worker` on a store that many machines share: it drives runs in its own process."""

import asyncio
import gc
import logging
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from threading import Thread
from time import monotonic
from typing import Any, TypeVar

from sexplang.hosts.cli.guard import DONE, FAILED, MISUSE
from sexplang.hosts.cli.output import say_all
from sexplang.hosts.fleet.leaf_offers import LeafOffers, read_queues
from sexplang.hosts.fleet.metrics import Figures, serve_figures
from sexplang.hosts.fleet.run_driver import RunDriver, say_line, tell
from sexplang.hosts.fleet.store_pool import StorePool
from sexplang.hosts.kept_runs.stored_runs import say_problem
from sexplang.hosts.settings.configuration import apply_configuration
from sexplang.hosts.settings.mcp_options import servers_of
from sexplang.hosts.settings.run_arguments import Settings
from sexplang.package.process import hide
from sexplang.runs.submitted_run import count_states, find_open
from sexplang.runtime.driver.event_loop import share_resources
from sexplang.runtime.fleet import Engine, Owed, Wake, Work, open_engine
from sexplang.runtime.fleet.carried_requests import Places
from sexplang.runtime.fleet.leaves import forget_delivered, list_owed, list_waiting
from sexplang.runtime.fleet.pressure import parse_limit
from sexplang.runtime.journal.run_store import open_store
from sexplang.runtime.models import check_models, check_scripts
from sexplang.runtime.refusal import Refusal
from sexplang.terms.classes.node import frozen
from sexplang.terms.diagnostic import Diagnostics

LEASE = 30.0
GRACE = 30.0
"""Seconds, unless the command says others."""

Result = TypeVar("Result")


@frozen
class Options:
    """The arguments of a worker beside what it grants."""

    places: int = 4
    offers: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    lease: float = LEASE
    grace: float = GRACE
    once: bool = False
    metrics: int | None = None
    quiet: bool = False


def work_on(address: str, granted: Settings, options: Options) -> int:
    """Drive the runs of a store until a signal; return the exit status."""
    try:
        granted = apply_configuration(granted, None)
        check_models(granted.models)
        check_scripts(granted.models)
        servers_of(granted, None)
    except Diagnostics as found:
        return say_all(found.diagnostics, FAILED)
    except Refusal as refusal:
        return say_problem(refusal)
    try:
        bounds = dict(map(parse_limit, options.limits))
        queues = read_queues(options.offers, options.leaves, bounds, granted)
    except Refusal as refusal:
        say_problem(refusal)
        return MISUSE
    try:
        store = open_store(address, lease=options.lease)
    except Refusal as refusal:
        return say_problem(refusal)
    # What a lost connection means is said by the worker itself.
    logging.getLogger("procrastinate").setLevel(logging.CRITICAL)
    logging.getLogger("psycopg").setLevel(logging.ERROR)
    gc.freeze()
    # Values have no cycles: the collector would mostly look in vain.
    gc.set_threshold(100_000, 20, 20)
    if granted.allow_run:
        hide()
    offers = LeafOffers(
        address, granted, options.lease, Places(options.places), queues, log_to_stderr
    )
    stores = StorePool(address, options.lease)
    driver = RunDriver(address, granted, options.lease, offers, stores, options.quiet)
    try:
        try:
            engine = open_engine(store.db, address)
        finally:
            store.close()
        assert engine is not None
        driver.load()
        offers.load()
        asyncio.run(_work(engine, driver, options))
    except Refusal as refusal:
        return say_problem(refusal)
    if driver.driven:  # a run that computes or waits does not hear that the worker ends
        sys.stderr.flush()
        os._exit(DONE)
    driver.stores.close()
    offers.close()
    return DONE


def log_to_stderr(level: str, text: str) -> None:
    """Write what performers log."""
    say_line(f"{level}: {text}")


async def _work(engine: Engine, driver: RunDriver, options: Options) -> None:
    stop, until = asyncio.Event(), 0.0

    def end(number: int) -> None:
        nonlocal until
        if stop.is_set():
            os._exit(128 + number)
        driver.is_draining, until = True, monotonic() + options.grace
        stop.set()
        if not options.quiet:
            count = len(driver.driven)
            say_line(f"draining; runs under way: {count}; a second signal ends at once")

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, end, number)
    figures = Figures(driver.counts, lambda: _look(driver))
    if options.metrics is not None:
        port = serve_figures(options.metrics, figures)
        say_line(f"figures: http://127.0.0.1:{port}/metrics")
    offers = driver.offers
    performer = offers.make_performer() if offers.queues.offered else None
    work = Work(
        drive=lambda id: run_in_thread(partial(driver.drive, id), f"run {id}"),
        perform=None if performer is None else performer.perform,
        queues=offers.queues.offered,
        find_owed=lambda: _find_owed(driver),
        lease=options.lease,
        grace=options.grace,
        once=options.once,
        stop=stop,
    )
    if not options.quiet:
        say_line(f"worker {os.getpid()}: {options.places} places")
    watch = asyncio.create_task(_watch(driver, options.lease / 4))
    try:
        async with share_resources():
            await engine.work(options.places, work)
            # The job of a run that is driven here may have been lost with the engine's tables.
            while driver.driven and monotonic() < until:
                await asyncio.sleep(0.05)
    finally:
        watch.cancel()
        if performer is not None:
            performer.close()


def _find_owed(driver: RunDriver) -> Owed:
    with driver.stores.lend() as store:
        forget_delivered(store.db, driver.lease)
        return Owed([Wake(*each) for each in find_open(store)], list_owed(store.db))


async def _watch(driver: RunDriver, interval: float) -> None:
    """Look at intervals whether a run that is driven here is to be cancelled."""
    said = ""
    while True:
        await asyncio.sleep(interval)
        try:
            await asyncio.to_thread(driver.cancel_wished)
            said = ""
        except Refusal as refusal:
            if said != str(refusal):
                said = str(refusal)
                say_line(f"the store is lost: {tell(refusal)}")


def _look(driver: RunDriver) -> dict[str, dict[str, int]]:
    with driver.stores.lend() as store:
        engine = open_engine(store.db, driver.address, must_exist=True)
        return {
            "sexplang_runs": count_states(store),
            "sexplang_jobs": {} if engine is None else engine.count(),
            "sexplang_requests_waiting": list_waiting(store.db),
            "sexplang_driven_now": {"runs": len(driver.driven)},
        }


async def run_in_thread(function: Callable[[], Result], name: str) -> Result:
    """Run a function in a thread of its own, which does not keep the process from ending."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()

    def settle(give: Callable[[Any], None], what: Any) -> None:
        if not done.done():
            give(what)

    def main() -> None:
        try:
            given = function()
        # Whatever ends the thread is raised where its end is awaited.
        except BaseException as error:
            told: Any = error if isinstance(error, Exception) else RuntimeError(repr(error))
            _tell(settle, done.set_exception, told)
        else:
            _tell(settle, done.set_result, given)

    def _tell(*what: Any) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(*what)

    Thread(target=main, name=name, daemon=True).start()
    return await done
