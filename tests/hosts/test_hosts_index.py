"""`sexplang index`: what it says, where it puts the index, and `run` that uses it."""

import json
import os
import subprocess
import sys

import pexpect
import pytest
from support.command import SEXPLANG, sexplang
from support.markdown import ROOT

FILES = {
    "docs/tea.md": "# Green tea\n\nHow it is brewed.\n",
    "src/cup.py": '"""Holds tea."""\n',
    "main.sexp": '(map (lambda (m) m.id) (get (get-context "tea" limit: 2) "matches"))\n',
}


@pytest.fixture
def shop(tmp_path):
    """A project with a program."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "sexplang.toml").write_text("")
    return tmp_path


def test_it_says_what_has_changed(shop):
    """One line for each path."""
    first = sexplang("index", ".", cwd=shop)
    (shop / "docs/tea.md").write_text("# Black tea\n")
    (shop / "src/cup.py").unlink()
    (shop / "picture.png").write_bytes(b"\x89PNG")
    second = sexplang("index", "docs", ".", cwd=shop)

    assert (".: 4 files (4 new, 0 changed, 0 gone)\n", "", 0) == (
        first.stdout,
        first.stderr,
        first.returncode,
    )
    assert second.stdout.splitlines() == [
        "docs: 1 file (0 new, 1 changed, 0 gone)",
        ".: 3 files (0 new, 0 changed, 1 gone; left out: 1 binary)",
    ]


def test_it_is_made_without_what_runs_programs(shop):
    """Most of the time of a small change was the start of the command."""
    watch = (
        "import sys; from sexplang.hosts import main; status = main(sys.argv[1:]);"
        "print([name for name in ('click', 'sexplang.machine', 'anyio') if name in sys.modules])"
    )
    words = [sys.executable, "-c", watch, "index", "docs", "src"]
    done = subprocess.run(words, cwd=shop, capture_output=True, text=True)

    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_a_path_that_cannot_be_indexed_is_misuse(shop):
    """Told in words, whatever it is."""
    os.mkfifo(shop / "pipe")
    odd = shop / os.fsdecode(b"caf\xe9")
    odd.mkdir()
    pipe, folder = sexplang("index", "pipe", cwd=shop), sexplang("index", ".", cwd=odd)

    assert (2, 2) == (pipe.returncode, folder.returncode)
    assert "`pipe`: it is neither a folder nor a regular file" in pipe.stderr
    assert "`.`: a name on the way to it is not UTF-8" in folder.stderr


def test_the_index_of_a_part_is_that_of_its_project(shop):
    """Whatever folder the command is given, and wherever it is typed."""
    sexplang("index", "docs", cwd=shop)
    listed = sexplang("index", "--list", cwd=shop / "src")

    assert (shop / ".sexplang/index.db").exists()
    assert listed.stdout.splitlines() == [
        f"{shop}/docs/tea.md  Green tea: How it is brewed.",
        f"1 file in {shop}/.sexplang/index.db",
    ]


def test_patterns_choose_files(shop):
    """Of a `.gitignore`'s kind, and as many as one likes."""
    done = sexplang(
        "index", ".", "--include", "*.md", "--include", "*.py", "--exclude", "src/", cwd=shop
    )

    assert ".: 1 file (1 new, 0 changed, 0 gone)\n" == done.stdout


def test_json_is_one_document(shop):
    """The report of each path; and all that is known, in a list."""
    report = json.loads(sexplang("index", "docs", "src", "--json", cwd=shop).stdout)
    listed = json.loads(sexplang("index", "--list", "--json", cwd=shop).stdout)
    place = str(shop / ".sexplang/index.db")

    assert place == report["index"] == listed["index"]
    assert [1, 1] == [path["new"] for path in report["paths"]]
    assert [f"{shop}/docs/tea.md", f"{shop}/src/cup.py"] == [
        each["path"] for each in listed["files"]
    ]
    assert [f"{shop}/docs", f"{shop}/src"] == [each["path"] for each in listed["roots"]]
    assert "Green tea: How it is brewed." == listed["files"][0]["summary"]


def test_a_list_changes_nothing(shop):
    """Not even where there is no index."""
    done = sexplang("index", "--list", cwd=shop)

    assert ("0 files in .sexplang/index.db\n", 0) == (done.stdout, done.returncode)
    assert not (shop / ".sexplang").exists()


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        ([], 2, "Name a folder: sexplang index PATH"),
        (["nowhere"], 2, "error[file-not-found]: cannot index `nowhere`: there is nothing"),
        ([""], 2, "error[file-not-found]: cannot index ``: an empty path names nothing"),
        ([".", "--index", ""], 2, "error[file-not-found]: no index is named"),
        (["--list", "--index", ""], 2, "error[file-not-found]: no index is named"),
        ([".", "--include", "!"], 2, "error[bad-pattern]: `!` is no pattern"),
        ([".", "--index", "main.sexp"], 1, "error[bad-index]"),
        ([".", "--index", "main.sexp/x.db"], 1, "error[index-failed]"),
        (["--list", "--index", "main.sexp"], 1, "sexplang explain bad-index"),
    ],
)
def test_what_cannot_be_done_is_said(shop, words, status, says):
    """With what to type instead; nothing has changed."""
    done = sexplang("index", *words, cwd=shop)

    assert (status, "") == (done.returncode, done.stdout)
    assert says in done.stderr
    assert FILES["main.sexp"] == (shop / "main.sexp").read_text()
    assert not (shop / ".sexplang/index.db").exists()


