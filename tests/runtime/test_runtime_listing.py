"""Commands that only name files: what they may be told, and what is kept of what they say."""

import os
import subprocess

import pytest
from runtime_support import begun, perform, table
from support.running import error_of

from sexplang.runtime import Permissions, drive
from sexplang.runtime.scripts.file_commands import parse_paths
from sexplang.terms.host.file_command import Listing, parse_listing


def listed(*words, folder=None, **granted):
    """The end of a run of one `list-files` with a command."""
    allowed = Permissions(folder=folder, **granted)
    return drive(begun(perform("list-files", words)), table(permissions=allowed))


def refused(*words, **settings):
    return error_of(listed(*words, **settings))


@pytest.fixture
def home(tmp_path):
    """A folder with files, hidden ones, and a neighbour."""
    folder = tmp_path / "home"
    (folder / "docs" / "deep").mkdir(parents=True)
    (folder / ".git").mkdir()
    (tmp_path / "other").mkdir()
    for name in ("a.md", "docs/b.md", "docs/deep/c.md", "docs/d.txt", ".git/x.md", ".env"):
        (folder / name).write_text("")
    (tmp_path / "other" / "secret.md").write_text("")
    (folder / "out").symlink_to(tmp_path / "other")
    (folder / "hidden").symlink_to(".git")
    (folder / "secret.md").symlink_to(tmp_path / "other" / "secret.md")
    os.link(folder / ".env", folder / "env.md")
    return folder


@pytest.mark.parametrize(
    ("words", "files"),
    [
        (("find", ".", "-name", "*.md"), "a.md docs/b.md docs/deep/c.md"),
        (("find", "docs", "-name", "*.md", "!", "-path", "*deep*"), "docs/b.md"),
        (("find", "-maxdepth", "1"), "a.md"),
        (("find", "docs", "-mmin", "-600", "-print"), "docs/b.md docs/d.txt docs/deep/c.md"),
        (("find",), "a.md docs/b.md docs/d.txt docs/deep/c.md"),
        (("ls",), "a.md"),
        (("ls", "-1t", "a.md", "docs/b.md"), "a.md docs/b.md"),
        (("ls", "docs"), "docs/b.md docs/d.txt"),
        (("ls", "-t", "docs/"), "docs/b.md docs/d.txt"),
        (("ls", "-d", "docs", "a.md"), "a.md"),
        (("ls", "docs", "a.md", "docs/deep"), "a.md docs/b.md docs/d.txt docs/deep/c.md"),
        (("ls", "-R"), "a.md docs/b.md docs/d.txt docs/deep/c.md"),
        (("ls", "-R1", "docs"), "docs/b.md docs/d.txt docs/deep/c.md"),
    ],
)
def test_a_command_that_names_files_needs_no_permission(home, words, files):
    """What it says are files that may be read, hidden ones not among them."""
    assert files.split() == sorted(listed(*words, folder=home).value)


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("run-denied", ("find", ".", "-exec", "touch", "x", ";")),
        ("run-denied", ("find", ".", "-execdir", "touch", "x", ";")),
        ("run-denied", ("find", ".", "-ok", "touch", "x", ";")),
        ("run-denied", ("find", ".", "-okdir", "touch", "x", ";")),
        ("run-denied", ("find", ".", "-delete")),
        ("run-denied", ("find", ".", "-fprint", "x")),
        ("run-denied", ("find", ".", "-fprintf", "x", "%p")),
        ("run-denied", ("find", ".", "-fls", "x")),
        ("run-denied", ("find", ".", "-ls")),
        ("run-denied", ("find", "-files0-from", "a.md")),
        ("run-denied", ("find", "-L", ".")),
        ("run-denied", ("find", ".", "-follow")),
        ("path-denied", ("find", "/etc")),
        ("path-denied", ("find", "..")),
        ("path-denied", ("find", "out")),
        ("path-denied", ("find", "hidden")),
        ("path-denied", ("find", ".git")),
        ("path-denied", ("ls", "/")),
        ("path-denied", ("ls", "out/")),
        ("run-denied", ("ls", "--color=always")),
        ("run-denied", ("ls", "-l")),
        ("path-denied", ("ls", ".git")),
        ("run-denied", ("dir", "-1")),
        ("run-denied", ("locate", "a.md")),
        ("run-denied", ("./ls",)),
        ("run-denied", ("/bin/ls",)),
        ("run-denied", ("git", "diff", "--name-only")),
        ("run-denied", ("git", "-c", "core.fsmonitor=touch x", "ls-files")),
        ("run-denied", ("git", "ls-files", "-m")),
        ("run-denied", ("git", "ls-files", "--recurse-submodules")),
        ("run-denied", ("git", "ls-files", ":/")),
        ("path-denied", ("git", "ls-files", "../other")),
        ("path-denied", ("git", "ls-files", "out/*.md")),
        ("run-denied", ("python3", "-c", "open('x', 'w')")),
        ("run-denied", ()),
        ("run-denied", ("ls", "a\0b")),
        ("wrong-type", ("find", 1)),
    ],
)
def test_whatever_else_such_a_command_can_do_is_denied(home, reason, words):
    """Another option, another command, though it may be run, and every place that may not be
    read."""
    granted = ["find", "git", "ls", "python3", "/bin/ls"]

    assert reason == refused(*words, folder=home, run=granted)["reason"]
    assert not (home / "x").exists()


