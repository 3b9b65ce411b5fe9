"""A folder → what `sexplang.toml` says there: the project's, upward from it, and the person's own.

It names things and sets limits. It never grants anything: a program may bring its own along.
"""

import os
from collections.abc import Iterator
from typing import Any

from sexplang.hosts.options import Settings
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.node import evolve

NAME = "sexplang.toml"


def section(name: str, folder: str) -> dict[str, Any]:
    """A table of the configuration; what the project says wins. Raises Diagnostics."""
    found: dict[str, Any] = {}
    for path in _files(folder):
        table = _read(path).get(name, {})
        if not isinstance(table, dict):
            raise wrong(path, f"`{name}` is no table")
        found = {**table, **found}
    return found


def configured(settings: Settings, folder: str | None) -> Settings:
    """The settings with what `[models]` says and the command line does not. Raises Diagnostics."""
    said = section("models", folder or os.getcwd())
    single_flight = said.pop("single_flight", False)
    if said or not isinstance(single_flight, bool):
        raise wrong(NAME, "`models` holds `single_flight`, true or false, and nothing else")
    return evolve(settings, single_flight=settings.single_flight or single_flight)


def _files(folder: str) -> Iterator[str]:
    """The nearest upward from the folder, then the person's."""
    here = os.path.abspath(folder)
    while not os.path.isfile(os.path.join(here, NAME)) and here != os.path.dirname(here):
        here = os.path.dirname(here)
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    for place in (here, os.path.join(home, "sexplang")):
        path = os.path.join(place, NAME)
        if os.path.isfile(path):
            yield path


def _read(path: str) -> dict[str, Any]:
    import tomllib  # only where there is one to read

    try:
        with open(path, encoding="utf-8-sig") as file:
            return tomllib.loads(file.read())
    except UnicodeDecodeError as error:
        raise wrong(
            path, f"it is not UTF-8 text (byte {error.start})", "save it as UTF-8"
        ) from None
    except (OSError, ValueError) as error:
        raise wrong(path, str(error)) from None


def wrong(path: str, why: str, hint: str = "correct it, or move it out of the way") -> Diagnostics:
    """What is raised for a configuration that cannot be used."""
    return Diagnostics(
        [
            Diagnostic(
                "bad-configuration",
                f"{path} cannot be used: {why}",
                hint=hint,
            )
        ]
    )
