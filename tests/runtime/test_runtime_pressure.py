"""What one call finds out about a server, all calls of a run know: the gate and the breaker."""

import time
from collections import Counter
from itertools import count
from threading import Barrier

import anyio
import pytest
from runtime_support import ASK, begun, par, perform, seq, table
from support.messages_server import MessagesServer
from support.running import error_of
from support.sources import no_files

from sexplang.machine import start
from sexplang.pipeline.pipeline import build
from sexplang.runtime import Endpoint, Journal, Permissions, Refusal, Retries, drive
from sexplang.runtime.driver.events import Retrying, Withdrawn
from sexplang.runtime.models.circuit_breaker import CircuitBreaker
from sexplang.runtime.models.server_failures import refuse_timeout
from sexplang.runtime.refusal import make_task_failure
from sexplang.terms.source import Source


def busy(status=529, asked=None):
    words = f"host answered {status}"
    return make_task_failure(
        "llm_error", "model-busy", words, again=True, retry_after=asked, status=status
    )


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def pressure(**settings):
    return CircuitBreaker("host", Retries(**settings), Clock())


FOR_EVER = 1e9


def test_a_rate_limit_closes_the_gate_for_every_call():
    """As long as the server asked; then they come back at different moments."""
    host = pressure(first=1)
    assert 0 == host.wait("0.1", FOR_EVER)

    host.record_failure("0.1", busy(429), 7.0)
    waits = [host.wait(f"0.{at}", FOR_EVER) for at in range(50)]

    assert 7 <= min(waits) and max(waits) <= 8
    assert 40 < len(set(waits))
    assert waits == [host.wait(f"0.{at}", FOR_EVER) for at in range(50)]
    host.clock.now += 7.5
    assert 0 == host.wait("0.1", FOR_EVER)


def test_a_rate_limit_of_one_model_holds_back_no_other():
    """Each has a limit of its own, and its own pause; an overload is the whole server's."""
    host = pressure(first=1, overloads=2)
    host.record_failure("0.1", busy(429), 7.0, "small")
    host.record_failure("0.2", busy(429), 3.0, "large")

    assert 7 <= host.wait("0.3", FOR_EVER, "small")
    assert 3 <= host.wait("0.3", FOR_EVER, "large") < 5
    assert 0 == host.wait("0.3", FOR_EVER, "other")
    for _ in range(2):
        host.record_failure("0.4", busy(), 0.1, "other")
    assert 2 == host.wait("0.3", FOR_EVER, "large") == host.wait("0.5", FOR_EVER, "fourth")


def test_a_run_goes_on_with_its_other_models():
    """While one of them is limited for longer than a call of it would wait."""
    asked = []

    def limited(body):
        asked.append(body["model"])
        return {"status": 429, "headers": {"retry-after": "50"}} if body["model"] == "a" else "x"

    with MessagesServer(limited) as server:
        one, other = ({**ASK, "model": f"{server.url}#{name}", "timeout": 9} for name in "ab")
        performers = table(retries=Retries(), permissions=Permissions(net=["127.0.0.1"]))
        calls = [perform("model", {**one, "max_tokens": at + 1}) for at in range(2)]
        for call in calls:
            error = error_of(drive(begun(call), performers))
            assert "model-busy" == error["details"]["code"]
        drive(begun(par(*[perform("model", other) for _ in range(5)])), performers)

    assert ["a", *"bbbbb"] == asked


def test_a_gate_that_opens_too_late_for_a_call_refuses_it_at_once():
    """Rather than to let it wait for what it has no time for; what the server said stands in it."""
    host = pressure()
    host.record_failure("0.1", busy(429), 30.0)

    with pytest.raises(Refusal) as raised:
        host.wait("0.2", host.clock.now + 10)

    error = raised.value.error.fields
    assert "model-busy" == error["details"]["code"]
    assert "host answered 429" in error["message"]
    assert not raised.value.again


def opened(**settings):
    """A server that has just been found to fail every time."""
    host = pressure(**({"overloads": 3, "alone": 2} | settings))
    for at in range(3):
        assert 0 == host.wait(f"0.{at}", FOR_EVER)
        host.record_failure(f"0.{at}", busy(), 0.1)
    return host


