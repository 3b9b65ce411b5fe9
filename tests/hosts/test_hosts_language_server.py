"""The language server, asked by a real client over its protocol."""

import re
import tomllib

import pytest
from lsprotocol import types as lsp
from support.command import SEXPLANG, sexplang
from support.editor import Editor
from support.markdown import ROOT, fences

from sexplang.compiler.forms.shapes import SHAPES

SUMMARIZE = """<task name="summarize" type="atomic">
  <description>Say in one sentence what a text says.</description>
  <params>
    <param name="text" type="string">The text.</param>
    <param name="style" required="false" default="plain">How it sounds.</param>
  </params>
  <instructions>Summarize: {{text}} {{style}}</instructions>
  <options temperature="0" effort="low"/>
</task>
"""

TOOLS = """; Twice as much.
(define (double n) (* 2 n))
(define _hidden 1)
(define-effect (notify words) "Tells somebody.")
"""


@pytest.fixture(scope="module")
def editor(tmp_path_factory):
    folder = tmp_path_factory.mktemp("editor")
    (folder / "summarize.xml").write_text(SUMMARIZE)
    (folder / "tools.sexp").write_text(TOOLS)
    (folder / "wrong.sexp").write_text("(define (f) (g))\n")
    (folder / "far.sexp").write_text('(import "wrong.sexp")\n')
    (folder / "parts").mkdir()
    (folder / "parts" / "one.sexp").write_text("(define one 1)\n")
    opened = Editor(folder)
    yield opened

    assert [] == opened.shown
    assert 0 == opened.leave()


# -- diagnostics


def test_what_is_wrong_is_shown_with_its_code_and_its_hint(editor):
    """The message says what is wrong and what to type; severity, code and place are the check's."""
    editor.open("a.sexp", "(print 1)\n  (prnt 2)\n")
    (found,) = editor.findings("a.sexp")

    assert "unbound-name" == found.code
    assert None is found.code_description
    assert lsp.DiagnosticSeverity.Error == found.severity
    assert "sexplang" == found.source
    assert found.message.startswith("nothing here is called `prnt`\n")
    assert found.message.endswith("\nhint: did you mean `print`?")
    assert lsp.Range(lsp.Position(1, 3), lsp.Position(1, 7)) == found.range


def test_what_a_hint_says_for_certain_is_a_quick_fix(editor):
    """At the place of the diagnostic alone; the edit is that of `check --json`."""
    editor.open("a.sexp", '(print 1)\n(toUpperCase "tea")\n(f (let [x 1] x))\n')
    editor.findings("a.sexp")
    where = lsp.Range(lsp.Position(1, 1), lsp.Position(1, 12))

    assert [("write `(string-upcase s)`", (lsp.TextEdit(where, "string-upcase"),))] == (
        editor.quick_fixes("a.sexp", lsp.Range(lsp.Position(1, 3), lsp.Position(1, 3)))
    )
    start = lsp.Position(0, 0)
    assert [] == editor.quick_fixes("a.sexp", lsp.Range(start, start))
    everywhere = editor.quick_fixes("a.sexp", lsp.Range(start, lsp.Position(3, 0)))
    assert ["string-upcase", "((x 1))"] == [edit.new_text for _, (edit,) in everywhere]


def test_other_places_are_related_information(editor):
    """The labels after the first one point there, with their words."""
    editor.open("a.sexp", "(define x 1)\n(define x 2)\n")
    (found,) = editor.findings("a.sexp")
    (related,) = found.related_information

    assert "defined-twice" == found.code
    assert "first defined here" == related.message
    assert (editor.address("a.sexp"), 0) == (
        related.location.uri,
        related.location.range.start.line,
    )


def test_a_warning_is_a_warning(editor):
    """Of equal keys the last wins, with a warning."""
    editor.open("a.sexp", "{a: 1 a: 2}")

    assert [("duplicate-key", lsp.DiagnosticSeverity.Warning)] == [
        (each.code, each.severity) for each in editor.findings("a.sexp")
    ]


