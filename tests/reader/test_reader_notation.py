"""What each notation reads to, and where its span lies."""

import pytest

from sexplang.reader import read
from sexplang.reader.writer import write
from sexplang.terms.form import Form, Label, ListForm, Literal, Name, TableForm, VectorForm
from sexplang.terms.source import Source, Span

NOWHERE = Span(Source("", ""), 0, 0)


def form(value) -> Form:
    """A form of Python data: names as str, lists as list, strings as Literal."""
    if isinstance(value, Form):
        return value
    if isinstance(value, str):
        return Name(value, span=NOWHERE)
    if isinstance(value, list):
        return ListForm(tuple(map(form, value)), span=NOWHERE)
    return literal(value)


def literal(value) -> Form:
    return Literal(value, span=NOWHERE)


def label(text: str) -> Form:
    return Label(text, span=NOWHERE)


def vector(*items) -> Form:
    return VectorForm(tuple(map(form, items)), span=NOWHERE)


def table(*items) -> Form:
    return TableForm(tuple(map(form, items)), span=NOWHERE)


def forms(text: str) -> tuple[Form, ...]:
    return read(Source("test.sexp", text))


def one(text: str) -> Form:
    (found,) = forms(text)
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", "x"),
        ("system:run_script", "system:run_script"),
        ("set-1!", "set-1!"),
        ("a->b", "a->b"),
        ("...", "..."),
        ("-", "-"),
        ("->", "->"),
        ("-x", "-x"),
        ("λ", "λ"),
        ("数える", "数える"),
        ("(f a b)", ["f", "a", "b"]),
        ("()", []),
        ("[a b]", vector("a", "b")),
        ("{}", table()),
        ('{a: 1 "b" : 2}', table(label("a"), 1, label("b"), 2)),
        ('{"a":1,"b":[2]}', table(label("a"), 1, label("b"), vector(2))),
        ("(f 1 style: 2)", ["f", 1, label("style"), 2]),
        ('(f "a style": 2)', ["f", label("a style"), 2]),
        ("(f x:1)", ["f", "x:1"]),
        ("'x", ["quote", "x"]),
        ("`x", ["quasiquote", "x"]),
        ("~x", ["unquote", "x"]),
        ("~@x", ["unquote-splicing", "x"]),
        ("''[a]", ["quote", ["quote", vector("a")]]),
        ("' x", ["quote", "x"]),
        ("`{a: ~x ~@y}", ["quasiquote", table(
            label("a"), ["unquote", "x"], ["unquote-splicing", "y"])]),
        ("(quasiquote {~@y})", ["quasiquote", table(["unquote-splicing", "y"])]),
        ("(a, b,c ,d)", ["a", "b", "c", "d"]),
        ("`(a, b)", ["quasiquote", ["a", "b"]]),
        ("`(a ~(f ,x))", ["quasiquote", ["a", ["unquote", ["f", "x"]]]]),
        ("(a ; b)\n c)", ["a", "c"]),
        ("(a ; b)\r c)", ["a", "c"]),
        ("(a #| b #| ) |# ( |# c)", ["a", "c"]),
        ("(a #;b c)", ["a", "c"]),
        ("(a #;#;b c d)", ["a", "d"]),
        ("(a '#;b c)", ["a", ["quote", "c"]]),
        ("(a #;(b #;c) d)", ["a", "d"]),
        ("(a #;b: 1 c)", ["a", "c"]),
        ("{#;a: 1 b: #;2 3}", table(label("b"), 3)),
        ("\ufeffx", "x"),
    ],
)  # fmt: skip
def test_a_text_reads_to_its_form(text, expected):
    """Each notation of the chapter gives the form it stands for."""
    assert form(expected) == one(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-2", -2),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("-0.0", -0.0),
        ("0", 0),
        ("1E-2", 0.01),
        ("9" * 4214, int("9" * 4214)),
        ("true", True),
        ("#t", True),
        ("false", False),
        ("#f", False),
        ("nil", None),
        ("null", None),
        ('""', ""),
        (r'"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"', '"\\/\b\f\n\r\té😀'),
        ('"a\nb"', "a\nb"),
        (r'"\u202e"', "\u202e"),
        ('"👨\u200d👩\u200d👧 ❤\ufe0f می\u200cخواهم"', "👨\u200d👩\u200d👧 ❤\ufe0f می\u200cخواهم"),
    ],
)
def test_a_literal_reads_to_its_value(text, value):
    """Numbers are JSON's, strings have JSON's escapes, and constants have two spellings."""
    assert literal(value) == one(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('""""""', ""),
        ('"""a"""', "a"),
        ('"""\n"""', ""),
        ('"""\n\n"""', ""),
        ('"""\na\n"""', "a"),
        ('"""\n  a\n    b\n  """', "a\n  b"),
        ('"""\n    a\n  """', "  a"),
        ('"""\n  a\n"""', "  a"),
        ('"""\n  a\n\n  b"""', "a\n\nb"),
        ('"""\n  a\n \n  b\n\n  """', "a\n\nb\n"),
        ('"""a\n  b"""', "a\n  b"),
        ('"""\n  say "hi" \\n {{x}}\n  """', 'say "hi" \\n {{x}}'),
        ('"""\r\n  a\r\n  b\r\n  """', "a\r\nb"),
        ('"""he said "no""""', 'he said "no"'),
        ('"""\n\ta\n\t\tb\n\t"""', "a\n\tb"),
    ],
)
def test_a_text_block_loses_its_margin(text, value):
    """The breaks at the quotes and the smallest indentation are dropped, nothing else."""
    assert literal(value) == one(text)


def test_every_form_knows_where_it_stands():
    """Spans are offsets into the text, brackets and marks included; line 1 is blank here."""
    source = Source("test.sexp", '\n(f \'[x] k: "v" {a: 1.5})')
    (call,) = read(source)
    work, found = [call], []
    while work:
        item = work.pop(0)
        found.append(item.span.text)
        work += getattr(item, "items", ())

    assert found == [
        '(f \'[x] k: "v" {a: 1.5})',
        *["f", "'[x]", "k:", '"v"', "{a: 1.5}"],
        *["'", "[x]", "a:", "1.5", "x"],
    ]
    assert (call.items[1].span.begin.line, call.items[1].span.begin.column) == (2, 4)


def test_a_table_keeps_equal_keys():
    """Which of them wins is for the compiler to say."""
    (found,) = forms("{a: 1 a: 2}")

    assert isinstance(found, TableForm)
    assert [(key.text, value.value) for key, value in found.entries()] == [("a", 1), ("a", 2)]


@pytest.mark.parametrize(
    "text",
    [
        "'x",
        "`(a ~b ~@c)",
        "~ @x",
        "(quote)",
        "(quote x y)",
        "(quote k: 1)",
        '{a: 1 "b c": 2 "": 3}',
        '(f "a\\nb" 1e+16 -0.0 nil true)',
        "`{~@x}",
        '"\\u007f\\u200b"',
    ],
)
def test_a_form_is_written_as_a_person_would(text):
    """The marks stand for their lists; labels are quoted only where they must be."""
    assert text == write(one(text))
