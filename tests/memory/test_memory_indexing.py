"""What is in an index: which files, what is known of each, and what is read again."""

import os
from hashlib import sha256

import pytest
from memory_support import FILES, committed, filled, git, indexed, names, repository, rows

from sexplang.runtime import Refusal
from sexplang.runtime.memory import MemorySystem
from sexplang.runtime.memory.store import open_to_change


def test_what_is_known_of_a_file(tmp_path):
    """Its name, size, time, digest, summary and identifiers, and its last commit."""
    folder = repository(tmp_path / "shop")
    head = git(folder, "rev-parse", "HEAD")
    row = rows(indexed(folder), folder)["src/kettle.py"]
    data = FILES["src/kettle.py"].encode()

    assert row == {
        "path": str(folder / "src/kettle.py"),
        "filename": "kettle.py",
        "extension": "py",
        "size": len(data),
        "mtime": (folder / "src/kettle.py").stat().st_mtime_ns / 1e9,
        "digest": sha256(data).hexdigest(),
        "summary": "Boils water.",
        "identifiers": ["Kettle", "boilWater"],
        "commit": head,
        "author": "Ada Bell",
        "date": "2026-01-02T03:04:05+00:00",
    }


def test_the_metadata_as_text(tmp_path):
    """A line for each thing that is known, as a model reads it."""
    folder = filled(tmp_path)
    text = indexed(folder).entries()[str(folder / "docs/tea.md")]

    assert text.splitlines() == [
        f"File: {folder}/docs/tea.md",
        "Filename: tea.md",
        "Extension: md",
        "Size: 63 bytes",
        "Summary: Green tea: How a pot of green tea is brewed.",
        "Identifiers: Green tea, Water",
    ]


def test_no_contents_are_kept(tmp_path):
    """What stands in a file beside its summary and its identifiers is nowhere in the index."""
    body = "\n".join(f"value_{n} = 'a secret word {n}'" for n in range(200))
    folder = filled(tmp_path, {"a.py": f'"""Sets values."""\n\n\ndef f():\n    pass\n\n{body}\n'})
    memory = indexed(folder)

    data = b"".join(path.read_bytes() for path in (folder / ".sexplang").iterdir())
    assert b"Sets values" in data
    assert b"secret" not in data
    assert [] == memory.search("secret")["matches"]


