"""Drive: requests are performed, replies journaled and delivered, until the run has ended."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from types import ModuleType

import anyio
import pytest
from runtime_support import begun, const, finally_, par, perform, repeat, seq, table
from support.running import error_of

import sexplang
from sexplang.machine import Done, Failed
from sexplang.runtime import Journal, Refusal, adrive, drive
from sexplang.runtime.driver.events import Finished, Progressed, Started, Withdrawn
from sexplang.runtime.journal.fold import fold
from sexplang.runtime.refusal import refuse
from sexplang.terms.core import Race
from sexplang.terms.values.value import Primitive


def echo(request):
    return request.arguments[0]


async def slow_echo(request):
    delay, value = request.arguments
    await anyio.sleep(delay)
    return value


def test_replies_that_never_wait_need_no_event_loop():
    """A performer that is a plain function is called inline."""
    loops = []

    def look(request):
        loops.append(asyncio._get_running_loop())
        return 1

    assert Done(1) == drive(begun(perform("look")), {"look": look})
    assert [None] == loops


def test_an_event_loop_is_imported_at_the_first_request_that_waits():
    """A program without waiting never pays for asyncio and anyio."""
    code = (
        "import sys, sexplang.runtime; "
        "heavy = {'asyncio', 'anyio', 'anthropic', 'pydantic', 'xllamacpp'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert "[]\n" == done.stdout, done.stderr


def test_branches_wait_at_the_same_time():
    """What several branches wait for goes on concurrently: each waits until all do."""
    begun_calls, all_wait = [], anyio.Event()

    async def meet(request):
        begun_calls.append(request.id)
        if len(begun_calls) == 10:
            all_wait.set()
        await all_wait.wait()
        return request.arguments[0]

    program = par(*(perform("meet", at) for at in range(10)))

    assert Done(tuple(range(10))) == drive(begun(program), {"meet": meet})


def test_at_most_so_many_model_calls_are_in_flight():
    """`parallel` bounds the model calls that go on at the same time."""
    now, most = 0, 0

    async def model(request):
        nonlocal now, most
        now += 1
        most = max(most, now)
        await anyio.sleep(0.01)
        now -= 1
        return "x"

    drive(begun(par(*[perform("model", {}) for _ in range(12)])), {"model": model}, parallel=3)

    assert 3 == most


def test_who_watches_is_told_of_model_calls_that_wait():
    """They are queued before they are started; one that nobody wants any more is withdrawn."""
    events = []

    async def model(request):
        await anyio.sleep(0.01)
        return request.id

    calls = tuple([perform("model", {}) for _ in range(3)])
    race = begun(Race(calls, span=calls[0].span))
    drive(race, {"model": model}, parallel=1, on_event=events.append)

    assert [
        ("Started", "0.0.0"),
        ("Queued", "0.1.0"),
        ("Queued", "0.2.0"),
        ("Said", "0.0.0"),
        ("Finished", "0.0.0"),
        ("Withdrawn", "0.1.0"),
        ("Withdrawn", "0.2.0"),
    ] == [(type(event).__name__, event.id) for event in events]


def test_the_journal_holds_replies_in_the_order_of_delivery():
    """The journal is the schedule: first come, first delivered."""
    journal, said = Journal(), anyio.Event()

    async def wait(request):
        if request.arguments[0] == "early":
            await anyio.sleep(0.01)
            said.set()
        else:
            await said.wait()
            await anyio.sleep(0.01)
        return request.arguments[0]

    program = par(perform("wait", "late"), perform("wait", "early"), perform("now-", 1))

    drive(begun(program), {"wait": wait, "now-": echo}, journal=journal)

    assert [1, "early", "late"] == [row.reply for row in journal.rows]


def test_each_row_says_when_it_was_asked_for_and_answered():
    """In seconds since 1970: so it is known of each turn of a model too."""
    journal = Journal()
    before = time.time()
    drive(begun(perform("wait", 0.01, "a")), {"wait": slow_echo}, journal=journal)

    (row,) = journal.rows
    assert before <= row.started <= row.ended <= time.time()


def test_a_run_is_a_fold_over_its_journal():
    """Delivering the rows in their order to a run from its start gives the same end."""
    program = par(perform("wait", 0.02, "a"), seq(perform("wait", 0, "b"), perform("fail")))
    journal = Journal()
    ended = drive(begun(program), {"wait": slow_echo, "fail": failing}, journal=journal)

    again = fold(begun(program), journal.rows)

    assert isinstance(ended, Failed)
    assert (ended.error.fields, ended.withdrawn) == (again.error.fields, again.withdrawn)


def test_a_row_that_answers_another_request_is_a_mismatch():
    """A journal never gives a wrong answer."""
    journal = Journal()
    drive(begun(perform("echo", 1)), {"echo": echo}, journal=journal)

    with pytest.raises(Refusal) as raised:
        fold(begun(perform("echo", 2)), journal.rows)

    assert "journal-mismatch" == raised.value.error.fields["reason"]


def failing(request):
    raise refuse("some-code", "no")


def test_a_failure_cancels_what_its_siblings_wait_for():
    """A request that is withdrawn is cancelled, and the drive does not wait for it."""
    ended = []
    events = []

    async def hang(request):
        try:
            await anyio.sleep(60)
        finally:
            ended.append(request.id)

    async def fail_soon(request):
        await anyio.sleep(0.02)
        raise refuse("some-code", "no")

    program = par(perform("hang"), perform("fail"))
    outcome = drive(begun(program), {"hang": hang, "fail": fail_soon}, on_event=events.append)

    assert "some-code" == error_of(outcome)["reason"]
    assert 1 == len(ended)
    assert 1 == len([event for event in events if isinstance(event, Withdrawn)])


def test_a_request_withdrawn_before_it_was_started_never_starts():
    """A branch that fails at once leaves its siblings' later requests unperformed."""
    said = []
    program = par(perform("fail"), perform("say"))

    drive(begun(program), {"fail": failing, "say": said.append})

    assert [] == said


