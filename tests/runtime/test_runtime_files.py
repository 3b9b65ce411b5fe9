"""Files: inside the permitted places, never through what leads out of them."""

import os
import stat
import threading

import pytest
from runtime_support import begun, error_of, perform, table

from sexplang.machine import Done
from sexplang.runtime import Permissions, Refusal, drive
from sexplang.runtime.files import confined_open, file_reader, file_writer
from sexplang.terms.texts.wildcards import matches


@pytest.fixture
def home(tmp_path):
    """A program's folder with a neighbour that is none of its business."""
    folder = tmp_path / "home"
    (folder / "docs").mkdir(parents=True)
    (folder / "a.txt").write_text("alpha")
    (folder / "docs" / "b.md").write_text("beta")
    (folder / ".env").write_text("hidden")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("hidden")
    neighbour = tmp_path / "home-evil"
    neighbour.mkdir()
    (neighbour / "secret.txt").write_text("secret")
    return folder


@pytest.fixture(params=["kernel", "step by step"])
def both_ways(request, monkeypatch):
    """With the kernel's own resolution and without it."""
    if request.param == "step by step":
        monkeypatch.setattr(confined_open, "_kernel_resolves", lambda: False)


def read(path, permissions):
    return drive(begun(perform("read-file", path)), table(permissions=permissions))


def code(path, permissions):
    return error_of(read(path, permissions))["reason"]


def test_a_program_reads_below_its_own_folder(home, both_ways):
    """By relative and by absolute name."""
    own = Permissions(folder=home)

    assert Done("alpha") == read("a.txt", own)
    assert Done("beta") == read("docs/../docs/./b.md", own)
    assert Done("alpha") == read(str(home / "a.txt"), own)


@pytest.mark.parametrize(
    "path",
    [
        "../home-evil/secret.txt",
        "/etc/passwd",
        "/proc/self/environ",
        ".env",
        ".git/config",
        "docs/../.env",
        "docs",
        ".",
        "",
        "a\0b",
        "x" * 5000,
        "out",
        "out-absolute",
        "loop",
        "to-env",
        "to-git/config",
        "to-home-evil/secret.txt",
        "hard",
        "pipe",
    ],
)
def test_what_leads_elsewhere_is_denied(home, both_ways, path):
    """Out of the folder, to hidden names, to what is no regular file with one name."""
    evil = home.parent / "home-evil"
    (home / "out").symlink_to("../home-evil/secret.txt")
    (home / "out-absolute").symlink_to(evil / "secret.txt")
    (home / "loop").symlink_to("loop")
    (home / "to-env").symlink_to(".env")
    (home / "to-git").symlink_to(".git")
    (home / "to-home-evil").symlink_to(evil)
    os.link(evil / "secret.txt", home / "hard")
    os.mkfifo(home / "pipe")

    assert "path-denied" == code(path, Permissions(folder=home))


def test_a_link_that_stays_inside_is_followed(home):
    """Where the kernel resolves paths."""
    (home / "inside").symlink_to("docs/b.md")

    assert Done("beta") == read("inside", Permissions(folder=home))


def test_nothing_is_given_to_a_program_without_a_folder(home, monkeypatch):
    """Source from standard input or from Python text."""
    monkeypatch.chdir(home)

    assert "path-denied" == code("a.txt", Permissions())
    assert Done("alpha") == read("a.txt", Permissions(read=["."]))
    assert Done("alpha") == read("a.txt", Permissions(read=["a.txt"]))
    assert "path-denied" == code("docs/b.md", Permissions(read=["a.txt"]))


def test_a_name_with_a_dot_is_given_only_by_name(home):
    """A folder's grant does not cover it."""
    assert "path-denied" == code(".env", Permissions(read=[home]))
    assert Done("hidden") == read(str(home / ".env"), Permissions(read=[home / ".env"]))
    assert Done("hidden") == read(str(home / ".git/config"), Permissions(read=[home / ".git"]))


def test_a_link_swapped_in_at_any_moment_never_leaks(home):
    """Nothing is checked first and opened afterwards."""
    evil = home.parent / "home-evil" / "secret.txt"
    (home / "file").write_text("mine")
    (home / "link").symlink_to(evil)
    (home / "target").write_text("mine")
    done = threading.Event()

    def swap():
        while not done.is_set():
            os.replace(home / "file", home / "kept")
            os.replace(home / "link", home / "file")
            os.replace(home / "file", home / "link")
            os.replace(home / "kept", home / "file")

    swapper = threading.Thread(target=swap)
    swapper.start()
    seen = set()
    try:
        for _ in range(3000):
            try:
                seen.add(file_reader.read_file("file", Permissions(folder=home)))
            except Refusal as refusal:
                seen.add(refusal.error.fields["reason"])
    finally:
        done.set()
        swapper.join()

    assert seen <= {"mine", "path-denied", "file-not-found"}


