"""Prices of model calls in US dollars, by the offline table of genai-prices."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from sexplang.runtime.models import with_default
from sexplang.terms.classes.node import attributes, frozen
from sexplang.terms.model.roles import ALL, Answer, Models, id_of, normalize_name
from sexplang.terms.quota import GREATEST
from sexplang.terms.run_terms import RateBook
from sexplang.terms.values.sums import add_up

FREE = ("local", "scripted", "replay")
"""Schemes of models that cost nothing."""


def prices(
    models: Models | None = None,
    *,
    function: bool = False,
    is_replayed: bool = False,
    book: RateBook | None = None,
) -> Callable[..., float | None]:
    """Return the price function of a run: from the model name of a call, input and output tokens,
    and tokens written to and read from the provider's prompt cache, to US dollars; None if unknown.
    `models` resolve a name at its first price; the table is loaded at the first of all. With
    `function`, a host's function answers, and a call without a model name has no model. With
    `is_replayed`, a recorded reply costs its recorded price. A price in the `book` goes before all,
    and each other one is noted there."""
    known = models or Models()
    answering = cache(lambda: known if function else with_default(known))
    recorded = cache(lambda: find_recorded_answers(known) if is_replayed else {})

    @cache
    def rates_of(model: str) -> Rates | None:
        if book is not None and model in book.known:
            known_rates = book.known[model]
            return None if known_rates is None else Rates(**known_rates)
        found = look_up(model)
        if book is not None:
            book.note({"rates": model, "usd": None if found is None else attributes(found)})
        return found

    def look_up(model: str) -> Rates | None:
        then = recorded().get(model or None)
        if then is not None:
            return then.rates
        answer = answering().answer(model)
        return rates_of_answer(answer) if answer.model else rates(model if function else "")

    def price(model: str, taken: int, given: int, written: int = 0, read: int = 0) -> float | None:
        each = rates_of(model)
        return None if each is None else each.cost(taken, given, written, read)

    return price


@frozen
class Rates:
    """US dollars per token: input, output, written to and read from a prompt cache."""

    input: float
    output: float
    written: float
    read: float

    def cost(self, taken: int, given: int, written: int = 0, read: int = 0) -> float:
        """Return the US dollars of these token counts. Python cannot multiply a greater integer
        with a float, so a greater count is the greatest."""
        counts = (taken, given, written, read)
        each = (self.input, self.output, self.written, self.read)
        return add_up(min(count, GREATEST) * rate for count, rate in zip(counts, each, strict=True))


def rates_of_answer(answer: Answer) -> Rates | None:
    """Return the rates of an answering model. Of several, each rate is that of the dearest; None if
    one is unknown."""
    known = []
    for name in answer.all_models():
        each = _NO_COST if name.partition(":")[0] in FREE else rates(name)
        if each is None:
            return None
        known.append(each)
    if len(known) == 1:
        return known[0]
    return Rates(*[max(column) for column in zip(*map(_columns, known), strict=True)])


def _columns(each: Rates) -> tuple[float, ...]:
    return each.input, each.output, each.written, each.read


_NO_COST = Rates(0.0, 0.0, 0.0, 0.0)


def rates(name: str) -> Rates | None:
    """Return the rates of a model, or None if the table lacks it."""
    model = id_of(name)
    if model not in _known:
        _known[model] = _look_up(model)
    return _known[model]


def price_usage(usage: Mapping[str, Sequence[int]]) -> float | None:
    """Return the US dollars of tokens by model: input, output, written to and read from a prompt
    cache. None if there are none, or a model has no price."""
    costs = []
    for model, counts in usage.items():
        each = rates(model)
        if each is None:
            return None
        costs.append(each.cost(*counts))
    return sum(costs) if costs else None


def table() -> str | None:
    """Return the name and version of the price table, or None."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"genai-prices {version('genai-prices')}"
    except PackageNotFoundError:
        return None


@frozen
class AnsweringModel:
    """The model that answered to a name in a recorded run, and its rates if known."""

    model: str
    rates: Rates | None


def find_recorded_answers(models: Models) -> dict[str | None, AnsweringModel]:
    """Return the recorded answering models, by name, if one recording answers all; else none."""
    scheme, _, path = models.own.get(ALL, "").partition(":")
    if scheme != "replay":
        return {}
    from sexplang.runtime.models.adapters.replay import answers

    return answers(path)


def choose_windows(models: Models) -> Models:
    """Return the models whose context windows apply: in a replay, the recorded ones."""
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
        # The table's input includes tokens from the cache. If it has no rate for
        # the cache, they are charged as other input.
        written = cost(input_tokens=many, cache_write_tokens=many) or taken
        read = cost(input_tokens=many, cache_read_tokens=many) or taken
        return Rates(taken, cost(output_tokens=many), written, read)
    except LookupError:
        return None
