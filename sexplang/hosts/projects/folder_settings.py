"""What applies in a folder: the configurations that can be used, and what they permit and limit."""

import os
from typing import Any

from sexplang.hosts.settings import mcp_options, python_options
from sexplang.hosts.settings.configuration import (
    NAME,
    apply_configuration,
    find_files,
    is_own,
    read_section,
    sections,
)
from sexplang.hosts.settings.limit_options import read_configured
from sexplang.hosts.settings.run_arguments import Settings
from sexplang.hosts.settings.store_options import read_table
from sexplang.hosts.terminal.streams import wrap
from sexplang.machine import Limits
from sexplang.runtime.mcp import Server, servers_of
from sexplang.terms.classes.node import frozen
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.model.roles import Models


@frozen
class Configuration:
    """A configuration. `problem` says why it cannot be used; empty if it can."""

    path: str
    is_own: bool
    problem: str = ""


@frozen
class FolderSettings:
    """What the configurations without a problem say."""

    configurations: tuple[Configuration, ...]
    models: Models
    headers: tuple[str, ...]
    """The hosts for whose pages the person gives headers."""
    python: tuple[str, ...]
    """The Python files that the person permits."""
    servers: tuple[Server, ...]
    secrets: tuple[str, ...]
    """The names of the variables that the person declares to be secrets."""
    limits: dict[str, tuple[int, str]]
    """The limits that a configuration names, and its path."""
    runs: dict[str, Any]
    """What the person says of kept runs."""


def read_folder_settings(folder: str) -> FolderSettings:
    """Return what applies in a folder. A configuration that cannot be used is left out."""
    configurations: list[Configuration] = []
    usable: list[str] = []
    for path in reversed(find_files(folder)):  # a project lowers the limits of the person
        problem = _find_problem(folder, [path, *usable])
        configurations.insert(0, Configuration(path, is_own(path), problem))
        if not problem:
            usable.insert(0, path)
    return _read(folder, tuple(configurations), usable)


def _read(
    folder: str, configurations: tuple[Configuration, ...], files: list[str]
) -> FolderSettings:
    applied = apply_configuration(Settings(), folder, files)
    secrets = [table.get("names", []) for table, _ in sections("secrets", folder, files)]
    limits = read_configured(folder, Limits(), files)
    servers = servers_of(mcp_options.read_configured(folder, files=files))
    wrap()  # a server may be given credentials
    return FolderSettings(
        configurations,
        applied.models,
        tuple(applied.headers),
        tuple(python_options.list_configured(folder, files)),
        tuple(servers.values()),
        tuple([name for names in secrets for name in names]),
        {name: (most, _find_limit(name, most, files)) for name, most in limits.items()},
        read_table(Settings(folder=folder), files),
    )


def _find_limit(name: str, most: int, files: list[str]) -> str:
    return next(path for path in files if read_section("limits", path).get(name) == most)


def _find_problem(folder: str, files: list[str]) -> str:
    """Return why the first of some configurations cannot be used, in one line."""
    try:
        _read(folder, (), files)
    except Diagnostics as found:
        title = found.diagnostics[0].title
        for name in (files[0], NAME):
            title = title.removeprefix(f"{name} cannot be used: ")
        return " ".join(title.split())
    return ""


def name_path(path: str) -> str:
    """Return a path as a person writes it: from the working folder, or from home."""
    here, home = os.getcwd().rstrip("/") + "/", os.path.expanduser("~").rstrip("/") + "/"
    if path.startswith(here):
        return path.removeprefix(here)
    return f"~/{path.removeprefix(home)}" if home != "/" and path.startswith(home) else path
