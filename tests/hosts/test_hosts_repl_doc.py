"""`:doc` at the prompt: what a word of the language and a macro are, and how they are written."""

import pytest
from support.command import sexplang

from sexplang.hosts.language_server.completion import offers
from sexplang.hosts.language_server.hover import explain, hover
from sexplang.hosts.language_server.library import Library
from sexplang.hosts.reference.documentation import headline, read_documentation
from sexplang.hosts.reference.language_names import prelude
from sexplang.hosts.reference.meanings import public
from sexplang.hosts.repl.definitions import candidates
from sexplang.package.package_data import names, read_shipped
from sexplang.reader import read
from sexplang.terms.source import Source

LIBRARY = [name.removesuffix(".sexp") for name in names("stdlib") if name.endswith(".sexp")]


def test_a_macro_and_a_special_form_are_explained(tmp_path):
    """What it is, its forms and its documentation; a word of a form says where it stands."""
    module = tmp_path / "m.sexp"
    module.write_text(
        "; One of two,\n; or nothing.\n(define-syntax pick (syntax-rules (from)\n"
        "  ((_ a from b) (if a a b)) ((_ a rest ...) (list a rest ...)) ((_) nil)))"
    )
    text = f""":load {module}
:doc pick
(define-syntax twice (syntax-rules () ((_ e) (begin e e))))
:doc twice
:doc loop
:doc catch
"""
    done = sexplang("repl", "--allow-read", str(tmp_path), text=text)

    pick = [
        "a macro",
        "(pick a from b)",
        "(pick a rest ...)",
        "(pick)",
        "One of two,",
        "or nothing.",
    ]
    twice = ["a macro", "(twice e)"]
    loop = [
        "a special form",
        "(loop count body…)",
        "(loop ((name e) …) body…)",
        "The body so many times, or with variables until it does not `recur`.",
        "  (loop ((n 5) (sum 0)) (if (= n 0) sum (recur (- n 1) (+ sum n))))  ;=> 15",
        '  (loop 3 "again")  ;=> "again"',
    ]
    catch = ["a word of a special form", "catch"]
    assert [*pick, *twice, *loop, *catch] == done.stdout.splitlines()[:-1]


def test_a_name_of_another_language_is_explained():
    """What to write for it; words are for `:apropos`."""
    done = sexplang("repl", text=":doc foldl\n:doc split text\n")

    told = [
        "there is no `foldl` here: write `(fold f init xs)`: it calls `(f acc x)`, what was so far "
        "first",
        "  (fold (lambda (acc x) (cons x acc)) [] [1 2])  ;=> [2 1]",
    ]
    assert told == done.stdout.splitlines()[:2]
    assert "`:apropos split text` finds names by words" in done.stderr


def test_all_that_a_program_has_is_explained():
    """No name comes without a meaning."""
    assert [] == [name for name, each in prelude().items() if not read_documentation(each)]


@pytest.mark.parametrize("module", LIBRARY)
def test_the_standard_library_says_what_it_does(module):
    """Each public name has a meaning, in one paragraph, and shows nothing that cannot be named."""
    members = public(read(Source(f"std/{module}", read_shipped(f"stdlib/{module}.sexp"))))

    assert members
    for name, meaning in members.items():
        assert read_documentation(meaning)
        assert "\n\n" not in read_documentation(meaning)
        assert " _" not in headline(meaning), name


def test_doc_hover_and_completion_say_the_same():
    """Of a name of every program, of one that is imported, and of one in a module's name."""
    text = "(import std/memory)\n(import std/state as: s)\n"
    library = Library({"a.sexp": f"{text}[vote match-memory s.with-state]"})
    found = library.outline("a.sexp")
    for name in ("vote", "match-memory", "s.with-state"):
        at = found.source.text.index(name) + len(name)
        meaning = (
            found.scopes.visible(at).get(name) or found.scopes.visible(at)["s"].members[name[2:]]
        )
        doc = read_documentation(meaning)

        said = hover(found, at, ())[2]
        (offered,) = [each for each in offers(library, found, at) if each.text == name]
        done = sexplang("repl", text=f"{text}:doc {name}")

        assert doc
        assert doc in said
        assert explain(meaning) == offered.doc
        assert doc in done.stdout


def test_a_default_that_cannot_be_named_outside_is_shown_as_what_it_is(tmp_path):
    """A constant by its value, anything else as `…`, in the module itself as it is written."""
    (tmp_path / "m.sexp").write_text(
        "(define _MOST 3)\n(define (_id x) x)\n"
        "(define (f a (most _MOST) (by _id) (n (_id 2)) (plain [1])) a)\n(define g f)\n"
    )
    text = f":load {tmp_path / 'm.sexp'}\n:doc f\n"
    done = sexplang("repl", "--allow-read", str(tmp_path), text=text)
    imported = public(read(Source("m.sexp", (tmp_path / "m.sexp").read_text())))

    assert "(f a (most 3) (by …) (n …) (plain [1]))" == done.stdout.splitlines()[0]
    assert "(g a (most 3) (by …) (n …) (plain [1]))" == headline(imported["g"])


def test_an_old_name_is_no_candidate():
    """Only the new one; a name that the session defined is."""
    assert candidates("in-pl", {}) == []
    assert candidates("with-pe", {}) == ["with-permit"]
    assert candidates("in-pl", {"in-place": None}) == ["in-place"]
