"""Names of other languages: what is said to write runs, and gives what it should."""

from functools import cache

import pytest
from support.running import built

import sexplang
from sexplang.compiler.forms.shapes import RESERVED
from sexplang.hosts.reference.language_names import prelude
from sexplang.package import habits
from sexplang.terms.diagnostic import Diagnostics

ROWS = habits.rows()

value_of = cache(sexplang.run)


def refusal(text):
    """The diagnostics of a text."""
    with pytest.raises(Diagnostics) as refused:
        built(text)
    return refused.value.diagnostics


def hint(text):
    """The hint of the only diagnostic of a text."""
    (found,) = refusal(text)
    return found.hint


def corrected(text):
    """A text after the edits of its only diagnostic."""
    (found,) = refusal(text)
    for edit in sorted(found.edits, key=lambda each: each.span.start, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.names[0]} {row.pattern}")
def test_an_example_has_its_value(row):
    """Every row of the table."""
    call, value = row.example.split(" ;=> ")
    before = "(import std/state)\n" if "-state" in call else ""

    assert value_of(value) == sexplang.run(before + call)


def test_a_row_is_for_names_that_there_are_not():
    """A row of a bound name is of calls that it does not take; a rename leads to a bound name."""
    bound = {*RESERVED, *prelude()}
    whole = [row for row in ROWS if not row.pattern]

    assert [] == [name for row in whole for name in row.names if name in bound]
    assert [] == [row.name for row in ROWS if row.name and row.name not in bound]
    assert 250 < len(ROWS)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('(toUpperCase "tea")', "(string-upcase s)"),
        ('(str.upper "tea")', "(string-upcase s)"),
        ('(clojure.string/upper-case "tea")', "(string-upcase s)"),
        ('(.toUpperCase "tea")', "(string-upcase s)"),
        ('(json.loads "[]")', "(json-parse s)"),
        ("(Math.floor 2.5)", "(exact (floor x))"),
        ("(math.floor 2.5)", "(exact (floor x))"),
        ("(list.append [1] 2)", "(append xs [x])"),
        ("(random.shuffle [1])", "(map second (sort-by first"),
        ("(evenp 2)", "(even? n)"),
        ('(string-concat "a" "b")', "(str a b)"),
        ("(.price {price: 1})", "row.price"),
        ("(stringp 2)", "(string? x)"),
        ('(string_length "tea")', "(string-length s)"),
        ('(stringLength "tea")', "(string-length s)"),
        ("(isEmpty [])", "(empty? x)"),
        ("(vector-append [1] [2])", "(append xs …)"),
        ("(=== 1 1)", "(equal? x y)"),
        ('(string= "a" "a")', "(string=? "),
        ("(not= 1 2)", "(!= a b)"),
        ("(list 1 None)", "nil"),
        ("(* 2 math.pi)", "(acos -1)"),
        ("(map inc [1 2])", "(lambda (n) (+ n 1))"),
        ("(with-state 0 (lambda () 1))", "(import std/state)"),
    ],
)
def test_a_name_is_found_however_it_is_spelled(text, written):
    """With its module or class, as a method, in another case, with the marks of its language."""
    assert written in hint(text)


