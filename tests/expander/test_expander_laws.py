"""Programs that nobody thought of, with macros in them, mean what they mean without."""

import re

from hypothesis import assume
from hypothesis import strategies as st
from support.examples import examples
from support.programs import EVERYWHERE, PREAMBLE, VARIABLES, programs
from support.running import begun, seen

MACROS = """
(define-syntax plus (syntax-rules () ((_ a b) (let ((x a) (y b)) (+ x y)))))
(define-syntax minus (syntax-rules ()
  ((_ a b) (let* ((z a) (w b)) (begin (define (f x) (- z x)) (f w))))))
(define-syntax choose (syntax-rules () ((_ test a b) (cond (test a) (else b)))))
(define-syntax with (syntax-rules ()
  ((_ () body ...) (let () body ...))
  ((_ ((name e) ...) body ...) (with "names" (name ...) (e ...) () body ...))
  ((_ "names" () () (pair ...) body ...) (let (pair ...) body ...))
  ((_ "names" (x y ...) (e f ...) (pair ...) body ...)
   (with "names" (y ...) (f ...) (pair ... (x e)) body ...))))
"""
"""They bind what the programs bind too."""

TEMPLATE_NAMES = ("tmp", "x", "y", "z", "w", "name", "test", "pair", "body", "plus-1")
SHAPE = EVERYWHERE.without("par", "multi")


def with_macros(text: str) -> str:
    """The same program, written with macros where it can be."""
    for form, macro in [("(+ ", "plus"), ("(- ", "minus"), ("(if ", "choose"), ("(let ((", "with")]:
        text = text.replace(form, form.replace(form.strip("( "), macro, 1))
    return text.replace(PREAMBLE, PREAMBLE + MACROS, 1)


def renamed(text: str, names: dict[str, str]) -> str:
    """The program with its variables called otherwise, the macros left alone."""
    start, _, program = text.partition(MACROS)
    for old, new in names.items():
        program = re.sub(rf"(?<![\w.{{-]){old}(?![\w:-])", new, program)
    return start + MACROS + program


def outcome(text: str):
    """Value or error, and the requests; a limit is nobody's meaning."""
    found = seen(begun(text))
    assume(not (found.error and "limit" in str(found.error)))
    return found


@examples(40, 400, programs(SHAPE))
def test_macros_that_bind_the_same_names_change_nothing(made):
    """Value, error and requests are those of the program without macros."""
    assert outcome(made.text) == outcome(with_macros(made.text))


@examples(40, 400, programs(SHAPE), st.permutations(TEMPLATE_NAMES))
def test_what_the_user_calls_a_variable_changes_nothing(made, names):
    """Not even if it is a name of a template or of a pattern."""
    text = with_macros(made.text)
    fresh = {name: f"{name}-0" for name in VARIABLES}
    chosen = dict(zip(fresh.values(), names, strict=False))

    assert outcome(text) == outcome(renamed(renamed(text, fresh), chosen))
