"""A seed to a finding: laws that hold for every program, each as a function of a number.

A law gives None, or what it found: so the same laws judge the real machine and one with a bug
planted in it (`python -m support.laws LAW FIRST COUNT [SEED]`; that seed is looked at first).
"""

import gc
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from random import Random
from typing import Any

from attrs import evolve
from support.answering import answers_are_values, result_answers
from support.conversing import DEFINED, as_reply, said, told
from support.failing_calls import bound_before, located
from support.graphs import graphs
from support.lost import nothing_lost
from support.oracle import TooLong
from support.running import (
    Answer,
    Choose,
    Seen,
    answer,
    begun,
    built,
    comparable,
    delivered,
    end,
    first,
    in_order,
    limits,
    seen,
    smooth_answer,
)
from support.schedule import Meaning, meaning
from support.shapes import one_program
from support.spent import SPENT, counted
from support.stepping import one_count
from support.thawing import resealed

from sexplang.machine import Suspended, state_of
from sexplang.machine.scheduler.branches import Queued, Waiting
from sexplang.pipeline.pipeline import tasks
from sexplang.runtime import Refusal
from sexplang.runtime.journal.fold import fold
from sexplang.runtime.journal.rows import Row
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.values.boundary import plain
from sexplang.terms.values.value import Record
from sexplang.testing.program_writer import EVERYTHING, EVERYWHERE, Shape, program

Law = Callable[[int], str | None]
BROKE = "a Python exception,"

CONVERSING = Shape(allowed=EVERYTHING | {"tasks"})
PERMITS = Shape(allowed=EVERYTHING | {"permits"})
SMOOTH = Shape(
    allowed=EVERYTHING - {"calls", "aborts", "kept", "multi", "errors", "races", "budgets"}
)
SAYING = "(define (say x) (model x))\n"
"""What `say` is where a host answers a model with a number."""

ENTERED = Shape(allowed=EVERYTHING - {"kept", "multi", "finally", "par", "races"} | {"marked"})
BRANCHING = Shape(allowed=EVERYTHING - {"kept", "multi", "finally"} | {"marked"})


def schedule(seed: int) -> Choose:
    """What happens next: the first request is answered; any is; or any, or a deadline passes."""
    random = Random(seed)
    if seed % 4 == 1:
        return first
    if seed % 4 == 3:
        return answers(random)
    return lambda waits, requests: random.randrange(len(waits))


def answers(random: Random) -> Choose:
    """Any request is answered next; time stands still."""
    return lambda waits, requests: random.randrange(requests)


def meant(
    text: str,
    choose: Choose = first,
    cancel_after: int | None = None,
    places: int = 3,
    reply: Answer = answer,
    tells: bool = False,
) -> Seen:
    """What the oracle says, in terms that can be compared."""
    told: Meaning = meaning(text, reply, choose, cancel_after, places, tells)
    if told.error is not None:
        return Seen(None, comparable(told.error), told.trace, told.waits)
    return Seen(comparable(told.value), None, told.trace, told.waits)


def disagreement(
    text: str, choose: Callable[[], Choose] = lambda: first, places: int = 3
) -> str | None:
    """The machine means what the oracle means: value or error, requests and their order, and what
    is open meanwhile. `choose` makes the schedule anew for each of the two."""
    try:
        expected = meant(text, choose(), places=places)
    except TooLong:
        return None
    actual = seen(begun(text, limits(places)), choose=choose())
    if len(set(actual.ids)) < len(actual.ids):
        return f"an identity occurs twice: {actual.ids}\n{text}"
    if expected != actual:
        return f"{text}\noracle:  {expected}\nmachine: {actual}"
    return None


def agrees(seed: int) -> str | None:
    return disagreement(program(Random(seed)).text, lambda: schedule(seed))


def agrees_with_permits(seed: int) -> str | None:
    """The same where jobs wait for one, two or three permits."""
    text = program(Random(seed), PERMITS).text
    return disagreement(text, lambda: schedule(seed), 1 + seed % 3)


