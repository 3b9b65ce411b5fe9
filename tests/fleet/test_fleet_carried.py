"""Requests that are carried: the journal is the same, whoever performs them."""

import pytest
from support.carried_runs import NoEngine, drive_carried, looking_worker

import sexplang
from sexplang.runtime.journal.databases import resolve_address
from sexplang.runtime.journal.run_store import open_store
from sexplang.runtime.journal.stored_journal import read_rows

WIDE = '(par-map (lambda (n) (run-script "sh" ["-c" (str "echo " n)])) (range 0 6))'


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def place(request, tmp_path):
    """The address of an empty store of either kind."""
    if request.param == "sqlite":
        return f"sqlite:{tmp_path / 'runs.db'}"
    return request.getfixturevalue("address")


def effects_of(place, run="r"):
    """What a run asked and got, by request."""
    store = open_store(resolve_address(place))
    try:
        rows = read_rows(store, store.find(run), whole=True).rows
    finally:
        store.close()
    return sorted((each.id, each.operation, each.digest, str(each.reply)) for each in rows)


def test_scripts_are_performed_elsewhere(place):
    given = {"permissions": sexplang.Permissions(run=["sh"])}
    with looking_worker(place, **given):
        value = drive_carried(WIDE, place, "r", NoEngine, permissions=None)
    here = sexplang.run(WIDE, store=place, run_id="s", **given)

    assert [str(n) for n in range(6)] == [each["stdout"].strip() for each in value]
    assert list(here) == list(value) and effects_of(place) == effects_of(place, "s")
