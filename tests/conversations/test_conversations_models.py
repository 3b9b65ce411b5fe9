"""Who answers to which name of a model, at the wire: two servers, and a program with a cheap and a
strong model, a fallback in `catch`, another in a handler of `model`, and a judge."""

import json
import logging

import pytest
from support.command import sexplang as command
from support.messages_server import MessagesServer
from support.recorded import put_lines

import sexplang
from sexplang import Permissions

PROGRAM = """
(defatom draft (model "cheap") (instructions "draft"))
(defatom judged (model "judge") (instructions "judge"))
(defatom plain (instructions "plain"))
(define said (try (draft) (catch (e) (answer (call-atomic-task 'draft model: "strong")))))
(define again
  (handle (plain)
    ((model p) k (k (try (model p) (catch (e) (model (put p "model" "strong"))))))))
[said (judged) again]
"""
BUSY = {"status": 400, "message": "no such model here"}


@pytest.fixture
def two(monkeypatch):
    """A server that answers as `cheap` and fails what it does not know, and another."""
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with MessagesServer(_only("cheap", "main")) as a, MessagesServer("B") as b:
        yield a, b


def _only(*names):
    return lambda body: "A" if body["model"] in names else BUSY


def received(server):
    """The prompt, and the model as the server is told it."""
    return [(each["messages"][0]["content"][0]["text"], each["model"]) for each in server.journal]


def run_with(model, **given):
    return sexplang.run(PROGRAM, model=model, **given)


def test_each_role_is_asked_where_its_name_says(two):
    a, b = two
    names = {"default": f"{a.url}#main", "cheap": f"{a.url}#cheap"}
    run_with({**names, "judge": f"{b.url}#judge", "strong": f"{b.url}#strong"})

    assert [("draft", "cheap"), ("plain", "main")] == received(a)
    assert [("judge", "judge")] == received(b)


def test_a_fallback_is_another_model(two):
    """Of a `catch`, and of a handler that puts `model` into the payload."""
    a, b = two
    names = {"default": f"{a.url}#bad", "cheap": f"{a.url}#bad", "judge": f"{a.url}#main"}
    assert run_with({**names, "strong": f"{b.url}#strong"}) == ["B", "A", "B"]

    assert [("draft", "bad"), ("plain", "bad"), ("judge", "main")] == received(a)
    assert [("draft", "strong"), ("plain", "strong")] == received(b)


def test_a_default_answers_to_roles_that_nobody_gives_a_model(two):
    a, b = two
    run_with(f"{a.url}#main")

    assert [("draft", "main"), ("plain", "main"), ("judge", "main")] == received(a)
    assert [] == received(b)


def test_a_star_answers_to_every_name_but_those_that_are_given(two):
    a, b = two
    run_with({"*": f"{a.url}#main", "judge": f"{b.url}#j"})

    assert [("draft", "main"), ("plain", "main")] == received(a)
    assert [("judge", "j")] == received(b)


def test_an_id_is_itself(two):
    """A name in a template or a call wins over the default."""
    a, b = two
    text = f'(defatom say (model "{b.url}#own") (instructions "say")) (say)'
    asked = {"model": f"{a.url}#main"}
    net = Permissions(net=["127.0.0.1"])
    assert "B" == sexplang.run(text, permissions=net, **asked)
    called = f'(call-atomic-task \'say model: "{a.url}#cheap")'
    assert "A" == sexplang.run(f"{text} (answer {called})", permissions=net, **asked)

    assert [("say", "own"), ("say", "own")] == received(b)
    assert [("say", "cheap")] == received(a)


def test_a_gateway_answers_to_ids_by_name(two):
    """`claude-…` is the same name with its provider."""
    a, b = two
    text = """(defatom one (model "claude-haiku-4-5") (instructions "one"))
    (defatom two (model "anthropic:claude-opus-4-5") (instructions "two")) [(one) (two)]"""
    names = {"anthropic:claude-haiku-4-5": f"{a.url}#cheap", "claude-opus-4-5": f"{b.url}#strong"}
    assert ["A", "B"] == sexplang.run(text, model=names)


