"""Arguments to an exit status: the command, for people at terminals."""

import sys

from sexplang.hosts.guard import guarded


def main(arguments: list[str] | None = None) -> int:
    """Runs one command and gives its exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    return guarded(lambda: _command(words))


def _command(words: list[str]) -> int:
    # A plain `run` starts without click, which costs more than reading the program.
    if words[:1] == ["run"]:
        from sexplang.hosts.options import quick

        settings = quick(words[1:])
        if settings is not None:
            from sexplang.hosts.run import run

            return run(settings)
    from sexplang.hosts.commands import command

    return command(words)
