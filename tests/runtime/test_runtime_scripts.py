"""Scripts: what may be run, what it sees, what comes back of it, within which bounds."""

import os
import subprocess
import sys

import pytest
from runtime_support import begun, par, perform, table
from support.command import sexplang
from support.running import error_of

from sexplang.runtime import Permissions, drive

HERE = {"exit_code", "stdout", "stderr", "truncated"}


def script(*arguments, run=("sh",), folder=None, **settings):
    """The end of a run of one `run-script`."""
    allowed = Permissions(folder=folder, run=run)
    core = begun(perform("run-script", *arguments))
    return drive(core, table(permissions=allowed, **settings))


def sh(text, *more, **settings):
    return script("sh", ("-c", text), *more, **settings).value


def refused(*arguments, **settings):
    return error_of(script(*arguments, **settings))


def test_a_script_gives_its_status_and_its_output():
    """All four parts, also when it fails: that is for the program to judge."""
    good, bad = sh("echo tea"), sh("echo tea; echo hot >&2; exit 3")

    assert {"exit_code": 0, "stdout": "tea\n", "stderr": "", "truncated": False} == good
    assert (3, "tea\n", "hot\n") == (bad["exit_code"], bad["stdout"], bad["stderr"])
    assert 137 == sh("kill -9 $$")["exit_code"]


def test_input_is_given_whole_and_then_closed():
    """Also when nobody reads it to its end."""
    text = "ä" * 400_000

    assert text == sh("cat", text)["stdout"]
    assert "0\n" == sh("wc -c")["stdout"]
    assert 0 == sh("exit 0", text)["exit_code"]


def test_no_shell_comes_between():
    """What a shell would act upon are plain arguments, numbers and symbols their texts."""
    given = ("a; rm -rf /", "$(id)", "`id`", "a\nb", "*", "", "-n", 3, 1.5)
    done = script("printf", ("%s|", *given), run=["printf"])

    assert "a; rm -rf /|$(id)|`id`|a\nb|*||-n|3|1.5|" == done.value["stdout"]


def test_a_script_runs_in_the_programs_folder(tmp_path):
    """Where relative paths of the program start, too."""
    assert f"{tmp_path.resolve()}\n" == sh("pwd -P", folder=tmp_path)["stdout"]


def test_a_script_sees_little_of_the_environment(monkeypatch):
    """No key, and nothing that nobody chose."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret-123")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("TZ", "UTC")
    seen = dict(line.split("=", 1) for line in sh("env")["stdout"].splitlines())

    assert "UTC" == seen.pop("TZ")
    assert {*seen} <= {"PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "PWD", "OLDPWD"} | {
        "SHLVL",
        "SEXPLANG_IDEMPOTENCY_KEY",
        "_",
    }


def test_a_key_that_a_script_prints_is_redacted(monkeypatch):
    """It may have been in a file."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret-123")

    assert "[redacted]\n" == sh("echo sk-ant-secret-123")["stdout"]


def test_a_script_has_nothing_of_ours_open():
    """Its three pipes, and no more."""
    listed = script("ls", ("/proc/self/fd",), run=["ls"]).value["stdout"].split()

    assert ["0", "1", "2", "3"] == listed  # the last is the folder that is being listed


def test_an_output_without_end_is_cut():
    """Each to its first million bytes; the rest is dropped, and the script goes on to its end."""
    done = sh("yes | head -c 5000000; yes | head -c 10 >&2; echo over >&2")

    assert (1_000_000, True) == (len(done["stdout"]), done["truncated"])
    assert done["stderr"].endswith("over\n")


def test_output_that_is_no_text_is_replaced():
    """Bytes that are no UTF-8, and half a character where it is cut."""
    assert "a\ufffdb" == sh(r"printf 'a\377b'")["stdout"]
    cut = sh("head -c 999999 /dev/zero | tr '\\0' a; printf 'ää'")
    assert ("a", True) == (cut["stdout"][-1], cut["truncated"])


def test_a_script_that_takes_too_long_is_an_error_of_its_own():
    """With what it said until then."""
    error = refused("sh", ("-c", "echo begun; sleep 60"), None, 0.3)

    assert ("TASK_FAILURE", "execution_timeout") == (error["type"], error["reason"])
    assert ("script-timeout", "begun\n", 0.3) == tuple(
        error["details"][key] for key in ("code", "script_stdout", "limit")
    )


