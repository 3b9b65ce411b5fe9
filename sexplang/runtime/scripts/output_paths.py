"""What a command printed that names files → their paths, relative to where it ran.

`ls` says names without their folder: of one folder that is told, of several and of `-R` it stands
above them, before a colon. `find` goes in the order of the disk, so its lines are sorted.
"""

from sexplang.terms.file_command import Listing


def paths_printed(command: Listing, output: str) -> tuple[str, ...]:
    """A path for each line; of git, whose names end with NUL, for each name."""
    if command.name == "git ls-files":
        return tuple([name for name in output.split("\0") if name])
    lines = output.split("\n")
    if command.name == "ls":
        return _of_ls(command, lines)
    return tuple(sorted([line for line in lines if line]))


def _of_ls(command: Listing, lines: list[str]) -> tuple[str, ...]:
    places = command.places
    letters = "".join([word for word in command.arguments if word.startswith("-")])
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
            is_whole = "/" in line or not folder or (line,) == places
            found.append(line if is_whole else f"{folder.rstrip('/')}/{line}")
    return tuple(found)
