"""A model's name and its tokens → US dollars, by the price table of genai-prices (offline)."""

from collections.abc import Callable
from typing import Any

from sexplang.runtime.models import choose_model
from sexplang.runtime.refusal import Refusal

FREE = ("local", "scripted", "replay")
"""Models that cost nothing."""


def prices(flag: str | None = None) -> Callable[[str, int, int], float | None]:
    """The function from a template's model, input and output tokens to US dollars; None where
    nobody knows. `flag` is the model that wins over what templates say. The table is loaded when
    the first price is asked for."""

    def price(model: str, taken: int, given: int) -> float | None:
        name = flag or model or _default()
        if name.partition(":")[0] in FREE:
            return 0.0
        each = _of_token(name.replace("#", ":").rsplit(":", 1)[-1])
        return None if each is None else taken * each[0] + given * each[1]

    return price


def _default() -> str:
    """The model that is asked where nobody names one."""
    try:
        return choose_model()
    except Refusal:
        return ""


_known: dict[str, tuple[float, float] | None] = {}


def _of_token(model: str) -> tuple[float, float] | None:
    """US dollars of an input and of an output token. At the base rate: what a provider charges
    less for (its prompt cache), is charged in full here, so no budget is ever overshot by it."""
    if model not in _known:
        _known[model] = _looked_up(model)
    return _known[model]


def _looked_up(model: str) -> tuple[float, float] | None:
    try:
        from genai_prices import Usage, calc_price
    except ModuleNotFoundError:
        return None

    def cost(**tokens: int) -> float:
        found: Any = calc_price(Usage(**tokens), model_ref=model)
        return float(found.total_price)

    many = 1_000
    try:
        return cost(input_tokens=many) / many, cost(output_tokens=many) / many
    except LookupError:
        return None
