"""What `check` refuses is refused before a model is paid."""

import json

import pytest
from support.command import sexplang

TASK = """(defatom kind (params (text string)) (instructions "What is {{text}}?"))
(defatom judged (params (text string)) (instructions "Judge {{text}}")
  (output_format (type "json") (schema "object")))
"""


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ('(if (kind "a") "published" "held")', "answer-as-test"),
        ('(bind found (kind "a")) found.content', "answer-as-result"),
        ('(retry (kind "a") times: 2)', "wrong-type"),
        ('(if (judged "a") "good" "bad")', "answer-as-test"),
    ],
)
def test_a_program_with_tasks_is_checked_before_it_runs(tmp_path, program, code):
    """With the place and the hint that `check` gives; no model is asked."""
    (tmp_path / "p.sexp").write_text(TASK + program)
    (tmp_path / "r.json").write_text('["yes", "yes"]')
    ran = sexplang("run", "p.sexp", "--model", "scripted:r.json", "--json", cwd=tmp_path)
    checked = sexplang("check", "p.sexp", "--json", cwd=tmp_path)

    assert ran.returncode == checked.returncode == 1
    found = json.loads(ran.stdout)["findings"]
    assert [each["code"] for each in found] == [code]
    assert found == json.loads(checked.stdout)["files"]["p.sexp"]["findings"]
    assert "1 call" not in ran.stderr
