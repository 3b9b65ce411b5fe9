"""Recordings of small programs, and the same with one thing wrong in a line of them.

As a program, it repeats each recording of a folder, and prints how they end.
"""

import asyncio
import re
import sys
from itertools import count
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

import sexplang
from sexplang.runtime.journal.recording_reader import read_recording
from sexplang.runtime.models.adapters.replay import read_recorded_run
from sexplang.runtime.refusal import Refusal

PREAMBLE = """(defatom ask (params (q string)) (instructions "{{q}}"))
(define-effect (look-up))
"""
PAUSES = (0, 0.001, 0.003, 0.006)
"""Seconds, of which one is drawn wherever something waits: who comes first differs each time."""


def form(random, depth):
    """What asks for something, or says within what, or beside what."""
    if depth == 0 or random.random() < 0.3:
        pause = f"(begin (sleep {random.choice(PAUSES)}) {random.randrange(100)})"
        asks = ["(now)", "(random 1000)", '(ask "a")', '(ask (str "at " (random 9)))', "(look-up)"]
        return random.choice([pause, *asks, '(tool "look" {})', '(error "no")'])
    one, two, three = (form(random, depth - 1) for _ in range(3))
    return random.choice(
        [
            f"(par {one} {two} {three})",
            f"(race {one} {two})",
            f"(race {one} {two} {three})",
            f"(with-timeout {random.choice(PAUSES[1:])} {one})",
            f'(attempt {one} "failed")',
            f"(try {one} (catch (e) e.reason) (finally {two}))",
            f"[{one} {two}]",
            f"(with-budget {{tokens: 1000}} {one})",
            f"(par-map (lambda (x) {one}) [1 2 3])",
        ]
    )


def ends(program, random, **options):
    """How a program ends: its value, or the reason. What it asks takes as long as is drawn."""

    async def look():
        """Look it up."""
        await asyncio.sleep(random.choice(PAUSES))
        return "there"

    own = {"tools": [look], "effects": {"look-up": look}}
    try:
        return sexplang.run(program, **own, **options)
    except sexplang.Failed as failed:
        return failed.error.fields["reason"]


def record(seed, folder):
    """A recording, beside its program: the program's end."""
    random, numbers = Random(seed), count()
    program, path = folder / f"{seed}.sexp", folder / f"{seed}.jsonl"
    parts = " ".join(form(random, 3) for _ in range(3))
    program.write_text(f"{PREAMBLE}(try [{parts}] (catch (e) e.reason))")

    async def model(payload):
        await asyncio.sleep(random.choice(PAUSES))
        return f"reply {next(numbers)}"

    return ends(program, random, model=model, record=path)


def repeat(program):
    """How a program ends that is told what was recorded beside it."""
    return ends(
        program, Random(program.stem + "!"), model=f"replay:{program.with_suffix('.jsonl')}"
    )


def line_refused(path):
    """The number of the line for which a recording is refused, by whoever repeats it as by whoever
    shows it; 0 where it is not."""
    said = []
    for read in (read_recorded_run, read_recording):
        try:
            read(str(path))
        except Refusal as refusal:
            said.append(refusal.error.fields["message"])
    if not said:
        return 0
    found = [re.search(r"line (\d+)", words) for words in said]
    assert len(said) == 2 and all(found), said
    (line,) = {int(each[1]) for each in found}
    return line


def changed(lines, at, random):
    """One byte of a line is another, its break among them."""
    line = bytearray(lines[at])
    place = random.randrange(len(line))
    line[place] ^= random.randrange(1, 256)
    return [*lines[:at], bytes(line), *lines[at + 1 :]]


def deleted(lines, at, random):
    return [*lines[:at], *lines[at + 1 :]]


def doubled(lines, at, random):
    return [*lines[:at], lines[at], *lines[at:]]


def swapped(lines, at, random):
    return [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]


def shortened(lines, at, random):
    """A part of a line is gone, and its break is not."""
    part = lines[at][: random.randrange(len(lines[at]) - 1)]
    return [*lines[:at], part + b"\n", *lines[at + 1 :]]


def exchanged(lines, at, random):
    """Another number, where there is one: what a checksum alone can find."""
    digits = [each.start() for each in re.finditer(rb"\d", lines[at])]
    place = random.choice(digits)
    other = (lines[at][place] - 48 + random.randrange(1, 10)) % 10 + 48
    line = lines[at][:place] + bytes([other]) + lines[at][place + 1 :]
    return [*lines[:at], line, *lines[at + 1 :]]


DAMAGES = {
    changed: lambda at: at + 1,
    exchanged: lambda at: at + 1,
    shortened: lambda at: at + 1,
    swapped: lambda at: at + 1,
    deleted: lambda at: at + 1,
    doubled: lambda at: at + 2,
}
"""What is done to a line, and the number of the line that is refused for it."""


def misread(path, seed):
    """How many damages there were, and those of which the line was not said."""
    lines, random, tried, missed = path.read_bytes().splitlines(keepends=True), Random(seed), 0, []
    torn = path.with_name("damaged.jsonl")
    for damage, said in DAMAGES.items():
        last = len(lines) - (damage in (swapped, deleted))  # behind the last line there is nothing
        for at in range(last):
            torn.write_bytes(b"".join(damage(lines, at, random)))
            line, tried = line_refused(torn), tried + 1
            if line != said(at):
                missed.append((damage.__name__, at + 1, line, torn.read_bytes()))
    torn.unlink()
    return tried, missed


if __name__ == "__main__":
    for each in sorted(Path(sys.argv[1]).glob("*.sexp")):
        print(each.stem, repr(repeat(each)))
