"""A pytest plugin that collects `*.test.sexp` files (chapter 9e of the specification)."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from sexplang.hosts.testing import Result, Test

# The rest of the package is imported with the first file of tests, because every run of pytest
# loads the plugin.


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "SexpFile | None":
    """A file of tests."""
    if not file_path.name.endswith(".test.sexp"):
        return None
    file: SexpFile = SexpFile.from_parent(parent, path=file_path)
    return file


class SexpFile(pytest.File):
    """A file of tests written in the language."""

    def collect(self) -> Iterator["SexpItem"]:
        """Yield its tests in their order. Raises an error of collection with the diagnostics of the
        file."""
        from sexplang.hosts.settings.path_arguments import source_at
        from sexplang.hosts.terminal.show import show
        from sexplang.hosts.testing import collect
        from sexplang.terms.diagnostic import Diagnostics

        try:
            tests = collect(source_at(str(self.path)))
        except Diagnostics as found:
            raise self.CollectError("\n\n".join(map(show, found.diagnostics))) from None
        for test in tests:
            yield SexpItem.from_parent(self, name=test.name, test=test)


class SexpItem(pytest.Item):
    """One test of such a file."""

    def __init__(self, *, test: "Test", **more: Any) -> None:
        super().__init__(**more)
        self.test = test

    def runtest(self) -> None:
        """Run the test. Raises Unmet with the diagnostics of its expectations."""
        from sexplang.hosts.testing import run_test

        result = run_test(self.test)
        if not result.is_success:
            raise Unmet(result)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the text that `sexplang test` shows."""
        if isinstance(excinfo.value, Unmet):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return file, line (from 0) and name of the test."""
        return self.path, self.test.span.begin.line - 1, self.name


class Unmet(AssertionError):
    """An expectation of a test is not met."""

    def __init__(self, result: "Result") -> None:
        from sexplang.hosts.terminal.show import show

        super().__init__("\n\n".join([show(finding) for finding in result.findings]))
