"""Fields that the type of a value does not have are found, and no field that a value may have."""

import pytest
from support.running import built

from sexplang.pipeline.pipeline import inspect
from sexplang.schemas.type_parts import field_of, find_unknown_field, item_of, kind_of_type

TYPES = """(define-type Seat {row: integer letter: (one-of "A" "B")})
(define-type Flight {from: string price?: number seats: [Seat] next?: Flight})
(define-type Event (or {kind: (one-of "flight") to: string}
                       {kind: (one-of "stay") nights: integer}))
(define-type Tree {value: integer kids: [Tree]})
(defatom flight (params q) (instructions "{{q}}") (returns Flight))
(defatom flights (params q) (instructions "{{q}}") (returns [Flight]))
(defatom events (params q) (instructions "{{q}}") (returns [Event]))
(defatom grow (params q) (instructions "{{q}}") (returns Tree))
(define-input booked type: [Flight])
(define-input one type: Flight)
(define fs (flights "q"))
"""


def told(text):
    """The code and the title of each finding, but for names that a case does not read."""
    program = built(TYPES + text)
    found = [*program.warnings, *inspect(program).findings]
    return [(each.code, each.title) for each in found if each.code != "unused-binding"]


ITEM = "an item of the answer of `flights` has no field `pric`"
LETTER = "an item of `seats` of the answer of `flight` has no field `leter`"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("(map (lambda (f) f.pric) fs)", ITEM),
        ("(filter (lambda (f) (> f.pric 3)) fs)", ITEM),
        ("(sort-by (lambda (f) f.pric) (reverse (take (rest fs) 3)))", ITEM),
        ("(par-map (lambda (f) f.pric) (filter (lambda (f) f.price) fs))", ITEM),
        ("(for-each (lambda (f) (print f.pric)) fs)", ITEM),
        ("(fold (lambda (sum f) (+ sum f.pric)) 0 fs)", ITEM),
        ("(find (lambda (f) (equal? f.pric 3)) fs)", ITEM),
        ("(min-by (lambda (f) f.pric) fs)", ITEM),
        ("(let ((f (first fs))) f.pric)", ITEM),
        ("(let ((f (nth fs 2))) f.pric)", ITEM),
        ("(let ((f (second fs)) (g (last fs))) [f.from g.pric])", ITEM),
        ("(define (load q) (flights q)) (map (lambda (f) f.pric) (load 1))", ITEM),
        (
            '(map (lambda (f) f.pric) (map flight (string-split (read-file "x") " ")))',
            "the answer of `flight` has no field `pric`",
        ),
        ('(define a (flight "q")) (map (lambda (s) s.leter) a.seats)', LETTER),
        ('(define b (get (flight "q") "seats")) (map (lambda (s) s.leter) b)', LETTER),
        (
            '(define a (flight "q")) (define n a.next) n.pric',
            "`next` of the answer of `flight` has no field `pric`",
        ),
        (
            '(let* ((t (grow "q")) (k (first t.kids)) (l (first k.kids))) l.valu)',
            "an item of `kids` of a `Tree` in the answer of `grow` has no field `valu`",
        ),
        (
            '(map (lambda (e) [e.kind e.nights e.guests]) (events "q"))',
            "an item of the answer of `events` has no field `guests`",
        ),
        (
            '(let ((f (as Flight (json-parse "{}")))) f.pric)',
            "`(as Flight …)` has no field `pric`",
        ),
        (
            "(define (pick v) (bind found (as [Flight] v)) (map (lambda (f) f.pric) found))",
            "an item of `(as [Flight] …)` has no field `pric`",
        ),
        ("one.pric", "the input `one` has no field `pric`"),
        ("(map (lambda (f) f.pric) booked)", "an item of the input `booked` has no field `pric`"),
        (
            "(map (lambda (s) s.leter) one.seats)",
            "an item of `seats` of the input `one` has no field `leter`",
        ),
    ],
)
def test_a_field_that_no_value_of_the_type_has_is_found(text, title):
    """Through names, functions of lists, and functions of the program that only give."""
    assert ("unknown-field", title) in told(text)


