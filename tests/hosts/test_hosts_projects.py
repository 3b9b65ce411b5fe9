"""`sexplang init` and `sexplang examples`: what they make runs, and nothing is overwritten."""

import json
import os
import re
import shlex
import subprocess

import pytest
from support.command import SEXPLANG, console_blocks, run_line, sexplang
from support.markdown import ROOT

from sexplang.hosts.projects.catalogue import list_examples, list_starters, summarize_readme
from sexplang.hosts.projects.folder_copy import move_paths

STARTERS = ROOT / "examples" / "starters"
KINDS = sorted(path.parent.name for path in STARTERS.glob("*/README.md"))
EXAMPLES = sorted(path.parent.name for path in ROOT.glob("examples/*/README.md"))


def commands_of(folder):
    """The commands of a README's `sh` block, as words."""
    text = (folder / "README.md").read_text(encoding="utf-8")
    block = re.search(r"^```sh\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL).group(1)
    return [shlex.split(line) for line in block.splitlines()]


def test_there_are_five_kinds_and_help_names_them():
    assert ["approval", "chat-agent", "documents", "judge-loop", "task"] == KINDS
    shown = "".join(sexplang("init", "--help").stdout.split())
    assert all(f"`{kind}`" in shown for kind in KINDS if kind != "task") and "Examples:" in shown
    assert "Examples:" in sexplang("examples", "--help").stdout


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_laid_out_checked_and_tested(kind, tmp_path):
    """As `init` makes it: `fmt` changes nothing, `check --strict` finds nothing, its tests pass."""
    made = sexplang("init", "here", "--from", kind, cwd=tmp_path)
    folder = tmp_path / "here"
    texts = [*sorted(folder.glob("*.sexp")), *sorted(folder.glob("*.xml"))]
    laid_out = sexplang("fmt", "--check", *folder.glob("*.sexp"))
    checked = sexplang("check", "--strict", *texts)
    tested = sexplang("test", ".", cwd=folder)

    assert (0, "") == (made.returncode, made.stderr)
    assert (0, 0) == (laid_out.returncode, checked.returncode), laid_out.stderr + checked.stderr
    assert "no errors, no warnings" in checked.stderr
    assert 0 == tested.returncode and re.match(r"3 passed", tested.stdout), tested.stdout
    assert (folder / "README.md").read_text().startswith("# ")
    assert json.loads((folder / ".vscode" / "settings.json").read_text())["files.associations"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_runs_with_written_replies(kind, tmp_path):
    """The first two commands that `init` says to type, and those of the README."""
    made = sexplang("init", "here", "--from", kind, "--json", cwd=tmp_path)
    folder = tmp_path / "here"
    into, tests, scripted, local = json.loads(made.stdout)["next"]
    assert ("cd here", "sexplang test .") == (into, tests)
    assert shlex.split(scripted) in commands_of(folder) and "--model local" in local
    for line, output in console_blocks(folder / "README.md"):
        assert output == run_line(line, folder), line
    name, *words = shlex.split(scripted)
    store = ("--store", "runs.db", "--run-id", "one")
    done = sexplang(*words, *store, text="", cwd=folder)

    assert name == "sexplang"
    if kind != "approval":
        assert 0 == done.returncode and done.stdout, done.stderr
        return
    answered = sexplang(
        *("runs", "answer", "one", "yes", "--resume", "--as-recorded"),
        "--store",
        "runs.db",
        cwd=folder,
    )
    assert (3, 0, "sent: answer.txt\n") == (
        done.returncode,
        answered.returncode,
        answered.stdout,
    ), answered.stderr
    assert "A new kettle is on its way." in (folder / "answer.txt").read_text()


@pytest.mark.long
@pytest.mark.timeout(660)
@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_runs_with_the_local_model(kind, tmp_path):
    """The command that `init` says to type asks the real model, and is done or waits."""
    made = sexplang("init", "here", "--from", kind, "--json", cwd=tmp_path)
    _, *words = shlex.split(json.loads(made.stdout)["next"][-1])
    done = subprocess.run(
        [*SEXPLANG, *words, "--store", "runs.db"],
        cwd=tmp_path / "here",
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=600,
    )

    assert (3 if kind == "approval" else 0) == done.returncode, done.stderr
    assert done.stdout.strip() or kind == "approval"


def test_init_makes_a_project_in_the_working_folder(tmp_path):
    """There is no `cd` to type; other files stay."""
    (tmp_path / "letter.txt").write_text("tea")
    done = sexplang("init", cwd=tmp_path)

    assert 0 == done.returncode and "cd " not in done.stdout
    assert "tea" == (tmp_path / "letter.txt").read_text()
    assert (tmp_path / "main.sexp").is_file()


@pytest.mark.parametrize("way", ["main.sexp", "README.md", ".vscode/settings.json", ".helix"])
def test_nothing_is_overwritten(tmp_path, way):
    """A file in the way, or one in the place of a folder: nothing is written at all."""
    path = tmp_path / "notes" / way
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    done = sexplang("init", "notes", cwd=tmp_path)
    as_data = sexplang("init", "notes", "--json", cwd=tmp_path)

    assert (1, "") == (done.returncode, done.stdout)
    assert f"error[file-exists]: `notes/{way}` is in the way; nothing was written" in done.stderr
    (found,) = json.loads(as_data.stdout)["findings"]
    assert (1, "file-exists") == (as_data.returncode, found["code"])
    assert (before, "mine") == (sorted(tmp_path.rglob("*")), path.read_text())


def test_a_link_that_leads_nowhere_is_in_the_way(tmp_path):
    (tmp_path / "main.sexp").symlink_to(tmp_path / "elsewhere")
    done = sexplang("init", cwd=tmp_path)

    assert 1 == done.returncode and "`main.sexp` is in the way" in done.stderr
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["init", "--from", "chat"], 2, "did you mean: sexplang init --from chat-agent"),
        (["init", "--from", "zork"], 2, "there are approval, chat-agent, documents, judge-loop"),
        (["init", ""], 2, "no folder is named"),
        (["init", "file"], 1, "`file` is in the way"),
        (["init", "file/notes"], 1, "`file` is in the way"),
        (["examples", "one-tusk"], 2, "did you mean: sexplang examples one-task"),
        (["examples", "shared"], 2, "there is no example `shared`"),
        (["examples", "starters"], 2, "there is no example `starters`"),
        (["examples", "../spec"], 2, "there is no example `../spec`"),
        (["examples", "one-task", "file"], 1, "`file` is in the way"),
        (["init", "/proc/notes"], 1, "cannot write `/proc/notes`"),
    ],
)
def test_what_cannot_be_made_is_said(tmp_path, words, status, says):
    (tmp_path / "file").write_text("mine")
    done = sexplang(*words, cwd=tmp_path)

    assert (status, "") == (done.returncode, done.stdout)
    assert says in done.stderr and "Traceback" not in done.stderr
    assert ["file"] == [path.name for path in tmp_path.iterdir()]


