"""The last commit of each file of a folder, from one `git log`.

git is optional: without it, or without commits, no file has a last commit. Settings of the
repository run nothing: no pager, no signature check, no fetch.
"""

import os
import re
from collections.abc import Iterator, Sequence

from sexplang.guards.secrets import redact_text
from sexplang.package.process import CREDENTIALS, is_named
from sexplang.runtime.memory.index_paths import repository_of
from sexplang.terms.classes.node import frozen

_GIT = "git --no-pager --literal-pathspecs -c log.showSignature=false -c core.fsmonitor=false"
# Paths in git's output do not begin with a slash, so it marks commits.
_LOG = "log -z --relative --name-only --no-renames --no-ext-diff --no-textconv"
_FORMAT = "--format=/%m%H%x00%an%x00%aI"
_PIECE = 1 << 16
_FEW = 100
"""Maximum number of paths that git is asked for by name."""
_COMMIT = re.compile(r"[0-9a-f]{40,64}")


@frozen
class Change:
    """A commit; `date` is the author's, in ISO 8601."""

    commit: str
    author: str
    date: str


NEVER = Change("", "", "")

Changes = dict[str, Change]
"""The last change of each file, by path relative to the folder."""


class _GitFailure(Exception):
    """git is missing or reported an error."""


def head_of(folder: str) -> str:
    """Return the current commit of a folder's repository, or ""."""
    if repository_of(folder) is None:
        return ""
    try:
        head = "".join(_git(folder, "rev-parse", "--verify", "--quiet", "HEAD")).strip()
    except _GitFailure:
        return ""
    return head if _COMMIT.fullmatch(head) else ""


def changes_since(folder: str, since: str, head: str) -> Changes | None:
    """Return the changes after one commit up to a later one. None if the first is not an ancestor
    of the second, so that known changes may be of another branch."""
    if not _COMMIT.fullmatch(since):
        return None
    found: Changes = {}
    try:
        for side, change, path in _list_changes(folder, "--left-right", f"{since}...{head}"):
            if side == "<":
                return None
            found.setdefault(path, change)
    except _GitFailure:
        return None
    return found


def all_changes(folder: str, head: str, paths: Sequence[str] = ()) -> Changes:
    """Return the last change of these files, or of all files."""
    found: Changes = {}
    try:
        for _, change, path in _list_changes(
            folder, head, paths=paths if len(paths) < _FEW else ()
        ):
            found.setdefault(path, change)
    except _GitFailure:
        return {}
    return found


def _list_changes(
    folder: str, *revisions: str, paths: Sequence[str] = ()
) -> Iterator[tuple[str, Change, str]]:
    """Yield files with the commits that changed them, the latest first, and the side of a symmetric
    difference that the commit is on."""
    tokens = _tokens(_git(folder, *_LOG.split(), _FORMAT, *revisions, "--", *(paths or ["."])))
    side, change, is_first = "", Change("", "", ""), False
    for token in tokens:
        if token.startswith("/"):
            side, change = token[1], Change(token[2:], redact_text(next(tokens)), next(tokens))
            is_first = True
            continue
        path = token.removeprefix("\n") if is_first else token
        is_first = False
        if path:
            yield side, change, path


def _tokens(pieces: Iterator[str]) -> Iterator[str]:
    rest = ""
    for piece in pieces:
        *whole, rest = (rest + piece).split("\0")
        yield from whole


def _git(folder: str, *words: str) -> Iterator[str]:
    """Yield the output of git as it arrives. Raises _Failed."""
    import subprocess
    from codecs import getincrementaldecoder

    try:
        process = subprocess.Popen(
            [*_GIT.split(), *words],
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        raise _GitFailure from None
    assert process.stdout is not None
    decode = getincrementaldecoder("utf-8")("replace").decode
    try:
        while piece := process.stdout.read1(_PIECE):  # type: ignore[attr-defined]
            yield decode(piece)
        if process.wait() != 0:
            raise _GitFailure
    finally:
        process.kill()
        process.stdout.close()
        process.wait()


def _environment() -> dict[str, str]:
    """Return an environment in which git cannot be redirected, ask for input, or fetch."""
    kept = {
        name: text
        for name, text in os.environ.items()
        if not (name.startswith("GIT_") or is_named(name, CREDENTIALS))
    }
    return kept | {
        "LC_ALL": "C",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }
