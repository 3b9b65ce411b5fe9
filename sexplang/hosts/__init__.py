"""The command `sexplang`: arguments to an exit status."""

import os
import sys

from sexplang.hosts.cli.guard import MISUSE, guard, say
from sexplang.hosts.terminal.streams import usable


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    with usable(words):
        return guard(lambda: _command(words))


def _command(words: list[str]) -> int:
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError as broken:
            byte = ord(word[broken.start]) & 0xFF
            shown = word.encode(errors="replace").decode()
            say(f"an argument is not UTF-8 text: `{shown[:60]}` holds the byte 0x{byte:02x}")
            return MISUSE
    try:
        os.getcwd()
    except OSError:
        say("the folder that this was started in is not there any more: cd into another one")
        return MISUSE
    status = _run_without_click(words)
    if status is not None:
        return status
    from sexplang.hosts.cli.commands import command

    return command(words)


def _run_without_click(words: list[str]) -> int | None:
    """Return the status of a command that needs no click; None for any other.

    To import click takes as long as all else at the start.
    """
    name, rest = "".join(words[:1]), words[1:]
    if name == "run":
        from sexplang.hosts.settings.run_arguments import quick

        settings = quick(rest)
        if settings is not None:
            from sexplang.hosts.cli.run import run

            return run(settings)
    if not rest or any(word.startswith("-") for word in rest):
        return None
    if name == "check":
        from sexplang.hosts.cli.check import check

        return check(tuple(rest), as_json=False, strict=False)
    if name == "fmt" and all(word.endswith(".sexp") for word in rest):
        from sexplang.hosts.cli.fmt import fmt

        return fmt(tuple(rest), check=False, diff=False)
    if name == "index":
        from sexplang.hosts.cli.index import Settings, index

        return index(Settings(tuple(rest)))
    return None
