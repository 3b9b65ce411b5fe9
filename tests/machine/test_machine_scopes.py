"""Deadlines and races: what fires, what is withdrawn, what is left."""

import pytest
from support.running import begun

from sexplang.machine import Done, Failed, Suspended

EFFECTS = "(define-effect (ask n)) (define-effect (note n)) (define-effect (x))"


def started(text):
    """The outcome of the text with a few operations declared."""
    return begun(EFFECTS + text)


def asked(outcome):
    """What is open: identity, operation, arguments."""
    return [(each.id, each.operation, *each.arguments) for each in outcome.requests]


def notes(outcome):
    """What is open besides deadlines, without identities."""
    return [each[1:] for each in asked(outcome) if each[1] != "timer"]


def answered(outcome, operation):
    """The outcome after the first request of an operation is answered with nil."""
    request = next(each for each in outcome.requests if each.operation == operation)
    return outcome.resume(request.id, None)


def test_a_deadline_stands_among_the_requests_while_something_waits_under_it():
    """It opens with the first wait and is withdrawn when nothing waits under it any more."""
    outcome = started("(begin (with-timeout 5 (begin (ask 1) (ask 2))) (ask 3))")

    assert asked(outcome) == [("0", "timer", 5), ("1", "ask", 1)]
    outcome = outcome.resume("1", None)
    assert asked(outcome) == [("0", "timer", 5), ("2", "ask", 2)]
    outcome = outcome.resume("2", None)
    assert (asked(outcome), outcome.withdrawn) == ([("3", "ask", 3)], ("0",))


def test_a_deadline_ends_all_branches_inside_of_it():
    """They leave their scopes, and the error comes when the last one has."""
    outcome = started(
        "(try (with-timeout 5 (par (ask 1) (try (ask 2) (finally (note 1))) (ask 3)))"
        " (catch (e seconds) e.reason))"
    )

    outcome = outcome.resume("0", None)

    assert notes(outcome) == [("note", 1)]
    assert outcome.withdrawn == ("1.0.0", "1.1.0", "1.2.0")
    assert answered(outcome, "note").value == "seconds"


LATE = {
    "one": ("(ask 1)", None, "allowed"),
    "two": ("(par (ask 1) (note 2))", 2, "and 2 branches waited: 1 for `ask`, 1 for `note`"),
    "many": ("(par (note 1) (ask 1) (note 2))", 3, "waited: 2 for `note`, 1 for `ask`"),
    "in each other": ("(par (par (ask 1) 2 (ask 3)) (ask 4))", 3, "and 3 branches waited"),
    "of a task": ('(par (model {task: "tea"}) (ask 1))', 2, "for `model` of task `tea`"),
    "for a permit": (
        "(par (with-permit (lambda () (ask 1))) (with-permit x) (with-permit x))",
        3,
        "`ask`",
    ),
}


@pytest.mark.parametrize(("body", "count", "words"), LATE.values(), ids=LATE)
def test_a_deadline_says_how_many_waited(body, count, words):
    """And for what, what most of them waited for first."""
    effects = "(define-effect (model payload))"
    text = f"{effects} (try (with-timeout 5 {body}) (catch (e seconds) [e.details e.message]))"
    outcome = answered(started(text), "timer")

    details, message = outcome.value
    assert count == details.get("waiting")
    assert words in message


def test_cleaning_up_that_takes_too_long_loses_nothing_that_a_cut_call_had():
    """Its error takes the place of the deadline's, with the text and the tokens of the call; and
    it says what helps, which is no larger budget."""
    outcome = started("(attempt (with-timeout 9 (try (perform model 1) (finally (ask 2)))))")
    part = {"text": "Half", "usage": {"input_tokens": 3, "output_tokens": 2}, "model": "m"}

    outcome = outcome.resume("0", None, so_far=lambda id: part)
    (grace,) = [each.id for each in outcome.requests if each.operation == "timer"]
    result = outcome.resume(grace, None).value.fields

    error = result["notes"]["error"].fields
    assert (result["content"], result["usage"]) == ("Half", part["usage"])
    assert error["details"]["metrics"]["limit"] == 5
    assert "let `finally` bodies do less" in error["hint"]


