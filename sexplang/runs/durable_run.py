"""Runs that are kept in a store, and runs that go on after their process has ended."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from time import time
from typing import TYPE_CHECKING, Any

from sexplang.guards.secrets import KNOWN, redact, redact_text, silence
from sexplang.machine import Failed, Limits, Outcome, Suspended, advance, state_of
from sexplang.runs import assembly
from sexplang.runtime.driver.requests import Performer
from sexplang.runtime.driver.waits import Paused, continue_waits
from sexplang.runtime.fleet.leaves import KeptLeaf, find_kept, mark_delivered
from sexplang.runtime.journal.checksum_chain import KEY as CHECKSUM
from sexplang.runtime.journal.checksum_chain import add_checksum, read_checksum
from sexplang.runtime.journal.doubts import (
    INSIDE,
    Decision,
    Doubt,
    LaterDoubts,
    find_doubts,
    find_misfits,
    make_doubt_error,
)
from sexplang.runtime.journal.fold import find_failure, find_slice, fold
from sexplang.runtime.journal.questions import Question, list_questions, make_answer_finder
from sexplang.runtime.journal.redaction import clean
from sexplang.runtime.journal.rows import CANCEL, LONE, make_cancellation_row
from sexplang.runtime.journal.run_store import (
    CANCELLED,
    DONE,
    FAILED,
    INTERRUPTED,
    REPLACED,
    RUNNING,
    UNKEPT,
    WAITING,
    RunStore,
    StoredRun,
    check_not_ended,
    open_store,
    refuse_busy,
)
from sexplang.runtime.journal.stored_journal import StoredJournal, StoredRows, read_rows
from sexplang.runtime.models import is_scripted
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.classes.node import evolve, field, frozen
from sexplang.terms.effect import Request
from sexplang.terms.json.tagged import dump, load
from sexplang.terms.model.roles import Models
from sexplang.terms.program import Program
from sexplang.terms.run_terms import RateBook, Terms, find_version, read_terms
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.boundary import plain
from sexplang.terms.values.text import to_source
from sexplang.terms.values.value import Fault

if TYPE_CHECKING:
    from sexplang.runtime.fleet.carried_requests import CarriedRequests

DAYS = 30
BYTES = 1_000_000_000
"""How long, and how much of it, a store keeps of finished runs."""


@frozen
class Keeping:
    """How a run is kept. `command` is what a host needs to go on with it."""

    path: str
    run_id: str
    project: str
    name: str
    command: Mapping[str, Any] = field(factory=dict)
    replaces: str | None = None
    """The id of the run whose changed program this one runs. The caller has locked it."""
    takes_program: bool = False
    """Whether it runs the program that the store has of that run."""
    on_opened: Callable[[RunStore, StoredRun], None] | None = None
    """Told the store and the new run when it is there."""
    on_failure: Callable[[Refusal], None] | None = None
    """Told a failure of the store, after which the run goes on without it. Without it, the failure
    ends the run."""
    days: float = DAYS
    bytes: int = BYTES


def keep_run(keeping: Keeping) -> StoredJournal:
    """Return the storage of a new run. The store is opened at its first commit."""

    def open_run(terms: Terms | None) -> tuple[RunStore, StoredRun]:
        assert terms is not None
        store = open_store(keeping.path)
        try:
            header = make_header(terms, keeping.run_id)
            command = json.dumps(redact(dict(keeping.command)))
            with store.explain(), store.transaction():
                given = keeping.run_id, keeping.project, keeping.name, command, header
                if keeping.replaces is None:
                    run = store.add_run(*given)
                else:
                    before = store.find(keeping.replaces)
                    program = before.program if keeping.takes_program else None
                    run = store.add_run(*given, program=program, priority=before.priority)
                    store.replace_run(before, run)
            try:
                prune(store, keeping.days, keeping.bytes)
            except Refusal:
                if keeping.on_failure is not None:
                    store.mark_unkept(run)
                raise
        except BaseException:
            store.close()
            raise
        if keeping.on_opened is not None:
            keeping.on_opened(store, run)
        return store, run

    return StoredJournal(open_run, freeze_outcome, keeping.on_failure)


def make_header(terms: Terms, run_id: str) -> str:
    """Return the header of a run's journal."""
    marks = {"run": run_id, "format": FORMAT, "version": terms.version}
    told = dump(redact(terms.plain()) | marks)
    return add_checksum(told.encode("utf-8", LONE), b"")[0].decode()


