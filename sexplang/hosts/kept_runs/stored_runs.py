"""`sexplang runs list`, `show` and `resume`: the runs of the store."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from sexplang.hosts.cli.guard import DONE, FAILED, MISUSE, say
from sexplang.hosts.cli.output import say_all, say_cancelled, say_fault
from sexplang.hosts.cli.programs import build_program, has_tasks
from sexplang.hosts.kept_runs.descriptions import describe_state, describe_time, describe_waiting
from sexplang.hosts.settings.path_arguments import folder_of, source_at
from sexplang.hosts.settings.python_options import load_files
from sexplang.hosts.settings.run_arguments import Settings, budget_of, make_words
from sexplang.hosts.settings.store_options import describe_cost, read_command
from sexplang.hosts.terminal.show import draw_hidden
from sexplang.hosts.terminal.streams import person_at
from sexplang.machine import Limits
from sexplang.runs.durable_run import ResumedRun, resume_run
from sexplang.runs.program_texts import read_program
from sexplang.runs.reused_run import lock_replaceable
from sexplang.runs.submitted_run import wish_cancellation, wish_resumption
from sexplang.runtime.fleet.leaves import list_carried, list_late, list_late_doubts
from sexplang.runtime.journal.databases import has_store, is_server, resolve_address
from sexplang.runtime.journal.doubts import Decision
from sexplang.runtime.journal.questions import close_questions, list_questions
from sexplang.runtime.journal.run_store import (
    INTERRUPTED,
    RUNNING,
    WAITING,
    RunStore,
    StoredRun,
    default_store,
    is_own,
    is_private,
    open_store,
)
from sexplang.runtime.journal.stored_journal import read_rows
from sexplang.runtime.models.prices import price_usage
from sexplang.runtime.refusal import Refusal
from sexplang.terms.classes.node import evolve
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.program import Program
from sexplang.terms.python_file import list_decisions
from sexplang.terms.run_terms import read_terms
from sexplang.terms.source import Source
from sexplang.terms.values.value import Fault, Value

if TYPE_CHECKING:
    from sexplang.runtime.mcp import Servers


def open_runs(path: str | None, *, must_exist: bool = True) -> RunStore:
    """Open a store to look at it. Raises Diagnostics if runs are not kept, and Refusal."""
    return open_store(name_address(path), must_exist=must_exist)


def name_address(path: str | None) -> str:
    """Return the address of a store, by default of the person's own. Raises Diagnostics if there is
    none."""
    path = path or default_store()
    if path is None:
        hint = "SEXPLANG_STORE is empty; name a store with --store FILE"
        raise Diagnostics([Diagnostic("store-failed", "runs are not kept here", hint=hint)])
    return resolve_address(path)


def list_runs(path: str | None, *, all: bool, as_json: bool) -> int:
    """Print the runs of the working folder, or all, the newest first; return the exit status."""
    runs: list[dict[str, Any]] = []
    states: list[str] = []
    try:
        if path is not None or has_store(default_store() or ""):
            store = open_runs(path)
            try:
                found = store.runs(None if all else os.getcwd())
                runs = [_plain(store, run) for run in found]
                states = [describe_state(store, run) for run in found]
            finally:
                store.close()
    except (Refusal, Diagnostics) as problem:
        return say_problem(problem, as_json=as_json)
    if as_json:
        print(json.dumps(runs, ensure_ascii=False, indent=2))
        return DONE
    width = max(map(len, states), default=0)
    for run, state in zip(runs, states, strict=True):
        began = describe_time(run["began"])[:16]  # without seconds
        replies = f"{run['replies']:,} {'reply' if run['replies'] == 1 else 'replies'}"
        cost = "" if run["usd"] is None else f"  ${run['usd']:.4f}"
        line = f"{run['id']}  {began:<16}  {state:<{width}}  {replies:>12}  {run['name']}{cost}"
        print(draw_hidden(line))
        if run["held"]:
            print(draw_hidden(f"  {run['held']}"))
    if not runs:
        say("no runs are kept" + ("" if all else " of this folder; --all lists those of all"))
    return DONE


def _plain(store: RunStore, run: StoredRun) -> dict[str, Any]:
    asked = list_questions(store, run) if run.state == WAITING else []
    is_dead = run.state == RUNNING and not store.is_alive(run)
    replies, tokens, usd = run.replies, run.tokens, None
    if run.state in ("running", "interrupted", "failed"):  # others are not read: that takes time
        with suppress(Refusal):
            found = read_rows(store, run)
            replies, tokens, usd = found.replies, found.tokens, price_usage(found.usage)
    return {
        "id": run.id,
        "name": run.name,
        "project": run.project,
        "state": INTERRUPTED if is_dead else run.state,
        "open": sum(each.is_open for each in asked),
        "due": run.due,
        "began": run.began,
        "ended": run.ended,
        "replies": replies,
        "tokens": tokens,
        "usd": usd,
        "error": run.error,
        "successor": run.successor,
        "priority": run.priority,
        "held": run.held,
    }


def show_run(id: str, path: str | None, *, as_json: bool) -> int:
    """Print a run: its command, its rows and its doubts; return the exit status."""
    try:
        store = open_runs(path)
        try:
            run = store.find(id)
            found = read_rows(store, run, whole=True)
            told = _plain(store, run) | {"usd": price_usage(found.usage)}
            asked = list_questions(store, run)
            carried, late = list_carried(store.db, run), list_late(store.db, run)
            found.doubts += list_late_doubts(store.db, run)
            how = store.describe_resumption(run)
        finally:
            store.close()
        settings = read_command(run)[0] if run.has_command else Settings()
        name = "run" if run.program is None else "submit"
        words, earlier = make_words(settings, name) if run.has_command else [], settings.reuse
    except (Refusal, Diagnostics) as problem:
        return say_problem(problem, as_json=as_json)
    except (ValueError, TypeError, KeyError):
        words, earlier = ["sexplang", "run"], None
    begun = []
    if told["state"] == "interrupted":
        times = found.list_begun().items()
        begun = [{"id": id, "began": at, "clock": clock} for id, (clock, at, _) in times]
    told |= {
        "command": words,
        "rows": [row.plain() for row in found.rows],
        "begun": begun,
        "doubts": found.doubts,
        "carried": carried,
        "late": late,
        "questions": [each.plain() for each in asked],
        "value": run.value,
        "replaces": earlier,
    }
    if as_json:
        print(json.dumps(told, ensure_ascii=False, indent=2))
        return DONE
    from shlex import join

    begun_with = join(told["command"]) or f"{run.name}, begun from Python"
    print(f"{told['id']}  {told['state']}  {draw_hidden(begun_with)}")
    replies = f"{told['replies']:,} {'reply' if told['replies'] == 1 else 'replies'}"
    cost = describe_cost(found) or "0 tokens"
    print(f"in {draw_hidden(told['project'])}, {replies}, {cost}")
    if earlier is not None:
        print(f"it replaces {draw_hidden(earlier)}, whose replies it took")
    if run.successor is not None:
        print(f"it was replaced by {run.successor}")
    is_held = run.held and told["state"] in ("interrupted", "waiting", "submitted")
    if is_held:
        print(draw_hidden(f"no worker goes on with it: {run.held}"))
    if run.error:
        print(draw_hidden(run.error))
    for row in found.rows[-_SHOWN:]:
        end = "failed" if row.failed else "answered"
        print(f"  {row.id:<10} {row.operation:<14} {end}  after {row.clock:,.1f} s")
    for each in begun:
        print(f"  {each['id']:<10} begun, and not answered  after {each['clock']:,.1f} s")
    for each in carried:
        limited = ", within its --fleet-limit" if each["is_limited"] else ""
        who = each["worker"] or f"a worker with --offers {each['queue']}{limited}"
        print(draw_hidden(f"  {each['id']:<10} is left to {who}"))
    if run.value:
        print(f"value: {draw_hidden(run.value)}")
    for each in found.doubts:
        what = "performed again" if each["decision"] == "safe" else "not performed again"
        print(f"  in doubt: {each['operation']} ({each['id']}), {what}")
    if run.state == WAITING:
        print("\n".join(describe_waiting(store, run, [each for each in asked if each.is_open])))
    if told["state"] in ("interrupted", "failed", "submitted") and not is_held:
        print(draw_hidden(how))
    return DONE


_SHOWN = 20
"""Rows of a run that `show` prints, the last ones."""


def resume(
    id: str,
    path: str | None,
    again: tuple[str, ...],
    never: tuple[str, ...],
    *,
    as_recorded: bool,
    as_json: bool,
    quiet: bool,
    is_cancelled: bool = False,
    accepts_changes: bool = False,
    yes: bool = False,
) -> int:
    """Go on with a run in the folder where it began; print its value and return the exit status."""
    from sexplang.hosts.cli.run import perform
    from sexplang.hosts.cli.run import run as run_anew

    replay: dict[str, Decision] = {**dict.fromkeys(again, "safe"), **dict.fromkeys(never, "never")}
    if both := sorted({*again} & {*never}):
        title, hint = f"--again and --never both name {both[0]}", "leave out one of them"
        found = Diagnostics([Diagnostic("bad-input", title, hint=hint)])
        return say_problem(found, as_json=as_json)
    try:
        store = open_runs(path)
    except (Refusal, Diagnostics) as problem:
        return say_problem(problem, as_json=as_json)
    try:
        run = store.find(id)
        settings, text = _read_command(store, run)
        inputs = _read_inputs(run)
        if not as_recorded and run.program is not None and is_server(store.path):
            wish_resumption(store, name_address(path), run, replay)
            return _say_left(run, as_json)
        if not (as_recorded or (is_own(store.path) and run.owner is None)):
            return _ask_for_words(store, run, settings)
        settings = evolve(settings, json=as_json or settings.json, quiet=quiet)
        budget = budget_of(settings.budget) if settings.budget is not None else None
        if accepts_changes:
            lock_replaceable(store, run.id)
            decided = evolve(settings, cache=False, reuse=run.id, again=again, never=never)
            decided = evolve(decided, yes=yes, store=path)
            if text is None and not settings.task and run.program is None:
                os.chdir(run.project)
                return run_anew(decided)
            decided, source, program, shape = _build(store, run, decided, text, inputs)
            return perform(decided, program, inputs, source, budget, shape, is_kept=True)
        settings, source, program, shape = _build(store, run, settings, text, inputs)
        settings = evolve(settings, run_id=run.id)

        def go_on(
            program: Program, limits: "Limits | None", servers: "Servers | None"
        ) -> ResumedRun:
            resumed = resume_run(
                store,
                run,
                program,
                replay=replay,
                declared={
                    **list_decisions(program.python),
                    **({} if servers is None else servers.list_decisions()),
                },
                held=None if limits is None else limits.held,
                has_tasks=has_tasks(program),
            )
            if is_cancelled:
                return resumed.cancel()
            if not quiet:
                _say_resumed(resumed)
            if person_at(sys.stdin, sys.stderr) is not None:
                close_questions(store, run, "ask-user")
            return resumed

        return perform(settings, program, inputs, source, budget, shape, resume=go_on)
    except (Refusal, Diagnostics, Fault) as problem:
        status = say_problem(problem, as_json=as_json)
        if is_cancelled and not _is_about_the_run(problem):
            say(f"to end it as it stands, type --force too: sexplang runs cancel {id} --force")
        return status
    except OSError as problem:
        title, hint = f"{run.project}: {problem.strerror}", "put the folder back where it was"
        hint += f", or end the run: sexplang runs cancel {id} --force"
        found = Diagnostics([Diagnostic("file-failed", title, hint=hint)])
        return say_problem(found, as_json=as_json)
    finally:
        store.close()


def _say_left(run: StoredRun, as_json: bool) -> int:
    if as_json:
        print(json.dumps({"run": run.id, "wish": "resume"}))
    else:
        say(f"a worker goes on with the run {run.id}; to drive it here, type --as-recorded too")
    return DONE


def _is_about_the_run(problem: Refusal | Diagnostics | Fault) -> bool:
    """Whether a run cannot be cancelled in any way."""
    given = problem.error.fields["reason"] if isinstance(problem, Refusal) else ""
    return given in ("run-ended", "run-busy", "unknown-run")


def end(id: str, path: str | None, *, as_json: bool) -> int:
    """Cancel a run without its program; return the exit status."""
    try:
        store = open_runs(path)
        try:
            run = store.find(id)
            store.cancel_run(run)
        finally:
            store.close()
    except (Refusal, Diagnostics) as problem:
        return say_problem(problem, as_json=as_json)
    return say_cancelled(Settings(json=as_json), run.id)


def leave_to_worker(id: str, path: str | None, *, as_json: bool) -> int | None:
    """Let a worker cancel a run with which workers go on; return the exit status. None for another
    run."""
    try:
        address = name_address(path)
        store = open_runs(path)
        try:
            run = store.find(id)
            if run.program is None or not is_server(address):
                return None
            wish_cancellation(store, address, run)
        finally:
            store.close()
    except (Refusal, Diagnostics) as problem:
        return say_problem(problem, as_json=as_json)
    if as_json:
        print(json.dumps({"run": run.id, "wish": "cancel"}))
    else:
        say(f"a worker cancels the run {run.id}; without one, type --force too")
    return DONE


def _build(
    store: RunStore,
    run: StoredRun,
    settings: Settings,
    text: str | None,
    inputs: dict[str, Value],
) -> tuple[Settings, Source, Program, Callable[[Value], Value]]:
    """Return the settings and the program of a run, and what shapes its value: from the texts in
    the store, else in the folder where it began. Raises Diagnostics, Fault, Refusal, OSError."""
    if run.program is not None:
        from sexplang.pipeline.pipeline import build  # lists and answers need none

        texts = read_program(store, run)
        program = build(texts.source, texts.make_finder(settings.allow_python))
        return evolve(settings, file="-", expression=None), texts.source, program, _keep
    os.chdir(run.project)
    if settings.task:
        from sexplang.hosts.cli.task import build_task

        return build_task(settings, inputs)
    source = _source_of(settings, text)
    folder = folder_of(settings.file) if settings.file not in (None, "-") else settings.folder
    program = build_program(source, folder, settings.allow_read, settings.allow_python)
    return settings, source, program, _keep


def _keep(value: Value) -> Value:
    return value


def export(id: str, to: str) -> int:
    """Write a run of the person's store to a new file as a recording; return the exit status."""
    from sexplang.runs.exported_run import export_run

    here = os.getcwd()
    try:
        store = open_runs(None)
        try:
            run = store.find(id)
            program, uses_tasks = build_kept(store, run)
            export_run(store, run, program, to, has_tasks=uses_tasks)
        finally:
            os.chdir(here)
            store.close()
    except (Refusal, Diagnostics, Fault) as problem:
        return say_problem(problem)
    return DONE


