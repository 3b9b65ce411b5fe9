"""A model's name and its tokens → US dollars, by the price table of genai-prices (offline)."""

from collections.abc import Callable
from functools import cache
from typing import Any

from sexplang.runtime.models import with_default
from sexplang.terms.classes.node import frozen
from sexplang.terms.model.roles import ALL, Models, normalize_name

FREE = ("local", "scripted", "replay")
"""Models that cost nothing."""


def prices(
    models: Models | None = None, *, function: bool = False, is_replayed: bool = False
) -> Callable[..., float | None]:
    """The function from the model that a call names, input and output tokens, and input tokens
    that the provider's prompt cache keeps and gives, to US dollars of who answers by `models`; None
    where nobody knows. With `function`, one of the host's answers, and no model stands behind a
    name that nobody gave. With `is_replayed`, what a recording answers costs what it cost then. The
    table is loaded when the first price is asked for."""
    answering = cache(
        lambda: (models or Models()) if function else with_default(models or Models())
    )

    recorded = cache(lambda: find_recorded_answers(models or Models()) if is_replayed else {})

    def price(model: str, taken: int, given: int, written: int = 0, read: int = 0) -> float | None:
        if (model or None) in recorded():
            then = recorded()[model or None].rates
            return None if then is None else then.cost(taken, given, written, read)
        name = answering().answer(model).model or (model if function else "")
        if name.partition(":")[0] in FREE:
            return 0.0
        each = rates(name)
        return None if each is None else each.cost(taken, given, written, read)

    return price


@frozen
class Rates:
    """US dollars of one token: of input, output, and input that a prompt cache keeps and gives."""

    input: float
    output: float
    written: float
    read: float

    def cost(self, taken: int, given: int, written: int = 0, read: int = 0) -> float:
        """US dollars of so many."""
        fresh, kept = taken * self.input + given * self.output, written * self.written
        return fresh + kept + read * self.read


def rates(name: str) -> Rates | None:
    """What the table says of a model; None where it does not know it."""
    model = name.replace("#", ":").rsplit(":", 1)[-1]
    if model not in _known:
        _known[model] = _look_up(model)
    return _known[model]


def table() -> str | None:
    """The name and version of the price table, if there is one."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"genai-prices {version('genai-prices')}"
    except PackageNotFoundError:
        return None


@frozen
class AnsweringModel:
    """Who answered to a name when a run was recorded, and at what price, if that was known."""

    model: str
    rates: Rates | None


def find_recorded_answers(models: Models) -> dict[str | None, AnsweringModel]:
    """Who answered to which name in the recording that answers to all; nobody, where none does."""
    scheme, _, path = models.own.get(ALL, "").partition(":")
    if scheme != "replay":
        return {}
    from sexplang.runtime.models.adapters.replay import answers

    return answers(path)


def choose_windows(models: Models) -> Models:
    """Whose windows conversations have: in a replay, those of the models that answered then."""
    then = find_recorded_answers(models)
    if not then:
        return with_default(models)
    own = {normalize_name(name): each.model for name, each in then.items() if name is not None}
    return Models(own, default=then[None].model if None in then else None)


_known: dict[str, Rates | None] = {}


def _look_up(model: str) -> Rates | None:
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
        return Rates(taken, cost(output_tokens=many), written, read)
    except LookupError:
        return None
