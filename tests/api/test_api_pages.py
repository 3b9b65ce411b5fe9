"""The chapters on embedding, traces and runs that are kept, and the README, do what they say."""

import re
from pathlib import Path

import pytest
from support.markdown import ROOT
from support.pages import execute, files, statements

import sexplang

PAGES = [
    *(
        ROOT / "spec" / name
        for name in (
            "11-embedding.md",
            "11a-components.md",
            "11b-python-files.md",
            "15-traces.md",
            "17-durable.md",
            "18-waiting.md",
            "08a-secrets.md",
        )
    ),
    ROOT / "README.md",
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks_are_true(page: Path, tmp_path: Path, monkeypatch):
    """Each statement gives its value or raises its exception, in the order of the page."""
    monkeypatch.chdir(tmp_path)
    for name, text in files(page).items():
        Path(name).write_text(text)
    names = {"__name__": "page"}
    marks = 0
    for statement in statements(page):
        execute(statement, names, page.name)
        marks += statement.mark is not None

    assert marks > 0


def test_every_public_name_is_in_the_chapter():
    """What the package exports is in the table of names, and nothing else."""
    table = PAGES[0].read_text().rpartition("## Names")[2]
    first = [row.split("|")[1] for row in table.splitlines() if row.startswith("| `")]

    assert sorted(sexplang.__all__) == sorted(re.findall(r"`(\w+)`", "".join(first)))


def test_every_public_name_says_what_it_is():
    """Functions and classes have docstrings of their own."""
    bare = [name for name in sexplang.__all__ if not getattr(sexplang, name).__doc__]

    assert bare == []