def test_what_check_alone_finds_is_shown_too(editor):
    """A name that nobody reads, as something that may be greyed out."""
    editor.open("a.sexp", "(define (f a) (bind b 1) a)\n(f 1)")
    (found,) = editor.findings("a.sexp")

    assert "unused-binding" == found.code
    assert [lsp.DiagnosticTag.Unnecessary] == list(found.tags)


def test_diagnostics_follow_the_text(editor):
    """A change is checked a moment later; a sound text has none."""
    editor.open("a.sexp", "(")
    assert ["unclosed-bracket"] == [each.code for each in editor.findings("a.sexp")]

    for text in ("(p", "(pr", "(print 1)"):
        editor.change("a.sexp", text)
    assert [] == editor.findings("a.sexp")


def test_an_open_document_wins_over_its_file(editor):
    """A module that is changed and not saved is what its importers see, at once."""
    editor.open("tools.sexp", TOOLS)
    assert [] == editor.messages("a.sexp", '(import "tools.sexp")\n(double 2)')

    editor.change("tools.sexp", "(define (twice n) (* 2 n))")
    found = editor.until("a.sexp", lambda found: found)
    assert ["unbound-name"] == [each.code for each in found]

    editor.close("tools.sexp")
    assert [] == editor.until("a.sexp", lambda found: not found)


def test_a_file_that_changes_on_disk_is_read_again(editor):
    """The server asks to be told of files that may be imported."""
    (editor.folder / "disk.sexp").write_text("(define before 1)")
    assert [] == editor.messages("a.sexp", '(import "disk.sexp")\nbefore')
    assert ["**/*.{sexp,xml}"] == [
        watcher["globPattern"]
        for each in editor.registered
        for watcher in each.register_options["watchers"]
    ]

    (editor.folder / "disk.sexp").write_text("(define after 1)")
    editor.file_changed("disk.sexp")
    assert editor.until("a.sexp", lambda found: found)


def test_a_document_that_was_never_saved_can_be_imported(editor):
    """It counts as the file that it will be."""
    editor.open("new.sexp", "(define fresh 1)")

    assert [] == editor.messages("a.sexp", '(import "new.sexp")\nfresh')
    editor.close("new.sexp")


def test_imports_are_refused_as_the_command_refuses_them(editor):
    """What lies outside of the program's folder is not read, open or not."""
    (editor.folder.parent / "outside.sexp").write_text("(define x 1)")
    editor.open((editor.folder.parent / "outside.sexp").as_uri(), "(define x 1)")

    assert ["import-denied"] == [
        code for code, _ in editor.messages("a.sexp", '(import "../outside.sexp")')
    ]
    assert ["import-denied"] == [
        code for code, _ in editor.messages("untitled:Untitled-1", '(import "tools.sexp")')
    ]


def test_a_fault_in_an_imported_file_shows_at_the_import(editor):
    """Near or far: at the import that brings it, and it tells where the fault is."""
    for name in ("wrong.sexp", "far.sexp"):
        editor.open("a.sexp", f'(import std/tasks)\n(import "{name}")\n')
        (found,) = editor.findings("a.sexp")

        assert "unbound-name" == found.code
        assert 1 == found.range.start.line
        assert "wrong.sexp, line 1" in found.message
        assert editor.address("wrong.sexp") == found.related_information[0].location.uri


def test_templates_are_checked_as_well(editor):
    """An XML document is held to what a template must be."""
    assert ["undeclared-placeholder"] == [
        code for code, _ in editor.messages("t.xml", SUMMARIZE.replace("{{text}}", "{{txt}}"))
    ]
    assert [] == editor.messages("t.xml", SUMMARIZE)
    assert None is editor.hover("t.xml", "<ta|sk/>")


def test_a_task_is_shown_with_its_settings(editor):
    """Those that its requests have."""
    shown, _ = editor.hover("a.sexp", '(import "summarize.xml")\n(summarize| "tea")')

    assert 'options temperature: 0 effort: "low"' in shown


