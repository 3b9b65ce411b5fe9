"""A plain list of replies is each task's own: who reads it twice is told."""

import pytest
from support.command import sexplang

PROGRAM = """(defatom a (params x) (instructions "A {{x}}"))
(defatom b (params x) (instructions "B {{x}}"))
"""


@pytest.mark.parametrize(
    ("calls", "script", "value", "warnings"),
    [
        ("[(a 1) (b 2) (a 3) (b 4)]", '["1","2","3"]', '["1" "1" "2" "2"]', 1),
        ("[(a 1) (a 3)]", '["1","2","3"]', '["1" "2"]', 0),
        ("[(a 1) (b 2)]", '["1"]', '["1" "1"]', 0),
        (
            "[(a 1) (b 2) (a 3)]",
            '[{"task":"a","reply":"x"},{"task":"b","reply":"y"}]',
            '["x" "y" "x"]',
            0,
        ),
    ],
)
def test_a_list_that_two_tasks_read_is_told_once(tmp_path, calls, script, value, warnings):
    """On stderr, with rules to write instead."""
    (tmp_path / "p.sexp").write_text(PROGRAM + calls)
    (tmp_path / "r.json").write_text(script)
    done = sexplang("run", "p.sexp", "--model", "scripted:r.json", cwd=tmp_path)

    assert done.stdout.strip() == value
    assert done.stderr.count("warning: r.json: more than one task reads this list") == warnings


def test_what_a_script_lacks_says_how_scripts_are_read(tmp_path):
    """Each task reads the list from its beginning; rules are the other way."""
    (tmp_path / "p.sexp").write_text(PROGRAM + "[(a 1) (a 2)]")
    (tmp_path / "r.json").write_text('["1"]')
    done = sexplang("run", "p.sexp", "--model", "scripted:r.json", cwd=tmp_path)

    assert done.returncode == 1
    assert "it has 1 reply, and this is call 2 of `a`" in done.stderr
    assert "the list, which each task reads from its beginning, or write rules:" in done.stderr
