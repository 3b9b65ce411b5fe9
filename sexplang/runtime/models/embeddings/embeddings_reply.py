"""The reply to a request for embeddings: `{embeddings usage model}`, one vector for each text."""

from math import isfinite
from typing import Any

from sexplang.runtime.refusal import Refusal, make_task_failure

_NUMBERS = {float, int}


def make_embeddings_reply(
    vectors: Any, texts: int, usage: dict[str, Any] | None, model: str, source: str
) -> dict[str, Any]:
    """Return the reply to a request for so many texts. `source` names what made the vectors, in the
    Refusal `bad-reply` for vectors that are wrong."""
    problem = _find_flaw(vectors, texts)
    if problem is not None:
        raise refuse_embeddings(source, problem)
    return {"embeddings": vectors, "usage": usage, "model": model}


def refuse_embeddings(source: str, problem: str) -> Refusal:
    """Return the refusal of a reply that is no list of embeddings."""
    return make_task_failure(
        "protocol_error",
        "bad-reply",
        f"{source} answered with something that is no list of embeddings: {problem}",
        hint="there is one vector for each text, all have the same length, and their numbers are "
        "finite; check that the model is one for embeddings",
        sent=True,
        server=source,
    )


def _find_flaw(vectors: Any, texts: int) -> str | None:
    """Return what is wrong with the vectors for so many texts, in words, or None."""
    if not isinstance(vectors, list) or len(vectors) != texts:
        given = f"{len(vectors)} vectors" if isinstance(vectors, list) else "no vectors"
        return f"it has {given} for {texts} texts"
    for at, vector in enumerate(vectors):
        if not isinstance(vector, list) or not vector:
            return f"vector {at} is not a list of numbers"
        if not set(map(type, vector)) <= _NUMBERS:
            return f"vector {at} holds something that is no number"
        if not all(map(isfinite, vector)):
            return f"vector {at} holds a number that is not finite"
        if len(vector) != len(vectors[0]):
            return f"vector {at} has {len(vector)} numbers, and vector 0 has {len(vectors[0])}"
    return None
