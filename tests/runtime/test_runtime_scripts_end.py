"""However a script or a run ends, and whatever the script did: none of its processes is left."""

import itertools
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import anyio
import pytest
from runtime_support import begun, perform, table
from support.command import SEXPLANG
from support.markdown import ROOT
from support.processes import list_process_files
from support.running import error_of

import sexplang
from sexplang.machine import Done
from sexplang.runtime import Permissions, adrive, drive

_numbers = itertools.count(1)

DAEMON = """
import os, sys, time
for _ in range({forks}):
    if os.fork():
        {parent}
    {apart}
{deaf}
os.execvp("sleep", ["sleep", sys.argv[1]])
"""


def daemon(forks, *, apart="os.setsid()", parent="os._exit(0)", deaf=""):
    return DAEMON.format(forks=forks, apart=apart, parent=parent, deaf=deaf)


DEAF = "import signal\nfor n in range(1, 65):\n    n in (9, 19, 32, 33) or signal.signal(n, 1)"

# What a process may do in order to be there when its script is gone.
ESCAPES = {
    "background": f'(sleep $0 &) ; {sys.executable} -c "import time; time.sleep({{wait}})"',
    "session": "setsid sleep $0 & sleep {wait}",
    "double fork": ("python", daemon(2)),
    "five forks": ("python", daemon(5)),
    "deaf": ("python", daemon(2, deaf=DEAF)),
    "deaf parent": ("python", daemon(1, parent="os.wait()", deaf=DEAF)),
    "own reaper": (
        "python",
        daemon(2, deaf="import ctypes; ctypes.CDLL(None).prctl(36, 1); os.fork()"),
    ),
    "no death signal": ("python", daemon(2, deaf="import ctypes; ctypes.CDLL(None).prctl(1, 0)")),
}


def mark():
    """The seconds of a sleep that is nobody else's."""
    return f"9{os.getpid()}.{next(_numbers)}"


def alive(seconds):
    """The processes that sleep for so long."""
    found = []
    for place in list_process_files("cmdline"):
        try:
            words = place.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"sleep") and seconds.encode() in words:
            found.append(int(place.parent.name))
    return found


def until(condition, seconds=60.0):
    """Whether a condition comes true."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def shell(escape, seconds, wait):
    """A script that starts such a process, sees that it is there, and waits."""
    kind = ESCAPES[escape]
    if isinstance(kind, str):
        return "sh", ("-c", kind.format(wait=wait), seconds)
    there = f"import subprocess; subprocess.Popen([sys.executable, '-c', {kind[1]!r}, seconds])"
    code = f"import sys, time; seconds = sys.argv[1]; {there}; time.sleep({wait})"
    return sys.executable, ("-c", code, seconds)


def running(name, arguments, timeout=None):
    core = begun(perform("run-script", name, arguments, None, timeout))
    return core, table(permissions=Permissions(run=[name]))


@pytest.mark.parametrize("escape", ESCAPES)
def test_a_script_that_ends_leaves_nothing(escape):
    """What it leaves in the background is ended with it."""
    seconds = mark()
    outcome = drive(*running(*shell(escape, seconds, 0.4)))

    assert isinstance(outcome, Done), outcome
    assert [] == alive(seconds)


@pytest.mark.parametrize("escape", ESCAPES)
def test_a_script_whose_time_is_up_leaves_nothing(escape):
    """When the error is there, its processes are not."""
    seconds = mark()
    outcome = drive(*running(*shell(escape, seconds, 60), 0.4))

    assert "script-timeout" == error_of(outcome)["details"]["code"]
    assert [] == alive(seconds)


@pytest.mark.parametrize(
    ("escape", "backend"), [*((escape, "asyncio") for escape in ESCAPES), ("double fork", "trio")]
)
def test_a_script_that_is_cancelled_leaves_nothing(escape, backend):
    """When the cancellation is through, it is all over."""
    seconds = mark()

    async def main():
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: adrive(*running(*shell(escape, seconds, 60))))
            while not alive(seconds):
                await anyio.sleep(0.01)
            group.cancel_scope.cancel()

    anyio.run(main, backend=backend)

    assert [] == alive(seconds)


def test_a_script_that_nobody_wants_any_more_leaves_nothing():
    """As the loser of a race, and where a deadline has passed."""
    seconds = mark()
    sleeping = f'(run-script "sh" ["-c" "setsid sleep {seconds} & sleep 60"])'
    allowed = Permissions(run=["sh"])

    assert 1 == sexplang.run(f"(race {sleeping} (begin (sleep 0.5) 1))", permissions=allowed)
    assert [] == alive(seconds)
    late = f"(try (with-timeout 0.5 {sleeping}) (catch (e seconds) e.reason))"
    assert "seconds" == sexplang.run(late, permissions=allowed)
    assert [] == alive(seconds)


def command(escape, seconds, wait=60):
    """The command with a program that runs such a script."""
    name, arguments = shell(escape, seconds, wait)
    words = " ".join(
        '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"' for word in arguments
    )
    program = f'(run-script "{name}" [{words}])'
    return subprocess.Popen(
        [*SEXPLANG, "run", "-e", program, "--allow-run", name],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.parametrize(
    ("escape", "number"),
    [
        *itertools.product(ESCAPES, [signal.SIGINT, signal.SIGKILL]),
        ("double fork", signal.SIGTERM),
    ],
)
def test_an_interpreter_that_is_ended_leaves_nothing(escape, number):
    """By Ctrl-C, by kill -9 in the midst of it, by what a system sends that goes down."""
    seconds = mark()
    with command(escape, seconds) as process:
        assert until(lambda: alive(seconds)), process.communicate()
        os.kill(process.pid, number)
        process.communicate(timeout=60)

        assert until(lambda: not alive(seconds))
        assert {2: 130, 9: -9, 15: 143}[number] == process.returncode


@pytest.mark.parametrize("which", [1, 2])
@pytest.mark.parametrize("escape", ["session", "double fork"])
def test_the_end_of_a_supervisor_leaves_nothing(escape, which):
    """The keeper has a guard behind it, and is itself one: whichever is killed, by the script or
    for want of memory."""
    seconds = mark()
    with command(escape, seconds) as process:
        assert until(lambda: alive(seconds)), process.communicate()
        guard, keeper = supervisors(process.pid)
        os.kill((guard, keeper)[which - 1], signal.SIGKILL)
        if which == 1:  # the script itself goes on: nobody has lost anything yet
            os.kill(process.pid, signal.SIGKILL)
        _, errors = process.communicate(timeout=60)

        assert until(lambda: not alive(seconds))
        assert which == 1 or "script-failed" in errors


def supervisors(pid):
    """The guard and the keeper of a command's script."""
    (guard,) = children(pid)
    (keeper,) = children(guard)
    return guard, keeper