def build_kept(store: RunStore, run: StoredRun) -> tuple[Program, bool]:
    """Return the program of a run, built in the folder where it began, and whether it has tasks.
    The working folder is changed. Raises Diagnostics or Fault."""
    try:
        settings, _, program, _ = _build(store, run, *_read_command(store, run), _read_inputs(run))
        load_files(
            settings, program, None if run.program else run.project
        )  # the replay calls primitives
    except OSError as problem:
        title = f"{run.project}: {problem.strerror}"
        raise Diagnostics([Diagnostic("file-failed", title)]) from None
    return program, has_tasks(program)


def _read_command(store: RunStore, run: StoredRun) -> tuple[Settings, str | None]:
    """Return the settings and the text of a stored run. Raises Diagnostics for one that was begun
    from Python or is damaged."""
    if not run.has_command:
        title = f"the run {run.id} was begun from Python, and has no command"
        raise Diagnostics([Diagnostic("bad-input", title, hint=store.describe_resumption(run))])
    with _explain_damage(run):
        return read_command(run)


def _read_inputs(run: StoredRun) -> dict[str, Value]:
    """Return the inputs of a stored run. Raises Diagnostics for one that is damaged."""
    with _explain_damage(run):
        return read_terms(json.loads(run.header), ()).inputs