def check_format(run: StoredRun) -> None:
    """Raise a Refusal `newer-run` for a run of a version whose journals this one cannot read."""
    with suppress(ValueError):  # who reads the header tells it
        header = load(run.header)
        if isinstance(header, dict) and header.get("format", 1) > FORMAT:
            newer = header.get("version") or "a newer one"
            raise refuse(
                "newer-run",
                f"the run {run.id} was begun by another version of sexplang, {newer}, and this "
                f"one, {find_version() or 'not installed'}, cannot read it",
                hint="go on with it where that version is installed, or update this one",
            )


FORMAT = 1
"""The form of headers and rows. A version that reads an older form less well has another one."""


def prune(store: RunStore, days: float = DAYS, most: int = BYTES) -> int:
    """Remove runs that are too old, then the oldest finished ones until the store is small enough.
    Return how many were removed."""
    until = store.db.now() - days * 86_400
    old = [run for run in store.find_old(until) if not store.is_alive(run)]
    if old:
        store.remove(old)
    removed = len(old)
    if store.size() > most:
        finished = [run for run in store.runs() if run.state == DONE]
        while finished and store.size() > most:
            store.remove([finished.pop()])
            removed += 1
    return removed


def freeze_outcome(outcome: Outcome) -> dict[str, Any]:
    """Return a suspended run as data without credentials. Raises Fault."""
    from sexplang.machine import frozen_runs

    assert isinstance(outcome, Suspended)
    return frozen_runs.freeze(outcome, redact_text if KNOWN.secrets else str, None)


@frozen(eq=False)
class ResumedRun:
    """A run that goes on: its outcome after the journal, and the storage that continues it."""

    run: StoredRun
    terms: Terms
    outcome: Outcome
    storage: StoredJournal
    clock: float
    served: int
    """The number of replies that come from the journal."""
    doubts: tuple[Doubt, ...]
    _begun: Mapping[str, tuple[float, float, int]]
    _questions: tuple[Question, ...]
    _later: LaterDoubts
    _read_rows: Callable[[], StoredRows]
    misfits: tuple[str, ...] = ()
    """A person's words that fit no doubt."""
    leaves: Mapping[str, KeptLeaf] = field(factory=dict)
    """Requests that other processes perform or have performed, by id."""
    is_cancelled: bool = False

    def cancel(self) -> "ResumedRun":
        """Return the run as it ends: its `finally` bodies are left."""
        assert isinstance(self.outcome, Suspended)
        self.storage.append(make_cancellation_row())
        return evolve(self, outcome=self.outcome.cancel(), is_cancelled=True)

    def advance_scripts(self, perform: Performer, models: Models) -> None:
        """Let scripted models give away the replies that the journal has. `perform` performs
        `model`."""
        if not any(name.startswith("scripted:") for name in models.models()):
            return
        for row in self._read_rows().rows:
            is_served = row.failed or (row.model or "").startswith("scripted:")
            if row.operation == "model" and is_served and is_scripted(row.arguments[0], models):
                with suppress(Refusal):  # the script may have an error, or no more replies
                    perform(Request(row.id, row.operation, (plain(row.arguments[0]),)))

    def perform_with(
        self, performers: Mapping[str, Performer], carrier: "CarriedRequests | None" = None
    ) -> dict[str, Performer]:
        """Return performers for the rest of the run: deadlines and sleeps go on, a request in doubt
        that is not to be repeated fails, and one that another process performs is waited for."""
        table, never = dict(performers), self._later.never
        never |= {each.request.id for each in self.doubts if each.decision == "never"}
        find_answer = make_answer_finder(self._questions)
        for operation in {each.operation for each in self._questions}:
            performer = table.get(operation)
            if isinstance(performer, Paused):
                performer.find_answer = find_answer
            elif performer is not None:
                table[operation] = _answer_first(performer, find_answer)
        doubtful = {each.request.operation for each in self.doubts}
        for operation in table if self._later.made else doubtful:
            performer = table.get(operation)
            is_other = operation in INSIDE or isinstance(performer, Paused)
            if performer is not None and not is_other:
                table[operation] = _refuse_doubts(table[operation], never)
        now = self.storage.opened[0].db.now
        timers = {id: self.clock - clock for id, (clock, _, _) in self._begun.items()}
        sleeps = {id: max(0.0, now() - at) for id, (_, at, _) in self._begun.items()}
        continue_waits(table, timers, sleeps, now)
        return self._carry(table, carrier)

    def _carry(
        self, table: dict[str, Performer], carrier: "CarriedRequests | None"
    ) -> dict[str, Performer]:
        if carrier is None and self.leaves:
            from sexplang.runtime.fleet.carried_requests import keep_up

            carrier = keep_up(self.storage.opened[0], self.run, self._later.declared)
        if carrier is None:
            return table
        self.storage.carrier = carrier
        carrier.failures = self.storage.failures
        if self.leaves:
            store, _ = self.storage.opened
            with store.explain(), store.transaction():
                carrier.begin(self.run, self.leaves)
        return carrier.wrap(table)


