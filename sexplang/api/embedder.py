"""The vectors of texts for an index, by a function or a model of the host."""

from collections.abc import Callable
from typing import Any

from sexplang.api import argument_checks

Embed = Callable[[list[str]], list[list[float]]]

FUNCTION = "function"
"""The name of a function's vectors in an index."""

_PROGRAM = """(import std/vectors)
(define-input texts type: list)
(embed texts)"""


def make_embedder(embed: str | Embed) -> tuple[Embed, str]:
    """Return the function from texts to a vector of each, and its name: that of the model, or of a
    function. The function raises Failed if there are no vectors, all of one length."""
    if callable(embed):
        given: Any = embed
        name = getattr(embed, "__name__", FUNCTION)
        return _through(lambda payload: given(payload["embed"])), name
    if not isinstance(embed, str) or not embed:
        raise argument_checks.wrong("embed", "a function of texts or the name of a model", embed)
    return _through(embed), embed


def _through(model: Any) -> Embed:
    """Return the function that asks a model by a program, so that its errors are those of a run."""
    from sexplang.api.runner import run

    return lambda texts: run(_PROGRAM, inputs={"texts": texts}, model=model)