def test_closing_takes_the_diagnostics_away(editor):
    """Nothing is shown for a document that nobody looks at."""
    assert editor.messages("gone.sexp", "(nobody)")
    editor.close("gone.sexp")

    assert [] == editor.until("gone.sexp", lambda found: not found)


def test_columns_are_counted_in_utf_16(editor):
    """An emoji is two columns wide, here as in the editor."""
    editor.open("a.sexp", '(list "😀😀" nobody)')
    (found,) = editor.findings("a.sexp")

    assert (13, 19) == (found.range.start.character, found.range.end.character)
    assert "*A value" in editor.hover("a.sexp", '(define x 1) (list "😀😀" x|)')[0]
    assert "x" == editor.hover("a.sexp", '(define x 1) (list "😀😀" x|)')[1]


def test_an_editor_may_prefer_other_columns(editor, tmp_path):
    """The first of its encodings that is known is used."""
    other = Editor(tmp_path, encodings=["utf-8", "utf-16"])
    other.open("a.sexp", '(list "😀" nobody)')
    (found,) = other.findings("a.sexp")

    assert "utf-8" == other.server.capabilities.position_encoding
    assert 13 == found.range.start.character
    assert 0 == other.leave()


# -- hover

HOVERS = [
    ("(le|t ((x 1)) x)", "let", "(let ((name e) …) body…)", "Names for values"),
    ("(string-jo|in [] 1)", "string-join", "(string-join xs [separator])", "A function of the"),
    ("(map| f [])", "map", "(map f xs …)", "A function of the language"),
    ("(ask-|user 1)", "ask-user", "(ask-user prompt [choices])", "calling it performs it"),
    ('(import "tools.sexp") (noti|fy 1)', "notify", "(notify words)", "Tells somebody."),
    ('(import "tools.sexp") (doub|le 1)', "double", "(double n)", "Twice as much."),
    ('(import "tools.sexp" as: u) (u.doub|le 1)', "u.double", "(double n)", "tools.sexp:2"),
    ('(import "tools.sexp" as: u|)', "u", "u", "`double`, `notify`"),
    ('(import "summarize.xml") (summar|ize 1)', "summarize", "(summarize text (style plain))", ""),
    ('(import "summarize.xml") (summar|ize 1)', "summarize", "- `text` (string) The text.", ""),
    ('(import "summarize.xml") (summarize te|xt: 1)', "text:", "text", "string · The text."),
    ('(define (f a (b 2) . c) "Adds." a)\n(f| 1)', "f", "(f a (b 2) . c)", "Adds."),
    ("(define (f a (b 2)) a)\n(f 1 b|: 1)", "b:", "b", "of `(f a (b 2))`"),
    ('(call-atomic-task 1 mo|del: "m")', "model:", "model", "of `(call-atomic-task task "),
    ("(define (f a) a|)", "a", "a", "A parameter"),
    ("(define x [1 2])\nx|", "x", "(define x [1 2])", "A value, a.sexp:1"),
    ("(define plan {a: 1})\n(list plan.a|.b)", "plan.a.b", "(define plan {a: 1})", "A value"),
    ('(define-input n doc: "how many")\nn|', "n", "(define-input n", "how many"),
    ("(let next| ((i 0)) (next i))", "next", "(next i)", "A function"),
    ("(define map 1)\n(list map|)", "map", "(define map 1)", "A value"),
    (
        '(defatom t (params a (b number doc: "B.")) (description "Says."))\n(t| 1)',
        "t",
        "(t a b)",
        "Says.",
    ),
    (
        '(defatom t (params (b number default: 1 doc: "B.")))\n(t| 1)',
        "t",
        "(t (b 1))",
        "- `b` (number) B.",
    ),
    (
        '(define-type Trip {a: string} "Goes.")\n(define-type Two [Trip|])',
        "Trip",
        '(define-type Trip {a: string} "Goes.")',
        "Goes.\n\n*A type, a.sexp:1",
    ),
    (
        '(define-type Trip [string])\n(defatom t (instructions "Go.") (returns {x: [Trip|]}))',
        "Trip",
        "(define-type Trip [string])",
        "A type",
    ),
    ("(define-type Trip any)\n(define-input x type: Trip|)", "Trip", "(define-type Trip", "A type"),
    ("(define-type Trip any)\n(as Trip| 1)", "Trip", "(define-type Trip", "A type"),
    ("(define-type T any)\n(defatom t (params (x [T|])))", "T", "(define-type T", "A type"),
    ('(defatom t (params (x [string] doc: "X.")))\n(t| [])', "t", "(t x)", "- `x` ([string]) X."),
    ("`(a ~(str|))", "str", "(str x …)", "A function of the language"),
]


