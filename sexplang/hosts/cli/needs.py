"""The permissions that a program needs, as they are typed where a command runs, and those of them
that a command does not give."""

import os
from collections.abc import Callable, Iterable
from shlex import quote
from typing import Any

from sexplang.hosts.settings.path_arguments import folder_of
from sexplang.hosts.settings.run_arguments import Settings
from sexplang.terms.classes.node import evolve

_FILES = ("--allow-read", "--allow-write")


def needs_as_typed(needs: Iterable[Any], file: str) -> list[Any]:
    """Return the needs of the program in a file. Its paths begin in its folder; files in it need no
    permission to be read."""
    needs = [need for need in needs if not _is_given(need, file)]
    if file == "-":
        return needs
    folder = os.path.dirname(file)
    return [
        evolve(need, name=os.path.normpath(os.path.join(folder, need.name)))
        if need.option in _FILES
        else need
        for need in needs
    ]


def _is_given(need: Any, file: str) -> bool:
    """Return whether a need is granted anyway: a file in the program's folder."""
    if need.option != "--allow-read":
        return False
    return os.path.isabs(need.name) and is_below(need.name, folder_of(file))


def is_below(path: str, folder: str) -> bool:
    """Return whether a path leads into a folder, by names that need no permission of their own."""
    names = os.path.relpath(path, folder).split(os.sep)
    return not any(name.startswith(".") and name != "." for name in names)


def describe_missing(needs: Iterable[Any], settings: Settings) -> str | None:
    """Return the line that names the needs which the settings do not give; None if they give all.

    Servers of models are left out: another model may stand in for them. So are Python files, which
    are refused before the program begins.
    """
    file = settings.file or "-"
    missing = [
        f"{need.option} {quote(need.name)}"
        for need in needs_as_typed(needs, file)
        if need.option in _GIVEN and not _GIVEN[need.option](need.name, settings)
    ]
    return f"note: it may need {', '.join(dict.fromkeys(missing))}" if missing else None


def _is_granted(path: str, places: tuple[str, ...]) -> bool:
    whole = os.path.abspath(path)
    return any(whole == place or is_below(whole, place) for place in map(os.path.abspath, places))


def _may_run(name: str, settings: Settings) -> bool:
    if "/" not in name:
        return name in settings.allow_run
    return _is_granted(name, tuple([each for each in settings.allow_run if "/" in each]))


_GIVEN: dict[str, Callable[[str, Settings], bool]] = {
    "--allow-write": lambda name, settings: _is_granted(name, settings.allow_write),
    "--allow-read": lambda name, settings: _is_granted(name, settings.allow_read),
    "--allow-run": _may_run,
    "--pause": lambda name, settings: name in settings.pause,
}
"""Whether the settings give a need, by its option."""
