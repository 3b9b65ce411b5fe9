"""What is open follows from what each outcome says of it."""

from random import Random

from hypothesis import strategies as st
from support.examples import examples
from support.laws import PLACES
from support.running import answer, begun, delivered, limits

from sexplang.machine import Suspended, state_of
from sexplang.terms.values.boundary import plain
from sexplang.testing.program_writer import program


@examples(40, 200, st.randoms(use_true_random=False))
def test_what_is_withdrawn_was_open_and_what_is_opened_was_not(random):
    """So a host may keep its own list, and nothing ends of which it has not heard."""
    outcome = begun(program(random, PLACES).text, limits(3))
    known = set()

    while isinstance(outcome, Suspended):
        opened = [request.id for request in state_of(outcome).opened]
        assert known >= {*outcome.withdrawn} and not known & ({*opened} - {*outcome.withdrawn})
        known = (known - {*outcome.withdrawn}) | {*opened}
        assert known == {request.id for request in outcome.requests}
        assert state_of(outcome).scheduler.count == len(known)
        outcome = _next(outcome, known, random)

    assert {*outcome.withdrawn} == known


def _next(outcome: Suspended, known: set[str], random: Random):
    """The outcome after a reply, a deadline or a cancellation; what was answered is not open."""
    if random.random() < 0.03 and state_of(outcome).scheduler.failing is None:
        return outcome.cancel()
    request = random.choice(outcome.requests)
    known.discard(request.id)
    arguments = tuple(plain(argument) for argument in request.arguments)
    value = None if request.operation == "timer" else answer(request.operation, arguments)
    return delivered(outcome, request.id, value)
