"""Events of a run to lines on stderr: what each task is doing now, and at the end what it took.

On a terminal a line per running model call is redrawn in place; elsewhere only the summary is
written, and with `--quiet` nothing is.
"""

from collections.abc import Callable
from threading import Event as Signal
from threading import Lock, Thread
from time import monotonic
from typing import Any, TextIO

from attrs import field

from sexplang.hosts.show import drawn
from sexplang.runtime.events import Event, Finished, Progressed, Retrying, Said, Started, Withdrawn
from sexplang.terms.node import define

TICK = 0.25
LONGEST = 100


@define
class _Call:
    """A model call in flight."""

    task: str
    turn: int
    since: float
    note: str = ""


@define
class _Spent:
    """What one model has cost so far."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


@define(eq=False)
class Progress:
    """Watches one run; `close` it when the run has ended."""

    stream: TextIO
    live: bool
    quiet: bool = False
    clock: Callable[[], float] = monotonic
    _began: float = field(init=False)
    _calls: dict[str, _Call] = field(factory=dict)
    _tokens: dict[str, int] = field(factory=dict)
    _spent: dict[str, _Spent] = field(factory=dict)
    _said: str = ""
    _drawn: int = 0
    _lock: Any = field(factory=Lock)
    _over: Signal = field(factory=Signal)
    _ticker: Thread | None = None

    def __attrs_post_init__(self) -> None:
        self._began = self.clock()

    def __call__(self, event: Event) -> None:
        with self._lock:
            self._note(event)
            if self.live and not self.quiet:
                self._draw(event)

    def close(self) -> None:
        """The live lines go; the summary comes, if a model was asked."""
        self._over.set()
        if self._ticker is not None:
            self._ticker.join()
        with self._lock:
            self._erase()
            if self._spent and not self.quiet:
                self.stream.write(self.summary() + "\n")
            self.stream.flush()

    def summary(self) -> str:
        """Model, calls, tokens and seconds, in one line."""
        parts = [
            f"{drawn(model)}: {spent.calls} {'call' if spent.calls == 1 else 'calls'}, "
            f"{spent.tokens_in} tokens in, {spent.tokens_out} out"
            for model, spent in self._spent.items()
        ]
        return f"model {'; '.join(parts)}, {self.clock() - self._began:.1f} seconds"

    def _note(self, event: Event) -> None:
        if isinstance(event, Started) and event.operation == "model":
            task = event.task or "model"
            self._calls[event.id] = _Call(task, event.turn or 1, self.clock())
        elif isinstance(event, Finished) and event.operation == "model":
            self._calls.pop(event.id, None)
            self._count(event)
        elif isinstance(event, Withdrawn):
            self._calls.pop(event.id, None)
        elif isinstance(event, Retrying) and event.id in self._calls:
            self._calls[event.id].note = f"again in {event.wait:.1f} s (attempt {event.attempt})"
        elif isinstance(event, Said) and event.id in self._calls:
            self._calls[event.id].note = f"{event.characters} characters so far"
        elif isinstance(event, Progressed):
            share = f" {event.fraction:.0%}" if event.fraction is not None else ""
            self._said = f"{event.text}{share}"

    def _count(self, event: Finished) -> None:
        spent = self._spent.setdefault(event.model or "(no answer)", _Spent())
        used_in = int(event.usage.get("input_tokens") or 0)
        used_out = int(event.usage.get("output_tokens") or 0)
        spent.calls += 1
        spent.tokens_in += used_in
        spent.tokens_out += used_out
        task = event.task or "model"
        self._tokens[task] = self._tokens.get(task, 0) + used_in + used_out

    def _draw(self, event: Event) -> None:
        # Whatever a program prints must not land in the middle of the live lines.
        self._erase()
        if isinstance(event, Started) and event.operation in ("print", "log"):
            return
        self._redraw()
        if self._calls and self._ticker is None:
            self._ticker = Thread(target=self._tick, daemon=True)
            self._ticker.start()

    def _tick(self) -> None:
        while not self._over.wait(TICK):
            with self._lock:
                if self._drawn:
                    self._erase()
                    self._redraw()

    def _redraw(self) -> None:
        lines = [self._said] if self._said else []
        lines += [self._line(call) for call in self._calls.values()]
        for line in lines[-20:]:
            self.stream.write(drawn(line)[:LONGEST] + "\n")
        self._drawn = len(lines[-20:])
        self.stream.flush()

    def _line(self, call: _Call) -> str:
        tokens = self._tokens.get(call.task, 0)
        seconds = self.clock() - call.since
        note = f"  {call.note}" if call.note else ""
        return f"… {call.task}  turn {call.turn}  {tokens} tokens  {seconds:.1f} s{note}"

    def _erase(self) -> None:
        if self._drawn:
            self.stream.write(f"\x1b[{self._drawn}A\x1b[J")
            self.stream.flush()
            self._drawn = 0
