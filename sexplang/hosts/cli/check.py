"""`sexplang check`: files to diagnostics, effects and bounds, without running anything."""

import os
import sys
from shlex import quote
from typing import Any

from sexplang.hosts.cli.guard import DONE
from sexplang.hosts.cli.needs import needs_as_typed
from sexplang.hosts.cli.programs import build_program
from sexplang.hosts.settings.path_arguments import folder_of, source_at, status_of
from sexplang.terms.classes.node import frozen
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.model.roles import is_id


@frozen
class FileReport:
    """One file: its diagnostics, and the report if it is a program without errors."""

    file: str
    findings: tuple[Diagnostic, ...]
    report: Any = None

    def plain(self) -> dict[str, Any]:
        known: dict[str, Any] = {"effects": [], "calls": None, "needs": [], "models": []}
        if self.report is not None:
            needs = needs_as_typed(self.report.needs, self.file)
            known = {**self.report.plain(), "needs": [need.plain() for need in needs]}
        return {**known, "findings": [finding.plain() for finding in self.findings]}


def check(
    files: tuple[str, ...],
    *,
    as_json: bool,
    strict: bool,
    effects: bool = False,
    max_calls: int | None = None,
) -> int:
    """Check programs and templates, all those of a folder, and print the result.

    Return 1 if there is an error, 2 if there is no such file.
    """
    files = tuple(dict.fromkeys(path for file in files for path in _paths(file)))
    checked = [_check_file(file, max_calls) for file in files]
    # Two files may import the same third one.
    found = list(dict.fromkeys(each for one in checked for each in one.findings))
    if as_json:
        import json

        print(json.dumps({"files": {one.file: one.plain() for one in checked}}, ensure_ascii=False))
    else:
        for one in checked:
            _tell(one, effects, effects or max_calls is not None)
        _show(found, files)
        if strict and found and all(each.severity == "warning" for each in found):
            print("--strict counts a warning as an error", file=sys.stderr)
    wrong = any(strict or each.severity == "error" for each in found)
    return status_of(found) if wrong else DONE


def _paths(file: str) -> list[str]:
    """Return the file, or the programs and templates below a folder."""
    if not os.path.isdir(file):
        return [file]
    found = []
    for folder, folders, names in os.walk(file):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [os.path.join(folder, name) for name in sorted(names) if name.endswith(_KINDS)]
    return [os.path.normpath(path) for path in found] or [file]


_KINDS = (".sexp", ".xml")


def _check_file(file: str, max_calls: int | None) -> FileReport:
    try:
        source = source_at(file)
        if file.endswith(".py"):
            from sexplang.pipeline.python_imports import read_python

            read_python(source)
            return FileReport(file, ())
        if file.endswith(".test.sexp"):
            from sexplang.hosts.testing.test_programs import check_tests

            return FileReport(file, check_tests(source))
        program = build_program(source, folder_of(file) if file != "-" else None)
    except Diagnostics as found:
        return FileReport(file, found.diagnostics)
    from sexplang.analysis import too_many
    from sexplang.pipeline.pipeline import inspect

    report = inspect(program)
    findings = (*program.warnings, *report.findings)
    refused = too_many(report, max_calls) if max_calls is not None else None
    return FileReport(file, (*findings, refused) if refused is not None else findings, report)


def _tell(one: FileReport, effects: bool, asked: bool) -> None:
    """Print the effects of a program: its bound if asked for or if it calls a model, and the
    permissions that it needs."""
    report = one.report
    if report is None:
        return
    said = [str(need) for need in needs_as_typed(report.needs, one.file)]
    said += [
        f"names the model {name}: set it with --model {quote(name)}=MODEL"
        for name in report.models
        if not is_id(name)
    ]
    if asked or not report.calls.is_zero:
        said.append(report.says())
    if not said:
        return
    from sexplang.hosts.terminal.show import draw_hidden

    for words in said:
        print(f"{draw_hidden(one.file)}: {draw_hidden(words)}", flush=True)
    for row in report.effects if effects else ():
        print(f"  {draw_hidden(str(row))}", flush=True)


def _show(found: list[Diagnostic], files: tuple[str, ...]) -> None:
    if found:
        from sexplang.hosts.terminal.show import diagnostics_text

        print(diagnostics_text(found, sys.stderr), end="\n\n", file=sys.stderr)
    errors = sum(each.severity == "error" for each in found)
    counted = [_count(errors, "error"), _count(len(found) - errors, "warning")]
    print(f"{_count(len(files), 'file')}: {', '.join(counted)}", file=sys.stderr)


def _count(number: int, word: str) -> str:
    return f"{number or 'no'} {word}{'' if number == 1 else 's'}"
