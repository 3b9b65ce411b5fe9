"""What became of damaged replies: a line for each damage, and one for each group of them."""

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from attrs import frozen

from sexplang.templates import read_reply
from sexplang.terms.template import OutputFormat
from sexplang.terms.values.boundary import plain


@frozen
class Verdict:
    """What became of one reply, and what was said of it."""

    what: Literal["read", "asked", "wrong"]
    text: str
    said: str


@frozen
class Given:
    """The arguments of the command."""

    documents: int
    seed: int
    show: int
    only: str


def verdict(text: str, format_: OutputFormat, value: object, is_certain: bool = True) -> Verdict:
    """What becomes of a reply that meant a value; one that is not certain has to be asked again."""
    reading = read_reply(text, format_)
    if reading.problem is not None:
        return Verdict("asked", text, reading.problem)
    found = plain(reading.value)
    # To Python, 1 is True and 1.0.
    if is_certain and repr(found) == repr(value):
        return Verdict("read", text, "; ".join(reading.repairs))
    return Verdict("wrong", text, f"{found!r}\nnot {value!r}")


def given(doc: str | None) -> Given:
    """What the command was called with."""
    parser = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    parser.add_argument("--documents", type=int, default=50)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--show", type=int, default=0, help="how many that were not read to print")
    parser.add_argument("--only", default="", help="a part of the names of those to be tried")
    return Given(**vars(parser.parse_args()))


def tell(
    groups: Mapping[str, Iterable[str]], tried: Callable[[str], list[Verdict]], asked: Given
) -> int:
    """Prints all lines. 1 where one is read wrongly, or one of the first group is asked again."""
    totals: dict[str, Counter[str]] = {}
    print(f"{'':34} {'read':>7} {'asked':>7} {'wrong':>7}")
    for group, names in groups.items():
        total = totals[group] = Counter()
        for name in names:
            if asked.only not in name:
                continue
            found = tried(name)
            counts = Counter([each.what for each in found])
            total += counts
            print(_line(name, counts), flush=True)
            for each in [each for each in found if each.what != "read"][: asked.show]:
                print(f"--- {each.what}\n{each.text}\n=> {each.said}\n")
    print()
    for group, total in totals.items():
        print(_line(f"all: {group}", total))
    wrong = sum(total["wrong"] for total in totals.values())
    return 1 if wrong or next(iter(totals.values()))["asked"] else 0


def _line(name: str, counts: "Counter[str]") -> str:
    return f"{name:34} {counts['read']:7} {counts['asked']:7} {counts['wrong']:7}"
