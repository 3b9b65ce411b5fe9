"""Names that a macro brings in and names that its user wrote do not meet, wherever both stand."""

import pytest
from support.expanding import complaints, value

SWAP = "(define-syntax swapped (syntax-rules () ((_ a b) (let ((tmp a)) [b tmp]))))"
MY_OR = """
(define-syntax my-or
  (syntax-rules ()
    ((_) false)
    ((_ e) e)
    ((_ e rest ...) (let ((t e)) (if t t (my-or rest ...))))))"""
MY_LET = """
(define-syntax my-let*
  (syntax-rules ()
    ((_ () body ...) (let () body ...))
    ((_ ((x e) more ...) body ...) (let ((x e)) (my-let* (more ...) body ...)))))"""
MY_COND = """
(define-syntax my-cond
  (syntax-rules (else)
    ((_ (else e ...)) (begin e ...))
    ((_ (test e ...) clause ...) (if test (begin e ...) (my-cond clause ...)))))"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{SWAP} (let ((tmp 1) (b 2)) (swapped tmp b))", "[2 1]"),
        (f"{SWAP} (swapped (swapped 1 2) (swapped 3 4))", "[[4 3] [2 1]]"),
        (f"{MY_OR} (let ((t 5)) (my-or false t))", "5"),
        (f"{MY_OR} (let ((t 5)) [(my-or nil false t) (my-or) (my-or false)])", "[5 false false]"),
        (f"{MY_LET} (my-let* ((a 1) (b (+ a 1)) (a (* b 10))) [a b])", "[20 2]"),
        (f"{MY_COND} (my-cond (false 1) ((< 2 1) 2) (else 3 4))", "4"),
        (f"{MY_COND} {MY_OR} (define t 6) (my-cond ((my-or nil t) (my-or nil t)) (else 0))", "6"),
    ],
)
def test_what_a_template_binds_captures_nothing(text, expected):
    """The classic tortures: each use has variables of its own."""
    assert expected == value(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "(define-syntax twice (syntax-rules () ((_ e) (list e e)))) "
            "(let ((list +)) [(twice 1) (list 1 2)])",
            "[[1 1] 3]",
        ),
        (
            "(define (helper x) [x]) (define-syntax m (syntax-rules () ((_ e) (helper e)))) "
            "(define (f helper) (m helper)) (f 3)",
            "[3]",
        ),
        (
            "(let ((x 1)) (define-syntax get-x (syntax-rules () ((_) x))) "
            "(let ((x 2)) ((lambda (x) [x (get-x)]) 3)))",
            "[3 1]",
        ),
        (
            "(define x 1) (define-syntax get-x (syntax-rules () ((_) x))) (bind x 2) [(get-x) x]",
            "[1 2]",
        ),
        (
            "(define (f x) (bind x (+ x 1)) (define-syntax get-x (syntax-rules () ((_) x))) "
            "(bind x 9) [(get-x) x]) (f 4)",
            "[5 9]",
        ),
        (
            "(define (f) (define-syntax get-y (syntax-rules () ((_) y))) (define y 3) "
            "(let ((y 1)) (get-y))) (f)",
            "3",
        ),
        (
            "(define-syntax m (syntax-rules () ((_ e) (match e ([first . rest] [rest first]))))) "
            "(let ((first 1) (rest [2])) (m (cons first rest)))",
            "[[2] 1]",
        ),
        (
            "(define plan {n: 1}) (define-syntax m (syntax-rules () ((_ e) [plan.n e.n]))) "
            "(let ((plan {n: 2})) (m plan))",
            "[1 2]",
        ),
    ],
)
def test_what_a_template_means_is_meant_where_the_macro_is(text, expected):
    """Its free names stand for what they stand for at the definition, whoever hides them later."""
    assert expected == value(text)


@pytest.mark.parametrize(
    ("literal", "around", "expected"),
    [
        ("else", "(m else)", "true"),
        ("by", "(m by)", "true"),
        ("by", "(let ((by 1)) (m by))", "false"),
        ("list", "(m list)", "true"),
        ("list", "(let ((list 1)) (m list))", "false"),
        ("list", "(m by)", "false"),
    ],
)
def test_a_literal_fits_a_name_that_stands_for_the_same(literal, around, expected):
    """The same binding, or the same spelling where neither is bound."""
    macro = f"(define-syntax m (syntax-rules ({literal}) ((_ {literal}) true) ((_ x) false)))"

    assert expected == value(f"{macro} {around}")


def test_a_literal_of_the_file_fits_itself_alone():
    """Also where it is defined after the macro."""
    macro = "(define-syntax m (syntax-rules (by) ((_ by) true) ((_ x) false))) (define by 1)"

    assert "[true false]" == value(f"{macro} (define (f) [(m by) (let ((by 2)) (m by))]) (f)")


def test_definitions_that_a_template_brings_in_are_its_own():
    """Those named by the user are the user's; both can be used in the rest of the body."""
    macro = """
        (define-syntax counted (syntax-rules ()
          ((_ get next n) (begin (define start n)
                                 (define (get) start)
                                 (define (next) (+ (get) 1))))))"""
    uses = "(define start 9) (counted a b 1) (counted c d 5) [(a) (b) (c) (d) start]"

    assert "[1 2 5 6 9]" == value(f"{macro} {uses}")
    assert "[1 2 5 6 9]" == value(f"{macro} (define (f) {uses}) (f)")
    assert ("unbound-name", "start") in complaints(f"{macro} (counted a b 1) start")


