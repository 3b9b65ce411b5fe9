"""A recording made of a kept run: rows, and the tree of work that a fold over them finds."""

from sexplang.guards.secrets import silence
from sexplang.machine import Done, Failed, Outcome, Suspended, advance, state_of
from sexplang.runs import assembly
from sexplang.runs.durable_run import read_header
from sexplang.runtime.fleet.leaves import list_late_doubts
from sexplang.runtime.journal.fold import find_slice, fold_steps
from sexplang.runtime.journal.json_lines import record_to
from sexplang.runtime.journal.rows import CUT
from sexplang.runtime.journal.run_store import DONE, FAILED, RunStore, StoredRun
from sexplang.runtime.journal.stored_journal import NO_REPLIES, read_rows
from sexplang.runtime.traces.recording_sink import RecordingSink
from sexplang.runtime.traces.tree import Trace
from sexplang.terms.classes.node import define
from sexplang.terms.program import Program
from sexplang.terms.run_terms import RateBook


@define(eq=False)
class _Times:
    """The time of the recorded event that is told now, in seconds since the epoch."""

    at: float

    def __call__(self) -> float:
        return self.at


def export_run(
    store: RunStore, run: StoredRun, program: Program, to: str, *, has_tasks: bool
) -> None:
    """Write a kept run to a new file as `--record` writes one. Nothing is performed. Raises Refusal
    if the program is another one or the journal is damaged."""
    terms = read_header(run, program)
    found = read_rows(store, run, whole=True)
    rows = found.rows
    slice = find_slice(rows)
    book = RateBook(found.rates)
    outcome = assembly.begin(
        program, terms, has_tasks=has_tasks, traced=True, conceal=silence, slice=slice, book=book
    )
    journal, times = record_to(to, run.id), _Times(run.began)
    before = outcome

    def go_on(after: Outcome) -> None:
        nonlocal before
        trace.advance(after)
        before = after

    try:
        trace = Trace(RecordingSink(journal, run.name, terms.models), run.began, times)
        journal.begin(terms)
        doubts = [*found.doubts, *list_late_doubts(store.db, run)]
        if doubts:
            journal.note({"doubts": doubts})
        go_on(outcome)
        for at, after in fold_steps(outcome, rows, slice, slice, go_on):
            row = rows[at]
            waiting = before.requests if isinstance(before, Suspended) else ()
            request = next((each for each in waiting if each.id == row.id), None)
            if request is not None:
                times.at = row.started
                trace.start_request(request)
            times.at = row.ended
            journal.append(row)
            if row.operation not in NO_REPLIES:
                trace.finish_request(row)
            cut = {}
            for each in rows[at + 1 :]:
                if each.operation != CUT:
                    break
                cut[each.id] = each
                journal.append(each)
            trace.advance(after, cut)
            before = after
        is_over = run.state in (DONE, FAILED)
        while isinstance(before, Suspended) and state_of(before).pause is not None:
            if not is_over and found.open.keys() <= {each.id for each in before.requests}:
                break
            go_on(advance(before, slice))
        if isinstance(before, Suspended):
            for request in before.requests:
                if request.id in found.open:
                    times.at = found.open[request.id][1]
                    trace.start_request(request)
        elif isinstance(before, (Done, Failed)):
            trace.finish(before.error if isinstance(before, Failed) else None)
    finally:
        journal.close()