@pytest.mark.parametrize(("text", "word", "head", "words"), HOVERS, ids=lambda each: each[:30])
def test_hovering_tells_what_a_name_is(editor, text, word, head, words):
    """How it is written, what it does, where it comes from."""
    said, explained = editor.hover("a.sexp", text)

    assert word == explained
    assert head in said
    assert words in said


def effects_in_chapter():
    """What the chapter says that hovering the functions of its program shows."""
    text = (ROOT / "spec/09c-editors.md").read_text(encoding="utf-8")
    (program,) = [each.text for each in fences(text) if "effects.sexp" in each.info]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if "`Performs " in line]
    return program, [(name.strip("`"), said.strip("`")) for name, said in rows if "|" not in said]


def test_hovering_a_function_tells_what_it_may_do(editor):
    """What it performs and its most model calls, as the chapter's table has it."""
    program, rows = effects_in_chapter()
    editor.open("effects.sexp", program)
    assert [] == editor.findings("effects.sexp")

    assert 4 == len(rows)
    for name, said in rows:
        at = program.index(f"({name} ") + 1
        assert said in editor.hover("effects.sexp", f"{program[:at]}|{program[at:]}")[0]


def test_what_an_imported_function_may_do_is_told_as_well(editor):
    """By its own file, where it was followed."""
    (editor.folder / "asking.sexp").write_text("(define (ask) (model {messages: []}))\n")
    text = '(import "asking.sexp")\n(as|k)'
    editor.open("a.sexp", text.replace("|", ""))
    editor.findings("a.sexp")

    assert "Performs model. At most 1 model call." in editor.hover("a.sexp", text)[0]


def test_nothing_is_told_of_another_text_than_the_one_that_was_checked(editor):
    """A function that has changed may do something else; of a wrong text nothing is known."""
    editor.open("a.sexp", '(define (f) (print "a"))\n(f)')
    assert [] == editor.findings("a.sexp")
    assert "Performs print." in editor.hover("a.sexp", '(define (f) (print "a"))\n(f|)')[0]

    changed = editor.hover("a.sexp", '(define (f) (log "a" "b"))\n(f|)')[0]
    assert "Performs print." not in changed
    editor.change("a.sexp", "(define (f) (print nobody))\n(f)")
    assert editor.findings("a.sexp")
    assert "Performs" not in editor.hover("a.sexp", "(define (f) (print nobody))\n(f|)")[0]


@pytest.mark.parametrize("text", ["'(le|t x)", "(f 1|)", '"le|t"', "; le|t", "|", "(nob|ody)"])
def test_there_is_nothing_to_say_of_data_and_unknown_names(editor, text):
    """No answer is better than a wrong one."""
    assert None is editor.hover("a.sexp", text)


# -- signatures