@pytest.mark.parametrize(
    "text",
    [
        "(map (lambda (f) [f.from f.price f.next.next.price]) fs)",
        # Other fields stay in what is held to a type, and in inputs.
        '(let ((f (as Flight (json-parse "{}")))) [f.color f.seat f.prices f.price2 f.fro1])',
        "[one.color (map (lambda (f) f.colour) booked)]",
        '(map (lambda (e) [e.kind e.to e.nights]) (events "q"))',
        # What may be another value.
        "(let ((f (if one.price (first fs) {pric: 3}))) f.pric)",
        "(let ((f (put (first fs) 'pric 3))) f.pric)",
        "(let ((f (merge (first fs) {pric: 3}))) f.pric)",
        "(map (lambda (f) f.pric) (append fs [{pric: 3}]))",
        "(map (lambda (f) f.pric) (cons {pric: 3} fs))",
        "(fold (lambda (best f) (put best 'pric best.pric)) (first fs) fs)",
        "(loop ((f (first fs))) (if f.pric f (recur {pric: 3})))",
        "(let ((f (try (as Flight one) (catch (e) {pric: 3})))) f.pric)",
        "(let ((f (attempt (as Flight one) {pric: 3}))) f.pric)",
        # What is asked for its kind, and what other callers give.
        "(map (lambda (f) (if (has-key? f 'pric) f.pric 0)) fs)",
        "(define (cost f) f.pric) (map cost fs)",
        "(define (costs given) (map (lambda (f) f.pric) given)) (costs fs)",
        "(define (cost given) (let ((f (first given))) f.pric)) (cost fs)",
        '(define (same given) (equal? (get given "from") 1)) (same (first fs))',
        "(define (same given) (map (lambda (f) (equal? f.from 1)) given)) (same fs)",
        "(define (long given) (string-length (first given))) (long fs)",
        # An optional field is nil.
        "(map (lambda (f) [(equal? f.price nil) (equal? f.next nil) (str f.price)]) fs)",
    ],
)
def test_a_field_that_a_value_may_have_is_quiet(text):
    assert [] == told(text)


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        (
            '(map (lambda (s) (equal? s.letter "C")) one.seats)',
            ("never-equal", '`s.letter` is never "C"'),
        ),
        ("(map (lambda (f) (equal? f.from nil)) fs)", ("never-equal", "`f.from` is never nil")),
        (
            "(map (lambda (f) (length f.from)) fs)",
            (
                "wrong-type",
                "`length` takes a list, not `from` of a `Flight` in the answer of `flights`",
            ),
        ),
    ],
)
def test_a_part_of_a_typed_value_is_of_its_type(text, finding):
    """In comparisons, and as an argument."""
    assert [finding] == told(text)


@pytest.mark.parametrize(
    ("text", "findings"),
    [
        ('(as Flight {from: "a"})', [("never-fits", "`as` refuses this: `seats` is missing")]),
        (
            "(as Flight {from: 3 seats: []})",
            [("never-fits", "`as` refuses this: `from` is 3, not a text")],
        ),
        (
            '(map (lambda (x) (as [Seat] [{row: x letter: "A"} {row: x letter: "C"}])) [1])',
            [("never-fits", '`as` refuses this: `[1].letter` is "C", not one of "A", "B"')],
        ),
        (
            "(as [Seat] {row: 1})",
            [("never-fits", "`as` refuses this: the value is a table, not a list")],
        ),
        (
            '(map (lambda (x) (as Flight {from: "a" pirce: x seats: []})) [1])',
            [("unknown-field", "the type has no field `pirce`")],
        ),
        (
            "(as (or string nil) 4)",
            [("never-fits", "`as` refuses this: the value is 4, not a text or nil")],
        ),
        ('(as Flight {from: "a" seats: [] price: nil color: "red"})', []),
        ('(map (lambda (x) (as Seat {row: x letter: x})) ["A"])', []),
        ('(as Event {kind: "train"})', []),
        ("(as integer 1.5)", []),
        ("(as table one)", []),
        ("(as any (as list [1 [2]]))", []),
    ],
)
def test_a_value_that_is_written_is_held_to_its_type(text, findings):
    """As far as the text shows it."""
    assert findings == told(text)


