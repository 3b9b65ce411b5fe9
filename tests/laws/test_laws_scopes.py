"""Races, deadlines and budgets by hand: what the documents say, and what the laws have found.

A case is a program, what waits before each event with the event that then happens, and the value.
The oracle and the machine are held against the same expectation.
"""

from typing import Any

import pytest
from support.running import Asked, Choose, answer, begun, comparable, seen
from support.schedule import meaning

EFFECTS = "(define-effect (ask n)) (define-effect (note n)) (define-effect (x n))\n"
WHICH = "(catch (e) [e.reason e.details.metrics.limit])"

RACES = [
    # The first value decides; the others leave their scopes first, within a time of grace.
    (
        "(race (ask 1) (try (ask 2) (finally (note 3))) (ask 5))",
        ["ask 1, ask 2, ask 5: ask 1", "note 3, timer 5: note 3"],
        8,
    ),
    # A branch that fails only loses; a boundary inside it never hears of the others.
    ("(race (ask 4) (ask 1))", ["ask 4, ask 1: ask 4", "ask 1: ask 1"], 8),
    # When all have failed, the handlers outside hear of that alone, in order of the branches.
    (
        "(try (race (ask 4) (raise 7)) (catch (e) [e.reason (length e.details.errors)]))",
        ["ask 4: ask 4"],
        ["'all-failed'", 2],
    ),
    # A branch that has a value at once leaves those after it without a beginning.
    ("(race 1 (ask 1))", [], 1),
    # So many branches of a par-map at a time, begun in order.
    (
        "(par-map (lambda (n) (ask n)) [1 2 3] limit: 2)",
        ["ask 1, ask 2: ask 2", "ask 1, ask 3: ask 1", "ask 3: ask 3"],
        [8, 4, 0],
    ),
]

DEADLINES = [
    # At the form: no catch, attempt or race inside sees it.
    (
        f"(try (with-timeout 3 (race (attempt (try (ask 1) (catch (e) 0))) (ask 2))) {WHICH})",
        ["ask 1, ask 2, timer 3: timer 3"],
        ["'seconds'", 3],
    ),
    # On behalf of the performer, though the form is not on the stack: at the request.
    (
        "(handle (with-timeout 3 (x 1)) ((x n) k (k (try (ask n) (catch (e) 7)))))",
        ["ask 1, timer 3: timer 3"],
        7,
    ),
    # A clause that never resumes has left the form; one that resumes last has left itself.
    ("(handle (with-timeout 3 (x 1)) ((x n) k (ask n)))", ["ask 1: ask 1"], 8),
    (
        "(handle (begin (with-timeout 3 (x 1)) (ask 2)) ((x n) k (k (ask n))))",
        ["ask 1, timer 3: ask 1", "ask 2: ask 2"],
        4,
    ),
    # While a clause still stands, what it resumes is under the deadlines around the call.
    (
        "(handle (begin (with-timeout 3 (x 1)) (ask 2)) ((x n) k (+ 1 (k 0))))",
        ["ask 2, timer 3: ask 2"],
        5,
    ),
    # Two futures of a continuation meet the same deadline.
    (
        f"(let ((k (handle (with-timeout 3 (begin (x 1) (ask 2))) ((x n) k k))))"
        f" [(try (k 1) {WHICH}) (try (k 2) {WHICH})])",
        ["ask 2, timer 3: timer 3"],
        [["'seconds'", 3], ["'seconds'", 3]],
    ),
    # Finally bodies run because a scope broke: not for that one, within a time of grace.
    (
        f"(try (with-timeout 3 (try (ask 1) (finally (note 2)))) {WHICH})",
        ["ask 1, timer 3: timer 3", "note 2, timer 5: note 2"],
        ["'seconds'", 3],
    ),
    # The grace is over: the finally ends where it waits, and those around it still begin.
    (
        f"(try (with-timeout 3 (try (try (ask 1) (finally (note 2) (note 4))) (finally (x 3))))"
        f" {WHICH})",
        ["ask 1, timer 3: timer 3", "note 2, timer 5: timer 5"],
        ["'seconds'", 5],
    ),
    # An outer deadline bounds the cleaning up; it interrupts what cleans up already.
    (
        f"(try (with-timeout 4 (attempt (with-timeout 3 (try (ask 1) (finally (note 2))))))"
        f" {WHICH})",
        ["ask 1, timer 3, timer 4: timer 3", "note 2, timer 4, timer 5: timer 4"],
        ["'seconds'", 4],
    ),
]