def test_ignore_rules_are_those_of_git(tmp_path):
    """Nested files, negation, folders, anchors; `.git` and other dotted names never."""
    folder = repository(
        tmp_path / "shop",
        {
            ".gitignore": "*.log\n!keep.log\nbuild/\n/top.txt\n\\\n",
            "a.log": "a",
            "keep.log": "kept",
            "top.txt": "t",
            "build/out.txt": "o",
            "src/top.txt": "t",
            "src/.gitignore": "*.txt\n!top.txt\n/local/\n",
            "src/b.txt": "b",
            "src/local/c.md": "c",
            "src/deep/local/d.md": "d",
            "src/deep/.gitignore": "!b.txt\n",
            "src/deep/b.txt": "b",
            ".env": "SECRET=1",
            ".github/x.yml": "on: push",
        },
    )
    (folder / ".git/info/exclude").write_text("excluded.md\n")
    filled(folder, {"excluded.md": "e"})
    kept = ["keep.log", "src/deep/b.txt", "src/deep/local/d.md", "src/top.txt"]

    assert kept == names(indexed(folder), folder)
    ours = git(folder, "ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    assert kept == sorted(name for name in ours if "/." not in f"/{name}")


def test_rules_above_a_folder_count_inside_it(tmp_path):
    """Of the repository around; unless the folder itself was left out and asked for by name."""
    files = {".gitignore": "*.tmp\nbuild/\n", "src/a.py": "1", "src/b.tmp": "2", "build/c.py": "3"}
    folder = repository(tmp_path / "shop", files)
    memory = MemorySystem(tmp_path / "a.db")
    memory.add(folder / "src")
    memory.add(folder / "build")

    assert ["build/c.py", "src/a.py"] == names(memory, folder)


def test_a_folder_without_git_has_ignore_rules_too(tmp_path):
    """A `.gitignore` counts wherever it lies."""
    folder = filled(tmp_path, {".gitignore": "b.md\n", "a.md": "a", "b.md": "b"})

    assert ["a.md"] == names(indexed(folder), folder)


def test_what_is_no_text_is_left_out(tmp_path):
    """By extension, by signature, by bytes that no text has; and what is too large."""
    folder = filled(
        tmp_path,
        {
            "a.md": "a",
            "photo.JPG": "not looked at",
            "picture": b"\x89PNG\r\n\x1a\n" + bytes(100),
            "zeros.txt": b"text\0more",
            "controls.txt": bytes(range(1, 8)) * 20,
            "wide.txt": "Grüße".encode("utf-16"),
            "latin.txt": "Grüße".encode("latin-1"),
            "marked.md": "\ufeff# Title\n".encode(),
            "full.txt": b"x" * (1 << 20),
            "large.txt": b"x" * ((1 << 20) + 1),
        },
    )
    memory = MemorySystem(folder / ".sexplang/index.db")
    report = memory.add(folder)

    assert ["a.md", "full.txt", "latin.txt", "marked.md", "wide.txt"] == names(memory, folder)
    assert {"binary": 4, "large": 1} == report.skipped
    summaries = rows(memory, folder)
    assert ("Grüße", "Title") == (
        summaries["wide.txt"]["summary"],
        summaries["marked.md"]["summary"],
    )


def test_links_are_not_followed(tmp_path):
    """Neither those that lead out nor any other, nor hard links; a root may be one."""
    folder = filled(tmp_path / "shop", {"a.md": "a", "sub/b.md": "b"})
    outside = filled(tmp_path / "else", {"secret.md": "secret"})
    (folder / "out").symlink_to(outside)
    (folder / "out.md").symlink_to(outside / "secret.md")
    (folder / "inside").symlink_to("sub")
    (folder / "loop").symlink_to("loop")
    os.link(outside / "secret.md", folder / "hard.md")
    os.mkfifo(folder / "pipe")
    (tmp_path / "root").symlink_to(folder)
    memory = MemorySystem(tmp_path / "a.db")
    report = memory.add(tmp_path / "root")

    assert ["a.md", "sub/b.md"] == names(memory, folder)
    assert {"linked": 1} == report.skipped


def test_names_that_are_not_utf8_are_counted(tmp_path):
    """A file, and a folder with all that is in it; not those that a rule or a dot leaves out."""
    folder = filled(tmp_path / "shop", {"a.md": "a", ".gitignore": "*.log\n"})
    for name in (b"caf\xe9.md", b"caf\xe9.log", b".caf\xe9"):
        (folder / os.fsdecode(name)).write_text("x")
    filled(folder / os.fsdecode(b"\xff"), {"b.md": "b", "c.md": "c"})
    memory = MemorySystem(tmp_path / "a.db")

    assert {"misnamed": 2} == memory.add(folder).skipped
    assert ["a.md"] == names(memory, folder)
    with pytest.raises(Refusal, match="is not UTF-8"):
        memory.add(folder / os.fsdecode(b"\xff"))
    assert ["a.md"] == names(memory, folder)


@pytest.mark.parametrize("known", [False, True])
def test_only_folders_and_regular_files_are_indexed(tmp_path, known):
    """A pipe in a file's place is refused, not taken for no files."""
    place = tmp_path / "shop/a.md"
    memory = MemorySystem(tmp_path / "a.db")
    filled(tmp_path / "shop", {"a.md": "a"})
    if known:
        memory.add(place)
    place.unlink()
    os.mkfifo(place)

    with pytest.raises(Refusal, match="neither a folder nor a regular file"):
        memory.add(place)
    assert known == (tmp_path / "a.db").exists()


def test_patterns_choose(tmp_path):
    """Of a `.gitignore`'s kind; what is excluded is, whatever is included."""
    folder = filled(tmp_path)

    assert ["src/cup.py", "src/kettle.py"] == names(indexed(folder, include=["*.py"]), folder)
    chosen = indexed(folder, include=["docs/", "*.py"], exclude=["cup.*", "/docs/coffee.md"])
    assert ["docs/tea.md", "src/kettle.py"] == names(chosen, folder)
    assert sorted(FILES) == names(indexed(folder), folder)
    memory = indexed(folder)
    assert 1 == memory.add(folder / "docs/tea.md", exclude=["*.md"]).gone
    with pytest.raises(Refusal, match="no pattern"):
        indexed(folder, include=["!"])
    assert sorted(FILES) == names(indexed(folder), folder)


def test_what_has_not_changed_is_not_read_again(tmp_path):
    """Size and time decide, so another text of the same size and time stays unseen."""
    folder = filled(tmp_path)
    memory = indexed(folder)
    file = folder / "docs/tea.md"
    before, times = rows(memory, folder), file.stat()
    file.write_text(FILES["docs/tea.md"].replace("green", "black"))
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    report = memory.add(folder)

    assert (5, 0, 0, 0) == (report.files, report.new, report.changed, report.gone)
    assert before == rows(memory, folder)

    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns + 1))
    seen = []
    report = memory.add(folder, watch=lambda done, total: seen.append((done, total)))

    assert (0, 1, 0) == (report.new, report.changed, report.gone)
    assert "black" in rows(memory, folder)["docs/tea.md"]["summary"]
    assert [(0, 1)] == seen


