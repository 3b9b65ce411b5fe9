"""`edit-file`, and the tools that write: passages of files, and what a model may not have."""

import os

import pytest

import sexplang


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(text, **options):
    permissions = sexplang.Permissions(folder=".", write=["."])
    return sexplang.run(text, permissions=options.pop("permissions", permissions), **options)


def refusal(text, **options):
    with pytest.raises(sexplang.Failed) as failed:
        run(text, **options)
    return failed.value.error.fields["reason"]


def test_a_passage_is_replaced_and_the_rest_stays_byte_by_byte(folder):
    file = folder / "a.txt"
    file.write_bytes(b"\xef\xbb\xbfone\r\ntwo\n\xff\0three")
    os.chmod(file, 0o640)

    assert run('(edit-file "a.txt" "two\\n" "zwölf\\n")') is None
    assert file.read_bytes() == b"\xef\xbb\xbfone\r\nzw\xc3\xb6lf\n\xff\0three"
    assert file.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("old", ["tea", "milk", ""])
def test_a_passage_that_does_not_stand_once_is_refused(folder, old):
    (folder / "a.txt").write_text("tea tea")

    assert refusal(f'(edit-file "a.txt" "{old}" "x")') == "edit-failed"
    assert (folder / "a.txt").read_text() == "tea tea"


def test_an_edit_needs_both_permissions(folder):
    (folder / "a.txt").write_text("tea")
    edit = '(edit-file "a.txt" "tea" "milk")'

    assert refusal(edit, permissions=sexplang.Permissions(folder=".")) == "path-denied"
    assert refusal(edit, permissions=sexplang.Permissions(write=["."])) == "path-denied"
    assert refusal('(edit-file "../a.txt" "a" "b")') == "path-denied"
    assert refusal('(edit-file "b.txt" "a" "b")') == "file-not-found"
    assert refusal('(edit-file "a.txt" 1 "b")') == "wrong-type"


def test_a_credential_in_the_file_stays_there(folder, monkeypatch):
    """The rest of the file is not looked through; what a program puts there is."""
    monkeypatch.setenv("SHOP_TOKEN", "canary-7f3a9c-0815")
    (folder / "a.txt").write_text("token canary-7f3a9c-0815\nname tea")
    run('(edit-file "a.txt" "tea" "canary-7f3a9c-0815")')

    assert (folder / "a.txt").read_text() == "token canary-7f3a9c-0815\nname [redacted]"


TASK = '(defatom t (instructions "Go.") (allowed_tools write_file edit_file read_file)) (t)'


def told(calls, text=TASK, **options):
    """What a model is told of its calls: the content and whether it is an error, by id."""
    seen = []
    uses = [
        {"type": "tool_use", "id": name, "name": tool, "input": given}
        for name, tool, given in calls
    ]
    replies = [uses, "Done."]

    def model(payload):
        seen.append(payload)
        return replies.pop(0)

    run(text, model=model, **options)
    blocks = seen[-1]["messages"][-1]["content"]
    return {each["tool_use_id"]: (each["content"], each.get("is_error", False)) for each in blocks}


def test_a_model_writes_and_edits_where_it_may(folder):
    found = told(
        [
            ("a", "write_file", {"path": "a.txt", "text": ""}),
            ("b", "write_file", {"path": "../b.txt", "text": "x"}),
            ("c", "edit_file", {"path": "c.txt", "old": "x", "new": "y"}),
            ("d", "edit_file", {"path": "a.txt", "old": "", "new": "y"}),
            ("e", "write_file", {"path": "a.txt", "text": "x", "mode": "a"}),
        ]
    )

    assert found["a"] == ("", False)
    assert [found[name][1] for name in "bcde"] == [True] * 4
    words = ("path-denied", "file-not-found", "`old` must be text", "`mode` is none of its inputs")
    assert [each in found[name][0] for name, each in zip("bcde", words, strict=True)] == [True] * 4
    assert (folder / "a.txt").read_text() == ""


def test_without_a_folder_to_write_a_model_is_told_so():
    found = told(
        [("a", "write_file", {"path": "a.txt", "text": "x"})],
        permissions=sexplang.Permissions(folder="."),
    )

    assert "no folder to write was given" in found["a"][0]


def test_own_tools_hide_the_built_in_ones(folder):
    """Programs and callers may have had tools of these names before."""

    def edit_file(path: str) -> str:
        """Mine."""
        return f"edited {path}"

    text = """(define (write_file path) "Writes it." (str "wrote " path))
              (defatom t (instructions "Go.") (allowed_tools write_file edit_file)) (t)"""
    calls = [("a", "write_file", {"path": "p"}), ("b", "edit_file", {"path": "q"})]

    assert told(calls, text, tools=[edit_file]) == {
        "a": ("wrote p", False),
        "b": ("edited q", False),
    }
    assert sexplang.run("(fetch 1 2)", effects={"fetch": lambda a, b: a + b}) == 3
    assert sexplang.run("(fetch 1 2)", primitives={"fetch": lambda a, b: a + b}) == 3
    assert sexplang.run('(define (fetch a) (str a "!")) (fetch "a")') == "a!"


def test_a_test_has_files_to_edit(folder, capsys):
    from sexplang.hosts import main as command

    (folder / "a.test.sexp").write_text(
        """(test "edits"
             files: {"a.txt": "one two"}
             (begin (edit-file "a.txt" "two" "three") (read-file "a.txt"))
             expect: "one three")"""
    )
    command(["test", "a.test.sexp"])
    assert "1 passed" in "".join(capsys.readouterr())


def test_check_names_the_permissions(folder, capsys):
    from sexplang.hosts import main as command

    (folder / "a.sexp").write_text(
        """(define (go path) (edit-file "out/a.txt" "a" "b") (fetch "https://tea.example/x"))
           (go "a")"""
    )
    command(["check", "a.sexp"])
    said = "".join(capsys.readouterr())

    assert "needs --allow-write out/a.txt for a file" in said
    assert "needs --allow-net tea.example for a page" in said
