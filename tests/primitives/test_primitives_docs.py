"""What is said of the names: their docs' examples and chapter 7."""

import re
from pathlib import Path

import pytest
from support.sources import no_files

from sexplang.machine import HIGHER, Done, start
from sexplang.pipeline.pipeline import build
from sexplang.primitives import PRIMITIVES
from sexplang.terms.source import Source
from sexplang.terms.values.text import to_source

SPEC = Path(__file__).parents[2] / "spec"
CHAPTERS = [(SPEC / name).read_text(encoding="utf-8") for name in ("07-names.md", "07a-library.md")]
LINES = [line for text in CHAPTERS for line in text.splitlines() if line.startswith("(")]


@pytest.mark.parametrize("name", sorted(PRIMITIVES))
def test_the_example_in_a_doc_is_true(name):
    """The call gives the value that the doc says."""
    call, _, value = PRIMITIVES[name].doc[PRIMITIVES[name].doc.index("(") :].partition(" ;=> ")
    outcome = start(build(Source("doc", call), no_files))

    assert isinstance(outcome, Done)
    assert value == to_source(outcome.value)


@pytest.mark.parametrize("name", sorted(PRIMITIVES))
def test_chapters_7_and_7a_show_every_name_at_work_and_refusing(name):
    """One good example and one bad one for each, both executed with the chapter."""
    call = re.compile(rf"\({re.escape(name)}[ )]")
    good = [line for line in LINES if call.match(line) and ";=>" in line]
    bad = [line for line in LINES if call.match(line) and ";!" in line]

    assert good
    assert bad


def test_chapter_7_shows_the_names_that_call_back():
    """Those that are frames of the machine stand in the same families."""
    promised = "map filter reduce fold for-each any? all? sort sort-by apply group-by update"

    for name in promised.split():
        assert name in HIGHER
        assert any(line.startswith(f"({name} ") for line in LINES), name
