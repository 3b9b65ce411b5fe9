"""`check` with its options, in a process of its own."""

import json
import sys

import pytest
from support.command import sexplang
from support.markdown import ROOT
from support.running import built

from sexplang.pipeline.pipeline import inspect

ECHO = '(defatom echo (params words) (instructions "Say: {{words}}"))\n'


@pytest.fixture
def program(tmp_path):
    """Writes a program that has a task; gives its path."""

    def write(text, name="main.sexp"):
        path = tmp_path / name
        path.write_text(ECHO + text)
        return path

    return write


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("(loop 10 (echo 1))", None),
        ("(loop 11 (echo 1))", "too-many-calls"),
        ("(define-input docs type: json) (map echo docs)", "too-many-calls"),
        ("(define (again x) (again (echo x)))\n(again 1)", "unbounded-calls"),
        ('(map echo (json-parse "[]"))', "unbounded-calls"),
        ("(define-input docs type: json) (map echo (take docs 10))", None),
        ("(+ 1 2)", None),
    ],
)
def test_max_calls_refuses_what_may_be_more(program, text, code):
    """Above, dependent on inputs or unbounded: status 1 and the line; else the bound."""
    done = sexplang("check", program(text), "--max-calls", 10)

    assert (1 if code else 0) == done.returncode
    assert (code is None) or (f"error[{code}]" in done.stderr and "main.sexp:2:" in done.stderr)


def test_the_exact_bound_is_said(program):
    """On standard output; the findings are not there."""
    path = program("(echo (echo 1)) (loop 3 (echo 2))")

    assert f"{path}: at most 5 model calls\n" == sexplang("check", path, "--max-calls", 5).stdout
    assert f"{path}: at most 5 model calls\n" == sexplang("check", path).stdout
    assert f"{path}: at most 5 model calls\n" == sexplang("check", "--strict", path).stdout


def test_a_recursive_plan_is_refused_by_line(program):
    """A bounded one is accepted with its bound."""
    recursive = program(
        "(define (work goal)\n"
        "  (bind plan (echo goal))\n"
        '  (if (string-contains? (str plan) "done") plan (work plan)))\n'
        '(work "tea")\n'
    )
    bounded = program(
        "(define (work goal)\n"
        "  (loop ((plan goal) (left 3))\n"
        "    (if (= left 0) plan (recur (echo plan) (- left 1)))))\n"
        '(work "tea")\n',
        "bounded.sexp",
    )
    refused = sexplang("check", recursive, "--max-calls", 10)
    accepted = sexplang("check", bounded, "--max-calls", 10)

    assert (1, True) == (refused.returncode, "main.sexp:4:" in refused.stderr)
    assert "line 4: `work` calls itself" in refused.stdout
    assert (0, f"{bounded}: at most 3 model calls\n") == (accepted.returncode, accepted.stdout)


def test_json_is_one_document(program):
    """Findings, effects and calls of each file."""
    path = program("(define-input docs type: json)\n(let ((a 1)) (map echo docs))")
    template = ROOT / "examples" / "one-task" / "summarize.xml"
    done = sexplang("check", "--json", path, template)
    files = json.loads(done.stdout)["files"]
    mine = files[str(path)]

    assert (0, "") == (done.returncode, done.stderr)
    assert ["unused-binding"] == [found["code"] for found in mine["findings"]]
    assert ("len(docs)", None, None) == tuple(
        mine["calls"][key] for key in ("bound", "constant", "reason")
    )
    assert 3 == mine["calls"]["span"]["line"]
    assert ["model"] == mine["effects"][0]["operations"]
    (whole,) = files[str(template)]["effects"]
    assert ("", []) == (whole["name"], whole["operations"])
    assert 0 == files[str(template)]["calls"]["constant"]
    assert [] == files[str(template)]["findings"]


def test_effects_are_listed(program):
    """A line for the program and for each function."""
    done = sexplang(
        "check", "--effects", program("(define (each f xs) (map f xs)) (each echo [1])")
    )

    assert "  the program: model\n  each(f xs): effects of f\n" in done.stdout


def test_warnings_count_with_strict_alone(program):
    """Also for `run`, which is the only run that looks for all of them."""
    path = program("(let ((a 1)) 2)")

    assert 0 == sexplang("check", path).returncode
    assert 1 == sexplang("check", "--strict", path).returncode
    assert (0, "2\n", "") == (
        (done := sexplang("run", path)).returncode,
        done.stdout,
        done.stderr,
    )
    strict = sexplang("run", "--strict", path)
    assert (1, "") == (strict.returncode, strict.stdout)
    assert "warning[unused-binding]" in strict.stderr


def test_a_run_does_not_load_what_check_knows(tmp_path):
    """Start-up pays for nothing that it does not use: the signs of a slip alone are loaded."""
    import subprocess

    watch = (
        "import sys; from sexplang.hosts import main; main(['run', '-e', '(+ 1 2)']);"
        "print([name for name in sys.modules if name.startswith('sexplang.analysis')])"
    )
    done = subprocess.run([sys.executable, "-c", watch], cwd=ROOT, capture_output=True, text=True)

    value, loaded = done.stdout.splitlines()
    assert ("3", ["", "own_nodes", "signs"]) == (
        value,
        [name.removeprefix("sexplang.analysis").lstrip(".") for name in sorted(eval(loaded))],
    )


def test_the_same_program_has_the_same_report():
    """Messages do not depend on where things lie in memory."""
    text = ECHO + "(define-input n) (define (f g) (g 1)) (f (if n f echo)) (f (if n echo f))"
    reports = {json.dumps(inspect(built(text)).plain()) for _ in range(5)}

    assert 1 == len(reports)


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ('(model {model: "http://a.example:9/v1" messages: []})', ["--allow-net a.example"]),
        ('(call-atomic-task \'echo model: "https://B.example")', ["--allow-net b.example"]),
        ('(call-atomic-task \'echo model: "anthropic:x")', []),
        ('(define n "http://a.example") (str n)', []),
        ('(run-script "wc") (perform run-script "tr") (run-script "wc" ["-l"])', ["wc", "tr"]),
        ('(system:run_script "wc" args: ["-l"]) (system:run_script command: "tr")', ["wc", "tr"]),
        ("(define-input name) (run-script name)", []),
        ('(handle (run-script "wc") ((run-script c) k (k {stdout: ""})))', []),
        (
            '(defatom one (instructions "x") (model "https://a.example")'
            ' (file_paths source: "command" command: "git ls-files"))',
            ["--allow-net a.example"],
        ),
        (
            '(defatom one (instructions "x")'
            ' (file_paths source: "command" command: "find . -name x"))',
            [],
        ),
        (
            '(defatom one (instructions "x")'
            ' (file_paths source: "command" command: "find /srv -name x"))',
            ["--allow-read /srv"],
        ),
    ],
)
def test_what_has_to_be_permitted_is_said(program, text, needs):
    """On standard output, once, and as data; it is no finding."""
    path = program(text)
    done = sexplang("check", path, "--strict")
    lines = [line for line in done.stdout.splitlines() if " needs " in line]
    told = json.loads(sexplang("check", path, "--json").stdout)["files"][str(path)]["needs"]

    assert 0 == done.returncode, done.stderr
    wanted = [need if " " in need else f"--allow-run {need}" for need in needs]
    assert wanted == [line.partition(" needs ")[2].partition(" for ")[0] for line in lines]
    assert wanted == [f"{need['option']} {need['name']}" for need in told]
