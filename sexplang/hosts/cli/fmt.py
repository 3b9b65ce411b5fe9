"""`sexplang fmt`: the canonical layout of program files.

Law: a file is formatted whole or left as it is. A formatted file is not written.
"""

import os
import sys

from sexplang.hosts.cli.guard import DONE, FAILED
from sexplang.hosts.settings.path_arguments import source_at, status_of
from sexplang.hosts.terminal.streams import verbatim
from sexplang.reader import format_text
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.source import Source


def fmt(files: tuple[str, ...], *, check: bool, diff: bool) -> int:
    """Format programs in their files, and standard input to standard output for `-`.

    With `check` or `diff` nothing is written: the files that would change are listed, or their
    differences are shown, and the status is 1 if there are any. The status is 1 for a program that
    cannot be read, 2 if there is no such file.
    """
    changed = refused = 0
    status = DONE
    for file in files:
        try:
            changed += _layout_file(file, check, diff)
        except Diagnostics as found:
            refused += 1
            status = max(status, status_of(found.diagnostics))
            _show(found)
    counted = ["1 file" if len(files) == 1 else f"{len(files)} files"]
    counted += [f"{changed} would change" if check or diff else f"{changed} changed"]
    if refused:
        counted += [f"{refused} left as {'it was' if refused == 1 else 'they were'}: see above"]
    if files != ("-",) or check:
        print(f"{counted[0]}: {', '.join(counted[1:])}", file=sys.stderr)
    return max(status, FAILED if changed and (check or diff) else DONE)


def _layout_file(file: str, check: bool, diff: bool) -> bool:
    """Format one program; return whether that changes it."""
    source = source_at(file)
    text = format_text(source)
    changed = text != source.text
    if diff:
        verbatim().writelines(_difference(source, text))
    elif check:
        if changed:
            print(source.name)
    elif file == "-":
        print(text, end="", file=verbatim())
    elif changed and not os.path.isfile(file):
        raise _report_failure(
            file, "it is no regular file", "lay it out as text: sexplang fmt - <FILE"
        )
    elif changed:
        _replace(file, text)
    return changed


def _difference(source: Source, text: str) -> list[str]:
    from difflib import unified_diff

    before, after = (each.splitlines(keepends=True) for each in (source.text, text))
    lines = list(unified_diff(before, after, source.name, source.name))
    # A last line without its break would swallow the line after it.
    return [line if line.endswith("\n") else line + "\n" for line in lines]


def _replace(path: str, text: str) -> None:
    """Replace a file atomically. Its mode stays; a link stays a link."""
    import tempfile  # it imports random and hashlib, which most files do not need

    path = os.path.realpath(path)
    written = None
    try:
        folder, name = os.path.split(path)
        handle, written = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
        with open(handle, "wb") as file:
            file.write(text.encode())
            os.fchmod(file.fileno(), os.stat(path).st_mode & 0o7777)
            file.flush()
            os.fsync(file.fileno())
        os.replace(written, path)
    except OSError as error:
        raise _report_failure(path, error.strerror or str(error)) from None
    finally:
        # After the rename there is no temporary file any more.
        if written and os.path.exists(written):
            os.unlink(written)


_AS_IT_WAS = "the file is as it was; give the path of a file in a folder that may be written"


def _report_failure(path: str, why: str, hint: str = _AS_IT_WAS) -> Diagnostics:
    return Diagnostics([Diagnostic("file-failed", f"cannot write `{path}`: {why}", hint=hint)])


def _show(found: Diagnostics) -> None:
    from sexplang.hosts.terminal.show import diagnostics_text

    print(diagnostics_text(found.diagnostics, sys.stderr), end="\n\n", file=sys.stderr)