def test_a_picture_without_a_name_is_not_read_again_either(tmp_path):
    """What was found to be no text is remembered."""
    folder = filled(tmp_path, {"a.md": "a", "picture": b"\0\1"})
    memory = indexed(folder)
    seen = []
    report = memory.add(folder, watch=lambda *counts: seen.append(counts))

    assert ([], {"binary": 1}) == (seen, report.skipped)
    (folder / "picture").write_text("now a text")
    assert (1, 0) == ((report := memory.add(folder)).new, report.changed)


def test_a_touched_file_has_not_changed(tmp_path):
    """Another time, the same contents."""
    folder = filled(tmp_path)
    memory = indexed(folder)
    os.utime(folder / "docs/tea.md", ns=(1, 1))
    report = memory.add(folder)

    assert (0, 0, 0) == (report.new, report.changed, report.gone)
    assert 1e-9 == rows(memory, folder)["docs/tea.md"]["mtime"]


def test_what_is_gone_is_forgotten(tmp_path):
    """A file, a folder, a file that was asked for by name, all of it."""
    folder = filled(tmp_path / "shop")
    memory = MemorySystem(tmp_path / "a.db")
    memory.add(folder)
    (folder / "docs/tea.md").unlink()
    (folder / "src/cup.py").rename(folder / "src/mug.py")
    report = memory.add(folder)

    assert (1, 0, 2) == (report.new, report.changed, report.gone)
    assert ["docs/coffee.md", "settings.toml", "src/kettle.py", "src/mug.py"] == names(
        memory, folder
    )
    assert [] == memory.search("green")["matches"]

    (folder / "settings.toml").unlink()
    assert 1 == memory.add(folder / "settings.toml").gone
    (folder / "src").rename(tmp_path / "away")
    assert 2 == memory.add(folder / "src").gone
    assert ["docs/coffee.md"] == names(memory, folder)


def test_a_file_or_a_part_leaves_the_rest_alone(tmp_path):
    """Only what lies below the path that was named is looked at."""
    folder = filled(tmp_path)
    memory = indexed(folder)
    filled(folder, {"docs/tea.md": "# Black tea", "docs/new.md": "n", "src/new.py": "n"})
    report = memory.add(folder / "docs/tea.md")

    assert (1, 0, 1, 0) == (report.files, report.new, report.changed, report.gone)
    report = memory.add(folder / "src")
    assert (3, 1, 0, 0) == (report.files, report.new, report.changed, report.gone)
    assert "docs/new.md" not in names(memory, folder)


def test_what_is_not_there_is_said(tmp_path):
    """And nothing is made for it."""
    memory = MemorySystem(tmp_path / ".sexplang/index.db")
    with pytest.raises(Refusal) as refused:
        memory.add(tmp_path / "nowhere")

    assert "file-not-found" == refused.value.error.fields["reason"]
    assert not (tmp_path / ".sexplang").exists()


def test_what_cannot_be_opened_is_said(tmp_path):
    """A link that leads to itself, say."""
    (tmp_path / "loop").symlink_to("loop")
    memory = indexed(filled(tmp_path / "shop"))
    with pytest.raises(Refusal) as refused:
        memory.add(tmp_path / "loop")

    assert "file-failed" == refused.value.error.fields["reason"]


