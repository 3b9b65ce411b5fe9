"""What a model's calls need is being loaded before the first of them is made."""

import os
import subprocess
import sys

import pytest
from support.command import sexplang
from support.markdown import ROOT

TELL = '(defatom tell (instructions "Tell me of tea.") {}) (define (later) (tell)) 1'
ADDRESS = "http://127.0.0.1:9#m"
KEY = {"ANTHROPIC_API_KEY": "the-key-of-a-test"}

COMMAND = "from sexplang.hosts import main; main([*{words!r}, '-e', {text!r}])"
LIBRARY = "import sexplang; sexplang.run({text!r}, model={model!r})"
WAITED = """
import os, sys, time
until = time.monotonic() + 60
while "anthropic" not in sys.modules and time.monotonic() < until:
    time.sleep(0.01)
os._exit(0 if "anthropic" in sys.modules else 1)
"""


@pytest.mark.parametrize(
    ("script", "environment"),
    [
        (COMMAND.format(words=["run", "--model", ADDRESS], text=TELL.format("")), {}),
        (COMMAND.format(words=["run"], text=TELL.format('(model "claude-opus-5-5")')), {}),
        (COMMAND.format(words=["run"], text=TELL.format("")), KEY),
        (LIBRARY.format(text=TELL.format(""), model=ADDRESS), {}),
        (LIBRARY.format(text=TELL.format(""), model=None), KEY),
    ],
    ids=["flag", "template", "key", "library", "library with a key"],
)
def test_the_sdk_is_loaded_in_the_background(script, environment):
    """As soon as a program with tasks is built, whoever names the model; no call has been made."""
    caught = f"try:\n    {script}\nexcept SystemExit:\n    pass\n{WAITED}"
    known = {name: value for name, value in os.environ.items() if "ANTHROPIC" not in name}

    done = subprocess.run([sys.executable, "-c", caught], env={**known, **environment}, timeout=120)

    assert 0 == done.returncode


ASK = '(model {messages: [{role: "user" content: "tea?"}]})'


def broken(folder, body):
    """A folder whose `anthropic` does so when it is imported."""
    (folder / "anthropic").mkdir()
    (folder / "anthropic" / "__init__.py").write_text(body)
    return f"{ROOT}:{folder}"


def test_an_sdk_that_cannot_be_loaded_is_an_error_of_the_call(tmp_path):
    """Whoever loads it."""
    path = broken(tmp_path, 'raise ImportError("no such lib")')
    for text in (ASK, TELL.format("") + " (later)"):
        done = sexplang("run", "--model", ADDRESS, "-e", text, PYTHONPATH=path)

        assert 1 == done.returncode
        assert "broken-install" in done.stderr
        assert "no such lib" in done.stderr
        assert "Traceback" not in done.stderr


def test_a_deadline_does_not_wait_until_the_sdk_is_loaded(tmp_path):
    """Nor is anything charged that was not sent."""
    mark = tmp_path / "loaded"
    path = broken(tmp_path, f"import time\ntime.sleep(30)\nopen({str(mark)!r}, 'w').close()")
    text = f"(attempt (with-timeout 0.2 {ASK})) 1"
    options = ("--model", ADDRESS, "--budget", "tokens=1000")

    done = sexplang("run", *options, "-e", text, PYTHONPATH=path)

    assert "1\n" == done.stdout
    assert not mark.exists()
    assert "0 of 1,000 tokens" in done.stderr
