"""The terms of a run, as plain data."""

from collections.abc import Callable
from functools import cache
from typing import Any, Literal

from sexplang.terms.classes.node import attributes, define, field, frozen
from sexplang.terms.model.roles import Models
from sexplang.terms.quota import STEPS
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

    def plain(self) -> dict[str, Any]:
        """Return the terms as data for the header of a journal: the program as its digest, and no
        credential."""
        from sexplang.terms.json.tagged import pack  # few runs are kept

        return {
            "steps": STEPS,
            "program": self.program,
            "sources": [name for name, _ in self.sources],
            "inputs": pack(self.inputs),
            "limits": self.limits,
            "budget": None if self.budget is None else pack(self.budget),
            "prices": self.prices,
            "tools": pack(self.tools),
            "models": _plain_models(self.models),
            "windows": _plain_models(self.windows),
            "folder": self.folder,
            "memory": self.memory,
            "all_tools": self.all_tools,
        }


def _plain_models(models: Models) -> dict[str, Any]:
    found = attributes(models)
    return {
        name: dict(value) if name in ("own", "project") else value
        for name, value in found.items()
        if name != "credentials"
    }


def read_terms(data: dict[str, Any], sources: tuple[tuple[str, str], ...]) -> Terms:
    """Return the terms that a header holds. Raises KeyError, TypeError or ValueError."""
    from sexplang.terms.json.tagged import unpack

    return Terms(
        sources=sources,
        inputs=unpack(data["inputs"]),
        limits=data["limits"],
        budget=None if data["budget"] is None else unpack(data["budget"]),
        prices=data["prices"],
        tools=unpack(data["tools"]),
        models=Models(**data["models"]),
        windows=Models(**data["windows"]),
        folder=data["folder"],
        memory=data["memory"],
        all_tools=data["all_tools"],
    )


@define(eq=False)
class RateBook:
    """The prices that a run counts with, by the names of models; None is unknown. What the run
    looks up is noted in its journal, and a run that goes on counts with the same prices."""

    known: dict[str, dict[str, float] | None] = field(factory=dict)
    note: Callable[[dict[str, Any]], None] = lambda data: None


@cache
def find_version() -> str:
    """Return the version of this package; empty if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("sexplang")
    except PackageNotFoundError:
        return ""
