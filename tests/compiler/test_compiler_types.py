"""`define-type`: names, modules, what a type may refer to, and where types stand."""

from time import perf_counter

import pytest

import sexplang
from sexplang.pipeline.pipeline import build
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.program import Program
from sexplang.terms.source import Source
from sexplang.terms.template import Template
from sexplang.terms.values.value import Fault

FLIGHT = "(define-type Flight {from: string  price?: number})"


def program(text: str, **files: str) -> Program:
    def find(path, importer):
        if path not in files:
            raise Fault("import-not-found", f"there is no `{path}`")
        return (Source(path, files[path]),)

    return build(Source("main.sexp", text), find)


def task(text: str, **files: str) -> Template:
    return program(text, **files).tasks[-1].template


def value(text: str):
    return sexplang.run(text)


def refused(text: str, **files: str) -> list[tuple[str, str, str | None]]:
    try:
        program(text, **files)
    except Diagnostics as found:
        return [
            (
                each.code,
                " ".join([each.title, *[one.words for one in each.labels]]).strip(),
                each.hint,
            )
            for each in found.diagnostics
        ]
    return []


CLOSED = {
    "type": "object",
    "properties": {
        "from": {"type": "string"},
        "price": {"anyOf": [{"type": "number"}, {"type": "null"}]},
    },
    "required": ["from"],
    "additionalProperties": False,
}
OPEN = {word: each for word, each in CLOSED.items() if word != "additionalProperties"}


def test_a_name_stands_for_its_type_in_any_order():
    """Above its definition and in another type; a reply has no other fields, an argument may."""
    text = '(defatom f (params (x Flight) (y [Flight])) (instructions "{{x}}{{y}}") (returns Trip))'
    made = task(f"{text} (define-type Trip {{flights: [Flight]}}) {FLIGHT}")

    assert made.returns["properties"]["flights"] == {"type": "array", "items": CLOSED}
    assert [made.params[0].type, made.params[0].schema] == ["object", OPEN]
    assert [made.params[1].type, made.params[1].schema] == [
        "list",
        {"type": "array", "items": OPEN},
    ]


def test_words_and_files_stay_what_they_are():
    text = '(defatom f (params (a string) (b table) (c image) d) (instructions "{{a}}{{b}}{{d}}"))'

    assert [(each.type, each.schema) for each in task(text).params] == [
        ("string", None),
        ("object", None),
        ("image", None),
        ("any", None),
    ]


@pytest.mark.parametrize(
    ("written", "word"),
    [
        ("(one-of a b)", "string"),
        ("(one-of 1 2)", "any"),
        ('"string[]"', "list"),
        ("(or string nil)", "any"),
        ("nil", "any"),
        ('(schema {type: "integer" minimum: 1})', "integer"),
    ],
)
def test_a_parameter_of_a_type_has_the_word_for_its_kind(written, word):
    made = task(f'(defatom f (params (x {written})) (instructions "{{{{x}}}}"))')

    assert made.params[0].type == word
    assert made.params[0].schema is not None


def test_a_type_that_refers_to_itself_is_a_definition():
    text = '(define-type Tree {kids: [Tree]}) (defatom f (instructions "Go.") (returns [Tree]))'
    kids = {"type": "array", "items": {"$ref": "#/$defs/Tree"}}

    assert task(text).returns == {
        "type": "array",
        "items": {"$ref": "#/$defs/Tree"},
        "$defs": {
            "Tree": {
                "type": "object",
                "properties": {"kids": kids},
                "required": ["kids"],
                "additionalProperties": False,
            }
        },
    }


def test_types_may_refer_to_each_other():
    """Each circle has one definition at least, whichever type is asked for."""
    text = """
      (define-type A {b?: B  c?: C})
      (define-type B {a?: A  b?: B})
      (define-type C (or nil [A] {d: D}))
      (define-type D {c: C  tree: E})
      (define-type E ["E"])
      (map (lambda (x) x) [
        (as A {b: {a: {c: [{c: nil}]} b: {}}})
        (as D {c: {d: {c: nil tree: []}} tree: [[] [[]]]})])
    """

    assert value(text) == [
        {"b": {"a": {"c": [{"c": None}]}, "b": {}}},
        {"c": {"d": {"c": None, "tree": []}}, "tree": [[], [[]]]},
    ]
    for wrong, path in [
        ("(as A {b: {a: {c: [{c: 3}]}}})", "b.a.c[0].c"),
        ("(as D {c: {d: {c: nil tree: [3]}} tree: []})", "c.d.tree[0]"),
    ]:
        said = value(f"{text} (try {wrong} (catch (e type-misfit) e.message))")
        assert f": {path}: expected" in said