def test_a_server_that_fails_many_times_in_a_row_is_left_alone():
    """Every call waits, until one finds out; that one's reply lets all the others go on."""
    host = opened()
    told = []

    assert 2 == host.wait("0.7", FOR_EVER)
    host.clock.now += 2
    assert 0 == host.wait("0.7", FOR_EVER)
    assert host.wait("0.8", FOR_EVER) is None
    host.on_probe_end(lambda: told.append("over"))
    host.record_success("0.7")

    assert ["over"] == told
    assert 0 == host.wait("0.8", FOR_EVER)
    assert 0 == host.failures


def test_a_server_whose_probe_fails_too_refuses_calls_at_once():
    """It is left alone for twice as long, and so on up to the longest wait; then one more probe."""
    host = opened(most=6)
    host.clock.now += 2
    assert 0 == host.wait("0.7", FOR_EVER)
    host.record_failure("0.7", busy(), 0.1)

    with pytest.raises(Refusal) as raised:
        host.wait("0.8", FOR_EVER)
    error = raised.value.error.fields
    assert ("model-overloaded", 4) == (error["details"]["code"], error["details"]["failures"])
    assert 4 == error["details"]["seconds"]
    assert "wait 4 s and try again" in error["hint"]
    host.clock.now += 4
    assert 0 == host.wait("0.9", FOR_EVER)
    with pytest.raises(Refusal):
        host.wait("0.8", FOR_EVER)
    host.record_failure("0.9", busy(), 0.1)
    assert host.clock.now + 6 == host.open_until


def test_a_probe_that_is_withdrawn_leaves_its_place_to_another():
    """Nobody waits for what does not come."""
    host = opened()
    host.clock.now += 2
    assert 0 == host.wait("0.7", FOR_EVER)

    host.release_probe("0.7")

    assert 0 == host.wait("0.8", FOR_EVER)


def test_what_is_no_overload_is_a_sign_of_life():
    """A wrong request is answered by a server that works; a rate limit says neither."""
    host = pressure(overloads=3)
    wrong = make_task_failure("llm_error", "model-refused-request", "no")
    for refusal in (busy(), busy(), wrong, busy(), busy(429), busy()):
        host.record_failure("0.1", refusal, 0.0)
    assert (0, 2) == (host.openings, host.failures)

    host.record_failure("0.1", refuse_timeout("host", 1), 0.0)
    assert 1 == host.openings


def test_a_rate_limited_run_waits_as_a_whole():
    """One reply with `retry-after`, and calls wait that have not been sent at all yet."""
    numbers, events = count(1), []

    def limited(body):
        if next(numbers) == 1:
            return {"status": 429, "headers": {"retry-after-ms": "500"}}
        time.sleep(0.05)
        return "x"

    program = par(*[perform("model", {**ASK, "max_tokens": at + 1}) for at in range(9)])
    with MessagesServer(limited) as server:
        retries, journal = Retries(first=0.01), Journal()
        performers = table(model=f"{server.url}#m", retries=retries, on_event=events.append)
        drive(begun(program), performers, journal=journal, parallel=2)

    told = [event for event in events if isinstance(event, Retrying)]
    failed = [event for event in told if not event.held]
    assert [(event.attempt, event.wait >= 0.5) for event in failed] == [(1, True)]
    assert any(event.attempt == 0 and event.wait > 0 for event in told if event.held)
    assert {row.id: row.attempts - 1 for row in journal.rows if row.attempts > 1} == {
        event.id: 1 for event in failed
    }
    assert 11 == next(numbers)


def test_a_provider_that_is_down_is_asked_a_few_times_and_not_by_every_call():
    """40 calls, of which each would be tried three times."""
    alone = Retries(attempts=3, first=0.01, most=0.2, overloads=5, alone=0.05)
    attempt = [perform("model", {**ASK, "max_tokens": at + 1}) for at in range(40)]
    journal = Journal()
    with MessagesServer({"status": 529}) as server:
        performers = table(model=f"{server.url}#m", retries=alone)
        outcome = drive(begun(seq(*attempt[:1])), performers)
        for each in attempt[1:]:
            outcome = drive(begun(each), performers, journal=journal)
        asked = len(server.journal)

    codes = {row.reply.fields["details"]["code"] for row in journal.rows}
    assert asked < 40
    assert "model-overloaded" in codes <= {"model-overloaded", "model-busy"}
    assert 0 in {row.reply.fields["details"]["attempts"] for row in journal.rows}
    assert error_of(outcome)["reason"] == "llm_error"