def test_an_operation_that_nobody_answers_is_an_error():
    """The hint names what this host answers, the nearest of it, and how a person answers."""
    error = error_of(drive(begun(perform("ech")), {"echo": echo, "timer": echo}))

    assert "unhandled-effect" == error["reason"]
    assert "did you mean `echo`?" in error["hint"]
    assert "let a person answer: --pause ech;" in error["hint"]
    assert error["hint"].endswith("this host answers: echo")


def test_whatever_a_performer_raises_becomes_an_error_record():
    """A function of the host that breaks does not break the run's bookkeeping."""

    def broken(request):
        raise ZeroDivisionError("oh")

    async def broken_later(request):
        raise ZeroDivisionError("oh")

    for performer in (broken, broken_later):
        error = error_of(drive(begun(perform("op")), {"op": performer}))

        assert ("unexpected_error", True) == (
            error["reason"],
            "ZeroDivisionError" in error["message"],
        )


def test_only_data_goes_in_and_out():
    """A function in a request and an object in a reply are `not-data`."""
    function = Primitive("f", len, 1, 1)

    assert (
        "not-data" == error_of(drive(begun(perform("echo", (function,))), {"echo": echo}))["reason"]
    )
    assert "not-data" == error_of(drive(begun(perform("o")), {"o": lambda r: object()}))["reason"]


def test_lists_of_the_host_become_values():
    """Python's lists and tables come back as values of the language."""
    assert Done((1, {"a": (2,)})) == drive(begun(perform("o")), {"o": lambda r: [1, {"a": [2]}]})


def test_a_run_can_be_driven_inside_a_running_loop():
    """The sync entry works where a loop is running already."""

    async def main():
        return drive(begun(perform("wait", 0.01, "x")), {"wait": slow_echo})

    assert Done("x") == asyncio.run(main())


def test_a_run_can_be_awaited():
    """The async entry uses the caller's loop."""

    async def main():
        return await adrive(begun(perform("wait", 0.01, "x")), {"wait": slow_echo})

    assert Done("x") == asyncio.run(main())


def cancelling(scope):
    """A performer that waits for ever; while it does, a scope is cancelled."""

    async def hang(request):
        asyncio.get_running_loop().call_later(0.01, scope.cancel)
        await anyio.sleep(60)

    return hang


def test_cancelling_an_awaited_run_runs_its_finally_bodies():
    """They may wait too; then the cancellation goes on its way, and no task is left."""
    said = []
    program = finally_(perform("hang"), seq(perform("wait", 0.01, 1), perform("say", "cleaned")))
    journal = Journal()

    async def main():
        with anyio.CancelScope() as scope:
            await adrive(
                begun(program),
                {
                    "hang": cancelling(scope),
                    "wait": slow_echo,
                    "say": lambda r: said.append(r.arguments[0]),
                },
                journal=journal,
            )
        return scope.cancelled_caught, len(asyncio.all_tasks())

    assert (True, 1) == asyncio.run(main())
    assert ["cleaned"] == said
    assert ["cancel", "cut", "wait", "say"] == [row.operation for row in journal.rows]


def test_finally_bodies_have_a_grace_time():
    """A body that waits for ever is left when the grace time is over."""
    since = []

    async def main():
        with anyio.CancelScope() as scope:
            await adrive(
                begun(finally_(perform("hang"), perform("wait", 60, 1))),
                {
                    "hang": cancelling(scope),
                    "wait": lambda r: since.append(time.monotonic()) or slow_echo(r),
                },
                grace=0.1,
            )

    asyncio.run(main())

    assert time.monotonic() - since[0] < 4


@pytest.mark.parametrize("waits", [False, True])
def test_ctrl_c_runs_finally_bodies_and_is_raised_again(waits):
    """The same whether the run was computing or waiting."""
    said = []

    def interrupt(request):
        if not waits:
            raise KeyboardInterrupt
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        return anyio.sleep(60)

    program = finally_(perform("interrupt"), perform("say", "cleaned"))

    with pytest.raises(KeyboardInterrupt):
        drive(
            begun(program),
            {"interrupt": interrupt, "say": lambda r: said.append(r.arguments[0])},
        )

    assert ["cleaned"] == said


