"""The terms of a run, as plain data."""

from typing import Any, Literal

from sexplang.terms.classes.node import frozen
from sexplang.terms.model.roles import Models
from sexplang.terms.values.value import Value

Prices = Literal["table", "function", "none"]
"""The source of costs: the price table, a function of the host, or nothing: then no price is
known."""


@frozen
class Terms:
    """The program, limits and models of a run, without the host. No field holds a credential."""

    sources: tuple[tuple[str, str], ...]
    """The names and texts of the program's files."""
    inputs: dict[str, Value]
    limits: dict[str, Any]
    """The fields of the machine's Limits that are data."""
    budget: dict[str, Value] | None
    prices: Prices
    tools: dict[str, Any]
    """The descriptions of the host's tools for models."""
    models: Models
    """The models by name."""
    windows: Models
    """The models whose windows conversations have: in a replay, those of the recorded run."""
    folder: str
    memory: bool
    """Whether there is an index to search."""
    all_tools: bool
    """Whether the host answers tools that it does not describe."""

    @property
    def version(self) -> str:
        """The version of this package."""
        return find_version()

    @property
    def program(self) -> str:
        """The digest of the program's files."""
        from hashlib import sha256  # few runs are asked for it

        made = sha256()
        for part in (part for source in self.sources for part in source):
            text = part.encode("utf-8", "surrogatepass")
            made.update(b"%d:" % len(text) + text)
        return made.hexdigest()


def find_version() -> str:
    """Return the version of this package; empty if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("sexplang")
    except PackageNotFoundError:
        return ""
