"""What the README and the examples show is what happens; no network, no model, no key."""

import json
import re
import shlex
import shutil

import pytest
from support.command import console_blocks, run_line, sexplang
from support.markdown import ROOT
from support.pages import files

EXAMPLES = sorted(path.parent for path in ROOT.glob("examples/*/README.md"))
PAGES = [
    ROOT / "README.md",
    *sorted(ROOT.glob("spec/*.md")),
    *(folder / "README.md" for folder in EXAMPLES),
]


def _pages(name=None):
    """The pages with `console` blocks of this name."""
    return pytest.mark.parametrize(
        "page",
        [page for page in PAGES if any(console_blocks(page, name))],
        ids=lambda page: str(page.relative_to(ROOT)),
    )


@pytest.fixture
def place(tmp_path):
    """A copy of the examples, because some of them write, and the program of the README."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for name, text in files(ROOT / "README.md").items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@_pages()
def test_the_console_blocks_of_a_page_are_true(page, place):
    """The commands of the `console` blocks give the output below them, one after the other. Runs
    are kept where a command names one."""
    lines = list(console_blocks(page))
    kept = str(place / "runs.db") if any("--run-id" in line for line, _ in lines) else ""
    for line, output in lines:
        assert output == run_line(line, place, SEXPLANG_STORE=kept), line


@pytest.mark.long
@_pages("local")
def test_the_local_model_does_what_an_example_asks(page, place):
    """What it says stands in the page as a sample: here it only has to end well."""
    for line, _ in console_blocks(page, "local"):
        done = sexplang(*shlex.split(line)[1:], cwd=place)
        assert 0 == done.returncode, (line, done.stderr)


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_an_example_is_complete_and_checks(folder):
    """Each has a program; `check --strict` finds nothing, and says what each program needs to be
    permitted and how often it asks. One that asks a model has templates and scripted replies."""
    programs = sorted(folder.glob("*.sexp"))
    done = sexplang("check", "--strict", *programs, *folder.glob("*.xml"))

    assert 0 == done.returncode and "no errors, no warnings" in done.stderr, done.stderr
    told = (": needs ", ": names the model ")
    bounds = [line for line in done.stdout.splitlines() if not any(each in line for each in told)]
    assert programs and all("model call" in line for line in bounds), done.stdout
    tasks = [path for path in programs if "(defatom " in path.read_text(encoding="utf-8")]
    has_tasks = bool(tasks or list(folder.glob("*.xml")))
    has_replies = (folder / "replies.json").is_file()
    assert has_tasks == has_replies == bool(bounds) == (folder.name != "order")


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_an_example_has_a_page_and_tests(folder):
    """The page begins with a title and shows commands; each program has its own file of tests, or
    shares the one of the folder."""
    page = (folder / "README.md").read_text(encoding="utf-8")

    assert page.startswith("# ") and any(console_blocks(folder / "README.md"))
    assert list(folder.glob("*.test.sexp"))


def test_the_list_of_examples_is_complete():
    """`examples/README.md` links each example once."""
    listed = re.findall(r"\]\(([\w-]+)/README\.md\)", (ROOT / "examples/README.md").read_text())

    assert sorted(listed) == sorted(
        path.name for path in (ROOT / "examples").iterdir() if list(path.glob("*.sexp"))
    )


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
