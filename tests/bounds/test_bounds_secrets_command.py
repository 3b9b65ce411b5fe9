"""What the command takes for a credential, and what it gives back as it is."""

import json
import subprocess

import pytest
from support.command import sexplang as command

import sexplang
from sexplang.guards.secrets import MARK, look, redact_text
from sexplang.runtime.traces import _exporter

KEY = "canary-7f3a9cXY"


@pytest.mark.parametrize("words", [["-"], ["--diff", "-"], ["--diff", "p.sexp"], ["p.sexp"]])
def test_a_program_is_laid_out_as_it_is(words, tmp_path):
    """With a credential in it, too: it is given back, and is no outcome of a run."""
    text = f'(define  token "{KEY}")\n'
    laid = text.replace("  ", " ")
    (tmp_path / "p.sexp").write_text(text)
    done = command("fmt", *words, text=text, cwd=tmp_path, SHOP_TOKEN=KEY)
    held = done.stdout if "-" in words else (tmp_path / "p.sexp").read_text()

    if "--diff" in words:
        assert [f"-{text}", f"+{laid}"] == done.stdout.splitlines(keepends=True)[-2:]
    else:
        assert (0, laid) == (done.returncode, held)


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        *(("github_token", True), ("Shop_Secret", True), ("TOKEN", True), ("password", True)),
        *(("AWS_SECRET_ACCESS_KEY", True), ("KEY", True), ("SHOP_PASSWORD", True)),
        *(("AWS_ACCESS_KEY_ID", False), ("STRIPE_KEYS", False), ("MONKEY", False)),
    ],
)
def test_the_name_of_a_variable_says_what_is_a_credential(name, is_one, monkeypatch):
    """In large and in small letters; the whole name may be such a word."""
    monkeypatch.setenv(name, KEY)
    look()
    shown = redact_text(f"it is {KEY}")
    monkeypatch.undo()
    look()

    assert (MARK in shown) == is_one


def test_the_address_of_a_proxy_holds_a_password_in_any_letters(monkeypatch):
    """As `curl` and others read it."""
    for name in ("http_proxy", "HTTPS_PROXY", "database_url"):
        monkeypatch.setenv(name, f"http://me:{KEY}@host:1")
        look()
        shown = redact_text(f"it is {KEY}")
        monkeypatch.undo()
        look()

        assert MARK in shown, name


@pytest.mark.parametrize("key", ["anything", "end_turn"])
def test_a_credential_that_is_a_word_is_told_of_once(key, tmp_path):
    """It stands in many texts; who gave it is named, and it is not."""
    done = command("run", "-e", f'(print "{key} goes")', cwd=tmp_path, ANTHROPIC_API_KEY=key)
    laid = command("fmt", "-", text="1\n", cwd=tmp_path, ANTHROPIC_API_KEY=key)

    assert (0, "[redacted] goes\n") == (done.returncode, done.stdout)
    assert done.stderr.startswith("warning: `ANTHROPIC_API_KEY` holds a plain word")
    assert 1 == done.stderr.count("warning") and key not in done.stderr
    assert ("1\n", "") == (laid.stdout, laid.stderr)


def test_an_index_names_no_credential(tmp_path):
    """A file with one in its name is left out; it stands in nothing else that is kept."""
    (tmp_path / f"{KEY}.md").write_text("# One")
    (tmp_path / f"{KEY}.d").mkdir()
    (tmp_path / f"{KEY}.d" / "a.md").write_text("# Two")
    (tmp_path / "b.md").write_text(f"# The token is {KEY}")
    (tmp_path / ".gitignore").write_text("notes.db*")
    named = ["-c", f"user.name={KEY}", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "b.md"], [*named, "commit", "-qm", "b"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    done = command("index", ".", "--index", "notes.db", cwd=tmp_path, SHOP_TOKEN=KEY)
    one = command("index", f"{KEY}.md", "--index", "notes.db", cwd=tmp_path, SHOP_TOKEN=KEY)
    held = (tmp_path / "notes.db").read_bytes()

    assert ".: 1 file (1 new, 0 changed, 0 gone; left out: 2 misnamed)\n" == done.stdout
    assert (0, 0) == (one.returncode, one.stderr.count(KEY))
    assert b"The token is" in held and b"canary" not in held


@pytest.mark.parametrize(
    ("address", "to"),
    [
        ("http://me:pw@h:1/?token=ttttttttt1", "http://me:pw@h:1/v1/traces?token=ttttttttt1"),
        ("http://h:1/a/", "http://h:1/a/v1/traces"),
        ("http://h:1/v1/traces?x=1", "http://h:1/v1/traces?x=1"),
    ],
)
def test_the_path_of_a_collector_stands_before_its_parameters(address, to):
    """A parameter is sent as it was given."""
    exporter, _ = _exporter(address)

    assert to == exporter._endpoint


def test_the_hint_for_a_collector_is_about_what_was_typed(tmp_path):
    """And not about the environment."""
    words = ["run", "-e", "1", "--trace", "http://u:longpassword9@[bad/"]
    done = command(*words, cwd=tmp_path, OTEL_SDK_DISABLED="")

    assert 0 != done.returncode
    assert "error[trace-failed]" in done.stderr and "OTEL_" not in done.stderr
    assert "name a collector as http://HOST:4318" in done.stderr
    assert "longpassword9" not in done.stderr


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder whose own name and file names are a credential."""
    monkeypatch.setenv("SHOP_TOKEN", KEY)
    found = tmp_path / KEY
    found.mkdir()
    (found / f"{KEY}.sexp").write_text('(sleep 0)\n(error (read-file "missing"))')
    yield found
    monkeypatch.undo()
    look()


def test_no_name_of_a_file_is_told_that_is_one(folder):
    """Of a program that is there or is not, in its errors, places and recording."""
    told, path = [], folder / "run.jsonl"
    for program in (folder / f"{KEY}.sexp", folder / f"{KEY}-missing.sexp"):
        with pytest.raises((sexplang.Failed, sexplang.Diagnostics)) as failed:
            sexplang.run(program, record=path)
        told.append(f"{failed.value} {vars(failed.value)}")
    told += [path.read_text(), command("runs", "report", path).stdout]

    assert not any(KEY in each for each in told), told
    assert f"{MARK}.sexp:1" in told[2] and f"{MARK}-missing.sexp" in told[1]


def test_a_frozen_run_holds_no_name_of_a_file_that_is_one(folder):
    """And the place of an error is the same when it goes on."""
    program = sexplang.build(folder / f"{KEY}.sexp")
    outcome = sexplang.start(program)
    frozen = sexplang.freeze(outcome)

    def span(outcome):
        slept = outcome.resume(outcome.requests[0].id)
        return slept.resume(slept.requests[0].id, "no tea").error.fields["span"]

    assert KEY not in json.dumps(frozen)
    assert span(outcome) == span(sexplang.thaw(program, frozen))
    assert (2, f"{MARK}.sexp") == (span(outcome)["line"], span(outcome)["source"][-15:])
