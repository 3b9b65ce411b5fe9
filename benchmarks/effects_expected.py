"""What the programs of the effect-handlers suite compute, in plain Python."""

from collections.abc import Callable


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


EXPECTED: dict[str, Callable[[int], int]] = {
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
"""What each program gives for an input, computed in plain Python."""

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
"""Inputs and outputs as the suite's own descriptions give them."""
