"""Limits of a model over a fleet."""

from time import monotonic, sleep

import pytest
from support.carried_runs import drive_carried
from support.leaf_worker import worker_processes

from sexplang.runtime.fleet import open_engine
from sexplang.runtime.fleet.pressure import FleetLimits, Limit, Permit, parse_limit
from sexplang.runtime.journal.run_store import open_store
from sexplang.runtime.refusal import Refusal, make_task_failure

SAID = ({"usage": {"input_tokens": 10, "output_tokens": 5}}, False, 1)


def limits(**given):
    return FleetLimits({"model:m": Limit(**given)})


def take(made, db, name, lease=30.0):
    """The permit, or None if there is none."""
    taken = made.take(db, "model:m", name, lease)
    return taken if isinstance(taken, Permit) else None


def takes(made, db, names, lease=30.0):
    """Whether each of some permits is taken."""
    return [take(made, db, name, lease) is not None for name in names]


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("m=in_flight:10,calls:60/5s", Limit(in_flight=10, calls=60, window=5.0)),
        ("openai:http://h/v1#x=tokens:100/1m", Limit(tokens=100, window=60.0)),
        ("m=in-flight:1", Limit(in_flight=1)),
        *[(f"m={each}", None) for each in ("", "calls:60", "calls:0/1s", "in_flight:3/1s", "x:1")],
        ("m=calls:1/1s,tokens:1/2s", None),
        ("m=calls:1/1s,calls:2/1s", None),
        ("calls:1/1s", None),
    ],
)
def test_a_limit_is_written_in_one_word(text, limit):
    if limit is None:
        with pytest.raises(Refusal, match="is no limit of a model"):
            parse_limit(text)
    else:
        queue, found = parse_limit(text)
        assert (f"model:{text.rpartition('=')[0]}", limit) == (queue, found)


@pytest.mark.postgres
def test_so_many_are_in_flight(store):
    made, db = limits(in_flight=2), store.db
    first = take(made, db, "a")

    assert [True, False] == takes(made, db, "bc")
    made.give_back(db, first, SAID)
    assert [True, False] == takes(made, db, "de")


@pytest.mark.postgres
def test_permits_of_a_lost_worker_come_back(store):
    made, db = limits(in_flight=2), store.db
    first, _ = take(made, db, "a", 0.3), take(made, db, "b", 0.3)
    sleep(0.2)
    made.renew(db, first, 0.3)
    sleep(0.2)

    assert [True, False] == takes(made, db, "cd")


@pytest.mark.postgres
@pytest.mark.parametrize("bound", [{"calls": 3}, {"tokens": 45}])
def test_a_window_is_full(store, bound):
    made, db = limits(**bound, window=1.0), store.db
    for name in "abc":
        made.give_back(db, take(made, db, name), SAID)
    wait = made.take(db, "model:m", "d", 1.0)
    assert 0.5 < wait < 1.2
    sleep(wait + 0.01)

    assert take(made, db, "d")


@pytest.mark.postgres
def test_a_call_may_begin_long_after_its_permit(store):
    """A worker may be busy. So an open call counts in each window, and an ended one in those that
    have its end."""
    made, db = limits(calls=2, window=0.4), store.db
    first = take(made, db, "a")
    sleep(0.6)

    assert [True, False] == takes(made, db, "bc")
    made.give_back(db, first, SAID)
    assert not take(made, db, "d")
    sleep(0.5)
    assert [True, False] == takes(made, db, "ef")


def fail(status, code):
    refusal = make_task_failure("llm_error", code, "no", status=status)
    return refusal.error, True, 1


@pytest.mark.postgres
def test_a_server_that_fails_is_left_alone_and_probed(store):
    """The circuit breaker of the fleet: one call at a time tries it again."""
    made, db = limits(in_flight=50), store.db
    for at in range(10):
        made.give_back(db, take(made, db, f"{at}"), fail(503, "model-failed"))
    assert not take(made, db, "x")
    db.execute("update pressure set shut = 0")
    probe = take(made, db, "x")
    assert not take(made, db, "y")
    made.give_back(db, probe, SAID)

    assert [True, True] == takes(made, db, "yz")


@pytest.mark.postgres
def test_a_server_that_wants_no_calls_gets_none(store):
    made, db = limits(in_flight=50), store.db
    made.give_back(db, take(made, db, "a"), fail(429, "model-busy"))
    assert not take(made, db, "b")
    db.execute("update pressure set shut = 0")
    made.shut(db, "model:m", 0.3)
    assert not take(made, db, "b")
    sleep(0.4)

    assert take(made, db, "b")


@pytest.mark.postgres
def test_no_window_is_over_the_limit(address, tmp_path):
    """100 calls by three workers, of which one is killed: at most 10 in flight, and 60 in any 5
    seconds."""
    log = tmp_path / "log"
    open_store(address).close()
    given = {
        "store": address,
        "log": str(log),
        "lease": 2.0,
        "queues": ["model:m"],
        "seconds": 0.2,
        "limits": ["m=in_flight:10,calls:60/5s"],
    }
    text = (
        '(par-map (lambda (n) (model {messages: [{role: "user" content: (str n)}]})) (range 100))'
    )
    killed, began = [], monotonic()
    with worker_processes(3, **given) as processes:

        def kill(event):
            if event is not None and not killed and monotonic() > began + 2.0:
                killed.append(processes[0].kill())

        value = drive_carried(
            text.replace("(range 100)", "(range 0 100)"),
            address,
            "r",
            lambda db: open_engine(db, address),
            model=lambda payload: "here",
            watch=kill,
        )
    calls = [tuple(map(float, line.split()[:3])) for line in log.read_text().splitlines()]
    starts = sorted(began for _, began, _ in calls)
    most = max(sum(at <= other < at + 5.0 for other in starts) for at in starts)
    flying = max(sum(one <= at < end for _, one, end in calls) for at in starts)

    assert 100 == len(value) and killed and 100 <= len(calls)
    assert most <= 60 and flying <= 10
    print(f"at most {most} in 5 s, {flying} in flight, {starts[-1] - starts[0]:.1f} s")
