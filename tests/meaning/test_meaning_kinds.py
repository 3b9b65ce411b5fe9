"""What a test tells apart, and what other callers may give, is no slip: such programs are quiet."""

import pytest
from support.running import built

from sexplang.pipeline.pipeline import inspect

TASK = '(defatom f (params (x string)) (instructions "S {{x}}"))\n'
ATTEMPTED = '(bind r (attempt (f "a")))\n'


def told(text):
    """The code and the title of each finding."""
    program = built(TASK + text)
    return [(each.code, each.title) for each in [*program.warnings, *inspect(program).findings]]


@pytest.mark.parametrize(
    "text",
    [
        ATTEMPTED + '(if (failed? r) "bad" (if (equal? r "yes") 1 2))',
        ATTEMPTED + '(cond ((failed? r) 0) ((equal? r "yes") 1) (else 2))',
        ATTEMPTED + '(if (not (failed? r)) (case r (("yes") 1) (else 2)) 0)',
        ATTEMPTED + '(if (and (not (failed? r)) (member? r ["yes" "no"])) 1 2)',
        ATTEMPTED + "(if (failed? r) 0 (and r 2))",
        ATTEMPTED + "(define (bad? x) (failed? x)) (if (bad? r) 0 (if r 1 2))",
        '(match (attempt (f "a")) ({status: "FAILED"} 0) ("yes" 1) (_ 2))',
        '(match (attempt (f "a")) ((? failed? r) r.notes) ("yes" 1) (_ 2))',
        '(case (attempt (f "a")) (("yes") 1) (else 2))',
        """(bind rs (map (lambda (x) (attempt (f x))) ["a" "b"]))
        (map (lambda (r) (equal? r "yes")) (filter (lambda (r) (not (failed? r))) rs))""",
        '(define (show x) (match x ({title: t} t) (_ x))) (show (f "a"))',
        '(define (head x) (match x ([] nil) ([a . _] a) (_ x))) (head (f "a"))',
        '(match (f "a") ([a . b] [a b]) ("yes" 1) (_ 2))',
        '(match (f "a") ({title: [t _]} t) (_ 2))',
        '(match (f "a") ({content: c} c) (_ 2))',
        '(match (f "a") ((? list? xs) (length xs)) (text (string-length text)))',
        '(define (len x) (if (list? x) (length x) (string-length x))) (len (f "x"))',
        '(define (len x) (if (list? x) (length x) (string-length x))) (len "abc")',
        '(define (len x) (cond ((nil? x) 0) ((list? x) (length x)) (else 1))) (len (f "x"))',
        '(bind x (f "a")) (if (table? x) x.content x)',
        '(bind x (f "a")) (and (list? x) (length x))',
        '(let ((x (f "a"))) (when (has-key? x "content") x.content))',
        '(define (said x) (if (string? x) x x.content)) (said (f "a"))',
        '(define (said x) (if (string? x) x (get x "content"))) (said (f "a"))',
        '(define (yes? x) (or (equal? x true) (equal? x "true"))) (yes? (f "a"))',
        '(define (choose x) (if x 1 2)) (choose (f "a"))',
        '(define (at x xs) (index-of x xs)) (at "a" (json-parse "[]"))',
    ],
)
def test_what_a_test_tells_apart_is_quiet(text):
    assert [] == told(text)


def test_an_attempt_in_a_comparison_may_have_failed():
    """It stands there itself; what is said of it is true."""
    title = "an attempt without a default may be a FAILED TaskResult"
    assert [("never-equal", title)] == told('(equal? (attempt (f "a")) "yes")')
    assert [("never-equal", title)] == told('(member? (attempt (f "a")) ["yes" "no"])')


RETURNS = """(defatom v (params (x string)) (instructions "V {{x}}")
  (returns {good: boolean stars: integer kind: (one-of "bug" "idea") why?: (or string boolean)}))
(bind r (v "a"))
"""


