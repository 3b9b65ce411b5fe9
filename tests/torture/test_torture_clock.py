"""A clock on the wall that is set while a run is dead, or by which a run is resumed far away."""

import json
import time

import pytest
from support.killed_runs import crash_at, in_child
from support.kill_trials import read_store

import sexplang
from sexplang.runs import durable_run
from sexplang.runtime.journal import run_store, stored_journal

DAY = 86_400


def set_clock(monkeypatch, seconds):
    """Let the clock on the wall be ahead by so many seconds, or behind."""

    def now():
        return time.time() + seconds

    for module in (durable_run, run_store, stored_journal):
        monkeypatch.setattr(module, "time", now)