def test_the_list_has_every_example_with_a_sentence():
    """Of its README, which is all there is to say it."""
    rows = json.loads(sexplang("examples", "--json").stdout)["examples"]
    lines = sexplang("examples").stdout.splitlines()

    assert EXAMPLES == [row["name"] for row in rows] == [line.split()[0] for line in lines]
    for row in rows:
        text = (ROOT / "examples" / row["name"] / "README.md").read_text(encoding="utf-8")
        assert len(row["about"]) > 9 and row["about"][:-1] in " ".join(text.split())
        assert row["about"][-1] in ".?", row


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_copied_example_passes_its_tests(name, tmp_path):
    """Its README's commands give there what they give here, and no path leads out of it."""
    done = sexplang("examples", name, "--json", cwd=tmp_path)
    folder = tmp_path / name
    document = json.loads(done.stdout)
    tested = sexplang("test", ".", cwd=folder)
    readme = (folder / "README.md").read_text(encoding="utf-8")

    assert 0 == done.returncode and str(folder) == document["folder"]
    assert f"cd {name}" == document["next"][0] and "](../" not in readme
    assert 0 == tested.returncode, tested.stdout + tested.stderr
    lines = list(console_blocks(folder / "README.md"))
    kept = str(tmp_path / "runs.db") if any("--run-id" in line for line, _ in lines) else ""
    for line, output in lines:
        assert output == run_line(line, folder, SEXPLANG_STORE=kept), line


def test_what_runs_leave_behind_is_not_copied():
    """What a checkout ignores, and what Python makes of its files."""
    ignored = (ROOT / ".gitignore").read_text().split()
    shipped = {
        path for each in (*list_examples(), *list_starters()) for path in each.files.values()
    }

    assert shipped.isdisjoint(str(ROOT / line) for line in ignored)
    assert not [path for path in shipped if "__pycache__" in path or "/.git" in path]


def test_a_sentence_and_paths_are_read_from_a_readme():
    readme = "# A title\n\nIt reads\n`a.csv`, twice. Then it is done.\n"
    moved = move_paths(
        "$ cd examples/tea\n$ sexplang run examples/tea/a.sexp --from examples/tea\n"
        "examples/teapot stays; [chapter 5](../../spec/05-tasks.md) and [a](a.md)\n",
        "tea",
    )

    assert "It reads `a.csv`, twice." == summarize_readme(readme)
    assert "It reads:" == summarize_readme("# A\n\nIt reads:\n\n- a\n").replace(".", ":")
    assert moved == (
        "$ sexplang run a.sexp --from .\nexamples/teapot stays; chapter 5 and [a](a.md)\n"
    )


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_listed_in_one_line(name):
    """The first sentence of its README is short enough to choose by."""
    text = (ROOT / "examples" / name / "README.md").read_text(encoding="utf-8")

    assert 20 < len(summarize_readme(text)) <= 100


def test_what_was_written_before_a_failure_is_taken_away(tmp_path):
    """A folder that takes no files: the ones before it are not left alone."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / ".vscode").symlink_to("/proc")
    done = sexplang("init", "notes", cwd=tmp_path)

    assert 1 == done.returncode and "error[file-failed]: cannot write `notes/.vscode" in done.stderr
    assert not [path for path in (tmp_path / "notes").rglob("*") if path.is_file()]