def test_what_ls_says_of_a_folder_is_no_file_above_it(home):
    """Though there is one of the same name."""
    (home / "docs" / "a.md").write_text("")

    assert ("docs/a.md", "docs/b.md", "docs/d.txt") == listed("ls", "docs", folder=home).value


def test_what_find_says_is_sorted(home):
    """The order of the disk is another on each machine."""
    for name in ("q", "b", "z", "c"):
        (home / "docs" / "deep" / name).write_text("")

    names = ["docs/deep/b", "docs/deep/c", "docs/deep/c.md", "docs/deep/q", "docs/deep/z"]
    assert names == list(listed("find", "docs/deep", folder=home).value)


def test_a_program_that_may_read_nothing_lists_nothing(home, monkeypatch):
    """Text from standard input or from Python."""
    monkeypatch.chdir(home)

    assert "path-denied" == refused("ls")["reason"]


def test_a_command_that_fails_says_why(home):
    error = refused("ls", "nowhere", folder=home)

    assert "file-failed" == error["reason"]
    assert error["message"].startswith("`ls` ended with exit code 2: ls: ")


def test_a_listing_is_no_flood(home):
    """What is cut would be some of the files, and nobody knew which."""
    for number in range(2000):
        (home / f"{number:050}").write_text("")

    assert "too-many-files" == refused("find", folder=home)["reason"]


# -- git


def git(folder, *words):
    settings = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run(["git", *settings, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "repository"
    (folder / "docs").mkdir(parents=True)
    git(folder, "init", "-q")
    (folder / ".gitignore").write_text("*.log\n")
    for name in ("a.md", "docs/b.md", "docs/tee\tä.md", "new.md", "x.log"):
        (folder / name).write_text("")
    git(folder, "add", "a.md", "docs")
    return folder


@pytest.mark.parametrize(
    ("words", "files"),
    [
        ((), ["a.md", "docs/b.md", "docs/tee\tä.md"]),
        (("docs/*.md",), ["docs/b.md", "docs/tee\tä.md"]),
        (("--others", "--exclude-standard"), ["new.md"]),
        (("-c", "-o", "--exclude-standard", "--", "a.md", "new.md"), ["a.md", "new.md"]),
    ],
)
def test_git_names_what_it_knows(repository, words, files):
    """Names with any letters, and no hidden ones."""
    assert files == sorted(listed("git", "ls-files", *words, folder=repository).value)


def test_git_is_asked_from_the_programs_folder(repository):
    """Which may lie in a repository."""
    assert ("b.md",) == listed("git", "ls-files", "b.md", folder=repository / "docs").value


def test_the_settings_of_a_repository_run_nothing(repository, tmp_path, monkeypatch):
    """Whoever wrote the folder wrote its `.git` too; nor does the environment."""
    made = tmp_path / "made"
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {made}\n")
    evil.chmod(0o755)
    hooks = repository / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("post-index-change", "fsmonitor-watchman", "query-watchman"):
        (hooks / hook).write_text(evil.read_text())
        (hooks / hook).chmod(0o755)
    for setting in ("core.fsmonitor", "core.pager", "pager.ls-files", "filter.x.clean"):
        git(repository, "config", setting, str(evil))
    git(repository, "config", "alias.ls-files", f"!{evil}")
    (repository / ".gitattributes").write_text("* filter=x\n")
    (repository / "a.md").write_text("changed")
    made.unlink(missing_ok=True)
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(evil))
    words = ("git", "ls-files", "-c", "-o", "--exclude-standard")

    assert "a.md" in listed(*words, folder=repository).value
    assert not made.exists()


# -- What is printed


@pytest.mark.parametrize(
    ("command", "printed", "paths"),
    [
        ("ls", "b.md\na.md\n", "b.md a.md"),
        ("ls sub", "x.md\n", "sub/x.md"),
        ("ls -1 sub/", "x.md\n", "sub/x.md"),
        ("ls sub", "sub/x.md\n", "sub/x.md"),
        ("ls x.md", "x.md\n", "x.md"),
        ("ls /", "x.md\n", "/x.md"),
        ("ls -d sub x.md", "sub\nx.md\n", "sub x.md"),
        ("ls sub x.md a", "x.md\n\na:\ny:\n\nsub:\nx.md\n", "x.md a/y: sub/x.md"),
        ("ls -R", ".:\nsub\nx.md\n\n./sub:\nx.md\n", "./sub ./x.md ./sub/x.md"),
        ("find .", "./b\n./a\n", "./a ./b"),
        ("git ls-files", "b\0a\0", "b a"),
    ],
)
def test_what_a_command_prints_is_read_where_it_is(command, printed, paths):
    """`ls` says names without their folder; the order of `find` is that of the disk."""
    command = parse_listing(tuple(command.split()))

    assert isinstance(command, Listing)
    assert tuple(paths.split()) == parse_paths(command, printed)
