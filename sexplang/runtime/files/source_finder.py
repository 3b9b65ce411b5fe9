"""The sources that an import names, inside the permitted places."""

import os
from collections.abc import Callable

from sexplang.runtime.files.file_reader import list_files, locate, read_file
from sexplang.runtime.permissions import Permissions
from sexplang.runtime.refusal import Refusal
from sexplang.terms.diagnostic import IN_PYTHON, Diagnostic, Diagnostics
from sexplang.terms.source import Source
from sexplang.terms.values.value import Fault

MOST_BYTES = 10_000_000

TESTS = ".test.sexp"
"""The ending of file names of tests, which are not modules."""


def make_finder(permissions: Permissions) -> Callable[[str, str], tuple[Source, ...]]:
    """Return `find(path, importer)`. Paths are relative to the importing file. A folder gives each
    `.xml` and `.sexp` in it except tests, in order of their names. A schema, `.xsd` or `.json`,
    and a Python file need to be named. A Python file that may be run may be read. Raises Fault."""

    def find(path: str, importer: str) -> tuple[Source, ...]:
        name = os.path.normpath(os.path.join(os.path.dirname(importer), path))
        whole = os.path.abspath(name)
        if whole in permissions.python:
            return (_source(name, whole, Permissions(read=(whole,))),)
        _check_permission(whole, permissions)
        try:
            if not os.path.isdir(whole):
                if not name.endswith((".xml", ".sexp", ".py", ".xsd", ".json")):
                    raise _not_found(f"`{path}` is no folder, and no .sexp or .xml file")
                return (_source(name, whole, permissions),)
            files = list_files(f"{whole}/*", permissions, every=True)
        except Refusal as refusal:
            raise _fault(path, refusal) from None
        names = [os.path.basename(file) for file in files if _is_module(file)]
        folder = [os.path.join(name, each) for each in names]
        return tuple([_source(file, os.path.abspath(file), permissions) for file in folder])

    return find


def list_sources(folder: str) -> list[str]:
    """Return the paths of the templates and programs in a folder that a person has named, in order.
    Raises Diagnostics."""
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        title = f"cannot list {folder}: {error.strerror or error}"
        raise Diagnostics([Diagnostic("file-failed", title)]) from None
    found = [name for name in names if _is_module(name) and not name.startswith(".")]
    return [os.path.join(folder, name) for name in found]


def _is_module(name: str) -> bool:
    return name.endswith((".xml", ".sexp")) and not name.endswith(TESTS)


def _check_permission(whole: str, permissions: Permissions) -> None:
    """Raise Fault if the program may not know whether the path exists."""
    try:
        locate(whole, permissions, "read")
    except Refusal as refusal:
        from shlex import quote

        raise Fault(
            "import-denied",
            str(refusal.error.fields["message"]),
            hint=f"permit it: --allow-read {quote(whole)}{IN_PYTHON}Permissions(read=[{whole!r}])",
        ) from None


def _source(name: str, whole: str, permissions: Permissions) -> Source:
    try:
        return Source(name, read_file(whole, permissions, MOST_BYTES))
    except Refusal as refusal:
        raise _fault(name, refusal) from None


def _fault(path: str, refusal: Refusal) -> Fault:
    fields = refusal.error.fields
    code = fields["details"].get("code", fields["reason"])
    if code == "file-not-found":
        return _not_found(f"there is no `{path}` to import")
    if code == "not-text":
        return Fault(code, str(fields["message"]), hint="save it as UTF-8")
    return Fault("import-denied", str(fields["message"]), hint=fields["hint"])


def _not_found(title: str) -> Fault:
    return Fault(
        "import-not-found",
        title,
        hint="an import names a folder, a .sexp, .xml or .py file, from the file that imports it",
    )
