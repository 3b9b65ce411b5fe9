"""Batches of ended spans for a collector. None is dropped while the collector answers; an absent
collector costs a run bounded time and one warning."""

import logging
from collections import deque
from threading import Condition, Thread
from time import monotonic

from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from sexplang.terms.classes.node import define, field

BATCH = 512
"""Maximum spans of one delivery."""

MOST = 20_000
"""Maximum waiting spans. Ending another span then waits."""

DELAY = 1.0
"""Seconds that a span waits for a batch, and between a failed delivery and the next."""

PATIENCE = 5.0
"""Total seconds that a run waits for a collector without any delivery."""

LAST = 30.0
"""Maximum seconds that the end of a run waits, even with deliveries."""


@define(eq=False)
class BatchProcessor(SpanProcessor):
    """Delivers spans in a background thread. `to` names the collector without secrets."""

    exporter: SpanExporter
    to: str
    lost: int = 0
    """The number of undelivered spans, after shutdown."""
    _waiting: "deque[ReadableSpan]" = field(factory=deque)
    _state: Condition = field(factory=Condition)
    _delivered: int = 0
    _spent: float = 0.0
    """Seconds that the run has waited since the last delivery."""
    _closing: bool = False
    _over: bool = False
    _thread: Thread | None = None
    _listener: "LogListener" = field(factory=lambda: LogListener())

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
        """Deliver the waiting spans, or drop them when the time is over."""
        with self._state:
            self._closing = True
            self._state.notify_all()
            until = monotonic() + LAST
            while self._waiting and not self._over and self._has_patience() and monotonic() < until:
                self._wait()
            self._over = True
            self.lost += len(self._waiting)
            self._waiting.clear()
            self._state.notify_all()
        try:
            self.exporter.shutdown()
        except OSError as error:  # the disk is full
            self._listener.last = str(error)
        self._listener.close()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Deliver the waiting spans. Return whether that succeeded in time."""
        until = monotonic() + timeout_millis / 1000
        with self._state:
            target = self._delivered + len(self._waiting)
            self._state.notify_all()
            while self._delivered < target and monotonic() < until:
                self._state.wait(0.05)
            return self._delivered >= target

    @property
    def why(self) -> str:
        """Return the exporter's last error message."""
        return self._listener.last

    def _has_patience(self) -> bool:
        return self._spent < PATIENCE

    def _wait_for_space(self) -> None:
        while len(self._waiting) >= MOST and self._has_patience() and not self._over:
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
        # A defect of a library must not end the thread; lost spans are reported.
        except Exception as error:
            self._listener.last = f"{type(error).__name__}: {error}"
            return False


# Our warning reports its messages.
logging.getLogger("opentelemetry").addHandler(logging.NullHandler())


class LogListener(logging.Handler):
    """Listens to the exporter's log; its last message is the cause of a failure."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.last = ""
        logging.getLogger("opentelemetry.exporter").addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.last = record.getMessage()

    def close(self) -> None:
        logging.getLogger("opentelemetry.exporter").removeHandler(self)
        super().close()
