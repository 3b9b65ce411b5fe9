"""Totals of the model calls of a run: calls, tokens and dollars, by model."""

from collections import Counter
from collections.abc import Callable

from sexplang.hosts.terminal.show import draw_hidden
from sexplang.runtime.driver.events import Finished, Withdrawn, model_name_of
from sexplang.runtime.journal.redaction import clean
from sexplang.terms.classes.node import define, field

Price = Callable[..., float | None]
"""`price(name, input, output, cache_written, cache_read)`: dollars; None if there is no price."""

INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


@define(eq=False)
class ModelUsage:
    """The usage of one model."""

    named: str = ""
    """The name in the program."""
    calls: int = 0
    kinds: Counter[str] = field(factory=Counter)
    """Tokens, by the keys of `usage`."""

    @property
    def tokens_in(self) -> int:
        """Input tokens, cached or not."""
        return sum([self.kinds[kind] for kind in INPUT])

    @property
    def tokens_out(self) -> int:
        return self.kinds["output_tokens"]

    @property
    def attempts_without_count(self) -> int:
        """Attempts that may have been sent and whose input was not counted."""
        return self.kinds["uncounted"]

    def describe_cached(self) -> str:
        """Return ` (120 from the cache)`; empty if none was read there."""
        read = self.kinds["cache_read_input_tokens"]
        return f" ({read} from the cache)" * (read > 0)

    def price_tokens(self) -> tuple[int, int, int, int]:
        """Return input, output, cache-written and cache-read tokens."""
        taken, written, read = [self.kinds[kind] for kind in INPUT]
        return taken, self.tokens_out, written, read


def describe_uncounted(attempts: int) -> str:
    """Return the words for attempts that may have been sent and were not counted; empty for
    none."""
    return f", {attempts} {'attempt' if attempts == 1 else 'attempts'} not counted" * (attempts > 0)


@define(eq=False)
class UsageTotals:
    """The model calls of one run: those that were answered, and those that were withdrawn."""

    price: Price = lambda model, *tokens: None
    find_default: Callable[[str | None], str | None] = lambda named: None
    """The model that answers to a name of the program."""
    withdrawn: int = 0
    """Model calls that were withdrawn before their replies came."""
    _models: dict[str, ModelUsage] = field(factory=dict)

    def note(self, event: Finished | Withdrawn) -> None:
        """Add the usage of a call that has ended."""
        if isinstance(event, Withdrawn):
            self.withdrawn += event.operation == "model"
            if event.usage:
                self._count(event, 0)
        elif event.operation == "model" and event.attempts:
            self._count(event, 1)

    @property
    def is_asked(self) -> bool:
        """Whether the program made a model call, even one that was withdrawn before it was sent."""
        return bool(self._models or self.withdrawn)

    def summary(self) -> str:
        """Return calls and tokens by model, and the calls withdrawn, in one line."""
        parts = [
            f"{draw_hidden(model)}: {each.calls} {'call' if each.calls == 1 else 'calls'}, "
            f"{each.tokens_in} tokens in{each.describe_cached()}, {each.tokens_out} out"
            f"{describe_uncounted(each.attempts_without_count)}"
            for model, each in self._models.items()
        ]
        said = f"model {'; '.join(parts)}" if parts else "model: 0 calls"
        return said + (f", {self.withdrawn} withdrawn" if self.withdrawn else "")

    def plain(self) -> dict[str, int]:
        """Return the totals of all models: calls answered and withdrawn, and tokens."""
        each = self._models.values()
        return {
            "calls": sum([usage.calls for usage in each]),
            "withdrawn": self.withdrawn,
            "input_tokens": sum([usage.tokens_in for usage in each]),
            "output_tokens": sum([usage.tokens_out for usage in each]),
            "uncounted": sum([usage.attempts_without_count for usage in each]),
        }

    def describe_tokens(self) -> str:
        """Return the tokens of all models in words; empty if there are none."""
        taken = sum(each.tokens_in for each in self._models.values())
        given = sum(each.tokens_out for each in self._models.values())
        return f"{taken:,} tokens in, {given:,} out" if taken or given else ""

    def price_tokens(self) -> list[tuple[str, int, int, int, int]]:
        """Return the arguments of `price` for each model."""
        return [(each.named, *each.price_tokens()) for each in self._models.values()]

    def usd(self, counts: list[tuple[str, int, int, int, int]]) -> float | None:
        """Return the dollars for counts of `price_tokens`; None if a model has no price."""
        costs = [self.price(*each) for each in counts]
        return None if None in costs else sum(cost for cost in costs if cost is not None)

    def _count(self, event: Finished | Withdrawn, calls: int) -> None:
        named = model_name_of(event.request)
        model = event.model or f"{clean(self.find_default(named) or '')} (no answer)".lstrip()
        usage = self._models.setdefault(model, ModelUsage(named or ""))
        usage.calls += calls
        for kind in (*INPUT, "output_tokens", "uncounted"):
            usage.kinds[kind] += int(event.usage.get(kind) or 0)
