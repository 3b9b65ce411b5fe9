"""Options and settings of all tests."""

import gc
import os
import signal

import pytest
from hypothesis import settings

# Examples must not depend on how busy the machine is. The gate asks for `gate`: its verdict is to
# depend on what was changed, not on what was drawn; every other run draws anew.
settings.register_profile("here", deadline=None)
settings.register_profile("gate", deadline=None, derandomize=True)
settings.load_profile("here")

# Reading and running programs makes many small objects and few cycles: to look for cycles after
# every 700 of them takes a sixth of the time.
gc.set_threshold(50_000)


def pytest_addoption(parser):
    parser.addoption(
        "--update",
        action="store_true",
        help="rewrite the renderings in fenced `diagnostic` blocks instead of comparing them",
    )


def pytest_configure(config):
    """Whoever starts the tests in the background has Ctrl-C ignored, and `nohup` a terminal that
    goes; the commands tested are not to inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_modifyitems(config, items):
    """`-m long` runs what takes minutes, `-m browser` and `-m postgres` what needs one; without a
    `-m` they are left out. What is late comes last."""
    items.sort(key=lambda item: item.get_closest_marker("late") is not None)
    if config.getoption("markexpr"):
        return
    asked = [
        item
        for item in items
        if any(item.get_closest_marker(each) for each in ("long", "browser", "postgres"))
    ]
    items[:] = [item for item in items if item not in asked]
    config.hook.pytest_deselected(items=asked)


def pytest_collection_finish(session):
    """The tests themselves, thousands of objects, stay: the garbage collector need not look at
    them again and again, which costs a tenth of the time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def no_keys():
    """A test never reaches a real model or collector: keys and addresses of the person are not
    seen."""
    kept = dict(os.environ)
    for name in kept:
        if name.startswith(("ANTHROPIC_", "SEXPLANG_", "OTEL_", "TRACEPARENT")):
            del os.environ[name]
    os.environ["SEXPLANG_STORE"] = ""  # a test that keeps runs names its own store
    yield
    os.environ.clear()
    os.environ.update(kept)
