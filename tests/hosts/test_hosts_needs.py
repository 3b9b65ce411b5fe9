"""`run` names what a program may need and does not have, before a model is paid."""

import pytest
from support.command import sexplang

TASK = '(defatom kind (params (text string)) (instructions "What is {{text}}?"))\n'
SAVES = '(write-file "out.csv" (kind "a"))'
RUNS = '(bind done (run-script "true" [])) (kind done.stdout)'
READS = '(kind (read-file "../style.md"))'
ASKS = '(define-effect (approve what) "Asks.") (kind (approve 1))'


def ran(folder, text, *options, name="sub/p.sexp"):
    (folder / "sub").mkdir(exist_ok=True)
    (folder / name).write_text(text)
    (folder / "r.json").write_text('["one"]')
    words = ["run", name, "--model", "scripted:r.json", "--no-record", *options]
    return sexplang(*words, cwd=folder)


@pytest.mark.parametrize(
    ("text", "missing", "given"),
    [
        (SAVES, "--allow-write sub/out.csv", ["--allow-write", "sub"]),
        (SAVES, "--allow-write sub/out.csv", ["--allow-write", "sub/out.csv"]),
        (RUNS, "--allow-run true", ["--allow-run", "true"]),
        (READS, "--allow-read style.md", ["--allow-read", "."]),
        (SAVES + RUNS, "--allow-write sub/out.csv, --allow-run true", None),
        (ASKS, "--pause approve", None),
    ],
)
def test_a_missing_permission_is_named_before_the_first_request(tmp_path, text, missing, given):
    (tmp_path / "style.md").write_text("plain")
    said = ran(tmp_path, TASK + text).stderr.splitlines()
    assert f"note: it may need {missing}" == said[0]
    assert 1 == sum(line.startswith("note: it may") for line in said)
    assert "it may need" not in ran(tmp_path, TASK + text, "--quiet").stderr
    if given is not None:
        assert "it may need" not in ran(tmp_path, TASK + text, *given).stderr


@pytest.mark.parametrize(
    "text",
    [
        TASK + '(kind (read-file "p.sexp"))',
        TASK + f"(handle {SAVES} ((write-file path text) resume (resume nil)))",
        '(write-file "out.csv" "a")',
    ],
)
def test_nothing_is_said_of_what_needs_nothing_or_has_no_task(tmp_path, text):
    assert "it may need" not in ran(tmp_path, text).stderr


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("locl", "did you mean `local`?"),
        ("banana", "name one: --model local, --model anthropic:ID, --model openai:ID, "),
    ],
)
def test_a_misspelt_model_is_corrected_and_a_list_is_short(tmp_path, name, hint):
    (tmp_path / "p.sexp").write_text(TASK + '(kind "a")')
    said = sexplang("run", "p.sexp", "--model", name, "--no-record", cwd=tmp_path).stderr
    (line,) = [line for line in said.splitlines() if "hint: " in line]
    assert hint in line and len(line) < 220
    assert ("sexplang doctor" in line) == (name == "banana")


@pytest.mark.parametrize(
    ("type", "sample"),
    [
        ("[string]", """'["a", "b"]'"""),
        ("[integer]", "'[1, 2]'"),
        ("[{a: integer}]", """'[{"a": 1}]'"""),
        ("list", """'["a", "b"]'"""),
        ("json", """'{"a": 1}'"""),
    ],
)
@pytest.mark.parametrize("given", [[], ["texts=true"], ["texts=[oops"]])
def test_the_hint_of_an_input_is_of_its_type(tmp_path, type, sample, given):
    (tmp_path / "p.sexp").write_text(f"(define-input texts type: {type}) texts")
    said = sexplang("run", "p.sexp", *given, cwd=tmp_path).stderr
    assert f"texts={sample}" in said or (type, given) == ("json", ["texts=true"])


def test_a_failed_run_says_how_to_go_on_with_an_edited_program(tmp_path):
    (tmp_path / "p.sexp").write_text(TASK + '(bind x (kind "a")) (first [])')
    (tmp_path / "r.json").write_text('["one"]')
    words = ["run", "p.sexp", "--model", "scripted:r.json", "--store", "runs.db"]
    assert "(edited the program? add --accept-changes)" in sexplang(*words, cwd=tmp_path).stderr


def test_a_folder_is_checked_whole(tmp_path):
    (tmp_path / "a/.hidden").mkdir(parents=True)
    (tmp_path / "p.sexp").write_text("(+ 1 2)")
    (tmp_path / "a/q.sexp").write_text("(+ 1 nothing)")
    (tmp_path / "a/.hidden/r.sexp").write_text("(")
    (tmp_path / "a/notes.txt").write_text("(")
    done = sexplang("check", ".", cwd=tmp_path)
    assert (1, True) == (done.returncode, "2 files: 1 error, no warnings" in done.stderr)
    assert "a/q.sexp:1:6" in done.stderr
    (tmp_path / "empty").mkdir()
    assert "`empty` is a folder, not a file" in sexplang("check", "empty", cwd=tmp_path).stderr


@pytest.mark.parametrize("words", [["-e", "(+ 1 2)"], ["eval", "(+ 1 2)"], ["eval"]])
def test_a_text_to_run_is_shown_its_command(words):
    done = sexplang(*words)
    assert 2 == done.returncode
    assert "type: sexplang run -e '(+ 1 2)'" in done.stderr


def test_the_words_for_nil_in_a_list_find_filter_map():
    assert "(filter-map f xs)" in sexplang("doc", "remove nil from list").stdout.splitlines()[0]
