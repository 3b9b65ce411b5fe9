"""The store of runs as it stands: where it is, how large, and which runs wait."""

import os
from typing import Any

from sexplang.runs.durable_run import BYTES, DAYS
from sexplang.runtime.journal.databases import is_server
from sexplang.runtime.journal.run_store import (
    INTERRUPTED,
    RUNNING,
    WAITING,
    default_store,
    open_store,
)
from sexplang.runtime.refusal import Refusal
from sexplang.terms.texts.address import split_credentials


def describe_store(said: dict[str, Any]) -> dict[str, Any]:
    """Return what is known of the person's store; `said` is their table of runs."""
    address = default_store()
    row: dict[str, Any] = {
        "store": None if address is None else split_credentials(address)[0],
        "is_kept": address is not None and bool(said.get("keep", True)),
        "days": said.get("days", DAYS),
        "most_bytes": said.get("bytes", BYTES),
        "is_there": False,
    }
    if address is None or is_server(address):
        return row | {"is_server": address is not None}
    row["is_server"] = False
    if not os.path.exists(address) or (os.path.isfile(address) and not os.path.getsize(address)):
        return row
    try:
        store = open_store(address, must_exist=True)
    except Refusal as refusal:
        return row | {"is_there": True, "problem": str(refusal.error.fields["message"])}
    try:
        runs = store.runs()
        dead = [run.id for run in runs if run.state == INTERRUPTED or _is_dead(store, run)]
    except Refusal as refusal:
        return row | {"is_there": True, "problem": str(refusal.error.fields["message"])}
    finally:
        store.close()
    return row | {
        "is_there": True,
        "bytes": os.path.getsize(address),
        "runs": len(runs),
        "waiting": [run.id for run in runs if run.state == WAITING],
        "interrupted": dead,
    }


def _is_dead(store: Any, run: Any) -> bool:
    return run.state == RUNNING and not store.is_alive(run)
