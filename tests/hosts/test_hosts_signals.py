"""Signals that end the command: whatever a run has entered is left, whoever sends them."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from support.command import SEXPLANG
from support.markdown import ROOT

WAITING = '(try (print "go") (sleep 60) (finally (print "left")))'
COMPUTING = '(try (print "go") (loop 1000000000000 1) (finally (print "left")))'
LONG = '(try (print "go") (sleep 60) (finally (print "leaving") (sleep 60) (print "left")))'
SAID = {signal.SIGTERM: (143, "terminated"), signal.SIGHUP: (129, "hung up")}


def started(*words, ignored=(), **given):
    """The command, which ignores some signals from the beginning."""

    def ignore():
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)

    pipe = subprocess.PIPE
    streams = {"stdin": pipe, "stdout": pipe, "stderr": pipe} | given
    return subprocess.Popen(
        [*SEXPLANG, *words],
        cwd=ROOT,
        text=True,
        preexec_fn=ignore,
        start_new_session=True,
        **streams,
    )


@pytest.mark.parametrize("ignored", [(), (signal.SIGINT,)], ids=["alone", "in the background"])
@pytest.mark.parametrize("program", [WAITING, COMPUTING], ids=["waiting", "computing"])
@pytest.mark.parametrize("number", SAID)
def test_a_run_is_left_as_by_ctrl_c(number, program, ignored):
    """Its `finally` runs; the status is that of a process that the signal ended."""
    with started("run", "-e", program, ignored=ignored) as command:
        assert "go\n" == command.stdout.readline()
        command.send_signal(number)
        said, errors = command.communicate(timeout=60)

    status, word = SAID[number]
    assert (status, "left\n", f"sexplang: {word}\n") == (command.returncode, said, errors)


@pytest.mark.parametrize(
    ("numbers", "status"),
    [
        ((signal.SIGTERM, signal.SIGTERM), 143),
        ((signal.SIGTERM, signal.SIGINT), 143),
        ((signal.SIGINT, signal.SIGTERM), 143),
        ((signal.SIGHUP, signal.SIGTERM), 129),
    ],
)
def test_a_second_one_cuts_it_short(numbers, status):
    """Of those that are no Ctrl-C the first gives the status."""
    with started("run", "-e", LONG) as command:
        assert "go\n" == command.stdout.readline()
        command.send_signal(numbers[0])
        assert "leaving\n" == command.stdout.readline()
        command.send_signal(numbers[1])
        said, errors = command.communicate(timeout=60)

    assert (status, "", 1) == (command.returncode, said, len(errors.splitlines()))


def test_what_is_ignored_from_the_beginning_stays_so():
    """As `nohup` wants it."""
    program = '(print "go") (sleep 0.5) (print "done")'
    with started("run", "-e", program, ignored=[signal.SIGHUP]) as command:
        assert "go\n" == command.stdout.readline()
        command.send_signal(signal.SIGHUP)
        assert ("done\n", "") == command.communicate(timeout=60)
    assert 0 == command.returncode


def test_nothing_is_left_running_and_the_recording_is_kept(tmp_path):
    """A script is ended with the run; its journal says that the run was cancelled."""
    program = '(print "go") (run-script "sleep" ["60"])'
    record = tmp_path / "run.jsonl"
    words = ["run", "-e", program, "--allow-run", "sleep", "--record", str(record)]
    with started(*words) as command:
        assert "go\n" == command.stdout.readline()
        time.sleep(0.3)
        command.send_signal(signal.SIGTERM)
        command.communicate(timeout=60)

        with pytest.raises(ProcessLookupError):
            os.killpg(command.pid, 0)
    rows = [json.loads(line) for line in record.read_text().splitlines()]
    assert 143 == command.returncode
    assert "cancelled" in str(rows)


def test_a_terminal_that_goes_ends_the_run(tmp_path):
    """Nobody reads any more what it says."""
    left = tmp_path / "left.txt"
    program = f'(try (print "go") (sleep 60) (finally (write-file "{left}" "left")))'
    master, slave = pty.openpty()
    words = ["run", "-e", program, "--allow-write", str(tmp_path)]
    with started(*words, stdin=slave, stdout=slave, stderr=slave) as command:
        os.close(slave)
        assert b"go" in os.read(master, 100)
        os.close(master)
        command.send_signal(signal.SIGHUP)
        assert 129 == command.wait(60)
    assert "left" == left.read_text()


@pytest.mark.parametrize("typed", ["", "(sleep 60)\r"], ids=["at the prompt", "at work"])
def test_a_session_ends(typed):
    """Ctrl-C would only stop what is at work in it."""
    master, slave = pty.openpty()
    with started("repl", stdin=slave, stdout=slave, stderr=slave) as command:
        os.close(slave)
        shown = b""
        while b"\x1b[?7h" not in shown:  # the prompt is there
            shown += os.read(master, 1000)
        os.write(master, typed.encode())
        time.sleep(0.5)
        command.send_signal(signal.SIGTERM)
        with suppress(OSError):
            while said := os.read(master, 1000):
                shown += said
        assert 143 == command.wait(60)
    os.close(master)
    assert b"sexplang: terminated" in shown


def test_a_language_server_waits_for_nothing():
    """Its editor has gone."""
    asked = '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}'
    with started("lsp") as command:
        command.stdin.write(f"Content-Length: {len(asked)}\r\n\r\n{asked}")
        command.stdin.flush()
        assert command.stdout.readline().startswith("Content-")
        command.send_signal(signal.SIGTERM)
        _, errors = command.communicate(timeout=60)

    assert (-signal.SIGTERM, "") == (command.returncode, errors)


def test_who_embeds_keeps_their_handlers():
    """A run in Python takes Ctrl-C alone, and gives it back."""
    program = (
        "import signal, sexplang\n"
        "seen = []\n"
        "def look(): seen.append([signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGHUP)])\n"
        "sexplang.run('(look)', primitives={'look': look})\n"
        "print(seen == [[signal.SIG_DFL, signal.SIG_DFL]])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60
    )

    assert ("True\n", "") == (done.stdout, done.stderr)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_no_moment_of_the_start_shows_a_traceback(number):
    """From where the command is there; before that Python itself is interrupted."""
    text = (
        "import os, signal, sys, threading, time\n"
        "import sexplang.__main__ as start\n"
        "def press():\n"
        "    while signal.getsignal(2) is signal.default_int_handler: time.sleep(0.0005)\n"
        "    time.sleep({0})\n"
        "    os.kill(os.getpid(), {1})\n"
        "sys.argv = ['sexplang', 'run', '-e', '(sleep 30)']\n"
        "threading.Thread(target=press, daemon=True).start()\n"
        "start.main()"
    )
    for moment in range(12):
        pressed = text.format(0.001 + 0.018 * moment, int(number))
        done = subprocess.run(
            [sys.executable, "-c", pressed], cwd=ROOT, capture_output=True, text=True, timeout=60
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode in (128 + number, -number if number == signal.SIGTERM else 130)
