"""README and guide say what is true: their programs, copied, do what they say."""

import json
import re

import pytest
from support.command import sexplang
from support.markdown import ROOT, fences

import sexplang as package
from sexplang.hosts.cli.shipped_pages import guide

README = (ROOT / "README.md").read_text()

SUMMARIZE = ROOT / "examples/one-task/summarize.xml"

SUMMARY = '(str "In short: " (summarize "Tea is grown on hills."))'


def test_the_program_of_the_readme_runs_as_it_is_copied(tmp_path):
    """The program and the replies, as they are named, in an empty folder."""
    for block in fences(README):
        if block.kind in ("sexp", "json") and block.name:
            (tmp_path / block.name).write_text(block.text)
    words = ("reviews.sexp", "--model", "scripted:replies.json", "--quiet")
    done = sexplang("run", *words, cwd=tmp_path)

    expected = '[["positive" 2] ["negative" 1] ["unclear" 1]]\n'
    assert (expected, "", 0) == (done.stdout, done.stderr, done.returncode)


def test_the_marks_are_explained_before_they_are_used():
    """Each of them, above the first block of the guide that has one."""
    before = guide().partition("```sexp")[0]

    assert [] == [mark for mark in (";=>", ";?", ";<", ";!") if f"`{mark}`" not in before]


def test_the_readme_has_no_marks():
    """A person who begins reads commands and their output."""
    bare = [block.text for block in fences(README) if block.kind == "sexp"]

    assert [] == re.findall(r"(?:^|\s);(?:=>|[?<!])", "".join(bare))


def test_a_name_that_a_file_beside_defines_is_told_with_its_import(tmp_path):
    """On the command line and in Python; the file need not be called like the task."""
    (tmp_path / "s.xml").write_text(SUMMARIZE.read_text())
    (tmp_path / "more.sexp").write_text("(define (longer text) text)\n  (define (inner x) x)\n")
    path = tmp_path / "p.sexp"
    path.write_text(SUMMARY)
    done = sexplang("check", "p.sexp", cwd=tmp_path)
    (found,) = package.check(path)

    assert found.hint == '`s.xml` defines it: write (import "s.xml")'
    assert found.hint in done.stdout + done.stderr
    path.write_text("(longer (inner 1))\n(define (f) 1)\n(let ((g (lambda () (h)))) (_no))")
    hints = [each.hint for each in package.check(path)]
    assert hints[0] == '`more.sexp` defines it: write (import "more.sexp")'
    assert not any("import" in (each or "") for each in hints[1:])


def test_a_text_has_no_files_beside_it(tmp_path, monkeypatch):
    """Nothing is looked at for it."""
    (tmp_path / "s.xml").write_text("<task name='summarize'/>")
    monkeypatch.chdir(tmp_path)

    assert "s.xml" not in str(package.check(SUMMARY)[0])


def types_of_parameters():
    (listed,) = re.findall(r"Types of\s+parameters: ([a-z ]+)\.", guide())
    return listed.split()


@pytest.mark.parametrize("type_", types_of_parameters())
def test_each_type_that_the_guide_names_is_accepted(type_):
    """In a `defatom`."""
    text = f'(defatom f (params (t {type_})) (instructions "{{{{t}}}}!"))'

    assert [] == package.check(text)


def test_the_guide_says_how_numbers_are_read():
    """As R7RS does, and as the chapter on names says."""
    given = ["02", "+5", ".5", "5.", "007", "1/2", "#xff", "three"]
    expected = [2, 5, 0.5, 5.0, 7, False, False, False]

    assert expected == package.run(f"(map string->number {json.dumps(given)})")