def test_a_macro_may_define_functions_that_call_each_other():
    """A use that stands in a body is spliced into it."""
    text = """
        (define-syntax parity (syntax-rules ()
          ((_ yes no) (begin (define (yes n) (if (= n 0) true (no (- n 1))))
                             (define (no n) (if (= n 0) false (yes (- n 1))))))))
        (parity even? odd?)
        [(even? 10) (odd? 10)]"""

    assert "[true false]" == value(text)


def test_a_function_is_one_whoever_wrote_lambda():
    """A definition whose value is a use of a macro may call itself."""
    macro = "(define-syntax fun (syntax-rules () ((_ (p ...) e) (lambda (p ...) e))))"
    body = "(fun (n) (if (= n 0) 1 (* n (f (- n 1)))))"

    assert "120" == value(f"{macro} (define f {body}) (f 5)")
    assert "120" == value(f"{macro} (letrec ((f {body})) (f 5))")


def test_macros_may_define_macros():
    """With `(... ...)` for the ellipsis of the inner one; hygiene holds through both."""
    text = """
        (define-syntax named-begin (syntax-rules ()
          ((_ name first)
           (define-syntax name (syntax-rules ()
             ((_ e (... ...)) (let ((t first)) [t e (... ...)])))))))
        (define t 1)
        (named-begin go (+ t 1))
        (let ((t 7)) (go t (+ t 1)))"""

    assert "[2 7 8]" == value(text)


def test_two_layers_of_templates_keep_their_names_apart():
    """A name may be brought in by a template that a template brought in."""
    text = """
        (define-syntax outer (syntax-rules ()
          ((_ e) (let ((x 1))
                   (define-syntax inner (syntax-rules () ((_ f) (let ((y 2)) [x y e f]))))
                   (let ((x 3) (y 4)) (inner [x y]))))))
        (let ((x 5) (y 6)) (outer [x y]))"""

    assert "[1 2 [5 6] [3 4]]" == value(text)


def test_quoted_names_are_as_they_are_written():
    """Data has no marks; nor have labels, the words of a catch, or the parameters of a function."""
    macro = "(define-syntax m (syntax-rules () ((_ a e) {d: '(a b) q: `(b ~e) s: (str 'b)})))"
    caught = "(define-syntax m (syntax-rules () ((_ e) (try e (catch (err odd) err.reason)))))"
    chosen = "(define-syntax m (syntax-rules () ((_ e) (case e ((a b) 1) (else 2)))))"
    made = "(define-syntax m (syntax-rules () ((_ f) (define (f one two) [one two])))) (m f)"

    assert "{d: ['x 'b] q: ['b 3] s: \"b\"}" == value(f"{macro} (m x 3)")
    assert '"odd"' == value(f'{caught} (m (raise {{reason: "odd"}}))')
    assert "[1 2]" == value(f"{chosen} [(m 'b) (m 'c)]")
    assert "[2 1]" == value(f"{made} (f two: 1 one: 2)")


def test_parameters_with_one_spelling_are_told_apart():
    """The one that the user wrote answers to the label."""
    macro = "(define-syntax m (syntax-rules () ((_ n) (lambda (x n) [x n]))))"

    assert "[1 2]" == value(f"{macro} ((m x) 1 2)")
    assert "[1 2]" == value(f"{macro} ((m x) 1 x: 2)")


def test_a_local_name_hides_a_macro():
    """A parameter, a definition in a body, a variable of a loop."""
    macro = "(define-syntax m (syntax-rules () ((_ x) 0)))"

    assert "[3]" == value(f"{macro} (define (f m) (m 3)) (f list)")
    assert "[3]" == value(f"{macro} (define (f) (define (m x) [x]) (m 3)) (f)")
    assert "[3]" == value(f"{macro} (let ((m list)) (m 3))")
    assert ("used-before-defined", "m") in complaints(
        f"{macro} (define (f) (define y (m 3)) (define (m x) x) y) (f)"
    )


def test_effects_in_templates_are_those_of_the_program():
    """Operations are named, not scoped: a clause takes them whoever wrote it."""
    text = """
        (define-effect (ask n))
        (define-syntax answering (syntax-rules ()
          ((_ e body ...) (handle (begin body ...) ((ask n) k (k (+ n e))) (return r [r])))))
        (define-syntax asking (syntax-rules () ((_ n) (perform ask n))))
        (let ((n 10) (k 20)) [(answering n (ask k)) (answering k (asking n))])"""

    assert "[[30] [30]]" == value(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(define-syntax e (syntax-rules () ((_ n) (define-effect (n x))))) (e op) "
         "(handle (op 1) ((op x) k (k (+ x 1))))", "2"),
        ("(define-syntax i (syntax-rules () ((_ n) (define-input n default: 4)))) (i k) k", "4"),
        ("(define-syntax m (syntax-rules () ((_) (begin)))) (m)", "[]"),
        ("(define-syntax m (syntax-rules () ((_ x) x))) (m (define a 1)) (m (m (bind b 2))) [a b]",
         "[1 2]"),
        ("(define (f) (define-syntax m (syntax-rules () ((_) (bind x 5)))) (m)) (f)", "5"),
        ("(let () (define-syntax m (syntax-rules () ((_) 1))))", "nil"),
    ],
)  # fmt: skip
def test_declarations_may_come_out_of_macros(text, expected):
    """They stand where the use stands."""
    assert expected == value(text)
