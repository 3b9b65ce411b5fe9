"""Commands that only name files, for `list-files`: `ls`, `find` and `git ls-files`.

They need no permission of their own, since they only search readable places. Each name in their
output is checked again, because a link may have replaced a folder.
"""

import os

from sexplang.runtime.files.file_reader import display_path, is_file, locate
from sexplang.runtime.files.surrogates import require_text
from sexplang.runtime.permissions import Permissions
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.runtime.scripts.script_request import check_supervision, command_of
from sexplang.terms.host.file_command import KNOWN, Listing, parse_listing
from sexplang.terms.texts.wildcards import split_pattern
from sexplang.terms.values.value import Value

SECONDS = 5.0
MOST_BYTES = 100_000

# The settings of a foreign repository may name commands. These settings run none, fetch nothing and
# write nothing.
_GIT_SETTINGS = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "safe.bareRepository=explicit",
)
_GIT_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}


async def run_file_command(given: tuple[Value, ...], permissions: Permissions) -> tuple[str, ...]:
    """Return the files that a command names, each once. Raises a Refusal if the command does more
    than that, searches elsewhere, or fails."""
    from sexplang.runtime.scripts.script_runner import run_script

    command = _listing_of(given)
    for place in command.places or (".",):
        _check_open(place, permissions)
    check_supervision()
    words, more = _run_as(command)
    reply = await run_script(command_of(words, permissions.base, SECONDS, more), "", MOST_BYTES)
    if reply["exit_code"] != 0:
        told = f": {reply['stderr'].strip()[:300]}" if reply["stderr"].strip() else ""
        raise refuse(
            "file-failed",
            f"`{command.name}` ended with exit code {reply['exit_code']}{told}",
            hint="run it outside the program, in the program's folder",
        )
    if reply["truncated"]:
        raise refuse(
            "too-many-files",
            f"`{command.name}` names files in more than {MOST_BYTES:,} bytes",
            hint="name the folder, or part of the names: find docs -name '*.md'",
            limit=MOST_BYTES,
        )
    found = [_display_path(path, permissions) for path in parse_paths(command, reply["stdout"])]
    return tuple(dict.fromkeys([path for path in found if path is not None]))


def _listing_of(given: tuple[Value, ...]) -> Listing:
    if not all(isinstance(word, str) for word in given):
        raise refuse(
            "wrong-type",
            "the words of a command are texts",
            hint='for example (list-files ["find" "docs" "-name" "*.md"])',
        )
    words = tuple([require_text(word, "list-files") for word in given])
    command = parse_listing(words) if "\0" not in "".join(words) else "no word can hold NUL"
    if isinstance(command, Listing):
        return command
    raise refuse(
        "run-denied",
        command,
        hint=f"what names files is {KNOWN}; anything else is a script: "
        '(run-script "wc" ["-l"]), with --allow-run wc',
        command=str(words[0])[:60] if words else "",
    )


def _run_as(command: Listing) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the words to run and additional environment variables."""
    if command.name != "git ls-files":
        return (command.name, *command.arguments), {}
    settings = [word for setting in _GIT_SETTINGS for word in ("-c", setting)]
    words = ("git", "--no-pager", *settings, "ls-files", "-z", *command.arguments)
    return words, _GIT_ENVIRONMENT


def _check_open(place: str, permissions: Permissions) -> None:
    """Raise a Refusal for a place that may not be read, directly or through a link."""
    fixed, _ = split_pattern(place) if any(letter in place for letter in "*?[") else (place, ())
    locate(fixed or ".", permissions, "read")
    real = os.path.realpath(os.path.join(permissions.base, fixed or "."))
    locate(real, permissions, "read")


def _display_path(path: str, permissions: Permissions) -> str | None:
    try:
        root, relative = locate(path, permissions, "read")
    except Refusal:
        return None
    whole = os.path.join(root, relative)
    return display_path(whole, permissions) if is_file(path, permissions) else None


def parse_paths(command: Listing, output: str) -> tuple[str, ...]:
    """Return the paths in a command's output, relative to its working folder.

    Each line is a path; `git ls-files -z` ends names with NUL. `find` prints in the order of the
    disk, so its lines are sorted.
    """
    if command.name == "git ls-files":
        return tuple([name for name in output.split("\0") if name])
    lines = output.split("\n")
    if command.name == "ls":
        return _parse_ls(command, lines)
    return tuple(sorted([line for line in lines if line]))


def _parse_ls(command: Listing, lines: list[str]) -> tuple[str, ...]:
    """Return the paths in the output of `ls`, which prints names without their folder. With several
    folders or `-R`, a line with a colon names the folder of the following lines."""
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
            # A file given as an argument is printed as given.
            is_whole = "/" in line or not folder or (line,) == places
            found.append(line if is_whole else f"{folder.rstrip('/')}/{line}")
    return tuple(found)
