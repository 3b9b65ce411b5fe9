"""Workers and drivers that are lost in the middle of wide runs: real workers, real signals."""

import signal

import pytest
from support.lost_workers import (
    forget_snapshot,
    list_past,
    lose_driver,
    lose_limited,
    lose_performers,
    past_database,
)

from sexplang.machine.frozen_runs import digest
from sexplang.pipeline.pipeline import build
from sexplang.runs.program_texts import ProgramTexts


def test_a_python_file_may_be_anywhere(tmp_path):
    """Each worker has its own. The program is the same, so its snapshots are read."""
    told = ProgramTexts(
        "main.sexp",
        {"main.sexp": '(import "tools.py") (plain 1)'},
        (("tools.py", "main.sexp", ("tools.py",)),),
    )
    found = set()
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        file = tmp_path / name / "tools.py"
        file.write_text("import sexplang\n\n@sexplang.operation\ndef plain(n):\n    return n\n")
        program = build(told.source, told.make_finder((str(file),)))
        found.add((digest(program), *map(program.relative_name, program.sources)))

    assert 1 == len(found)
