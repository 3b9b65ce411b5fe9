"""The shape of the house: walls between rooms, sizes of files, codes and their pages, start-up."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.codes import codes_in

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted(ROOT.glob("sexplang/**/*.py"))
TESTS = sorted(ROOT.glob("tests/**/*.py"))
NEVER_AT_START = (
    *("anthropic", "xmlschema", "lxml", "asyncio", "pydantic", "opentelemetry", "lark", "click"),
    *("attr", "inspect", "platform", "threading", "sexplang.dispatcher", "sexplang.runtime"),
    *("json", "dataclasses", "importlib.metadata", "unicodedata", "argparse", "subprocess"),
    "rich",
)


def test_the_walls_stand():
    """A room imports what its contract in pyproject.toml allows, and every room has a place."""
    # Its cache has kept imports that were gone.
    lint = "from importlinter.cli import lint_imports_command as lint; lint(['--no-cache'])"
    done = subprocess.run(
        [sys.executable, "-c", lint],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | {"NO_COLOR": "1"},
    )

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("files", [SOURCES, TESTS], ids=["sexplang", "tests"])
def test_files_stay_readable(files):
    """A file has at most 600 lines."""
    sizes = {str(file.relative_to(ROOT)): file.read_text().count("\n") for file in files}

    assert {name: lines for name, lines in sizes.items() if lines > 600} == {}


def test_doors_are_narrow():
    """A room's door exports at most three functions; classes and tables may come along."""
    for door in ROOT.glob("sexplang/*/__init__.py"):
        tree = ast.parse(door.read_text())
        functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
        public = [name for name in functions if not name.startswith("_")]

        assert len(public) <= 3, f"{door.parent.name} exports {public}"


def test_every_module_says_what_it_is():
    """A module opens with a docstring: what becomes what."""
    bare = [
        str(file.relative_to(ROOT))
        for file in SOURCES
        if file.read_text().strip() and not ast.get_docstring(ast.parse(file.read_text()))
    ]

    assert bare == []


def test_codes_and_pages_are_the_same_set():
    """Every code that the source can raise has a page in spec/errors, and every page is used."""
    texts = [(str(file.relative_to(ROOT)), file.read_text()) for file in SOURCES]
    raised = {found.code: found.place for found in codes_in(texts)}
    pages = {file.stem for file in ROOT.glob("spec/errors/*.md")}
    mentioned = "\n".join(text for _, text in texts) + "".join(
        file.read_text() for file in ROOT.glob("stdlib/*.sexp")
    )

    assert {code: place for code, place in raised.items() if code not in pages} == {}
    assert [code for code in sorted(pages) if code not in mentioned] == []


def test_pages_have_their_parts():
    """A page has the code as its title and says what it means, an example, and what to do."""
    for page in ROOT.glob("spec/errors/*.md"):
        text = page.read_text()

        assert text.startswith(f"# {page.stem}\n"), page.name
        for heading in ("## What it means", "## An example", "## What to do"):
            assert heading in text, f"{page.name} lacks {heading}"


def test_nothing_is_left_to_do_in_the_tree():
    """An open thought goes to the tracker or to spec/decisions."""
    words = ("TO" + "DO", "FIX" + "ME", "XX" + "X:")
    left = [
        f"{file.relative_to(ROOT)}: {word}"
        for file in [*SOURCES, *TESTS]
        for word in words
        if word in file.read_text()
    ]

    assert left == []


def test_a_run_that_nobody_traces_loads_no_tracing(tmp_path):
    """Neither one with tasks nor one that is recorded."""
    (tmp_path / "p.sexp").write_text('(defatom t (params) (instructions "x"))\n(str (t))\n')
    (tmp_path / "s.json").write_text('["tea"]')
    watch = (
        "import sys; from sexplang.hosts import main; status = main(sys.argv[1:]);"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    words = ["run", "p.sexp", "-q", "--model", "scripted:s.json", "--record", "r.jsonl"]
    done = subprocess.run(
        [sys.executable, "-c", watch, *words],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )

    assert ("tea\n[]\n", "") == (done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("run", ("hello, world\n[]\n", "")),
        ("check", ("[]\n", "1 file: no errors, no warnings\n")),
        ("fmt", ("[]\n", "1 file: 0 changed\n")),
    ],
)
def test_a_program_without_tasks_starts_light(word, told, tmp_path):
    """What is done with it imports neither the SDK, the schema library, an event loop, pydantic,
    attrs, click nor json."""
    program = tmp_path / "hello.sexp"
    program.write_text('(str "hello, " "world")\n')
    watch = (
        "import sys; from sexplang.hosts import main; status = main(sys.argv[1:]);"
        f"print([name for name in {NEVER_AT_START!r} if name in sys.modules]); sys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", watch, word, str(program)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )

    assert (done.stdout, done.stderr, done.returncode) == (*told, 0)