def test_a_provider_that_comes_back_is_found_by_one_probe():
    """Calls that met the failures go on, as one alone may meet all six; the program sees none."""
    script = [{"status": 529}] * 6 + ["x"]
    retries = Retries(attempts=8, first=0.01, overloads=3, alone=0.05, most=1)
    program = par(*[perform("model", {**ASK, "max_tokens": at + 1}) for at in range(6)])
    events = []
    with MessagesServer(*script) as server:
        performers = table(model=f"{server.url}#m", retries=retries, on_event=events.append)
        outcome = drive(begun(program), performers)

    assert 6 == len(outcome.value)
    assert any(isinstance(event, Retrying) for event in events)


def text_of(program):
    return start(build(Source("shared", program), no_files))


ASKS = '(define (ask n) (model {max_tokens: n messages: [{role: "user" content: "tea"}]}))'

MANY = f"""{ASKS}
(par-map (lambda (n) (attempt (ask (+ n 1)))) (range 200))"""


@pytest.mark.parametrize("status", [529, 500])
def test_however_many_calls_there_are_a_server_that_is_down_is_asked_as_often(status):
    """Two hundred calls at once: those in flight when it is found to be down, and then probes. The
    attempts that follow come at different moments."""
    retries = Retries(attempts=3, first=0.01, most=2, overloads=10, alone=0.2)
    events, journal = [], Journal()
    with MessagesServer({"status": status}) as server:
        performers = table(model=f"{server.url}#m", retries=retries, on_event=events.append)
        drive(text_of(MANY), performers, journal=journal, parallel=16)
        asked = len(server.journal)

    codes = Counter(row.reply.fields["details"]["code"] for row in journal.rows)
    waits = [event.wait for event in events if isinstance(event, Retrying) and event.attempt]
    assert 200 == sum(codes.values())
    assert codes["model-overloaded"] > 150
    assert asked < 16 + 10 + 16
    assert len(set(waits)) == len(waits) > 1


@pytest.mark.parametrize("status", [529, pytest.param(500, marks=pytest.mark.long)])
def test_a_server_that_was_down_is_asked_again_by_all_once_it_is_back(status):
    """One probe finds it; nobody else asks while it is on its way. Then nothing is left of it."""
    asked, together = [], Barrier(3)

    def answer(body):
        asked.append(body["max_tokens"])
        if len(asked) <= 3:
            together.wait(30)
            return {"status": status}
        if len(asked) == 4:
            time.sleep(0.2)
            probing.append(len(asked))
        return "x"

    probing = []
    retries = Retries(attempts=2, first=0.5, most=2, overloads=3, alone=0.1)
    with MessagesServer(answer) as server:
        performers = table(model=f"{server.url}#m", retries=retries)
        outcome = drive(text_of(MANY), performers, parallel=3)

    assert 200 == sum("content" in reply for reply in outcome.value)
    assert [4] == probing
    assert 203 == len(asked)


def test_a_retry_after_beyond_the_calls_deadline_is_not_waited_for():
    """The error is that of the server, not that of the time."""
    with MessagesServer({"status": 429, "headers": {"retry-after": "50"}}) as server:
        performers = table(model=f"{server.url}#m", retries=Retries(), endpoint=Endpoint())
        error = error_of(drive(begun(perform("model", {**ASK, "timeout": 20})), performers))

    assert ("model-busy", 1) == (error["details"]["code"], error["details"]["attempts"])


def test_calls_wait_for_their_place_in_the_order_in_which_they_were_made():
    """And one that is withdrawn before it has one is never begun."""
    begun_calls, ended = [], []

    async def model(request):
        begun_calls.append(request.arguments[0]["n"])
        await anyio.sleep(0.01)
        ended.append(request.arguments[0]["n"])
        if request.arguments[0]["n"] == 6:
            raise Refusal(busy().error)
        return "x"

    calls = [perform("model", {"n": at}) for at in range(40)]
    drive(begun(par(*calls)), {"model": model}, parallel=2)

    assert list(range(len(begun_calls))) == begun_calls
    assert len(begun_calls) < 12


