"""Reading and listing files inside the permitted places: `read-file`, `list-files`."""

import errno
import os
import stat
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sexplang.guards.secrets import redact_bytes
from sexplang.runtime.files.confined_open import open_confined, open_inside, real_path_of
from sexplang.runtime.files.surrogates import is_text
from sexplang.runtime.permissions import Permissions
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.texts.wildcards import LONGEST, matches, split_pattern

MOST_BYTES = 1_000_000
MOST_NAMES = 100_000

_DENIED = {errno.EACCES, errno.EPERM}
_UNSUITED = {errno.ELOOP, errno.ENXIO, errno.ENAMETOOLONG}
_NO_FOLDER = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}


MOST_MEDIA_BYTES = 5_000_000
"""Maximum size of an image or a PDF, as providers accept it."""


def read_base64(path: str, permissions: Permissions) -> str:
    """Return the bytes of a file as base64 text."""
    return b64encode(redact_bytes(_data(path, permissions, MOST_MEDIA_BYTES))).decode()


def read_file(path: str, permissions: Permissions, most: int = MOST_BYTES) -> str:
    """Return the text of a file without a byte order mark. The file must be regular, have no other
    name, be UTF-8 and have at most `most` bytes."""
    data = _data(path, permissions, most)
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise refuse(
            "not-text",
            f"{path} is not UTF-8 text: byte {error.start} is {data[error.start]:#04x}",
            hint='convert it to UTF-8 first, or read its bytes: (read-file path "base64")',
            path=path,
        ) from None


def resolve_path(path: str, permissions: Permissions) -> str:
    """Return the real path of a readable file, without links, for code that opens it by name."""
    with _readable(path, permissions) as file:
        return real_path_of(file) or os.path.realpath(os.path.join(permissions.base, path))


def read_bytes(path: str, permissions: Permissions) -> bytes:
    """Return the bytes of a file as they are, at most MOST_BYTES."""
    return _data(path, permissions, MOST_BYTES)


def _data(path: str, permissions: Permissions, most: int) -> bytes:
    with _readable(path, permissions) as file:
        return _bytes(file, most, path)


@contextmanager
def _readable(
    path: str, permissions: Permissions, flags: int = os.O_RDONLY | os.O_NONBLOCK
) -> Iterator[int]:
    """Open a regular file that has no other name."""
    root, relative = locate(path, permissions, "read")
    try:
        file = open_confined(root, relative, flags)
    except OSError as error:
        raise refuse_os_error(error, path) from None
    try:
        _check(os.fstat(file), path)
        check_hidden(file, root, relative, path)
        yield file
    finally:
        os.close(file)


def list_files(
    pattern: str, permissions: Permissions, most: int = MOST_NAMES, *, every: bool = False
) -> tuple[str, ...]:
    """Return the sorted files that fit a pattern (`*`, `?`, `[a-z]`, `**` for any folders).

    Paths are relative to the program's folder if they lie below it. Names that begin with a dot and
    files that may not be read are left out. With `every`, unreadable regular files are included.
    """
    fixed, rest = split_pattern(_text(pattern, "pattern", "read"))
    if len(pattern) > LONGEST:
        raise refuse(
            "bad-pattern",
            f"`{pattern[:60]}` is a pattern of more than {LONGEST:,} characters: no path is longer",
            hint='write `*` for any letters: "docs/*.md"',
        )
    root, relative = locate(fixed or ".", permissions, "read")
    start = os.path.join(root, relative) if relative else root
    depth = None if "**" in rest else len(rest)
    found = []
    try:
        for name, entry in _below(root, relative, most, pattern, depth):
            if matches(name.split("/"), rest):
                whole = f"{start.rstrip('/')}/{name}"
                if _is_read(entry, whole, permissions) if not every else not entry.is_symlink():
                    found.append(display_path(whole, permissions))
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return ()
        raise refuse_os_error(error, pattern) from None
    return tuple(sorted(found))


def is_file(path: str, permissions: Permissions) -> bool:
    """Whether a readable file exists at a path. The file is not opened."""
    try:
        with _readable(path, permissions, os.O_PATH):
            return True
    except Refusal:
        return False


def _is_read(entry: "os.DirEntry[str]", path: str, permissions: Permissions) -> bool:
    """Whether a listed file or link may be read under its name."""
    if entry.is_symlink():
        return is_file(path, permissions)
    try:
        return entry.stat(follow_symlinks=False).st_nlink == 1
    except OSError:  # not there any more
        return False


def locate(path: str, permissions: Permissions, right: str) -> tuple[str, str]:
    """Return the granted folder that covers a path, and the path relative to it."""
    text = _text(path, "path", right)
    whole = os.path.normpath(os.path.join(permissions.base, text))
    hidden = False
    for grant in permissions.grants(right):
        for place in dict.fromkeys((grant, os.path.realpath(grant))):
            if whole != place and not whole.startswith(place.rstrip("/") + "/"):
                continue
            relative = whole[len(place) :].strip("/")
            if any(part.startswith(".") for part in relative.split("/")):
                hidden = True
            elif relative or os.path.isdir(place):
                return place, relative
            else:  # a grant for one file
                return os.path.dirname(place), os.path.basename(place)
    if hidden:
        raise deny_path(
            path, "names that begin with a dot are not covered by a folder's grant", right
        )
    raise deny_path(path, f"it is outside the places that may be {_PARTICIPLE[right]}", right)


