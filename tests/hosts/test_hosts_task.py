"""`sexplang task`: names, inputs, preview and what is said when something does not fit."""

import json

import pytest
from support.command import sexplang
from support.messages_server import MessagesServer

TASKS = """<templates>
<task name="review" type="atomic">
  <description>Review a plan</description>
  <params><param name="plan" type="object"/><param name="style" default="dry"/></params>
  <system>Be kind.</system>
  <instructions>Review {{plan}} in a {{style}} way.</instructions>
  <allowed_tools><tool>read_file</tool></allowed_tools>
  <file_paths><path>a.md</path></file_paths>
</task>
</templates>"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "tasks.xml").write_text(TASKS)
    (tmp_path / "a.md").write_text("Notes.")
    return tmp_path


def test_a_task_runs_with_inputs_of_its_types(folder):
    with MessagesServer("Good.") as server:
        done = sexplang(
            "task", "review", 'plan={"steps": [1]}', "--model", server.url, "--quiet", cwd=folder
        )

    assert (done.stdout, done.returncode) == ("Good.\n", 0)
    (body,) = server.journal
    assert body["messages"][0]["content"][0]["text"] == 'Review {"steps": [1]} in a dry way.'
    assert "Notes." in body["system"][0]["text"]


def test_a_file_that_cannot_be_read_fails_only_who_needs_it(folder):
    (folder / "broken.xml").write_text('<task name="broken" type="atomic">')
    (folder / "no text.xml").write_bytes(b"\xff")
    done = sexplang("task", "review", "plan={}", "--preview", cwd=folder)
    needs = sexplang("task", "broken", cwd=folder)
    named = sexplang("task", "review", "plan={}", "--preview", "--from", "broken.xml", cwd=folder)

    assert done.returncode == 0, done.stderr
    assert done.stderr.count("warning[") == 2
    assert "broken.xml` is left out: this is not XML" in done.stderr
    assert "broken.xml:1:" in done.stderr
    assert "save it as UTF-8" in done.stderr
    assert (needs.returncode, needs.stdout) == (1, "")
    assert "error[xml-malformed]" in needs.stderr
    assert (named.returncode, "error[xml-malformed]" in named.stderr) == (1, True)
    listed = sexplang("task", "--help", cwd=folder)
    assert (listed.returncode, "  review" in listed.stdout) == (0, True)


def test_a_task_of_a_program_is_named_with_its_file(tmp_path):
    """A folder stands for its .xml files; the file by itself has the task."""
    (tmp_path / "c.sexp").write_text('(defatom sort-it (params t) (instructions "S {{t}}"))')
    done = sexplang("task", "sort-it", "t=a", "--from", ".", cwd=tmp_path)
    named = sexplang("task", "sort-it", "t=a", "--from", "c.sexp", "--preview", cwd=tmp_path)

    assert "`./c.sexp` defines it: --from ./c.sexp" in done.stderr
    assert (done.returncode, named.returncode) == (2, 0)


def test_a_program_with_inputs_is_a_library_of_its_tasks(tmp_path):
    """Nothing of it is evaluated. A file that it imports is held to the rules of imports."""
    (tmp_path / "c.sexp").write_text(
        "(define-input n type: integer)"
        '(defatom sort-it (params t) (instructions "S {{t}}"))'
        '(print "printed")(sort-it (str n))'
    )
    (tmp_path / "outer.sexp").write_text('(import "c.sexp")')
    (tmp_path / "r.json").write_text('["sorted"]')
    call = ("task", "sort-it", "t=a", "--quiet", "--from")
    previewed = sexplang(*call, "c.sexp", "--preview", cwd=tmp_path)
    done = sexplang(*call, "c.sexp", "--model", "scripted:r.json", cwd=tmp_path)
    listed = sexplang("task", "--from", "c.sexp", "--help", cwd=tmp_path)
    imported = sexplang(*call, "outer.sexp", cwd=tmp_path)

    assert (previewed.returncode, "\n  S a\n" in previewed.stdout) == (0, True), previewed.stderr
    assert (done.returncode, done.stdout) == (0, "sorted\n"), done.stderr
    assert "  sort-it" in listed.stdout
    assert (imported.returncode, "input-outside-main" in imported.stderr) == (1, True)


def test_a_task_of_a_subtype_has_inputs_of_its_types(folder):
    """As under its name."""
    (folder / "count.xml").write_text(
        '<task name="count" type="atomic" subtype="director"><description>Count</description>'
        '<params><param name="x" type="integer"/></params><instructions>To {{x}}.</instructions>'
        "</task>"
    )
    done = sexplang("task", "atomic:director", "x=3", "--preview", cwd=folder)

    assert (0, True) == (done.returncode, "  To 3." in done.stdout), done.stderr


def test_json_gives_the_whole_result(folder):
    with MessagesServer("Good.") as server:
        done = sexplang(
            "task", "review", "plan={}", "--json", "--model", server.url, "-q", cwd=folder
        )

    result = json.loads(done.stdout)
    assert (result["status"], result["content"]) == ("COMPLETE", "Good.")
    assert result["notes"]["execution_path"] == "subtask_template"
    assert result["notes"]["context_source"] == "template_literal"


def test_a_preview_reads_files_and_asks_no_model(folder):
    with MessagesServer() as server:
        done = sexplang(
            "task",
            "review",
            "plan={}",
            "style=@a.md",
            "--preview",
            "--model",
            server.url,
            cwd=folder,
        )
    assert server.journal == []  # nor to count
    assert "tokens  about 73 of" in done.stdout
    assert "tool    read_file  Reads a text file." in done.stdout
    assert "  Review {} in a Notes. way." in done.stdout
    assert '  <file path="a.md">' in done.stdout

    told = json.loads(
        sexplang("task", "review", "plan={}", "--preview", "--json", cwd=folder).stdout
    )
    assert told["payload"]["task"] == "review"


def test_a_preview_shows_what_is_wrong_with_the_inputs(folder):
    done = sexplang("task", "review", "--preview", cwd=folder)

    assert done.returncode == 2
    assert "missing `plan`" in done.stderr
    assert sexplang("task", "(+ 1 2)", "--preview", cwd=folder).stderr.startswith("nothing of this")


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["reveiw"], 2, "there are `review`"),
        (["review", "plan=[1"], 2, "takes JSON, not `[1`"),
        (["review", "plan={}", "plan={}"], 2, "given twice"),
        (["review", 'plan={"a": {"b": 1, "b": 2}}'], 2, "the key `b` occurs twice"),
        (["(str x)", 'x:={"a": 1, "a": 2}'], 2, "the key `a` occurs twice"),
        (["review", "plan={}", "file_context=a.md"], 2, """write file_context='["a.md"]'"""),
        (["review", "plan={}", "style:={bad"], 2, "or style=… for text"),
        (["review", "plan={}", 'file_context={"a": 1}'], 2, "no list of paths"),
        (["review", "plan=@none.json"], 2, "none.json"),
        (["review", "plan={}", "--budget", "cows=3"], 2, "no bound of a budget"),
        (["review", "plan={}", "--budget", ""], 2, "no bound of a budget"),
        (["review", "plan={}", "--trace", ""], 2, "--trace names no file"),
        (["review", "plan"], 2, "name=value"),
        ([], 2, "Name a task"),
        (["review", "--from", "elsewhere"], 2, "elsewhere"),
        (["review"], 2, "missing `plan`"),
        (["review", "plan=3"], 2, "`plan` is integer, not object"),
        (["review", "plan={}", "stile=wry"], 2, "unknown `stile`"),
        (["read_file", "path=a.md", "foo=1"], 2, "it has no `foo`"),
        (["read_file"], 2, "`path` is missing"),
        (["read_file", "path:=3"], 2, "`path` takes a text"),
        (["read_file", "path=a.md", 'file_context=["a.md"]'], 2, "it has no `file_context`"),
        (["system:run_script", "command=tr", "args=3"], 2, '`args` takes a list such as ["-l"]'),
        (["system:run_script", "command=tr", 'args={"a": 1}'], 2, "`args` takes a list"),
        (["system:run_script", "command=tr", 'timeout="x"'], 2, "`timeout` takes a number"),
        (["system:run_script", "command=tr", "timeout=x"], 2, "write timeout=1.5\n"),
        (["system:run_script", "command=tr", "args=x"], 2, "write args='[1, 2]' or args=true"),
        (["request_user_input", "prompt=x", "choices=3"], 2, "`choices` takes a list such as"),
        (["review", "plan=[1"], 2, """write plan='{"a": 1}'\n"""),
        (["review", "plan:=[1"], 2, """write plan='{"a": 1}'\n"""),
        (["(+ 1"], 1, "never closed"),
        (["(+ x 1)", "x=a"], 1, "takes numbers"),
    ],
    ids=str,
)
def test_misuse_is_told_with_what_to_type(folder, words, status, said):
    done = sexplang("task", *words, cwd=folder)

    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert (done.returncode, done.stdout) == (status, "")


def test_help_lists_the_tasks_and_what_one_takes(folder):
    listed = sexplang("task", "--help", cwd=folder).stdout
    assert listed.startswith("Tasks here:\n  review  Review a plan\n\nUsage:")
    about = sexplang("task", "review", "--help", cwd=folder).stdout
    assert "plan=<object>" in about and "[default 'dry']" in about
    nobody = sexplang("task", "nosuch", "--help", cwd=folder)
    assert (nobody.returncode, "no task called `nosuch`" in nobody.stderr) == (2, True)
    assert "--from" in sexplang("task", "--help", "--from", "/", cwd=folder).stdout


def test_what_a_task_was_warned_of_is_said(folder):
    """On standard error, unless the run is quiet; a preview says it too."""
    (folder / "a.md").unlink()
    (folder / "replies.json").write_text('["Good."]')
    words = ["task", "review", "plan={}", "--model", "scripted:replies.json"]
    said = "file `a.md` could not be read: there is no a.md"

    done = sexplang(*words, cwd=folder)
    assert (done.stdout, f"warning: {said}" in done.stderr) == ("Good.\n", True)
    assert said not in sexplang(*words, "--quiet", cwd=folder).stderr
    assert f"warning {said}" in sexplang(*words, "--preview", cwd=folder).stdout
    (warning,) = json.loads(sexplang(*words, "--preview", "--json", cwd=folder).stdout)["warnings"]
    assert warning.startswith(said)


def test_a_preview_shows_the_model_that_would_be_asked(folder):
    """With its window; a recording of nothing is refused."""
    words = ["task", "review", "plan={}", "--preview"]
    local = sexplang(*words, "--model", "local", "--json", cwd=folder).stdout
    assert json.loads(local)["window"] == 6553
    keyed = sexplang(*words, "--json", cwd=folder, ANTHROPIC_API_KEY="k")
    assert json.loads(keyed.stdout)["model"].startswith("anthropic:")

    done = sexplang(*words, "--record", "r.jsonl", cwd=folder)
    assert (done.returncode, "leave out --record" in done.stderr) == (2, True)


def test_the_tools_of_the_language_are_run_by_name(folder):
    assert sexplang("task", "read_file", "path=a.md", cwd=folder).stdout == "Notes.\n"
    words = ["task", "system:run_script", "command=sort", "input=tea", "timeout=9", 'args=["-r"]']
    assert "tea" in sexplang(*words, "--allow-run", "sort", cwd=folder).stdout
    denied = sexplang(*words, cwd=folder)
    assert (denied.returncode, "run-denied" in denied.stderr) == (1, True)


@pytest.mark.parametrize("command", ["run", "task"])
@pytest.mark.parametrize(
    ("text", "said", "code"),
    [
        ('(attempt (error "no tea"))', "", "raised"),
        ('(attempt (raise {reason: "cold" content: "Half"}))', "Half", "cold"),
        ('(system:run_script "cat" args: ["nothing"])', "", "tool_execution_error"),
        (
            '(task-result {content: "Half" status: "FAILED" notes: {} usage: {}})',
            "Half",
            "does not say why",
        ),
    ],
)
def test_a_failed_result_is_no_success(folder, command, text, said, code):
    """Its text comes out, its error is said, and the status is that of a failure."""
    words = [command, *(["-e"] if command == "run" else []), text, "--allow-run", "cat"]
    done = sexplang(*words, cwd=folder)
    told = sexplang(*words, "--json", cwd=folder)
    result = json.loads(told.stdout)

    assert (done.returncode, done.stdout) == (1, f"{said}\n")
    assert done.stderr.startswith("error[") and code in done.stderr
    assert (told.returncode, told.stderr) == (1, done.stderr)
    assert (result["status"], result["content"]) == ("FAILED", said)


def test_a_result_may_have_a_note_called_error(folder):
    noted = '(task-result {content: "x" status: "COMPLETE" notes: {error: "none"} usage: {}})'
    done = sexplang("task", noted, cwd=folder)

    assert (done.returncode, done.stdout, done.stderr) == (0, "x\n", "")


def test_a_script_that_fails_is_a_failed_task(folder):
    words = ["task", "system:run_script", "command=cat", 'args=["nothing"]', "--allow-run", "cat"]
    done = sexplang(*words, "--json", cwd=folder)
    result = json.loads(done.stdout)

    assert (done.returncode, result["status"]) == (1, "FAILED")
    assert result["notes"]["exit_code"] == 1
    assert "`cat` ended with exit code 1" in done.stderr


@pytest.mark.parametrize("inputs", [[], ["a:=1"], ["a:=1", "b=2"]])
def test_places_in_a_program_are_those_of_its_text(folder, inputs):
    """Whatever its inputs are."""
    done = sexplang("task", "(define c 3)\n(/ c\n  0)", *inputs, cwd=folder)
    unread = sexplang("task", "(define c 3)\n(/ c", *inputs, cwd=folder)

    assert "┌─ <task>:2:1\n" in done.stderr
    assert "┌─ <task>:2:1\n" in unread.stderr
    document = json.loads(sexplang("task", "(/ 1 0)", *inputs, "--json", cwd=folder).stdout)
    span = document["notes"]["error"]["details"]["originalError"]["span"]
    assert (span["line"], span["column"]) == (1, 1)


def test_files_of_the_call_win(folder):
    (folder / "b.md").write_text("Other.")
    done = sexplang("task", "review", "plan={}", 'file_context=["b.md"]', "--preview", cwd=folder)

    assert "Other." in done.stdout and "Notes." not in done.stdout


@pytest.mark.parametrize(
    ("words", "status", "reason"),
    [
        (["(lambda (x) x)"], 1, "unexpected_error"),
        (["(/ 1 0)"], 1, "subtask_failure"),
        (["(/ 1"], 1, "input_validation_failure"),
        (["nosuch"], 2, "template_not_found"),
        (["review", "plan={}", "--model", "scripted:none.json"], 1, "subtask_failure"),
        (["review", "plan={}", "--preview", "--budget", "tea"], 2, "input_validation_failure"),
    ],
)
def test_json_gives_the_failed_result(folder, words, status, reason):
    done = sexplang("task", "--json", *words, cwd=folder)
    result = json.loads(done.stdout)

    assert (done.returncode, result["status"]) == (status, "FAILED")
    assert result["notes"]["error"]["reason"] == reason


def test_json_gives_what_a_failed_task_said_and_was_warned_of(folder):
    (folder / "a.md").unlink()
    cut = [{"content": [{"type": "text", "text": "Half a"}], "stop_reason": "max_tokens"}]
    with MessagesServer(*cut) as server:
        done = sexplang(
            "task", "review", "plan={}", "--json", "--model", server.url, "-q", cwd=folder
        )
    result = json.loads(done.stdout)

    assert (done.returncode, result["content"]) == (1, "Half a")
    assert "file `a.md` could not be read" in result["notes"]["warnings"][0]
    assert result["notes"]["execution_path"] == "subtask_template"


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (
            ["system:run_script", "command=touch", 'args:=["made"]', "--allow-run", "touch"],
            "run-scr",
        ),
        (["demo:add", "a=1", "--mcp", "demo=true"], '(tool "demo:add" {a: "1"})'),
        (['(begin (write-file "made" "x") 1)', "--allow-write", "."], '(write-file "made" "x")'),
        (["request_user_input", "prompt=who?"], '(ask-user "who?"'),
    ],
)
def test_a_preview_shows_what_is_asked_for_before_a_model(folder, words, shown):
    """A tool, a script, a file: nothing of it is done."""
    done = sexplang("task", *words, "--preview", cwd=folder)
    document = json.loads(sexplang("task", *words, "--preview", "--json", cwd=folder).stdout)

    assert 0 == done.returncode, done.stderr
    assert shown in done.stdout
    assert "which a preview does not perform, and no model before it" in done.stderr
    assert document["payload"] is None
    assert f"({document['request']['operation']} " in done.stdout
    assert not (folder / "made").exists()


@pytest.mark.parametrize(
    "text",
    [
        '(race (sleep 1) (write-file "made" "x"))',
        '(race (sleep 60) (begin (sleep 1) (write-file "made" "x")))',
        '(race (sleep 1) (begin (get-context query: "x") (write-file "made" "x")))',
        '(race (begin (sleep 3) (write-file "late" "x"))'
        ' (begin (sleep 1) (sleep 1) (write-file "made" "x")))',
        '(begin (sleep 86400) (loop 100 (sleep 1)) (write-file "made" "x"))',
    ],
)
def test_a_sleep_hides_nothing_in_a_preview(folder, text):
    """What is first in a run is shown, and nobody waits."""
    done = sexplang("task", text, "--preview", "--allow-write", ".", cwd=folder)

    assert (0, '(write-file "made" "x")\n') == (done.returncode, done.stdout), done.stderr
    assert "seconds must be a number" in sexplang("task", '(sleep "x")', "--preview").stderr


def test_a_preview_finds_the_files_of_a_task_by_its_command(folder):
    (folder / "seek.xml").write_text(_SEEK.format("find . -name a.md"))
    done = sexplang("task", "seek", "--preview", "--model", "local", cwd=folder)

    assert (0, True) == (done.returncode, '<file path="a.md">' in done.stdout), done.stderr


@pytest.mark.parametrize("command", ["touch made", "find . -fprint made", "git ls-files -m"])
@pytest.mark.parametrize("more", [("--preview",), ()])
def test_a_template_runs_no_command_that_does_more_than_name_files(folder, command, more):
    """Though whoever runs it permits the executable."""
    (folder / "seek.xml").write_text(_SEEK.format(command))
    permitted = [word for name in ("touch", "find", "git") for word in ("--allow-run", name)]
    done = sexplang("task", "seek", *more, *permitted, "--model", "local", cwd=folder)

    assert (1, "bad-command" in done.stderr) == (done.returncode, True), done.stdout + done.stderr
    assert not (folder / "made").exists()


_SEEK = (
    '<task name="seek" type="atomic"><description>Seek</description>'
    "<instructions>Seek.</instructions>"
    '<file_paths source="command"><command>{}</command></file_paths></task>'
)


def test_a_preview_passes_over_what_is_only_said(folder):
    """What is printed or waited for on the way to a model."""
    words = '(begin (print "x") (log "info" "y") (sleep 60) (now) (review {}))'
    done = sexplang("task", words, "--preview", cwd=folder)

    assert done.stdout.startswith("model"), done.stderr


def test_json_of_a_preview_where_nobody_is_asked(folder):
    done = sexplang("task", "(+ 1 2)", "--preview", "--json", cwd=folder)

    assert json.loads(done.stdout) == {"payload": None}


def test_help_describes_a_tool_of_the_language(folder):
    done = sexplang("task", "read_file", "--help", cwd=folder)

    shown = "read_file: a tool of the language\n  path=<string>  [required]\n\nUsage:"
    assert done.stdout.startswith(shown)
    assert (done.stderr, done.returncode) == ("", 0)
