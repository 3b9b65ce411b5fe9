"""The command in processes of its own: output, status, misuse, signals."""

import json
import os
import signal
import subprocess
import time

import pytest
from support.command import SEXPLANG, sexplang
from support.markdown import ROOT
from support.messages_server import MessagesServer

ECHO = """<task name="echo"><description>Say it again.</description>
<params><param name="words">What.</param></params>
<instructions>Say: {{words}}</instructions></task>"""

DEEP = "[" * 3000 + '{"a": 1, "a": 2}' + "]" * 3000
"""JSON deeper than Python's own reader goes."""


@pytest.fixture
def folder(tmp_path):
    """A program with a task, a template and a script."""
    (tmp_path / "echo.xml").write_text(ECHO)
    (tmp_path / "main.sexp").write_text(
        '(import "echo.xml")\n'
        '(define-input words doc: "what to say")\n'
        "(define-input times type: integer default: 1 choices: [1 2])\n"
        "(echo words)\n"
    )
    (tmp_path / "replies.json").write_text('["again"]')
    return tmp_path


@pytest.mark.parametrize(
    ("program", "output"),
    [
        ("(+ 1 2)", "3\n"),
        ('"tea"', "tea\n"),
        ("nil", ""),
        ('[1 \'a "s" {b: nil}]', '[1 \'a "s" {b: nil}]\n'),
        ('(print "first") "last"', "first\nlast\n"),
    ],
)
def test_the_value_of_the_last_form_is_written(program, output):
    """Text as it is, nil not at all, data as it can be read again."""
    done = sexplang("run", "-e", program)

    assert (output, "", 0) == (done.stdout, done.stderr, done.returncode)


def test_data_that_is_written_can_be_run_again():
    """Reading and evaluating the output gives the output."""
    text = sexplang("run", "-e", '(list \'a {b: [1.5 nil true]} "x\\n")').stdout

    assert text == sexplang("run", "-", text=text).stdout


def test_json_output_is_one_document_and_print_goes_to_stderr():
    """Standard output holds the document and nothing else."""
    done = sexplang("run", "--json", "-e", '(print "hi") {a: [\'b nil]}')

    assert ({"a": ["b", None]}, "hi\n") == (json.loads(done.stdout), done.stderr)


def test_what_json_cannot_hold_fails():
    """A function has no JSON; the document says so."""
    done = sexplang("run", "--json", "-e", "(lambda (x) x)")

    assert (1, "not-json") == (done.returncode, json.loads(done.stdout)["error"]["reason"])
    assert "error[not-json]" in done.stderr


def test_inputs_are_given_by_name(folder):
    """As text, from a file, from standard input."""
    (folder / "words.txt").write_text("from a file")
    script = f"scripted:{folder}/replies.json"
    for words, text in (("tea", None), (f"@{folder}/words.txt", None), ("-", "from a pipe")):
        done = sexplang(
            "run", folder / "main.sexp", f"words={words}", "--model", script, "-q", text=text
        )

        assert ("again\n", "", 0) == (done.stdout, done.stderr, done.returncode)