SUMMARY = "(summarize text (style plain))"
SIGNATURES = [
    ("(string-split |)", [("(string-split s [separator])", "s")]),
    ('(string-split "a" |', [("(string-split s [separator])", "[separator]")]),
    ('(string-split "a" "b" |)', [("(string-split s [separator])", None)]),
    ("(map f [1] [2] |)", [("(map f xs …)", "xs …")]),
    ("(sort [|3 1] <)", [("(sort xs less?)", "xs")]),
    ("(loop 3 |)", [("(loop count body…)", "body…"), ("(loop ((name e) …) body…)", "body…")]),
    ('(ask-user "Go on?" |)', [("(ask-user prompt [choices])", "[choices]")]),
    ("(import std/state)\n(with-state |)", [("(with-state initial f)", "initial")]),
    ('(import "tools.sexp" as: u)\n(u.double |)', [("(double n)", "n")]),
    (
        '(import "summarize.xml")\n(summarize "é😀" |)',
        [("(summarize text (style plain))", "(style plain)")],
    ),
    ("(define (f é (b 1) . c) c)\n(f 1 2 3 |)", [("(f é (b 1) . c)", ". c")]),
    ("(define (f a (b 1)) a)\n(f b: |)", [("(f a (b 1))", "(b 1)")]),
    ("(define (f a (b 1)) a)\n(f b: 2 |)", [("(f a (b 1))", "a")]),
    ("(define (f a (b\n  1)) a)\n(f |)", [("(f a (b 1))", "a")]),
    (f"(define (f (a '({'x ' * 30})) b) a)\n(f b: |)", [("(f (a …) b)", "b")]),
    ("(define-input n choices: |)", [(SHAPES["define-input"].syntax, "choices: […]")]),
    ("(let ((x |", [(SHAPES["let"].syntax, "((name e) …)")]),
    ("'(map |)", []),
    ("(nothing |)", []),
    ("(|map f [])", []),
    ("map |", []),
]


@pytest.mark.parametrize(("text", "shown"), SIGNATURES, ids=lambda each: str(each)[:30])
def test_the_signature_of_the_call_is_shown_with_the_operand(editor, text, shown):
    """By position or label; nothing in data and where no function is known."""
    assert shown == editor.signatures("a.sexp", text)


# -- definition

DEFINITIONS = [
    ("(define (f) 1)\n(f|)", "a.sexp", (0, 9, 10)),
    ("(let ((x 1))\n  (let ((x 2)) x|))", "a.sexp", (1, 9, 10)),
    ("(lambda (a (b a|)) b)", "a.sexp", (0, 9, 10)),
    ("(lambda xs (list xs|))", "a.sexp", (0, 8, 10)),
    ("(handle 1 ((op p) k (k| p)))", "a.sexp", (0, 18, 19)),
    ("(try 1 (catch (err) err|.message))", "a.sexp", (0, 15, 18)),
    ("(match 1 ([p . q] when p q|))", "a.sexp", (0, 15, 16)),
    ("(bind x 1)\n(bind x (+ x| 1))\nx", "a.sexp", (0, 6, 7)),
    ("(bind x 1)\n(bind x (+ x 1))\nx|", "a.sexp", (1, 6, 7)),
    ("(define-effect (op a))\n(perform op| 1)", "a.sexp", (0, 16, 18)),
    ("(defatom t (params a))\n(t a|: 1)", "a.sexp", (0, 19, 20)),
    ('(import "tools.sexp")\n(double| 1)', "tools.sexp", (1, 9, 15)),
    ('(import "tools.sexp" as: u)\n(u.double| 1)', "tools.sexp", (1, 9, 15)),
    ('(import "summarize.xml")\n(summarize| 1)', "summarize.xml", (0, 0, 37)),
    ('(import "tools|.sexp")', "tools.sexp", (0, 0, 0)),
]


@pytest.mark.parametrize(("text", "file", "place"), DEFINITIONS, ids=lambda each: str(each)[:30])
def test_a_name_leads_to_its_definition(editor, text, file, place):
    """In the text, in another file, in a template."""
    (found,) = editor.definition("a.sexp", text)
    start, end = found.range.start, found.range.end

    assert (editor.address(file), place) == (
        found.uri,
        (start.line, start.character, end.character),
    )


def test_what_comes_with_the_language_is_found_where_it_is_written(editor):
    """The standard library is text; a primitive has no definition."""
    (found,) = editor.definition("a.sexp", "(call-atomic-|task 'x)")

    assert found.uri.endswith("stdlib/tasks.sexp")
    assert [] == list(editor.definition("a.sexp", "(str|)") or [])


# -- completion


