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
    *(
        "attr",
        "inspect",
        "platform",
        "threading",
        "sexplang.pipeline.dispatcher",
        "sexplang.runtime",
    ),
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


REFLECTED = ("cell_contents", "f_locals", "__closure__", "co_name", "co_qualname", "co_varnames")
CLASS_MAKER = frozenset(
    f"sexplang/terms/classes/{name}.py" for name in ("maker", "methods", "node")
)


def test_the_names_of_locals_mean_nothing():
    """Only what makes classes looks into Python's closures, frames and names of code: anything else
    asks a table."""
    found = []
    for file in SOURCES:
        name = str(file.relative_to(ROOT))
        for node in ast.walk(ast.parse(file.read_text())) if name not in CLASS_MAKER else ():
            word = node.attr if isinstance(node, ast.Attribute) else getattr(node, "value", None)
            if word in REFLECTED:
                found.append(f"{name}:{node.lineno} {word}")

    assert found == []


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


ROOTS = {
    "machine.stack.Exit": "each way out of the loop is a class of its own",
    "machine.stack.Kind": "each kind of segment that has code of the program is a class of its own",
    "machine.generate.Maker": "the same code is made again, by a maker that remembers for whom",
}
"""The classes that others in their folder inherit from, and why."""


def test_no_class_is_divided_by_inheritance():
    """What is too large for a file has parts: no class inherits from one in another file of its
    folder, or of a folder in it, but for what is a kind of it."""
    divided = []
    for file in SOURCES:
        tree = ast.parse(file.read_text())
        taken = {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("sexplang.")
            for alias in node.names
        }
        room = file.relative_to(ROOT).parts[1]
        for each in ast.walk(tree):
            for base in each.bases if isinstance(each, ast.ClassDef) else ():
                whole = taken.get(ast.unparse(base).partition("[")[0], "").removeprefix("sexplang.")
                if whole.startswith(f"{room}.") and whole not in ROOTS:
                    divided.append(f"{file.relative_to(ROOT)}: {each.name}({whole})")

    assert divided == []


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