def test_run_finds_the_index_of_the_project(shop):
    """Or takes the one that is named, which has to be there."""
    assert "[]\n" == sexplang("run", shop / "main.sexp").stdout
    sexplang("index", shop)
    sexplang("index", shop / "src", "--index", shop / "other.db")

    assert '["docs/tea.md" "src/cup.py"]\n' == sexplang("run", shop / "main.sexp").stdout
    named = sexplang("run", shop / "main.sexp", "--index", shop / "other.db")
    assert '["src/cup.py"]\n' == named.stdout
    missing = sexplang("run", shop / "main.sexp", "--index", shop / "none.db")
    assert (2, "") == (missing.returncode, missing.stdout)
    assert "there is no index" in missing.stderr


def test_names_cannot_command_a_terminal(shop):
    """What a file is called is drawn, not obeyed."""
    (shop / "docs/\x1b[2Ja.md").write_text("# \x1b[31mred\n")
    sexplang("index", shop)
    listed = sexplang("index", "--list", cwd=shop)

    assert "\x1b" not in listed.stdout
    assert 5 == len(listed.stdout.splitlines()) - 1


def test_a_terminal_shows_how_far_it_is(tmp_path):
    """On one line that is gone at the end; not with --quiet."""
    for number in range(500):
        (tmp_path / f"{number}.md").write_text("# Tea\n\n" + "word " * 200)
    words = [*SEXPLANG[1:], "index", str(tmp_path)]
    shown = {}
    for more in ([], ["--quiet"]):
        for file in tmp_path.glob(".sexplang/index.db"):
            file.unlink()
        child = pexpect.spawn(
            sys.executable, [*words, *more], cwd=ROOT, timeout=100, encoding="utf-8"
        )
        child.expect(pexpect.EOF)
        shown[len(more)] = child.before

    assert "of 500 files" in shown[0]
    assert shown[0].index("reading") < shown[0].rindex("\r\x1b[K") < shown[0].index("500 new")
    assert "reading" not in shown[1] and "500 new" in shown[1]


@pytest.mark.parametrize("pattern", ["[", "", " ", "# a comment"])
def test_a_pattern_that_says_nothing_forgets_nothing(shop, pattern):
    """It would fit no file, and all that is known would go."""
    sexplang("index", ".", cwd=shop)
    done = sexplang("index", ".", "--include", pattern, cwd=shop)
    known = json.loads(sexplang("index", "--list", "--json", cwd=shop).stdout)

    assert (2, "") == (done.returncode, done.stdout)
    assert "error[bad-pattern]" in done.stderr
    assert 4 == len(known["files"])


def test_a_link_to_a_file_is_refused(shop, tmp_path_factory):
    """An index would be made where nobody named a place."""
    away = tmp_path_factory.mktemp("away")
    (away / "secret.txt").write_text("tea")
    (shop / "link").symlink_to(away / "secret.txt")
    done = sexplang("index", "link", cwd=shop)

    assert (2, "") == (done.returncode, done.stdout)
    assert f"it is a link; name the file itself: {away / 'secret.txt'}" in done.stderr
    assert ["secret.txt"] == os.listdir(away)


def test_a_search_without_an_index_warns_once(tmp_path):
    """The index of a folder below is not the program's."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "tea.txt").write_text("Tea is wet.")
    call = '(get (get-context query: "tea") "matches")'
    (tmp_path / "p.sexp").write_text(f"[{call} {call}]")
    sexplang("index", "notes", cwd=tmp_path)
    lacking = sexplang("run", "p.sexp", cwd=tmp_path)
    quiet = sexplang("run", "p.sexp", "--quiet", cwd=tmp_path)
    sexplang("index", ".", cwd=tmp_path)
    found = sexplang("run", "p.sexp", cwd=tmp_path)

    assert (0, "[[] []]\n") == (lacking.returncode, lacking.stdout)
    assert 1 == lacking.stderr.count("warning: there is no index for `search-memory` in ")
    assert f"; type: sexplang index {tmp_path}\n" in lacking.stderr
    assert "" == quiet.stderr
    assert ("", True) == (found.stderr, "notes/tea.txt" in found.stdout)