def test_help_of_a_program_lists_its_inputs(folder):
    """Name, type, doc, default and choices, before the options."""
    shown = sexplang("run", folder / "main.sexp", "--help").stdout

    assert shown.startswith(f"Inputs of {folder / 'main.sexp'}:\n  words=<string>")
    assert shown.index("times=<integer>") < shown.index("\n\nUsage:")
    assert "words=<string>   what to say  [required]" in shown
    assert "times=<integer>  [1|2]  [default: 1]" in shown
    assert "--allow-read" in shown and "Examples:" in shown


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["run"], "sexplang run FILE"),
        (["run", "--modle", "x"], "--model"),
        (["run", "-e", "1", "oops"], "name=value"),
        (["run", "-e", "1", "--parallel", "0"], "--parallel"),
        (["run", "-e", "1", "x=2"], "unknown-input"),
        (["runn"], "run"),
        (["examples/one-task/summary.sexp"], "sexplang run examples/one-task/summary.sexp"),
        (["check"], "FILE"),
        (["run", "examples/one-task/summary.sexp"], "add note="),
        (["run", "none.sexp"], "file-not-found"),
        (["check", "none.sexp"], "file-not-found"),
        (["fmt", "none.sexp"], "file-not-found"),
        (["run", "-e", "(define-input n) n", "n=@none.txt"], "file-not-found"),
        (["run", "-e", "(define-input n) n", "n=1", "n=2"], "given twice"),
        (["run", "-e", "(define-input n type: json) n", 'n={"a":1,"a":2}'], "`a` occurs twice"),
        (
            [
                "run",
                "-e",
                "(define-input n type: json) n",
                r'n={"a\n": "}", "b": {}, "\u0061\n": 2}',
            ],
            "occurs twice",
        ),
        (["run", "-e", "(define-input n type: json) n", f"n={DEEP}"], "`a` occurs twice"),
        (["run", "examples/one-task/summarize.xml"], "is a template"),
    ],
)
def test_misuse_says_what_to_type(words, says):
    """Wrong usage is status 2, with nothing on standard output."""
    done = sexplang(*words)

    assert (2, "") == (done.returncode, done.stdout)
    assert says in done.stderr


def test_a_folder_is_no_program():
    """It is misuse, as a missing file is. The hint says how its files are named."""
    done = sexplang("run", "examples/one-task/")

    assert 2 == done.returncode and "`examples/one-task/` is a folder, not a file" in done.stderr
    assert "as in examples/one-task/*.sexp" in done.stderr


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("(foo", "unclosed-bracket"),
        ("(foo)", "unbound-name"),
        ("(/ 1 0)", "division-by-zero"),
        ('(read-file "/etc/passwd")', "path-denied"),
        ('(import "missing.xml")', "import-"),
        ("\ud800".encode("utf-8", "surrogatepass"), "not-text"),
        ("(+ 1 2)".encode("utf-16"), "not-text]: `{}` begins with the byte order mark of UTF-16"),
        ("(+ 1 2)".encode("utf-32"), "not-text]: `{}` begins with the byte order mark of UTF-32"),
    ],
)
def test_a_program_that_fails_is_status_1(tmp_path, program, code):
    """The code, and where to read more, on stderr."""
    file = tmp_path / "a.sexp"
    file.write_bytes(program if isinstance(program, bytes) else program.encode())
    done = sexplang("run", file)

    assert (1, "") == (done.returncode, done.stdout)
    assert f"error[{code.format(file)}" in done.stderr
    assert "Traceback" not in done.stderr


def test_missing_things_are_named(folder):
    """A missing program, template, script or model each has its error, none a traceback."""
    main, words = folder / "main.sexp", "words=x"
    (folder / "bad.sexp").write_text('(import "nothing.xml")')
    (folder / "bad.json").write_text("[1")
    cases = [
        (["run", folder / "bad.sexp"], "import-not-found"),
        (["run", main, words, "--model", "scripted:nothing.json"], "bad-script"),
        (["run", main, words, "--model", f"scripted:{folder}/bad.json"], "bad-script"),
        (["run", main, words, "--model", "nonsense"], "unknown-model"),
        (["run", main, words, "--model", "local:/nothing.gguf"], "missing-model"),
        (["run", main, words, "--model", "http://127.0.0.1:9"], "connection_error"),
        (["run", main, words, "--model", "local", "--record", "/nothing/x"], "record-failed"),
    ]
    for arguments, code in cases:
        done = sexplang(*arguments)

        assert (1, "") == (done.returncode, done.stdout), (arguments, done.stderr)
        assert code in done.stderr
        assert "Traceback" not in done.stderr


def test_a_key_is_never_shown(folder):
    """Neither errors nor the recording hold it, also when the program prints what it can."""
    key = "sk-ant-REDACTED"
    record = folder / "run.jsonl"
    (folder / "leak.sexp").write_text(f'(import "echo.xml") (print "{key}") (echo "{key}")')
    with MessagesServer({"status": 401, "message": key}) as server:
        done = sexplang(
            "run",
            folder / "leak.sexp",
            *("--model", server.url, "--record", record),
            ANTHROPIC_API_KEY=key,
        )

    assert (1, f"Bearer {key}") == (done.returncode, server.headers[0]["authorization"])
    assert key not in done.stdout + done.stderr + record.read_text()


