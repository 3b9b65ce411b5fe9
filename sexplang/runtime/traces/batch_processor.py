"""Spans that have ended → batches for a collector: none is dropped while it answers, and one that
is gone costs a run a bounded time and one warning."""

import logging
from collections import deque
from threading import Condition, Thread
from time import monotonic

from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from sexplang.terms.classes.node import define, field

BATCH = 512
"""Spans in one delivery."""

MOST = 20_000
"""Spans that wait; whoever ends one more waits too."""

DELAY = 1.0
"""Seconds that a span waits for others, and that a failed delivery waits for the next."""

PATIENCE = 5.0
"""Seconds that a run waits for a collector in all, while nothing is delivered."""

LAST = 30.0
"""Seconds after which the end of a run waits no longer, though something is delivered."""


@define(eq=False)
class BatchProcessor(SpanProcessor):
    """Delivers spans in a thread of its own. `to` names the collector, without secrets."""

    exporter: SpanExporter
    to: str
    lost: int = 0
    """Spans that could not be delivered, once it is closed."""
    _waiting: "deque[ReadableSpan]" = field(factory=deque)
    _state: Condition = field(factory=Condition)
    _delivered: int = 0
    _spent: float = 0.0
    """Seconds for which the run has waited since something was delivered."""
    _closing: bool = False
    _over: bool = False
    _thread: Thread | None = None
    _heard: "Heard" = field(factory=lambda: Heard())

    def on_end(self, span: ReadableSpan) -> None:
        with self._state:
            if self._thread is None:
                self._thread = Thread(target=self._deliver_all, daemon=True)
                self._thread.start()
            if len(self._waiting) >= MOST:
                self._wait_for_space()
            if self._over or len(self._waiting) >= MOST:
                self.lost += 1
                return
            self._waiting.append(span)
            if len(self._waiting) >= BATCH:
                self._state.notify_all()

    def shutdown(self) -> None:
        """Delivers what waits, or gives it up when its time is over."""
        with self._state:
            self._closing = True
            self._state.notify_all()
            until = monotonic() + LAST
            while self._waiting and not self._over and self._patient() and monotonic() < until:
                self._wait()
            self._over = True
            self.lost += len(self._waiting)
            self._waiting.clear()
            self._state.notify_all()
        try:
            self.exporter.shutdown()
        except OSError as error:  # a file that takes no more
            self._heard.last = str(error)
        self._heard.close()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Delivers what waits; whether that was done in time."""
        until = monotonic() + timeout_millis / 1000
        with self._state:
            target = self._delivered + len(self._waiting)
            self._state.notify_all()
            while self._delivered < target and monotonic() < until:
                self._state.wait(0.05)
            return self._delivered >= target

    @property
    def why(self) -> str:
        """What the exporter said when it failed."""
        return self._heard.last

    def _patient(self) -> bool:
        return self._spent < PATIENCE

    def _wait_for_space(self) -> None:
        while len(self._waiting) >= MOST and self._patient() and not self._over:
            self._wait()

    def _wait(self) -> None:
        since = monotonic()
        self._state.wait(0.05)
        self._spent += monotonic() - since

    def _deliver_all(self) -> None:
        while True:
            with self._state:
                if not self._closing and len(self._waiting) < BATCH:
                    self._state.wait(DELAY)
                if self._over or (self._closing and not self._waiting):
                    return
                count = min(BATCH, len(self._waiting))
                batch = [self._waiting[at] for at in range(count)]
            if not batch:
                continue
            done = self._deliver(batch)
            with self._state:
                if done and not self._over:
                    for _ in batch:
                        self._waiting.popleft()
                    self._delivered += count
                    self._spent = 0.0
                elif self._closing:
                    self._over = True
                else:
                    self._state.wait(DELAY)
                self._state.notify_all()

    def _deliver(self, batch: list[ReadableSpan]) -> bool:
        try:
            return self.exporter.export(batch) is SpanExportResult.SUCCESS
        # A library's defect must not end the thread: what is lost is said.
        except Exception as error:
            self._heard.last = f"{type(error).__name__}: {error}"
            return False


# What it has to say, our warning does.
logging.getLogger("opentelemetry").addHandler(logging.NullHandler())


class Heard(logging.Handler):
    """What the exporter says in its log: the last words are why it failed."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.last = ""
        logging.getLogger("opentelemetry.exporter").addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.last = record.getMessage()

    def close(self) -> None:
        logging.getLogger("opentelemetry.exporter").removeHandler(self)
        super().close()
