"""`system:run_script` from a program: what goes in, and the TaskResult that comes out."""

import json

import pytest

import sexplang

ALLOWED = sexplang.Permissions(run=["sh", "wc"])
SPLIT = "echo tea; echo hot >&2; exit "


def said(program):
    """What a program says in JSON, with scripts that are really run."""
    return json.loads(sexplang.run(f"(json-string {program})", permissions=ALLOWED))


@pytest.mark.parametrize(("code", "status"), [(0, "COMPLETE"), (3, "FAILED")])
def test_a_result_has_both_outputs_and_the_exit_code(code, status):
    """On success and on failure; its text is what was written to standard output."""
    result = said(f'(system:run_script "sh" args: ["-c" "{SPLIT}{code}"])')

    assert (status, "tea\n") == (result["status"], result["content"])
    notes = result["notes"]
    assert ("tea\n", "hot\n", code, False) == (
        *(notes["stdout"], notes["stderr"]),
        *(notes["exit_code"], notes["truncated"]),
    )
    assert ("error" in notes) == (code != 0)


@pytest.mark.parametrize("cut", ["true", "false"])
def test_a_result_says_whether_its_output_was_cut(cut):
    """As whoever ran the script does."""
    answer = (
        f'((run-script c a i t) k (k {{exit_code: 0 stdout: "x" stderr: "" truncated: {cut}}}))'
    )
    result = said(f'(handle (system:run_script "sh") {answer})')

    assert (cut == "true") is result["notes"]["truncated"]


def test_a_failure_is_a_task_error_with_all_that_the_script_said():
    """A value until somebody raises it."""
    program = f'(system:run_script "sh" args: ["-c" "{SPLIT}3"])'
    error = said(f"(try (raise {program}) (catch (err tool_execution_error) err))")

    assert ("TASK_FAILURE", "tea\n") == (error["type"], error["content"])
    details = error["details"]
    assert ("tea\n", "hot\n", 3) == (
        *(details["script_stdout"], details["script_stderr"]),
        details["script_exit_code"],
    )
    assert "`sh` ended with exit code 3: hot" == error["message"]


def test_arguments_input_and_time_are_the_programs():
    """They are values of its own names."""
    program = """
    (let ((option "-c") (text "four"))
      (string-trim (system:run_script "wc" args: [option] input: text)))
    """
    assert "4" == said(program)
    late = '(system:run_script "sh" args: ["-c" "sleep 30"] timeout: 0.2)'
    assert "execution_timeout" == said(f"(try {late} (catch (err) err.reason))")


def test_what_may_not_be_run_is_no_result():
    """It is raised, so that nobody takes it for what a script said."""
    for name, reason in (("rm", "run-denied"), ("sh -c id", "run-denied")):
        assert reason == said(f'(try (system:run_script "{name}") (catch (err) err.reason))')
