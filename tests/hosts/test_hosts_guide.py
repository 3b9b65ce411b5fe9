"""The guide: short enough, complete, and nothing else than the shipped text."""

from support.command import sexplang

from sexplang.compiler.shapes import SHAPES
from sexplang.hosts.guide import CHARACTERS_PER_TOKEN, MOST_TOKENS, guide
from sexplang.hosts.tokens import tokens
from sexplang.machine import HIGHER
from sexplang.pipeline import STANDARD
from sexplang.primitives import OPERATIONS, PRIMITIVES

INNER = {
    "as-work",
    "check-outputs",
    "fork-graph",
    "fork-map",
    "in-node",
    "judge-plan",
    "match-task",
    "run-plan",
    "run-step",
    "run-task",
    "subagent-limits",
    "task-bids",
    "task-of",
    "task-result",
}
"""What only `stdlib/` calls."""

SPELLED = {"quote": "'sym", "quasiquote": "`(a ~x ~@xs)", "fn": "lambda", "progn": "begin"}
"""Special forms that the guide shows under another spelling."""


def words():
    """Every name in the guide, in examples and in the text."""
    return {
        name
        for line in guide().splitlines()
        for each in tokens(line)
        for name in [line[each.start : each.end].strip("`.,;:")]
    } | set(guide().replace("`", " ").replace("(", " ").replace(")", " ").split())


def test_it_fits_into_a_prompt():
    """At most 6,000 tokens, at three and a half characters each."""
    assert MOST_TOKENS >= len(guide()) / CHARACTERS_PER_TOKEN


def test_it_names_everything():
    """Every name of the prelude, every operation of the host and every special form is in it."""
    known = words()
    names = {*PRIMITIVES, *HIGHER, *STANDARD, *OPERATIONS, *SHAPES} - INNER

    assert [] == sorted(names - known - set(SPELLED))
    assert all(spelling in guide() for spelling in SPELLED.values())


def test_the_command_prints_it():
    """`sexplang guide` writes the text and nothing else."""
    done = sexplang("guide")

    assert (guide(), "", 0) == (done.stdout, done.stderr, done.returncode)
