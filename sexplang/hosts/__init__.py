"""Arguments to an exit status: the command, for people at terminals."""

import sys

from sexplang.hosts.guard import MISUSE, guarded, say
from sexplang.hosts.streams import usable


def main(arguments: list[str] | None = None) -> int:
    """Runs one command and gives its exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    with usable():
        return guarded(lambda: _command(words))


def _command(words: list[str]) -> int:
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError as broken:
            byte = ord(word[broken.start]) & 0xFF
            shown = word.encode(errors="replace").decode()
            say(f"an argument is not UTF-8 text: `{shown[:60]}` holds the byte 0x{byte:02x}")
            return MISUSE
    # A plain `run` or `index` starts without click, which costs more than what is then done.
    if words[:1] == ["run"]:
        from sexplang.hosts.options import quick

        settings = quick(words[1:])
        if settings is not None:
            from sexplang.hosts.run import run

            return run(settings)
    if words[:1] == ["index"] and words[1:] and not any(word.startswith("-") for word in words):
        from sexplang.hosts.indexing import Settings, index

        return index(Settings(tuple(words[1:])))
    from sexplang.hosts.commands import command

    return command(words)