@pytest.mark.parametrize("played", ["scripted:replies.json", "replay:run.jsonl"])
def test_a_test_or_a_replay_answers_everybody(two, played, tmp_path, monkeypatch):
    """Whatever a configuration says. A request has the name for its digest, so a replay needs to
    know of no model."""
    a, b = two
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    (tmp_path / "own" / "sexplang").mkdir(parents=True)
    own = tmp_path / "own" / "sexplang" / "sexplang.toml"
    own.write_text(f'[models]\ndefault = "{a.url}#main"\njudge = "{b.url}#j"\ncheap = "judge"')
    (tmp_path / "replies.json").write_text('["S"]')
    (tmp_path / "p.sexp").write_text(PROGRAM)
    first = command("run", "p.sexp", "--record", "run.jsonl", cwd=tmp_path)
    asked = [received(a), received(b)]
    assert first.stdout == '["B" "B" "A"]\n', first.stderr
    assert [[("plain", "main")], [("draft", "j"), ("judge", "j")]] == asked

    own.write_text(own.read_text().replace("127.0.0.1", "127.0.0.2"))
    done = command("run", "p.sexp", "--model", played, cwd=tmp_path)
    expected = first.stdout if played.startswith("replay") else '["S" "S" "S"]\n'
    assert expected == done.stdout, done.stderr
    assert asked == [received(a), received(b)]


# -- the command


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    (tmp_path / "own" / "sexplang").mkdir(parents=True)
    project = tmp_path / "project"
    project.mkdir()
    (project / "p.sexp").write_text(PROGRAM)
    return project


def test_what_was_named_and_what_answered_is_said_once_and_recorded(two, folder):
    a, b = two
    words = ("run", "p.sexp", "--model", f"{a.url}#main", "--model", f"judge={b.url}#j")
    done = command(*words, "--record", "run.jsonl", cwd=folder)
    said = [line for line in done.stderr.splitlines() if line.startswith("models: ")]
    assert [
        f"models: judge is {b.url}#j; no model is set for cheap: {a.url}#main answers "
        "(to set one: --model cheap=MODEL)"
    ] == said
    lines = [json.loads(line) for line in (folder / "run.jsonl").read_text().splitlines()]
    named = {line["named"]: line["answers"] for line in lines if "named" in line}
    assert {None: f"{a.url}#main", "cheap": f"{a.url}#main", "judge": f"{b.url}#j"} == named
    (row,) = [line for line in lines if "judge" in str(line.get("arguments"))]
    assert "j" == row["reply"]["model"] and b.url not in str(row["arguments"])
    for quiet in ("--json", "--quiet"):
        assert "models: " not in command(*words, quiet, cwd=folder).stderr
    told = json.loads(command("runs", "report", "run.jsonl", "--json", cwd=folder).stdout)
    rows = [(row["named"], row["answered"], row["model"]) for row in told["rows"]]
    assert ("judge", f"{b.url}#j", "j") in rows
    command("runs", "report", "run.jsonl", "-o", "run.html", cwd=folder)
    assert "judge → j" in (folder / "run.html").read_text()


def test_the_configuration_of_a_person_and_of_a_project_name_roles(two, folder):
    """That of a project grants nothing; the person's comes first."""
    a, b = two
    (folder / "sexplang.toml").write_text(f'[models]\ncheap = "{b.url}#p"\njudge = "{b.url}#p"')
    own = folder.parent / "own" / "sexplang" / "sexplang.toml"
    own.write_text(f'[models]\ndefault = "{a.url}#main"\ncheap = "{a.url}#cheap"\n"*" = "local"')
    refused = command("run", "p.sexp", cwd=folder)
    given = command("run", "p.sexp", "--allow-net", "127.0.0.1", cwd=folder)

    assert "error[net-denied]" in refused.stderr
    assert '["A" "B" "A"]\n' == given.stdout, given.stderr
    assert [("judge", "p")] == received(b)
    assert ("draft", "cheap") in received(a) and ("plain", "main") in received(a)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["=x"], "`=x` has no name before `=`; write NAME=x"),
        (["a="], "`a=` names no model; write a=local"),
        ([""], "`` names no model; write NAME=local"),
        (["a=x", "a=y"], "`a` is given twice, `a=x` and `a=y`; give it once"),
        (["*=x", "*=y"], "`*` is given twice"),
        (["x", "y"], "it is given twice; give it once, and others with a name: NAME=MODEL"),
        (["x", "default=y"], "it is given twice"),
    ],
)
@pytest.mark.parametrize("run", [("run", "-e", "1"), ("task", "(+ 1 1)"), ("repl",)])
def test_models_that_are_named_badly_are_misuse(run, words, said, tmp_path):
    given = [each for word in words for each in ("--model", word)]
    done = command(*run, *given, cwd=tmp_path, text="1")

    assert (2, "") == (done.returncode, done.stdout)
    assert said in " ".join(done.stderr.split()).replace("│ ", "")


