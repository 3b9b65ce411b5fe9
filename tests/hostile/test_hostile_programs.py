"""Thousands of generated programs, right and wrong: each ends as the language says."""

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest
from support.bounded import all_ended
from support.markdown import ROOT
from support.programs import Shape, program

from sexplang.machine import Limits

LIMITS = Limits(steps=50_000, frames=20_000, allocation=3_000_000, branches=500)
PAGES = {page.stem for page in ROOT.glob("spec/errors/*.md")}
OURS = ("PROGRAM_ERROR", "RESOURCE_EXHAUSTION", "DIAGNOSTIC")
TOGETHER = 250


def texts(seed: int, count: int) -> Iterator[str]:
    """A third without a wrong value, the others with more and more of them."""
    random = Random(seed)
    for at in range(count):
        yield program(random, Shape(wrong=(0, 0.02, 0.1)[at % 3])).text


def ended_well(seed: int, count: int) -> Counter[str]:
    """How often the programs ended in which way. All in the same process: what one of them took
    and did not give back would add up."""
    found: Counter[str] = Counter()
    programs = list(texts(seed, count))
    endings = list(all_ended(programs, LIMITS, memory=1_000_000_000))
    for text, ending in zip(programs, endings, strict=False):
        assert ending.exit == 0 and ending.code != "python", f"{text}\n{ending.text}"
        assert ending.megabytes < 400, f"{text}\n{ending}"
        if ending.type in OURS:
            assert ending.code in PAGES, f"{text}\n{ending}"
        found[ending.code] += 1
    assert len(endings) == count
    return found


def test_programs_end_as_the_language_says():
    """With a value, or an error of the language that has its page; no exception, no signal, and
    no more memory than they were given. Some hundreds; ten thousand with -m long."""
    found = sum((ended_well(seed, TOGETHER) for seed in range(2)), Counter())

    assert by_itself(found) > 125 and found["wrong-type"] > 50 and len(found) > 8, found


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_ten_thousand_programs_end_as_the_language_says():
    """The same for other seeds."""
    found = sum((ended_well(seed, TOGETHER) for seed in range(100, 140)), Counter())

    assert sum(found.values()) == 10_000 and by_itself(found) > 2_500, found


def by_itself(found: Counter[str]) -> int:
    """Programs that gave a value, or met a deadline or budget that they set themselves."""
    return found[""] + found["seconds"] + found["calls"]
