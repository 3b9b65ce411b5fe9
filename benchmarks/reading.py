"""A million characters of program to forms with spans: megabytes a second, and against others.

Processor time in one process, interleaved rounds, medians. The JSON twin says the same as lists
and strings; Hy and sexpdata take part if they are installed.

    python benchmarks/reading.py [--rounds 5]
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.measure import Timed, interleaved
from sexplang.reader import read
from sexplang.terms.form import Form, Label, Literal, Name
from sexplang.terms.source import Source

NAMES = [
    "define",
    "lambda",
    "let",
    "if",
    "map",
    "filter",
    "summarize",
    "document",
    "review.notes.success",
    "critique-page",
    "system:run_script",
    "string-append",
    "iterations",
    "x",
    "y",
    "count",
    "accumulate->list",
    "empty?",
    "evaluator",
]
LABELS = ["style:", "max_iterations:", "inputs:", "context:"]
WORDS = [
    "Read",
    "the",
    "document",
    "with",
    "care",
    "and",
    "answer",
    "in",
    "one",
    "short",
    "paragraph",
    "of",
    "plain",
    "prose",
]


def corpus(size: int, random: Random) -> str:
    """Programs as people write them: calls, labels, strings with escapes, comments, quotes."""
    parts: list[str] = []
    written = 0
    while written < size:
        comment = f"; {' '.join(random.sample(WORDS, 10))}\n" * random.randrange(4)
        parts.append(f"{comment}{_form(random, 6, 0)}\n\n")
        written += len(parts[-1])
    return "".join(parts)


def _form(random: Random, depth: int, column: int) -> str:
    if depth == 0 or random.random() < 0.2:
        return _atom(random)
    items = [random.choice(NAMES)]
    for _ in range(random.randrange(1, 5)):
        if random.random() < 0.1:
            items.append(random.choice(LABELS))
        items.append(_form(random, depth - 1, column + 2))
    mark = random.choice("'`") if random.random() < 0.03 else ""
    break_ = "\n" + " " * (column + 2) if random.random() < 0.4 else " "
    return f"{mark}({break_.join(items)})"


def _atom(random: Random) -> str:
    kind = random.random()
    if kind < 0.5:
        return random.choice(NAMES)
    if kind < 0.65:
        return random.choice(("0", "1", "42", "-7", "3.25", "1e3", "65536"))
    if kind < 0.7:
        return random.choice(("true", "false", "nil"))
    text = " ".join(random.sample(WORDS, random.randrange(1, 9)))
    return f'"{text}{random.choice(("", "", ".", chr(92) + "n", chr(92) + "u00e9"))}"'


def twin(forms: tuple[Form, ...]) -> str:
    """The forms as JSON."""
    return json.dumps([_data(form) for form in forms])


def _data(form: Form) -> Any:
    if isinstance(form, (Name, Label)):
        return form.text
    if isinstance(form, Literal):
        return form.value
    return [_data(item) for item in form.items]


def others(text: str) -> Iterator[tuple[str, Timed]]:
    """Readers of other languages that take this text, as far as they are here."""
    for name, function in (("hy", "read_many"), ("sexpdata", "loads")):
        try:
            reader = getattr(import_module(name), function)
        except ImportError:
            continue
        # Neither knows labels; `.` inside of names is Hy's own affair.
        plain = f"({text})" if name == "sexpdata" else text.replace(".", "-")
        yield name, partial(_drained, reader, plain)


def _drained(reader: Any, text: str) -> list[Any]:
    return [*reader(text)]


def counted(forms: tuple[Form, ...]) -> Counter[str]:
    """How many atoms and lists there are."""
    found: Counter[str] = Counter()
    work: list[Form] = [*forms]
    while work:
        form = work.pop()
        items = () if isinstance(form, (Name, Label, Literal)) else form.items
        found["lists" if items else "atoms"] += 1
        work.extend(items)
    return found


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=5)
    rounds = arguments.parse_args().rounds
    text = corpus(1_000_000, Random(1))
    forms = read(Source("corpus", text))
    counts = counted(forms)
    mirrored = twin(forms)
    del forms
    print(f"{len(text):,} characters, {counts['atoms']:,} atoms, {counts['lists']:,} lists")
    readers: dict[str, tuple[Timed, int]] = {
        "sexplang, spans": (lambda: read(Source("corpus", text)), len(text)),
        "json.loads (JSON twin)": (lambda: json.loads(mirrored), len(mirrored)),
        **{name: (reader, len(text)) for name, reader in others(text)},
    }
    times = interleaved([reader for reader, _ in readers.values()], rounds)
    for (name, (_, size)), seconds in zip(readers.items(), times, strict=True):
        ratio = seconds / times[0]
        print(f"{name:24} {size / seconds / 1e6:8.2f} MB/s {ratio:8.2f} x the time of sexplang")


if __name__ == "__main__":
    main()
