"""Folders and git repositories → an index of their files, and queries → the files that fit.

SQLite finds them (FTS5); no model is needed, and no contents are kept. Nothing here is
imported before a program searches or somebody makes an index.
"""

from sexplang.runtime.memory.index_paths import discover_index, index_path_for
from sexplang.runtime.memory.system import MemorySystem

__all__ = ["MemorySystem", "discover_index", "index_path_for"]
