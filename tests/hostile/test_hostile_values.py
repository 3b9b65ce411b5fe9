"""Values that are small to write down and too large to hold: refused before they are made."""

import pytest
from support.bounded import all_ended, assert_ends

MILLION = '(string-join (map (lambda (i) "{}") (range 1000000)) "")'
X = MILLION.format("x")

INTEGERS = {
    "a tower": "(expt 9 (expt 9 9))",
    "a shift": "(expt 2 (expt 10 10))",
    "squares": "(loop ((x 3)) (recur (* x x)))",
    "sums with itself": "(loop ((x 3)) (recur (+ x x)))",
    "differences": "(loop ((x 3)) (recur (- (- x) x)))",
    "threefold": "(loop ((x 3)) (recur (* x 3)))",
    "a factorial": "(loop ((i 1) (x 1)) (recur (+ i 1) (* x i)))",
    "a factorial by calls": ("(define (fac n) (if (= n 0) 1 (* n (fac (- n 1))))) (fac 100000)"),
    "a factorial in one call": "(apply * (range 1 1000000))",
    "a factorial by fold": "(fold * 1 (range 1 1000000))",
    "one call with large numbers": "(apply + (map (lambda (i) (expt 2 13999)) (range 1000)))",
    "a million digits": f"(string->number {MILLION.format('9')})",
    "a million digits in sixteens": f"(string->number {MILLION.format('f')} 16)",
    "a million digits of JSON": f"(json-parse {MILLION.format('9')})",
    "a float's digits": "(loop ((x (exact 1e308))) (recur (* x x)))",
}

STRINGS = {
    "append": '(loop ((s "x")) (recur (string-append s s)))',
    "str": '(loop ((s "x")) (recur (str s s)))',
    "join": f"(string-join (range-of-texts) {X})",
    "replace": f'(define s {X}) (string-replace s "x" s)',
    "format": f'(define s {X}) (format "{"~a" * 12}" {"s " * 12})',
    "upcase": f'(define t (string-replace s "x" "ﬃ")) (string-upcase (str {"t " * 9}))',
    "written lists": "(define xs (range 1000000)) (str xs xs)",
    "JSON": f"(json-string [{'s ' * 11}])",
}

LISTS = {
    "range": "(range 1000000000)",
    "a range backwards": "(range 0 -1000000000 -1)",
    "a range of large numbers": "(range (expt 10 4000))",
    "a range in small steps": "(range 0 1 1e-300)",
    "append": "(loop ((s [1])) (recur (append s s)))",
    "flatten": "(flatten (loop ((s [1]) (i 0)) (if (< i 64) (recur [s s] (+ i 1)) s)))",
}

# A value of sixty-four lists or tables that stands for more parts than there are atoms, and one
# that is twenty thousand levels deep.
SHAPES = {
    "shared lists": '(define v (loop ((s [1 "a"]) (i 0)) (if (< i 64) (recur [s s] (+ i 1)) s)))',
    "shared tables": (
        "(define v (loop ((s {a: 1}) (i 0)) (if (< i 64) (recur {a: s b: s} (+ i 1)) s)))"
    ),
    "deep lists": "(define v (loop ((s []) (i 0)) (if (< i 20000) (recur [s 1] (+ i 1)) s)))",
    "deep tables": (
        "(define v (loop ((s {}) (i 0)) (if (< i 20000) (recur {a: s b: 1} (+ i 1)) s)))"
    ),
}

