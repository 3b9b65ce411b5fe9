"""What a command printed that finds files → their paths, relative to where it ran.

`ls` and `dir` say names without their folder: of one folder that is told, of several and of `-R` it
stands above them, before a colon. `find` goes in the order of the disk, so its lines are sorted.
"""

import re

LISTS = ("ls", "dir")

LS_OPTIONS = re.compile(r"-[1AadRrtS]+")
"""Those of which it is known what the command prints."""


def paths_printed(name: str, arguments: tuple[str, ...], output: str) -> tuple[str, ...] | None:
    """A path for each line; None where nobody can say which. Paths that are whole stay."""
    lines = [line.strip() for line in output.split("\n")]
    command = name.rsplit("/", 1)[-1]
    if command in LISTS:
        return _of_ls(command, arguments, lines)
    found = [line for line in lines if line]
    return tuple(sorted(found) if command == "find" else found)


def _of_ls(command: str, arguments: tuple[str, ...], lines: list[str]) -> tuple[str, ...] | None:
    options = [word for word in arguments if word.startswith("-")]
    if not all(LS_OPTIONS.fullmatch(word) for word in options):
        return None
    places = [word for word in arguments if not word.startswith("-")]
    letters = "".join(options)
    if command == "dir" and "1" not in letters:
        return None  # several names stand on a line
    if "d" in letters:
        return tuple([line for line in lines if line])
    has_heads = "R" in letters or len(places) > 1
    folder = "" if has_heads or not places else places[0]
    found = []
    for at, line in enumerate(lines):
        if has_heads and line.endswith(":") and (at == 0 or not lines[at - 1]):
            folder = line[:-1]
        elif line:
            # A file that is named itself stands there as it was named.
            is_whole = "/" in line or not folder or [line] == places
            found.append(line if is_whole else f"{folder.rstrip('/')}/{line}")
    return tuple(found)
