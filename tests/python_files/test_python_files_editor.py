"""An editor shows the functions of a Python file, and runs none of it."""

import pytest
from support.editor import Editor

TOOLS = """from typing import Literal

from sexplang import primitive, tool

open("marker", "w")


@tool
def lookup(word: str, language: Literal["en", "de"] = "en") -> str:
    \"\"\"Looks a word up.\"\"\"
    return word


@primitive
def slug(text: str) -> str:
    return text


def helper(): ...
"""


@pytest.fixture(scope="module")
def editor(tmp_path_factory):
    folder = tmp_path_factory.mktemp("editor")
    (folder / "tools.py").write_text(TOOLS)
    (folder / "wrong.py").write_text("def f(:")
    opened = Editor(folder)
    yield opened

    assert not (folder / "marker").exists()
    assert [] == opened.shown
    assert 0 == opened.leave()


def test_hover_shows_signature_types_and_docstring(editor):
    """And where the function is."""
    words, text = editor.hover("a.sexp", '(import "tools.py") (look|up "tea")')

    assert "lookup" == text
    assert '(lookup word (language "en"))' in words and "Looks a word up." in words
    assert '- `language` (Literal["en", "de"]) default `"en"`' in words
    assert "tools.py:9" in words


def test_the_definition_of_a_function_is_in_the_python_file(editor):
    """At its name."""
    (place,) = editor.definition("b.sexp", '(import "tools.py" as: t) (t.sl|ug "a")')

    assert place.uri.endswith("/tools.py")
    assert (14, 4) == (place.range.start.line, place.range.start.character)


def test_completion_offers_functions_labels_and_files(editor):
    """The marked functions alone."""
    offered = editor.offers("c.sexp", '(import "tools.py") (|)')

    assert {"lookup", "slug"} <= {*offered} and "helper" not in offered
    assert "text:" not in editor.offers("j.sexp", '(import "tools.py") (slug |)')
    assert {"word:", "language:"} <= {*editor.offers("d.sexp", '(import "tools.py") (lookup |)')}
    assert "tools.py" in editor.offers("e.sexp", '(import "|")')
    assert ["t.lookup", "t.slug"] == editor.offers("f.sexp", '(import "tools.py" as: t) (t.|)')


def test_signature_help(editor):
    """With the operand that is typed."""
    ((signature, *_),) = editor.signatures("g.sexp", '(import "tools.py") (lookup "a" |)')

    assert '(lookup word (language "en"))' == signature


def test_what_is_wrong_in_the_file_shows_at_the_import(editor):
    """With its code."""
    assert [] == editor.messages("h.sexp", '(import "tools.py") (lookup "tea")')
    ((code, message),) = editor.messages("i.sexp", '(import "wrong.py") 1')

    assert "bad-python" == code and "this is no Python" in message
