"""Ctrl-C: whatever a run has entered is left, also where it only computes; and it ends."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time

import anyio
import pytest
from support.command import SEXPLANG
from support.markdown import ROOT

import sexplang
from sexplang.guards.interrupt import interruptible
from sexplang.machine import STOPPED


@pytest.fixture
def said():
    """What programs have said, in order."""
    return []


def pressing(times=1):
    """A primitive that presses Ctrl-C in the midst of a step, so many times."""
    left = [None] * times

    def press() -> None:
        if left:
            left.pop()
            os.kill(os.getpid(), signal.SIGINT)

    return {"press": press}


async def breathe() -> None:
    """Waits, so that there is an event loop from here on."""
    await anyio.sleep(0)


def interrupted(said, program, presses=1, **effects):
    """Runs a program that is interrupted."""
    effects = {"say": said.append, "breathe": breathe} | effects
    with pytest.raises(KeyboardInterrupt):
        sexplang.run(program, primitives=pressing(presses), effects=effects)
    assert signal.default_int_handler is signal.getsignal(signal.SIGINT)


ENDLESS = "(begin (press) (loop 1000000000000 1))"

COMPUTING = {
    "before anything was asked": ('(try {0} (finally (say "a")))', ["a"]),
    "after that": ('(say "x") (try {0} (finally (say "a")))', ["x", "a"]),
    "under an event loop": ('(breathe) (try {0} (finally (say "a")))', ["a"]),
    "innermost first": ('(try (try {0} (finally (say "a"))) (finally (say "b")))', ["a", "b"]),
    "in a call": ('(define (f) {0}) (try (+ 1 (f)) (finally (say "a")))', ["a"]),
    "in a branch": (
        '(try (par (try {0} (finally (say "a"))) 1) (finally (say "b")))',
        ["a", "b"],
    ),
    "in the second branch": (
        '(par (try (breathe) (finally (say "a"))) (try {0} (finally (say "b"))))',
        ["a", "b"],
    ),
    "by small branches": (
        '(try (begin (press) (loop 1000000000000 (par 1 2))) (finally (say "a")))',
        ["a"],
    ),
    "nobody catches it": (
        '(try (try {0} (catch (e) (say "no"))) (finally (breathe) (say "a")))',
        ["a"],
    ),
    "while it is failing": ('(try (raise 1) (finally (press) (say "a")))', ["a"]),
}


@pytest.mark.parametrize(("program", "words"), COMPUTING.values(), ids=COMPUTING)
def test_a_run_that_computes_is_left(said, program, words):
    """Its `finally` bodies run, and may ask and wait."""
    interrupted(said, program.replace("{0}", ENDLESS))

    assert words == said


def test_the_command_leaves_what_it_computes():
    """From outside, before anything was asked."""
    program = '(try (loop 1000000000000 1) (finally (print "left")))'
    wrapped = (
        "import sys, threading, os, signal; from sexplang.__main__ import main\n"
        "from sexplang.machine.scheduler import scheduler\n"
        "whole = scheduler.run\n"
        "def run(*given):\n"
        "    scheduler.run = whole\n"
        "    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "    return whole(*given)\n"
        "scheduler.run = run\n"
        f"sys.argv = ['sexplang', 'run', '-e', {program!r}]; main()"
    )
    done = subprocess.run(
        [SEXPLANG[0], "-c", wrapped], cwd=ROOT, capture_output=True, text=True, timeout=60
    )

    assert (130, "left\n", "sexplang: interrupted\n") == (
        done.returncode,
        done.stdout,
        done.stderr,
    )


@pytest.mark.parametrize("first", ["", "(breathe)"], ids=["computing", "under an event loop"])
def test_finally_bodies_that_never_end_are_ended(said, first):
    """When the grace time is over, wherever it began; nothing more of the run happens."""
    program = f'{first} (try (try {ENDLESS} (finally (loop 1000000000000 1))) (finally (say "a")))'
    with pytest.raises(KeyboardInterrupt), interruptible(0.2):
        sexplang.run(
            program,
            primitives=pressing(),
            effects={"say": said.append, "breathe": breathe},
        )

    assert [] == said


@pytest.mark.parametrize("first", ["", "(breathe)"], ids=["computing", "under an event loop"])
def test_a_second_press_cuts_it_short(said, first):
    """Also while something is cleaning up."""
    interrupted(said, f'{first} (try {ENDLESS} (finally (press) (say "a")))', presses=2)

    assert [] == said


def test_a_second_press_leaves_a_function_of_the_host():
    """The first one waits for the end of the step."""
    started = time.monotonic()
    for seconds in (0.1, 0.2):
        threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        sexplang.run("(wait)", primitives={"wait": lambda: time.sleep(40)})

    assert time.monotonic() - started < 20


def test_what_is_cut_short_for_somebody_who_is_ending_has_failed(said):
    """It is not done again; and what is around goes on."""
    begun = []

    async def wait() -> None:
        begun.append(1)
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        await anyio.sleep(60)

    program = """
        (try (try (raise 1)
               (finally (try (wait) (catch (e) (say e.reason)))
                        (say "a")))
          (finally (say "b")))"""
    interrupted(said, program, wait=wait)

    assert (["cancelled", "a", "b"], [1]) == (said, begun)


def test_a_press_is_never_slept_through(said):
    """Another thread got it, so that nothing interrupts the wait: as in the moment before one."""
    threading.Thread(target=time.sleep, args=[40], daemon=True).start()

    async def wait() -> None:
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        await anyio.sleep(40)

    started = time.monotonic()
    try:
        interrupted(said, '(try (wait) (finally (say "a")))', wait=wait)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])

    assert ["a"] == said
    assert time.monotonic() - started < 20
    assert -1 == signal.set_wakeup_fd(-1)


def test_a_run_that_is_to_stop_does_not_begin():
    """Nothing has been entered, so nothing is left."""
    token = STOPPED.set(lambda: True)
    try:
        outcome = sexplang.start(sexplang.build('(try (print "a") (finally (print "b")))'))
    finally:
        STOPPED.reset(token)

    assert "cancelled" == outcome.reason


def test_an_event_loop_is_made_whole(said, monkeypatch, capfd):
    """Half of one would complain when it goes."""
    kept = asyncio.SelectorEventLoop._make_self_pipe
    pressed = []

    def make(loop):
        if not pressed:
            pressed.append(os.kill(os.getpid(), signal.SIGINT))
        kept(loop)

    monkeypatch.setattr(asyncio.SelectorEventLoop, "_make_self_pipe", make)
    interrupted(said, '(try (begin (breathe) (loop 1000000000000 1)) (finally (say "a")))')

    gc.collect()
    assert ([None], ["a"], "") == (pressed, said, capfd.readouterr().err)


def test_the_command_ends_as_one_that_was_interrupted():
    """However often it is pressed."""
    wrapped = """
import atexit, os, signal
from sexplang import __main__, hosts

def press(*_):
    os.kill(os.getpid(), signal.SIGINT)

def main():
    atexit.register(press)
    press()

hosts.main = main
__main__.main()"""
    done = subprocess.run(
        [SEXPLANG[0], "-c", wrapped], cwd=ROOT, capture_output=True, text=True, timeout=60
    )

    assert (130, "", "") == (done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("module", ["asyncio.runners", "anyio.abc"])
def test_an_import_of_an_event_loop_is_not_cut(module):
    """Ctrl-C comes in its midst: the `finally` bodies need the event loop."""
    program = '(try (sleep 20) (finally (sleep 0.01) (print "left")))'
    code = f"""
import runpy, signal, sys

class Press:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Press())
sys.argv = ["sexplang", "run", "-e", {program!r}]
runpy.run_module("sexplang", run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (130, "left\n", "sexplang: interrupted\n") == (
        *(done.returncode, done.stdout),
        done.stderr,
    )
