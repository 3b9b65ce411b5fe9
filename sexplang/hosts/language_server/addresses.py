"""Names of sources and URIs of documents."""

import os
import re

from pygls import uris

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def name_of(address: str) -> str:
    """Return the name of a document's source: its absolute path, or its URI if it is no file."""
    try:
        path = uris.to_fs_path(address)
    except ValueError:  # it is no URI
        return address
    return address if not path else os.path.normpath(path)


def address_of(name: str) -> str | None:
    """Return the URI of a source, if it has a file or an address."""
    if os.path.isabs(name):
        return _file(name)
    if name.startswith("std/"):
        from sexplang.package.package_data import place

        path = place(f"stdlib/{name.removeprefix('std/')}.sexp")
        return _file(path) if os.path.isfile(path) else None
    return name if _SCHEME.match(name) else None


def _file(path: str) -> str | None:
    address: str | None = uris.from_fs_path(path)
    return address
