"""The words about a run that waits."""

import time
from contextlib import suppress

from sexplang.hosts.terminal.show import draw_hidden
from sexplang.runtime.journal.questions import Question
from sexplang.runtime.journal.run_store import RunStore, StoredRun


def describe_waiting(store: RunStore, run: StoredRun, asked: list[Question]) -> list[str]:
    """Return the lines that say what a run waits for, and what to type."""
    lines = [f"run {run.id} waits for " + ("an answer:" if len(asked) == 1 else "answers:")]
    if not asked and run.due is None:  # the answers came while it went on
        return [
            f"run {run.id} has its answers; go on with: {draw_hidden(store.resume_command(run))}"
        ]
    if not asked:
        lines = [f"run {run.id} waits until {describe_time(run.due)}"]
    for each in asked:
        choices = f"  ({', '.join(each.choices)})" if each.choices else ""
        lines.append(f"  {each.request}  {draw_hidden(each.words + choices)}")
    more = f" --request {asked[0].request}" if len(asked) > 1 else ""
    if asked:
        lines.append(f"answer with: sexplang runs answer {run.id} VALUE{more}")
        if run.due is not None:
            lines.append(f"without an answer it goes on at {describe_time(run.due)}")
    if run.due is not None:
        lines.append(
            "sexplang worker goes on with it then, and so does: sexplang runs resume --due"
        )
    return lines


def describe_time(at: float | None) -> str:
    """Return a time of the wall clock, of this place; `?` for one that no calendar has."""
    if at is not None:
        with suppress(OverflowError, ValueError, OSError):
            return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
    return "?"
