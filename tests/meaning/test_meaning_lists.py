"""Lists are linear: what walks, builds and appends one item at a time, and what shares with it."""

import pytest
from support.running import begun
from support.sources import no_files

import sexplang
from sexplang.machine import Done, Limits, Suspended, start
from sexplang.machine.frozen_runs import freeze, thaw
from sexplang.pipeline.pipeline import build
from sexplang.terms.source import Source
from sexplang.terms.values import sequences

WALK = "(define (sum xs) (if (null? xs) 0 (+ (car xs) (sum (cdr xs))))) (sum (range 70000))"

CSV = """
(define-input text)
(define (field cs made quoted)
  (cond ((null? cs) [made ()])
        (quoted (if (equal? (first cs) "\\"") (field (rest cs) made false)
                    (field (rest cs) (string-append made (first cs)) true)))
        ((equal? (first cs) "\\"") (field (rest cs) made true))
        ((member? (first cs) ["," "\\n"]) [made cs])
        (else (field (rest cs) (string-append made (first cs)) false))))
(define (rows cs row made)
  (match (field cs "" false)
    ([cell ()] (append made [(append row [cell])]))
    ([cell [mark . more]]
      (if (equal? mark ",")
          (rows more (append row [cell]) made)
          (rows more () (append made [(append row [cell])]))))))
(define table (rows (string-split text "") () ()))
[(length table) (first table) (last table)]
"""

GROWN = "(loop ((i 0) (xs ())) (if (= i 5000) xs (recur (+ i 1) (append xs [i]))))"


WRITTEN = '(loop ((i 0) (s "")) (if (= i 5000) s (recur (+ i 1) (string-append s "abc"))))'


def value(program, **inputs):
    outcome = start(built(program), inputs)
    assert isinstance(outcome, Done), outcome
    return outcome.value


def built(text):
    return build(Source("main.sexp", text), no_files)


def test_a_long_list_is_walked_by_recursion():
    """70,000 items: 40,000 were too many for `limit-allocation`."""
    assert value(WALK) == sum(range(70_000))


def test_a_file_is_read_character_by_character():
    """80 KB of CSV with quotes."""
    text = "\n".join(f'{at},"a, b",{at * 2}.5' for at in range(5_000))

    assert value(CSV, text=text) == (5_000, ("0", "a, b", "0.5"), ("4999", "a, b", "9998.5"))


@pytest.mark.parametrize(
    "text, expected",
    [
        (
            "(define xs XS) [(length xs) (nth xs 40) (nth xs 2500) (last xs)]",
            (5000, 40, 2500, 4999),
        ),
        ("(define xs XS) [(append xs [1]) (append xs [2])]", None),
        ("(fold + 0 XS)", sum(range(5_000))),
        ("(map (lambda (x) (* x 2)) (rest XS))", tuple(range(2, 10_000, 2))),
        ("(any? (lambda (x) (= x 9)) (rest XS))", True),
        ("(reverse (take (drop XS 4000) 3))", (4002, 4001, 4000)),
        ("(string-length (json-string (cons 1 XS)))", 23_893),
        ("(equal? (rest (cons 1 XS)) (range 5000))", True),
        ("(length (distinct (append XS (rest (cons 1 XS)))))", 5000),
        ("(index-of (rest XS) 4999)", 4998),
        ("(match (cons 1 XS) ([a b . more] [a b (length more)]))", (1, 0, 4999)),
        ("(get-in {xs: XS} ['xs 4321])", 4321),
        ("(list? (rest XS))", True),
        ("(sort (rest XS) >)", tuple(range(4999, 0, -1))),
        ("(length (flatten [XS [XS]]))", 10_000),
        ("(apply + (rest XS))", sum(range(5_000))),
    ],
)
def test_a_list_is_a_list_however_it_was_made(text, expected):
    """Whoever takes a list takes one that has grown."""
    found = value(text.replace("XS", GROWN))

    assert found == expected if expected is not None else len(found) == 2


@pytest.mark.parametrize(
    "text, expected",
    [
        ("(string-length TEXT)", 15_000),
        ("TEXT", "abc" * 5_000),
        ("(str TEXT 1 TEXT)", "abc" * 5_000 + "1" + "abc" * 5_000),
        ('(string-append "x" TEXT)', "x" + "abc" * 5_000),
        ("(substring TEXT 9000 9004)", "abca"),
        ("[(string? TEXT) (empty? TEXT) (list? TEXT)]", (True, False, False)),
        ('(equal? TEXT (string-append TEXT ""))', True),
        ("(length (distinct [TEXT TEXT (string-upcase TEXT)]))", 2),
        ("(get (put {} TEXT 1) TEXT)", 1),
        ('(sort-by identity [TEXT "abc"])', ("abc", "abc" * 5_000)),
        ('(string-contains? TEXT "cab")', True),
        ('(length (string-split TEXT "b"))', 5_001),
        ("(string->number (string-append TEXT TEXT))", False),
        ('(length (json-parse (str "[\\"" TEXT "\\"]")))', 1),
        ("(string=? TEXT TEXT)", True),
        ('(case TEXT ("abc" 1) (else 2))', 2),
    ],
)
def test_a_text_is_a_text_however_it_was_made(text, expected):
    """Whoever takes a text takes one that was made piece by piece."""
    assert value(text.replace("TEXT", WRITTEN)) == expected


