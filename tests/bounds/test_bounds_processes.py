"""A script that kills what watches over it: nothing of it is left, and nobody else's is touched."""

import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest
from support.command import SEXPLANG
from support.markdown import ROOT
from support.processes import list_process_files

LEAVING = """(system:run_script "bash" args: ["-c" "{start} & sleep 0.3; \
g=$(awk '{{print $4}}' /proc/$PPID/stat); kill -9 {killed}; sleep 5"] timeout: 8)"""

STARTS = {
    "session": "setsid bash -c 'exec -a {name} sleep 3000'",
    "no environment": "env -i setsid /bin/bash -c 'exec -a {name} sleep 3000'",
    "two": "setsid bash -c '(exec -a {name} sleep 3000) & exec -a {name} sleep 3000'",
}


def named(name):
    """The processes of this name."""
    found = []
    for place in list_process_files("cmdline"):
        with suppress(OSError):
            if place.read_bytes().split(b"\0")[0] == name.encode():
                found.append(int(place.parent.name))
    return found


@pytest.fixture
def name():
    """One that no other process has; whatever has it in the end is ended."""
    made = f"SURVIVOR-{os.getpid()}"
    yield made
    for pid in named(made):
        os.kill(pid, signal.SIGKILL)


def leaving(start, killed, name):
    return LEAVING.format(start=STARTS[start].format(name=name), killed=killed)


@pytest.mark.parametrize(
    ("start", "killed"), [*((start, "$g $PPID") for start in STARTS), ("session", "$g")]
)
def test_a_script_that_kills_its_supervisors_leaves_nothing(start, killed, name):
    """Both, or the first of them; and what is said about it is so."""
    program = leaving(start, killed, name)
    done = subprocess.run(
        [*SEXPLANG, "run", "-e", program, "--allow-run", "bash"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )

    assert "`bash` was ended with all that it started: its supervisor process" in done.stderr
    assert [] == named(name)


EMBEDDING = """
import asyncio, ctypes, json, os, subprocess, sys
import sexplang

program, before = sys.argv[1], int(sys.argv[2])
libc = ctypes.CDLL(None)

def adopts():
    found = ctypes.c_int()
    libc.prctl(37, ctypes.byref(found), 0, 0, 0)
    return found.value

libc.prctl(36, before, 0, 0, 0)
own = subprocess.Popen(["sleep", "3000"])
late = []

async def leave():
    '''A child's child that loses its parent while the script runs.'''
    while not before and not adopts():
        await asyncio.sleep(0.01)
    made = subprocess.run(
        ["sh", "-c", "setsid sleep 3000 >&- 2>&- & echo $!"], stdout=subprocess.PIPE, text=True
    )
    late.append(int(made.stdout))
    late.append(adopts())
    return 1

try:
    sexplang.run(
        "(define-effect (leave)) (par " + program + " (leave))",
        effects={"leave": leave},
        permissions=sexplang.Permissions(run=["bash"]),
    )
except sexplang.Failed as failed:
    said = failed.error.fields["message"]
daemon, meanwhile = late
parent = open(f"/proc/{daemon}/stat").read().rpartition(")")[2].split()[:2]
alive = own.poll() is None
own.kill(), os.kill(daemon, 9), own.wait()
print(json.dumps([said, alive, parent[0], int(parent[1]) == os.getpid(), meanwhile, adopts()]))
with open(f"/proc/self/task/{os.getpid()}/children") as file:
    print([int(each) for each in file.read().split() if int(each) != daemon])
"""


@pytest.mark.parametrize("before", [0, 1])
def test_what_an_embedding_program_has_started_is_left_alone(before, name):
    """Its child, and its child's child that it has adopted meanwhile. It adopts as before then."""
    done = subprocess.run(
        [sys.executable, "-c", EMBEDDING, leaving("session", "$g $PPID", name), str(before)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )

    said = "`bash` was ended with all that it started: its supervisor process was killed or stopped"
    own = f'["{said}", true, "S", true, 1, {before}]\n'
    assert (own + "[]\n", "") == (done.stdout, done.stderr)
    assert [] == named(name)


def test_a_mark_is_below_the_limit_that_there_is():
    """A script that runs the interpreter has lowered it; further down it can be told from ours."""
    look = (
        "import resource\n"
        "from sexplang.runtime.scripts.reaper import mark\n"
        "one = mark()\n"
        "resource.setrlimit(resource.RLIMIT_RTTIME, (one, one))\n"
        "print(one - mark(), one > 1 << 60)\n"
    )
    done = subprocess.run([sys.executable, "-c", look], cwd=ROOT, capture_output=True, text=True)

    assert ("1 True\n", "") == (done.stdout, done.stderr)
