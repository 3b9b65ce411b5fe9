"""The progress of a run on stderr: live lines of the work under way, and a summary at the end.

On a terminal rich redraws the lines in place, at most once in `TICK` seconds. Elsewhere only the
summary is written; with `--quiet` nothing is.
"""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

from sexplang.hosts.settings.run_arguments import Settings
from sexplang.hosts.terminal.show import draw_hidden
from sexplang.hosts.terminal.usage_totals import UsageTotals
from sexplang.hosts.terminal.work_tree import Line, State, WorkTree, flat
from sexplang.runtime.driver.events import (
    Event,
    Finished,
    Progressed,
    Queued,
    Retrying,
    Said,
    Started,
    Withdrawn,
)
from sexplang.runtime.journal.redaction import clean
from sexplang.terms.classes.node import define, field
from sexplang.terms.host.host_operations import SHOWN, find_operations

if TYPE_CHECKING:
    from rich.text import Text

TICK = 0.2
"""Seconds between two drawings."""

MOST = 24
"""The most lines that are drawn."""

PASSING = SHOWN | find_operations(effect="tells") | {"timer"}
"""Operations that take no time or are no work: they are not counted."""

OUTPUT = frozenset(("print", "log", "ask-user"))
"""Operations that write to the terminal themselves: nothing is drawn meanwhile."""

MARKS: dict[State, tuple[str, str]] = {
    "runs": ("…", ""),
    "waits": ("·", "blue"),
    "done": ("✓", "green"),
    "failed": ("✗", "bold red"),
    "cut": ("-", "blue"),
    "more": (" ", "blue"),
}
"""The sign and the rich style of each state of work."""


def make_progress(settings: Settings) -> "Progress":
    """Return the Progress for a run with these settings."""
    from sexplang.runtime.models.prices import prices

    def find_default(named: str | None) -> str | None:
        from sexplang.runtime.models import with_default

        return with_default(settings.models).answer(named).model

    return Progress(
        sys.stderr,
        live=sys.stderr.isatty() and not (settings.quiet or settings.stream),
        quiet=settings.quiet,
        usage=UsageTotals(prices(settings.models), find_default),
        is_terse=settings.json,
    )


@define
class _Call:
    """A request under way."""

    operation: str
    task: str
    turn: int
    since: float
    until: float = 0.0
    """The time of the next attempt, by the clock."""
    note: str = ""