BUDGETS = [
    # Refused before it starts, at the form; a call that failed counts as well.
    (
        f"(try (with-budget {{calls: 2}} (attempt (model 4)) (model 1) (model 2)) {WHICH})",
        ["model 4: model 4", "model 1: model 1"],
        ["'calls'", 2],
    ),
    # Of two that are spent, the outer one breaks.
    (
        f"(try (with-budget {{calls: 1}} (with-budget {{calls: 0}} (model 2))) {WHICH})",
        [],
        ["'calls'", 0],
    ),
    (
        f"(try (with-budget {{calls: 0}} (try (with-budget {{calls: 0}} (model 2)) {WHICH}))"
        f" (catch (e) 7))",
        [],
        7,
    ),
    # A handler in the program costs nothing.
    ("(handle (with-budget {calls: 0} (model 1)) ((model p) k (k p)))", [], 1),
]

FOUND = [
    # What a clause owns is given up under the grace of whoever cancelled the branch.
    (
        "(attempt (par (handle (try (x 1) (finally (note 2))) ((x n) k (k (note 1)))) (raise 1)))",
        ["note 2, timer 5: note 2"],
        ("TaskResult", "FAILED", ("error", "USER_ERROR", "raised", [1, "None", "None"])),
    ),
    # A scope that broke does not break the cleaning up, however deep the branches.
    (
        f"(try (with-timeout 3 (par 0 (try (par (ask 1) 3) (finally (note 2))))) {WHICH})",
        ["ask 1, timer 3: timer 3", "note 2, timer 5: note 2"],
        ["'seconds'", 3],
    ),
    (
        f"(try (with-timeout 1 (with-timeout 2 (par (try"
        f" (race (try (ask 1) (finally (note 2))) (ask 3)) (finally (note 4)))))) {WHICH})",
        [
            "ask 1, ask 3, timer 1, timer 2: timer 2",
            "note 2, timer 1, timer 5: timer 1",
            "note 4, timer 5: note 4",
        ],
        ["'seconds'", 1],
    ),
    # A continuation holds the deadlines entered in it, not those that it was captured under.
    (
        "(let ((k (with-timeout 1 (handle (begin (x 1) (ask 2)) ((x n) k k)))))"
        " (with-timeout 3 (k 0)))",
        ["ask 2, timer 3: ask 2"],
        4,
    ),
    # What is abandoned is under the deadlines and budgets around that.
    (
        "(let ((k (handle (try (x 1) (finally (note 2))) ((x n) k k))))"
        " (with-timeout 3 (abandon k)))",
        ["note 2, timer 3: note 2"],
        "None",
    ),
    (
        f"(let ((k (handle (try (x 1) (finally (model 2))) ((x n) k k))))"
        f" (try (with-budget {{calls: 0}} (abandon k)) {WHICH}))",
        [],
        ["'calls'", 0],
    ),
    # An inner deadline that passes while an outer one is cleaned up for is heard, too.
    (
        f"(try (with-timeout 1 (with-timeout 2 (par 1 (try (ask 1) (finally (note 4)))))) {WHICH})",
        ["ask 1, timer 1, timer 2: timer 1", "note 4, timer 2, timer 5: timer 2"],
        ["'seconds'", 2],
    ),
    # … and what catches it there cleans up as well: not for the one that broke.
    (
        f"(try (with-timeout 3 (try (with-timeout 7 (race (try (ask 1) (finally (note 2)))"
        f" (note 3))) (catch (e) (ask 5)))) {WHICH})",
        [
            "ask 1, note 3, timer 3, timer 7: timer 3",
            "note 2, timer 5, timer 7: timer 7",
            "ask 5, timer 5: ask 5",
        ],
        ["'seconds'", 3],
    ),
    # An error in what cleans up ends that, and gives no further time.
    (
        "(race (note 1) (try (ask 1) (finally"
        " (handle (try (x 4) (finally (note 5))) ((x n) k (k (par 1 (ask 4))))))))",
        ["note 1, ask 1: note 1", "ask 4, timer 5: ask 4", "note 5, timer 5: note 5"],
        "None",
    ),
    # A branch whose cleaning up has not begun when a scope around breaks still cleans up.
    (
        f"(try (with-budget {{calls: 0}} (race (handle (par (try (ask 1) (finally (x 2)))"
        f" (try (begin (ask 2) (raise 1)) (finally (note 7)))) ((x n) k (k (model n))))"
        f" (ask 3))) {WHICH})",
        ["ask 1, ask 2, ask 3: ask 2", "note 7, timer 5: note 7"],
        ["'calls'", 0],
    ),
    # In a `finally` the refusal ends that body alone, and breaks no scope: the race goes on.
    (
        "(with-budget {calls: 0} (race (par (try (ask 1) (finally (model 2)))"
        " (try (begin (ask 2) (raise 1)) (finally (note 7)))) (ask 3)))",
        ["ask 1, ask 2, ask 3: ask 2", "note 7, ask 3, timer 5: ask 3", "note 7, timer 5: note 7"],
        0,
    ),
    # Cleaning up in a branch of a `par` that has broken its budget: each body is refused.
    (
        "(try (with-budget {calls: 1} (par (try (model 1) (finally (model 2) (note 5)))"
        " (try (begin (ask 1) (model 3)) (finally (try (model 6) (catch (e calls) (note 6)))))))"
        " (catch (e) [e.reason (length e.details.suppressed)]))",
        ["model 1, ask 1: ask 1", "note 6, timer 5: note 6"],
        ["'calls'", 1],
    ),
    # A handler gives its body up for a value: the refusal stands in that value's place.
    (
        "(try (with-budget {calls: 0} (handle (try (try (x 1) (finally (model 1)))"
        " (finally (model 2) (note 1))) ((x n) k n)))"
        " (catch (e) [e.reason (length e.details.suppressed)]))",
        [],
        ["'calls'", 1],
    ),
    # What was refused before is told although the refusal that ends the body comes later.
    (
        "(try (with-budget {calls: 0} (try (raise 1) (finally (handle (try (try (note 3)"
        " (finally (model 4))) (finally (x 5)))"
        " ((note n) k (model 3)) ((x n) k (model n) (k 3))))))"
        " (catch (e) [e.details.value (length e.details.suppressed)]))",
        [],
        [1, 2],
    ),
]


