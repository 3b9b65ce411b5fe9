"""Slips that run to a wrong value: `check` and `run` warn of them."""

import pytest
from support.command import sexplang
from support.running import built

from sexplang.pipeline.pipeline import find_slips, inspect

SLIPS = [
    # Values that nobody uses.
    ("(define (f xs) (append xs [3]) xs)", "unused-value", "give it a name"),
    ("(define (f xs) (sort xs <) xs)", "unused-value", "give it a name"),
    ('(define (f x) (when (> x 0) "yes") "no")', "unused-value", "(cond (test e)"),
    ("(define t 0) (for-each (lambda (x) (bind t (+ t x))) [1])", "unused-value", "(fold "),
    (
        "(define (f t) (for-each (lambda (k) (put t k 1)) [1]) t)",
        "unused-value",
        "(fold f init xs)",
    ),
    # Tests that are always true.
    ('(define name "") (or name "none")', "constant-test", "(not (empty? name))"),
    ("(define xs []) (if (not xs) 1 2)", "constant-test", "(not (empty? xs))"),
    ("(define (f xs) (if (length xs) 1 2))", "constant-test", "(> (length xs) 0)"),
    ("(define (f n) (when (modulo n 2) 1))", "constant-test", "(not (= (modulo n 2) 0))"),
    ('(define (f s) (or (string-trim s) "none"))', "constant-test", "(not (empty?"),
    # Marks in texts.
    ('(define (f n) (str "n is {n}"))', "foreign-text", '`(str "n is " n)`'),
    ('(define (f n) (print "n is ${n}!"))', "foreign-text", '`(str "n is " n "!")`'),
    ('(define (f n) (print "n is %d" n))', "foreign-text", '(print (format "~a" x))'),
    ('(define (f n) (error "no ~a" n))', "foreign-text", '(error (format "~a" x))'),
    ('(define (f n) (str "n is {}" n))', "foreign-text", "(format"),
    ('(define (f s) (string-split s "[0-9]+"))', "foreign-text", '(re-split "[0-9]+" s)'),
    ('(define (f s) (string-replace s "\\\\s+" ""))', "foreign-text", '(re-replace "\\\\s+" s "")'),
    # Arguments in another order.
    ('(string-replace "a" "o" "banana")', "swapped-arguments", '"banana" "a" "o"'),
    ('(string-prefix? "teapot" "tea")', "swapped-arguments", '"tea" "teapot"'),
    ('(starts-with? "tea" "teapot")', "swapped-arguments", '"teapot" "tea"'),
    ('(string-index "a" "tea")', "swapped-arguments", '"tea" "a"'),
    ('(define (f s) (re-find s "a"))', "swapped-arguments", '(re-find "a" s)'),
    ('(define (f s) (re-seq s "[a-z]+"))', "swapped-arguments", '(re-seq "[a-z]+" s)'),
    ('(define (f s) (re-replace "a" "b" s))', "swapped-arguments", '(re-replace "a" s "b")'),
    ('(define (f s) (re-replace s "a" "b"))', "swapped-arguments", '(re-replace "a" s "b")'),
    ('(re-find "room 12" "[0-9]+")', "foreign-call", '(re-find "[0-9]+" "room 12")'),
    ('(re-replace "[0-9]" "#" "a1b2")', "foreign-call", '(re-replace "[0-9]" "a1b2" "#")'),
    # Other calls.
    ("(define (f xs) (sort xs (lambda (a b) (- a b))))", "foreign-call", "(sort xs <)"),
    ("(define (f xs) (fold (lambda (x acc) (+ acc x)) 0 xs))", "foreign-call", "(acc x)"),
    ("(define (f xs) (fold + xs []))", "foreign-call", "(fold f init xs)"),
    ("(par [(+ 1 1) (+ 2 2)])", "foreign-call", "(par (+ 1 1) (+ 2 2))"),
    ("(define t {a: {b: 1}}) t.a?.b", "foreign-call", "t.a.b"),
    ("(define (f xs) (get xs -1))", "foreign-call", "(last xs)"),
    ("(define (f xs) (equal? (index-of xs 1) -1))", "foreign-call", "(nil? (index-of xs 1))"),
    ("(loop 3 (lambda (i) (print i)))", "foreign-call", "what is to be done"),
    ("(define (f xs) (par (map abs xs)))", "foreign-call", "(par-map abs xs)"),
    (
        "(define (f s) (string-join (reverse (string->list s))))",
        "foreign-call",
        "(list->string (reverse",
    ),
    ("(define (f t) (if t (get (group-by string-length t) 1) 2))", "foreign-call", "(assoc 1 "),
    ('(define g (frequencies ["a"])) (has-key? g "a")', "foreign-call", "(from-entries g)"),
    ("(log 8 2)", "foreign-call", "(/ (ln 8) (ln 2))"),
    # What is caught.
    (
        "(try (raise 'late) (catch (e) (equal? e 'late)))",
        "foreign-call",
        '(equal? e.reason "late")',
    ),
    ('(try (raise "no") (catch (e) (str "got " e)))', "foreign-call", "e.message"),
    ("(define (f) (try (raise 5) (catch (e) e)))", "foreign-call", "e.details.value"),
    # Predicates that are always true.
    ("(define (f xs) (filter (lambda (n) (modulo n 2)) xs))", "constant-test", "(modulo n 2) 0)"),
    ("(define (f xs) (find (lambda (s) (string-trim s)) xs))", "constant-test", "(empty? (string-"),
    ("(define (f xs) (filter length xs))", "constant-test", "(not (= (f x) 0))"),
    ("(define (g x) [x]) (define (f xs) (any? g xs))", "constant-test", "(not (empty? [x]))"),
    (
        "(define (f xs) (sort xs (lambda (a b) (cond ((< a b) -1) ((> a b) 1) (else 0)))))",
        "constant-test",
        "string<?",
    ),
    ('(filter identity ["a" ""])', "constant-test", "(not (empty? x))"),
    ("(define xs [1 0]) (any? (lambda (x) x) xs)", "constant-test", "(not (= x 0))"),
    # Tests of what a name stands for.
    ("(define (f ys) (bind xs (filter even? ys)) (if xs 1 2))", "constant-test", "(empty? xs)"),
    ('(define s (string-trim " ")) (if s 1 2)', "constant-test", "(not (empty? s))"),
    ("(define (f xs) (if (map abs xs) 1 2))", "constant-test", "(not (empty? (map abs xs)))"),
    ("(define (f xs) (or (find-index even? xs) (count even? xs) 1))", "constant-test", "(> (count"),
    # Marks of patterns.
    ('(define (f s) (re-replace "(a)(b)" s "\\\\2\\\\1"))', "foreign-text", '"$2$1"'),
    ('(define (f s) (re-find "/b+/i" s))', "foreign-text", '"(?i)b+"'),
    ('(define (f s) (re-seq "/b+/g" s))', "foreign-text", '"b+"'),
    ('(string-replace "a1b2" "[0-9]" "")', "foreign-text", "(re-replace"),
    # Keys and defaults.
    ('(define t {a: {b: 1}}) (get t "a.b")', "foreign-call", '(get-in t ["a" "b"])'),
    ('(get {a: [5]} "a.0")', "foreign-call", '(get-in {a: [5]} ["a" 0])'),
    ('(define t {a: {b: 1}}) (has-key? t "a.b")', "foreign-call", '(get-in t ["a"]) "b")'),
    ('(define t {a: {b: 1}}) (put t "a.b" 2)', "foreign-call", '(put-in t ["a" "b"] 2)'),
    ('(get {a: 1} "b" (lambda () 0))', "foreign-call", '(get {a: 1} "b" 0)'),
    # Operators between their operands.
    ('(str "a" + "b")', "foreign-call", '(str "a" "b")'),
    ('(define (f n) (print "twice: " n * 2))', "foreign-call", "(* n 2)"),
    ("(define (f n) [n * 2])", "foreign-call", "(* n 2)"),
    ("(define (f n) (and n > 3))", "foreign-call", "(> n 3)"),
    ("(define (f n) (or true n < 3))", "foreign-call", "(< n 3)"),
    ("(define (f n) (if even? 1 n))", "constant-test", "(even? x)"),
    # Marks of templates, and pairs.
    ('(define (f n) (format "n is {{n}}"))', "foreign-text", '`(str "n is " n)`'),
    ('(define (f n) (print "n is {{ n }}!"))', "foreign-text", '`(str "n is " n "!")`'),
    ("(cdr (assoc 'b '((a . 1) (b . 2))))", "foreign-call", "(second pair)"),
    ('(define n 1) (define text "n is {n}") text', "foreign-text", '`(str "n is " n)`'),
    ('(define n 1) {text: "n is {n}"}', "foreign-text", '`(str "n is " n)`'),
    ('(define n 1) (list "n is ${n}" "x")', "foreign-text", '`(str "n is " n)`'),
    ("(list 1 + 2)", "foreign-call", "(+ 1 2)"),
    ("(par (par-map abs [1 2]))", "foreign-call", "(par-map abs [1 2])"),
    ("(race (map abs [1 2]))", "foreign-call", "(race a b)"),
    ("(define (f xs) (if (not xs) 1 2)) (f [])", "constant-test", "(empty? xs)"),
    # Arguments that are true.
    ("(define (f x (o {})) (or o.n x)) (f 1 {n: 0})", "constant-test", "(= o.n 0)"),
    ('(define (f s) (if s s "none")) (f "")', "constant-test", "(empty? s)"),
    ("(define (f x (xs nil)) (when xs x)) (f 1 xs: [])", "constant-test", "(empty? xs)"),
]


