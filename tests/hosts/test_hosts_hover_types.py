"""Hovering a name tells its type."""

import pytest
from support.editor import Editor


@pytest.fixture(scope="module")
def editor(tmp_path_factory):
    opened = Editor(tmp_path_factory.mktemp("types"))
    yield opened

    assert [] == opened.shown
    assert 0 == opened.leave()


FLIGHTS = """(define-type Flight {from: string  price?: number})
(defatom find-flights (params to) (instructions "To {{to}}.") (returns [Flight]))
(define-input one type: Flight)
(define fl|ights (find-flights "Rome"))
(define (cheap given) (filter (lambda (fli|ght) (< flight.price 40)) given))
(map (lambda (fli|ght) fli|ght.price) fli|ghts)
(define (from-json text) (bind rea|d (as [Flight] (json-parse text))) (first read))
o|ne.from
"""

TYPE = "`{from: string price?: number}`."


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (0, f"The answer of `find-flights`: `[{TYPE[1:-2]}]`."),
        (1, ""),
        (2, f"An item of the answer of `find-flights`: {TYPE}"),
        (3, f"An item of the answer of `find-flights`: {TYPE}"),
        (4, f"The answer of `find-flights`: `[{TYPE[1:-2]}]`."),
        (5, f"`(as [Flight] …)`: `[{TYPE[1:-2]}]`."),
        (6, f"The input `one`: {TYPE}"),
    ],
)
def test_hovering_a_name_tells_its_type(editor, at, words):
    """Where its fields are read, or it is an argument; not of what other callers may give."""
    parts = FLIGHTS.split("|")
    editor.open("a.sexp", "".join(parts))
    editor.findings("a.sexp")

    said = editor.hover("a.sexp", "".join(parts[: at + 1]) + "|" + "".join(parts[at + 1 :]))[0]
    assert words in said
    assert words or "find-flights" not in said


TOOL = """(define-type Cup {price: number} "A cup.")
(define-tool (fi|ll (cup Cu|p doc: "which") (n integer default: 2)) "Fills." (* n| cup|.price))
"""


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (0, "(fill cup (n 2))"),
        (0, "- `cup` (Cup) which\n- `n` (integer) default `2`"),
        (1, "A cup."),
        (2, "A parameter"),
        (3, "`cup` of `fill`: `{price: number}`."),
    ],
)
def test_hovering_a_tool_tells_its_types(editor, at, words):
    parts = TOOL.split("|")
    editor.open("b.sexp", "".join(parts))
    editor.findings("b.sexp")

    said = editor.hover("b.sexp", "".join(parts[: at + 1]) + "|" + "".join(parts[at + 1 :]))[0]
    assert words in said or words.capitalize() in said
