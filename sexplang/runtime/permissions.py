"""The permissions of a run: all access is refused unless granted."""

import os
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from sexplang.terms.classes.node import field, frozen

Place: TypeAlias = str | os.PathLike[str]


def _absolute_path(path: Place | None) -> str | None:
    """Make a path absolute, so that a later change of the working folder grants nothing else."""
    if path is None:
        return None
    _check(path, (str, os.PathLike))
    return os.path.abspath(os.fspath(path))


def _absolute_paths(paths: Iterable[Place]) -> tuple[str, ...]:
    return tuple(os.path.abspath(os.fspath(path)) for path in _several(paths))


def _executables(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(
        os.path.abspath(name) if "/" in name else name for name in _several(names, names=True)
    )


def _hosts(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(_host(name) for name in _several(names, names=True))


def _host(name: str) -> str:
    """Normalize a host for comparison with a server's address. Raises TypeError for a whole
    address."""
    if "/" in name:
        rest = name.partition("//")[2] if "//" in name else name
        host = rest.partition("/")[0].rpartition("@")[2]
        raise TypeError(
            f"a host is permitted by its name, such as {host or 'localhost'!r}, not {name!r}"
        )
    return name.lower()


def host_of(address: str) -> tuple[str, str]:
    """Return the names that permit an HTTP address: HOST, or HOST:PORT."""
    from urllib.parse import urlsplit  # only addresses need it

    parts = urlsplit(address)
    host = (parts.hostname or "").lower()
    return host, f"{host}:{parts.port or _PORTS[parts.scheme]}"


_PORTS = {"http": 80, "https": 443}


def _several(given: Any, names: bool = False) -> tuple[Any, ...]:
    """Return a list of names. Raises TypeError for a text, whose letters would each be granted."""
    if isinstance(given, (str, bytes, os.PathLike)) or not isinstance(given, Iterable):
        kind = type(given).__name__
        raise TypeError(f"a permission is a list, such as read=['docs'], not {kind}")
    several = tuple(given)
    for one in several:
        _check(one, str if names else (str, os.PathLike))
    return several


def _check(one: Any, kinds: Any) -> None:
    if not isinstance(one, kinds) or not isinstance(os.fspath(one), str):
        kind = type(one).__name__
        raise TypeError(f"what is permitted is a path or a name as text, not {kind}")
    if not os.fspath(one):
        here = "" if kinds is str else "; the current folder is written '.'"
        raise TypeError(f"what is permitted is not empty{here}")


@frozen
class Permissions:
    """Folders and files that may be read and written, executables that may be run, by name or by
    path, hosts (`HOST`, `HOST:PORT`) that may be reached, and Python files that may be run when a
    program imports them.

    `folder` is the program's own folder: it may be read, and relative paths start there. None (a
    program from standard input or from Python text) grants nothing, and relative paths start in the
    working folder. A name that begins with a dot is covered only by a grant that names it.
    """

    read: tuple[str, ...] = field(default=(), converter=_absolute_paths)
    write: tuple[str, ...] = field(default=(), converter=_absolute_paths)
    run: tuple[str, ...] = field(default=(), converter=_executables)
    net: tuple[str, ...] = field(default=(), converter=_hosts)
    folder: str | None = field(default=None, converter=_absolute_path)
    python: tuple[str, ...] = field(default=(), converter=_absolute_paths)

    def runs_python(self, path: str) -> bool:
        """Return whether a Python file may be run, by whatever name it is called."""
        wanted = os.path.realpath(path)
        return any(os.path.realpath(each) == wanted for each in self.python)

    headers: Mapping[str, Mapping[str, str]] = field(factory=dict, repr=False, eq=False)
    """Headers for the pages that `fetch` asks a host for, by `HOST` or `HOST:PORT`. They grant
    nothing."""

    def grants(self, right: str) -> tuple[str, ...]:
        """Return the places for which a right is granted."""
        if right == "write":
            return self.write
        own = () if self.folder is None else (self.folder,)
        return own + self.read

    @property
    def base(self) -> str:
        """The folder where relative paths start."""
        return self.folder if self.folder is not None else os.getcwd()