USES = """
v | (str v) | (format "~s" v) | (format "~a" v) | (json-string v) | (json-parse (json-string v))
(equal? v v) | (equal? v [v v]) | (equal? [v v] [v v]) | (equal? v {a: v b: v})
(string-append "a" v) | (string-join [v v] "") | (string-length v) | (string->number v)
(first v) | (rest v) | (nth v v) | (take v 1) | (drop v 1) | (reverse v) | (append v v) | (zip v v)
(member? [v] [v v]) | (index-of [1 v] v) | (assoc v [[1 2] [v 3]]) | (flatten [v])
(distinct [v v]) | (get v "a") | (get v v) | (get-in v [v v]) | (put {} v 1)
(put v "x" v) | (merge v v) | (keys v) | (values v) | (remove v "a") | (update v "a" str)
(has-key? v v) | (empty? v) | (not v)
(+ 1 v) | (< v v) | (= v v) | (range v) | (sqrt v) | (number->string v) | (abs v)
(map str v) | (map v [1]) | (filter identity v) | (fold str "" [v v]) | (any? str v)
(apply list v) | (sort [v v] <) | (sort-by identity [v v]) | (group-by identity [v v 1])
(for-each str v) | (v 1) | (raise v) | (error "x" v) | (error v)
(attempt (raise v)) | (str (attempt (raise v)))
(try (raise v) (catch (e) (str e))) | (handle (raise v) ((error e) k (k v))) | (try v (finally v))
(match v ([1 2] 1)) | (match v ([[a b] c] 1) ({a: {a: x}} x) (_ 3)) | (case v (1 2)) | (if v 1 2)
(loop v 1) | (loop ((x v)) x) | `(1 ~v) | `(1 ~@v) | {x: v} | [v [v]] | v.a.b
(print v) | (log "info" v) | (ask-user v) | (write-file "x" v) | (sleep v) | (model v)
(tool "x" v) | (subtask v) | (perform print v)
(par v v) | (race v) | (par-map str v) | (with-timeout v 1) | (with-budget v 1) | (with-timeout 1 v)
(eval-plan v) | (eval-plan "x" inputs: {x: v}) | (eval-plan "1" budget: v) | (call-atomic-task v)
""".replace("\n", " | ").split(" | ")

REFUSED = {
    *("", "limit-string", "limit-list", "limit-data", "wrong-type", "wrong-arity", "no-match"),
    *("not-a-function", "raised", "bad-json", "positions-only", "out-of-range", "unhandled-effect"),
    *("input_validation_failure", "template_not_found", "unknown-label"),
}


@pytest.mark.parametrize("text", INTEGERS.values(), ids=INTEGERS)
def test_an_integer_that_is_too_large_is_refused(text):
    """From its operands, before anything of that size is computed."""
    assert_ends(text, "limit-integer")


@pytest.mark.parametrize("text", STRINGS.values(), ids=STRINGS)
def test_a_string_that_is_too_long_is_refused(text):
    """From its parts, before anything of that length is made."""
    texts = "(define (range-of-texts) (map str (range 100000)))"
    large = f"(define s {X})" if "(define s" not in text else ""

    assert_ends(f"{texts} {large} {text}", "limit-string", seconds=1.5)


@pytest.mark.parametrize("text", LISTS.values(), ids=LISTS)
def test_a_list_that_is_too_long_is_refused(text):
    """From its bounds or its parts."""
    assert_ends(text, "limit-list")


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_value_that_stands_for_more_than_there_is_can_be_put_anywhere(shape):
    """It is used, or refused with an error that says why; messages hold what is short."""
    uses = [use for use in USES if use]
    endings = list(all_ended([f"{shape} {use}" for use in uses]))

    assert len(uses) == len(endings), endings[-1]
    for use, ending in zip(uses, endings, strict=True):
        assert ending.exit == 0 and ending.code in REFUSED, (use, ending)
        assert ending.seconds < 1 and ending.megabytes < 400, (use, ending)
        short = ending.code and ending.code not in ("raised", "limit-data")
        assert not short or len(ending.text) < 400, (use, ending)


QUADRATIC = {
    "group-by": "(length (group-by identity (range 30000)))",
    "group-by of lists": "(length (group-by list (range 20000)))",
    "distinct": "(length (distinct (map (lambda (i) [i]) (range 30000))))",
    "numbers that share Python's hash": (
        "(length (distinct (map (lambda (i) (* i 2305843009213693951)) (range 20000))))"
    ),
    "lists of numbers that share Python's hash": (
        "(length (distinct (map (lambda (i) [(* i 2305843009213693951)]) (range 20000))))"
    ),
    "sort": "(length (sort (range 20000) (lambda (a b) (< b a))))",
    "equal? of what is shared in different ways": """
        (define (row below i) (map (lambda (j) (nth below (modulo (+ (* i j) i) 200))) (range 200)))
        (define (rows below) (map (lambda (i) (row below i)) (range 200)))
        (define a (rows (rows (rows (map list (range 200))))))
        (define b (rows (rows (rows (map list (range 200))))))
        (equal? (append a (reverse a)) (append b (reverse b)))""",
}


@pytest.mark.parametrize("text", QUADRATIC.values(), ids=QUADRATIC)
def test_what_looks_quadratic_is_not(text):
    """One call does work in proportion to what it is given."""
    assert_ends(text, "", seconds=1.5)
