"""What an editor is told of names is what the compiler makes of them; and no text is too broken."""

import asyncio
import re
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lsprotocol import types as lsp
from support.core_dump import dump
from support.editor import Editor
from support.markdown import ROOT, chunks_of
from support.programs import program
from support.sources import no_files

from sexplang.compiler.forms.shapes import SHAPES
from sexplang.hosts.language_server.completion import offers
from sexplang.hosts.language_server.editor import symbols
from sexplang.hosts.language_server.hover import hover
from sexplang.hosts.language_server.library import Library
from sexplang.hosts.language_server.outline import MOST, text_of
from sexplang.hosts.language_server.positions import Places
from sexplang.hosts.reference.language_names import LINES
from sexplang.pipeline.pipeline import build
from sexplang.reader import read
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.form import Literal
from sexplang.terms.source import Source

NAME = "/nowhere/a.sexp"

SAMPLES = [
    "(define (f a (b (+ a 1)) . c) (define d (f a)) (bind d (list d c)) (list a b d))\n(f 1)",
    "(define (even? n) (if (= n 0) true (odd? (- n 1))))\n"
    "(define (odd? n) (if (= n 0) false (even? (- n 1))))\n(even? 4)",
    "(let* ((x 1) (y (+ x 1)) (x (+ x y)))\n(let next ((i x) (o [])) (if (< i y) (next i o) x)))",
    "(letrec ((f (lambda (n) (g n))) (g (lambda (n) n))) (f 1))",
    "(loop ((i 0) (x 2)) (if (< i 3) (recur (+ i 1) (* x x)) x))",
    "(define-effect (ask x))\n"
    "(handle (+ 1 (ask 2)) ((ask x) k (+ (k x) (k 2))) (return x (list x)))",
    "(define x {a: {b: 1}})\n(try x.a.b (catch (err) err.message) (finally (print x)))",
    "(bind f (lambda (n) (if (= n 0) 0 (f (- n 1)))))\n(bind f (f 3))\nf",
    "(define x 1)\n(list `(x ~x ~@(list x) {x: ~x}) 'x (cond ((list x) => first) (else x)))",
    "(define [a {k: b} . c] [1 {k: 2} 3])\n(bind [a b] [b a])\n"
    "(bind (? (lambda (v) (= v a)) d) a)\n(list a b c d)",
    "(define (f [x {k: y}] ((? list? z) (list x)) . w) (list x y z w))\n(f [1 {k: 2}])",
    "(define (x v) v)\n(let (([x (? x y)] [x x]) (z x)) (list x y z))",
    "(let* (([x y] [1 2]) ([y (? (fn (v) x) x)] [x y])) (list x y))",
    "(loop (([i . x] [0 1]) (n 3)) (if (< i n) (recur (cons (+ i 1) x) n) (list i x)))",
    "(let next (([i x] [0 1]) (n 3)) (if (< i n) (next [(+ i 1) x] n) (list i x)))",
    "(define (f) (begin (define x 1) (bind y x)) (case y ((x y) x) (else y)))\n(f)",
]


def chapters():
    for path in sorted(ROOT.glob("spec/*.md")):
        for chunk in chunks_of(path, path.read_text(encoding="utf-8")):
            yield str(chunk.text)


def unit_of(text):
    return build(Source(NAME, text), no_files).units[-1]


def renamed(text, meaning, found):
    """The text with one binding called otherwise, wherever it is meant."""
    out, at = [], 0
    for mention in sorted(found.scopes.mentions, key=lambda mention: mention.start):
        head = re.match(r"[^.]*", text[mention.start : mention.end])[0]
        if mention.meaning is meaning and head == meaning.name and mention.start >= at:
            out += [text[at : mention.start], "renamed"]
            at = mention.start + len(head)
    return "".join([*out, text[at:]])


def check_names(text, most=None, random=None):
    """Renaming any binding everywhere gives the same program; `most` of them, if it is given."""
    before = dump(unit_of(text))
    found = Library({NAME: text}).outline(NAME)
    meanings = {id(each.meaning): each.meaning for each in found.scopes.mentions}
    bound = [
        meaning
        for meaning in meanings.values()
        if meaning.name_span is not None
        and meaning.name_span.source.name == NAME  # not a function of the library
        and meaning.kind in ("function", "value", "parameter")
    ]
    for meaning in bound if most is None else random.sample(bound, min(most, len(bound))):
        after = dump(unit_of(renamed(text, meaning, found)))

        assert plain(before) == plain(after).replace("renamed", meaning.name), meaning


def plain(core):
    return re.sub(r"span=\S+", "", core)


@pytest.mark.parametrize("text", SAMPLES, ids=lambda text: text[:40])
def test_a_name_means_what_the_compiler_takes_it_for(text):
    """So renaming all that is meant changes nothing."""
    check_names(text)


@given(st.integers(0, 2**32))
@settings(max_examples=25)
def test_names_of_generated_programs_mean_what_the_compiler_takes_them_for(seed):
    """They hide one another wherever they can."""
    random = Random(seed)
    check_names(program(random).text, 3, random)


def test_names_of_the_programs_of_the_tree_mean_something():
    """In a program that compiles, no name is left unexplained where it is evaluated."""
    for path in sorted([*ROOT.glob("stdlib/*.sexp"), *ROOT.glob("examples/**/*.sexp")]):
        if path.name.endswith(".test.sexp"):  # tests are no programs
            continue
        text = path.read_text(encoding="utf-8")
        found = Library({str(path): text}).outline(str(path))
        known = {mention.start for mention in found.scopes.mentions}
        heads = {
            form.span.start + 1 + len(space)
            for form, space in (
                (form, re.match(r"\(\s*", form.span.text)[0][1:])
                for form in calls(found.text.forms)
            )
        }

        assert {text[at : at + 20] for at in heads - known} == set(), path