@pytest.mark.parametrize("parallel", [1, 16])
@pytest.mark.parametrize("server_replies", ["x", {"status": 400}])
def test_equal_calls_are_sent_once(server_replies, parallel):
    """In flight or still waiting for a place. Each has a whole row; what was used is counted once,
    and the others say whose it is."""
    journal = Journal()

    def slow(body):
        time.sleep(0.2)
        return server_replies

    program = par(
        *[perform("model", ASK) for _ in range(5)], perform("model", {**ASK, "system": "y"})
    )
    with MessagesServer(slow) as server:
        performers = table(model=f"{server.url}#m")
        drive(begun(program), performers, journal=journal, parallel=parallel, single_flight=True)
        sent = len(server.journal)

    # What fails ends its siblings, also the one that is another call and has no place yet.
    assert (1 if parallel == 1 and server_replies != "x" else 2) == sent
    if server_replies == "x":
        replies = [row.reply for row in journal.rows]
        assert 2 == sum(1 for reply in replies if "shared" not in reply)
        assert {"x"} == {reply["content"][0]["text"] for reply in replies}
        assert 2 * 7 == sum(reply["usage"]["input_tokens"] for reply in replies)
        owners = {reply["shared"] for reply in replies if "shared" in reply}
        assert owners < {row.id for row in journal.rows} and len(owners) == 1


def test_equal_calls_one_after_the_other_are_each_sent():
    """It is no cache."""
    with MessagesServer("x") as server:
        performers = table(model=f"{server.url}#m")
        program = seq(perform("model", ASK), perform("model", ASK))
        drive(begun(program), performers, single_flight=True)

        assert 2 == len(server.journal)


@pytest.mark.parametrize("parallel", [1, 16])
def test_a_shared_call_that_is_withdrawn_is_made_again_by_one_that_waits(parallel):
    """Who waits for a reply gets one, in the place of the one that is gone."""
    journal, events, made = Journal(), [], []

    async def model(request):
        made.append(request.id)
        await anyio.sleep(60 if len(made) == 1 else 0)
        return {"content": [], "usage": {"input_tokens": 7, "output_tokens": 3}}

    program = f"{ASKS} (par (attempt (with-timeout 0.05 (ask 9))) (ask 9) (ask 9) (ask 9))"
    drive(
        text_of(program),
        {"model": model, "timer": table()["timer"]},
        journal=journal,
        parallel=parallel,
        single_flight=True,
        on_event=events.append,
    )

    replies = {row.id: row.reply for row in journal.rows if row.operation == "model"}
    assert ["0.0", "0.1"] == [each.rpartition(".")[0][-3:] for each in made]
    assert [None, made[1], made[1]] == [reply.get("shared") for reply in replies.values()]
    assert [made[0]] == [each.id for each in events if isinstance(each, Withdrawn)]


def test_a_call_that_nobody_wants_any_more_holds_up_none_that_waits():
    """Of equal ones that wait, one that is withdrawn takes nothing with it."""
    made = []

    async def model(request):
        made.append(request.arguments[0]["max_tokens"])
        await anyio.sleep(0.2)
        return "x"

    program = f"""{ASKS}
        (par (ask 1) (attempt (with-timeout 0.05 (ask 2))) (ask 2)
             (attempt (with-timeout 0.05 (ask 2))) (ask 3))"""
    performers = {"model": model, "timer": table()["timer"]}
    outcome = drive(text_of(program), performers, parallel=1, single_flight=True)

    assert ["x", "x", "x"] == [outcome.value[at] for at in (0, 2, 4)]
    assert [1, 2, 3] == made


def test_what_fails_for_reasons_of_its_own_fails_for_nobody_else():
    """A call's deadline is not that of those that wait for it."""
    replies = [{"fail": "hang"}, "x"]
    body = 'messages: [{role: "user" content: "tea"}] timeout: 1'
    program = f"(par (attempt (model {{{body}}})) (model {{{body}}}))"
    with MessagesServer(*replies) as server:
        performers = table(model=f"{server.url}#m", endpoint=Endpoint(silence=30, total=30))
        outcome = drive(text_of(program), performers, single_flight=True)
        sent = len(server.journal)

    assert 2 == sent
    assert "FAILED" == outcome.value[0].fields["status"]
    assert "x" == outcome.value[1]["content"][0]["text"]
