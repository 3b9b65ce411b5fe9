"""One slip is one error, with what to write; what is no slip of the pen is not taken for one."""

import pytest
from support.running import built

from sexplang.terms.diagnostic import Diagnostics


def refused(text):
    """The code and the hint of each error of a text."""
    with pytest.raises(Diagnostics) as found:
        built(text)
    return [(each.code, each.hint) for each in found.value.diagnostics]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (
            "(loop (i 0) (if (< i 3) (recur (+ i 1)) i))",
            "two pairs of parentheses: `((i 0))`",
        ),
        ("(loop [i 0] (if (< i 3) (recur (+ i 1)) i))", "use parentheses: `((name e) …)`"),
        (
            "(bind [a & b] [1 2]) (+ a b)",
            "write `[a . b]`: what is left of the list stands behind a dot",
        ),
        ("(let ([a b] [1 2]) (+ a b))", "two pairs of parentheses: `(([a b] [1 2]))`"),
        ("(let ([a 1] [b 2]) (+ a b))", "use parentheses: `((a 1) (b 2))`"),
        ("(let (((a b) [1 2])) (+ a b))", "a list: `[a b]`"),
        ("(let [x 1] (+ x 1))", "use parentheses: `((name e) …)`"),
    ],
)
def test_a_malformed_binding_is_one_error(text, hint):
    """Its names are bound all the same."""
    assert [("malformed-form", hint)] == refused(text)


def test_a_call_is_still_a_count():
    """Of a name that is bound."""
    assert built("(define (twice n) (* 2 n)) (loop (twice 1) 1)")


@pytest.mark.parametrize("name", ["for", "len", "ormap", "cat", "pow", "ord", "set", "input"])
def test_a_short_name_of_another_language_is_no_slip_of_the_pen(name):
    """Nothing is suggested for its spelling."""
    ((code, hint),) = refused(f"({name} 1)")

    assert code == "unbound-name" and "did you mean" not in (hint or "")


@pytest.mark.parametrize(
    ("name", "meant"),
    [("lenght", "length"), ("lamda", "lambda"), ("sumarise", "summarise"), ("pla", "plan")],
)
def test_a_slip_of_the_pen_is_told(name, meant):
    """One letter, or two where there are six."""
    text = f"(define (summarise x) x) (define (plan x) x) ({name} 1)"

    assert [("unbound-name", f"did you mean `{meant}`?")] == refused(text)


def test_a_bad_schema_names_its_path_and_key():
    """And the types that there are."""
    schema = '{"properties": {"stars": {"type": "objekt"}}}'
    text = (
        '(defatom f (instructions "F") (output_format type: json schema: "'
        + schema.replace('"', '\\"')
        + '"))'
    )
    with pytest.raises(Diagnostics) as found:
        built(text)

    (only,) = found.value.diagnostics
    assert only.code == "bad-schema"
    assert only.title.startswith('at `properties.stars.type`: "objekt" is no type: write one of')