def calls(forms):
    """The lists that are evaluated, as far as that is plain to see: the statements and theirs."""
    work = [form for form in forms if form.span.text.startswith("(")]
    while work:
        form = work.pop()
        if form.span.text[:2] not in ("((", "()"):
            yield form
        if re.match(r"\((str|list|if|when|begin|print)\s", form.span.text):
            work += [item for item in form.items if item.span.text.startswith("(")]


def test_every_special_form_has_its_line():
    """What hovering a special form says is written for each."""
    assert {word for word in SHAPES if not LINES.get(word)} == set()


def test_the_forms_of_sound_text_are_the_readers():
    """Numbers aside, which nobody asks for."""
    for text in [*SAMPLES, *chapters()]:
        source = Source(NAME, text)
        try:
            expected = read(source)
        except Diagnostics:
            continue

        assert skeleton(expected) == skeleton(text_of(source).forms)


def skeleton(forms):
    out, work = [], list(forms)
    while work:
        form = work.pop()
        items = getattr(form, "items", None)
        if isinstance(form, Literal):
            value = form.value if isinstance(form.value, (str, bool)) else None
        else:
            value = getattr(form, "text", None)
        out.append((type(form).__name__, form.span.start, form.span.end, value))
        work.extend(items or ())
    return out


# -- any text

BITS = [*"()[]{}\"'`~@;#|\\:., \n\r", "#|", "|#", "#;", '"""', "é", "😀", "\ud800", "\u2028"]
WORDS = ["define", "let", "import", "handle", "match", "quote", "x", "f", "a.b", "x:", "1", "as:"]


@st.composite
def edits(draw):
    """A text and what becomes of it, edit by edit."""
    text = draw(st.sampled_from(SAMPLES))
    texts = []
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        new = "".join(draw(st.lists(st.sampled_from(BITS + WORDS), max_size=6)))
        text = text[:start] + new + text[end:]
        texts.append((text, draw(st.integers(0, len(text)))))
    return texts


def ask_all(text, offset):
    library = Library({NAME: text})
    found = library.outline(NAME)
    hover(found, offset, ())
    offers(library, found, offset)
    places = Places(text)
    for symbol in symbols(found, places):
        assert symbol.range.start <= symbol.selection_range.start
    place = places.position(offset)
    assert offset == places.offset(place) or text[offset - 1 : offset + 1] == "\r\n"


@given(edits())
@settings(max_examples=200)
@example([("(let (((((", 9)])
@example([("(define (f . ) 1) (f", 17)])
@example([("(handle x ((op p", 16), ("(match x ((? ", 13), ("(import", 7), ("(try (catch", 11)])
def test_no_text_is_too_broken_to_ask_about(texts):
    """Every question has an answer, whatever is missing."""
    for text, offset in texts:
        text = text.replace("\ud800", "\ufffd")
        ask_all(text, offset)


def test_deep_text_is_answered():
    """Ten thousand brackets are no more than one, neither closed nor open."""
    for opening, closing in (("(let ((x 1)) ", ")"), ("`(~", ")"), ("'", "")):
        text = opening * 10_000 + "x" + closing * 10_000
        ask_all(text, len(opening) * 10_000)
        ask_all(text[: len(text) // 2], len(text) // 2)


@pytest.mark.parametrize("unit", ["(", "[(", "() ", "(f ", "a "])
def test_of_a_huge_text_the_beginning_is_known(unit):
    """What an editor waits for is bounded, whatever the text; what comes first is answered."""
    text = "(define tea 1)\n" + unit * 200_000
    found = Library({NAME: text}).outline(NAME)

    assert len(found.text.tokens) == MOST
    assert [meaning.name for meaning in found.scopes.defined] == ["tea"]
    assert hover(found, 9, ()) is not None
    assert hover(found, len(text) - 1, ()) is None
    assert depth(found.text.forms) <= 10_000


def depth(forms):
    """How deep lists stand in one another."""
    levels = 0
    while forms:
        levels += 1
        inner = [item for form in forms for item in getattr(form, "items", ())]
        forms = [item for item in inner if hasattr(item, "items")]
    return levels


@pytest.fixture(scope="module")
def editor(tmp_path_factory):
    opened = Editor(tmp_path_factory.mktemp("fuzz"))
    yield opened

    assert [] == opened.shown
    assert 0 == opened.leave()


@given(texts=edits())
@settings(max_examples=40)
def test_every_request_is_answered_while_a_text_is_broken(editor, texts):
    """By the protocol: a session of edits, with every request after each of them."""
    editor.open("a.sexp", "")
    for text, offset in texts:
        editor.change("a.sexp", text)
        place = Places(text.replace("\ud800", "\ufffd")).position(offset)
        document = editor.document("a.sexp")
        client = editor.client
        asked = [
            client.text_document_hover_async(lsp.HoverParams(document, place)),
            client.text_document_definition_async(lsp.DefinitionParams(document, place)),
            client.text_document_completion_async(lsp.CompletionParams(document, place)),
            client.text_document_document_symbol_async(lsp.DocumentSymbolParams(document)),
            client.text_document_formatting_async(
                lsp.DocumentFormattingParams(document, lsp.FormattingOptions(2, True))
            ),
        ]

        assert len(asked) == len(editor.do(all_of(asked)))
    editor.close("a.sexp")


async def all_of(asked):
    return await asyncio.gather(*asked)


def test_diagnostics_come_after_any_session(editor):
    """The server that was asked all that still checks."""
    assert ["unbound-name"] == [code for code, _ in editor.messages("b.sexp", "(nobody)")]