def test_a_module_exports_its_types():
    module = f"{FLIGHT} (define-type _Hidden string) (define-type Tree {{kids: [Tree]}})"
    files = {"m.sexp": module}
    body = '(instructions "Go.")'

    assert task(f'(import "m.sexp") (defatom f {body} (returns Flight))', **files).returns == CLOSED
    used = task(f'(import "m.sexp" as: u) (defatom f {body} (returns u.Flight))', **files)
    assert used.returns == CLOSED
    trees = task(
        f'(import "m.sexp" as: u) (define-type Wood [u.Tree]) (defatom f {body} (returns Wood))',
        **files,
    )
    assert trees.returns["items"] == {"$ref": "#/$defs/Tree"}
    found = refused(f'(import "m.sexp") (defatom f {body} (returns _Hidden))', **files)
    assert found[0][:2] == ("bad-schema", "`_Hidden` is not a type")
    found = refused(f'(import "m.sexp" as: u) (defatom f {body} (returns u.Fligt))', **files)
    assert found[0][2] == "did you mean `u.Flight`?"


def test_an_own_name_hides_an_imported_type():
    files = {"m.sexp": FLIGHT}
    for own in ("(define Flight 3)", "(define (Flight x) x)"):
        text = f'(import "m.sexp") {own} (defatom f (instructions "Go.") (returns Flight))'
        assert refused(text, **files)[0][:2] == ("bad-schema", "`Flight` is not a type")
    text = '(import "m.sexp") (define-type Flight string) (as Flight "a")'
    assert refused(text, **files) == []
    hidden = '(import "m.sexp") (define (f Flight) (as Flight 1))'
    assert refused(hidden, **files)[0][0] == "bad-schema"


def test_two_types_of_one_name_that_refer_to_themselves_do_not_meet():
    files = {"m.sexp": "(define-type Tree {kids: [Tree]})", "n.sexp": "(define-type Tree [Tree])"}
    text = '(import "m.sexp" as: m) (import "n.sexp" as: n) (define-type Both [(or m.Tree n.Tree)])'

    assert refused(text, **files)[0][:2] == (
        "bad-schema",
        "two types called `Tree` meet in this one",
    )


WRONG = [
    ("(define-type)", "malformed-form", "does not fit"),
    ("(define-type Flight)", "malformed-form", "does not fit"),
    ('(define-type Flight string "doc" 1)', "malformed-form", "does not fit"),
    ("(define-type Flight string 3)", "malformed-form", "a string"),
    ("(define-type 3 string)", "malformed-form", "name of the type"),
    ("(define-type if string)", "reserved-name", "if"),
    ("(define-type list string)", "reserved-name", "word for a type"),
    ("(define-type A B)", "bad-schema", "`B` is not a type"),
    ("(define-type A A)", "bad-schema", "circle"),
    ("(define-type A (or A nil))", "bad-schema", "circle"),
    ("(define-type A string) (define-type A string)", "defined-twice", "A"),
    ("(define-type A string) (define A 1)", "defined-twice", "A"),
    ('(define-type A string) (defatom A (instructions "Go."))', "defined-twice", "A"),
    ("(define (f) (define-type A string) 1)", "top-level-only", "define-type"),
    ("(define-type A (schema {type: nothing}))", "bad-schema", "nothing"),
    ('(define-type A (schema {"$ref": "#/$defs/b"}))', "bad-schema", "refers to nothing"),
    ('(as (schema {pattern: "("}) 1)', "bad-schema", ""),
    ('(define-type A (schema "a.txt"))', "bad-schema", "no .json file"),
    ('(define-type A (schema "a.json"))', "import-not-found", "a.json"),
    ("(define-input x type: B)", "bad-schema", "`B` is not a type"),
    ('(define-input x type: (one-of "a" "b") default: "c")', "input-mismatch", "one of"),
    (
        '(defatom f (params (x [integer] default: ["a"])) (instructions "{{x}}"))',
        "bad-default",
        "x[0]: expected integer",
    ),
    ("(define-type A string) (A 1)", "not-a-function", ""),
]


@pytest.mark.parametrize(("text", "code", "words"), WRONG)
def test_what_is_wrong_is_said_once(text, code, words):
    if code == "not-a-function":  # a run says it, and `check`
        with pytest.raises(Exception, match="is not a function"):
            value(text)
        return
    found = refused(text)

    assert [each[0] for each in found] == [code]
    assert words in " ".join(map(str, found[0]))


def test_types_that_are_too_large_are_refused_at_once():
    """Each doubles the one before."""
    text = "(define-type T0 {a: string b: string})" + "".join(
        f"(define-type T{at} {{a: T{at - 1}  b: T{at - 1}}})" for at in range(1, 60)
    )
    found = refused(text)

    assert {each[0] for each in found} == {"bad-schema"}
    assert "more than 10,000 parts" in found[0][1]


