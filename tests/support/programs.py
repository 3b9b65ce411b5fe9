"""The generator of programs that the package gives to everybody, with what each came to hold."""

from hypothesis import strategies as st

from sexplang.testing.program_writer import (
    EVERYTHING,
    EVERYWHERE,
    PREAMBLE,
    VARIABLES,
    Program,
    Shape,
    program,
)

__all__ = [
    "EVERYTHING",
    "EVERYWHERE",
    "PREAMBLE",
    "VARIABLES",
    "Program",
    "Shape",
    "program",
    "programs",
]


def programs(shape: Shape = EVERYWHERE) -> st.SearchStrategy[Program]:
    """The same for Hypothesis, which shrinks the choices."""
    return st.builds(program, st.randoms(use_true_random=False), st.just(shape))