def children(pid):
    return [
        int(place.parent.name) for place in list_process_files("stat") if parent(place) == str(pid)
    ]


def parent(place):
    """Of the process of a `stat`, if it is still there."""
    with suppress(OSError):
        return place.read_text().rpartition(")")[2].split()[1]


def test_a_script_cannot_send_its_supervisor_away():
    """Signals that are no death are not heard."""
    seconds = mark()
    text = f"setsid sleep {seconds} & kill -TERM $PPID; kill -INT $PPID; kill -HUP $PPID; echo on"
    outcome = drive(*running("sh", ("-c", text)))

    assert "on\n" == outcome.value["stdout"]
    assert [] == alive(seconds)


STOP = """
import os, subprocess, sys, time
keeper = os.getppid()
guard = int(open(f"/proc/{keeper}/stat").read().rpartition(")")[2].split()[1])
subprocess.Popen(["setsid", "sleep", sys.argv[1]])
while True:
    for pid in STOPPED:
        os.kill(pid, 19)
    if not AGAIN:
        break
time.sleep(60)
"""


@pytest.mark.parametrize(
    "again",
    [pytest.param(False, id="once", marks=pytest.mark.long), pytest.param(True, id="always")],
)
@pytest.mark.parametrize("stopped", ["[keeper]", "[guard]", "[keeper, guard]"])
def test_a_script_that_stops_its_supervisor_is_ended(stopped, again):
    """It cannot end anything then; others do."""
    seconds = mark()
    others = children(os.getpid())
    text = STOP.replace("STOPPED", stopped).replace("AGAIN", str(again))
    outcome = drive(*running(sys.executable, ("-c", text, seconds), 1))

    assert error_of(outcome)["details"]["code"] in ("script-failed", "script-timeout")
    assert until(lambda: not alive(seconds) and not {*children(os.getpid())} - {*others})


def test_many_processes_are_ended_too():
    """Hundreds that all set themselves apart."""
    seconds = mark()
    text = f"for i in $(seq 300); do setsid sleep {seconds} & done; sleep 60"
    outcome = drive(*running("sh", ("-c", text), 3))

    assert "script-timeout" == error_of(outcome)["details"]["code"]
    assert [] == alive(seconds)


HOP = """
import os, sys, time
end = time.time() + 60
while time.time() < end:
    if os.fork():
        os._exit(0)
    os.setsid()
"""


@pytest.mark.parametrize("outcome", ["ends", "time is up"])
def test_a_process_that_is_always_another_is_ended(outcome):
    """It starts its successor and is gone when one looks."""
    seconds = mark()
    text = f"{sys.executable} -c '{HOP}' {seconds}; sleep {0.3 if outcome == 'ends' else 60}"
    drive(*running("sh", ("-c", text), 0.6 if outcome != "ends" else None))

    assert [] == [place for place in list_process_files("cmdline") if says(place, seconds)]


def says(place, words):
    try:
        return words.encode() in place.read_bytes()
    except OSError:
        return False


def test_children_are_found_where_the_kernel_keeps_no_list():
    """Among all processes; of one that, as a supervisor, has nobody else's children."""
    look = (
        "import subprocess\n"
        "from sexplang.runtime.scripts.supervisor import children, find_children\n"
        "with subprocess.Popen(['sleep', '60']) as child:\n"
        "    print([child.pid] == children() == find_children())\n"
        "    child.kill()\n"
    )
    done = subprocess.run([sys.executable, "-c", look], cwd=ROOT, capture_output=True, text=True)

    assert ("True\n", "") == (done.stdout, done.stderr)