@pytest.mark.parametrize(
    ("text", "findings"),
    [
        ('(equal? r.good "true")', [("never-equal", '`r.good` is never "true"')]),
        ('(case r.kind (("bgu") 1) (else 2))', [("never-equal", '`r.kind` is never "bgu"')]),
        ('(equal? "bgu" r.kind)', [("never-equal", '`r.kind` is never "bgu"')]),
        ("r.star", [("unknown-field", "the answer of `v` has no field `star`")]),
        ("(list (equal? r.good true) (equal? r.why true) (equal? r.why nil) r.stars)", []),
        ('(if (boolean? r.stars) 1 (equal? r.stars "x"))', []),
        ('(define (same x) (equal? x.good "true")) (same r)', []),
    ],
)
def test_a_field_is_of_the_type_that_the_task_returns(text, findings):
    """A word that it never is, and a field that the type has not."""
    assert findings == told(RETURNS + text)


NAMED = """(define-type Flight {from: string price?: number next?: Flight})
(defatom v (params (x string)) (instructions "V {{x}}") (returns {best: Flight all: [Flight]}))
(bind r (v "a"))
"""


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("r.best.prise", "`best` of the answer of `v` has no field `prise`"),
        ("r.best.next.next.form", "`best.next.next` of the answer of `v` has no field `form`"),
        ("r.bst", "the answer of `v` has no field `bst`"),
    ],
)
def test_a_field_of_a_named_type_is_known_at_any_depth(text, title):
    assert told(NAMED + text) == [("unknown-field", title)]
    assert told(NAMED + "(list r.best.price r.best.next.next.price r.all.x)") == []
    assert told(NAMED + "(equal? r.best.next.from 1)") == [
        ("never-equal", "`r.best.next.from` is never 1")
    ]


@pytest.mark.parametrize("schema", ["", 'schema: "object"'])
def test_a_json_has_no_parsed_content(schema):
    """Nobody knows its fields, but this is one of a TaskResult."""
    head = f'(defatom j (instructions "J") (output_format type: json {schema})) (bind r (j))'
    title = "the answer of `j` has no field `parsed_content`"
    assert [("answer-as-result", title)] == told(head + "r.parsed_content.good")
    assert [] == told(head + "[r.content r.status r.good]")


VALUES = [
    '(f "a")',
    '(attempt (f "a"))',
    '(call-task f "a")',
    '"abc"',
    "[1 2]",
    "{content: 1}",
    "3",
]

BRANCHES = [
    "(if (list? x) (length x) x)",
    "(if (not (string? x)) x (string-length x))",
    '(cond ((failed? x) 0) ((table? x) x.content) (else (equal? x "yes")))',
    "(and (number? x) (nth [1 2 3 4] x))",
    "(match x ([a . more] [a (length more)]) ({content: c} (str c)) (text text))",
    "(match x ((? table? t) (get t 'content)) ((? list? xs) (first xs)) (_ nil))",
    '(case (if (boolean? x) x (str x)) ((true) 1) (("yes") 2) (else 3))',
]

FORMS = ["(bind x {0}) {1}", "(let ((x {0})) {1})", "(define (g x) {1}) (g {0})"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", VALUES)
def test_code_behind_a_test_of_kinds_is_quiet(form, value):
    """Law: whatever the value is, a program that asks first is allowed."""
    programs = [form.format(value, branch) for branch in BRANCHES]
    assert {} == {text: found for text in programs if (found := told(text))}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("pattern", ["[a b]", "{content: c}", "[a . b]", '{status: "FAILED"}'])
def test_a_pattern_asks_before_it_reads(form, pattern):
    """Law: the code of a pattern is no call of the program."""
    for value in VALUES:
        assert [] == told(form.format(value, f"(match x ({pattern} 1) (_ 2))"))
        assert [] == told(f"(match {value} ({pattern} 1) (_ 2))")
