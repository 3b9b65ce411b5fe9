"""The Python files that a person permits, `--allow-python` and `[python]` of the person's own
configuration, and their functions in a run."""

import os
import sys
from typing import TYPE_CHECKING, Any

from sexplang.hosts.settings.configuration import NAME, OWN_HINT, Files, own_folder, sections, wrong
from sexplang.hosts.settings.run_arguments import Settings
from sexplang.terms.program import Program

if TYPE_CHECKING:
    from sexplang.api.python_files.file_functions import FileFunctions


def load_files(settings: Settings, program: Program, folder: str | None) -> "FileFunctions | None":
    """Run the Python files that a program imports, and return their functions; None if there are
    none. Raises Diagnostics."""
    if not program.python:
        return None
    from sexplang.api.python_files.file_functions import load_functions
    from sexplang.runtime import Permissions

    named = (*settings.allow_python, *list_configured(folder or os.getcwd()))
    # With --json standard output holds one document and nothing else.
    output = sys.stderr if settings.json else None
    return load_functions(program, Permissions(python=named), output)


def list_configured(folder: str, files: Files = None) -> list[str]:
    """Return the files of the person's own configuration. Raises Diagnostics."""
    found: list[str] = []
    for table, is_own in sections("python", folder, files):
        if table and not is_own:
            words = "only a person says which Python files are run"
            raise wrong(NAME, words, OWN_HINT.replace("put it", "put `[python]`"))
        named: Any = table.get("files", [])
        is_list = isinstance(named, list) and all(isinstance(each, str) and each for each in named)
        if table.keys() - {"files"} or not is_list:
            words = '`python` holds `files`, a list of paths such as "~/tools/search.py"'
            raise wrong(NAME, words)
        found += [os.path.join(own_folder(), os.path.expanduser(each)) for each in named]
    return found
