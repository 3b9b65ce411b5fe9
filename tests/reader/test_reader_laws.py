"""Laws of the reader: what holds for every text and every form."""

import json

from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

from sexplang.reader import read
from sexplang.reader.characters import Flaw, find_hidden
from sexplang.reader.parser import MAKERS, Forms
from sexplang.reader.table_generator import grammar
from sexplang.reader.writer import write
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.form import Form, Literal, TableForm, VectorForm
from sexplang.terms.source import Source
from sexplang.testing import forms

scraps = st.sampled_from(
    [*"()[]{}'`~@,:;#|\"\\ \n\r\tabx1.-+e/", "#;", "#|", "|#", '"""', "a: ", '"s": ', "~@", "x ",
     "{a: ", "(f ", "é", "e\u0301", "\u202e", "\u200d", "а", "“", "\x00", "\ud800", "\ufeff",
     "\u2028", "\\u", "d83d", "(quasiquote ", "nil ", "12 ", "n:3", "`(", ") ", "} "]
)  # fmt: skip
soups = st.lists(scraps, max_size=30).map("".join)


def refused(text: str) -> bool:
    try:
        read(Source("", text))
    except Diagnostics as found:
        assert found.diagnostics
        assert all(diagnostic.span is not None for diagnostic in found.diagnostics)
        return True
    return False


@examples(80, 400, forms())
def test_what_is_written_reads_to_itself(form):
    """read after write is the identity, spans aside."""
    assert (form,) == read(Source("", write(form)))


@examples(120, 600, soups | st.text(max_size=40))
def test_any_text_gives_forms_or_diagnostics(text):
    """There is no other exception; what is read is written and read again to the same."""
    try:
        forms = read(Source("", text))
    except Diagnostics as found:
        assert found.diagnostics
    else:
        assert forms == read(Source("", " ".join(map(write, forms))))


class _Inline:
    """The methods of `Forms` for lark itself: terminals by their names, brackets as places."""

    def __init__(self) -> None:
        self.forms = Forms(Source("", ""))

    def __getattr__(self, name: str):
        if not name.isupper():
            return getattr(self, name) if name == "start" else _late(self, name)
        return lambda token: self.made(name, token)

    def start(self, parts):
        return parts[0]

    def made(self, name, token):
        maker = MAKERS.get(name)
        place = (token.start_pos, token.end_pos)
        return maker(self.forms, str(token), *place) if maker else place


def _late(inline: _Inline, name: str):
    if not hasattr(Forms, name):
        raise AttributeError(name)
    return lambda parts: getattr(inline.forms, name)(*parts)


INLINE = _Inline()
LARK = grammar(lexer="basic", transformer=INLINE)


@examples(80, 400, soups.filter(lambda text: "#|" not in text and not text.startswith("\ufeff")))
def test_the_table_reads_what_lark_reads(text):
    """lark, with its own lexer and its own loop, gives the same forms and refuses the same texts.

    (Nested comments, invisible characters, splices in tables and commas in quasiquotes are judged
    outside the grammar.)
    """
    from lark.exceptions import LarkError

    source = Source("", text)
    INLINE.forms = Forms(source)
    try:
        expected = tuple(LARK.parse(text))
    except (LarkError, Flaw):
        assert refused(text)
        return
    try:
        actual = read(source)
    except Diagnostics as found:
        codes = {diagnostic.code for diagnostic in found.diagnostics}
        judged = {"comma-unquote"} | ({"label-expected"} if INLINE.forms.spliced else set())
        assert codes <= judged or any(find_hidden(text))
        return
    assert expected == actual
    assert [form.span for form in expected] == [form.span for form in actual]


hidden = st.sampled_from([*"ab \n\x00\x1fé\u200c\u200d\ufe0f\u0915\u05ff\u0600\u202e😀"])


def is_hidden(text: str, at: int) -> bool:
    """What the notation says of one character."""
    char = text[at]
    if char in "\u200c\u200d":
        return at == 0 or text[at - 1] < "\u0600"
    if char == "\ufe0f":
        return text[at + 1 : at + 2] == "\ufe0f"
    return char in "\x00\x1f\u202e"


@given(st.text(hidden, max_size=12))
def test_each_character_that_cannot_be_seen_is_found(text):
    """And no other one."""
    expected = [at for at in range(len(text)) if is_hidden(text, at)]

    assert expected == [match.start() for match in find_hidden(text)]


documents = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text('abé:" \\'), inner),
    max_leaves=12,
)


def denoted(form: Form):
    if isinstance(form, TableForm):
        return {label.text: denoted(value) for label, value in form.entries()}
    if isinstance(form, VectorForm):
        return [denoted(item) for item in form.items]
    assert isinstance(form, Literal)
    return form.value


@examples(
    120, 600, documents, st.sampled_from([None, 1]), st.sampled_from([(",", ":"), (" ,", " : ")])
)
def test_a_json_document_is_a_form(document, indent, separators):
    """JSON is a subset, however it is laid out."""
    (form,) = read(Source("", json.dumps(document, indent=indent, separators=separators)))

    assert json.dumps(document) == json.dumps(denoted(form))


def test_a_deep_form_is_read_written_and_compared():
    """10,000 levels, of every bracket and mark, at Python's default recursion limit."""
    text = "(f [{a: '" * 2_500 + "x" + "}])" * 2_500
    (form,) = read(Source("", text))

    assert text == write(form)
    assert (form,) == read(Source("", text))