def test_a_file_or_an_address_may_hold_the_sign(folder):
    (folder / "a=b.json").write_text('["S"]')
    done = command("run", "p.sexp", "-q", "--model", "scripted:a=b.json", cwd=folder)
    named = command("run", "p.sexp", "-q", "--model", "*=scripted:a=b.json", cwd=folder)

    assert done.stdout == named.stdout == '["S" "S" "S"]\n'


def test_a_role_may_stand_for_another_and_not_for_itself(two, folder):
    a, _ = two
    words = ("--model", "cheap=judge", "--model", "judge=strong", "--model", f"{a.url}#main")
    done = command("run", "p.sexp", *words, "--model", f"strong={a.url}#cheap", cwd=folder)
    circle = command("run", "p.sexp", *words, "--model", "strong=cheap", cwd=folder)

    assert '["A" "A" "A"]\n' == done.stdout, done.stderr
    assert "leads back to itself" in circle.stderr


def test_a_name_that_no_program_has_is_a_warning(two, folder):
    """Which says the names that there are; one that stands in a list may be meant."""
    a, _ = two
    words = ("--model", f"*={a.url}#main", "--model", "juge=local")
    done = command("run", "p.sexp", *words, cwd=folder)
    strict = command("run", "p.sexp", *words, "--strict", cwd=folder)
    task = command("task", '(model {messages: [] model: "x"})', *words[2:], cwd=folder)
    listed = (*words[:2], "--model", "odd=other", "--model", "other=local")
    quiet = command("run", "-e", '(define names ["odd" "even"]) 1', *listed, cwd=folder)

    said = "warning[unused-model]: nothing in this program names the model `juge`"
    assert (0, True) == (done.returncode, said in done.stderr), done.stderr
    assert "`cheap`, `judge`, `strong`; --model M answers" in done.stderr
    assert (1, True) == (strict.returncode, said in strict.stderr)
    assert said in task.stderr and "that it names are `x`" in task.stderr
    assert "warning" not in quiet.stderr


def test_check_lists_the_roles_that_a_program_names(folder):
    done = command("check", "p.sexp", cwd=folder)
    told = json.loads(command("check", "p.sexp", "--json", cwd=folder).stdout)

    assert "p.sexp: names the model judge: set it with --model judge=MODEL\n" in done.stdout
    assert ["cheap", "judge", "strong"] == told["files"]["p.sexp"]["models"]


def test_models_of_the_command_answer_what_a_test_does_not(two, folder):
    """Those that are named; no configuration and no key names one for a test."""
    a, b = two
    forms = PROGRAM.strip()
    (folder / "t.test.sexp").write_text(
        f'(test "roles" {forms} script: [{{contains: "plain" reply: "mine"}}] match: [_ _ "mine"])'
    )
    (folder / "replies.json").write_text('[{"task": "draft", "reply": "D"}]')
    own = folder.parent / "own" / "sexplang" / "sexplang.toml"
    own.write_text(f'[models]\ndefault = "{a.url}#main"')
    words = ("--model", f"judge={b.url}#j")
    refused = command("test", "t.test.sexp", *words, cwd=folder)
    given = command("test", "t.test.sexp", *words, "--model", f"cheap={a.url}#cheap", cwd=folder)
    script = command("test", ".", *words, "--model", "scripted:replies.json", cwd=folder)
    played = command("test", ".", "--model", "replay:run.jsonl", cwd=folder)
    wrong = command("test", ".", "--model", "=x", cwd=folder)

    assert (1, True) == (refused.returncode, "unscripted-request" in refused.stdout)
    assert (0, "") == (given.returncode, given.stderr), given.stdout
    assert (0, "") == (script.returncode, script.stderr), script.stdout
    assert (2, True) == (played.returncode, "a test repeats no recording" in played.stderr)
    assert (2, True) == (wrong.returncode, "`=x` has no name" in wrong.stderr)
    assert ([("draft", "cheap")], [("judge", "j")] * 2) == (received(a), received(b))