@pytest.mark.parametrize(
    ("text", "correct"),
    [
        ('(upper "tea")', '(string-upcase "tea")'),
        ("(flatMap [1] (lambda (x) [x]))", "(flat-map (lambda (x) [x]) [1])"),
        ('(gethash "a" {a: 1})', '(get {a: 1} "a")'),
        ('(re.sub "a" "b" "tea")', '(re-replace "a" "tea" "b")'),
        ("((partial + 1) 2)", "((lambda (x) (+ 1 x)) 2)"),
        ("(defun f (x) (* 2 x))", "(define (f x) (* 2 x))"),
        ("(defn f [x] (* 2 x))", "(define (f x) (* 2 x))"),
        ("(def x 3)", "(define x 3)"),
        ("(doseq [x [1 2]] (print x))", "(for-each (lambda (x) (print x)) [1 2])"),
        ("(for/list ([x [1 2]]) (* x x))", "(map (lambda (x) (* x x)) [1 2])"),
        ("(let-values (((a b) (values 1 2))) (+ a b))", "(match [1 2] ([a b] (+ a b)))"),
        ("(if-not true 1 2)", "(if true 2 1)"),
        ("(sumz 1)\n(define (sums x) x)", "(sumz 1)\n(define (sums x) x)"),
        ("(strng-upcase 1)", "(string-upcase 1)"),
        ("(let [x 1] x)", "(let ((x 1)) x)"),
        ("(let ([x 1]) x)", "(let ((x 1)) x)"),
        ("(let (x 1) x)", "(let ((x 1)) x)"),
        ("(cond [(> 2 1) 1])", "(cond ((> 2 1) 1))"),
        ("(match 5 [_ 1])", "(match 5 (_ 1))"),
        ("(define f (x) 1)", "(define (f x) 1)"),
        ("(case 3 (1 2) (t 3))", "(case 3 (1 2) (else 3))"),
        ("(case 3 (1 2) (true 3))", "(case 3 (1 2) (else 3))"),
        ("(try 1 (except (e) 2))", "(try 1 (catch (e) 2))"),
        ("(try 1 (catch e 2))", "(try 1 (catch (e) 2))"),
        ("(try 1 (catch Exception e 2))", "(try 1 (catch (e) 2))"),
        ("(try 1 (catch late e 2))", "(try 1 (catch (e late) 2))"),
        ("(handle 1 (return (v) v))", "(handle 1 (return v v))"),
        ('(cond (> 1 2) "a" (> 2 1) "b")', '(cond ((> 1 2) "a") ((> 2 1) "b"))'),
        ('(cond (> 1 2) "a" :else "b")', '(cond ((> 1 2) "a") (else "b"))'),
        ('(cond ((> 1 2) "a") (default "b"))', '(cond ((> 1 2) "a") (else "b"))'),
        ('(case 2 1 "one" 2 "two" "many")', '(case 2 (1 "one") (2 "two") (else "many"))'),
        ("(case 2 (1 3) 1 x 2)", "(case 2 ((1 3) 1) ((x) 2))"),
        ('(if false "a" (> 2 1) "b" "c")', '(cond (false "a") ((> 2 1) "b") (else "c"))'),
        ("(let ((a 1) (b (+ a 1))) b)", "(let* ((a 1) (b (+ a 1))) b)"),
        ("(define (f x (y 2)) (+ x y))\n(f 1 y=5)", "(define (f x (y 2)) (+ x y))\n(f 1 y: 5)"),
        ('(dict.fromkeys ["a"] 0)', '(from-entries (map (lambda (key) [key 0]) ["a"]))'),
        ("(->> [1] (map abs) (filter even?))", "(filter even? (map abs [1]))"),
        ("(switch 3 (1 2) (default 4))", "(case 3 (1 2) (else 4))"),
        (
            "(multiple-value-bind (q r) (floor 7 2) q)",
            "(match [(exact (floor (/ 7 2))) (modulo 7 2)] ([q r] q))",
        ),
        ("(define-values (a b) (values 1 2)) a", "(define [a b] [1 2]) a"),
        ("(map .price [{price: 1}])", "(map (lambda (x) x.price) [{price: 1}])"),
        ("(map .name [{name: 1}])", "(map (lambda (x) x.name) [{name: 1}])"),
        ("(define row {price: 1}) (.price row)", "(define row {price: 1}) row.price"),
        ('print("tea", 1)', '(print "tea", 1)'),
        ('(str "a" string-upcase("b"))', '(str "a" (string-upcase "b"))'),
        ("(new Set [1 1])", "(distinct [1 1])"),
        ("(map (lambda [x] (* 2 x)) [1])", "(map (lambda (x) (* 2 x)) [1])"),
        ("(.at [1 2] -1)", "(last [1 2])"),
        ("(for ([i (in-range 2)]) (print i))", "(for-each (lambda (i) (print i)) (range 2))"),
        ("(for/list ([i 2]) i)", "(map (lambda (i) i) (range 2))"),
        ("(for/hash ([k [1]]) (values k 1))", "(from-entries (map (lambda (k) [k 1]) [1]))"),
        ("(for x in [1] (print x))", "(for-each (lambda (x) (print x)) [1])"),
        ('(isinstance "a" str)', '(string? "a")'),
        ('(parseInt "ff" 16)', '(string->number "ff" 16)'),
        # What was given counts: characters, places from the end, a base, an order of parameters.
        ('(rstrip "hi!]" "!]")', '(re-replace "[!\\\\]]+$" "hi!]" "")'),
        ('(string-left-trim "0" "0042")', '(re-replace "^[0]+" "0042" "")'),
        ('(string-trim "xxaxx" "x")', '(re-replace "^[x]+|[x]+$" "xxaxx" "")'),
        ('(string-trim " " "  a ")', '(re-replace "^[ ]+|[ ]+$" "  a " "")'),
        ('(charCodeAt "ABC" 1)', '(char->integer (string-ref "ABC" 1))'),
        ("(at [1 2] -1)", "(last [1 2])"),
        ("(Array.slice [1 2 3 4] 1 -1)", "(drop-right (drop [1 2 3 4] 1) 1)"),
        ('(str.slice "hello" -3)', '(string-take-right "hello" 3)'),
        ("(math.log 8 2)", "(/ (ln 8) (ln 2))"),
        ("(log 8)", "(ln 8)"),
        ('(nth [1] 5 "none")', '(get [1] 5 "none")'),
        ("(foldl cons [] [1])", "(fold (lambda (acc x) (cons x acc)) [] [1])"),
        (
            "(foldl (lambda (x acc) (cons x acc)) [] [1])",
            "(fold (lambda (acc x) (cons x acc)) [] [1])",
        ),
        ("(Array.from {length: 3} (lambda (x i) i))", "(map (lambda (i) i) (range 3))"),
        ("(groupBy [[1]] first)", "(from-entries (group-by first [[1]]))"),
        ("(sort [1 2] reverse: true)", "(sort [1 2] >)"),
        ("(sorted [1 2] key: abs reverse: true)", "(sort-by abs [1 2] >)"),
        ("(reduce + [1 2] initial-value: 3)", "(fold + 3 [1 2])"),
        ('(print "a" 1 sep: "-")', '(print (string-join (map str ["a" 1]) "-"))'),
        ('(sprintf "%s: %.2f" "a" 1)', '(format "~a: ~,2f" "a" 1)'),
        ('(printf "{:,} of {}\\n" 1 2)', '(print (format "~:d of ~a" 1 2))'),
        ('(re-seq "a" "bA" "gi")', '(re-seq "(?i)a" "bA")'),
        ('(update {a: 1} "a" + 5)', '(update {a: 1} "a" (lambda (x) (+ x 5)))'),
        # Forms of any number of parts.
        (
            "(do ((i 0 (+ i 1)) (s 0 (+ s i))) ((= i 4) s))",
            "(loop ((i 0) (s 0)) (if (= i 4) s (recur (+ i 1) (+ s i))))",
        ),
        (
            "(do ((i 0 (+ i 1))) ((= i 4) i) (print i))",
            "(loop ((i 0)) (if (= i 4) i (begin (print i) (recur (+ i 1)))))",
        ),
        (
            "((case-lambda ((x) x) ((x y) y)) 1)",
            "((lambda args (match args ([x] x) ([x y] y))) 1)",
        ),
        ("(switch 1 (1 2) (3 4) (5 6) (default 7))", "(case 1 (1 2) (3 4) (5 6) (else 7))"),
        ("(loop for x in [1 2] collect (* x x))", "(map (lambda (x) (* x x)) [1 2])"),
        ("(loop [i 0 n 1] (recur i n))", "(loop ((i 0) (n 1)) (recur i n))"),
        ("(map (lambda x: (* x x)) [1])", "(map (lambda (x) (* x x)) [1])"),
        ("(map (lambda (x) => (* x x)) [1])", "(map (lambda (x) (* x x)) [1])"),
        ("(map (x => (* x x)) [1])", "(map (lambda (x) (* x x)) [1])"),
        ("(+ 1 2) // the sum", "(+ 1 2) ; the sum"),
        (
            '(try (error "no") (catch (e) (ex-message e)))',
            '(try (error "no") (catch (e) e.message))',
        ),
    ],
)
def test_an_edit_corrects_the_text(text, correct):
    """Where there is one correction; else there is no edit."""
    assert correct == corrected(text)


