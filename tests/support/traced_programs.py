"""Programs whose spans are known from how they were made, and runs of them under a schedule.

A program is made of things that stand in one another. Everything that is asked of the host carries
the number of what asks, so that each request leads back to a place, and a place to all around it.
"""

from random import Random
from typing import Any

from attrs import define, field, frozen
from support.running import built

from sexplang.machine import Suspended, start
from sexplang.machine.frozen_runs import freeze, thaw
from sexplang.pipeline.pipeline import tasks
from sexplang.runtime.driver.run import Run
from sexplang.runtime.journal.journal import Journal
from sexplang.terms.effect import Request
from sexplang.terms.program import Program
from sexplang.terms.task import error_record

DEEPEST = 4


@frozen
class Place:
    """Something that has a span if it is reached, and what it stands in."""

    name: str
    around: "Place | None" = None

    def chain(self) -> list["Place"]:
        """This and all around it, innermost first."""
        return [self, *(self.around.chain() if self.around else [])]


@define
class Made:
    """A program, and where each of the numbers stands that its requests carry."""

    text: str = ""
    places: dict[int, Place] = field(factory=dict)
    tasks: dict[str, Place] = field(factory=dict)
    _number: int = 0

    def number(self, place: Place) -> int:
        self._number += 1
        self.places[self._number] = place
        return self._number

    @property
    def program(self) -> Program:
        defined = [f'(defatom {name} (params) (instructions "Do {name}"))' for name in self.tasks]
        effects = ["(define-effect (ask n on-behalf-of))", "(define-effect (note n))"]
        return built("\n".join([*effects, *defined, self.text]))


def made(random: Random) -> Made:
    """A program."""
    program = Made()
    program.text = _thing(random, program, Place(""), DEEPEST)
    return program


def _thing(random: Random, made: Made, place: Place, depth: int) -> str:
    """An expression that begins by asking something."""

    def ask() -> str:
        return f"(ask {made.number(place)} nil)"

    def inner(at: Place = place) -> str:
        return _thing(random, made, at, depth - 1)

    def branches(kind: str) -> str:
        return " ".join(inner(Place(f"{kind} {at}", place)) for at in range(random.randint(1, 3)))

    some = _LEAVES if not depth else _KINDS if depth > DEEPEST - 2 else _LEAVES + _KINDS
    kind = random.choice(some)
    if kind == "ask":
        return ask()
    if kind == "note":
        return f"(begin {ask()} (note {made.number(place)}))"
    if kind == "task":
        name = f"t{len(made.tasks)}"
        made.tasks[name] = Place(f"invoke_agent {name}", place)
        return f"(attempt ({name}))" if random.random() < 0.7 else f"({name})"
    if kind == "begin":
        return f"(begin {inner()} {inner()})"
    if kind == "par":
        return f"(par {branches('branch')})"
    if kind == "par-map":
        own = Place("branch 0", place)
        return f"(par-map (lambda (x) {inner(own)}) [1] limit: 1)"
    if kind == "race":
        return f"(attempt (race {branches('race')}))"
    if kind == "work":
        name = f"w{made.number(place)}"
        own = Place(f"invoke_workflow {name}", place)
        return f'(as-work "plan-node" "{name}" (lambda () {inner(own)}))'
    if kind == "try":
        after = made.number(place)
        return f"(try {inner()} (catch (e) (ask {after} nil)))"
    if kind == "finally":
        return f"(try {inner()} (finally {ask()}))"
    if kind == "timeout":
        return f"(attempt (with-timeout 5 {inner()}))"
    assert kind == "handle"
    after = made.number(place)
    return f"(handle {inner()} ((note n) k (begin (ask {after} n) (k n))))"


# fmt: off
_LEAVES = ("ask", "note", "task", "task")
_KINDS = (
    "begin", "begin", "par", "par", "par-map", "race", "work", "try", "finally", "timeout",
    "handle",
)
# fmt: on


class Never:
    """What a performer gives for a reply that the schedule brings."""

    def __await__(self) -> Any:
        raise AssertionError("nobody awaits here")


@define
class Played:
    """A run, and what was performed in it: request and the place that it is for."""

    made: Made
    asked: list[tuple[Request, Place]] = field(factory=list)

    def perform(self, request: Request) -> Never:
        if request.operation != "timer":
            self.asked.append((request, self.place(request)))
        return Never()

    def place(self, request: Request) -> Place:
        if request.operation == "model":
            return self.made.tasks[request.context.conversations[-1].name]
        # A clause that mentions its continuation works for whoever performed.
        number, performer = (*request.arguments, None)[:2]
        if isinstance(performer, str):
            return self.made.tasks[performer]
        return self.made.places[number if performer is None else performer]

    def reply(self, request: Request, random: Random) -> tuple[Any, bool]:
        if request.operation == "timer" or random.random() < 0.85:
            return (_SAID if request.operation == "model" else 1), False
        return error_record("TASK_FAILURE", "odd", "no"), True


_SAID = {
    "content": ({"type": "text", "text": "yes"},),
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 3, "output_tokens": 2},
    "model": "m",
}


def played(
    made: Made, program: Program, random: Random, trace: Any, *, traced: bool = True
) -> Played:
    """A run under a schedule: what is open is answered in any order, some of it with a failure,
    deadlines pass, some runs are cancelled, and some are frozen and thawed on their way."""
    system = tasks()
    outcome = start(program, {}, system, traced=traced)
    trace.advance(outcome)
    run = Played(made)
    if not isinstance(outcome, Suspended):
        trace.finish()
        return run
    performers = dict.fromkeys(("ask", "note", "model", "timer"), run.perform)
    driven = Run(outcome, performers, Journal(), trace=trace, parallel=random.choice((2, 100)))
    cancel_after = random.choice((None, None, None, random.randint(0, 12)))
    answered = 0
    while not driven.ended:
        while driven.step():
            pass
        if driven.ended:
            break
        if answered == cancel_after:
            driven.abandon()
            cancel_after = None
            continue
        if random.random() < 0.02:
            driven.outcome = thaw(program, freeze(driven.outcome), system)
        opened = _opened(driven)
        timers = [each for each in opened if each.operation == "timer"]
        others = [each for each in opened if each.operation != "timer"]
        late = bool(timers) and (not others or random.random() < 0.05)
        request = random.choice(timers if late else others)
        reply, failed = run.reply(request, random)
        driven.arrive(request.id, reply, failed, 1)
        driven.awaitables.clear()
        driven.withdrawn.clear()
        answered += 1
    trace.finish(getattr(driven.outcome, "error", None))
    return run


def _opened(driven: Run) -> list[Request]:
    """What is being performed, in a fixed order."""
    started = driven._open
    return [started[id].request for id in sorted(started)]
