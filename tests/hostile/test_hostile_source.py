"""Program texts that are made to break whoever reads and compiles them."""

import pytest
from support.bounded import assert_ends

LEVELS = 1_000_000
MACRO = "(define-syntax m (syntax-rules () {}))"
FAN = " ".join(
    f"(define-syntax m{at} (syntax-rules () ((_ x) (m{at - 1} (m{at - 1} x)))))"
    for at in range(1, 40)
)

NESTED = {
    "one level too many": "(" * 10_001 + ")" * 10_001,
    "a million brackets": "(" * LEVELS + ")" * LEVELS,
    "brackets that never close": "(" * LEVELS,
    "vectors": "[" * LEVELS,
    "tables": "{a: " * LEVELS,
    "calls": "(str " * 100_000,
    "quotes": "'" * LEVELS + "x",
    "quasiquotes": "`" * LEVELS + "x",
    "unquotes": "`" + "~" * LEVELS + "x",
    "bindings": "(let ((x 1)) " * 10_001 + "x" + ")" * 10_001,
}

LARGE = {
    "eleven million characters": "(+ 1 1)" * 1_600_000,
    "eleven million spaces": " " * 11_000_000 + "1",
    "a string of eleven million": '"' + "a" * 11_000_000 + '"',
    "two million forms": "1 " * 2_000_000,
    "two million strings": '"a" ' * 2_000_000,
    "a wrong one before two million forms": ") " + "1 " * 2_000_000,
    "a hundred thousand definitions": "".join(f"(define x{at} 1)" for at in range(100_000)),
    "a million forms left out": "#;x " * LEVELS,
    "a million marks": "#;" * LEVELS,
    "a million nested comments": "#||#" * LEVELS,
}

REFUSED = {
    "a million closers": (")" * LEVELS, "stray-closer"),
    "a comment in a comment in a …": ("#|" * LEVELS, "unterminated-comment"),
    "a string without an end": ('"' + "a" * LEVELS, "unterminated-string"),
    "a block without an end": ('"""' + '"\n' * LEVELS, "unterminated-text"),
    "crossed brackets": ("([{" * 3_000 + ")]}" * 3_000, "label-expected"),
    "unclosed, line by line": ("(a b\n" * 10_000, "unclosed-bracket"),
    "a million digits": ("1" * LEVELS, "limit-number"),
    "nine million digits": ("9" * 9_000_000, "limit-number"),
    "a million digits of an exponent": ("1e" + "1" * LEVELS, "limit-number"),
    "a float that is none": ("1e999", "limit-number"),
    "a symbol of a million": ("a" * LEVELS, "unbound-name"),
    "a path of a million": ("(define a 1) a" + ".a" * LEVELS, "wrong-type"),
    "bad escapes": ('"' + "\\q" * 100_000 + '"', "bad-escape"),
    "labels and nothing else": ("(f " + "a: " * 50_000 + ")", "value-missing"),
    "the same definition again": ("(define x 1)" * 10_000, "defined-twice"),
    "names that nobody has bound": (" ".join(f"x{at}" for at in range(20_000)), "unbound-name"),
}

EXPANDING = {
    "a macro that uses itself": MACRO.format("((_ x) (m x))") + "(m 1)",
    "a macro around itself": MACRO.format("((_ x) (m (m x)))") + "(m 1)",
    "a macro that uses itself twice": MACRO.format("((_ x) (begin (m (x)) (m (x))))") + "(m 1)",
    "a macro that doubles its operands": MACRO.format("((_ x ...) (m x ... x ...))") + "(m 1)",
    "forty macros, each twice the last": (
        "(define-syntax m0 (syntax-rules () ((_ x) (list x x))))" + FAN + "(m39 1)"
    ),
    "ellipses that multiply": (
        MACRO.format("((_ (a ...) (b ...)) (list (a b ...) ...))")
        + f"(m ({'f ' * 3_000}) ({'1 ' * 3_000}))"
    ),
}

SOUND = {
    "a million comments": ";\n" * LEVELS + "1",
    "comments in comments": "#|" * 100_000 + "|#" * 100_000 + " 1",
    "a million escapes": '(string-length "' + "\\u0041" * LEVELS + '")',
    "an empty block of a million lines": '(string-length """' + "\n" * LEVELS + '""")',
    "digits behind the point": "1." + "1" * LEVELS,
    "nearly ten thousand levels": "(if false 1 " * 9_990 + "2" + ")" * 9_990,
    "a pattern as deep": "(match 1 (" + "[" * 5_000 + "x" + "]" * 5_000 + " 1) (_ 2))",
    "a pattern of a macro as deep": (
        MACRO.format(f"((_ {'(' * 4_000}x{')' * 4_000}) 1)") + f"(m {'(' * 4_000}x{')' * 4_000})"
    ),
    "three thousand handlers": (
        "(define-effect (a x))" + "(handle " * 3_000 + "(a 1)" + " ((a x) k (k (a x))))" * 3_000
    ),
    "a thousand branches in one another": "(par " * 1_000 + "1" + ")" * 1_000,
    "a quarter of all words in one call": "(str " + "1 " * 50_000 + ")",
}


@pytest.mark.parametrize("text", NESTED.values(), ids=NESTED)
def test_a_text_that_is_nested_too_deep_is_refused(text):
    """At level 10,001, however far it goes on."""
    assert_ends(text, "limit-depth")


@pytest.mark.parametrize("text", LARGE.values(), ids=LARGE)
def test_a_text_that_is_too_large_is_refused(text):
    """In characters, or in words and brackets, also where it is wrong besides."""
    wrong = text.startswith(")")

    assert_ends(text, "stray-closer" if wrong else "limit-size")


@pytest.mark.parametrize(("text", "code"), REFUSED.values(), ids=REFUSED)
def test_a_text_that_is_wrong_all_over_is_refused(text, code):
    """The first error has the code; how many there are makes no difference."""
    assert_ends(text, code)


@pytest.mark.parametrize("text", EXPANDING.values(), ids=EXPANDING)
def test_an_expansion_without_end_is_refused(text):
    """By depth, by size and by steps."""
    assert_ends(text, "limit-expansion")


@pytest.mark.parametrize("text", SOUND.values(), ids=SOUND)
def test_a_text_within_the_limits_is_a_program(text):
    """However strange it looks."""
    assert_ends(text, "")