@define(eq=False)
class Progress:
    """The live view of one run; `close` it when the run has ended."""

    stream: TextIO
    live: bool
    quiet: bool = False
    is_terse: bool = False
    """Whether only the usage is written at the end."""
    clock: Callable[[], float] = monotonic
    usage: UsageTotals = field(factory=UsageTotals)
    """Totals of the model calls so far."""
    size: Callable[[], tuple[int, int]] | None = None
    """Return columns and lines of the terminal; by default rich asks it."""
    every: float = TICK
    """Seconds between two drawings."""
    work_tree: WorkTree = field(init=False)
    """The sink of traces that keeps the tree of work."""
    _began: float = field(init=False)
    _drawing: Any = None
    """The `rich.live.Live`; None while nothing is to be drawn."""
    _is_drawn: bool = False
    _calls: dict[str, _Call] = field(factory=dict)
    _queued: set[str] = field(factory=set)
    """Calls that wait for a permit."""
    _over: int = 0
    _failed: int = 0
    _named: dict[str, tuple[str, bool]] = field(factory=dict)
    """Names of models in the program: the model that answers, and whether it is the default."""
    _said: str = ""
    _writes: set[str] = field(factory=set)
    """Requests that write to the terminal, or wait there for a person."""
    _lock: Any = field(factory=Lock)

    def __attrs_post_init__(self) -> None:
        self.live = self.live and not self.quiet
        self._began = self.clock()
        self.work_tree = WorkTree(self._lock)

    def __call__(self, event: Event) -> None:
        with self._lock:
            self._note(event)
        if self._writes:
            self.erase()
        elif self._calls or self._queued:
            self._show()

    def close(self) -> None:
        """Erase the live lines; write the summary if a model was asked."""
        self.erase()
        with suppress(OSError):  # the terminal is gone, or a file full: the value is still due
            if self.usage.is_asked and not self.quiet:
                self.stream.write(self.summary() + "\n")
            if self._named and not (self.quiet or self.is_terse):
                self.stream.write(self.describe_models() + "\n")
            self.stream.flush()

    def summary(self) -> str:
        """Return model, calls, tokens and seconds in one line, with the calls withdrawn."""
        return f"{self.usage.summary()}, {self.clock() - self._began:.1f} seconds"

    def note_model(self, name: str, model: str, is_default: bool) -> None:
        """Note that another model answers to a name, by default or by an option."""
        self._named[name] = model, is_default

    def describe_models(self) -> str:
        """Return in one line the models that answered to other names."""
        named = [
            (draw_hidden(clean(name)), draw_hidden(clean(model)), was_default)
            for name, (model, was_default) in self._named.items()
        ]
        said = [f"{name} is {model}" for name, model, was_default in named if not was_default]
        unsaid = [name for name, _, was_default in named if was_default]
        if unsaid:
            by_default = next(model for _, model, was_default in named if was_default)
            said.append(
                f"no model is set for {' or '.join(unsaid)}: {by_default} answers "
                f"(to set one: --model {unsaid[0]}=MODEL)"
            )
        return f"models: {'; '.join(said)}"

    def draw(self) -> None:
        """Draw the work under way now, in the place of the last drawing."""
        self._show()
        if self._drawing is not None:
            self._drawing.refresh()

    def _show(self) -> None:
        """Let rich draw from now on, on a thread of its own."""
        if self._drawing is not None or self._writes or not self.live:
            return
        from rich.console import Console
        from rich.live import Live

        width, height = self.size() if self.size else (None, None)
        # The terminal is asked for its size: what a shell exported may be stale.
        asked = {x: word for x, word in os.environ.items() if x not in ("COLUMNS", "LINES")}
        console = Console(
            file=self.stream, force_terminal=True, width=width, height=height, _environ=asked
        )
        self._drawing = Live(
            console=console,
            get_renderable=self._render,
            refresh_per_second=1 / self.every,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        try:
            self._drawing.start()
        except OSError:  # the terminal is gone
            self._drawing, self.live = None, False

    def erase(self) -> None:
        """Remove the live lines from the terminal."""
        drawing, self._drawing = self._drawing, None
        if drawing is not None:
            # To stop, rich clears a line even if nothing is drawn: that line is not ours.
            is_drawn, self._is_drawn = self._is_drawn, False
            drawing.console.quiet = not is_drawn
            with suppress(OSError):
                drawing.stop()
                if not is_drawn:
                    drawing.console.quiet = False
                    drawing.console.show_cursor(True)

    def _render(self) -> "Text":
        """Return the lines to draw."""
        from rich.text import Text

        drawing = self._drawing
        if drawing is None:
            return Text("")
        self._is_drawn = True
        # The table of prices takes a moment to load: the run does not wait for it.
        with self._lock:
            counts = self.usage.price_tokens()
        usd = self.usage.usd(counts)
        with self._lock:
            width, height = drawing.console.size
            room = min(height - 1, MOST) if width > 2 else 0
            below = [*([draw_hidden(self._said)] if self._said else []), self._describe_counts(usd)]
            left = max(room - len(below), 0)
            lines = self.work_tree.lines(left, self._describe_request) or flat(
                self._calls_by_task(), left, self._describe_request
            )
            shown = [*map(_show_line, lines), *[(line, "") for line in below]] if room > 0 else []
        texts = [Text(line, style) for line, style in shown[-room:]]
        for each in texts:
            each.truncate(width - 1, overflow="ellipsis")  # the last column stays free
        return Text("\n", no_wrap=True, end="").join(texts)

    def _calls_by_task(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for id, call in self._calls.items():
            found.setdefault(call.task, []).append(id)
        return found

    def _note(self, event: Event) -> None:
        if isinstance(event, Queued):
            self._queued.add(event.id)
        elif isinstance(event, Started):
            if event.operation in OUTPUT:
                self._writes.add(event.id)
            if event.operation not in PASSING:
                self._queued.discard(event.id)
                task, turn = event.task or event.operation, event.turn or 1
                self._calls[event.id] = _Call(event.operation, task, turn, self.clock())
        elif isinstance(event, Finished):
            self._writes.discard(event.id)
            if self._remove(event.id):
                self._over += 1
                self._failed += event.error is not None
            self.usage.note(event)
        elif isinstance(event, Withdrawn):
            self.usage.note(event)
            self._writes.discard(event.id)
            self._remove(event.id)
        elif isinstance(event, Retrying) and event.id in self._calls:
            call = self._calls[event.id]
            call.note = f"again in {event.wait:.1f} s (attempt {event.attempt})"
            call.until = self.clock() + event.wait
        elif isinstance(event, Said) and event.id in self._calls:
            self._calls[event.id].note = f"{event.characters} characters so far"
        elif isinstance(event, Progressed):
            share = f" {event.fraction:.0%}" if event.fraction is not None else ""
            words = f"{event.text}{share}"
            if event.id in self._calls:
                self._calls[event.id].note = words
            else:
                self._said = words

    def _remove(self, id: str) -> bool:
        """Remove a call; return whether there was one."""
        was_queued = id in self._queued
        self._queued.discard(id)
        return self._calls.pop(id, None) is not None or was_queued

    def _describe_counts(self, usd: float | None) -> str:
        """Return in one line the counts of calls by state, the tokens, the dollars and the
        seconds."""
        counts = [f"{len(self._calls):,} running"]
        counts += [f"{len(self._queued):,} waiting"] if self._queued else []
        counts += [f"{self._over:,} done"] if self._over else []
        counts += [f"{self._failed:,} failed"] if self._failed else []
        parts = [", ".join(counts)]
        if tokens := self.usage.describe_tokens():
            parts.append(tokens)
        if usd:
            parts.append(f"${usd:.4f}")
        return " · ".join([*parts, f"{self.clock() - self._began:.1f} s"])

    def _describe_request(self, id: str) -> tuple[State, str]:
        """Return the state of a request and words about it."""
        call = self._calls.get(id)
        if call is None:
            return "runs", ""
        words = [f"turn {call.turn}"] if call.operation == "model" and call.turn > 1 else []
        words += [f"{self.clock() - call.since:.1f} s"]
        words += [call.note] if call.note else []
        return "waits" if self.clock() < call.until else "runs", "  ".join(words)


def _show_line(line: Line) -> tuple[str, str]:
    """Return the text of a line and its style."""
    mark, style = MARKS[line.state]
    return draw_hidden(f"{'  ' * line.depth}{mark} {line.name}  {line.words}".rstrip()), style