def test_two_appends_to_one_list_are_two_lists():
    """In branches, and in two futures of one continuation."""
    text = f"""(define xs {GROWN})
    (define both (handle (append xs [(random 6)]) ((random n) k [(k 1) (k 2)])))
    (par (append xs ["a"]) (append xs ["b"]) (map last both))"""
    one, other, both = value(text)

    assert one[:-1] == other[:-1] == tuple(range(5_000))
    assert (one[-1], other[-1], both) == ("a", "b", (1, 2))


def test_nobody_outside_sees_how_a_list_was_made():
    """Requests, values and errors hold tuples."""
    asked = begun(
        f"(define xs {GROWN}) (ask-user (rest xs) {{a: [xs]}}) (raise {{reason: 'x b: xs}})"
    )
    assert isinstance(asked, Suspended)
    request = asked.requests[0]
    failed = asked.resume(request.id, "")

    assert request.arguments[0] == list(range(1, 5_000))
    assert failed.error.fields["details"]["b"] == tuple(range(5_000))
    assert type(value(f"{{a: (rest {GROWN})}}")["a"]) is tuple


def test_a_short_rest_keeps_no_long_list_alive():
    """What a walk holds is at most four times what is left."""
    left = tuple(range(100_000))
    for _ in range(99_000):
        left = sequences.without_first(left)

    assert tuple(left) == tuple(range(99_000, 100_000))
    assert len(left.items) <= 4_000


def test_a_frozen_walk_holds_its_list_once():
    """3,000 calls deep, each with what was left there: linear, and the same again when thawed."""
    text = """(define (walk xs)
      (if (null? xs) (begin (ask-user "on?") 0) (+ (first xs) (walk (rest xs)))))
    (walk (range 3000))"""
    program = built(text)
    asked = start(program)
    frozen = freeze(asked)
    again = thaw(program, frozen)

    assert len(str(frozen)) < 150 * 3_000
    assert freeze(again) == frozen
    assert again.resume(again.requests[0].id, "") == Done(sum(range(3_000)))


def test_a_python_primitive_is_given_lists_and_strs():
    """However the program made them."""
    seen = []
    text = f"(look (rest {GROWN}) {{a: {WRITTEN}}})"
    sexplang.run(text, primitives={"look": lambda *given: seen.extend(given)})

    assert seen == [list(range(1, 5_000)), {"a": "abc" * 5_000}]


def test_two_futures_that_append_by_turns_cost_what_one_costs_twice():
    """Each works on what it has, from one list, and makes no more than its own items."""
    text = f"""(define xs {GROWN})
    (loop ((i 0) (a xs) (b xs))
      (if (= i 5000)
          [(nth a 5000) (length a) (last b) (length b)]
          (recur (+ i 1) (append a [i]) (append b [(- i)]))))"""
    outcome = begun(text, Limits(allocation=100_000))

    assert outcome == Done((0, 10_000, -4_999, 10_000))


def test_many_rests_that_are_kept_hold_one_list_among_them():
    """Ten thousand rests of ten thousand items: charged for what is copied, a few times over."""
    text = """(define (tails xs made)
      (if (null? xs) made (tails (rest xs) (cons xs made))))
    (define all (tails (range 10000) ()))
    (fold (lambda (sum xs) (+ sum (length xs))) 0 all)"""
    outcome = begun(text, Limits(allocation=200_000))

    assert outcome == Done(10_000 * 10_001 // 2)


def test_what_shares_too_much_is_no_value_outside():
    """Ten thousand rests in one list have fifty million items for who cannot share them."""
    text = """(define (tails xs made)
      (if (null? xs) made (tails (rest xs) (cons xs made))))
    (tails (range 10000) ())"""

    assert begun(text).reason == "limit-data"


@pytest.mark.parametrize(
    "turn",
    [
        "(match q ([a . r] (append r [a])))",
        "(match q ([a b . r] (cons a (append r [b]))))",
        "(append (drop q 1) [i])",
        "(cons i (drop q 2))",
    ],
)
def test_a_queue_that_is_taken_apart_by_patterns_is_linear(turn):
    """As by `rest`: what is charged does not grow with the length of the queue."""
    text = f"(loop ((i 0) (q (range 10000))) (if (= i 4000) (length q) (recur (+ i 1) {turn})))"

    assert isinstance(begun(text, Limits(allocation=200_000)), Done)


def test_a_long_list_is_spliced_whatever_made_it():
    """By `~@`, as a tuple is."""
    text = "(length `[~@(append (range 200) [1]) 1 ~@(rest (range 300)) ~@(cons 1 (range 200))])"

    assert begun(text) == Done(201 + 1 + 299 + 201)