def test_an_outer_deadline_bounds_the_cleaning_up_of_an_inner_one():
    """A `finally` that waits too long is interrupted by the scope around."""
    outcome = started(
        "(try (with-timeout 9 (attempt (with-timeout 5 (try (ask 1) (finally (note 1))))))"
        " (catch (e seconds) e.details.metrics.limit))"
    )
    assert asked(outcome) == [("0", "timer", 9), ("1", "timer", 5), ("2", "ask", 1)]

    outcome = outcome.resume("1", None)

    assert notes(outcome) == [("note", 1)]
    assert outcome.resume("0", None).value == 9


def test_a_handler_outside_works_under_the_deadline_of_whoever_performed():
    """The form is not on the stack then, so the error is raised at the request."""
    outcome = started(
        "(handle (with-timeout 5 (x)) ((x) k (k (try (ask 1) (catch (e) e.reason)))))"
    )

    outcome = outcome.resume("0", None)

    assert isinstance(outcome, (Done, Failed, Suspended))
    assert outcome == Done("seconds", ("1",))


def test_a_catch_runs_under_the_deadlines_around_it():
    """A clause that never resumes has left the form, and its deadline."""
    outcome = started("(handle (with-timeout 5 (x)) ((x) k (ask 1)))")

    assert asked(outcome) == [("1", "ask", 1)]


def test_a_continuation_meets_the_deadline_it_was_captured_under():
    """Once it has fired, whatever waits in a later future is ended at once."""
    outcome = started(
        "(define k1 (handle (with-timeout 5 (begin (x) (ask 9))) ((x) k k)))"
        "[(attempt (k1 1)) (attempt (k1 2))]"
    )
    assert asked(outcome) == [("0", "timer", 5), ("1", "ask", 9)]

    outcome = outcome.resume("0", None)

    assert isinstance(outcome, Done)
    reasons = [each.fields["notes"]["error"].fields["reason"] for each in outcome.value]
    assert reasons == ["seconds", "seconds"]


@pytest.mark.parametrize("winner", [0, 1, 2])
def test_the_first_value_wins_a_race(winner):
    """The others are withdrawn, whichever it is."""
    outcome = started("(race (ask 0) (ask 1) (ask 2))")

    outcome = outcome.resume(f"0.{winner}.0", "won")

    losers = tuple(f"0.{index}.0" for index in range(3) if index != winner)
    assert outcome == Done("won", losers)


def test_a_race_waits_for_its_losers_to_leave():
    """The value is given when nothing of the race is left."""
    outcome = started("(race (ask 1) (try (ask 2) (finally (note 2))))")

    outcome = outcome.resume("0.0.0", 1)

    assert notes(outcome) == [("note", 2)]
    assert answered(outcome, "note").value == 1


def test_what_cleans_up_after_others_have_gone_on_has_a_time_of_grace():
    """A `finally` that waits longer is interrupted; those around it still run, and are too."""
    outcome = started(
        "(race (ask 1) (try (try (ask 2) (finally (begin (note 1) (note 2)))) (finally (note 3))))"
    )
    outcome = outcome.resume("0.0.0", "won")
    assert [each[1:] for each in asked(outcome)] == [("timer", 5), ("note", 1)]

    outcome = answered(outcome, "timer")

    assert outcome.value == "won"


def test_a_race_inside_a_race_and_an_error_from_around():
    """Cancelling reaches all branches below."""
    outcome = started(
        "(try (par (race (ask 1) (race (ask 2) (ask 3))) (begin (ask 4) (raise 1)))"
        " (catch (e) (note 9)))"
    )

    outcome = outcome.resume("0.1.0", None)

    assert outcome.withdrawn == ("0.0.0.0.0", "0.0.0.1.0.0.0", "0.0.0.1.0.1.0")
    assert [operation for _, operation, *_ in asked(outcome)] == ["note"]


def test_par_map_keeps_order_and_its_limit():
    """As one ends the next begins; values are in the order of the list."""
    outcome = started("(par-map (lambda (n) (ask n)) [1 2 3 4 5] limit: 2)")
    order = []

    while isinstance(outcome, Suspended):
        assert len(outcome.requests) <= 2
        request = outcome.requests[-1]
        order.append(request.arguments[0])
        outcome = outcome.resume(request.id, request.arguments[0] * 10)

    assert order == [2, 3, 4, 5, 1]
    assert outcome == Done((10, 20, 30, 40, 50))