def test_a_busy_branch_does_not_starve_the_ones_that_wait():
    """Requests that never wait leave turns to those that do."""
    order = []

    async def quick(request):
        await anyio.sleep(0)
        order.append("waited")

    program = par(perform("quick"), seq(repeat(20_000, perform("nop")), perform("end")))
    drive(
        begun(program),
        {"quick": quick, "nop": lambda r: None, "end": lambda r: order.append("busy")},
    )

    assert ["waited", "busy"] == order


def test_events_tell_what_is_going_on():
    """Started and finished with seconds, and what the program itself reports."""
    events = []
    program = seq(perform("progress", "half way", 0.5), perform("wait", 0.02, 7))
    drive(
        begun(program), table(on_event=events.append) | {"wait": slow_echo}, on_event=events.append
    )

    kinds = [type(event) for event in events]
    assert [Started, Progressed, Finished, Started, Finished] == kinds
    assert events[-1].seconds >= 0.02
    assert ("half way", 0.5) == (events[1].text, events[1].fraction)
    assert [("0", "progress")] * 3 == [(each.id, each.operation) for each in events[:3]]


def test_a_thousand_branches_are_driven_in_reasonable_time():
    """Nothing is quadratic in the number of branches."""
    started = time.process_time()
    outcome = drive(
        begun(par(*[perform("wait", 0, at) for at in range(1000)])), {"wait": slow_echo}
    )

    assert 1000 == len(outcome.value)
    assert time.process_time() - started < 3


def test_ctrl_c_need_not_wait_for_a_program_that_computes():
    """Also when an event loop runs: a long computation is left at once."""
    said, pressed = [], []

    def press():
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    async def wait(request):
        await anyio.sleep(0.01)
        threading.Timer(0.3, press).start()

    long = repeat(100_000_000, const(None))
    program = finally_(seq(perform("wait"), long), perform("say", "cleaned"))

    with pytest.raises(KeyboardInterrupt):
        drive(begun(program), {"wait": wait, "say": lambda r: said.append(r.arguments[0])})

    assert ["cleaned"] == said
    assert time.monotonic() - pressed[0] < 4
    assert signal.default_int_handler is signal.getsignal(signal.SIGINT)


@pytest.fixture
def free_alarm():
    """As it is in the command: nobody has taken the alarm, as those that time tests do."""
    left, handler = signal.setitimer(signal.ITIMER_REAL, 0), signal.getsignal(signal.SIGALRM)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, *left)


@pytest.mark.parametrize("waits", [False, True])
def test_finally_bodies_that_compute_for_ever_are_left_after_the_grace_time(waits, free_alarm):
    """Also when an event loop runs: Ctrl-C always ends a run."""

    def interrupt(request):
        if not waits:
            raise KeyboardInterrupt
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        return anyio.sleep(60)

    program = finally_(perform("interrupt"), repeat(10**12, const(None)))
    started = time.monotonic()

    with pytest.raises(KeyboardInterrupt):
        drive(begun(program), {"interrupt": interrupt}, grace=0.2)

    assert time.monotonic() - started < 4
    assert signal.SIG_DFL is signal.getsignal(signal.SIGALRM)


def test_events_carry_only_what_can_be_counted():
    """Whatever a performer of the host replies."""
    events = []
    reply = {"content": [], "usage": {"input_tokens": "three", "output_tokens": 3}}
    drive(begun(perform("model", {})), {"model": lambda r: reply}, on_event=events.append)

    assert {"output_tokens": 3} == events[-1].usage


def test_a_templates_timeout_holds_for_the_whole_conversation():
    """Each call is short enough; together they are not, and a subtask is part of its parent."""

    async def slow(payload):
        await anyio.sleep(0.15)
        if len(payload["messages"]) < 7:
            return {"tool_use": {"name": "spawn_subtask", "input": CHILD}}
        return "done"

    program = """
        (defatom t (instructions "x") (limits timeout: SECONDS max_turns: 9)
          (allowed_tools spawn_subtask))
        (defatom child (params n) (instructions "y {{n}}"))
        (try (str (t)) (catch (problem seconds) [problem.type problem.details.resource]))
    """
    for seconds, value in (("0.3", ["RESOURCE_EXHAUSTION", "seconds"]), ("60", "done")):
        assert sexplang.run(program.replace("SECONDS", seconds), model=slow) == value


CHILD = {"description": "do y", "name": "child", "inputs": {"n": 1}}


def test_another_thread_may_be_loading_trio(monkeypatch):
    """A module that is not yet complete runs no event loop."""
    for name in ("trio", "trio.lowlevel"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))

    assert 1 == sexplang.run("(let ((_ (sleep 0.001))) 1)")
