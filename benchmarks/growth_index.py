"""The worst shapes of an index that somebody else made, and of what is asked of it."""

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.growth import Routine
from benchmarks.measure import opcodes
from sexplang.runtime import Refusal
from sexplang.runtime.memory import MemorySystem
from sexplang.runtime.memory.store import open_to_change

_PLACES: list[TemporaryDirectory[str]] = []

ROWS = """with recursive n (value) as (select 1 union all select value + 1 from n where value < {})
    insert into files select null, {}, 1, 1, '', {}, '', '', '', '', null, {} from n"""
WORDS = """insert into words (rowid, names, summary, identifiers, facts)
    select id, path, summary, '', '' from files where skipped is null"""

Script = Callable[[int], str]


def _rows(n: int, path: str = "'f' || value", summary: str = "'tea'", skipped: str = "null") -> str:
    return f"{ROWS.format(n, path, summary, skipped)}; {WORDS}"


SHAPES: dict[str, Script] = {
    "files of one word": _rows,
    "files of other words": lambda n: _rows(n, summary="'w' || value"),
    "one folder in the other": lambda n: _rows(n, path="'f' || value || '/a/a/a/a/a/a/a/a'"),
    "files that are left out": lambda n: _rows(n, skipped="'binary'"),
    "texts": lambda n: _rows(n // 8, summary="hex(zeroblob(400))"),
    "one long text": lambda n: _rows(1, summary=f"hex(zeroblob({25 * n}))"),
    "tables": lambda n: ";".join(f"create table t{at} (a)" for at in range(n // 4)),
    "a view": lambda n: f"create view v as {' union '.join(['select 1'] * min(n // 8, 400))}",
    "columns": lambda n: ";".join(
        f"alter table files add column c{at} text" for at in range(min(n // 16, 1500))
    ),
    "roots": lambda n: (
        f"""with recursive n (value) as (
        select 1 union all select value + 1 from n where value < {n})
        insert into roots select 'r' || value, '', '', '', 0.0 from n"""
    ),
}


def make_index(script: Script) -> Callable[[int], MemorySystem]:
    def make(n: int) -> MemorySystem:
        _PLACES.append(TemporaryDirectory())
        memory = MemorySystem(f"{_PLACES[-1].name}/index.db")
        with open_to_change(memory.index):
            pass
        connection = sqlite3.connect(memory.index)
        connection.executescript(script(n))
        connection.commit()
        connection.close()
        return memory

    return make


def _searched(memory: MemorySystem) -> None:
    memory.search({"query": "tea w1 f2 a", "limit": 1000, "include_unmatched": True})


def _listed(memory: MemorySystem) -> None:
    with suppress(Refusal):
        memory.status()


def _asked(memory: MemorySystem) -> int:
    return opcodes(lambda: _searched(memory))


def _table(words: str, work: Callable[[Any], int | None], n: int) -> list[Routine]:
    return [
        Routine(f"index, {words}: {name}", make_index(script), work, n)
        for name, script in SHAPES.items()
    ]


ROUTINES = (
    *_table("search in Python", _asked, 2_000),
    *_table("search", _searched, 8_000),
    *_table("list", _listed, 4_000),
)