def schedule(events: list[str]) -> tuple[Choose, list[str]]:
    """A schedule that expects to find just this waiting, and picks what is named; and what is
    left of it."""
    left = list(events)

    def choose(waits: list[Asked], requests: int) -> int:
        waiting, chosen = left.pop(0).split(": ")
        assert waiting == ", ".join(map(_word, waits))
        return waits.index(next(each for each in waits if _word(each) == chosen))

    return choose, left


def _word(asked: Asked) -> str:
    operation, arguments = asked
    return f"{operation} {arguments[0]}"


@pytest.mark.parametrize(("text", "events", "value"), RACES + DEADLINES + BUDGETS + FOUND)
def test_the_oracle_says_what_the_documents_say(text: str, events: list[str], value: Any):
    """Values, what waits, and which deadlines are counted down meanwhile."""
    choose, left = schedule(events)
    told = meaning(EFFECTS + text, answer, choose)

    assert (None, value, []) == (told.error, comparable(told.value), left)


@pytest.mark.parametrize(("text", "events", "value"), RACES + DEADLINES + BUDGETS + FOUND)
def test_the_machine_says_what_the_documents_say(text: str, events: list[str], value: Any):
    """The same expectations, for the machine."""
    choose, left = schedule(events)
    told = seen(begun(EFFECTS + text), choose=choose)

    assert (None, value, []) == (told.error, told.value, left)
