"""How long the command takes to start: wall clock and processor time of whole processes.

Interleaved with `python -c pass`, which is what no Python program can beat; medians. Prints as
well what was imported, by package, and which of the heavy modules that have to wait were not.

    python benchmarks/cold_start.py [--rounds 15]
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median
from time import perf_counter

ROOT = Path(__file__).resolve().parent.parent
HEAVY = (
    "anthropic",
    "anyio",
    "asyncio",
    "httpx",
    "jsonschema_rs",
    "lark",
    "lxml",
    "pydantic",
    "xllamacpp",
    "xmlschema",
)


SILENT = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def environment() -> dict[str, str]:
    """This one, with the checkout in front of whatever is installed.

    Compiled modules are kept as they are for anyone who starts a command twice, also where this
    process was told not to.
    """
    kept = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": str(ROOT)}


def milliseconds(command: list[str]) -> tuple[float, float]:
    """Wall clock and processor time of one process that has to succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = perf_counter()
    subprocess.run(command, check=True, env=environment(), **SILENT)
    wall = perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return wall * 1000, busy * 1000


def imported(command: list[str]) -> dict[str, float]:
    """The modules that a command imports, with the milliseconds each takes by itself."""
    report = subprocess.run(
        [command[0], "-X", "importtime", *command[1:]],
        check=True,
        capture_output=True,
        text=True,
        env=environment(),
    ).stderr
    modules = {}
    for line in report.splitlines():
        parts = line.removeprefix("import time:").split("|")
        if line.startswith("import time:") and parts[0].strip().isdigit():
            modules[parts[2].strip()] = int(parts[0]) / 1000
    return modules


def packages(modules: dict[str, float]) -> list[tuple[str, float, int]]:
    """Milliseconds and number of modules by package, the slowest first."""
    times: dict[str, float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    for name, took in modules.items():
        package = name.split(".")[0]
        times[package] += took
        counts[package] += 1
    return sorted(((p, times[p], counts[p]) for p in times), key=lambda row: -row[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15, help="interleaved rounds (default 15)")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        hello = Path(folder) / "hello.sexp"
        hello.write_text('(define (greet name) (str "hello, " name))\n(greet "world")\n')
        python = [sys.executable]
        commands = {
            "python -c pass": [*python, "-c", "pass"],
            "sexplang run -e 1": [*python, "-m", "sexplang", "run", "-e", "1"],
            "sexplang run hello.sexp": [*python, "-m", "sexplang", "run", str(hello)],
            "sexplang check hello.sexp": [*python, "-m", "sexplang", "check", str(hello)],
            "sexplang --help": [*python, "-m", "sexplang", "--help"],
        }
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for turn in range(options.rounds + 1):
            for name, command in commands.items():
                took = milliseconds(command)
                if turn:  # the first turn compiles the modules
                    found[name].append(took)
        modules = imported(commands["sexplang run hello.sexp"])

    bare = [median(times) for times in zip(*found["python -c pass"], strict=True)]
    head = f"{'command':26}{'wall ms':>9}{'min..max':>15}{'× python':>10}"
    print(f"{head}{'CPU ms':>9}{'× python':>10}")
    for name, times in found.items():
        walls = [wall for wall, _ in times]
        wall, busy = (median(kind) for kind in zip(*times, strict=True))
        span = f"{min(walls):.1f}..{max(walls):.1f}"
        print(
            f"{name:26}{wall:9.1f}{span:>15}{wall / bare[0]:10.2f}{busy:9.1f}{busy / bare[1]:10.2f}"
        )

    print(f"\nhello.sexp imports {len(modules)} modules; by package, ms by themselves:")
    for package, alone, count in packages(modules)[:12]:
        print(f"  {package:20}{alone:7.1f} ms {count:5} modules")
    heavy = [name for name in HEAVY if name in modules]
    print(f"heavy modules imported: {', '.join(heavy) or 'none'}")


if __name__ == "__main__":
    main()
