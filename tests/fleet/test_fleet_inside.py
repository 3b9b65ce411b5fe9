"""Workers that are stopped inside each of their transactions, by SIGSTOP to the process.

Law: the others do all that is to be done within three leases. Law: the stopped one, woken later,
commits nothing of what they did, and works again.
"""

import os
import signal
from statistics import median
from time import monotonic, sleep

import psycopg
import pytest
from support.fleet_workers import LEASE
from support.places_inside import BEGINNING, NAMES, PLACES, WORKERS, make_users, name_address, trap
from support.wide_server import WideServer

import sexplang
from sexplang.runtime.journal.stored_journal import read_rows

pytestmark = pytest.mark.postgres

TIMES = int(os.environ.get("SEXPLANG_TIMES", "1"))
"""How often each worker is stopped at each place."""

STEPS, CALLS = 12, 8

CALL = '(model {messages: [{role: "user" content: (str n)}]})'

WIDE = f"""(import "tools.py")
[(length (par-map (lambda (n) {CALL}) (range 0 {CALLS})))
 (fold + 0 (map step (range 1 {STEPS + 1})))]"""

VALUE = f"[{CALLS} {10 * sum(range(1, STEPS + 1))}]"

ASK = '(str (ask-user "Pay?") "!")'

DENIED = '(run-script "echo" ["tea"])'

DEFAULT = ("settles a leaf",)
"""The place of the default tests; the others are `long`."""

CASES = [each if each in DEFAULT else pytest.param(each, marks=pytest.mark.long) for each in PLACES]


@pytest.fixture(scope="module")
def model():
    """The address of a model whose calls take a moment."""
    with WideServer(latency=0.1) as server:
        yield server, f"{server.url}#m"


@pytest.fixture
def tables(address):
    """A connection to all tables, as an operator has it."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("set search_path = sexplang")
        make_users(connection)
        yield connection


_STICK = """
create or replace function sexplang.stick() returns trigger language plpgsql as $$
begin
  new.is_stuck := 1;
  return new;
