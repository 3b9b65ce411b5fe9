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
        found = {**_table(name, path), **found}
    return found


def configured(settings: Settings, folder: str | None) -> Settings:
    """The settings with what `[models]` says and the command line does not. Raises Diagnostics."""
    default, is_own, single_flight = None, False, None
    for path in _files(folder or os.getcwd()):
        said = _table("models", path)
        for key in said:
            if key not in _MODELS:
                words = f"`models` has no `{key}`; it holds {' and '.join(_MODELS)}"
                raise wrong(path, words)
        named, flight = said.get("default"), said.get("single_flight")
        if not (named is None or (isinstance(named, str) and named)):
            raise wrong(path, '`default` of `models` is the name of a model, such as "local"')
        if not (flight is None or isinstance(flight, bool)):
            raise wrong(path, "`single_flight` of `models` is true or false")
        if default is None and named is not None:
            default, is_own = _beside(named, path), path == _own()
        single_flight = flight if single_flight is None else single_flight
    return evolve(
        settings,
        default_model=default,
        is_own_default=is_own,
        single_flight=settings.single_flight or bool(single_flight),
    )


_MODELS = ("default", "single_flight")
_HOLDS = ("limits", "mcp", "models")


def _beside(model: str, path: str) -> str:
    """A model's name; the file in it is found from the configuration."""
    scheme, colon, file = model.partition(":")
    if scheme not in ("local", "replay", "scripted") or not file:
        return model
    return f"{scheme}{colon}{os.path.join(os.path.dirname(path), file)}"


def _table(name: str, path: str) -> dict[str, Any]:
    whole = _read(path)
    for key in whole:
        if key not in _HOLDS:
            tables = ", ".join(f"[{each}]" for each in _HOLDS)
            raise wrong(path, f"there is no `{key}`; it holds the tables {tables}")
    table = whole.get(name, {})
    if not isinstance(table, dict):
        raise wrong(path, f"`{name}` is no table")
    return table


def _files(folder: str) -> Iterator[str]:
    """The nearest upward from the folder, then the person's."""
    here = os.path.abspath(folder)
    while not os.path.isfile(os.path.join(here, NAME)) and here != os.path.dirname(here):
        here = os.path.dirname(here)
    for path in dict.fromkeys((os.path.join(here, NAME), _own())):
        if os.path.isfile(path):
            yield path


def _own() -> str:
    """The person's own."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.join(os.path.abspath(home), "sexplang", NAME)


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
