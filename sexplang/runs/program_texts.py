"""The texts of a program in the store of its run, so that it can be built on any machine.

Law: no Python file is kept. The process that builds the program has files of its own, and names
those that may be run.
"""

import json
import os
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from sexplang.guards.secrets import redact_text
from sexplang.runtime.files.file_reader import read_file
from sexplang.runtime.journal.compression import compress, decompress
from sexplang.runtime.journal.rows import LONE
from sexplang.runtime.journal.run_store import RunStore, StoredRun
from sexplang.runtime.permissions import Permissions
from sexplang.runtime.refusal import refuse
from sexplang.terms.classes.node import define, field, frozen
from sexplang.terms.source import Source
from sexplang.terms.values.value import Fault

Find = Callable[[str, str], tuple[Source, ...]]
"""`find(path, importer)` returns the sources of an import."""

MOST_BYTES = 10_000_000
"""The size of a Python file that may be read."""


@frozen
class ProgramTexts:
    """A main file and what it imports, by the names of files."""

    main: str
    texts: dict[str, str]
    imports: tuple[tuple[str, str, tuple[str, ...]], ...]
    """The path of each import, who imports, and the files that it gives."""

    @property
    def source(self) -> Source:
        return Source(self.main, self.texts[self.main])

    @property
    def python(self) -> list[str]:
        """The Python files that it imports."""
        return sorted({each for _, _, names in self.imports for each in names if _is_python(each)})

    def make_finder(self, python: tuple[str, ...]) -> Find:
        """Return the finder of its imports. `python` are the Python files that may be run here; one
        with the name of an imported file is it."""
        known = {(path, importer): names for path, importer, names in self.imports}
        sources: dict[str, Source] = {}

        def find_one(name: str) -> Source:
            if name not in sources:
                text = self.texts.get(name)
                sources[name] = Source(name, text) if text is not None else _find(name, python)
            return sources[name]

        def find(path: str, importer: str) -> tuple[Source, ...]:
            if (path, importer) not in known:
                # A Python file has another name here, and imports nothing of the program.
                hint = "submit the program again"
                raise Fault("import-not-found", f"`{path}` is not kept with the run", hint=hint)
            return tuple([find_one(name) for name in known[path, importer]])

        return find


def _is_python(name: str) -> bool:
    return name.endswith(".py")


def _find(name: str, python: tuple[str, ...]) -> Source:
    """Return a Python file of this machine. Raises Fault."""
    base = os.path.basename(name)
    found = [each for each in python if os.path.basename(each) == base]
    if not found:
        raise Fault(
            "python-denied",
            f"{base} may not be run here: no permission names a file of that name",
            hint=f"a Python file is not kept with a run. Start the worker with: "
            f"--allow-python PATH/{base}",
        )
    path = os.path.abspath(found[0])
    text = read_file(path, Permissions(read=(path,)), MOST_BYTES)
    return Source(path, text, original=name)


@define(eq=False)
class TextRecorder:
    """A finder that notes what it finds."""

    find: Find
    _texts: dict[str, str] = field(factory=dict)
    _imports: list[tuple[str, str, tuple[str, ...]]] = field(factory=list)

    def __call__(self, path: str, importer: str) -> tuple[Source, ...]:
        found = self.find(path, importer)
        self._imports.append((path, importer, tuple([each.name for each in found])))
        for each in found:
            if not _is_python(each.name):
                self._texts[each.name] = each.text
        return found

    def texts_of(self, source: Source) -> ProgramTexts:
        """Return what was found for a main file. Raises a Refusal `bad-input` for a text with a
        credential."""
        texts = {**self._texts, source.name: source.text}
        for name, text in texts.items():
            if redact_text(text) != text:
                raise refuse(
                    "bad-input",
                    f"{name} holds a credential, and a run's texts are kept in the store",
                    hint="take it out of the text; the worker has credentials in its environment",
                )
        return ProgramTexts(source.name, texts, tuple(self._imports))


def keep_program(store: RunStore, program: ProgramTexts) -> str:
    """Keep a program, within a transaction; return its digest. Runs of one program share it."""
    told = {"main": program.main, "texts": program.texts, "imports": program.imports}
    data = json.dumps(told, sort_keys=True, ensure_ascii=False).encode("utf-8", LONE)
    digest = sha256(data).hexdigest()
    store.db.execute(
        "insert into programs (digest, data) values (?, ?) on conflict do nothing",
        (digest, compress(data)),
    )
    return digest


def read_program(store: RunStore, run: StoredRun) -> ProgramTexts:
    """Return the program of a run that the store has. Raises a Refusal `bad-store`."""
    with store.explain():
        asked = "select data from programs where digest = ?"
        found = store.db.execute(asked, (run.program,)).fetchone()
    try:
        data = decompress(found[0])
        if sha256(data).hexdigest() != run.program:
            raise ValueError(run.program)
        told: Any = json.loads(data.decode("utf-8", LONE))
        imports = [(path, importer, tuple(names)) for path, importer, names in told["imports"]]
        return ProgramTexts(told["main"], told["texts"], tuple(imports))
    except (ValueError, TypeError, KeyError) as wrong:
        raise refuse(
            "bad-store",
            f"the program of run {run.id} cannot be read",
            hint="submit it again; sexplang runs list shows other runs",
        ) from wrong