def test_an_index_does_not_know_itself(tmp_path):
    """Nor what SQLite keeps beside it."""
    folder = filled(tmp_path)
    memory = MemorySystem(folder / "index")
    for _ in range(2):
        assert ({}, 5) == ((report := memory.add(folder)).skipped, report.files)


def test_the_largest_size_can_be_chosen(tmp_path):
    """In bytes."""
    folder = filled(tmp_path, {"a.md": "12345", "b.md": "123456"})

    assert ["a.md"] == names(indexed(folder, max_file_size=5), folder)


# -- Commits


def commits(memory, folder):
    return {name: (row["commit"][:7], row["author"]) for name, row in rows(memory, folder).items()}


def test_commits_follow_the_repository(tmp_path):
    """New commits, files that were changed before they were committed, renames, a branch that is
    gone, and none at all."""
    folder = repository(tmp_path / "shop", {"a.md": "a", "b.md": "b", "sub/c.md": "c"})
    first = git(folder, "rev-parse", "HEAD")[:7]
    memory = indexed(folder)
    filled(folder, {"a.md": "a, changed", "d.md": "new"})
    memory.add(folder)

    known = dict.fromkeys(("a.md", "b.md", "sub/c.md"), (first, "Ada Bell"))
    assert {**known, "d.md": ("", "")} == commits(memory, folder)

    second = committed(folder, person="Grace Moss")[:7]
    assert 0 == memory.add(folder).changed
    grace = (second, "Grace Moss")
    assert {**known, "a.md": grace, "d.md": grace} == commits(memory, folder)

    (folder / "b.md").rename(folder / "ü b.md")
    third = committed(folder)[:7]
    memory.add(folder)
    assert (third, "Ada Bell") == commits(memory, folder)["ü b.md"]

    git(folder, "reset", "--quiet", "--hard", first)
    memory.add(folder)
    assert known == commits(memory, folder)

    (folder / ".git").rename(tmp_path / "git")
    memory.add(folder)
    assert {("", "")} == set(commits(memory, folder).values())


def test_a_folder_in_a_repository_knows_its_commits(tmp_path):
    """Also where the index lies elsewhere, and for a file that was asked for by name."""
    folder = repository(tmp_path / "shop", {"a.md": "a", "sub/b.md": "b"})
    filled(folder, {"a.md": "more"})
    head = committed(folder)[:7]
    memory = MemorySystem(tmp_path / "a.db")
    memory.add(folder / "sub")
    memory.add(folder / "a.md")

    assert (head, "Ada Bell") == commits(memory, folder)["a.md"]
    assert commits(memory, folder)["sub/b.md"][1] == "Ada Bell"


def test_a_repository_without_commits_is_a_folder(tmp_path):
    """And so is one that git does not understand."""
    git(filled(tmp_path / "shop"), "init", "--quiet")
    filled(tmp_path / "broken").joinpath(".git").write_text("nonsense")
    for folder in (tmp_path / "shop", tmp_path / "broken"):
        assert {("", "")} == set(commits(indexed(folder), folder).values())


def test_without_git_nobody_changed_anything(tmp_path, monkeypatch):
    """git is not needed."""
    folder = repository(tmp_path / "shop")
    monkeypatch.setenv("PATH", str(tmp_path))

    assert {("", "")} == set(commits(indexed(folder), folder).values())


def test_an_index_from_elsewhere_says_nothing_to_git(tmp_path):
    """The commit that it has seen last is asked for only if it is one."""
    folder = repository(tmp_path / "shop")
    memory = indexed(folder)
    with open_to_change(memory.index) as connection:
        connection.execute("update roots set head = ?", (f"--output={tmp_path}/written",))
    memory.add(folder)

    assert not list(tmp_path.glob("written*"))
    assert "Ada Bell" in {author for _, author in commits(memory, folder).values()}


def test_a_repository_runs_nothing_of_its_own(tmp_path):
    """Its configuration may name programs; none is started."""
    folder = repository(tmp_path / "shop")
    for key in ("gpg.program", "core.pager", "core.fsmonitor", "diff.external", "core.sshCommand"):
        git(folder, "config", key, f"touch {tmp_path}/ran; false")
    git(folder, "config", "log.showSignature", "true")

    assert "Ada Bell" in {author for _, author in commits(indexed(folder), folder).values()}
    assert not (tmp_path / "ran").exists()