def test_a_placeholder_leads_to_a_field_of_the_type():
    """By names and by indexes; an untyped parameter has any field."""
    text = """(defatom tell (params (f Flight) (fs [Flight]) (t table) x)
      (instructions "{{f.pric}} {{f.price}} {{f.color}} {{fs[0].form}} {{f.seats[1].leter}}
        {{t.a}} {{x.a}}"))"""
    found = [title for code, title in told(text) if code == "unknown-field"]
    assert found == [
        "{{f.pric}} leads nowhere: its type has no field `pric`",
        "{{fs[0].form}} leads nowhere: its type has no field `form`",
        "{{f.seats[1].leter}} leads nowhere: its type has no field `leter`",
    ]


WALKS = """(defatom leaf (params q) (instructions "{{q}}"))
(define (walk t) (leaf t.value) (map walk t.kids))
(define (ends t) (map (lambda (k) (leaf k)) (take t.kids 3)))
(define tree (grow "q"))
"""


@pytest.mark.parametrize(
    "text",
    ["(walk tree)", "(ends tree)", "(map ends tree.kids)", "(map (lambda (k) (leaf k)) tree.kids)"],
)
def test_a_type_changes_no_bound_and_no_row(text):
    """Law: a program is known to perform the same with its types and without them."""
    typed = TYPES + WALKS + text
    reports = [
        inspect(built(each)) for each in (typed, typed.replace("(returns Tree)", "(returns any)"))
    ]
    bounds = [
        (report.says(), [(str(row), row.says()) for row in report.effects]) for report in reports
    ]
    assert bounds[0] == bounds[1]


CLOSED = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("type_", "name", "is_unknown"),
    [
        (CLOSED, "x", True),
        (CLOSED, "name", False),
        ({**CLOSED, "patternProperties": {"^x": {}}}, "x", False),
        ({**CLOSED, "additionalProperties": True}, "nmae", False),
        ({**CLOSED, "additionalProperties": {"type": "string"}}, "nmae", False),
        ({"type": "object", "properties": {"name": {}}}, "nmae", True),
        ({"type": "object", "properties": {"name": {}}}, "names", False),
        ({"type": "object", "properties": {"line1": {}}}, "line2", False),
        ({"type": "object", "properties": {"id": {}}}, "ib", False),
        ({"type": "object", "properties": {"name": {}}, "allOf": []}, "nmae", False),
        ({"type": "object"}, "x", False),
        (
            {"type": ["object", "null"], **{k: v for k, v in CLOSED.items() if k != "type"}},
            "x",
            False,
        ),
        ({"anyOf": [CLOSED, {"type": "null"}]}, "x", True),
        ({"anyOf": [CLOSED, {"type": "object"}]}, "x", False),
        ({"oneOf": [CLOSED, {"$ref": "#/$defs/A"}], "$defs": {"A": CLOSED}}, "x", True),
        ({"$ref": "#/$defs/B", "$defs": {"A": CLOSED}}, "x", False),
        ({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}, "x", False),
        ({"$ref": "other.json"}, "x", False),
        ({"anyOf": [CLOSED] * 90}, "x", True),
        ({"anyOf": [CLOSED] * 10_000}, "x", False),
        ({}, "x", False),
    ],
)
def test_a_schema_lacks_a_field_where_each_branch_does(type_, name, is_unknown):
    """Schemas that are written by hand or by other tools."""
    assert is_unknown == (find_unknown_field(type_, (name,)) is not None)


def test_a_field_that_is_not_required_may_be_nil():
    """Its kind is not one; an item has one."""
    fields = {"a": {"type": "string"}, "items": {"type": "array", "items": {"type": "integer"}}}
    type_ = {"type": "object", "properties": fields, "required": ["items"]}
    kinds = [kind_of_type(type_, field_of(type_, (), name)) for name in fields]
    assert kinds == [None, "list"]
    assert "number" == kind_of_type(type_, item_of(type_, field_of(type_, (), "items")))
