"""A pytest plugin: files called `*.test.sexp` to test items (chapter 9 of the specification)."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from sexplang.hosts.testing import Result, Test

# The rest of the package is imported when there is a file of tests: the plugin is loaded by every
# run of pytest where sexplang is installed.


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "SexpFile | None":
    """A file of tests."""
    if not file_path.name.endswith(".test.sexp"):
        return None
    file: SexpFile = SexpFile.from_parent(parent, path=file_path)
    return file


class SexpFile(pytest.File):
    """A file with tests written in the language."""

    def collect(self) -> Iterator["SexpItem"]:
        """Its tests, in their order; diagnostics for what is no test end the collection."""
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
        """Runs it. Raises Unmet with what is not as it was expected."""
        from sexplang.hosts.testing import run_test

        result = run_test(self.test)
        if not result.is_success:
            raise Unmet(result)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What `sexplang test` shows."""
        if isinstance(excinfo.value, Unmet):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the test stands: the line counts from 0."""
        return self.path, self.test.span.begin.line - 1, self.name


class Unmet(AssertionError):
    """A test of a `.test.sexp` file whose expectations are not met."""

    def __init__(self, result: "Result") -> None:
        from sexplang.hosts.terminal.show import show

        super().__init__("\n\n".join([show(finding) for finding in result.findings]))
