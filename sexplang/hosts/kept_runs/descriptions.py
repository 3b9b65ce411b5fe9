"""The words about a run that waits."""

import time
from contextlib import suppress
from shlex import join

from sexplang.hosts.terminal.show import draw_hidden
from sexplang.runtime.journal.questions import Question, list_questions
from sexplang.runtime.journal.run_store import INTERRUPTED, RUNNING, WAITING, RunStore, StoredRun


def describe_waiting(store: RunStore, run: StoredRun, asked: list[Question]) -> list[str]:
    """Return the lines that say what a run waits for, and what to type."""
    lines = [f"run {run.id} waits for " + ("an answer:" if len(asked) == 1 else "answers:")]
    if not asked and run.due is None:  # the answers came while it went on
        return [
            f"run {run.id} has its answers; go on with: {draw_hidden(store.explain_command(run))}"
        ]
    if not asked:
        lines = [f"run {run.id} waits until {describe_time(run.due)}"]
    lines += describe_questions(asked)
    if asked:
        lines.append(describe_answer(store, run, asked))
        if run.due is not None:
            lines.append(f"without an answer it goes on at {describe_time(run.due)}")
    if run.due is not None:
        lines.append(
            "sexplang worker goes on with it then, and so does: sexplang runs resume --due"
        )
    return lines


def describe_questions(asked: list[Question]) -> list[str]:
    """Return a line for each question: its request, its words and choices."""
    lines = []
    for each in asked:
        choices = f"  ({', '.join(each.choices)})" if each.choices else ""
        lines.append(f"  {each.request}  {draw_hidden(each.words + choices)}")
    return lines


def describe_answer(store: RunStore, run: StoredRun, asked: list[Question]) -> str:
    """Return the line that says how to answer."""
    more = ["--request", asked[0].request] if len(asked) > 1 else []
    words = ["sexplang", "runs", "answer", run.id, "VALUE", *more, *store.name_store()]
    return f"answer with: {draw_hidden(join(words))}"


def describe_state(store: RunStore, run: StoredRun) -> str:
    """Return the state of a run as lists show it: what a waiting one waits for."""
    if run.state == RUNNING and not store.is_alive(run):
        return INTERRUPTED
    if run.state != WAITING:
        return run.state
    asked = list_questions(store, run)
    open = sum(each.is_open for each in asked)
    is_due = run.due is not None and run.due <= time.time()
    if is_due or any(each.is_answered for each in asked):
        return "ready" if not open else f"ready, {open} open"
    if open:
        return "waits for 1 answer" if open == 1 else f"waits for {open} answers"
    return f"waits until {describe_time(run.due)[5:16]}"


def describe_time(at: float | None) -> str:
    """Return a time of the wall clock, of this place; `?` for one that no calendar has."""
    if at is not None:
        with suppress(OverflowError, ValueError, OSError):
            return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
    return "?"
