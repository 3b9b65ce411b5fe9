"""`sexplang doc`: the reference of names, the search by words, and what the command says."""

import json
import re

import pytest
from support.command import sexplang
from support.sources import no_files

from sexplang.compiler.forms.shapes import SHAPES
from sexplang.compiler.tasks.clauses import CLAUSES
from sexplang.hosts.language_server.library import Library
from sexplang.hosts.reference.examples import EXAMPLES
from sexplang.hosts.reference.habits import find_habit
from sexplang.hosts.reference.language_names import list_modules
from sexplang.hosts.reference.name_entries import describe, find_entry, list_entries, table
from sexplang.hosts.reference.search import MOST, search
from sexplang.hosts.reference.sentences import SENTENCES
from sexplang.hosts.reference.signatures import operands
from sexplang.hosts.reference.task_clauses import clauses
from sexplang.machine import Done, start
from sexplang.pipeline.pipeline import build
from sexplang.primitives import OPERATIONS
from sexplang.terms.source import Source

ENTRIES = list(list_entries())
RUN = [
    pytest.param(entry, example, id=f"{entry.name}-{at}")
    for entry in ENTRIES
    for at, example in enumerate(entry.examples)
]


def value_of(text):
    done = start(build(Source("example", text), no_files))
    assert isinstance(done, Done), done
    return done.value


@pytest.mark.parametrize(("entry", "example"), RUN)
def test_an_example_gives_its_value(entry, example):
    """Behind the import that the name needs; it mentions the name."""
    assert example.value is not None or entry.name in example.text or entry.name == "quote"
    if example.value is not None:
        given = value_of(f"{entry.statement or ''} {example.text}")
        assert (example.text, value_of(example.value)) == (example.text, given)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda each: each.name)
def test_a_name_is_described(entry):
    """How it is called, what it does, where it is; with an example where it can be called."""
    assert entry.doc
    assert entry.home in ("language", "prelude", *[f"std/{each}" for each in list_modules()])
    assert entry.signature.startswith(f"({entry.name}") or entry.kind == "word"
    if entry.home in ("language", "prelude") and entry.kind != "word" and entry.name != "compact":
        assert entry.examples
    assert describe(entry).splitlines()[-1]


def test_the_tables_have_no_other_names():
    """What has gone is not described."""
    assert [] == sorted(set(EXAMPLES) - set(table()))
    assert [] == sorted(set(SENTENCES) - set(table()))


def test_what_is_not_for_programs_is_not_listed():
    """Names that only the library calls, and old names; they are found by name."""
    listed = {each.name for each in ENTRIES}

    assert listed.isdisjoint(["fork-map", "in-place"])
    assert {"fork-map", "in-place"} <= set(table())


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("split text", "string-split"),
        ("read a file", "read-file"),
        ("average", "mean"),
        ("unique items", "distinct"),
        ("parse JSON", "json-parse"),
        ("days between dates", "date-diff"),
        ("regex replace", "re-replace"),
        ("uppercase", "string-upcase"),
        ("catch an error", "try"),
        ("parallel map", "par-map"),
        ("keys of a dictionary", "keys"),
        ("join strings", "string-join"),
        ("group items", "group-by"),
        ("round decimals", "round"),
        ("retrying", "retry"),
    ],
)
def test_words_find_a_name(query, first):
    """Also words of other languages, in other forms."""
    found = [each.name for each in search(query, ENTRIES)]

    assert first in found[:2]
    assert len(found) <= MOST


def test_words_that_fit_nothing_find_nothing():
    assert [] == search("xyzzy", ENTRIES) == search("", ENTRIES)


@pytest.mark.parametrize(
    ("signature", "names"),
    [
        ("(f)", []),
        ("f", []),
        ("(f a [b] x …)", ["a", "b", "x"]),
        ('(f a (b "UTC") (by …) . c)', ["a", "b", "by", "c"]),
        ("(f name type: t (g (h i)))", ["name", "type", "g"]),
        ('(error "text" x …)', ['"text"', "x"]),
    ],
)
def test_a_signature_is_divided_into_operands(signature, names):
    assert names == [each.name for each in operands(signature)]


def test_types_are_those_that_check_knows():
    """By position, by name, and none for what is not called as the name's own."""
    types = {
        name: [each.get("type") for each in table()[name].parameters]
        for name in ("nth", "par-map", "put", "print")
    }

    assert types == {
        "nth": ["list", "number"],
        "par-map": ["function", "list", None],
        "put": ["table", "string or symbol as key", "any"],
        "print": [None],
    }
    assert [None] == [each.get("type") for each in table()["with-permit"].parameters]


def test_every_clause_of_a_task_is_described():
    assert {"params", "context_relevance", *CLAUSES} == clauses().keys()


@pytest.mark.parametrize("entry", clauses().values(), ids=lambda each: each.name)
def test_the_example_of_a_clause_makes_a_task(entry):
    """With the other clauses that it needs."""
    written = {each.name: each.examples[0].text for each in clauses().values()}
    needed = {entry.name, "params", "instructions"}
    needed |= {"provider": {"model"}, "subtasks": {"allowed_tools"}}.get(entry.name, set())
    text = "\n".join(written[each] for each in sorted(needed))
    text = text.replace("read_file look-up (in-order note)", "spawn_subtask read_file")
    about = """(define (flaw answer) nil)
(defatom summarize (params (text string)) (instructions "Summarize: {{text}}"))
"""

    assert build(Source("example", f"{about}(defatom example {text})"), no_files).warnings == ()


