"""Names of this package's modules to their code, by the shortest way there is.

For each module Python lists a folder, tries six endings and puts paths together in its own
language, which takes longer than to read what it has compiled. Here a module lies where its name
says. What is not found there just so, compiled and younger than its source, is Python's to find.
`spec/decisions/modules-are-found-by-name.md` has the figures.
"""

import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import MAGIC_NUMBER, PathFinder, SourceFileLoader
from collections.abc import Sequence
from io import FileIO
from marshal import loads
from os import stat, stat_result
from types import CodeType

_HEAD = 16
"""Bytes before the code: which Python compiled it, no flags, time and size of the source."""


def find_quickly() -> None:
    """From here on modules of this package are found in this way, if Python keeps them as usual."""
    is_file = __spec__ is not None and type(__spec__.loader) is SourceFileLoader
    is_usual = is_file and sys.pycache_prefix is None and sys.flags.optimize == 0
    if is_usual and PathFinder in sys.meta_path:
        # Whoever has put a finder before Python's own is asked first, as always.
        sys.meta_path.insert(sys.meta_path.index(PathFinder), Finder)


class Finder:
    """Finds what lies where its name says."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, target: object = None, /
    ) -> ModuleSpec | None:
        """Where a module of this package lies; None for any other one."""
        if path is None or not name.startswith("sexplang."):
            return None
        folder, file = path[0], name.rpartition(".")[2]
        inside = None
        try:
            found = stat(f"{folder}/{file}.py")
        except OSError:
            inside = [f"{folder}/{file}"]
            folder, file = inside[0], "__init__"
            try:
                found = stat(f"{folder}/__init__.py")
            except OSError:
                return None
        loader = _Loader(name, f"{folder}/{file}.py")
        loader.source = found
        loader.compiled = f"{folder}/__pycache__/{file}.{sys.implementation.cache_tag}.pyc"
        spec = ModuleSpec(name, loader, origin=loader.path)
        spec.submodule_search_locations = inside
        spec.has_location, spec.cached = True, loader.compiled
        return spec


class _Loader(SourceFileLoader):
    """Reads what was compiled of a source, if it was since the source was last changed."""

    source: stat_result
    compiled: str

    def get_code(self, fullname: str) -> CodeType | None:
        changed, size = int(self.source.st_mtime), self.source.st_size
        head = MAGIC_NUMBER + bytes(4) + _four(changed) + _four(size)
        try:
            with FileIO(self.compiled) as file:
                data = file.readall()
        except OSError:
            data = b""
        if data[:_HEAD] != head:
            return super().get_code(fullname)
        code: CodeType = loads(memoryview(data)[_HEAD:])
        return code


def _four(number: int) -> bytes:
    return (number & 0xFFFFFFFF).to_bytes(4, "little")
