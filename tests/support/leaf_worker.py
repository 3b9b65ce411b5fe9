"""A worker in a process of its own, which performs leaves: `python -m support.leaf_worker JSON`.

Its tool notes each call in a log, with the time at which it began and ended.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

from support.carried_runs import make_leaf_performer, work

import sexplang
from sexplang.runtime.fleet.pressure import parse_limit


def make_functions(log, seconds):
    """The tool and the model of a worker."""

    def note(*words):
        with Path(log).open("a") as file:
            file.write(" ".join(map(str, (*words, os.getpid()))) + "\n")

    async def look(n: int) -> int:
        """Look."""
        began = time.time()
        await asyncio.sleep(seconds)
        note(n, began, time.time())
        return n * 10

    async def say(payload):
        began, words = time.time(), payload["messages"][-1]["content"]
        words = words if isinstance(words, str) else words[0]["text"]
        await asyncio.sleep(seconds)
        note(words, began, time.time())
        usage = {"input_tokens": 10, "output_tokens": 1}
        content = [{"type": "text", "text": words}]
        return {"content": content, "stop_reason": "end_turn", "usage": usage, "model": "m"}

    return {"tools": [look], "model": say}


def main(given):
    from sexplang.runtime.journal.databases import postgresql

    lease = given.get("lease", 2.0)
    postgresql.LEASE = given.get("connection", 30)
    from sexplang.runtime.fleet.pressure import FleetLimits

    limits = FleetLimits(dict(map(parse_limit, given.get("limits", ()))))
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    functions = make_functions(given["log"], given.get("seconds", 0.02))
    if given.get("script"):
        functions["permissions"] = sexplang.Permissions(run=["sh"])
    performer = make_leaf_performer(given["store"], lease, limits, **functions)
    places = given.get("places", 5)
    work(given["store"], stop, places, lease, given["queues"], performer)


def start_worker(**given):
    """Start a worker; return its process."""
    root = Path(__file__).resolve().parents[2]
    paths = os.pathsep.join([str(root), str(root / "tests")])
    return subprocess.Popen(
        [sys.executable, "-m", "support.leaf_worker", json.dumps(given)],
        env=os.environ | {"PYTHONPATH": paths},
    )


@contextmanager
def worker_processes(count, **given):
    """Workers in processes, ended in the end."""
    started = [start_worker(**given) for _ in range(count)]
    try:
        yield started
    finally:
        for each in started:
            with suppress(ProcessLookupError):
                each.send_signal(signal.SIGCONT)
                each.terminate()
        for each in started:
            try:
                each.wait(10)
            except subprocess.TimeoutExpired:
                each.kill()
                each.wait()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
