"""Programs of the command line: sources to programs, programs to first outcomes."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sexplang.hosts.settings.path_arguments import folder_of
from sexplang.hosts.settings.run_arguments import Settings
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.program import Program
from sexplang.terms.run_terms import RateBook, Terms
from sexplang.terms.source import Source
from sexplang.terms.values.value import Value

if TYPE_CHECKING:
    from sexplang.machine import Limits, Outcome
    from sexplang.runtime import Permissions

Find = Callable[[str, str], tuple[Source, ...]]


def build_program(
    source: Source,
    folder: str | None,
    allowed: tuple[str, ...] = (),
    python: tuple[str, ...] = (),
) -> Program:
    """Return the program. Raises Diagnostics.

    It may import files below its own folder, `allowed` ones and the `python` files. Text without a
    file (`folder` is None) may import `allowed` ones and the `python` files only.
    """
    from sexplang.pipeline.pipeline import build

    find = finder(folder, allowed, python)
    try:
        return build(source, find)
    except Diagnostics as found:
        if folder is None:
            raise
        from sexplang.runtime.files.missing_imports import with_imports

        raise with_imports(found, folder, find) from None


def finder(folder: str | None, allowed: tuple[str, ...] = (), python: tuple[str, ...] = ()) -> Find:
    """Return the function that finds the files which a program below a folder imports."""

    def find(path: str, importer: str) -> tuple[Source, ...]:
        # Most short programs import nothing and start without the runtime.
        from sexplang.runtime import Permissions
        from sexplang.runtime.files.source_finder import make_finder

        allowed_here = Permissions(read=allowed, folder=folder, python=python)
        return make_finder(allowed_here)(path, importer)

    return find


def permissions_of(
    settings: Settings, folder: str | None, files: tuple[str, ...] = ()
) -> "Permissions":
    """Return the Permissions of the command line, with the right to read `files`."""
    from sexplang.runtime import Permissions

    return Permissions(
        read=settings.allow_read + files,
        write=settings.allow_write,
        run=settings.allow_run,
        net=settings.allow_net,
        python=settings.allow_python,
        folder=folder,
        headers=settings.headers,
    )


def check_index(path: str) -> None:
    """Raise Diagnostics if there is no index at the path."""
    if not os.path.exists(path):
        from shlex import quote

        hint = f"make one: sexplang index PATH --index {quote(path)}"
        title = f"there is no index `{path}`"
        raise Diagnostics([Diagnostic("file-not-found", title, hint=hint)])


def terms_of(
    program: Program,
    inputs: dict[str, Value],
    settings: Settings,
    limits: "Limits | None" = None,
    budget: dict[str, Value] | None = None,
    tools: dict[str, Any] | None = None,
) -> Terms:
    """Return the terms of the run that the settings ask for.

    `tools` describes the tools of models beside the language's own.
    """
    from sexplang.runs import assembly

    if inputs:
        from sexplang.guards.secrets import redact

        inputs = redact(inputs)
    given: dict[str, Any] = {"limits": limits, "budget": budget, "tools": tools}
    if has_tasks(program):
        from sexplang.runtime.memory.index_paths import discover_index
        from sexplang.runtime.models.prices import choose_windows

        start = settings.folder or (folder_of(settings.file) if settings.file else os.getcwd())
        given["windows"] = choose_windows(settings.models)
        given["memory"] = settings.index is not None or discover_index(start) is not None
        given["folder"] = start
    return assembly.terms_of(program, inputs, models=settings.models, all_tools=True, **given)


def outcome_of(
    program: Program,
    terms: Terms,
    limits: "Limits | None" = None,
    *,
    traced: bool = False,
    book: RateBook | None = None,
) -> "Outcome":
    """Run the program until it ends or waits; return Done, Failed or Suspended."""
    from sexplang.machine import Slice
    from sexplang.runs.assembly import begin

    held = None if limits is None else limits.held
    uses = has_tasks(program)
    return begin(program, terms, has_tasks=uses, held=held, traced=traced, slice=Slice(), book=book)


def has_tasks(program: Program) -> bool:
    """Return whether the program, or a plan that it runs or proposes, needs tasks."""
    names = {each.name for each in program.sources}
    return bool(program.tasks) or not names.isdisjoint({"std/plans", "std/subplans"})
