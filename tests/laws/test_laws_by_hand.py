"""The oracle against expectations that were computed by hand from the documents.

Whoever judges the machine is judged first. Each program is also run by the machine.
"""

import pytest
from support.laws import disagreement
from support.running import answer, comparable
from support.schedule import meaning

OWNED = """
(handle (handle (try (perform in) (finally (perform note "F")))
    ((in) k {body}))
  ((out) q {outer}))"""

STATE = """
((handle (try (begin (perform put 5) (perform fail))
           (finally (perform put (+ (perform get) 1))))
   ((get) k (lambda (s) ((k s) s))) ((put v) k (lambda (s) ((k nil) v)))
   ((fail) k (lambda (s) (list "failed" s))) (return x (lambda (s) (list x s)))) 0)"""

CASES = [
    # Finally bodies run inside the handle that is left, also those that pass state.
    (STATE, ["'failed'", 6], []),
    # … and the handler that serves the rest of the body serves them.
    (
        """(handle (handle (try (perform fail) (finally (perform said "F")))
             ((said m) k (begin (perform note "inner") (k nil))) ((fail) k "failed"))
           ((said m) k (begin (perform note "outer") (k nil))))""",
        "'failed'",
        ["inner"],
    ),
    # What a finally ends with replaces the pending result: e2 replaces e1.
    ("(try (try (raise 1) (finally (raise 2))) (catch (e) e.details.value))", 2, []),
    # A finally in the body runs before the catch, the try's own after it.
    (
        """(try (try (raise 1) (finally (perform note "in"))) (catch (e) (perform note "catch"))
           (finally (perform note "own")))""",
        "None",
        ["in", "catch", "own"],
    ),
    # An owned continuation is given up when its clause ends without calling, per activation.
    (
        OWNED.format(body="(if (= (perform out) 0) 7 (+ 100 (k 1)))", outer="(list (q 0) (q 1))"),
        [7, 101],
        ["F", "F"],
    ),
    # … also when the clause is itself given up before it calls.
    (OWNED.format(body="(k (perform out))", outer="42"), 42, ["F"]),
    # A call inside a nested handle that keeps its own continuation keeps this one too.
    (
        """((handle (try (perform in) (finally (perform note "F")))
             ((in) k (handle (begin (perform get) (k 1)) ((get) q (lambda (s) (q s)))))) 3)""",
        1,
        ["F"],
    ),
    # A kept continuation is left once per resumption, and by abandon.
    (
        """(let ((k (handle (try (perform op) (finally (perform note "F"))) ((op) k k))))
             (begin (abandon k) (list (k 1) (k 2))))""",
        [1, 2],
        ["F", "F", "F"],
    ),
    # Forward goes outward with the performer's continuation, this handle included.
    (
        """(handle (handle (+ 1 (perform op 2)) ((op x) k (forward k op (* x 10)))
                   (return r (list "in" r)))
           ((op x) k (k (+ x 100))) (return r (list "out" r)))""",
        ["'out'", ["'in'", 121]],
        [],
    ),
    # A clause that never resumes cuts the branches first, and runs in the parent.
    (
        """(handle (par (try (perform ask 1) (finally (perform note "0"))) (perform stop 2))
             ((stop x) k (begin (perform note "clause") x)))""",
        2,
        ["0", "clause"],
    ),
    # A tail clause may run in the branch, forward from there, and end everything from there.
    (
        """(handle (par (perform op 1) (try (perform op 2) (finally (perform note "F"))))
             ((op x) k (if (< x 2) (k 0) "ended")))""",
        "'ended'",
        ["F"],
    ),
    # Anything else is refused at the performer, before anything is cancelled.
    (
        """(handle (par (try (perform op 1) (catch (e resume-across-par) 7)) 2)
             ((op x) k (+ 1 (k 0))))""",
        [7, 2],
        [],
    ),
]


@pytest.mark.parametrize(("text", "value", "notes"), CASES)
def test_the_oracle_says_what_the_documents_say(text: str, value, notes: list[str]):
    """Values and the order of what is noted are those that machine.md derives."""
    told = meaning(text, answer)

    assert told.error is None
    assert value == comparable(told.value)
    assert notes == [arguments[0] for operation, arguments in told.trace if operation == "note"]


@pytest.mark.parametrize("text", [case[0] for case in CASES])
def test_the_machine_agrees_by_hand(text: str):
    """The machine says the same."""
    text = f"(define-effect (note x)) (define-effect (ask x)) {text}"

    assert None is disagreement(text)


@pytest.mark.parametrize(
    ("text", "type", "reason"),
    [
        ("(raise 1)", "USER_ERROR", "raised"),
        ('(raise {reason: "closed"})', "USER_ERROR", "closed"),
        ('(handle (+ 1 "x") ((error e) k (k 1)))', "PROGRAM_ERROR", "not-resumable"),
        ('(try (raise 1) (finally (raise {reason: "second"})))', "USER_ERROR", "raised"),
        ("(par 1 (raise 1))", "USER_ERROR", "raised"),
    ],
)
def test_the_oracle_fails_as_the_documents_say(text: str, type: str, reason: str):
    """Errors that nobody takes end the program; the first one counts."""
    error = meaning(text, answer).error

    assert error is not None
    assert (type, reason) == (error.fields["type"], error.fields["reason"])


WAITING = "(try (try (raise 1) (finally (note 1))) (catch (e) (perform model {messages: []})))"
"""A catch that waits for a `finally`, which performs."""


@pytest.mark.parametrize(
    "text",
    [
        f"(handle {WAITING} ((note x) k (with-timeout 3 (k 1))))",
        f"(handle {WAITING} ((note x) k (with-budget {{calls: 0}} (k 1))))",
        "(handle (handle (try (ask 1) (finally (note 1))) ((ask x) _ (model {messages: []})))"
        " ((note x) k (with-budget {calls: 0} (k 1))))",
    ],
)
def test_a_clause_that_waits_for_a_finally_is_under_what_it_is_resumed_under(text: str):
    """The deadlines and budgets around the call of the continuation that holds it."""
    assert None is disagreement(f"(define-effect (note x)) (define-effect (ask x)) {text}")