def working_for(seed: int) -> str | None:
    """The same where tasks are called, in the conversations of others and after they have failed:
    each request is made for whom the oracle says."""
    text = DEFINED + program(Random(seed), CONVERSING).text
    try:
        expected = meant(text, schedule(seed), reply=said, tells=True)
    except TooLong:
        return None
    actual = seen(begun(text, system=tasks()), as_reply, schedule(seed), told=told)
    if expected != actual:
        return f"{text}\noracle:  {expected}\nmachine: {actual}"
    return None


def spent(seed: int) -> str | None:
    """The same where programs spend wherever they can, under a budget around it all."""
    text = SAYING + program(Random(seed), SPENT).text
    head, _, last = text.rpartition("\n")
    bounded = f"{head}\n(with-budget {{calls: {Random(seed).randrange(9)}}} {last})"
    return disagreement(bounded, lambda: schedule(seed))


def sent(seed: int) -> str | None:
    """The calls that arrive at a loopback server are those that are allowed and reported."""
    from support.sent import sent  # loads what talks to servers

    return sent(seed)


def shared_out(seed: int) -> str | None:
    """Whenever a run waits, no more jobs work than there are permits; while somebody waits for a
    permit, none is free; and what is kept of the permits is what can be told from the branches."""
    most = 1 + seed % 3
    text = program(Random(seed), PERMITS).text
    found: list[str] = []

    def look(outcome: Suspended) -> Suspended:
        branches = state_of(outcome).scheduler.branches.values()
        asking = [each.s[3].jobs or () for each in branches if isinstance(each, Waiting)]
        there = {jobs[:n] for jobs in asking for n in range(1, len(jobs) + 1)}
        works = [jobs for jobs in there if not any(jobs == each[:-1] for each in there)]
        queues = any(isinstance(each, Queued) for each in branches)
        permits = state_of(outcome).scheduler.permits
        if len(works) > most or (queues and len(works) < most):
            found.append(f"{most} permits, and these work: {works}\n{text}")
        if {*permits.active} != there or permits.used != len(works):
            found.append(f"{permits}, and {asking} wait\n{text}")
        return outcome

    seen(begun(text, limits(most)), choose=schedule(seed), pause=look)
    return found[0] if found else None


def twice(seed: int, shape: Shape = EVERYWHERE) -> str | None:
    """Resuming a Suspended twice is two runs, also when they take turns."""
    text = program(Random(seed), shape).text
    whole = seen(begun(text))
    cut = Random(seed).randrange(len(whole.ids) + 1)
    outcome = begun(text)
    for _ in range(cut):
        outcome = next_of(outcome)
    if not isinstance(outcome, Suspended):
        return None
    left = right = outcome
    while isinstance(left, Suspended) or isinstance(right, Suspended):
        left, right = next_of(left), next_of(right)
    again = seen(outcome)
    runs = [end(left), end(right), (again.value, again.error), (whole.value, whole.error)]
    if any(run != runs[0] for run in runs) or again.trace != whole.trace[cut:]:
        return f"{text}\nafter {cut} answers: {runs}\n{again.trace}\n{whole.trace[cut:]}"
    if again.ids != whole.ids[cut:]:
        return f"{text}\nafter {cut} answers the identities differ: {again.ids} {whole.ids[cut:]}"
    return None


def next_of(outcome: Any) -> Any:
    if not isinstance(outcome, Suspended):
        return outcome
    request = in_order(outcome)[0]
    arguments = tuple(plain(argument) for argument in request.arguments)
    return delivered(outcome, request.id, answer(request.operation, arguments))


def any_order(seed: int) -> str | None:
    """Without failures the order of the replies changes neither value nor requests nor names."""
    text = program(Random(seed), SMOOTH).text
    once = seen(begun(text), smooth_answer)
    named = sorted(zip(once.ids, map(repr, once.trace), strict=True))
    for other in (seed * 2, seed * 2 + 100_000):
        run = seen(begun(text), smooth_answer, answers(Random(other)))
        if (run.value, run.error) != (once.value, once.error):
            return f"{text}\n{once}\n{run}"
        if sorted(zip(run.ids, map(repr, run.trace), strict=True)) != named:
            return f"{text}\nidentities: {named}\n{run.ids} {run.trace}"
    return None


