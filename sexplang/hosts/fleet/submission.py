"""`sexplang submit`: a run with its program is kept in a store, and a worker begins it."""

import json
import os
import sys

from sexplang.hosts.cli.guard import DONE, FAILED, MISUSE
from sexplang.hosts.cli.output import say_all
from sexplang.hosts.cli.programs import finder, terms_of
from sexplang.hosts.kept_runs.stored_runs import name_address, open_runs, say_problem
from sexplang.hosts.settings.input_arguments import values_of
from sexplang.hosts.settings.limit_options import limits_of
from sexplang.hosts.settings.path_arguments import folder_of, source_at, status_of, text_at
from sexplang.hosts.settings.run_arguments import Settings, budget_of, check_files, check_pauses
from sexplang.hosts.settings.store_options import describe_command
from sexplang.hosts.terminal.show import draw_hidden
from sexplang.pipeline.pipeline import build, inspect
from sexplang.runs.program_texts import TextRecorder
from sexplang.runs.submitted_run import Submission, submit_run
from sexplang.runtime.journal.journal import make_run_id
from sexplang.runtime.permissions import Permissions
from sexplang.runtime.refusal import Refusal
from sexplang.terms.classes.node import evolve
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.source import Source
from sexplang.terms.values.value import Fault


def submit(settings: Settings, priority: int = 0) -> int:
    """Check a program, keep a run of it in the store and print its id; return the exit status."""
    try:
        source = _source(settings)
        inside = None if settings.file in (None, "-") else folder_of(settings.file)
        found = TextRecorder(finder(inside, settings.allow_read, settings.allow_python))
        program = build(source, found)
        findings = inspect(program).findings
    except Diagnostics as problem:
        return say_all(problem.diagnostics, status_of(problem.diagnostics), settings)
    warnings = (*program.warnings, *findings)
    errors = tuple([each for each in warnings if each.severity == "error" or settings.strict])
    if errors:
        return say_all(errors, FAILED, settings)
    if warnings and not settings.quiet:
        say_all(warnings, FAILED)
    try:
        inputs = values_of(settings.inputs, program.inputs, text_at)
        budget = None if settings.budget is None else budget_of(settings.budget)
        check_files(settings)
        check_pauses(settings.pause, program)
        limits = limits_of(settings, inside)
    except Diagnostics as problem:
        return say_all(problem.diagnostics, MISUSE, settings)
    asked = _with_places(settings)
    try:
        terms = terms_of(program, inputs, evolve(asked, folder=os.getcwd()), limits, budget)
        given = Submission(
            settings.run_id or make_run_id(),
            os.getcwd(),
            os.path.basename(source.name).strip("<>"),
            found.texts_of(source),
            terms,
            describe_command(asked, source),
            priority,
        )
        store = open_runs(settings.store, must_exist=False)
        try:
            run = submit_run(store, name_address(settings.store), given)
            named = store.name_store()
        finally:
            store.close()
    except (Refusal, Diagnostics, Fault) as problem:
        return say_problem(problem, as_json=settings.json)
    if settings.json:
        print(json.dumps({"run": run.id, "state": run.state}))
        return DONE
    print(run.id)
    if not settings.quiet:
        more = "".join([f" {each}" for each in named])
        told = f"a worker begins it; look with: sexplang runs show {run.id}{more}"
        print(draw_hidden(told), file=sys.stderr)
        if given.program.python:
            names = ", ".join([os.path.basename(each) for each in given.program.python])
            words = f"not kept with the run: {names}; a worker needs --allow-python for it"
            print(f"note: {draw_hidden(words)}", file=sys.stderr)
    return DONE


def _source(settings: Settings) -> Source:
    if settings.expression is not None:
        return Source("<expression>", settings.expression)
    assert settings.file is not None
    return source_at(settings.file)


def _with_places(settings: Settings) -> Settings:
    """Return the settings with whole paths: a worker has another working folder."""
    asked = Permissions(
        read=settings.allow_read, write=settings.allow_write, run=settings.allow_run
    )
    return evolve(settings, allow_read=asked.read, allow_write=asked.write, allow_run=asked.run)