def test_missing_large_and_binary_files_are_errors(home):
    """Never cut off, never guessed at."""
    (home / "big").write_bytes(b"x" * 1_000_001)
    (home / "most").write_bytes(b"x" * 1_000_000)
    (home / "binary").write_bytes(b"ab\xff")
    own = Permissions(folder=home)

    assert "file-not-found" == code("none.txt", own)
    assert "file-not-found" == code("a.txt/b", own)
    assert "file-too-large" == code("big", own)
    assert 1_000_000 == len(read("most", own).value)
    assert "not-text" == code("binary", own)
    assert "wrong-type" == code(3, own)


def test_a_byte_order_mark_is_no_part_of_a_text(home):
    """Only the one at the beginning; where what follows is no text, the byte is the file's own."""
    (home / "marked.txt").write_bytes(b"\xef\xbb\xbfa\xef\xbb\xbfb")
    (home / "broken.txt").write_bytes(b"\xef\xbb\xbfa\xff")
    own = Permissions(folder=home)

    assert Done("a\ufeffb") == read("marked.txt", own)
    assert "byte 4 is 0xff" in error_of(read("broken.txt", own))["message"]


def test_files_are_listed_in_order_without_hidden_ones(home):
    """Relative to the program's folder."""
    (home / "docs" / "deep").mkdir()
    (home / "docs" / "deep" / "c.md").write_text("")
    (home / "docs" / ".d.md").write_text("")
    (home / "link.md").symlink_to("docs/b.md")
    own = Permissions(folder=home)

    def listed(pattern):
        return drive(begun(perform("list-files", pattern)), table(permissions=own)).value

    assert ("a.txt", "link.md") == listed("*")
    assert ("docs/b.md",) == listed("docs/*.md")
    assert ("docs/b.md", "docs/deep/c.md") == listed("docs/**/*.md")
    assert ("a.txt", "docs/b.md", "docs/deep/c.md", "link.md") == listed("**")
    assert ("docs/b.md",) == listed("*/b.md")
    assert ("a.txt", "link.md") == listed(None)
    assert () == listed("nowhere/*")
    with pytest.raises(Refusal) as raised:
        file_reader.list_files("../*", own)
    assert "path-denied" == raised.value.error.fields["reason"]
    with pytest.raises(Refusal) as raised:
        file_reader.list_files("**", own, most=3)
    assert "too-many-files" == raised.value.error.fields["reason"]


def test_what_is_listed_can_be_read_and_what_is_not_cannot(home, both_ways):
    """Under the names of links, too."""
    (home / "inside").symlink_to("docs/b.md")
    (home / "chain").symlink_to("inside")
    (home / "docs" / "up").symlink_to("../a.txt")
    (home / "outside").symlink_to("../home-evil/secret.txt")
    (home / "hidden").symlink_to(".env")
    (home / "nowhere").symlink_to("nothing")
    (home / "folder").symlink_to("docs")
    os.link(home / "docs" / "b.md", home / "hard")
    os.link(home / ".env", home / "hard-hidden")
    (home / "docs" / "c.md").write_text("gamma")
    (home / "to-c").symlink_to("docs/c.md")
    os.mkfifo(home / "pipe")
    (home / "to-pipe").symlink_to("pipe")
    own = Permissions(folder=home)

    there = [os.path.join(at, name) for at, _, names in os.walk(home) for name in names]
    names = {os.path.relpath(path, home) for path in there if "/." not in path}
    readable = {name for name in names if isinstance(read(name, own), Done)}
    assert readable == set(file_reader.list_files("**", own))
    assert {"a.txt", "docs/c.md"} <= readable
    assert confined_open._kernel_resolves() == ({"docs/up", "to-c"} <= readable)


def test_patterns_take_no_longer_than_their_lengths_allow():
    """A pattern from anywhere is safe to match."""
    assert matches(["a"] * 60, ["**"] * 30 + ["a"])
    assert not matches(["a"] * 60, ["**", "*"] * 20 + ["b"])
    assert not matches(["a" * 200], ["*a" * 30 + "b"])


def test_writing_needs_its_own_permission(home):
    """The right to read gives none."""
    write = begun(perform("write-file", "new.txt", "text"))
    refused = drive(write, table(permissions=Permissions(folder=home)))
    done = drive(write, table(permissions=Permissions(folder=home, write=[home])))

    assert "--allow-write" in error_of(refused)["hint"]
    assert Done(None) == done
    assert "text" == (home / "new.txt").read_text()
    assert [] == [name for name in os.listdir(home) if name.startswith(".new")]


