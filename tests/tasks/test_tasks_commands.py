"""Commands that find a task's files: what is asked for."""

from tasks_driver import converse, failure, says, template

from sexplang.terms.template import FilePaths


def test_no_value_becomes_part_of_a_command():
    """Not even where a template came past the check."""
    task = template("Do it.", "word", file_paths=FilePaths("command", text="find {{word}}"))
    run = converse(task, [(failure("run-denied"),), says("ok")], {"word": "docs -delete"})

    assert [ask.arguments for ask in run.performed[0].asks] == [(("find", "{{word}}"),)]


def test_a_command_that_names_nothing_is_a_warning():
    task = template(file_paths=FilePaths("command", text="find docs -name '*.md'"))
    run = converse(task, [((),), says("ok")])

    assert run.notes["context_source"] == "resolution_failed"
    assert run.notes["warnings"] == (
        "the files of task `t` could not be found: "
        "`find docs -name *.md` names no file that may be read",
    )