# -- the command


def said(*words):
    done = sexplang("doc", *words)
    return done.stdout, done.stderr, done.returncode


def test_a_name_is_told():
    shown = """a function of the prelude
(string-split s [separator])
Splits a text into a list of texts at a separator, else at white space.
  (string-split "a,b" ",")  ;=> ["a" "b"]
"""
    assert (shown, "", 0) == said("string-split")


def test_words_list_names():
    """The best first, a line for each; one that needs an import says so."""
    out, err, status = said("split", "text")

    assert ("", 0) == (err, status)
    assert out.startswith("(string-split s [separator])  Splits a text into a list of texts at")
    assert 2 <= len(out.splitlines()) <= MOST
    assert "  (import std/state)\n" in said("put state")[0]


def test_a_clause_is_told():
    """Beside the function of its name; words find it."""
    out, err, status = said("model")

    assert ("", 0) == (err, status)
    assert out.startswith("an operation of the prelude\n(model payload)\n")
    assert "\n\na clause of `defatom`\n(model name)\n" in out
    assert said("validate")[0].startswith("a clause of `defatom`\n(validate f)\n")
    assert said("temperature")[0].startswith("(options ")
    assert "sexplang doc options" in said("optons")[1]


def test_a_habit_tells_what_to_write():
    """With the names that it mentions."""
    out, err, status = said("setq")

    assert ("", 0) == (err, status)
    assert out.startswith(f"there is no `setq` here: {find_habit('setq').hint}\n")
    assert "(bind name e)  Binds a name" in out


def test_a_module_lists_its_names():
    out, _, status = said("std/state")

    assert out.startswith("(import std/state)\n(get-cell name)  The value of a cell.\n")
    assert 0 == status


def test_an_error_code_is_left_to_explain():
    words = "`unbound-name` is an error code; type: sexplang explain unbound-name\n"
    assert (words, "", 0) == said("unbound-name")


def test_an_unknown_name_says_what_to_type():
    """Status 1; a misspelled name is corrected."""
    assert ("sexplang: nothing is called `strng-split`; type: sexplang doc string-split\n", 1) == (
        said("strng-split")[1:]
    )
    out, err, status = said("xyzzy")
    assert ("", 1) == (out, status)
    assert "type: sexplang doc split text" in err


def test_nothing_and_help_are_misuse_and_examples():
    assert 2 == said()[2]
    assert "sexplang doc split text" in said("--help")[0]


def test_the_document():
    """Its keys are there for each kind of answer."""
    one = json.loads(said("get-cell", "--json")[0])
    many = json.loads(said("split text", "--json")[0])
    habit = json.loads(said("setq", "--json")[0])
    none = sexplang("doc", "--json", "xyzzy")

    assert one == {
        "query": "get-cell",
        "found": "name",
        "entries": [
            {
                "name": "get-cell",
                "kind": "operation",
                "home": "std/state",
                "import": "(import std/state)",
                "signature": "(get-cell name)",
                "parameters": [{"name": "name"}],
                "doc": "The value of a cell.",
                "examples": [
                    {
                        "text": "(with-cells {n: 1} (lambda () (put-cell 'n 5) (get-cell 'n)))",
                        "value": "5",
                    }
                ],
            }
        ],
    }
    assert ("words", "string-split") == (many["found"], many["entries"][0]["name"])
    assert "habit" == habit["found"]
    assert "setq" in habit["habit"]["names"]
    assert ("nothing", [], 1) == (
        json.loads(none.stdout)["found"],
        json.loads(none.stdout)["entries"],
        none.returncode,
    )
    assert "type: sexplang doc" in json.loads(none.stdout)["message"]


# -- the guide as data


def test_the_guide_as_data_has_every_name():
    """As `doc --json` has each; the version, and the habits."""
    document = json.loads(sexplang("guide", "--json").stdout)
    names = {each["name"]: each for each in document["names"]}

    assert {"version", "names", "habits"} == document.keys()
    assert {*SHAPES, *OPERATIONS, "map", "with-state"} <= names.keys()
    assert names["nth"] == table()["nth"].to_json()
    assert all({"names", "hint"} <= each.keys() for each in document["habits"])


# -- the REPL


def test_the_repl_reads_the_same_reference():
    """Names of std/ say their import; words find names of the session too."""
    text = """:doc with-state
(define (shout x) "Louder than before." x)
:apropos louder
:apropos split text
:apropos xyzzy
:apropos
"""
    done = sexplang("repl", text=text)
    lines = done.stdout.splitlines()

    assert lines[:1] == ["a function of std/state: (import std/state)"]
    assert lines[:4] == describe(table()["with-state"]).splitlines()
    assert lines[4] == "(shout x)  Louder than before."
    assert lines[5].startswith("(string-split s [separator])")
    assert re.search("no name fits `xyzzy`\n.*:apropos split text", done.stderr)


def test_a_name_of_the_program_is_not_the_one_of_the_language():
    """It gets no examples of the other."""
    text = "(define (map f) f)\n(map 1)"
    found = Library({"a.sexp": text}).outline("a.sexp")
    mention = found.scopes.mention_at(text.rindex("map"))

    assert ("map", "program", ()) == (
        mention.meaning.name,
        find_entry(mention.meaning).home,
        find_entry(mention.meaning).examples,
    )