def test_a_recording_is_made_also_when_nothing_is_asked(folder):
    """Whoever wants one finds one, or learns at once that it cannot be."""
    record = folder / "empty.jsonl"

    assert "2\n" == sexplang("run", "-e", "(+ 1 1)", "--record", record).stdout
    header, *notes = map(json.loads, record.read_text().splitlines())
    assert "sexplang-journal" in header
    assert header["terms"]["sources"]
    assert ["begins", "ends"] == [next(iter(note)) for note in notes]
    assert 1 == sexplang("run", "-e", "1", "--record", folder / "none" / "x").returncode


def test_a_recording_holds_every_request(folder):
    """One JSON document a line; a file that holds something is not overwritten."""
    record = folder / "run.jsonl"
    words = ("run", folder / "main.sexp", "words=x", "--record", record)
    first = sexplang(*words, "--model", f"scripted:{folder}/replies.json")
    again = sexplang(*words, "--model", f"scripted:{folder}/replies.json")
    header, *lines = map(json.loads, record.read_text().splitlines())
    (row,) = [line for line in lines if "digest" in line]

    assert (0, 1) == (first.returncode, again.returncode)
    assert "sexplang-journal" in header and "model" == row["operation"]
    assert "file-exists" in again.stderr


def test_check_finds_without_running(folder):
    """Errors are status 1; --json gives them as data; warnings count with --strict only."""
    (folder / "bad.sexp").write_text('(print "ran") (foo)')
    (folder / "warns.sexp").write_text("{a: 1 a: 2}")
    bad = sexplang("check", folder / "bad.sexp", "--json")
    warns = sexplang("check", folder / "warns.sexp")

    assert 1 == bad.returncode
    (file,) = json.loads(bad.stdout)["files"].values()
    assert ["unbound-name"] == [found["code"] for found in file["findings"]]
    assert 0 == sexplang("check", folder / "main.sexp", folder / "echo.xml").returncode
    assert (0, True) == (warns.returncode, "warning[" in warns.stderr)
    assert 1 == sexplang("check", "--strict", folder / "warns.sexp").returncode


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("nothing", "`nothing` is no folder, and no .sexp or .xml file"),
        ("notes.txt", "`notes.txt` is no folder, and no .sexp or .xml file"),
        ("/etc/passwd", "/etc/passwd may not be read"),
        ("/etc/nothing.sexp", "/etc/nothing.sexp may not be read"),
    ],
)
def test_only_programs_templates_and_folders_are_imported(tmp_path, path, words):
    """The message does not claim that a file is not there, nor that it is."""
    (tmp_path / "a.sexp").write_text(f'(import "{path}")')
    (tmp_path / "notes.txt").write_text("tea")
    done = sexplang("run", tmp_path / "a.sexp")

    assert words in done.stderr
    assert "there is no" not in done.stderr


def test_a_task_has_no_name_of_a_special_form(folder):
    """Such a task could not be called: said where it is checked and where it is imported."""
    (folder / "if.xml").write_text(ECHO.replace('name="echo"', 'name="if"', 1))
    (folder / "uses.sexp").write_text('(import "if.xml") 1')
    for words in (["check", folder / "if.xml"], ["run", folder / "uses.sexp"]):
        done = sexplang(*words)

        assert 1 == done.returncode
        assert "error[reserved-name]: `if` is a word of the language" in done.stderr


def test_a_second_byte_order_mark_is_refused(tmp_path):
    """One at the beginning is taken away; two are a mistake."""
    for marks, code in ((b"\xef\xbb\xbf", 0), (b"\xef\xbb\xbf" * 2, 1)):
        (tmp_path / "a.sexp").write_bytes(marks + b"(+ 1 2)")
        done = sexplang("run", tmp_path / "a.sexp")

        assert (code, code == 1) == (done.returncode, "bad-character" in done.stderr)


