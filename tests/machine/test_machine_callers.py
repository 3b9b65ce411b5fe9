"""What goes wrong in the language's own library has the place where the program called it."""

import json

import pytest

import sexplang
from sexplang.hosts.terminal.show import show_error
from sexplang.machine.errors import call_frame
from sexplang.machine.stack import BOTTOM
from sexplang.terms.source import Source, Span


def failed(text, **options):
    """The error that ends a program, which is called `p`."""
    with pytest.raises(sexplang.Failed) as found:
        sexplang.run(text, **options)
    return found.value.error


def place(text, error):
    """What of the program an error points at."""
    span = error.fields["span"]
    line = text.splitlines()[span["line"] - 1]
    return line[span["column"] - 1 : span["end_column"] - 1]


@pytest.mark.parametrize(
    ("before", "call", "after"),
    [
        ("(list 1 ", '(par-map str [1 2] limit: "x")', ")"),
        ("", "(par-map str 5)", ""),
        ("(define (go)\n  ", '(eval-plan "1" budget: 5)', ")\n(list (go))"),
        ("", '(retry "x" 3)', ""),
        ("(str ", "(vote 3)", ")"),
        ("(par 1 ", "(retry (lambda () 1) times: 0)", ")"),
        ("(import std/state)\n", "(with-state 4 5)", ""),
        ("(import std/state)\n(with-cells {a: 1} (lambda () ", '(update-cell "b" str)', "))"),
        ("(map (lambda (x) ", "(par-map x [1])", ") [1])"),
        ("(map (lambda (f) (par-map f [1])) [(lambda (x) ", "(vote x)", ")])"),
        ("(list ", '(system:run_script "nope")', ")"),
        ("", "(call-atomic-task 'nope)", ""),
        ("(define r par-map)\n(list ", "(r str 5)", ")"),
        ("", "(run-parallel-subagents 5)", ""),
        ("(str ", "(sequence [1 2] 3)", ")"),
        ("", "(map vote [1])", ""),
        ("", "(apply vote [5])", ""),
        ("", "(sort [1 2] vote)", ""),
        ("(import std/tasks)\n", "(map get-task-content [5])", ""),
        ("((lambda (f) ", "(f 5)", ") vote)"),
        ("((lambda (f) ", "(f f: 5 n: 2)", ") vote)"),
    ],
)
def test_the_line_of_the_caller_comes_first(before, call, after):
    """Also where the call is the last thing that its function does, or was captured."""
    text = before + call + after
    error = failed(text)

    assert place(text, error) == call
    assert error.fields["span"]["library"].startswith("std/")


@pytest.mark.parametrize(
    ("before", "call", "after"),
    [
        ("(str ", "(with-permit 5)", ")"),
        ("", "(with-permit (lambda (x) x))", ""),
        ("", "(race (car 5) (car 6))", ""),
        ("(define (go)\n  ", "(race (car 5))", ")\n(list (go))"),
        ("(par 1 ", "(with-permit vote)", ")"),
    ],
)
def test_every_error_has_a_place(before, call, after):
    """Also where a job begins, and where nobody has won."""
    text = before + call + after

    assert place(text, failed(text)) == call


def test_outside_of_with_state_the_hint_names_it():
    """And not the operation that the library makes it of."""
    text = "(import std/state)\n(get-state)"
    error = failed(text)

    assert place(text, error) == "(get-state)"
    assert "(with-state initial (lambda () …))" in error.fields["hint"]
    assert "get-cell" not in error.fields["hint"]


def test_an_error_of_the_program_that_the_library_calls_keeps_its_place():
    """The library is not blamed, and neither is who called it."""
    text = "(retry (lambda () (car 5)) times: 1)"
    error = failed(text)

    assert place(text, error) == "(car 5)"
    assert "library" not in error.fields["span"]


def test_both_places_are_shown():
    """The line of the program, and a note of one line."""
    text = "(par-map str [1] limit: 0)"
    words = show_error(failed(text), lambda name: Source(name, text))

    assert "1 │ (par-map str [1] limit: 0)" in words
    assert "note: the library meets it at std/parallel:" in words


def test_a_program_reads_its_own_line():
    """A clause that catches the error is told the same."""
    text = "(try\n (par-map str 5) (catch (err) [err.span.line err.span.column]))"

    assert sexplang.run(text) == [2, 2]


def test_the_place_is_kept_while_the_run_is_frozen():
    """What is called before a wait is blamed after it, in another process too."""
    text = "(define-effect (ask))\n(vote (lambda () (if (ask) 1 2)) n: 2)"
    program = sexplang.build(text)
    outcome = sexplang.start(program)
    for reply in (True, False):
        outcome = sexplang.thaw(program, json.loads(json.dumps(sexplang.freeze(outcome))))
        outcome = outcome.resume(outcome.requests[0].id, reply)

    assert outcome.error.fields["reason"] == "no-majority"
    assert outcome.error.fields["span"]["line"] == 2


def test_calls_of_the_library_in_tail_position_take_no_stack():
    """As any others: the frame that remembers one caller gives way to that of the next."""
    first, second = (Span(Source("p", "(a) (b)"), at, at + 3) for at in (0, 4))
    below = call_frame(first, BOTTOM)

    assert call_frame(second, below) == (below[0], BOTTOM, second, ())
    assert call_frame(Span(Source("std/steps", "(a)"), 0, 3), below) is below
