"""The embeddings of the model in this process.

A file that names its pooling is a model for embeddings, and is given the texts as they are. Any
other is a language model. The mean of its states says little of a text, so it is asked for the
meaning in one word, and the state before that word is the embedding (Jiang et al. 2023, PromptEOL).
"""

from typing import Any

from sexplang.runtime.models.adapters.local import (
    GRACE,
    describe_problem,
    has_own_pooling,
    hold_engine,
    open_engine,
)
from sexplang.runtime.models.embeddings.embeddings_reply import make_embeddings_reply
from sexplang.runtime.models.server_failures import refuse_unsupported
from sexplang.terms.classes.node import define, field

PROMPT = 'This text: "{}" means in one word: "'


@define(eq=False)
class _Asking:
    """The vectors so far, in the engine's thread. `stop` ends it before its next text."""

    vectors: list[Any] = field(factory=list)
    tokens: int = 0
    stop: bool = False
    is_over: bool = False
    problem: dict[str, Any] | None = None


async def embed_locally(payload: dict[str, Any], weights: str, name: str) -> dict[str, Any]:
    """Return the reply of a file of weights to a request for embeddings. Raises a Refusal."""
    import anyio

    if payload.get("provider"):
        raise refuse_unsupported("the local model has no `provider`", "leave it out")
    asking = _Asking()
    texts = payload["embed"]
    try:
        await anyio.to_thread.run_sync(_ask, weights, texts, asking, abandon_on_cancel=True)
    except anyio.get_cancelled_exc_class():
        asking.stop = True
        with anyio.move_on_after(GRACE, shield=True):
            while not asking.is_over:
                await anyio.sleep(0.005)
        raise
    if asking.problem is not None:
        raise describe_problem(asking.problem, name)
    usage = {"input_tokens": asking.tokens, "output_tokens": 0}
    return make_embeddings_reply(asking.vectors, len(texts), usage, name, name)


def _ask(weights: str, texts: list[str], asking: _Asking) -> None:
    """Ask the engine for one text after the other, in a thread."""
    try:
        prompt = "{}" if has_own_pooling(weights) else PROMPT
        engine = open_engine(weights, embeds=True)
        for text in texts:
            with hold_engine(lambda: asking.stop) as is_held:
                if not is_held:
                    return
                said = engine.handle_embeddings({"input": [prompt.replace("{}", text)]})
            if "error" in said:
                asking.problem = said["error"]
                return
            asking.vectors.append(said["data"][0]["embedding"])
            asking.tokens += said["usage"]["prompt_tokens"]
    except (ValueError, RuntimeError) as error:
        asking.problem = {"message": str(error)}
    finally:
        asking.is_over = True
