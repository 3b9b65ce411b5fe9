"""What is told of a request has one order, whatever asks it and whenever it is answered."""

from hypothesis import strategies as st
from support.examples import examples
from support.laws import PLACES
from support.running import answer, begun, limits

from sexplang.machine import Suspended
from sexplang.runtime.driver.run import Run
from sexplang.runtime.journal.journal import Journal
from sexplang.terms.values.boundary import plain
from sexplang.terms.values.value import Record
from sexplang.testing.program_writer import program

LATER = {
    None: {"Queued": "queued", "Started": "started"},
    "queued": {"Started": "started", "Withdrawn": "over"},
    "started": {"Finished": "over", "Withdrawn": "over"},
}


class Told:
    """Where each request stands by what was told of it."""

    def __init__(self):
        self.told = []
        self.stand = {}

    def __call__(self, event):
        kind, id = type(event).__name__, event.id
        self.told.append((kind, id))
        before = self.stand.get(id)
        if before == "over" and event.operation == "timer":
            before = None  # a deadline is counted down whenever something waits under it
        assert kind in LATER.get(before, {}), (kind, id, before, self.told)
        self.stand[id] = LATER[before][kind]

    def of(self, id):
        return [kind for kind, other in self.told if other == id]


class Never:
    """What a performer gives for a reply that the schedule brings."""

    def __await__(self):
        raise AssertionError("nobody awaits here")


def watched(outcome, random):
    """Drives a run with replies in any order, some of them at once, and perhaps cancels it."""
    told, at_once = Told(), random.choice((0.0, 0.3))

    def perform(request):
        if request.operation == "timer" or random.random() >= at_once:
            return Never()
        return reply(request)

    performers = dict.fromkeys(OPERATIONS, perform)
    run = Run(outcome, performers, Journal(), told, parallel=random.choice((1, 2, 100)))
    run.single_flight = random.random() < 0.5
    cancel_after = random.choice((None, random.randint(0, 8)))
    answered = 0
    while not run.ended:
        while not run.ended and run.step():
            pass
        if run.ended:
            break
        if answered == cancel_after:
            run.abandon()
            cancel_after = None
            continue
        made = sorted(id for id in run._open if id not in run._queue.calls)
        id = random.choice(made)
        request = run._open[id].request
        value = None if request.operation == "timer" else reply(request)
        run.arrive(id, value, isinstance(value, Record), 1)
        run.awaitables.clear()
        run.withdrawn.clear()
        answered += 1
    assert set(told.stand.values()) <= {"over"}, (told.stand, told.told)
    return told


OPERATIONS = ("timer", "model", "ask", "note", "alpha", "beta", "gamma", "enter", "leave")


def reply(request):
    return answer(request.operation, tuple(plain(argument) for argument in request.arguments))


@examples(40, 200, st.randoms(use_true_random=False))
def test_each_request_starts_once_and_is_over_once(random):
    outcome = begun(program(random, PLACES).text, limits(3))

    if isinstance(outcome, Suspended):
        watched(outcome, random)
