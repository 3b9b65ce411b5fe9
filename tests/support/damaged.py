"""Recordings of small programs, and the same with one thing wrong in a line of them.

As a program, it repeats each recording of a folder, and prints how they end.
"""

import re
import sys
from itertools import count
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

import sexplang
from sexplang.runtime.models.replay import recorded
from sexplang.runtime.recording import recording
from sexplang.runtime.refusal import Refusal

ASK = '(defatom ask (params (q string)) (instructions "{{q}}"))\n'
PIECES = [
    "(now)",
    "(random)",
    "(random 1000)",
    '(ask "a")',
    '(ask (str "at " (random 9)))',
    '(par (ask "b") (now) (random 6))',
    '(race (ask "c") (begin (sleep 60) (now)))',
    '(race (begin (sleep 0.001) "slept") (begin (sleep 60) "too long"))',
    '(map ask ["x" "y"])',
    '(with-timeout 60 (ask "d"))',
    '(attempt (with-timeout 0.001 (sleep 60)) "late")',
    '(with-budget {tokens: 10000} [(ask "e") (ask "e")])',
    '(attempt (try (error "no") (finally (now))) "no")',
    '(attempt (error "no") "failed")',
]
PARTS = 4
"""So many of them are in a program."""


def record(seed, folder):
    """A recording, beside its program: the program's end."""
    parts = Random(seed).choices(PIECES, k=PARTS)
    program, path = folder / f"{seed}.sexp", folder / f"{seed}.jsonl"
    program.write_text(f"{ASK}[{' '.join(parts)}]")
    numbers = count()
    return sexplang.run(program, model=lambda payload: f"reply {next(numbers)}", record=path)


def repeat(program):
    """How a program ends that is told what was recorded beside it: its value, or the reason."""
    try:
        return sexplang.run(program, model=f"replay:{program.with_suffix('.jsonl')}")
    except sexplang.Failed as failed:
        return failed.error.fields["reason"]


def line_refused(path):
    """The number of the line for which a recording is refused, by whoever repeats it as by whoever
    shows it; 0 where it is not."""
    said = []
    for read in (recorded, recording):
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
