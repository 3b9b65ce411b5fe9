"""A folder in a git repository → who changed each file last, and when, from one `git log`.

git is optional: without it, or where nothing was committed, nobody has changed anything. What the
repository configures is not run: no pager, no check of signatures, nothing is fetched.
"""

import os
import re
from collections.abc import Iterator, Sequence

from sexplang.guards.secrets import redact_text
from sexplang.package.process import CREDENTIALS, is_named
from sexplang.runtime.memory.index_paths import repository_of
from sexplang.terms.classes.node import frozen

_GIT = "git --no-pager --literal-pathspecs -c log.showSignature=false -c core.fsmonitor=false"
# No path that git names begins with a slash: it tells commits from files.
_LOG = "log -z --relative --name-only --no-renames --no-ext-diff --no-textconv"
_FORMAT = "--format=/%m%H%x00%an%x00%aI"
_PIECE = 1 << 16
_FEW = 100
"""How many paths git is asked for by name."""
_COMMIT = re.compile(r"[0-9a-f]{40,64}")


@frozen
class Change:
    """A commit, as far as it is kept; `date` is the author's, in ISO 8601."""

    commit: str
    author: str
    date: str


NEVER = Change("", "", "")

Changes = dict[str, Change]
"""The last change of each file, by its path relative to the folder."""


class _Failed(Exception):
    """git is not there, or said no."""


def head_of(folder: str) -> str:
    """The commit that a folder's repository stands at; empty where there is none."""
    if repository_of(folder) is None:
        return ""
    try:
        head = "".join(_git(folder, "rev-parse", "--verify", "--quiet", "HEAD")).strip()
    except _Failed:
        return ""
    return head if _COMMIT.fullmatch(head) else ""


def changes_since(folder: str, since: str, head: str) -> Changes | None:
    """Files changed after one commit and up to a later one. None where the first is no ancestor of
    the other: then what is known of files may be of another branch."""
    if not _COMMIT.fullmatch(since):
        return None
    found: Changes = {}
    try:
        for side, change, path in _list_changes(folder, "--left-right", f"{since}...{head}"):
            if side == "<":
                return None
            found.setdefault(path, change)
    except _Failed:
        return None
    return found


def all_changes(folder: str, head: str, paths: Sequence[str] = ()) -> Changes:
    """The last change of these files, or of every file, that was ever committed."""
    found: Changes = {}
    try:
        for _, change, path in _list_changes(
            folder, head, paths=paths if len(paths) < _FEW else ()
        ):
            found.setdefault(path, change)
    except _Failed:
        return {}
    return found


def _list_changes(
    folder: str, *revisions: str, paths: Sequence[str] = ()
) -> Iterator[tuple[str, Change, str]]:
    """Files with the commits that changed them, the last commit first; and on which side of two
    commits that is."""
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
    """What git writes, as it comes. Raises _Failed."""
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
        raise _Failed from None
    assert process.stdout is not None
    decode = getincrementaldecoder("utf-8")("replace").decode
    try:
        while piece := process.stdout.read1(_PIECE):  # type: ignore[attr-defined]
            yield decode(piece)
        if process.wait() != 0:
            raise _Failed
    finally:
        process.kill()
        process.stdout.close()
        process.wait()


def _environment() -> dict[str, str]:
    """Nothing that points git elsewhere, and nothing that lets it ask or fetch."""
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