def test_names_in_scope_are_offered_and_no_others(editor):
    """Locals, definitions of the whole body, imports, the prelude; special forms at a head."""
    text = '(import "tools.sexp")\n(define (f abc) (g |))\n(define (g xyz) xyz)'
    found = editor.offers("a.sexp", text)

    assert {"abc", "f", "g", "double", "notify", "map", "ask-user"} <= set(found)
    assert {"xyz", "_hidden", "let"} & set(found) == set()
    assert {"let", "handle", "f"} <= set(editor.offers("a.sexp", "(define (f) 1)\n(|"))


def test_an_old_name_is_not_offered(editor):
    """Only the new one; the old one is still explained, and a program's own name is offered."""
    offered = editor.offers("a.sexp", "(list |)")

    assert {"in-place", "with-permit"} & set(offered) == {"with-permit"}
    assert "old name of with-permit" in editor.hover("a.sexp", "(in-pl|ace f)")[0]
    assert "in-place" in editor.offers("a.sexp", "(define (in-place f) (f))\n(list |)")


def test_labels_of_what_is_called_are_offered_first(editor):
    """Those that are not given yet; also where the bracket is still open."""
    text = "(define (f a (style 1) (size 2)) a)\n(f 1 style: 2 |"
    items = editor.completion("a.sexp", text)
    first = sorted(items, key=lambda item: item.sort_text)[:2]

    assert {"a:", "size:"} == {item.label for item in first}
    assert "style:" in editor.offers("a.sexp", '(import "summarize.xml")\n(summarize |)')
    assert "style:" not in editor.offers("a.sexp", "(define (f style) 1)\n(f style: |)")


def test_names_in_patterns_are_offered_and_patterns_are_no_labels(editor):
    """Where a `let`, a parameter or a definition binds them."""
    text = (
        "(define [one {k: two}] [1 {k: 2}])\n(define (f [abc _] style) (let (([x . y] abc)) (f |)))"
    )
    found = set(editor.offers("a.sexp", text))

    assert {"one", "two", "abc", "style", "x", "y", "style:"} <= found
    assert not [offer for offer in found if offer.startswith("[")]
    assert "(f [abc _] style)" in editor.hover("a.sexp", text.replace("(f |)", "(f| abc 1)"))[0]
    assert ["one", "two", "f"] == [each.name for each in editor.symbols("a.sexp")]


def test_paths_are_offered_in_an_import(editor):
    """Files and folders below the program's own; modules of the standard library as names."""
    assert {"summarize.xml", "tools.sexp", "parts/"} <= set(editor.offers("a.sexp", '(import "|"'))
    assert ["one.sexp"] == editor.offers("a.sexp", '(import "parts/|')
    assert [] == editor.offers("a.sexp", '(import "../|")')
    assert {"std/tasks", "as:"} <= set(editor.offers("a.sexp", "(import |)"))


def test_an_offer_takes_the_place_of_the_word_before_it(editor):
    """Words hold `-`, `.` and `!`, which editors do not know; the edit says what it replaces."""
    for text, label, start in (
        ("(string-jo|)", "string-join", 1),
        ('(import "tools.sexp" as: u) (u.do|)', "u.double", 29),
        ('(list "😀" ma|', "map", 11),
    ):
        (item,) = [each for each in editor.completion("a.sexp", text) if each.label == label]

        assert (start, label) == (item.text_edit.range.start.character, item.text_edit.new_text)


@pytest.mark.parametrize("text", ["'(|)", '"a|b"', "; a|", "#| a @ |#", "`(a |)"])
def test_nothing_is_offered_in_data_text_and_comments(editor, text):
    """They hold no names."""
    place = lsp.Position(0, text.index("@")) if "@" in text else None

    assert [] == [item.label for item in editor.completion("a.sexp", text, place)]


# -- the rest


def test_symbols_are_the_definitions(editor):
    """With those inside them."""
    editor.open("a.sexp", "(define-input n)\n(define (f a)\n  (define y 1)\n  y)\n(bind x (f 1))")
    shown = [
        (each.name, each.kind, [child.name for child in each.children])
        for each in editor.symbols("a.sexp")
    ]

    assert shown == [
        ("n", lsp.SymbolKind.Property, []),
        ("f", lsp.SymbolKind.Function, ["y"]),
        ("x", lsp.SymbolKind.Variable, []),
    ]


def test_formatting_is_what_the_reader_lays_out(editor):
    """One edit for the whole text; none for a text that is right already, or cannot be read."""
    editor.open("a.sexp", "(define  x\n1)   ; one\n")
    (edit,) = editor.formatting("a.sexp")
    editor.change("a.sexp", edit.new_text)

    assert "(define x 1)" in edit.new_text
    assert "; one" in edit.new_text
    assert [] == list(editor.formatting("a.sexp") or [])
    editor.change("a.sexp", "(define x")
    assert [] == list(editor.formatting("a.sexp") or [])


def blocks(page, kind):
    fences_of = fences((ROOT / page).read_text(encoding="utf-8"))
    return [fence.text for fence in fences_of if fence.kind == kind]


def documented():
    """Every command with which a page tells an editor to start the server."""
    for block in blocks("README.md", "sh"):
        yield from (line for line in block.splitlines() if line.endswith(" lsp"))
    for block in blocks("spec/09c-editors.md", "toml"):
        settings = tomllib.loads(block)["language-server"]["sexplang"]
        yield " ".join([settings["command"], *settings["args"]])
    for block in blocks("spec/09c-editors.md", "lua"):
        yield " ".join(re.findall(r'"([^"]*)"', re.search("cmd = {(.*?)}", block)[1]))
    for block in blocks("spec/09c-editors.md", "elisp"):
        yield " ".join(re.findall(r'"([^"]*)"', re.search(r"\. \((.*?)\)", block)[1]))


def test_the_documented_commands_start_the_server(tmp_path):
    """All pages name one command, and a client that starts it is served."""
    (line,) = set(documented())
    name, *words = line.split()
    assert SEXPLANG[-1] == name

    for extra in ([], ["--stdio"]):
        editor = Editor(tmp_path, command=[*SEXPLANG, *words, *extra])

        assert ["unbound-name"] == [code for code, _ in editor.messages("a.sexp", "(nobody)")]
        assert 0 == editor.leave()


def test_without_its_library_the_command_says_what_to_install(tmp_path):
    """The language server is an extra: exit 2, and what to type."""
    (tmp_path / "pygls.py").write_text("raise ModuleNotFoundError(name='pygls')\n")
    (tmp_path / "lsprotocol.py").write_text("raise ModuleNotFoundError(name='lsprotocol')\n")
    done = sexplang("lsp", PYTHONPATH=f"{tmp_path}:{ROOT}")

    assert (2, "") == (done.returncode, done.stdout)
    assert "type: pip install 'sexplang[lsp]'" in done.stderr


KEY = "sk-ant-canary-" + "0123456789abcdef" * 6


def test_no_key_is_in_any_message(tmp_path):
    """Diagnostics, places, explanations and offers hide it, also where it is cut off; the edits of
    formatting are the person's own text."""
    editor = Editor(tmp_path, environment={"ANTHROPIC_API_KEY": KEY})
    text = f"(define {KEY}  1)\n(define {KEY} 2)\n({KEY}s)\n"
    editor.open("a.sexp", text)
    found = editor.findings("a.sexp")
    said = [str(found), editor.hover("b.sexp", f"(define ({KEY}) 1)\n({KEY}|)")[0]]
    said += [
        str(editor.symbols("b.sexp")),
        str(editor.offers("c.sexp", f"(define {KEY} 1)\n(sk-|)")),
    ]

    assert ["defined-twice", "unbound-name"] == [each.code for each in found]
    for each in said:
        assert "[redacted]" in each
        assert KEY[:20] not in each
    editor.open("a.sexp", text)
    (edit,) = editor.formatting("a.sexp")
    assert 3 == edit.new_text.count(KEY)
    assert 0 == editor.leave()


def test_an_editor_that_leaves_without_a_word_leaves_no_process(tmp_path):
    """The server ends with its input, with status 1."""
    editor = Editor(tmp_path)
    editor.open("a.sexp", "(+ 1 2)")

    assert 1 == editor.vanish()