def test_strict_stops_a_program_with_warnings(folder):
    """With --strict nothing runs; without it, the warning is shown and the value follows."""
    plain = sexplang("run", "-e", "{a: 1 a: 2}")
    strict = sexplang("run", "--strict", "-e", "{a: 1 a: 2}")

    assert (0, "{a: 2}\n") == (plain.returncode, plain.stdout)
    assert (1, "") == (strict.returncode, strict.stdout)
    assert plain.stderr and strict.stderr.startswith(plain.stderr)
    assert "--strict stops" in strict.stderr


def test_a_tool_that_nobody_has_is_warned_of(tmp_path):
    """By `check`, and by a run, which knows what there is; not where the program answers it."""
    task = '(defatom pack (instructions "Pack") (allowed_tools zip read_file))\n(str (pack))'
    (tmp_path / "pack.sexp").write_text(task)
    handled = task.replace("(str (pack))", '(handle (str (pack)) ((tool n i) k (k "done")))')
    (tmp_path / "handled.sexp").write_text(handled)
    (tmp_path / "replies.json").write_text('["packed"]')
    asked = ["--model", "scripted:replies.json"]
    ran = sexplang("run", "pack.sexp", *asked, cwd=tmp_path)
    task_alone = sexplang("task", "pack", "--from", "pack.sexp", *asked, cwd=tmp_path)
    checked = sexplang("check", "pack.sexp", cwd=tmp_path)
    others = [
        sexplang("run", "pack.sexp", *asked, "--quiet", cwd=tmp_path),
        sexplang("run", "handled.sexp", *asked, cwd=tmp_path),
        sexplang("check", "handled.sexp", cwd=tmp_path),
    ]

    assert (ran.returncode, ran.stdout, checked.returncode) == (0, "packed\n", 0)
    assert ran.stderr.count("warning[unknown-tool]: there is no tool `zip`") == 1
    assert "read_file" not in ran.stderr.replace(task.split("\n")[0], "")
    assert "warning: there is no tool `zip`" in task_alone.stderr
    assert "warning[unknown-tool]" not in task_alone.stderr
    assert "warning[unknown-tool]: `pack` may use the tool `zip`" in checked.stderr
    assert not any("unknown-tool" in each.stderr for each in others)


def test_explain_prints_a_page_or_the_nearest_code():
    """Without a code all are listed."""
    assert sexplang("explain", "bad-input").stdout.startswith("# bad-input\n")
    assert "sexplang explain bad-input" in sexplang("explain", "bad-inputt").stderr
    assert "bad-input" in sexplang("explain").stdout.split()


