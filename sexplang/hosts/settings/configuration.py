"""The configuration: `sexplang.toml` of the project, upward from a folder, and of the person.

It names things and sets limits. It grants no permission, because a program may come with one.
"""

import os
from collections.abc import Sequence
from typing import Any

from sexplang.hosts.settings.run_arguments import Settings, parse_models
from sexplang.hosts.terminal.streams import wrap
from sexplang.terms.classes.node import evolve
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.model.roles import (
    ALL,
    FALLBACK,
    Models,
    is_played,
    join_models,
    normalize_name,
    without_credentials,
)
from sexplang.terms.texts.nearest import nearest

NAME = "sexplang.toml"


Files = Sequence[str] | None
"""The paths of the configurations to read, the project's first; None for all there are."""


def sections(name: str, folder: str, files: Files = None) -> list[tuple[dict[str, Any], bool]]:
    """Return one table of each configuration, and whether it is the person's own, which comes
    first. Raises Diagnostics."""
    paths = find_files(folder) if files is None else files
    return [(read_section(name, path), is_own(path)) for path in reversed(paths)]


def apply_configuration(settings: Settings, folder: str | None, files: Files = None) -> Settings:
    """Return the settings with the models that only `[models]` names, and the headers of `[fetch]`.
    Raises Diagnostics."""
    models, single_flight = parse_models(settings.model), None
    headers: dict[str, dict[str, str]] = {}
    for path in find_files(folder or os.getcwd()) if files is None else files:
        said = read_section("models", path)
        flight = said.pop("single_flight", None)
        if not (flight is None or isinstance(flight, bool)):
            raise wrong(path, "`single_flight` of `models` is true or false")
        for key, named in said.items():
            _check_model(key, named, path)
        said = {key: join_models(each) for key, each in said.items()}
        models = _with(models, {key: _resolve_file(each, path) for key, each in said.items()}, path)
        _declare(read_section("secrets", path), path)
        headers |= _read_headers(read_section("fetch", path), path)
        single_flight = flight if single_flight is None else single_flight
    if models.credentials:
        from sexplang.guards.secrets import credentials_of, learn

        learn(found for each in models.credentials.values() for found in credentials_of(each))
        wrap()
    return evolve(
        settings,
        models=models,
        single_flight=settings.single_flight or bool(single_flight),
        headers=headers,
    )


def _with(models: Models, said: dict[str, str], path: str) -> Models:
    """Return the models, completed by a configuration.

    A script or a recording that the command line gives for `*` answers to the names of
    configurations too.
    """
    is_persons, credentials = is_own(path), dict(models.credentials)
    said = {name: without_credentials(model, credentials) for name, model in said.items()}
    if credentials != models.credentials and not is_persons:
        words = "an address of `models` holds a credential, which only a person gives"
        raise wrong(path, words, OWN_HINT)
    models, default = evolve(models, credentials=credentials), said.pop("default", said.get(ALL))
    if not is_played(models.own.get(ALL, "")):
        names = {normalize_name(name): model for name, model in said.items()}
        if is_persons:
            models = evolve(models, own={**names, **models.own})
        else:
            models = evolve(models, project=names)
    if models.default is None and default is not None:
        models = evolve(models, default=default, is_own_default=is_persons)
    return models


def _check_model(key: str, named: Any, path: str) -> None:
    if key not in _MODELS and nearest(key, _MODELS, 0.85) is not None:
        words = f"`models` has no `{key}`; it holds {' and '.join(_MODELS)}, and names of models"
        raise wrong(path, words)
    several = named if isinstance(named, list) and named else [named]
    if not key or not all(isinstance(each, str) and each for each in several):
        raise wrong(path, f'`{key}` of `models` is the name of a model, such as "local"')


_MODELS = ("default", "single_flight")
_HOLDS = ("limits", "mcp", "models", "python", "runs", "secrets", "fetch")

OWN_HINT = f"put it into your own configuration, ~/.config/sexplang/{NAME}"


