"""A process whose clock on the wall is wrong by the seconds of `CLOCK_SHIFT`."""

import os
import time

SHIFT = float(os.environ.get("CLOCK_SHIFT", 0))

_time, _time_ns = time.time, time.time_ns

time.time = lambda: _time() + SHIFT
time.time_ns = lambda: _time_ns() + int(SHIFT * 1e9)

import datetime as _datetime  # noqa: E402


class _Shifted(_datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return super().fromtimestamp(time.time(), tz)

    @classmethod
    def utcnow(cls):
        return super().fromtimestamp(time.time(), _datetime.UTC).replace(tzinfo=None)


_datetime.datetime = _Shifted
