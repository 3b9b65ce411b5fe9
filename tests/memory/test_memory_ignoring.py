"""What a `.gitignore` leaves out: what git leaves out, which is asked itself."""

import os
import shutil
from time import process_time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from memory_support import filled, git

from sexplang.runtime.memory.scan.globs import glob
from sexplang.runtime.memory.scan.ignore_rules import pattern, rules
from sexplang.runtime.memory.scan.walk import Walk

NAMES = ["a", "b", "ab", "ba", "foo", "Foo", "a b", "x[1]", "#h", "!n", "back\\s", "tr ", "é", "-"]
FILES = [name + end for name in NAMES for end in ("", ".md", ".txt")]
PIECES = [
    *("a", "b", "foo", "é", "md", ".", " ", "-", "!", "#", "\\", "\\ ", "\\*", "\t", "\r"),
    *("*", "**", "***", "?", "/", "/**/", "**/", "/**", "*/", "*.md", "*.txt", "!*.md", "!a"),
    *("[ab]", "[!a]", "[^b]", "[a-f]", "[]-]", "[", "]", "[[]", "[]", "[[:alpha:]]", "[[:x:]]"),
    *("[[:upper:]o]", "[a/b]", "[\\]]", "[!-b]", "[a-", "[[:", "[[::]]"),
]
lines = st.one_of(
    st.sampled_from(
        ["*", "!*/", "/*", "!/*/", "a/", "!a/", "*.md", "!*.md", "a/b", "**/b", "a/**"]
    ),
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join),
)
folders = st.lists(st.sampled_from(NAMES), max_size=3).map("/".join)
trees = st.lists(st.tuples(folders, st.sampled_from(FILES)), min_size=1, max_size=14)
ignores = st.dictionaries(folders, st.lists(lines, min_size=1, max_size=4), max_size=3)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """An empty one."""
    folder = tmp_path_factory.mktemp("ignoring") / "shop"
    folder.mkdir()
    git(folder, "init", "--quiet")
    return folder


def agreed(folder, tree, said):
    """Fills a repository and asks both, git and the index, which files are in it."""
    for path in folder.iterdir():
        if path.name != ".git":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for where, name in tree:
        path = folder / where / name
        if not path.exists() and not any(each.is_file() for each in path.parents):
            filled(folder, {os.path.join(where, name): "x"})
    for where, written in said.items():
        if (folder / where).is_dir():
            (folder / where / ".gitignore").write_bytes("\n".join(written).encode())
    options = ("-c", "core.excludesFile=/dev/null")
    names = git(folder, *options, "ls-files", "-o", "--exclude-standard", "-z").split("\0")

    assert sorted(name for name in names if name and "/." not in f"/{name}") == sorted(
        found.path for found in Walk(str(folder)).files()
    ), said


SHOP = [("", "a"), ("", "b.md"), ("src", "a.md"), ("src/deep", "k.md"), ("src/deep", "[x")]


@settings(max_examples=60, deadline=None)
@given(trees, ignores)
@example(SHOP, {"": ["*", "!*/", "!*.md"]})
@example(SHOP, {"": ["deep/", "!src/"]})
@example(SHOP, {"": ["deep", "!/*/"]})
@example(SHOP, {"": ["[[]x"]})
@example(SHOP, {"": ["*", "!src/"], "src": ["!a.md"]})
@example([("a/b", "x"), ("", "ab"), ("ax", "b")], {"": ["/a**/b"]})
@example([("a/b/c", "x"), ("a/c", "x")], {"": ["a/**/c"]})
def test_what_git_leaves_out_is_left_out(repository, tree, said):
    """Whatever the lines, in whatever folders."""
    agreed(repository, tree, said)


@pytest.mark.long
@settings(max_examples=3000, deadline=None)
@given(trees, ignores)
def test_what_git_leaves_out_is_left_out_always(repository, tree, said):
    """The same, for longer."""
    agreed(repository, tree, said)


@pytest.mark.parametrize(
    "line",
    [
        *("*a" * 40 + "b", "**/a/" * 40 + "b", "**/*a*a*a/" * 12 + "b", "a*" * 40 + "/b"),
        *("?*" * 60, "[a]*" * 40 + "b", "*" * 5000 + "b", "**/" * 500 + "b", "*/" * 40 + "b"),
    ],
)
def test_no_line_takes_long(line):
    """A path of many letters, or of many folders, is soon compared."""
    (own,) = rules(line.encode())
    begun = process_time()
    for path in ("a" * 250, "/".join(["a" * 8] * 100), "/".join("a" * 400)):
        own.says(path, is_folder=False)

    assert process_time() - begun < 1.0


@pytest.mark.parametrize(
    "line", ["", " ", "/", "!", "!/", "#a", "[", "a[b", "[[:no:]]", "a\\", "[/]"]
)
def test_a_line_that_fits_nothing_is_none(line):
    """It is passed over in a file."""
    assert glob(line.encode()) is None
    assert () == rules(line.encode())


def test_a_line_longer_than_any_path_is_none():
    """It is not even read."""
    begun = process_time()

    assert () == rules(b"*a" * 500_000)
    assert process_time() - begun < 1.0


def test_a_file_of_patterns_may_be_written_elsewhere():
    """With a mark at its start, carriage returns, and bytes that are no UTF-8."""
    (own,) = rules(b"\xef\xbb\xbf*.log\r\ncaf\xe9\r\n")

    assert own.says("a.log", is_folder=False) and own.says("caf\udce9", is_folder=False)
    assert own.says("b.md", is_folder=False) is None


def test_a_file_of_patterns_that_is_a_link_or_a_pipe_says_nothing(tmp_path):
    """As to git; and nobody waits for it."""
    for name in ("link", "pipe"):
        filled(tmp_path / name, {"a.md": "a", "inner/b.md": "b"})
        git(tmp_path / name, "init", "--quiet")
    (tmp_path / "rules").write_text("*.md")
    (tmp_path / "link/.gitignore").symlink_to(tmp_path / "rules")
    os.mkfifo(tmp_path / "pipe/.gitignore")

    for name in ("link", "pipe"):
        assert 2 == len(list(Walk(str(tmp_path / name)).files()))
        assert 1 == len(list(Walk(str(tmp_path / name / "inner")).files()))


def test_patterns_of_a_person_fit_what_lies_in_a_folder(tmp_path):
    """A folder that fits has all that is in it; a later line takes away."""
    filled(tmp_path, dict.fromkeys(["docs/a.md", "docs/in/b.md", "c.md", "d.py"], "x"))

    def chosen(**patterns):
        return sorted(found.path for found in Walk(str(tmp_path), **patterns).files())

    assert ["docs/a.md", "docs/in/b.md"] == chosen(include=("docs/",))
    assert ["docs/in/b.md"] == chosen(include=("in",))
    assert ["c.md", "d.py"] == chosen(exclude=("docs",))
    assert ["c.md"] == chosen(include=("/*.*", "!*.py"), exclude=("docs",))
    assert pattern(()) is None
