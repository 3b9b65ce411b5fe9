"""The memory system: an index of files in folders and git repositories, and its search.

Search uses SQLite's FTS5 and no model. The index contains no file contents. Nothing here is
imported before a program searches or an index is made.
"""

from sexplang.runtime.memory.index_paths import discover_index, index_path_for
from sexplang.runtime.memory.system import MemorySystem

__all__ = ["MemorySystem", "discover_index", "index_path_for"]
