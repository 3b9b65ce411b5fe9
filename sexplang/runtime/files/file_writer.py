"""Writing files inside the permitted places: `write-file` replaces only regular files."""

import os
import stat
from posixpath import dirname

from sexplang.runtime.files.atomic_write import is_named, replace_file
from sexplang.runtime.files.confined_open import open_confined
from sexplang.runtime.files.file_reader import (
    check_hidden,
    deny_path,
    locate,
    read_bytes,
    refuse_kind,
    refuse_os_error,
)
from sexplang.runtime.permissions import Permissions
from sexplang.runtime.refusal import Refusal, refuse

NEW = 0o644
"""Permissions of a new file, restricted by the umask."""


def write_file(path: str, text: str, permissions: Permissions) -> None:
    """Write the text to a file atomically. A replaced file keeps its permissions."""
    write_bytes(path, text.encode(), permissions)


def write_bytes(path: str, data: bytes, permissions: Permissions) -> None:
    """Write bytes to a file atomically."""
    root, relative = locate(path, permissions, "write")
    parent, _, name = relative.rpartition("/")
    if path.endswith(("/", "/.")):
        raise refuse_kind(path, "a path that ends in / names a folder", "write")
    if not name:
        raise refuse_kind(path, "it is a folder", "write")
    folder = _folder(root, parent, path)
    try:
        check_hidden(folder, root, parent, path, "write")
        _replace(folder, name, data, path)
    except OSError as error:
        raise refuse_os_error(error, path, "write") from None
    finally:
        os.close(folder)


def edit_file(path: str, old: str, new: str, permissions: Permissions) -> None:
    """Replace a passage of a file, which must occur in it once. The file must be readable, too.
    The rest stays as it is, byte by byte."""
    write_bytes(path, replace_passage(read_bytes(path, permissions), old, new, path), permissions)


def replace_passage(data: bytes, old: str, new: str, path: str) -> bytes:
    """Return the bytes of a file with a passage replaced. Raises Refusal `edit-failed` if it does
    not occur there once."""
    passage = old.encode()
    at = data.find(passage) if passage else -1
    if at < 0 or data.find(passage, at + 1) >= 0:
        found = "is not" if at < 0 else "occurs more than once"
        how = "copy it from the file, with its spaces and line breaks"
        if at >= 0:
            how = "add lines before or after it, until it occurs once"
        raise refuse(
            "edit-failed",
            f"the passage to replace {found} in {path}",
            hint=how,
            path=path,
        )
    return data.replace(passage, new.encode())


def _folder(root: str, parent: str, path: str) -> int:
    try:
        return open_confined(root, parent, os.O_RDONLY | os.O_DIRECTORY)
    except (FileNotFoundError, NotADirectoryError):
        raise _no_folder(path) from None
    except OSError as error:
        raise refuse_os_error(error, path, "write") from None


def _no_folder(path: str) -> Refusal:
    folder = dirname(path) or path
    return refuse(
        "file-not-found",
        f"there is no folder {folder}",
        hint="make it first; `write-file` makes files, no folders",
        path=path,
    )


def _mode(folder: int, name: str, path: str) -> int | None:
    """Return the permissions of the file to be replaced, or None if there is none."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(status.st_mode):
        raise deny_path(path, "it is a link", "write", "name the file that it leads to")
    if stat.S_ISDIR(status.st_mode):
        raise refuse_kind(path, "it is a folder", "write")
    if not stat.S_ISREG(status.st_mode):
        raise refuse_kind(path, "it is not a regular file", "write")
    # A superuser may write any file, so the permission bits decide too.
    if not status.st_mode & 0o222 or not os.access(name, os.W_OK, dir_fd=folder):
        hint = "make it writable outside the program, or name another file"
        raise deny_path(path, "it is write-protected", "write", hint)
    return stat.S_IMODE(status.st_mode) & 0o777


def _replace(folder: int, name: str, data: bytes, path: str) -> None:
    """Replace `name` in the open folder. A link of that name is neither replaced nor followed."""
    mode = _mode(folder, name, path)
    fresh = f".{name[:60]}.{os.urandom(6).hex()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    file = os.open(fresh, flags, NEW if mode is None else 0o600, dir_fd=folder)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(file, rest) :]
        if mode is not None:
            os.fchmod(file, mode)
        os.fsync(file)
        # A file that was swapped in meanwhile is checked too.
        found = replace_file(folder, fresh, file, name, lambda old: _mode(folder, old, path))
        if found not in (None, mode):
            os.fchmod(file, found)
    finally:
        if is_named(folder, fresh, file):
            os.unlink(fresh, dir_fd=folder)
        os.close(file)
