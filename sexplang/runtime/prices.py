"""A model's name and its tokens → US dollars, by the price table of genai-prices (offline)."""

from collections.abc import Callable
from typing import Any

from sexplang.runtime.models import default_model
from sexplang.terms.node import frozen

FREE = ("local", "scripted", "replay")
"""Models that cost nothing."""


def prices(flag: str | None = None) -> Callable[..., float | None]:
    """The function from a template's model, input and output tokens, and input tokens that the
    provider's prompt cache keeps and gives, to US dollars; None where nobody knows. `flag` is the
    model that wins over what templates say. The table is loaded when the first price is asked
    for."""

    def price(model: str, taken: int, given: int, written: int = 0, read: int = 0) -> float | None:
        name = flag or model or default_model() or ""
        if name.partition(":")[0] in FREE:
            return 0.0
        each = _of_token(name.replace("#", ":").rsplit(":", 1)[-1])
        if each is None:
            return None
        return taken * each.input + given * each.output + written * each.written + read * each.read

    return price


@frozen
class _Rates:
    """US dollars of one token."""

    input: float
    output: float
    written: float
    read: float


_known: dict[str, _Rates | None] = {}


def _of_token(model: str) -> _Rates | None:
    if model not in _known:
        _known[model] = _looked_up(model)
    return _known[model]


def _looked_up(model: str) -> _Rates | None:
    try:
        from genai_prices import Usage, calc_price
    except ModuleNotFoundError:
        return None
    many = 1_000

    def cost(**tokens: int) -> float:
        found: Any = calc_price(Usage(**tokens), model_ref=model)
        return float(found.total_price) / many

    try:
        taken = cost(input_tokens=many)
        # In that table the input is all of it, from the cache or not. Where it has no rate for
        # the cache, that is charged like any other input.
        written = cost(input_tokens=many, cache_write_tokens=many) or taken
        read = cost(input_tokens=many, cache_read_tokens=many) or taken
        return _Rates(taken, cost(output_tokens=many), written, read)
    except LookupError:
        return None