def _answer_first(perform: Performer, find_answer: Callable[[Request], Any]) -> Performer:
    def answer_or_perform(request: Request) -> Any:
        answered = find_answer(request)
        return perform(request) if answered is None else answered.answer

    return answer_or_perform


def _refuse_doubts(perform: Performer, never: set[str]) -> Performer:
    def perform_or_fail(request: Request) -> Any:
        if request.id in never:
            never.discard(request.id)
            raise make_doubt_error(request)
        return perform(request)

    return perform_or_fail


def resume_run(
    store: RunStore,
    run: StoredRun,
    program: Program,
    *,
    replay: Mapping[str, Decision] | None = None,
    declared: Mapping[str, Decision] | None = None,
    held: Callable[[], int] | None = None,
    has_tasks: bool = True,
    on_failure: Callable[[Refusal], None] | None = None,
    use_snapshot: bool = True,
    carries: bool = False,
) -> ResumedRun:
    """Return a run of a store as it stood when its process ended. It is locked until the store is
    closed.

    `replay` are a person's decisions on requests in doubt, `declared` those of tools and
    operations. With `carries` other processes look after the requests that were left to them.
    Raises a Refusal: `run-ended`, `not-kept`, `run-busy`, `program-changed`,
    `in-doubt`, `bad-store`, `journal-mismatch`.
    """
    if not store.lock(run.id):
        raise refuse_busy(run.id)
    run = store.find(run.id)
    check_not_ended(run, (DONE, CANCELLED, REPLACED))
    check_format(run)
    if run.state == UNKEPT:
        raise refuse(
            "not-kept",
            f"the run {run.id} went on without being kept, and what it did then is not known",
            hint=f"sexplang runs fork {run.id} --at N begins another run from its reply N",
        )
    terms, is_same = read_terms_of(run, program)
    use_snapshot = use_snapshot and is_same
    rates: list[dict[str, Any]] = []
    book = RateBook(note=rates.append)
    try:
        found, outcome, kept = _restore(
            store, run, program, terms, held, has_tasks, use_snapshot, book
        )
    except Refusal as refusal:
        if refusal.error.fields["reason"] != "journal-mismatch":
            raise
        raise refuse_changed(store, run, refusal, is_same) from None
    asked = tuple(list_questions(store, run))
    open = [each for each in asked if not each.is_over] if run.state == WAITING else []
    outcome = _compute_begun(outcome, found, {each.request for each in open})
    if not is_same:
        check_questions(store, run, open, outcome)
    requests = outcome.requests if isinstance(outcome, Suspended) else ()
    kept_leaves = find_kept(store.db, run)
    leaves = {
        each.id: kept_leaves[each.id]
        for each in requests
        if each.id in kept_leaves
        and kept_leaves[each.id].fits(each, found.failures.get(each.id, 0) + 1)
        and (carries or not kept_leaves[each.id].is_in_doubt)
    }
    uncertain = [each for each in requests if each.id not in leaves]
    doubts = find_doubts(uncertain, found.open, replay or {}, declared or {})
    undecided = [each for each in doubts if each.decision == "ask"]
    asked_for = () if found.cut_off else replay or {}  # a word may be of a doubt that comes later
    misfits = find_misfits([each.request for each in doubts], asked_for)
    if undecided:
        raise refuse_doubts(store, run, undecided, misfits, is_same)
    boot = found.boots + 1

    def open_run(_: Terms | None) -> tuple[RunStore, StoredRun]:
        return store, run

    storage = StoredJournal(open_run, freeze_outcome, on_failure, found.seq, found.before, boot)
    storage.replies, storage.tokens = found.replies, found.tokens
    storage.usage = {model: list(counts) for model, counts in found.usage.items()}
    storage.open, storage.rates = dict(found.open), dict(found.rates)
    storage.failures = dict(found.failures)
    storage.pauses = {id: pause for id, pause in found.pauses.items() if id in found.open}
    book.note = storage.note
    for each in rates:  # looked up, but not kept by the process that ended
        storage.note(each)
    later = LaterDoubts(found.cut_off, replay or {}, declared or {}, set())
    storage.find_doubt = later.find if later.made else None
    told = [doubt.plain() for doubt in doubts]
    storage.resume({"resumes": boot, "rows": kept, "at": time(), "doubts": told})
    # A cut without the new state, or the reverse, would be another run.
    with store.explain(), store.transaction():
        storage.commit()
        mark_delivered(store.db, run, [id for id in kept_leaves if id not in leaves])
        if kept is not None:
            store.db.execute("delete from snapshots where run = ?", (run.n,))
        store.db.execute(
            "update runs set state = ?, boots = ?, ended = null, error = null, due = null, "
            "held = null, is_stuck = 0, wish = case when wish = 'cancel' then wish end where n = ?",
            (RUNNING, boot + 1, run.n),
        )

    def read_again() -> StoredRows:
        return read_rows(store, run, whole=True)

    given = outcome, storage, found.clock, found.replies, doubts, found.open
    return ResumedRun(run, terms, *given, asked, later, read_again, misfits, leaves)


