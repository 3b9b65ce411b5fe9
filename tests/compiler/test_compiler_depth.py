"""No form is too deep, and whatever the forms are, they are a unit or diagnostics."""

import sys

import pytest
from hypothesis import strategies as st
from support.compiling import PRELUDE, compiled
from support.examples import examples

from sexplang.compiler import compile_unit
from sexplang.compiler.forms.shapes import RESERVED
from sexplang.expander import Expander
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.form import Label, ListForm, Literal, Name, TableForm, VectorForm
from sexplang.terms.program import Unit
from sexplang.terms.source import Source, Span

NESTS = """
(str @)|(if @ 1 2)|(if 1 @ 2)|(when 1 @)|(let ((a @)) a)|(let ((a 1)) @)|(let* ((a 1)) @)
(letrec ((a 1)) @)|(begin @)|(begin 1 @)|(or @)|(or @ 1)|(cond (@ 1))|(cond (1 @))
(cond (1 => @))|(case @ (1 2))|(case 1 (1 @))|(lambda () @)|(lambda ((a @)) a)|(loop 1 @)
(loop ((i @)) i)|(loop ((i 0)) @)|[@]|{a: @}|'(@)|`(@)|`~@|`[1 ~@]|`{a: @}
(handle @ ((a) k k))|(handle 1 ((a) k @))|(handle 1 ((a) k (k @)))|(handle 1 (return x @))
(try @ (catch (e) 1))|(try 1 (catch (e) @))|(try 1 (finally @))|(attempt @)|(par @)
(perform a @)|((str @) 1)|(let go ((a 1)) @)|(let () (define (x) @) 1)|(let () (bind x @) 1)
(ask-user choices: 1 prompt: @)|((lambda (x) @) 1)
(match @ (_ 1))|(match 1 (1 @))|(match 1 ([[a]] @))|(match 1 ([[a]] when @ 1))
(-> @ str)|(-> 1 (str @))|(match 1 ((? (lambda (x) @) _) 1))|(match 1 ([[a]] 1) (_ @))
"""


@pytest.mark.parametrize("nest", NESTS.strip().replace("\n", "|").split("|"))
def test_a_form_may_be_deep(nest):
    """Nothing depends on Python's recursion limit."""
    before, after = nest.split("@")
    depth = 9_990 // 5

    unit = compiled(before * depth + "1" + after * depth)

    assert isinstance(unit, Unit)
    assert depth > sys.getrecursionlimit()


def test_a_form_may_be_as_deep_as_a_text_may_be():
    """10,000 levels."""
    assert isinstance(compiled("(str " * 9_999 + "[]" + ")" * 9_999), Unit)
    assert isinstance(compiled("[" * 10_000 + "]" * 10_000), Unit)


SPAN = Span(Source("random", "(random)"), 0, 8)
WORDS = [*sorted(RESERVED), "a", "b", "k", "f", "str", "map", "model", "summarize", "first", "_"]
WORDS += [".", "?", "a.b", "return", "abandon", "std/x", "error"]
LABELS = ["a", "type", "as", "default", "choices", "doc", "text"]

leaves = st.one_of(
    st.sampled_from(WORDS).map(lambda text: Name(text, span=SPAN)),
    st.sampled_from(LABELS).map(lambda text: Label(text, span=SPAN)),
    st.sampled_from([1, 2.5, "x", True, None]).map(lambda value: Literal(value, span=SPAN)),
)


def _containers(forms):
    items = st.lists(forms, max_size=5).map(tuple)
    head = st.sampled_from(WORDS).map(lambda text: Name(text, span=SPAN))
    return st.one_of(
        st.tuples(head, items).map(lambda pair: ListForm((pair[0], *pair[1]), span=SPAN)),
        items.map(lambda each: ListForm(each, span=SPAN)),
        items.map(lambda each: VectorForm(each, span=SPAN)),
        items.map(lambda each: TableForm(each, span=SPAN)),
    )


forms = st.recursive(leaves, _containers, max_leaves=25)


@examples(100, 500, st.lists(forms, max_size=4).map(tuple), st.booleans())
def test_any_forms_are_a_unit_or_diagnostics(program, main):
    """Never another exception."""
    try:
        unit = compile_unit(
            program,
            name="random",
            scope=PRELUDE,
            load=lambda path, span: {},
            layout=lambda: (1, 0),
            main=main,
            expander=Expander,
        )
    except Diagnostics as found:
        assert any(one.severity == "error" for one in found.diagnostics)
        assert all(one.labels for one in found.diagnostics)
    else:
        assert isinstance(unit, Unit)
        assert sorted(range(len(unit.functions))) == [f.index for f in unit.functions]
