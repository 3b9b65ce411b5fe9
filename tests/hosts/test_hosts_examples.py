"""What the README and the examples show is what happens; no network, no model, no key."""

import json
import shutil

import pytest
from support.command import console_blocks, run_line, sexplang
from support.markdown import ROOT

EXAMPLES = sorted(path.parent for path in ROOT.glob("examples/*/README.md"))
PAGES = [
    ROOT / "README.md",
    *sorted(ROOT.glob("spec/*.md")),
    *(folder / "README.md" for folder in EXAMPLES),
]
LINES = [
    pytest.param(line, output, id=f"{page.relative_to(ROOT)}-{number}")
    for page in PAGES
    for number, (line, output) in enumerate(console_blocks(page), 1)
]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A copy of the examples: some of them write."""
    place = tmp_path_factory.mktemp("place")
    shutil.copytree(ROOT / "examples", place / "examples")
    return place


@pytest.mark.parametrize(("line", "output"), LINES)
def test_a_console_block_is_true(line, output, place):
    """A command in a `console` block gives the output below it."""
    assert output == run_line(line, place)


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_an_example_is_complete_and_checks(folder):
    """Each has a program; `check --strict` finds nothing, and says what each program needs to be
    permitted and how often it asks. One that asks a model has templates and scripted replies."""
    programs = sorted(folder.glob("*.sexp"))
    done = sexplang("check", "--strict", *programs, *folder.glob("*.xml"))

    assert 0 == done.returncode and "no errors, no warnings" in done.stderr, done.stderr
    told = (": needs --allow-", ": names the model ")
    bounds = [line for line in done.stdout.splitlines() if not any(each in line for each in told)]
    assert programs and all("model call" in line for line in bounds), done.stdout
    tasks = [path for path in programs if "(defatom " in path.read_text(encoding="utf-8")]
    has_tasks = bool(tasks or list(folder.glob("*.xml")))
    has_replies = (folder / "replies.json").is_file()
    assert has_tasks == has_replies == bool(bounds) == (folder.name != "order")


def test_there_are_sixteen_examples():
    """One task, many documents, a continuation, a director-evaluator loop, a plan, subagents, rows
    of CSV with types, dates and amounts, a search by meaning, three that wait for people, two whose
    answers are validated, and the best of several, and functions of Python."""
    names = [folder.name for folder in EXAMPLES]

    assert ["airline", "approval", "best-of", "booking", "continuation"] == names[:5]
    assert ["director-evaluator", "many-documents", "one-task", "order", "plan"] == names[5:10]
    assert ["python-tools", "sales-digest", "search-notes", "sql"] == names[10:14]
    assert ["subagents", "tickets"] == names[14:]


@pytest.mark.parametrize(
    "code",
    [
        "raise SystemExit(0)",
        "def slug(title): raise SystemExit(0)",
        "import os; print('all is well'); os._exit(0)",
    ],
)
def test_code_that_ends_its_tests_does_not_pass_them(place, code):
    folder = place / "examples" / "director-evaluator"
    (place / "cheat.json").write_text(json.dumps([code]))
    model = f"scripted:{place / 'cheat.json'}"
    allowed = ["--allow-write", folder / "slug.py", "--allow-run", "python3"]
    done = sexplang("run", folder / "improve.sexp", "turns=1", "--model", model, *allowed)

    assert (done.returncode, done.stdout) == (0, "slug.py does not pass its tests.\n"), done.stderr
    assert "gives" in done.stderr


def test_a_tree_of_subtasks_is_decided_by_the_handler():
    """The guarded example logs each request; without --quiet the log and the cost are on stderr."""
    folder = "examples/continuation"
    done = sexplang("run", f"{folder}/guarded.sexp", "--model", f"scripted:{folder}/replies.json")
    first, second, summary = done.stderr.splitlines()

    assert "info: asked for: look up how many cups are drunk" == first
    assert "info: asked for: look up the secret blend" == second
    assert summary.startswith("model scripted:") and "4 calls" in summary