@pytest.mark.parametrize(
    ("arguments", "reason", "words"),
    [
        (("rm", ("-rf", "x")), "run-denied", "--allow-run rm"),
        (("/bin/sh", ()), "run-denied", "--allow-run /bin/sh"),
        (("sh -c ls",), "run-denied", "an executable stands alone"),
        (("no-such-thing",), "script-not-found", "PATH"),
        (("sh", ("-c", "x" * 200_000)), "script-failed", "input"),
        (("broken",), "script-failed", "outside the program"),
        (("",), "wrong-type", "run-script"),
        ((None,), "wrong-type", "run-script"),
        (("sh", "-c"), "wrong-type", "run-script"),
        (("sh", (None,)), "wrong-type", "run-script"),
        (("sh", (("a",),)), "wrong-type", "run-script"),
        (("sh", ("a\0b",)), "wrong-type", "run-script"),
        (("sh", ("\ud800",)), "not-text", "surrogate|pairs"),
        (("sh", (), 3), "wrong-type", "run-script"),
        (("sh", (), "", 0), "wrong-type", "run-script"),
        (("sh", (), "", True), "wrong-type", "run-script"),
        (("sh", (), "", float("nan")), "wrong-type", "run-script"),
        (("sh", (), "", 1e9), "wrong-type", "run-script"),
    ],
)
def test_what_cannot_be_run_is_refused(arguments, reason, words, tmp_path, monkeypatch):
    """Each for its own reason, with what to do."""
    (tmp_path / "broken").write_text("#!/no/such/interpreter\n")
    (tmp_path / "broken").chmod(0o755)
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:{tmp_path}")
    error = refused(*arguments, run=["sh", "no-such-thing", "broken"])

    assert reason == error["reason"]
    assert any(word in error["hint"] for word in words.split("|"))


def test_nothing_is_run_from_where_we_happen_to_be(tmp_path, monkeypatch):
    """A relative part of PATH would let any folder name its own `tool`."""
    (tmp_path / "tool").write_text("#!/bin/sh\necho mine\n")
    (tmp_path / "tool").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".::{os.environ['PATH']}")

    assert "script-not-found" == refused("tool", run=["tool"])["reason"]


def test_an_executable_may_be_permitted_by_its_path(tmp_path):
    """Then it is that one and no other."""
    (tmp_path / "tool").write_text("#!/bin/sh\necho mine\n")
    (tmp_path / "tool").chmod(0o755)
    granted = [str(tmp_path / "tool")]

    assert "mine\n" == script("./tool", run=granted, folder=tmp_path).value["stdout"]
    assert "mine\n" == script(granted[0], run=granted).value["stdout"]
    assert "run-denied" == refused("tool", run=granted, folder=tmp_path)["reason"]
    assert "run-denied" == refused("../tool", run=granted, folder=tmp_path)["reason"]


def test_scripts_of_branches_run_at_the_same_time(tmp_path):
    """Each waits until the other has begun."""
    meet = "touch $0; until [ -e $1 ]; do sleep 0.01; done; echo $0"
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    program = par(
        perform("run-script", "sh", ("-c", meet, a, b)),
        perform("run-script", "sh", ("-c", meet, b, a)),
    )
    done = drive(begun(program), table(permissions=Permissions(run=["sh"])))

    assert [f"{a}\n", f"{b}\n"] == [each["stdout"] for each in done.value]


def test_the_command_gives_the_right_to_run(tmp_path):
    """`--allow-run`, any number of times; nothing in the program does."""
    program = '(get (run-script "sh" ["-c" "echo tea"]) "stdout")'
    allowed = sexplang("run", "-e", program, "--allow-run", "cat", "--allow-run", "sh")
    denied = sexplang("run", "-e", program, "--allow-run", "cat")

    assert ("tea\n", "", 0) == (allowed.stdout, allowed.stderr, allowed.returncode)
    assert 1 == denied.returncode
    assert "error[run-denied]: `sh` may not be run here" in denied.stderr
    assert "allow it with --allow-run sh" in denied.stderr


def test_a_script_cannot_look_into_the_interpreter():
    """Into its environment, where the key is: as soon as anything may be run, the kernel is told
    so. (A superuser can look all the same, so that the mark itself is tested.)"""
    watch = (
        "import ctypes, sys; from sexplang.hosts import main;"
        "status = main(sys.argv[1:]);"
        "print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0)); sys.exit(status)"
    )
    words = ["run", "-e", '(print "done")', "--allow-run", "sh"]
    hidden = subprocess.run([sys.executable, "-c", watch, *words], capture_output=True, text=True)
    open_ = subprocess.run(
        [sys.executable, "-c", watch, *words[:3]], capture_output=True, text=True
    )

    assert ("done\n0\n", "done\n1\n") == (hidden.stdout, open_.stdout), hidden.stderr


def test_a_hint_that_is_pasted_runs_nothing_else(tmp_path):
    """What a program names is quoted for the shell."""
    error = error_of(drive(begun(perform("run-script", "echo;ls", ())), table()))

    assert "allow it with --allow-run 'echo;ls'" == error["hint"]


def test_a_command_in_one_text_is_told_to_be_two():
    """No permission would make a command with its arguments the name of an executable."""
    hint = refused("echo hi there")["hint"]

    assert 'an executable stands alone: write "echo" and args: ["hi" "there"]' == hint
    assert "--allow-run '/opt/my tool'" in refused("/opt/my tool")["hint"]
