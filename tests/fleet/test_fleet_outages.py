"""Connections that are cut, a server that stops, slow commits, zombies and rolling restarts: real
workers, real signals. Nothing stands longer than three leases, and nothing is wrong."""

import signal
from collections import Counter
from contextlib import contextmanager
from time import monotonic, sleep

import pytest
from support.cutting_proxy import CuttingProxy
from support.fleet_workers import LEASE
from support.lost_workers import (
    BOOTS,
    LEASES,
    SETTLED,
    WIDE,
    ask,
    begin_workers,
    check_wide,
    find_driver,
    new_fleet,
    wait_until_done,
)
from support.wide_server import WideServer

pytestmark = pytest.mark.postgres


@contextmanager
def cut_fleet(url, latency=0.05):
    """Gives a server of models, a proxy, and a fleet whose workers use it."""
    with (
        WideServer(latency=latency, echoes=True) as server,
        CuttingProxy(url) as proxy,
        new_fleet(url, "outage") as fleet,
    ):
        fleet.address = proxy.address(fleet.address)
        yield server, proxy, fleet


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("update leaves set reply", 3),
        ("insert into entries", 1),
        pytest.param("update leaves set before", 3, marks=pytest.mark.long),
        pytest.param("sexplang_settled", 10, marks=pytest.mark.long),
        pytest.param("procrastinate_fetch_job", 2, marks=pytest.mark.long),
        pytest.param("procrastinate_finish_job", 2, marks=pytest.mark.long),
    ],
)
def test_an_answer_of_the_store_is_lost(postgres, text, times, count=100):
    """It has committed, and its client does not know."""
    with cut_fleet(postgres) as (server, proxy, fleet):
        workers = begin_workers(fleet, server)
        fleet.submit(WIDE.format(count=count), "r", "--parallel", str(count))
        find_driver(fleet, workers)
        fleet.wait_for(lambda: ask(fleet, SETTLED) >= count // 10)
        proxy.cut(text, times)
        at = monotonic()
        fleet.wait_for(lambda: proxy.cuts == times)
        seconds = wait_until_done(fleet, at)
        twice, reported = check_wide(fleet, server, count)
        boots = ask(fleet, BOOTS)
    print(f"{text}: {seconds:.1f} s, twice {twice}, reported {reported}, begun {boots}")
    assert seconds <= LEASES * LEASE


@pytest.mark.long
@pytest.mark.parametrize("milliseconds", [50, 200])
def test_each_round_trip_is_slow(postgres, milliseconds, count=60):
    """The run is exact, and keeps its driver."""
    with cut_fleet(postgres) as (server, proxy, fleet):
        proxy.seconds = milliseconds / 2000
        workers = begin_workers(fleet, server)
        at = monotonic()
        fleet.submit(WIDE.format(count=count), "r", "--parallel", str(count))
        find_driver(fleet, workers)
        boots = ask(fleet, BOOTS)
        seconds = wait_until_done(fleet, at)
        twice, reported = check_wide(fleet, server, count)
        assert boots == ask(fleet, BOOTS)
    print(f"+{milliseconds} ms: {seconds:.1f} s, twice {twice}, reported {reported}")


SLOW = """
create function slow() returns trigger language plpgsql as $$
begin
    if random() < 0.05 then perform pg_sleep(0.5 + random() / 2); end if;
    return null;
end $$;
create constraint trigger slow after insert or update on leaves deferrable initially deferred
for each row execute function slow();
"""


@pytest.mark.long
def test_some_commits_are_slow(postgres, count=200):
    """Leases hold: the run keeps its driver, and nothing is performed twice."""
    with (
        WideServer(latency=0.05, echoes=True) as server,
        new_fleet(postgres, "outage") as fleet,
    ):
        fleet.store.db.execute(SLOW)
        workers = begin_workers(fleet, server)
        at = monotonic()
        fleet.submit(WIDE.format(count=count), "r", "--parallel", str(count))
        find_driver(fleet, workers)
        boots = ask(fleet, BOOTS)
        seconds = wait_until_done(fleet, at)
        assert (0, 0) == check_wide(fleet, server, count)
        assert boots == ask(fleet, BOOTS)
    print(f"slow commits: {seconds:.1f} s")
