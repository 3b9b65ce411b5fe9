"""Commands that find a task's files: what is run, and what becomes of what they print."""

import pytest
from tasks_driver import converse, failure, says, template

from sexplang.terms.template import FilePaths


def test_a_command_whose_quotation_mark_is_never_closed_is_a_warning_that_says_so():
    """Where a template came past the check; the host refuses to run it."""
    task = template(file_paths=FilePaths("command", text='find a"'))
    run = converse(task, [(failure("run-denied"),), says("ok")])

    (warning,) = run.notes["warnings"]
    assert warning.endswith('a quotation mark in the command `find a"` is never closed')


def test_no_value_becomes_part_of_a_command():
    """Not even where a template came past the check."""
    task = template("Do it.", "word", file_paths=FilePaths("command", text="find {{word}}"))
    run = converse(task, [(failure("run-denied"),), says("ok")], {"word": "docs -delete"})

    assert [ask.arguments[:2] for ask in run.performed[0].asks] == [("find", ("{{word}}",))]


@pytest.mark.parametrize(
    ("command", "printed", "paths"),
    [
        ("ls", "b.md\na.md\n", "b.md a.md"),
        ("ls sub", "x.md\n", "sub/x.md"),
        ("/bin/ls -1 sub/", "x.md\n", "sub/x.md"),
        ("ls sub", "sub/x.md\n", "sub/x.md"),
        ("ls x.md", "x.md\n", "x.md"),
        ("ls /", "x.md\n", "/x.md"),
        ("ls -d sub x.md", "sub\nx.md\n", "sub x.md"),
        ("ls sub x.md a", "x.md\n\na:\ny:\n\nsub:\nx.md\n", "x.md a/y: sub/x.md"),
        ("ls -R", ".:\nsub\nx.md\n\n./sub:\nx.md\n", "./sub ./x.md ./sub/x.md"),
        ("find .", "./b\n./a\n", "./a ./b"),
        ("git ls-files", "b\n a\n\n", "b a"),
    ],
)
def test_what_a_command_prints_is_read_where_it_is(command, printed, paths):
    """`ls` says names without their folder; the order of `find` is that of the disk."""
    task = template(file_paths=FilePaths("command", text=command))
    reply = {"exit_code": 0, "stdout": printed, "stderr": "", "truncated": False}
    run = converse(task, [(reply,), tuple(paths.split()), says("ok")])

    assert paths.split() == [ask.arguments[0] for ask in run.performed[1].asks]


@pytest.mark.parametrize("command", ["ls -l", "ls -m sub", "dir"])
def test_what_says_no_paths_is_a_warning(command):
    task = template(file_paths=FilePaths("command", text=command))
    reply = {"exit_code": 0, "stdout": "x.md\n", "stderr": "", "truncated": False}
    run = converse(task, [(reply,), says("ok")])

    assert "says with these options no paths" in run.notes["warnings"][0]
