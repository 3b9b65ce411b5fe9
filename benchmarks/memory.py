"""An index of a git repository: how long it takes to make, to bring up to date, and to ask.

A repository is made on the fly: modules with docstrings, pages, settings and pictures, a folder
that is ignored, a hundred commits by several people. Wall clock and processor time, medians; the
first four are whole processes of `sexplang index`, as people type it, the rest is inside of one.

    python benchmarks/memory.py [--files 2000] [--rounds 5]
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

BOUNDS = {"build": 10.0, "one file changed": 0.5, "query": 0.05}
"""Seconds on the clock that each may take for two thousand files."""

Took = tuple[float, float]
"""Seconds on the clock, and of processors."""

COMMITS = 100
PEOPLE = ["Ada Bell", "Grace Moss", "Alan Reed", "Edsger Wood", "Barbara Stone"]
STEMS = "read writ pars build send index merge split hold match cache count draw fetch log"
ENDS = "er ing or able ment ion ed s y ure"


def vocabulary(random: Random) -> list[str]:
    """Words, the common ones first, as few as a project has."""
    syllables = [a + b for a in "bcdfghklmnprstvw" for b in "aeiou"]
    made = {"".join(random.choices(syllables, k=random.randint(2, 4))) for _ in range(4000)}
    known = [stem + end for stem in STEMS.split() for end in ENDS.split()]
    return known + sorted(made)


def prose(random: Random, words: list[str], count: int) -> str:
    """Some words, the common ones often."""
    ranks = [min(int(random.paretovariate(0.6)), len(words)) - 1 for _ in range(count)]
    return " ".join(words[rank] for rank in ranks)


def module(random: Random, words: list[str]) -> str:
    parts = [f'"""{prose(random, words, 12).capitalize()}.\n\n{prose(random, words, 40)}\n"""\n']
    for _ in range(random.randint(3, 25)):
        name = "_".join(prose(random, words, 2).split())
        body = "\n".join(f"    value = {prose(random, words, 1)}(value)" for _ in range(8))
        doc = prose(random, words, 8)
        parts.append(f'\ndef {name}(value):\n    """{doc}."""\n{body}\n    return value\n')
    return "".join(parts)


def page(random: Random, words: list[str]) -> str:
    parts = [f"# {prose(random, words, 3).capitalize()}\n"]
    for _ in range(random.randint(3, 12)):
        parts.append(f"\n## {prose(random, words, 2)}\n\n{prose(random, words, 120)}\n")
    return "".join(parts)


def settings(random: Random, words: list[str]) -> str:
    rows = [f'{prose(random, words, 1)} = "{prose(random, words, 3)}"' for _ in range(20)]
    return f"# {prose(random, words, 8)}\n\n[{prose(random, words, 1)}]\n" + "\n".join(rows) + "\n"


def files(random: Random, words: list[str], count: int) -> Iterator[tuple[str, str]]:
    """Paths and texts: most of them modules."""
    kinds = [(module, "py"), (module, "py"), (module, "py"), (page, "md"), (settings, "toml")]
    for number in range(count):
        make, extension = kinds[number % len(kinds)]
        folder = "/".join(prose(random, words, 2).split())
        yield f"{folder}/{prose(random, words, 1)}_{number}.{extension}", make(random, words)


def git(folder: Path, *words: str, person: str = PEOPLE[0]) -> None:
    who = {"NAME": person, "EMAIL": f"{person.split()[0].lower()}@example.org"}
    names = {f"GIT_{role}_{key}": who[key] for role in ("AUTHOR", "COMMITTER") for key in who}
    command = ["git", "-c", "gc.auto=0", *words]
    subprocess.run(
        command, cwd=folder, check=True, stdout=subprocess.DEVNULL, env=os.environ | names
    )


def repository(folder: Path, count: int) -> list[Path]:
    """Makes the repository; the paths of its modules."""
    random = Random(7)
    words = vocabulary(random)
    git(folder, "init", "--quiet")
    (folder / ".gitignore").write_text("build/\n*.log\n")
    made = list(files(random, words, count))
    share = -(-len(made) // COMMITS)
    for at in range(0, len(made), share):
        for name, text in made[at : at + share]:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "-m", "more", person=random.choice(PEOPLE))
    (folder / "build").mkdir()
    for number in range(500):
        (folder / "build" / f"{number}.py").write_text("value = 1\n")
        (folder / f"{number % 10}.png").write_bytes(b"\x89PNG" + bytes(5000))
    return [folder / name for name, _ in made if name.endswith(".py")]


def took(function: Callable[[], Any], who: int = resource.RUSAGE_SELF) -> Took:
    """How long a call takes, here or in the processes that it waits for."""
    before, begun = resource.getrusage(who), perf_counter()
    function()
    wall, after = perf_counter() - begun, resource.getrusage(who)
    return wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def command(folder: Path) -> Took:
    words = [sys.executable, "-m", "sexplang", "index", "."]
    run = partial(subprocess.run, words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return took(lambda: run(env=environment), resource.RUSAGE_CHILDREN)


def measured(folder: Path, count: int, rounds: int) -> dict[str, list[Took]]:
    """What is measured, each as often as there are rounds."""
    from sexplang.runtime.memory import MemorySystem

    random, words = Random(11), vocabulary(Random(7))
    modules = repository(folder, count)
    index = folder / ".sexplang" / "index.db"
    found: dict[str, list[Took]] = defaultdict(list)
    for _ in range(rounds):
        for file in index.parent.glob("index.db*"):
            file.unlink()
        found["build"].append(command(folder))
        found["nothing changed"].append(command(folder))
        changed = random.choice(modules)
        changed.write_text(changed.read_text() + f"\n# {prose(random, words, 4)}\n")
        found["one file changed"].append(command(folder))
        git(folder, "commit", "--quiet", "--all", "-m", "a change")
        found["one file committed"].append(command(folder))
    memory = MemorySystem(index)
    print(f"{len(memory.entries())} files, {index.stat().st_size / 1e6:.1f} MB of index")
    memory.search("warm up")
    for _ in range(20 * rounds):
        short, long = prose(random, words, 5), prose(random, words, 400)
        queries: dict[str, Any] = {
            "query": short,
            "query, 400 words around": {"query": short, "inherited_context": long},
            "query, by metadata": {"query": "Ada", "matching_strategy": "metadata"},
            "candidates for a model": {"query": short, "limit": 1000, "include_unmatched": True},
        }
        for name, query in queries.items():
            found[name].append(took(partial(memory.search, query)))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=2000, help="files (default 2000)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds (default 5)")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        found = measured(Path(folder), options.files, options.rounds)
    print(f"{'':26}{'wall ms':>9}{'min..max':>18}{'at most':>9}{'CPU ms':>9}")
    for name, times in found.items():
        walls, busy = ([1000 * each for each in kind] for kind in zip(*times, strict=True))
        span = f"{min(walls):.1f}..{max(walls):.1f}"
        bound = f"{BOUNDS[name] * 1000:.0f}" if name in BOUNDS else ""
        print(f"{name:26}{median(walls):9.1f}{span:>18}{bound:>9}{median(busy):9.1f}")
    slow = [name for name in BOUNDS if median(wall for wall, _ in found[name]) > BOUNDS[name]]
    print(f"bounds: {'not kept by ' + ', '.join(slow) if slow else 'kept'}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