def replayed(seed: int, shape: Shape = EVERYWHERE) -> str | None:
    """A run is a fold over its journal: replayed whole it ends the same, whatever its schedule
    was; killed anywhere and gone on with under another one, it is a run like any other."""
    text = program(Random(seed), shape).text
    start = begun(text)
    whole = seen(start, choose=schedule(seed))
    rows = journal(whole)
    cut = Random(seed).randrange(len(rows) + 1)
    try:
        other = seen(fold(start, rows[:cut]), choose=schedule(seed + 2))
        for run, kept in ((whole, rows), (other, [*rows[:cut], *journal(other)])):
            again = fold(start, kept)
            if isinstance(again, Suspended) or end(again) != (run.value, run.error):
                return f"{text}\n{kept}\n{run}\nreplayed: {again}"
    except Refusal as refusal:
        return f"{text}\n{rows}\n{refusal.error}"
    return None


def journal(run: Seen) -> list[Row]:
    """The rows that a run would have left."""
    rows = []
    for id, (operation, arguments) in zip(run.ids, run.trace, strict=True):
        reply = None if operation == "timer" else answer(operation, arguments)
        failed = isinstance(reply, Record)
        rows.append(Row(id, operation, arguments, reply, failed, 1, 0, 0))
    return rows


def cancelled(seed: int, more: frozenset[str] = frozenset()) -> str | None:
    """A run that is cancelled at a suspension leaves each try that it entered exactly once; one
    that is failing goes on with that."""
    shape = ENTERED if seed % 2 else BRANCHING
    text = program(Random(seed), evolve(shape, allowed=shape.allowed | more)).text
    whole = seen(begun(text))
    if not whole.ids:
        return None
    cut = Random(seed).randrange(len(whole.ids))
    outcome = begun(text)
    counts: Counter[Any] = Counter()
    for _ in range(cut):
        counts.update([_mark(in_order(outcome)[0])])
        outcome = next_of(outcome)
    failing = state_of(outcome).scheduler.failing is not None
    if not failing:
        cut_short = [each for each in outcome.requests if each.operation == "leave"]
        counts.update(map(_mark, cut_short))
    rest = seen(outcome.cancel())
    counts.update(_mark_of(operation, arguments) for operation, arguments in rest.trace)
    if rest.error is None or (rest.error[2] != "cancelled" and not failing):
        return f"{text}\ncancelled after {cut} answers, it ends with {rest}"
    for (operation, number), count in counts.items():
        if operation == "enter" and seed % 2 and counts[("leave", number)] != count:
            return f"{text}\ncancelled after {cut} answers: {counts} {rest.trace}"
    try:
        expected = meant(text, cancel_after=cut).trace
    except TooLong:
        return None
    if expected != whole.trace[:cut] + rest.trace:
        return f"{text}\ncancelled after {cut}: {expected}\n{whole.trace[:cut]} + {rest.trace}"
    return None


def _mark(request: Any) -> tuple[str, Any]:
    return _mark_of(request.operation, request.arguments)


def _mark_of(operation: str, arguments: tuple[Any, ...]) -> tuple[str, Any]:
    return operation, arguments[0] if arguments else None


def json_is_itself(seed: int) -> str | None:
    """A JSON document is a program that evaluates to what it denotes."""
    return json_differs(_document(Random(seed), 4), indent=(None, 1)[seed % 2])


def json_differs(document: Any, indent: int | None = None) -> str | None:
    text = json_text(document, indent)
    value = seen_plain(text)
    if json.dumps(value) != json.dumps(document):
        return f"{text} evaluates to {value!r}"
    return None


