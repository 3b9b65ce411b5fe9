"""A file of tests to results: `collect(source)` gives its tests, `run_test(test)` how one went.

A test sees no model, file, clock or person but those of its own script.
"""

from sexplang.hosts.testing.cases import Test, collect
from sexplang.hosts.testing.test_run import Result, run_test

__all__ = ["Result", "Test", "collect", "run_test"]