end $$;
create trigger stick before insert on runs for each row execute function sexplang.stick()
"""
"""New runs wait until the test wakes them."""


def submit_load(fleet, tables, engine, suffix=""):
    """Submit runs of several kinds, which wait until they are woken; return the function that
    wakes them, and the values of those that end."""
    wide = [f"{each}{suffix}" for each in ("a", "b", "c")]
    asking, denied, timed = (f"{each}{suffix}" for each in ("ask", "denied", "timed"))
    tables.execute(_STICK)  # before a worker sees them
    for id in wide:
        fleet.submit(WIDE, id, "--parallel", "100", name="wide.sexp")
    fleet.submit(ASK, asking, name="ask.sexp")
    fleet.submit(DENIED, denied, "--allow-run", "echo", name="denied.sexp")
    fleet.submit(f"(wait-until {4e9})", timed, name="timed.sexp")
    tables.execute("drop trigger stick on runs")

    def wake():
        with engine._db.transaction():  # in one: a worker may be held that puts what is owed
            engine._db.execute("update runs set is_stuck = 0")
            for id in (wide[0], wide[2], asking, denied, timed):  # the job of wide[1] is lost
                engine.wake(id)
        engine.wake(wide[0], 0.0)  # a timer that is due
        leave_rest(tables, wide[1], "gone" + suffix)

    return wake, {**dict.fromkeys(wide, VALUE), asking: '"yes!"'}


def leave_rest(tables, run, gone):
    """A job whose worker is dead, and a leaf that nobody needs any more."""
    tables.execute(
        "insert into procrastinate_jobs (queue_name, task_name, lock, queueing_lock, args, status) "
        "values ('run', 'sexplang.drive', %s, %s, jsonb_build_object('run', %s::text), 'doing')",
        [gone, gone, gone],
    )
    tables.execute(
        "insert into leaves (run, request, attempt, digest, queue, priority, decision, data, "
        "settled, delivered) select n, 'old', 1, '', '', 0, 'safe', '', 0, 0 from runs "
        "where id = %s",
        [run],
    )


def begin_workers(fleet, url):
    workers = start_workers(fleet, url)
    fleet.wait_for(lambda: all("places" in fleet.said(each) for each in workers.values()))
    return workers


def start_workers(fleet, url):
    given = ("--places", "5", "--model", url, "--fleet-limit", f"{url}=in_flight:6")
    return {name: fleet.begin(*given, address=name_address(fleet.address, name)) for name in NAMES}


def wait_for_end(fleet, values, seconds):
    """Wait until all runs are done and have these values; answer the question meanwhile."""

    def is_done():
        states = {id: fleet.store.find(id).state for id in values}
        for id, state in states.items():
            if state == "waiting":
                answer(id, fleet)
        return {"done"} == {*states.values()}

    fleet.wait_for(is_done, seconds)
    assert values == {id: fleet.store.find(id).value for id in values}


def answer(id, fleet):
    """Answer the question of a run, if it has one that is open."""
    asked = (
        "select 1 from questions join runs on runs.n = run "
        "where id = ? and answered is null and is_over = 0 and state = 'waiting'"
    )
    if fleet.store.db.execute(asked, (id,)).fetchone():
        sexplang.answer(id, "yes", store=fleet.address)


def find_kept(tables, last):
    """What the store has of the runs that are done. The leaves of runs up to the last of an
    earlier time are removed after a while."""
    done = "(select n from runs where state = 'done')"
    return [
        tables.execute(each).fetchall()
        for each in (
            f"select run, seq, checksum from entries where run in {done} order by 1, 2",
            "select n, state, value, boots, ended, replies from runs where state = 'done' "
            "order by n",
            f"select run, request, settler, delivered from leaves where run in {done} "
            f"and run > {last} order by 1, 2",
        )
    ]


def check_rows(fleet, values):
    """Each request has one row."""
    for id in values:
        rows = read_rows(fleet.store, fleet.store.find(id), whole=True).rows
        ids = [row.id for row in rows if row.operation in ("model", "step")]
        assert len(ids) == len({*ids}) == (CALLS + STEPS if values[id] == VALUE else 0)


@pytest.mark.parametrize("name", CASES)
def test_a_worker_is_stopped_where_it(fleet, tables, engine, address, model, name):
    """The others go on, and it commits nothing when it wakes up."""
    _, url = model
    workers = begin_workers(fleet, url)
    seconds = []
    for time in range(TIMES):
        (last,) = tables.execute("select coalesce(max(n), 0) from runs").fetchone()
        wake, values = submit_load(fleet, tables, engine, str(time))
        with trap(address, PLACES[name]) as wait:
            wake()
            stopped = workers[wait_while_answering(fleet, wait, values)]
            stopped.send_signal(signal.SIGSTOP)
        began = monotonic()
        wait_for_end(fleet, values, 20)
        seconds.append(monotonic() - began)
        check_rows(fleet, values)
        kept = find_kept(tables, last)
        stopped.send_signal(signal.SIGCONT)
        sleep(1.0)
        assert kept == find_kept(tables, last)
        tables.execute(f"drop trigger held on {PLACES[name].table}")
    check_work_of(fleet, workers, stopped, tables)
    print(f"{name}: median {median(seconds):.1f} s, worst {max(seconds):.1f} s of {TIMES}")
    assert max(seconds) < 3 * LEASE


@pytest.mark.long
@pytest.mark.parametrize("name", BEGINNING)
def test_a_worker_is_stopped_at_its_beginning_where_it(fleet, tables, engine, address, model, name):
    """The others begin, and do all; it begins when it wakes up."""
    wake, values = submit_load(fleet, tables, engine)
    wake()
    tables.execute("insert into procrastinate_workers (last_heartbeat) values ('2000-01-01')")
    with trap(address, BEGINNING[name]) as wait:
        workers = start_workers(fleet, model[1])
        stopped = workers[wait()]
        stopped.send_signal(signal.SIGSTOP)
    others = [each for each in workers.values() if each is not stopped]
    fleet.wait_for(lambda: all("places" in fleet.said(each) for each in others))
    began = monotonic()
    wait_for_end(fleet, values, 20)
    seconds = monotonic() - began
    check_rows(fleet, values)
    stopped.send_signal(signal.SIGCONT)
    tables.execute(f"drop trigger held on {WORKERS}")
    check_work_of(fleet, workers, stopped, tables)
    print(f"{name}: {seconds:.1f} s")
    assert seconds < 3 * LEASE


def wait_while_answering(fleet, wait, values):
    """Wait until a worker is held; what comes after an answer needs one."""
    until = monotonic() + 20
    while True:
        try:
            return wait(0.1)
        except AssertionError:
            assert monotonic() < until
            for id in values:
                answer(id, fleet)


def check_work_of(fleet, workers, woken, tables):
    """A worker that was stopped drives and performs again, alone."""
    for each in workers.values():
        if each is not woken:
            each.send_signal(signal.SIGTERM)
    for each in workers.values():
        if each is not woken:
            assert 0 == each.wait(20), fleet.said(each)
    assert woken.poll() is None, fleet.said(woken)
    fleet.submit(WIDE, "alone", name="wide.sexp")
    wait_for_end(fleet, {"alone": VALUE}, 3 * LEASE)
    left = "select * from procrastinate_jobs where args->>'run' <> all(%s)"
    waiting = [run.id for run in fleet.store.runs() if run.state != "done"]
    fleet.wait_for(lambda: not tables.execute(left, [waiting]).fetchall())