def test_a_fault_of_ours_is_called_a_bug(tmp_path):
    """No traceback, status 2; SEXPLANG_TRACEBACK shows it."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sexplang.hosts.settings.path_arguments as files\n"
        "def broken(path): raise RuntimeError('out of\\ncheese')\n"
        "files.source_at = broken\n"
    )
    path = f"{tmp_path}{os.pathsep}{ROOT}"
    done = sexplang("run", "x.sexp", PYTHONPATH=path)
    shown = sexplang("run", "x.sexp", PYTHONPATH=path, SEXPLANG_TRACEBACK="1")

    assert (2, "") == (done.returncode, done.stdout)
    assert "this is a bug in sexplang: RuntimeError: out of cheese" in done.stderr
    assert "Traceback" not in done.stderr and "Traceback" in shown.stderr


def test_a_reader_that_leaves_is_no_fault():
    """Output into a closed pipe ends quietly."""
    line = " ".join([*SEXPLANG, "run", "-e", "'(range 100000)'", "| head -c 1"])
    done = subprocess.run(line, shell=True, cwd=ROOT, capture_output=True, text=True)

    assert ("[", "") == (done.stdout, done.stderr)


def test_ctrl_c_before_the_command_has_begun_is_quiet():
    """Whatever is being loaded then: status 130 and no traceback."""
    loading = "import sys; import sexplang.__main__ as start\n"
    pressed = (
        "class Pressed:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'sexplang.hosts': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Pressed()); start.main()"
    )
    done = subprocess.run(
        [SEXPLANG[0], "-c", loading + pressed], cwd=ROOT, capture_output=True, text=True
    )

    assert (130, "", "") == (done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("rest", ["(sleep 60)", "(loop 10000000000 1)"])
def test_ctrl_c_ends_a_run_at_once(rest):
    """Status 130, no traceback, and nothing is left running."""
    with subprocess.Popen(
        [*SEXPLANG, "run", "-e", f'(print "go") {rest}'],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert "go\n" == process.stdout.readline()
        time.sleep(0.3)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)

        assert (130, "sexplang: interrupted\n") == (process.returncode, errors)
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, 0)


def test_a_budget_is_reported_when_the_run_is_over(folder):
    """What was taken of what was allowed; not with --quiet, and not where nothing was asked for."""
    words = ["main.sexp", "words=x", "--model", "scripted:replies.json"]
    done = sexplang("run", *words, "--budget", "calls=3,tokens=5000", cwd=folder)
    quiet = sexplang("run", *words, "--budget", "calls=3", "--quiet", cwd=folder)
    unasked = sexplang("run", "-e", "1", "--budget", "calls=3", cwd=folder)
    failed = sexplang("run", *words, "--budget", "tokens=3", cwd=folder)

    assert "budget: 1 of 3 calls, 0 of 5,000 tokens" in done.stderr.splitlines()
    assert ("", "") == (quiet.stderr, unasked.stderr)
    assert 1 == failed.returncode
    assert "= detail: reserved: 0" in failed.stderr
    assert "give the run more: --budget tokens=" in failed.stderr


@pytest.mark.parametrize(("said", "status"), [("true", 0), ("false", 0), ("3", 2)])
def test_the_configuration_says_whether_equal_calls_are_sent_once(folder, said, status):
    """Anything but true and false is misuse."""
    (folder / "sexplang.toml").write_text(f"[models]\nsingle_flight = {said}\n")
    words = ["main.sexp", "words=x", "--model", "scripted:replies.json"]

    done = sexplang("run", *words, cwd=folder)

    assert status == done.returncode, done.stderr
    assert ("bad-configuration" in done.stderr) == bool(status)


@pytest.mark.parametrize(
    ("seconds", "more"), [("1e-9", "2e-09"), ("0.01", "0.02"), (".000001", "2e-06")]
)
def test_a_hint_for_more_time_can_be_typed(seconds, more):
    """However little was allowed: what is typed next is more, and understood."""
    done = sexplang("run", "-e", "(sleep 1)", "--budget", f"seconds={seconds}")
    assert f"give the run more: --budget seconds={more}\n" in done.stderr
    again = sexplang("run", "-e", "7", "--budget", f"seconds={more}")
    assert again.stdout == "7\n" or f"{float(more)} seconds were allowed" in again.stderr


@pytest.mark.parametrize(
    ("words", "status", "about"),
    [
        (["-e", "(/ 1 0)"], 1, "division-by-zero"),
        (["-e", "(raise {a: (lambda (x) x)})"], 1, "raised"),
        (["-e", "(sumarise 1)"], 1, "unbound-name"),
        (["-e", "1", "--budget", "tea"], 2, "bad-input"),
        (["-e", "1", "--index", "nowhere.db"], 2, "file-not-found"),
        (["nowhere.sexp"], 2, "file-not-found"),
    ],
)
def test_json_output_is_one_document_whatever_goes_wrong(words, status, about):
    """With the error of the run, or the findings before it; stderr says the same in words."""
    done = sexplang("run", "--json", *words)
    told = json.loads(done.stdout)
    codes = [told["error"]["reason"]] if "error" in told else [f["code"] for f in told["findings"]]

    assert (status, "FAILED", [about]) == (done.returncode, told["status"], codes)
    assert f"error[{about}]" in done.stderr
    assert sexplang("run", *words).stdout == ""
