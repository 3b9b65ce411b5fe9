"""What stands around the command: the encoding of its output, its folder, its configuration."""

import json
import subprocess
import sys

import pytest
from support.command import sexplang
from support.markdown import ROOT

from sexplang.hosts.report.markup import inline_json


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [("ascii", "\\xe4\\u20ac \\U0001f375\n"), ("latin-1", "ä\\u20ac \\U0001f375\n")],
)
def test_what_an_encoding_lacks_is_an_escape(encoding, shown):
    """The result is not lost."""
    command = [sys.executable, "-m", "sexplang", "run", "-e", '"ä€ 🍵"']
    environment = {"PYTHONIOENCODING": encoding, "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, env=environment, timeout=60)

    assert (shown, b"", 0) == (done.stdout.decode("latin-1"), done.stderr, done.returncode)


@pytest.mark.parametrize("words", ["run -e 1", "run -e 1 --record r.jsonl", "check a.sexp"])
def test_a_folder_that_is_gone_is_named(tmp_path, words):
    gone = tmp_path / "gone"
    gone.mkdir()
    line = f'cd {gone} && rmdir {gone} && PYTHONPATH={ROOT} "{sys.executable}" -m sexplang {words}'
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60)

    assert "the folder that this was started in is not there any more" in done.stderr
    assert ("", 2) == (done.stdout, done.returncode)


def test_a_configuration_that_is_nested_too_deep_is_refused(tmp_path):
    (tmp_path / "sexplang.toml").write_text("a=" + "[" * 100_000)
    done = sexplang("run", "-e", "1", cwd=tmp_path)

    assert "error[bad-configuration]" in done.stderr and "nested too deep" in done.stderr
    assert 2 == done.returncode


@pytest.mark.parametrize("char", "\u202e\u2066\u200b\ufeff\u2028\U000e0041<&")
def test_nothing_steers_or_hides_in_the_rows_of_a_page(char):
    """What is read from them is what was written."""
    written = inline_json(json.dumps({"said": f"é{char}茶"}, ensure_ascii=False))

    assert char not in written and "é" in written and "茶" in written
    assert {"said": f"é{char}茶"} == json.loads(written)