def _compute_begun(outcome: Outcome, found: StoredRows, asked: set[str]) -> Outcome:
    """Compute until the requests that had begun or were `asked` are made again: only then their
    doubts are known. The process that ended had computed so far."""
    slice = find_slice(found.rows, is_last=True)
    for _ in range(_MAX_SLICES):
        if not isinstance(outcome, Suspended) or state_of(outcome).pause is None:
            break
        if found.open.keys() | asked <= {each.id for each in outcome.requests}:
            break
        outcome = advance(outcome, slice)
    return outcome


_MAX_SLICES = 100_000
"""Bound of the slices after which a request that had begun is looked for no longer."""


def check_questions(
    store: RunStore, run: StoredRun, asked: list[Question], outcome: Outcome
) -> None:
    """Raise a Refusal `journal-mismatch` for a changed program that performs something else where
    the run waits for an answer. Where there is no answer yet, the same operation with other
    arguments is another question."""
    made = {each.id: each for each in outcome.requests} if isinstance(outcome, Suspended) else {}
    for each in asked:
        now = made.get(each.request)
        fits = now is not None and now.operation == each.operation
        if each.answered is not None:
            fits = now is not None and each.is_asked_by(now)
        if not fits:
            got = "nothing" if now is None else _describe(now)
            was = _describe(Request(each.request, each.operation, each.arguments))
            raise refuse_changed(
                store,
                run,
                refuse(
                    "journal-mismatch",
                    f"the run waits for an answer to request {each.request}",
                    expected=was,
                    got=got,
                ),
            )


def refuse_doubts(
    store: RunStore,
    run: StoredRun,
    undecided: list[Doubt],
    misfits: tuple[str, ...] = (),
    is_same: bool = True,
) -> Refusal:
    """Return the refusal of a resumption that a person has to decide. `is_same`: the program has
    not changed."""
    shown = "; ".join([_describe(each.request) for each in undecided[:_NAMED]])
    more = f"; and {len(undecided) - _NAMED} more" if len(undecided) > _NAMED else ""
    ids = [each.request.id for each in undecided]
    first = ids[0]
    again, never = (describe_decision(word, ids) for word in ("--again", "--never"))
    if run.has_command:
        again = f"{store.resume_command(run)} {again}"
    else:
        again, never = f'replay={{"{first}": "safe"}}', f'replay={{"{first}": "never"}}'
    what = "this was under way, and it may have been done"
    if not is_same:
        what = (
            "a request was under way here, and it may have been done; the changed program now "
            "makes another one"
        )
    unfit = "".join([f"; `{word}` fits no request in doubt" for word in misfits])
    return refuse(
        "in-doubt",
        f"the run {run.id} ended while {what}: {shown}{more}{unfit}",
        hint=f"check whether it was done. To do it again: {again}; to let it fail: {never}; "
        "'*' means all of them",
        requests=tuple(ids),
    )


def describe_decision(word: str, ids: Sequence[str]) -> str:
    """Return the options that decide on requests: `--again 1 --again 3`."""
    return " ".join([f"{word} {id}" for id in ids[:_TYPED]])


_TYPED = 4
"""The number of requests that a hint names."""

_NAMED = 20
"""The number of requests in doubt that a message names."""


def _describe(request: Request) -> str:
    given = " ".join([abbreviate(each) for each in request.arguments])
    return redact_text(f"{request.operation} ({request.id}) {given}".rstrip())


