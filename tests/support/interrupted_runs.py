"""Runs of a store that end in the midst of an effect, and their resumptions."""

import pytest

import sexplang
from sexplang.runtime.journal.run_store import open_store
from sexplang.runtime.journal.stored_journal import read_rows

STEPS = "(define a (act 1)) (define b (act 2)) (define c (act 3)) [a b c]"


def acting(done, stop=None):
    """Effects that note what they did, and end the process in the midst of one."""

    def act(n):
        done.append(n)
        if n == stop:
            raise KeyboardInterrupt
        return n * 10

    return {"act": act}


def interrupted(store, program=STEPS, stop=2, **more):
    """Run a program that is interrupted; return what it did."""
    done = []
    with pytest.raises(KeyboardInterrupt):
        sexplang.run(program, effects=acting(done, stop), store=store, run_id="r", **more)
    return done


def resumed(store, program=STEPS, **more):
    """Go on with the run; return its value and what it did."""
    done = []
    value = sexplang.resume(
        program, "r", store=store, effects={**acting(done), **more.pop("effects", {})}, **more
    )
    return value, done


def reason_of(call, *given, **more):
    with pytest.raises(sexplang.Failed) as failed:
        call(*given, **more)
    return failed.value.reason


def rows_of(store):
    kept = open_store(str(store))
    try:
        return read_rows(kept, kept.find("r"), whole=True)
    finally:
        kept.close()
