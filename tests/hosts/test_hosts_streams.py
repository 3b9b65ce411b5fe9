"""The command's streams: full, closed, left by their reader; and what must never pass through."""

import os
import shlex
import subprocess

import pytest
from support.command import SEXPLANG, sexplang
from support.markdown import ROOT

KEY = "sk-ant-canary-" + "0123456789abcdef" * 6

COMMANDS = [
    ["run", "-e", "1"],
    ["run", "-e", "(print 1)"],
    ["--help"],
    ["explain"],
    ["check", "--json", "examples/one-task/summary.sexp"],
    ["guide"],
]


def shell(line, **environment):
    """Runs a line of the shell, in which `sexplang` is the command."""
    return subprocess.run(
        ["bash", "-c", line.replace("sexplang", shlex.join(SEXPLANG), 1)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"PYTHONPATH": str(ROOT), "NO_COLOR": "1"} | environment,
    )


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_full_disk_is_said_plainly(words):
    """What cannot be written is no bug of ours and no success."""
    done = shell(f"sexplang {shlex.join(words)} >/dev/full")

    why = "no space left on device; make room, or send it elsewhere"
    assert (1, f"sexplang: cannot write the result: {why}\n") == (done.returncode, done.stderr)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("key", ["", KEY], ids=["no key", "a key"])
def test_a_closed_output_is_quiet(words, key):
    """Who closed standard output does not want it, and is told nothing."""
    done = shell(f"sexplang {shlex.join(words)} >&-", ANTHROPIC_API_KEY=key)

    assert (1, "") == (done.returncode, done.stderr)


def test_a_closed_error_output_hides_nothing_else():
    """What would go there goes nowhere, and never to standard output."""
    wrong = shell("sexplang run -e '(foo)' 2>&-")
    right = shell("sexplang run -e '(+ 1 2)' 2>&-")

    assert (1, "") == (wrong.returncode, wrong.stdout)
    assert (0, "3\n") == (right.returncode, right.stdout)


@pytest.mark.parametrize(
    "words", [["run", "-"], ["run", "-e", "(define-input a) a", "a=-"], ["check", "-"], ["repl"]]
)
def test_a_closed_input_is_misuse(words):
    """Where standard input is to be read, and there is none."""
    done = shell(f"sexplang {shlex.join(words)} <&-")

    assert (2, "") == (done.returncode, done.stdout)
    assert "no standard input to read" in done.stderr


def test_a_reader_that_leaves_ends_the_run_quietly():
    """As `head` does."""
    done = shell(
        "sexplang run -e '(for-each print (range 100000))' | head -1; exit ${PIPESTATUS[0]}"
    )

    assert (1, "0\n", "") == (done.returncode, done.stdout, done.stderr)


def test_an_argument_that_is_no_text_is_misuse():
    """A byte that is not UTF-8 is named."""
    done = shell("sexplang run -e '(define-input s) s' s=$'a\\xffb'")

    assert (2, "") == (done.returncode, done.stdout)
    assert "not UTF-8 text: `s=a?b` holds the byte 0xff" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["run", "-e", f'"{KEY}"'],
        ["run", "-e", f'(print "{KEY}") 1'],
        ["run", "--json", "-e", f'{{key: "{KEY}"}}'],
        ["run", "-e", f"(foo {KEY})"],
        ["run", "-e", f'(+ 1 "{KEY}")'],
        ["run", "-e", f'(error "{KEY}")'],
        ["run", "-e", f'(define-input a default: "{KEY}") a', "--help"],
        ["run", "-e", "(define-input a type: integer) a", f"a={KEY}"],
        ["run", f"{KEY}.sexp"],
        ["run", "-e", "1", f"--{KEY}"],
        ["run", "-e", '(model {messages: [{role: "user" content: "a"}]})', "--model", KEY],
        ["check", KEY],
        ["fmt", f"{KEY}.sexp"],
        ["explain", KEY],
        ["test", KEY],
        [KEY],
    ],
    ids=lambda words: " ".join(words).replace(KEY, "KEY"),
)
def test_no_key_is_ever_written(words):
    """Neither whole nor, where a message is shortened, its beginning; a mark stands there."""
    done = sexplang(*words, SHOP_TOKEN=KEY)
    written = done.stdout + done.stderr

    assert KEY[:20] not in written
    assert "[redacted]" in written


def test_the_repl_writes_no_key():
    """As all the others."""
    done = sexplang("repl", text=f'"{KEY}"\n(foo {KEY})\n', ANTHROPIC_API_KEY=KEY)

    assert KEY[:20] not in done.stdout + done.stderr
    assert "[redacted]" in done.stdout
