"""The recording, the traces and the progress of a run, from `--record`, `--trace` and the
environment."""

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from sexplang.hosts.settings.run_arguments import Settings
from sexplang.hosts.terminal.show import draw_hidden
from sexplang.package.zone_use import ZONE_USE
from sexplang.terms.source import Source

if TYPE_CHECKING:
    from sexplang.hosts.terminal.progress import Progress
    from sexplang.runtime import Journal
    from sexplang.runtime.traces.sink import Sink
    from sexplang.runtime.traces.tree import Trace


def follow_run(
    settings: Settings, source: Source, unwritten: Callable[[str], None]
) -> "tuple[Journal, Progress, Trace | None]":
    """Return the recording of a new run, its progress and its trace, which feeds both.

    `unwritten` receives messages about traces that their file could not take. Raises Refusal.
    """
    from sexplang.hosts.terminal.progress import make_progress
    from sexplang.runtime.journal.json_lines import record_to
    from sexplang.runtime.models import with_default
    from sexplang.runtime.traces import TraceSettings, start_trace
    from sexplang.runtime.traces.recording_sink import RecordingSink

    journal = record_to(settings.record or None, settings.run_id)
    progress = make_progress(settings)
    ZONE_USE.set(journal.zones)
    name, models = _name(source), with_default(settings.models)
    beside: list[Sink] = []
    if settings.record:
        beside.append(RecordingSink(journal, name, models))
    if progress.live:
        beside.append(progress.work_tree)
    tracing = TraceSettings(
        settings.trace,
        name,
        journal.run_id,
        models=models,
        parent=os.environ.get("TRACEPARENT"),
        warn=_warning(settings),
        unwritten=unwritten,
    )
    return journal, progress, start_trace(tracing, *beside)


def _name(source: Source) -> str:
    """Return the name of a run: its file, without folders."""
    return os.path.basename(source.name).strip("<>")


def _warning(settings: Settings) -> Callable[[str], None]:
    def warn(words: str) -> None:
        if not settings.quiet:
            print(f"warning: {draw_hidden(words)}", file=sys.stderr)

    return warn


def mark_line(text: str, trace: "Trace | None") -> str:
    """Return a line of a log with the ids of its trace and span."""
    if trace is None:
        return text
    return " ".join([text, *[f"{name}={id}" for name, id in trace.ids.items()]])
