"""The terms of a run: all that it is agreed to do before it begins, as plain data."""

from typing import Any, Literal

from sexplang.terms.classes.node import frozen
from sexplang.terms.model.roles import Models
from sexplang.terms.values.value import Value


@frozen
class Terms:
    """What a run is made of beside the host that answers it. Credentials are in none of it."""

    sources: tuple[tuple[str, str], ...]
    """The names and the texts of the program's files."""
    inputs: dict[str, Value]
    limits: dict[str, Any]
    """The fields of the machine's Limits that are data."""
    budget: dict[str, Value] | None
    prices: Literal["table", "function"]
    """Whether a call costs what the table says of its model, or a function of the host answers."""
    tools: dict[str, Any]
    """The tools that models may have beside the language's own, as they are described."""
    models: Models
    """Who answers to which name."""
    windows: Models
    """Whose windows conversations have: in a replay, those of the models that answered then."""
    folder: str
    memory: bool
    """Whether there is an index to search."""
    all_tools: bool
    """Whether the host answers the tools that it does not describe."""

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
    """The version of this package; empty where it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("sexplang")
    except PackageNotFoundError:
        return ""