@pytest.mark.parametrize(("text", "code", "hint"), SLIPS)
def test_a_slip_is_found(text, code, hint):
    """By the quick pass of a run and by the analysis, once."""
    program = built(text)
    quick = [(found.code, found.hint) for found in find_slips(program)]
    whole = [(each.code, each.hint) for each in inspect(program).findings if each.code == code]

    assert [code] == [each for each, _ in quick]
    assert hint in quick[0][1]
    assert quick == whole


@pytest.mark.parametrize(
    "text",
    [
        "(define limit 0) (if (= limit 0) 1 2)",
        "(define debug false) (if debug 1 2)",
        "(define found nil) (or found 1)",
        "(define (f s) (or (string->number s) 0))",
        "(define (f xs) (if (index-of xs 1) 1 2))",
        '(define (f t) (or (get t "n") ""))',
        '(define (f s) (or (re-find "a" s) "none"))',
        '(define (f name) (string-replace "Dear {name}" "{name}" name))',
        '(str "{unknown}" 1)',
        '(str "100%" 1)',
        '(format "~a" 1)',
        '(print "50% of" 3)',
        '(string-split "a.b" ".")',
        '(string-split "a|b" "|")',
        '(string-replace "a (b)" "(b)" "")',
        '(string-replace "[x]" "[" "(")',
        "(define (f xs) (sort xs (lambda (a b) (< a.n b.n))))",
        "(define (f xs) (fold (lambda (acc x) (+ acc x)) 0 xs))",
        "(define (f xs) (fold (lambda (a b) (+ a b)) 0 xs))",
        "(define (f xs) (fold-right (lambda (x acc) (cons x acc)) [] xs))",
        "(define (f xs) (for-each (lambda (x) (bind y (* 2 x)) (print y)) xs))",
        "(define (f xs) (for-each (lambda (x) (when (> x 0) (print x))) xs))",
        "(par (list 1 2))",
        "(define (f xs) (get xs 1))",
        "(define (empty-or? xs) (when (empty? xs) (print 1)) xs)",
        '(define (f s) (string-prefix? "tea" s))',
        '(string-contains? "aeiou" "e")',
        '(re-find "x" "tea")',
        '(define (f p) (re-find p "a long text"))',
        '(define (f s) (re-replace "a" s "b"))',
        "(case true (false 1) (true 2))",
        "(case 'b ((a) 1) ((t) 2))",
        '(define t {a: 1}) (get t "b.c")',
        '(get {"a.b": 1} "a.b")',
        '(define (f t) (get t "read.me"))',
        '(define t {a: (lambda () 1)}) ((get t "b" (lambda () 0)))',
        "(define ops [+ - * /]) ops",
        '(define ops [["add" +] ["sub" -]]) ops',
        "(define (f rows) (sort-by (lambda (r) [r.a r.b]) rows [> <]))",
        "(define (f (less? nil)) (or less? <))",
        "'(define (f . xs) xs)",
        '(define (f n) (string-replace "Dear {{n}}" "{{n}}" n))',
        '(print "{{unknown}}")',
        '(define name "Ada") (define t "Dear {name}") (string-replace t "{name}" name)',
        '(define a 1) (json-parse "{\\"a\\": 1}") a',
        "(define (f x (limit nil)) (or limit x)) (f 1 nil)",
        '(define (f s) (if (empty? s) "none" s)) (f "")',
        "(define (f xs) (string-join xs))",
        "(define (f xs) (string-join (map str xs)))",
        "(define (f s) (list->string (reverse (string->list s))))",
        "(define (f xs) (filter (lambda (x) (get x 1)) xs))",
        "(define (f xs) (filter identity xs))",
        "(filter identity [1 nil false])",
        "(define (f xs) (filter (lambda (x) (if (even? x) x nil)) xs))",
        "(define (f xs) (any? (lambda (x) true) xs))",
        "(define (f xs) (filter-map (lambda (x) (* 2 x)) xs))",
        "(define (f xs) (sort-by (lambda (x) (- x)) xs))",
        "(define (f ys) (bind xs (find even? ys)) (if xs 1 2))",
        "(define (f xs) (let ((found nil)) (loop ((found (list))) (if found 1 2))))",
        "(define (f xs) (get (group-by string-length xs) 0))",
        '(define (f t) (get (from-entries (group-by string-upcase t)) "A"))',
        '(try (raise "no") (catch (e) (str "got " e.message)))',
        '(try (raise \'no) (catch (e) (equal? e.reason "no")))',
        "(define (f) (try (g) (catch (e) e))) (define (g) 1)",
        '(define (f s) (re-replace "(a)" s "$1"))',
        '(define (f s) (re-find "/users/[0-9]+/" s))',
        "(par (map abs [1]) (map abs [2]))",
        '(define (f s) (bind [a b] (string-split s "|")) [b a])',
    ],
)
def test_what_may_be_meant_is_no_slip(text):
    """Values that may be false, templates, parts that look like patterns and are none."""
    assert () == find_slips(built(text))


def test_a_run_warns_of_them(tmp_path):
    """On standard error, before the program's own words; the value is as it is."""
    (tmp_path / "p.sexp").write_text("(define t {a: 1})\n(put t 'b 2)\nt\n")
    done = sexplang("run", "p.sexp", cwd=tmp_path)

    assert (0, "{a: 1}\n") == (done.returncode, done.stdout)
    assert "warning[unused-value]" in done.stderr
    assert "" == sexplang("run", "-q", "p.sexp", cwd=tmp_path).stderr


def test_a_run_with_tasks_warns_of_a_parameter_that_no_prompt_has(tmp_path):
    """Single braces are a text like any other."""
    (tmp_path / "s.json").write_text('["yes"]')
    text = '(defatom f (params (t string)) (instructions "Is {t} hot?"))\n(f "tea")\n'
    (tmp_path / "p.sexp").write_text(text)
    done = sexplang("run", "p.sexp", "--model", "scripted:s.json", "-q", cwd=tmp_path)
    assert ("yes\n", "") == (done.stdout, done.stderr)

    done = sexplang("run", "p.sexp", "--model", "scripted:s.json", cwd=tmp_path)
    assert "warning[unused-param]" in done.stderr
    assert "{{t}}" in done.stderr
