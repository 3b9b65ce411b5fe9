"""The run of a Python file as a module: the text that was read, and no other."""

import importlib.abc
import importlib.util
import sys
from functools import partial
from hashlib import sha256
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, TextIO

from sexplang.api.python_files.failures import describe_exception, line_of
from sexplang.guards.secrets import redact_text
from sexplang.terms.diagnostic import Diagnostic, Diagnostics, Label
from sexplang.terms.python_file import PythonFile
from sexplang.terms.source import Source, Span

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec


class _TextLoader(importlib.abc.InspectLoader):
    """A loader of one text."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def get_source(self, fullname: str) -> str:
        return self._source.text

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self._source.text, self._source.name)

    def is_package(self, fullname: str) -> bool:
        return False


def run_file(file: PythonFile, output: TextIO | None = None) -> ModuleType:
    """Return the module of a file. A process runs the same text of a file once. What the file
    prints goes to `output`, by default to standard output.

    Raises Diagnostics for what the file raises.
    """
    source = file.source
    digest = sha256(f"{source.name}\0{source.text}".encode("utf-8", "surrogatepass")).hexdigest()
    name = f"_sexplang_file_{digest[:32]}"
    known = sys.modules.get(name)
    if known is not None:
        return known
    spec: ModuleSpec | None = importlib.util.spec_from_loader(
        name, _TextLoader(source), origin=source.name
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    module.__file__ = source.name
    if output is not None:
        vars(module)["print"] = partial(print, file=output)
    sys.modules[name] = module  # dataclasses and type hints look for it there
    try:
        spec.loader.exec_module(module)
    # Whatever ends the file, nobody is to find half a module. Ctrl-C stays what it is.
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, Exception | SystemExit):
            raise _failure(file, error) from error
        raise
    return module


def _failure(file: PythonFile, error: BaseException) -> Diagnostics:
    """Return the Diagnostics for an exception at the top level of a file."""
    line = line_of(error, file.source.name)
    title = redact_text(f"{file.source.name} failed when it was run: {describe_exception(error)}")
    labels = [Label(each) for each in (file.imported,) if each is not None]
    if line is not None:
        labels = [Label(_line_span(file.source, line)), *labels]
    hint = "correct the file"
    if isinstance(error, ModuleNotFoundError):
        hint = "only installed packages are found, not files beside it: install it, or PYTHONPATH"
    return Diagnostics([Diagnostic("python-failed", title, tuple(labels), hint=hint)])


def _line_span(source: Source, line: int) -> Span:
    """Return the span of a line, without its indentation."""
    lines = source.text.splitlines(keepends=True)[:line]
    text = lines[-1] if lines else ""
    start = sum(map(len, lines)) - len(text.lstrip())
    return Span(source, start, start + len(text.strip()))