def _declare(said: dict[str, Any], path: str) -> None:
    """Declare the variables that `[secrets]` names as credentials."""
    if not said:
        return
    if not is_own(path):
        raise wrong(path, "only a person says what is a secret", OWN_HINT)
    names = said.get("names")
    if list(said) != ["names"] or not isinstance(names, list):
        words = '`secrets` holds `names`, a list of variables such as "PGPASSWORD"'
        raise wrong(path, words)
    from sexplang.guards.secrets import declare

    for name in names:
        if not isinstance(name, str):
            raise wrong(path, "a name of `secrets` is that of a variable of the environment")
        try:
            if os.environ.get(name):
                declare(name)
        except ValueError as unfit:
            raise wrong(path, str(unfit), "give it a longer value, or leave it out") from None
    wrap()


def _read_headers(said: dict[str, Any], path: str) -> dict[str, dict[str, str]]:
    """Return the headers for pages that `[fetch.HOST]` gives."""
    if not said:
        return {}
    if not is_own(path):
        raise wrong(path, "only a person gives headers to a host", OWN_HINT)
    for host, table in said.items():
        if not isinstance(table, dict) or list(table) != ["headers"]:
            words = f"`fetch` of `{host}` holds `headers`, a table"
            raise wrong(path, words, f'write [fetch."{host}"] headers = {{NAME = "VALUE"}}')
    from sexplang.runtime.secret_headers import read_page_headers

    headers = read_page_headers({host: table["headers"] for host, table in said.items()})
    wrap()
    return headers


def _resolve_file(model: str, path: str) -> str:
    """Return a model's name with its file relative to the configuration."""
    if FALLBACK in model:
        return FALLBACK.join([_resolve_file(each, path) for each in model.split(FALLBACK)])
    scheme, colon, file = model.partition(":")
    if scheme not in ("local", "replay", "scripted") or not file:
        return model
    return f"{scheme}{colon}{os.path.join(os.path.dirname(path), file)}"


def read_section(name: str, path: str) -> dict[str, Any]:
    """Return a table of a configuration; empty if it has none. Raises Diagnostics."""
    whole = _read(path)
    for key in whole:
        if key not in _HOLDS:
            tables = ", ".join(f"[{each}]" for each in _HOLDS)
            raise wrong(path, f"there is no `{key}`; it holds the tables {tables}")
    table = whole.get(name, {})
    if not isinstance(table, dict):
        raise wrong(path, f"`{name}` is no table")
    return table


def find_files(folder: str) -> list[str]:
    """Return the nearest file upward from the folder, then the person's, where there is one."""
    here = os.path.abspath(folder)
    while not os.path.isfile(os.path.join(here, NAME)) and here != os.path.dirname(here):
        here = os.path.dirname(here)
    paths = dict.fromkeys((os.path.join(here, NAME), _own()))
    return [path for path in paths if os.path.isfile(path)]


def is_own(path: str) -> bool:
    """Whether a configuration is the person's own."""
    return path == _own()


def _own() -> str:
    """Return the path of the person's own configuration."""
    return os.path.join(own_folder(), NAME)


def own_folder() -> str:
    """Return the folder of the person's own configuration."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.join(os.path.abspath(home), "sexplang")


def _read(path: str) -> dict[str, Any]:
    import tomllib  # only if there is a file to read

    try:
        with open(path, encoding="utf-8-sig") as file:
            return tomllib.loads(file.read())
    except UnicodeDecodeError as error:
        raise wrong(
            path, f"it is not UTF-8 text (byte {error.start})", "save it as UTF-8"
        ) from None
    except (OSError, ValueError) as error:
        raise wrong(path, str(error)) from None
    except RecursionError:
        raise wrong(path, "it is nested too deep") from None


def wrong(path: str, why: str, hint: str = "correct it, or move it out of the way") -> Diagnostics:
    """Return the Diagnostics for a configuration that cannot be used."""
    return Diagnostics(
        [
            Diagnostic(
                "bad-configuration",
                f"{path} cannot be used: {why}",
                hint=hint,
            )
        ]
    )
