"""The programs of the public effect-handlers benchmark suite, against plain Python."""

from collections.abc import Callable

import pytest
from support.markdown import ROOT

from benchmarks.effects import PROGRAMS, run

FOLDER = ROOT / "benchmarks" / "effects"


def fib(n: int) -> int:
    return 1 if n < 2 else fib(n - 1) + fib(n - 2)


def product(numbers: range) -> int:
    result = 1
    for number in numbers:
        result *= number
    return result


def queens(n: int, placed: tuple[int, ...] = ()) -> int:
    """Ways to go on from the queens in the columns so far."""
    if len(placed) == n:
        return 1
    safe = [
        cell
        for cell in range(n)
        if all(
            cell not in (other, other + away, other - away)
            for away, other in enumerate(reversed(placed), 1)
        )
    ]
    return sum(queens(n, (*placed, cell)) for cell in safe)


def tree_sum(height: int) -> int:
    return sum((height - level) * 2**level for level in range(height))


def combine(x: int, y: int) -> int:
    return abs(x - 503 * y + 37) % 1009


def explored(height: int) -> int:
    """The state is one variable for all paths, and what is found goes into it ten times."""
    state = 0

    def values(at: int) -> list[int]:
        """Every result from this node on; the value of a node is how high it stands."""
        nonlocal state
        if at == 0:
            return [state]
        found = []
        for _ in ("left", "right"):
            state = combine(state, at)
            found += [combine(at, value) for value in values(at - 1)]
        return found

    for _ in range(10):
        state = max(values(height))
    return state


def triples(n: int) -> int:
    return sum(
        53 * a + 2809 * b + 148877 * c
        for a in range(1, n + 1)
        for b in range(1, a)
        for c in range(1, b)
        if a + b + c == n
    ) % (10**9 + 7)


def resumed(n: int) -> int:
    result = 0
    for _ in range(1000):
        for x in range(1, n + 1):
            result = combine(x, result)
    return result


def primes(n: int) -> int:
    return sum(x for x in range(2, n) if all(x % y for y in range(2, x)))


PYTHON: dict[str, Callable[[int], int]] = {
    "countdown": lambda n: 0,
    "fibonacci_recursive": fib,
    "product_early": lambda n: sum(product(range(1000, -1, -1)) for _ in range(n)),
    "iterator": lambda n: sum(range(n + 1)),
    "nqueens": queens,
    "generator": tree_sum,
    "tree_explore": explored,
    "triples": triples,
    "parsing_dollars": lambda n: sum(range(1, n + 1)),
    "resume_nontail": resumed,
    "handler_sieve": primes,
}

# Inputs and outputs as the suite's own descriptions give them.
PUBLISHED = {
    "countdown": (5, 0),
    "fibonacci_recursive": (5, 8),
    "product_early": (5, 0),
    "iterator": (5, 15),
    "nqueens": (5, 10),
    "generator": (5, 57),
    "tree_explore": (5, 946),
    "triples": (10, 779312),
    "parsing_dollars": (10, 55),
    "resume_nontail": (5, 37),
    "handler_sieve": (10, 17),
}


def test_the_suite_is_whole():
    """Eleven programs, each with a file, sizes to time and a computation to compare with."""
    assert PROGRAMS.keys() == PYTHON.keys() == PUBLISHED.keys()
    assert {path.stem for path in FOLDER.glob("*.sexp")} == PYTHON.keys()


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_program_gives_what_the_suite_publishes(name):
    """For the small input of its description."""
    n, expected = PUBLISHED[name]

    assert expected == run(name, n)


@pytest.mark.parametrize("name", PYTHON)
@pytest.mark.parametrize("n", [0, 1, 2, 6, 7])
def test_a_program_gives_what_plain_python_gives(name, n):
    """For small inputs, zero among them."""
    assert PYTHON[name](n) == run(name, n)
