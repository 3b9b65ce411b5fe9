"""Macros end: expansion has limits, and no form is too deep for it."""

import pytest
from hypothesis import strategies as st
from support.examples import examples
from support.expanding import complaints, value

from sexplang.compiler import compile_unit
from sexplang.expander import Expander
from sexplang.expander.macro_budget import DEEPEST
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.form import Label, ListForm, Literal, Name, TableForm, VectorForm
from sexplang.terms.program import Unit
from sexplang.terms.source import Source, Span

MANY = " ".join(["1"] * 3_000)


@pytest.mark.parametrize(
    ("rules", "use"),
    [
        ("((_) (m))", "(m)"),
        ("((_) (+ 1 (m)))", "(m)"),
        ("((_) (+ (m) (m)))", "(m)"),
        ("((_) (begin 1 (m)))", "(m)"),
        ("((_) (begin (m) (m)))", "(m)"),
        ("((_) (let () 1 (m)))", "(m)"),
        ("((_) (define (f) (m)))", "(m)"),
        ("((_) (begin (define-syntax n (syntax-rules () ((_) (m)))) (n)))", "(m)"),
        ("((_ n) (begin (define-syntax k (syntax-rules () ((_) (m k)))) (k)))", "(m 1)"),
        ("((_ x) (m (x x)))", "(m 1)"),
        ("((_ x ...) (m x ... x ...))", "(m 1)"),
        ("((_ x ...) (m x ... 1))", "(m)"),
        ("((_ (x ...) (y ...)) '((x y ...) ...))", f"(m ({MANY}) ({MANY}))"),
        ("((_ x y ...) (m y ...)) ((_) 1)", f"(m {MANY})"),
        (f"((_) {'(list ' * 400}(m){')' * 400})", "(m)"),
    ],
)
@pytest.mark.timeout(30)
def test_a_macro_without_end_is_a_limit(rules, use):
    """One finding, whatever grows: steps, uses within uses, or the text; and soon."""
    text = f"(define-syntax m (syntax-rules () {rules})) {use}"

    assert ["limit-expansion"] == [code for code, _ in complaints(text)]


def test_a_macro_may_use_itself_often():
    """A thousand elements, one after the other, are no trouble."""
    macro = """
        (define-syntax my-or (syntax-rules ()
          ((_) false)
          ((_ e rest ...) (let ((t e)) (if t t (my-or rest ...))))))"""

    assert "7" == value(f"{macro} (my-or {'false ' * (DEEPEST - 2)} 7)")


@pytest.mark.parametrize("depth", [9_000])
def test_no_form_is_too_deep(depth):
    """A use, an argument, a pattern, a template and a quotation may be as deep as a text."""
    inward, outward = "(" * depth, ")" * depth
    through = "(define-syntax m (syntax-rules () ((_ x) x)))"
    taken = f"(define-syntax m (syntax-rules () ((_ {inward}x{outward}) x)))"
    given_ = f"(define-syntax m (syntax-rules () ((_ x) '{inward}x{outward})))"
    nested = "(define-syntax m (syntax-rules () ((_ x) (+ 1 x))))"

    assert str(depth) == value(f"{through} (m {'(+ 1 ' * depth}0{outward})")
    assert "7" == value(f"{taken} (m {inward}7{outward})")
    assert "1" == value(f"{given_} (length (m 7))")
    assert str(depth) == value(f"{nested} {'(m ' * depth}0{outward}")


def test_forms_without_macros_are_not_limited():
    """What does not go through a macro costs its limits nothing."""
    macro = "(define-syntax m (syntax-rules () ((_ x) x)))"

    assert "100000" == value(f"{macro} (length (m [{'1 ' * 100_000}]))")


SPAN = Span(Source("random", "random"), 0, 6)
NAMES = ["m", "n", "x", "y", "...", "_", "else", "let", "lambda", "define", "quote", ".", "x.y"]
HEADS = ["define-syntax", "syntax-rules", "m", "n", "begin", "let", "define", "quasiquote", "match"]


def _named(texts):
    return st.sampled_from(texts).map(lambda text: Name(text, span=SPAN))


leaves = st.one_of(
    _named(NAMES),
    _named(NAMES),
    st.sampled_from([1, "a", None]).map(lambda value: Literal(value, span=SPAN)),
    st.just(Label("k", span=SPAN)),
)


def _list(*items):
    return ListForm(tuple(items), span=SPAN)


def _containers(forms):
    items = st.lists(forms, max_size=4).map(tuple)
    return st.one_of(
        items.map(lambda each: ListForm(each, span=SPAN)),
        st.tuples(_named(HEADS), items).map(lambda pair: _list(pair[0], *pair[1])),
        items.map(lambda each: VectorForm(each, span=SPAN)),
        items.map(lambda each: TableForm(each, span=SPAN)),
    )


forms = st.recursive(leaves, _containers, max_leaves=12)


@st.composite
def macros(draw):
    """`(define-syntax name (syntax-rules (literal…) (pattern template) …))`, mostly sound."""
    rules = [
        _list(_list(Name("_", span=SPAN), *draw(st.lists(forms, max_size=3))), draw(forms))
        for _ in range(draw(st.integers(0, 3)))
    ]
    literals = _list(*draw(st.lists(leaves, max_size=1)))
    body = _list(Name("syntax-rules", span=SPAN), literals, *rules)
    name = Name(draw(st.sampled_from(["m", "n"])), span=SPAN)
    return _list(Name("define-syntax", span=SPAN), name, body)


@st.composite
def uses(draw):
    head = draw(_named(["m", "n"]))
    return _list(head, *draw(st.lists(forms, max_size=3)))


@examples(120, 600, st.lists(st.one_of(macros(), uses(), uses(), forms), max_size=5).map(tuple))
def test_any_rules_and_any_uses_are_a_unit_or_diagnostics(program):
    """Never another exception."""
    from support.compiling import PRELUDE

    try:
        unit = compile_unit(
            program,
            name="random",
            scope=PRELUDE,
            load=lambda path, span: {},
            layout=lambda: (1, 0),
            main=True,
            expander=Expander,
        )
    except Diagnostics as found:
        assert any(one.severity == "error" for one in found.diagnostics)
    else:
        assert isinstance(unit, Unit)
