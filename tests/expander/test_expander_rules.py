"""Patterns and templates: what R7RS says of `syntax-rules`, form by form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.expanding import expanded, refused


@pytest.mark.parametrize(
    ("rules", "use", "form"),
    [
        ("() ((_ a b) (b a))", "(m 1 2)", "(2 1)"),
        ("() ((_) one) ((_ a) (two a))", "(m x)", "(two x)"),
        ("() ((m a) a)", "(m x)", "x"),
        ("() ((_ _ _) ok)", "(m 1 (2 3))", "ok"),
        ('() ((_ 1 "a" true nil) ok) ((_ a ...) no)', '(m 1 "a" true nil)', "ok"),
        ("() ((_ 1) one) ((_ a) other)", "(m 1.0)", "other"),
        ("(to) ((_ a to b) (a b)) ((_ a ...) no)", "(m 1 to 2)", "(1 2)"),
        ("(to) ((_ a to b) (a b)) ((_ a ...) no)", "(m 1 by 2)", "no"),
        ("(...) ((_ ...) dots) ((_ a) one)", "(m ...)", "dots"),
        ("(_) ((_ _) line) ((_ a) one)", "(m 1)", "one"),
    ],
)
def test_a_use_is_what_the_first_rule_that_fits_makes_of_it(rules, use, form):
    """Literals fit themselves, `_` fits anything, a pattern variable takes what stands there."""
    assert form == expanded(rules, use)


@pytest.mark.parametrize(
    ("pattern", "template", "use", "form"),
    [
        ("(_ a ...)", "(a ...)", "(m)", "()"),
        ("(_ a ...)", "(a ... end)", "(m 1 2)", "(1 2 end)"),
        ("(_ a ... b c)", "(c (a ...) b)", "(m 1 2 3 4)", "(4 (1 2) 3)"),
        ("(_ a b ... c)", "(a c b ...)", "(m 1 2)", "(1 2)"),
        ("(_ (a b) ...)", "((a ...) (b ...))", "(m (1 2) (3 4))", "((1 3) (2 4))"),
        ("(_ (a b ...) ...)", "((b ... a) ...)", "(m (1 2 3) (4))", "((2 3 1) (4))"),
        ("(_ (a ...) ...)", "(a ... ...)", "(m (1 2) () (3))", "(1 2 3)"),
        ("(_ ((a ...) ...) ...)", "(a ... ... ...)", "(m ((1) (2)) () ((3 4)))", "(1 2 3 4)"),
        ("(_ ((a ...) ...) ...)", "((a ... ...) ...)", "(m ((1) (2)) () ((3)))", "((1 2) () (3))"),
        ("(_ a (b ...))", "((a b) ...)", "(m 1 (2 3))", "((1 2) (1 3))"),
        ("(_ (a b ...) ...)", "(((a b) ...) ...)", "(m (1 2 3) (4 5))", "(((1 2) (1 3)) ((4 5)))"),
        ("(_ (a ...) (b ...))", "((a b ...) ...)", "(m (1 2) (3 4))", "((1 3 4) (2 3 4))"),
        ("(_ a ...)", "((k a) ...)", "(m 1 2)", "((k 1) (k 2))"),
        ("(_ [a ...] ...)", "[(a ...) ...]", "(m [1 2] [])", "[(1 2) ()]"),
        ("(_ [a [b ...]] ...)", "([b ... a] ...)", "(m [1 [2 3]])", "([2 3 1])"),
        ("(_ (x {k: a}) ...)", "{all: [a ...]}", "(m (1 {k: 2}) (3 {k: 4}))", "{all: [2 4]}"),
        ("(_ {b: y a: x})", "(x y)", "(m {a: 1 b: 2})", "(1 2)"),
        ("(_ times: n body ...)", "(loop n body ...)", "(m times: 3 x y)", "(loop 3 x y)"),
        ("(_ arg ...)", "(f arg ...)", "(m 1 style: 2)", "(f 1 style: 2)"),
        ("(_ a)", "(f style: a)", "(m 1)", "(f style: 1)"),
        ("(_ a)", "(... (a ...))", "(m 1)", "(1 ...)"),
        ("(_ a)", "((... ...) a)", "(m 1)", "(... 1)"),
        ("(_ a)", "'(a [a] {k: a})", "(m 1)", "'(1 [1] {k: 1})"),
        ("(_ e)", "e.notes.x", "(m plan)", "plan.notes.x"),
        ("(_ e)", "e.x", "(m (f 1))", "(let ((value (f 1))) value.x)"),
        ("(_ e ...)", "[e.x ...]", "(m p q)", "[p.x q.x]"),
    ],
)
def test_an_ellipsis_repeats_what_stands_before_it(pattern, template, use, form):
    """Nested, in the middle, several at once; what it repeats is what varies under it."""
    assert form == expanded(f"() ({pattern} {template})", use)


def test_a_macro_may_choose_its_ellipsis():
    """Then `...` is a name like any other."""
    assert "(1 2 ...)" == expanded("etc () ((_ a etc) (a etc ...))", "(m 1 2)")
    assert "(... 1)" == expanded("etc () ((_ ... a) (... a))", "(m ... 1)")
    assert "((b 1) (b 2))" == expanded("etc () ((_ a etc) ((b a) etc))", "(m 1 2)")


@pytest.mark.parametrize(
    ("pattern", "use"),
    [
        ("(_ a)", "(m)"),
        ("(_ a)", "(m 1 2)"),
        ("(_ (a))", "(m [1])"),
        ("(_ [a])", "(m (1))"),
        ("(_ a b ... c)", "(m 1)"),
        ("(_ {k: a})", "(m {j: 1})"),
        ("(_ {k: a})", "(m {k: 1 j: 2})"),
        ("(_ {k: a})", "(m 1)"),
        ("(_ k: a)", "(m j: 1)"),
        ("(_ (a b) ...)", "(m (1 2) (3))"),
    ],
)
def test_a_use_that_fits_no_rule_is_refused(pattern, use):
    """Nothing is guessed."""
    assert "no-rule" == refused(f"() ({pattern} 1)", use)


def test_what_is_repeated_together_is_equally_long():
    """There is nothing to pair the rest with."""
    assert "ellipsis-length" == refused("() ((_ (a ...) (b ...)) ((a b) ...))", "(m (1 2) (3))")


def test_names_that_a_template_brings_in_are_renamed():
    """But for the words of the language, punctuation, labels and what came with the use."""
    form = expanded(
        "() ((_ a) (let ((x a)) (f x _ (... ...) k: [x.y a])))", "(m x)", lambda text: f"{text}!"
    )

    assert "(let ((x! x)) (f! x! _ ... k: [x.y! x]))" == form


numbers = st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=4)


@given(numbers)
def test_nested_ellipses_take_apart_and_put_together(rows):
    """What a pattern takes apart, the same form as a template puts together."""
    written = " ".join(f"({' '.join(map(str, row))})" for row in rows)

    assert f"({written})" == expanded("() ((_ (a ...) ...) ((a ...) ...))", f"(m {written})")


@given(st.lists(st.integers(0, 9), max_size=6), st.integers(0, 4), st.integers(0, 4))
def test_an_ellipsis_leaves_room_for_what_stands_around_it(items, before, after):
    """It takes what is left over, which may be nothing, never less."""
    first = [f"a{at}" for at in range(before)]
    last = [f"z{at}" for at in range(after)]
    rules = f"() ((_ {' '.join([*first, 'x ...', *last])}) ([{' '.join(first)}] [x ...]))"
    use = f"(m {' '.join(map(str, items))})"
    rest = items[before : len(items) - after]

    if len(items) < before + after:
        assert "no-rule" == refused(rules, use)
    else:
        expected = f"([{' '.join(map(str, items[:before]))}] [{' '.join(map(str, rest))}])"
        assert expected == expanded(rules, use)