@pytest.mark.parametrize("name", ["run", "task", "test", "repl"])
def test_help_shows_models_by_name(name, folder):
    assert "--model judge=" in command(name, "--help", cwd=folder).stdout


def test_help_of_runs_shows_a_run_with_models(folder):
    assert "--model judge=" in command("runs", "report", "--help", cwd=folder).stdout


def test_a_replay_needs_neither_the_model_nor_its_price(folder):
    """Budgets in money and windows are those of the models that answered then."""
    (folder / "p.sexp").write_text(
        """(defatom draft (model "cheap") (limits max_output_tokens: 4000) (instructions "draft"))
        (with-budget {usd: 0.01} [(draft) (draft)])"""
    )
    with MessagesServer("ok") as server:
        words = ("--model", f"cheap={server.url}#claude-haiku-4-5")
        first = command("run", "p.sexp", *words, "--record", "run.jsonl", cwd=folder)
    again = command("run", "p.sexp", "--model", "replay:run.jsonl", cwd=folder)
    lines = (folder / "run.jsonl").read_text()

    assert '["ok" "ok"]\n' == first.stdout == again.stdout, again.stderr
    assert all(each["max_tokens"] < 4000 for each in server.journal)
    changed = [json.loads(line) for line in lines.splitlines()]
    dear = [{**each, "usd": None} if "named" in each else each for each in changed]
    put_lines(folder / "dear.jsonl", map(json.dumps, dear))
    refused = command("run", "p.sexp", "--model", "replay:dear.jsonl", cwd=folder)
    assert "nobody knows the price" in refused.stderr


def test_a_script_that_is_not_there_ends_a_run_before_it_begins(two, folder):
    """Before anything is paid for that a program might catch."""
    a, _ = two
    words = ("--model", f"{a.url}#main", "--model", "judge=scripted:none.json")
    done = command("run", "p.sexp", *words, cwd=folder)

    assert (1, "") == (done.returncode, done.stdout)
    assert "error[bad-script]: none.json cannot be read" in done.stderr
    assert [] == a.journal


def test_a_model_that_gives_no_answer_is_named(folder):
    """On standard error, and in the page of the recording."""
    with MessagesServer({"status": 400, "type": "invalid_request_error"}) as server:
        words = ("--model", f"{server.url}#main", "--record", "bad.jsonl")
        done = command("run", "-e", '(defatom a (instructions "x")) (str (a))', *words, cwd=folder)
        command("runs", "report", "bad.jsonl", "-o", "bad.html", cwd=folder)

    assert f"model {server.url}#main (no answer): 1 call, 0 tokens in, 0 out" in done.stderr
    assert f"{server.url}#main (no answer)" in (folder / "bad.html").read_text()


def test_the_log_of_python_has_names_that_lead_nowhere(caplog):
    """One that nothing in the program holds, and one for which the default answers."""
    program = '(defatom a (model "fast") (instructions "x")) (a)'
    with MessagesServer("ok") as server, caplog.at_level(logging.WARNING, "sexplang"):
        url = f"{server.url}#m"
        assert "ok" == sexplang.run(program, model={"default": url, "fas": url})
        first = [each.getMessage() for each in caplog.records]
        caplog.clear()
        assert "ok" == sexplang.run(program, model={"default": url, "fast": url})

    assert [] == caplog.records
    assert first == [
        "nothing in this program names the model `fas`; the models that it names are `fast`",
        f"the model fast is {url}, the default: no model is set for that name",
    ]