def test_no_edit_is_made_of_a_guess():
    """A method has its object in front; arguments that fit in no order stay as they are."""
    assert (found := refusal("(define (f sep xs) (.join sep xs))")[0]).hint
    assert () == found.edits
    assert () == refusal("(upper [1])")[0].edits


def test_a_name_before_its_parentheses_is_put_into_them():
    """There is no edit where the name is in parentheses already."""
    (found,) = refusal('(print("tea"))')

    assert 'write `(print "tea")`' in found.hint
    assert () == found.edits
    assert "a list of values" in hint("(1 2)")
    assert "a list of values" in hint("(str 1 (2 3))")


def test_a_list_is_taken_apart_by_brackets():
    """Parentheses are the parameters of a function, which `bind` does not define."""
    assert "named by `[a b]`" in hint("(define (f) (bind (a b) [1 2]) a)")


def test_a_form_of_another_language_is_one_mistake():
    """Neither its operands nor the names that it would bind are reported."""
    assert "unbound-name" == refusal("(defn f [x] (g x y))\n(f 1)")[0].code
    assert 1 == len(refusal("(defn f [x] (g x y))\n(f 1)"))
    assert 1 == len(refusal("(for [x [1 2] y [3 4]] (* x y))"))
    assert 1 == len(refusal("(with-handlers ([exn:fail? (lambda (e) 1)]) (error 1))"))


def test_a_name_of_the_program_is_meant_before_one_of_another_language():
    """It is a letter off; and a word for a value is no function of another language."""
    assert "did you mean `totals`?" == hint("(define (totals x) x) (total 1)")
    assert None is hint("(list position)")
    assert "(index-of xs x)" in hint("(position 1)")