@contextmanager
def _explain_damage(run: StoredRun) -> Iterator[None]:
    """Turn an error in the data of a run into Diagnostics."""
    try:
        yield
    except (ValueError, TypeError, KeyError):
        hint = "run the program again; sexplang runs list shows other runs"
        title = f"the command of run {run.id} is damaged"
        raise Diagnostics([Diagnostic("bad-store", title, hint=hint)]) from None


def _ask_for_words(store: RunStore, run: StoredRun, settings: Settings) -> int:
    """Say what a store that is not the person's own would let a run do."""
    from shlex import join

    words = draw_hidden(join(make_words(settings)))
    why = "this store is not your own"
    why += "" if is_private(store.path) else ", or others can write it or its folder"
    say(f"{why}; its run {run.id} was begun with: {words}")
    say("to give it the same permissions and models, type --as-recorded too")
    return MISUSE


def _source_of(settings: Settings, text: str | None) -> Source:
    if settings.expression is not None:
        return Source("<expression>", settings.expression)
    if text is not None:
        return Source("<stdin>", text)
    assert settings.file is not None
    return source_at(settings.file)


def _say_resumed(resumed: ResumedRun) -> None:
    count = resumed.served
    replies = f"{count:,} {'reply' if count == 1 else 'replies'}"
    print(f"resuming {resumed.run.id}: {replies} served from its journal", file=sys.stderr)
    for each in resumed.doubts:
        name = f"{each.request.operation} ({each.request.id})"
        paid = "; if it was answered before, it is paid twice"
        extra = paid if each.request.operation == "model" else ""
        what = (
            "not to be performed again"
            if each.decision == "never"
            else f"to be performed again{extra}"
        )
        print(f"  in doubt: {name}, {what}", file=sys.stderr)
    for word in resumed.misfits:
        print(f"  {draw_hidden(word)} fits no request in doubt", file=sys.stderr)


def say_problem(problem: Refusal | Diagnostics | Fault, *, as_json: bool = False) -> int:
    """Print a problem; return the exit status."""
    settings = Settings(json=as_json)
    if isinstance(problem, Diagnostics):
        return say_all(problem.diagnostics, FAILED, settings)
    if isinstance(problem, Fault):
        return say_fault(problem, FAILED, settings)
    with suppress(OSError):
        say_all((make_diagnostic(problem),), FAILED, settings)
    return FAILED


def make_diagnostic(refusal: Refusal) -> Diagnostic:
    """Return a refusal as a diagnostic."""
    fields: Mapping[str, Any] = refusal.error.fields
    hint = None if fields["hint"] is None else str(fields["hint"])
    return Diagnostic(str(fields["reason"]), str(fields["message"]), hint=hint)