def test_many_types_that_refer_to_each_other_take_a_moment():
    """The file has a bound; beyond it one error is enough."""
    circles = "".join(
        f"(define-type T{at} {{a?: T{(at * 7 + 1) % 300} b?: [T{(at * 13 + 5) % 300}]}})"
        for at in range(300)
    )
    big = "(define-type T {" + " ".join(f"f{at}: string" for at in range(900)) + "})"
    uses = "".join(f"(as [T] {at})" for at in range(1_000))
    for text in (circles, big + uses):
        begin = perf_counter()
        found = refused(text)

        assert {each[0] for each in found} == {"bad-schema"}
        assert len(found) <= 12
        assert perf_counter() - begin < 10


def test_a_chain_of_types_may_be_long():
    """No stack grows with it; the depth of what they stand for is bounded."""
    text = "(define-type T0 string)" + "".join(
        f"(define-type T{at} T{at - 1})" for at in range(1, 2_000)
    )

    assert value(f'{text} (as T1999 "a")') == "a"


FILE = """
{"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://tea.org/day",
 "type": "object", "required": ["day"],
 "properties": {"day": {"$ref": "#/$defs/date"}, "next": {"$ref": "#"}},
 "$defs": {"date": {"type": "string", "format": "date"}}}
"""


def test_a_file_is_a_schema():
    """Alone it is as it is written; in another type it keeps its parts apart."""
    files = {"day.json": FILE}
    body = '(instructions "Go.")'
    alone = task(f'(define-type Day (schema "day.json")) (defatom f {body} (returns Day))', **files)
    inside = task(f'(defatom f {body} (returns [(schema "day.json")]))', **files)

    assert alone.returns["$id"] == "https://tea.org/day"
    assert inside.returns["items"] == {"$ref": "#/$defs/schema"}
    assert inside.returns["$defs"]["schema"]["properties"] == {
        "day": {"$ref": "#/$defs/schema/$defs/date"},
        "next": {"$ref": "#/$defs/schema"},
    }
    given = task(f'(defatom f {body} (output_format type: json schema: "day.json"))', **files)
    assert given.output_format.schema == FILE


@pytest.mark.parametrize(
    ("text", "words"),
    [("{", "is not JSON"), ("[1]", "holds no JSON Schema"), ('{"type": "tea"}', "tea")],
)
def test_a_file_that_is_no_schema_is_refused(text, words):
    found = refused('(define-type Day (schema "day.json"))', **{"day.json": text})

    assert found[0][0] == "bad-schema"
    assert words in found[0][1]


def test_a_schema_is_no_module():
    found = refused('(import "day.json")', **{"day.json": FILE})

    assert found[0][:2] == ("import-not-found", "a schema is no module")


def test_a_type_is_a_value_too():
    """Its JSON Schema, for functions that are given a type."""
    assert value(f'{FLIGHT} (get-in Flight ["properties" "from"])') == {"type": "string"}
    assert value(f'{FLIGHT} ((lambda (f) (f {{type: "integer"}} 3)) as)') == 3


def test_as_may_be_another_name():
    assert value("(define (as x) (* 2 x)) (as 3)") == 6
    assert value("((lambda (as) (as 1 2)) list)") == [1, 2]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("int", "integer"),
        ("Float", "number"),
        ("bool", "boolean"),
        ("dict", "table"),
        ("none", "nil"),
        ("strin", "string"),
        ("flight", "Flight"),
        ("date", '(schema {type: "string" format: "date"})'),
        ("(list int)", "[integer]"),
        ("(array-of Flight)", "[Flight]"),
        ("(optional str)", "(or string nil)"),
        ('(enum "int" "a")', '(one-of "int" "a")'),
        ("(union string int)", "(or string integer)"),
    ],
)
def test_a_type_of_another_language_is_corrected(written, meant):
    """The edit gives a program that checks."""
    text = f'{FLIGHT} (defatom f (instructions "Go.") (returns {{a: {written}}}))'
    with pytest.raises(Diagnostics) as caught:
        program(text)
    (found,) = caught.value.diagnostics
    (edit,) = found.edits
    corrected = text[: edit.span.start] + edit.text + text[edit.span.end :]

    assert meant == edit.text
    assert meant in found.hint
    program(corrected)


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("string?", "(or string nil)"),
        ('"x"', '(one-of "x")'),
        ("3", "(one-of 3)"),
        ("(dict string int)", "{name: T  note?: T}"),
        ("foo", "a type is one of"),
        ("(foo)", "a type is one of"),
        ("(3)", "a type is one of"),
        ("(list)", "a type is one of"),
    ],
)
def test_what_is_meant_by_no_type_is_said(written, hint):
    """Where there are several corrections, or none is known, there is no edit."""
    assert hint in refused(f"(as {written} 1)")[0][2]