def test_an_arrow_may_be_written_as_a_hyphen():
    """Other signs make another name."""
    assert "did you mean `string->number`?" == hint('(string-number "3")')
    assert None is hint('(string<number "3")')


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("(import std/list)", "`std/lists`"),
        ("(null [])", "(null? xs)"),
        ("(values 1 2)", "several values are a list"),
        ('(assoc {a: 1} "b" 2)', '(put {a: 1} "b" 2)'),
        ("(define x = 5)", "(define x 5)"),
        ('(if true "a" else "b")', "leave `else` out"),
        ("(loop ((i 0)) (loop (+ i 1)))", "(recur (+ i 1))"),
        ("(let (x) x)", "((x nil))"),
        ("(define-effect (ask q)) (handle ((ask q) k (k q)) (ask 1))", "the body comes first"),
        ('(defatom f (prompt "hi"))', "did you mean `instructions`?"),
        ('(defatom f (x) (instructions "hi"))', "(params (x string))"),
        ("(count [1 2])", "(length [1 2])"),
        ("(floor 7 2)", "(modulo a b)"),
        ('(raise (KeyError "k"))', '(error "text")'),
        ("(1+ 4)", "(+ n 1)"),
        ("(let x 5)", "(define x 5)"),
        ('(~a 1 "b")', "(str x …)"),
        ("(define xs [1]) [...xs 2]", "(append xs [x])"),
        ('(define n 1) f"n is {n}"', '(str "n is " n)'),
        ("(define t {a: [{n: 1}]}) t.a [0].n", "(get-in t"),
        ("(define n 1) @n", "write `n`"),
        ("(try (car [1]) (catch (e) 2) finally (print 3))", "(finally (print 3))"),
        ("(client.chat.completions.create messages: [])", "(perform model {messages: []})"),
        ('(upper "a" 1)', "which takes no more than 1"),
        ("(find even? [1 2] test: 1)", "`equal?`"),
        ("(define (f x=1) (+ x 1))", "`(x 1)`"),
        ("(define (log x) x) (log 1 2)", "(log x)"),
        ("(sort [{n: 2}] < #:key (lambda (r) r.n))", "(sort-by f xs)"),
        ("(reduce + [1 2] :initial-value 3)", "(reduce f init xs)"),
    ],
)
def test_a_slip_of_another_language_is_answered(text, said):
    """What is one mistake is one diagnostic."""
    assert said in hint(text)


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("(xs.push 2)", "(append xs [x])"),
        ("xs.length", "(length xs)"),
        ("(xs.upper)", "(string-upcase x)"),
        ("(partition 2 xs)", "(chunk xs n)"),
        ("(remove odd? xs)", "(not (p x))"),
        ("xs.0", "(get xs 0)"),
        ('(sort ["b" "a"] <)', "`string<?` compares texts"),
        ("(fold + [1 2] 0)", "(fold f init xs)"),
        ('(put {a: 1} ["a" "b"] 2)', "(put-in t keys value)"),
        ('(update {a: 1} ["a"] number?)', "(update-in t keys f)"),
        ("(slice xs 0 -1)", "(slice (drop-right xs 1) start)"),
        ('(substring "hello" -2)', "(string-take-right s 2)"),
        ("(count xs 1)", "(count (lambda (x) (equal? x 1)) xs)"),
        ("(find 2 xs)", "(find (lambda (x) (equal? x 2)) xs)"),
        ("(remove 2 xs)", "(delete x xs)"),
        ("(+ xs [3])", "(append xs ys)"),
        ("(sum (map even? xs))", "(count p xs)"),
        ('(get (frequencies ["a"]) "a")', "(from-entries pairs)"),
        ('(nth "abc" 1)', "(string-ref s i)"),
        ("(number->string 3.5 2)", '(format "~,2f" x)'),
        ('(format "%.2f" 3.5)', '(format "~,2f" x …)'),
        ("(map (lambda (x i) x) xs)", "(map-indexed (lambda (i x) …) xs)"),
        ("(fold cons [] xs)", "(fold (lambda (acc x) (cons x acc)) [] xs)"),
        ("(xs 0)", "(nth xs 0)"),
        ("(sort-by abs > xs)", "(sort-by f xs >)"),
    ],
)
def test_a_slip_is_answered_at_run_time(form, said):
    """A method of another language, an item as a field, an order for numbers, a path as a key."""
    text = f"(define xs [1 2]) (try {form} (catch (e) e.hint))"

    assert said in sexplang.run(text)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("x = 3", "a value gets a name by `(define x 3)`"),
        ("(x = 3)", "a value gets a name by `(define x 3)`"),
        ("(+ x = 3)", None),
        ("(list 1)\nx", None),
    ],
)
def test_an_assignment_is_shown_as_a_definition(text, hint):
    with pytest.raises(sexplang.Diagnostics) as found:
        sexplang.build(text)
    assert hint == found.value.diagnostics[0].hint