def json_text(document: Any, indent: int | None) -> str:
    """The document with its characters as they are, but for those that source may not hold."""
    text = json.dumps(document, indent=indent, ensure_ascii=indent is None)
    return "".join(
        char if char.isprintable() or char in " \n" else json.dumps(char)[1:-1] for char in text
    )


def seen_plain(text: str) -> Any:
    return plain(begun(text).value)


def _document(random: Random, depth: int) -> Any:
    kind = random.randrange(8 if depth else 6)
    if kind == 6:
        return [_document(random, depth - 1) for _ in range(random.randrange(4))]
    if kind == 7:
        count = random.randrange(4)
        return {_text(random): _document(random, depth - 1) for _ in range(count)}
    leaves = (None, True, False, random.randrange(-99, 99), random.random() * 1e6, _text(random))
    return leaves[kind]


def _text(random: Random) -> str:
    return "".join(random.choice('ab"\\/\n\t{}:,é\u2028😀 ') for _ in range(random.randrange(6)))


def any_text(seed: int) -> str | None:
    """Any text is a program or has diagnostics: there is no other exception."""
    return breaks(_mutated(Random(seed)))


def breaks(text: str) -> str | None:
    try:
        built(text)
    except Diagnostics as refused:
        return None if refused.diagnostics else f"{text!r}: no diagnostic"
    except Exception as broken:
        return f"{text!r}: {broken!r}"
    return None


PIECES = [*"()[]{}'`~@\";#|,:.\\ \n-0x", '"""', "#|", "|#", "#;", "~@", "(let ((", "(define (f ",
          "recur", "(loop ", "resume", "(handle ", "(try ", "(catch (", "\ud7ff", "\u202e", "1e",
          "nil", "x:", "{a: ", "(bind x", "(import ", "(define-effect (", "(return "]  # fmt: skip


def _mutated(random: Random) -> str:
    if random.random() < 0.3:
        return "".join(random.choice(PIECES) for _ in range(random.randrange(30)))
    text = program(random, Shape(size=random.choice((5, 15)))).text
    for _ in range(random.randrange(1, 4)):
        at = random.randrange(len(text) + 1)
        to = min(len(text), at + random.choice((0, 1, 1, 5, 40)))
        text = text[:at] + random.choice(["", random.choice(PIECES), text[at:to] * 2]) + text[to:]
    return text


LAWS: dict[str, Law] = {
    "agrees": agrees,
    "agrees_with_permits": agrees_with_permits,
    "working_for": working_for,
    "spent": spent,
    "counted": counted,
    "sent": sent,
    "shared_out": shared_out,
    "twice_with_permits": partial(twice, shape=PERMITS),
    "replayed_with_permits": partial(replayed, shape=PERMITS),
    "cancelled_with_permits": partial(cancelled, more=frozenset({"permits"})),
    "twice": twice,
    "any_order": any_order,
    "replayed": replayed,
    "cancelled": cancelled,
    "graphs": graphs,
    "result_answers": result_answers,
    "answers_are_values": answers_are_values,
    "shapes": one_program,
    "steps": one_count,
    "located": located,
    "bound_before": bound_before,
    "nothing_lost": nothing_lost,
    "json_is_itself": json_is_itself,
    "any_text": any_text,
    "resealed": resealed,
}


def first_finding(law: Law, seeds: Iterable[int]) -> str | None:
    """The first seed under which the law does not hold, and what it found. An exception out of
    the machine is a finding too: whatever is planted may end so."""
    for seed in seeds:
        try:
            found = law(seed)
        except Exception as broken:
            found = f"{BROKE} {type(broken).__name__}: {broken}"
        if found is not None:
            return f"seed {seed}: {found}"
    return None


if __name__ == "__main__":
    gc.set_threshold(100_000, 20, 20)  # as the command has it
    start, count, *known = map(int, sys.argv[2:])
    finding = first_finding(LAWS[sys.argv[1]], [*known, *range(start, start + count)])
    print(finding or "")
    sys.exit(finding is not None)
