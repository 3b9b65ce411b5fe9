"""Events of a run to stderr: what is at work now and what it has cost so far, and at the end a
line that says what it took.

On a terminal rich draws some lines again and again in place, a few times a second however much
happens; elsewhere only the last line is written, and with `--quiet` nothing is.
"""

import os
import sys
from collections.abc import Callable
from threading import Event as Signal
from threading import Lock, Thread
from time import monotonic
from typing import Any, TextIO

from sexplang.hosts.settings.options import Settings
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

TICK = 0.2
"""So often a terminal is drawn, in seconds: more is no use to a person."""

MOST = 24
"""Lines that are drawn on a terminal that has room for more."""

PASSING = frozenset(("print", "log", "progress", "timer", "now", "random"))
"""Operations that are over at once, or are no work; nobody wants them counted."""

OUTPUT = frozenset(("print", "log", "ask-user"))
"""Whatever these write must not land in the middle of what is drawn."""

MARKS: dict[State, tuple[str, str]] = {
    "runs": ("…", ""),
    "waits": ("·", "blue"),
    "done": ("✓", "green"),
    "failed": ("✗", "bold red"),
    "cut": ("-", "blue"),
    "more": (" ", "blue"),
}
"""How work stands to its sign and its style, as rich calls it."""


def watching(settings: Settings) -> "Progress":
    """What shows a person the run that `settings` ask for."""
    from sexplang.runtime.models.prices import prices

    def find_default(named: str | None) -> str | None:
        from sexplang.runtime.models import with_default

        return with_default(settings.models).answer(named).model

    return Progress(
        sys.stderr,
        live=sys.stderr.isatty() and not settings.quiet,
        quiet=settings.quiet,
        usage=UsageTotals(prices(settings.models), find_default),
        is_terse=settings.json,
    )


@define
class _Call:
    """A request that is under way."""

    operation: str
    task: str
    turn: int
    since: float
    until: float = 0.0
    """When it is tried again."""
    note: str = ""