def test_writing_replaces_a_file_whole_and_follows_no_link(home):
    """A link on the way is no way out, and what is beyond it stays as it was."""
    evil = home.parent / "home-evil"
    (home / "away").symlink_to(evil)
    allowed = Permissions(folder=home, write=[home])

    file_writer.write_file("a.txt", "new", allowed)
    with pytest.raises(Refusal) as raised:
        file_writer.write_file("away/secret.txt", "mine", allowed)

    assert "path-denied" == raised.value.error.fields["reason"]
    assert "secret" == (evil / "secret.txt").read_text()
    assert "new" == (home / "a.txt").read_text()
    for path in ("none/x", "docs", ".env", "../x", "docs/"):
        with pytest.raises(Refusal):
            file_writer.write_file(path, "x", allowed)


@pytest.mark.parametrize(
    "target", ["a.txt", "../home-evil/secret.txt", "/dev/zero", "nowhere", "link"]
)
def test_a_link_is_not_replaced(home, target):
    """Wherever it leads: it stays a link, and what it leads to stays as it was."""
    (home / "link").symlink_to(target)
    before = (home / "a.txt").read_text()
    allowed = Permissions(folder=home, write=[home])

    error = error_of(drive(begun(perform("write-file", "link", "x")), table(permissions=allowed)))

    assert ("path-denied", "link may not be written: it is a link") == (
        error["reason"],
        error["message"],
    )
    assert "name the file that it leads to" == error["hint"]
    assert target == os.readlink(home / "link")
    assert before == (home / "a.txt").read_text()
    assert [] == [name for name in os.listdir(home) if name.startswith(".link")]


def test_writing_keeps_the_permissions_of_a_file(home):
    """Also those of a file that only some may read."""
    (home / "a.txt").chmod(0o640)

    file_writer.write_file("a.txt", "new", Permissions(folder=home, write=[home]))

    assert 0o640 == stat.S_IMODE((home / "a.txt").stat().st_mode)


def test_only_a_regular_file_that_may_be_written_is_replaced(home):
    """A pipe, a folder and a write-protected file stay what they are; the words say why."""
    allowed = Permissions(folder=home, write=[home])
    os.mkfifo(home / "pipe")
    (home / "fixed.txt").write_text("fixed")
    (home / "fixed.txt").chmod(0o444)

    for path, words in [
        ("pipe", "pipe may not be written: it is not a regular file"),
        ("docs", "docs may not be written: it is a folder"),
        ("a.txt/", "a.txt/ may not be written: a path that ends in / names a folder"),
        ("new/.", "new/. may not be written: a path that ends in / names a folder"),
        ("fixed.txt", "fixed.txt may not be written: it is write-protected"),
    ]:
        error = error_of(drive(begun(perform("write-file", path, "x")), table(permissions=allowed)))
        assert ("path-denied", words) == (error["reason"], error["message"])
        assert "--allow" not in error["hint"]
    assert stat.S_ISFIFO((home / "pipe").stat().st_mode)
    assert "fixed" == (home / "fixed.txt").read_text()
    assert not (home / "new").exists()


def test_a_missing_folder_is_named(home):
    """`write-file` makes files, no folders."""
    allowed = Permissions(folder=home, write=[home])
    error = error_of(drive(begun(perform("write-file", "no/x", "y")), table(permissions=allowed)))

    assert ("file-not-found", "there is no folder no") == (error["reason"], error["message"])


def test_the_key_is_not_written(home, monkeypatch):
    """Files leave the run, too."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret-123")
    allowed = Permissions(folder=home, write=[home])

    drive(begun(perform("write-file", "k", "a sk-ant-secret-123")), table(permissions=allowed))

    assert "a [redacted]" == (home / "k").read_text()


@pytest.mark.parametrize("arguments", [("a", "\ud800"), ("\udc80", "a")])
def test_half_of_a_surrogate_pair_is_no_text_to_write(home, arguments):
    """Neither as a text nor as a name."""
    allowed = Permissions(folder=home, write=[home])
    error = error_of(drive(begun(perform("write-file", *arguments)), table(permissions=allowed)))

    assert "not-text" == error["reason"]


def test_bytes_are_read_as_base64(tmp_path):
    """What is no text can be read so; what is too large for a model is refused."""
    (tmp_path / "cup.png").write_bytes(b"\x89PNG\r\n")
    (tmp_path / "big.png").write_bytes(b"x" * 5_000_001)
    permissions = Permissions(folder=tmp_path)

    def read(*arguments):
        return drive(begun(perform("read-file", *arguments)), table(permissions=permissions))

    assert Done("iVBORw0K") == read("cup.png", "base64")
    assert "not-text" == error_of(read("cup.png"))["details"].get(
        "code", error_of(read("cup.png"))["reason"]
    )
    assert "big.png" in error_of(read("big.png", "base64"))["message"]
    assert "base64" in error_of(read("cup.png", "hex"))["message"]