_PARTICIPLE = {"read": "read", "write": "written"}


_SUITS = {
    "read": "name a file; pipes and devices are not read",
    "write": "name another file; folders, pipes and devices are not replaced",
}


def deny_path(path: str, reason: str, right: str = "read", hint: str | None = None) -> Refusal:
    return refuse(
        "path-denied",
        f"{path} may not be {_PARTICIPLE[right]}: {reason}",
        hint=hint or f"allow it with --allow-{right} PATH, or name a file below a permitted folder",
        path=path,
    )


def refuse_kind(path: str, reason: str, right: str) -> Refusal:
    """Return the refusal of a path that no permission would make usable."""
    return deny_path(path, reason, right, _SUITS[right])


def _text(path: str, what: str, right: str) -> str:
    if not isinstance(path, str):
        raise refuse("wrong-type", f"a {what} is a string", hint='for example "notes.txt"')
    hint = 'a path is a text such as "notes.txt"'
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise deny_path("this path", "it cannot be written in UTF-8", right, hint) from None
    if "\0" in path or not path:
        words = path.replace("\0", "\\0") or "the empty path"
        raise deny_path(words, "no file has such a name", right, hint)
    return path


def refuse_os_error(error: OSError, path: str, right: str = "read") -> Refusal:
    """Return the refusal for an OSError of a path."""
    if error.errno == errno.EXDEV:
        return deny_path(path, "a link in it leads out of the permitted folder", right)
    if error.errno == errno.EISDIR:
        return refuse_kind(path, "it is a folder", right)
    if error.errno in _UNSUITED:
        return refuse_kind(path, error.strerror or "the system refuses it", right)
    if error.errno in _DENIED:
        return deny_path(path, error.strerror or "the system refuses it", right)
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return refuse(
            "file-not-found",
            f"there is no {path}",
            hint='(list-files "*") shows what is there; paths start at the program\'s folder',
            path=path,
        )
    return refuse(
        "file-failed", f"{path}: {error.strerror}", hint="try it outside the program", path=path
    )


def _check(status: os.stat_result, path: str) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise refuse_kind(path, "it is a folder", "read")
    if not stat.S_ISREG(status.st_mode):
        raise refuse_kind(path, "it is not a regular file", "read")
    if status.st_nlink > 1:
        raise deny_path(
            path, "it has another name elsewhere (a hard link)", hint="copy it, and name the copy"
        )


def check_hidden(file: int, root: str, relative: str, path: str, right: str = "read") -> None:
    """Raise Refusal if a link leads to a hidden name: the real path decides."""
    place, real = real_path_of(file), os.path.realpath(root).rstrip("/")
    if place is None or not place.startswith(real + "/"):
        return
    inside = place[len(real) + 1 :]
    if inside != relative and any(part.startswith(".") for part in inside.split("/")):
        raise deny_path(path, "it leads to a name that begins with a dot", right)


def _bytes(file: int, most: int, path: str) -> bytes:
    parts: list[bytes] = []
    size = 0
    while size <= most:
        part = os.read(file, min(1 << 20, most + 1 - size))
        if not part:
            return b"".join(parts)
        parts.append(part)
        size += len(part)
    raise refuse(
        "file-too-large",
        f"{path} is larger than {most:,} bytes",
        hint="split it, or give the part that matters",
        path=path,
        limit=most,
    )


def display_path(whole: str, permissions: Permissions) -> str:
    """Return a path relative to the program's folder if it lies below it."""
    base = permissions.base.rstrip("/") + "/"
    return whole[len(base) :] if whole.startswith(base) else whole


def _below(root: str, start: str, most: int, pattern: str, depth: int | None) -> Iterator[Any]:
    """Yield the regular files and links below a folder: relative path and directory entry."""
    top = open_confined(root, start, os.O_RDONLY | os.O_DIRECTORY)
    try:
        check_hidden(top, root, start, pattern)
        yield from _walk(top, most, pattern, depth)
    finally:
        os.close(top)


def _walk(top: int, most: int, pattern: str, depth: int | None) -> Iterator[Any]:
    work = [""]
    seen = 0
    while work:
        prefix = work.pop()
        try:
            folder = open_inside(top, prefix, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            if error.errno in _NO_FOLDER and prefix:  # removed meanwhile
                continue
            raise
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    seen += 1
                    if seen > most:
                        raise _too_many(pattern, most)
                    if entry.name.startswith(".") or not is_text(entry.name):
                        continue
                    name = _join(prefix, entry.name)
                    if entry.is_file(follow_symlinks=False) or entry.is_symlink():
                        yield name, entry
                    elif entry.is_dir(follow_symlinks=False) and (
                        depth is None or name.count("/") + 1 < depth
                    ):
                        work.append(name)
        finally:
            os.close(folder)


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder and name else folder or name


def _too_many(pattern: str, most: int) -> Refusal:
    return refuse(
        "too-many-files",
        f"more than {most:,} names lie where {pattern} looks",
        hint='name the folder: (list-files "docs/*.md")',
        limit=most,
    )