@define(eq=False)
class Progress:
    """Watches one run; `close` it when the run has ended."""

    stream: TextIO
    live: bool
    quiet: bool = False
    is_terse: bool = False
    """Whether nothing is said but what was spent."""
    clock: Callable[[], float] = monotonic
    usage: UsageTotals = field(factory=UsageTotals)
    """Totals of the model calls so far."""
    size: Callable[[], tuple[int, int]] | None = None
    """Columns and lines of the terminal; by default it is asked."""
    every: float = TICK
    """Seconds between two drawings."""
    working: WorkTree = field(init=False)
    """What tells it of the tree of work, if the run is traced."""
    _began: float = field(init=False)
    _drawing: Any = None
    """What rich draws; None where nothing is drawn."""
    _calls: dict[str, _Call] = field(factory=dict)
    _tasks: dict[str, dict[str, _Call]] = field(factory=dict)
    """The same by what they are called."""
    _queued: set[str] = field(factory=set)
    """Calls that wait to be made."""
    _over: int = 0
    _failed: int = 0
    _named: dict[str, tuple[str, bool]] = field(factory=dict)
    """Names of models to which others answered."""
    _said: str = ""
    _writes: set[str] = field(factory=set)
    """What is writing something just now, or waits for a person to."""
    _lock: Any = field(factory=Lock)
    _stop: Signal = field(factory=Signal)
    _ticker: Thread | None = None

    def __attrs_post_init__(self) -> None:
        self.live = self.live and not self.quiet
        self._began = self.clock()
        self.working = WorkTree(self._lock)

    def __call__(self, event: Event) -> None:
        with self._lock:
            self._note(event)
            if not self.live:
                return
            if self._writes:
                self._erase()
            elif self._ticker is None and (self._calls or self._queued):
                self._ticker = Thread(target=self._tick, daemon=True)
                self._ticker.start()

    def close(self) -> None:
        """The live lines go; the summary comes, if a model was asked."""
        self._stop.set()
        if self._ticker is not None:
            self._ticker.join()
        with self._lock:
            self._erase()
            if self.usage.is_asked and not self.quiet:
                self.stream.write(self.summary() + "\n")
            if self._named and not (self.quiet or self.is_terse):
                self.stream.write(self.describe_models() + "\n")
            self.stream.flush()

    def summary(self) -> str:
        """Model, calls, tokens and seconds, in one line; and how many calls more were withdrawn."""
        return f"{self.usage.summary()}, {self.clock() - self._began:.1f} seconds"

    def note_model(self, name: str, model: str, is_default: bool) -> None:
        """Another model answers to a name, maybe because nobody says who it is."""
        self._named[name] = model, is_default

    def describe_models(self) -> str:
        """Which models answered to other names, in one line."""
        named = [
            (draw_hidden(clean(name)), draw_hidden(clean(model)), was_default)
            for name, (model, was_default) in self._named.items()
        ]
        said = [f"{name} is {model}" for name, model, was_default in named if not was_default]
        unsaid = [name for name, _, was_default in named if was_default]
        if unsaid:
            by_default = next(model for _, model, was_default in named if was_default)
            said.append(
                f"nobody says who {' or '.join(unsaid)} is: {by_default} answers "
                f"(--model {unsaid[0]}=MODEL says it)"
            )
        return f"models: {'; '.join(said)}"

    def draw(self) -> None:
        """What is at work now, in the place of what was drawn before."""
        if not self.live:
            return
        # The table of prices takes a moment to load: the run does not wait for it.
        with self._lock:
            counts = self.usage.price_tokens()
        usd = self.usage.usd(counts)
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        with self._lock:
            if self._writes:
                return
            if self._drawing is None:
                console = Console(file=self.stream, force_terminal=True)
                self._drawing = Live(
                    console=console,
                    auto_refresh=False,
                    transient=True,
                    redirect_stdout=False,
                    redirect_stderr=False,
                )
                self._drawing.start()
            console = self._drawing.console
            width, height = console.size = self.size() if self.size else _measure(self.stream)
            room = min(height - 1, MOST) if width > 2 else 0
            below = [*([draw_hidden(self._said)] if self._said else []), self._describe_counts(usd)]
            left = max(room - len(below), 0)
            lines = self.working.lines(left, self._describe_request) or flat(
                self._tasks, left, self._describe_request
            )
            shown = [*map(_show_line, lines), *[(line, "") for line in below]] if room > 0 else []
            texts = [Text(line, style) for line, style in shown[-room:]]
            for each in texts:
                each.truncate(width - 1, overflow="ellipsis")  # the last column stays free
            text = Text("\n", no_wrap=True, end="").join(texts)
            self._drawing.update(text, refresh=True)

    def _note(self, event: Event) -> None:
        if isinstance(event, Queued):
            self._queued.add(event.id)
        elif isinstance(event, Started):
            if event.operation in OUTPUT:
                self._writes.add(event.id)
            if event.operation not in PASSING:
                self._queued.discard(event.id)
                task, turn = event.task or event.operation, event.turn or 1
                call = _Call(event.operation, task, turn, self.clock())
                self._calls[event.id] = call
                self._tasks.setdefault(task, {})[event.id] = call
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
            self._said = f"{event.text}{share}"

    def _remove(self, id: str) -> bool:
        """Whether there was such a call; now there is none."""
        was_queued = id in self._queued
        self._queued.discard(id)
        call = self._calls.pop(id, None)
        if call is None:
            return was_queued
        alike = self._tasks[call.task]
        del alike[id]
        if not alike:
            del self._tasks[call.task]
        return True

    def _describe_counts(self, usd: float | None) -> str:
        """What runs, what waits and what is spent, in one line."""
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
        """How a request stands."""
        call = self._calls.get(id)
        if call is None:
            return "runs", ""
        words = [f"turn {call.turn}"] if call.operation == "model" and call.turn > 1 else []
        words += [f"{self.clock() - call.since:.1f} s"]
        words += [call.note] if call.note else []
        return "waits" if self.clock() < call.until else "runs", "  ".join(words)

    def _tick(self) -> None:
        while not self._stop.wait(self.every):
            self.draw()

    def _erase(self) -> None:
        """Take away what was drawn."""
        if self._drawing is not None:
            self._drawing.stop()
            self._drawing = None


def _measure(stream: TextIO) -> tuple[int, int]:
    """Columns and lines of the terminal that a stream leads to, whatever the environment says."""
    try:
        return os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return 80, 24


def _show_line(line: Line) -> tuple[str, str]:
    """The text of a line, and its style."""
    mark, style = MARKS[line.state]
    return draw_hidden(f"{'  ' * line.depth}{mark} {line.name}  {line.words}".rstrip()), style
