"""Tests written in the language: `collect(source)` gives those of a file, `run_test(test)` runs
one.

A test has the models, files, clock and person of its own script and no others.
"""

from sexplang.hosts.testing.cases import Test, collect
from sexplang.hosts.testing.samples import Account, Rate, sample
from sexplang.hosts.testing.test_run import Result, run_test

__all__ = ["Account", "Rate", "Result", "Test", "collect", "run_test", "sample"]