def _restore(
    store: RunStore,
    run: StoredRun,
    program: Program,
    terms: Terms,
    held: Callable[[], int] | None,
    has_tasks: bool,
    use_snapshot: bool,
    book: RateBook,
) -> tuple[StoredRows, Outcome, int | None]:
    """Return what the journal says, the outcome after it, and the number of rows to keep if the run
    goes on from before its end."""
    is_over = run.state == FAILED
    if use_snapshot and not is_over:
        found = read_rows(store, run)
        is_cancelled = any(row.operation == CANCEL for row in found.rows)
        if found.snapshot is not None and not is_cancelled:
            # A snapshot is a cache: one that fails in any way is dropped.
            with suppress(Fault, Refusal, Failed):
                book.known = found.rates
                thawed = assembly.thaw(
                    program, terms, found.snapshot, key=None, conceal=silence, book=book
                )
                if not _is_cancelled(thawed):
                    return found, fold(thawed, found.rows, goes_on=True), None
    found = read_rows(store, run, whole=True)
    book.known = found.rates

    def start() -> Outcome:
        slice = find_slice(found.rows, is_last=not found.rows)
        return assembly.begin(
            program, terms, has_tasks=has_tasks, held=held, conceal=silence, slice=slice, book=book
        )

    if is_over or any(row.operation == CANCEL for row in found.rows):
        kept = find_failure(start(), found.rows)
        if kept is not None:
            found.cut(kept)
            return found, fold(start(), found.rows, goes_on=True), kept
    return found, fold(start(), found.rows, goes_on=True), None


def _is_cancelled(outcome: Outcome) -> bool:
    """Whether a run ends because of a cancellation."""
    failing = state_of(outcome).scheduler.failing if isinstance(outcome, Suspended) else None
    return failing is not None and failing.fields["reason"] == "cancelled"


def refuse_changed(
    store: RunStore, run: StoredRun, refusal: Refusal, is_same: bool = False
) -> Refusal:
    """Return the refusal of a program that asks otherwise than the run did. `is_same` says that it
    is the one that began, and another one went on."""
    told = refusal.error.fields["details"]
    details = dict(told) if isinstance(told, dict) else {}
    both, changed = "", "is not the one that went on with it" if is_same else "has changed"
    if "got" in details:
        was, now = _show_difference(str(details["expected"]), str(details["got"]))
        both = f"; it asked {was}, and asks {now}"
    return refuse(
        "journal-mismatch",
        f"the program of run {run.id} {changed}: {refusal.error.fields['message']}{both}",
        hint=f"{store.resume_command(run)} --accept-changes runs the changed program with all "
        "replies that still fit, and says first what it would perform",
        **details,
    )


def _show_difference(one: str, other: str) -> tuple[str, str]:
    """Return the parts of two texts around the place where they begin to differ."""
    same = [a == b for a, b in zip(one, other, strict=False)]
    at = same.index(False) if False in same else len(same)
    first, last = max(0, at - 30), at + 50
    before = "…" if first else ""
    shown = [
        f"`{before}{each[first:last]}{'…' if len(each) > last else ''}`" for each in (one, other)
    ]
    return shown[0], shown[1]


def read_header(run: StoredRun, program: Program) -> Terms:
    """Return the terms of a stored run. Raises a Refusal `program-changed` or `bad-store`."""
    terms, is_same = read_terms_of(run, program)
    if not is_same:
        raise refuse(
            "program-changed",
            f"the program of run {run.id} has changed since it began",
            hint="put its files back as they were, or run the program anew",
        )
    return terms


def read_terms_of(run: StoredRun, program: Program) -> tuple[Terms, bool]:
    """Return the terms of a stored run with this program, and whether it is the one that began.
    Raises a Refusal `bad-store`."""
    try:
        header = load(run.header)
        if CHECKSUM in header and read_checksum(run.header.encode(), b"") is None:
            raise ValueError(run.header)
        Limits(**header["limits"])
        terms, known = read_terms(header, _sources_of(program)), header["program"]
    except (ValueError, TypeError, KeyError) as wrong:
        raise refuse(
            "bad-store",
            f"the header of run {run.id} cannot be read",
            hint="run the program again; sexplang runs list shows other runs",
        ) from wrong
    return terms, known == terms.program


def _sources_of(program: Program) -> tuple[tuple[str, str], ...]:
    return tuple([(program.relative_name(each), each.text) for each in program.sources])


def end_run(storage: StoredJournal, outcome: Outcome | None) -> None:
    """Say in the store how a run has ended; None is an interruption."""
    if isinstance(outcome, Suspended):  # it is parked, and the store knows
        storage.has_ended = True
    elif isinstance(outcome, Failed):
        is_cancelled = outcome.error.fields["reason"] == "cancelled"
        storage.end(CANCELLED if is_cancelled else FAILED, clean(str(outcome)))
    elif outcome is None:
        storage.end(INTERRUPTED)
    else:
        storage.end(DONE, value=clean(to_source(redact(outcome.value))))
