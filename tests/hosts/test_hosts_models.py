"""Which model is asked where the command line names none, and what a preview says of it."""

import json

import pytest
from support.command import sexplang
from support.messages_server import MessagesServer

KEY = "sk-ant-very-secret-0123456789"
ASK = '(get-in (model {messages: [{role: "user" content: "Hello"}]}) ["content" 0 "text"])'
SAY = """<task name="say" type="atomic"><description>Says.</description>
<params><param name="what">What.</param></params>
<instructions>Say {{what}}</instructions></task>"""
DATE = '(say (try (get (run-script "date" []) "stdout") (catch (e) "NO DATE")))'
ENDING = '(try (say "tea") (catch (e) (say "milk")) (finally (write-file "left.txt" "x")))'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A project, and the person's own configuration beside it."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    (tmp_path / "own" / "sexplang").mkdir(parents=True)
    project = tmp_path / "project"
    project.mkdir()
    (project / "say.xml").write_text(SAY)
    return project


def project(folder, words):
    (folder / "sexplang.toml").write_text(words)


def own(folder, words):
    (folder.parent / "own" / "sexplang" / "sexplang.toml").write_text(words)


def asked(folder, *options, text=ASK, **environment):
    return sexplang("run", "-e", text, "--quiet", *options, cwd=folder, **environment)


def test_a_configuration_names_the_model_where_nobody_else_does(folder):
    """A file in it is found from there; the project's comes before the person's own."""
    (folder / "replies.json").write_text('["From the project."]')
    (folder.parent / "own" / "sexplang" / "replies.json").write_text('["From the person."]')
    (folder / "sub").mkdir()
    (folder / "sub" / "ask.sexp").write_text(ASK)
    own(folder, '[models]\ndefault = "scripted:replies.json"')

    assert asked(folder).stdout == "From the person.\n"
    project(folder, '[models]\ndefault = "scripted:replies.json"')
    done = sexplang("run", "sub/ask.sexp", "-q", "--allow-read", ".", cwd=folder)
    assert done.stdout == "From the project.\n"


def test_a_project_permits_nothing_by_naming_a_model(folder):
    with MessagesServer("Yes.") as server:
        project(folder, f'[models]\ndefault = "{server.url}#m"')
        refused = asked(folder)
        given = asked(folder, "--allow-net", "127.0.0.1", ANTHROPIC_API_KEY=KEY)

    assert "error[net-denied]" in refused.stderr
    assert given.stdout == "Yes.\n"
    assert [each["authorization"] for each in server.headers] == ["Bearer none"]


def test_a_person_permits_what_their_own_configuration_names(folder):
    """Its server, and other models there; no other server, Anthropic's neither."""
    with MessagesServer("Yes.") as server:
        own(folder, f'[models]\ndefault = "{server.url}#m"')
        there, elsewhere, anthropics = (
            asked(folder, text=ASK.replace("messages", f'model: "{name}" messages'), **key)
            for name, key in [
                (f"{server.url}#n", {}),
                ("http://127.0.0.1:1#m", {}),
                ("claude-x", {"ANTHROPIC_API_KEY": KEY}),
            ]
        )
        own_word = asked(folder, ANTHROPIC_API_KEY=KEY)

    assert (there.stdout, own_word.stdout) == ("Yes.\n", "Yes.\n")
    keys = [each["authorization"] for each in server.headers]
    assert keys == ["Bearer none", f"Bearer {KEY}"]
    assert "127.0.0.1 may not be reached" in elsewhere.stderr
    assert "--allow-net api.anthropic.com" in anthropics.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("zork = 1", "there is no `zork`; it holds the tables [limits], [mcp], [models]"),
        ('model = "local"', "there is no `model`"),
        ('[models]\ndefalt = "local"', "`models` has no `defalt`; it holds default and single_fl"),
        ("[models]\ndefault = 1", "`default` of `models` is the name of a model"),
        ("[models]\nfast = []", "`fast` of `models` is the name of a model"),
        ("[models]\nsingle_flight = 1", "`single_flight` of `models` is true or false"),
        ("models = 1", "`models` is no table"),
    ],
)
def test_a_configuration_holds_nothing_that_means_nothing(folder, words, said):
    for where in (project, own):
        where(folder, words)
        done = asked(folder, text="1")
        where(folder, "")

        assert (done.returncode, done.stdout) == (2, "")
        assert f"sexplang.toml cannot be used: {said}" in done.stderr


# -- previews


def preview(folder, task, *options):
    return sexplang("task", task, "--from", "say.xml", "--preview", *options, cwd=folder)


@pytest.mark.parametrize("model", ["nonsense", "anthropic:", "http://", "scripted:none.json"])
def test_a_preview_refuses_a_model_as_the_run_does(folder, model):
    done = preview(folder, '(say "tea")', "--model", model)
    ran = sexplang("task", '(say "tea")', "--from", "say.xml", "-q", "--model", model, cwd=folder)

    assert (done.returncode, done.stdout) == (1, "")
    first = done.stderr.partition("\n")[0]
    assert first == ran.stderr.partition("\n")[0]


def test_a_preview_shows_the_settings(folder):
    """And how long a reply may be, and what the model lacks of them."""
    text = """<task name="say" type="atomic"><instructions>Say it.</instructions>
    <options temperature="0" stop_sequences='["END"]' effort="low"/></task>"""
    (folder / "say.xml").write_text(text)

    shown = preview(folder, "say", "--model", "anthropic:claude-3-haiku").stdout.splitlines()
    local = preview(folder, "say", "--model", "local").stdout

    assert "        at most 4096 out" in shown
    assert [
        "option  temperature: 0",
        'option  stop_sequences: ["END"]',
        'option  effort: "low"',
    ] == [line for line in shown if line.startswith("option")]
    assert "        at most 1024 out" in local
    assert "warning the local model has no `effort`" in local
    openai = preview(folder, "say", "--model", "openai:gpt-4o").stdout.splitlines()
    assert "        at most 16384 out" in openai and 'option  effort: "low"' in openai


def test_a_preview_tells_what_a_protocol_lacks(folder):
    text = """<task name="say" type="atomic"><instructions>Say it.</instructions>
    <options top_k="3"/></task>"""
    (folder / "say.xml").write_text(text)

    shown = preview(folder, "say", "--model", "openai:http://127.0.0.1:1#m").stdout

    assert "warning the OpenAI protocol has no `top_k`" in shown


@pytest.mark.parametrize(
    ("model", "hint"),
    [
        ("gpt-5", "write openai:gpt-5, which needs OPENAI_API_KEY"),
        ("ollama:llama3.2", "write openai:http://127.0.0.1:11434/v1#llama3.2"),
        ("llama3.2", "--model openai:http://127.0.0.1:11434/v1#llama3.2, --model"),
    ],
)
def test_a_word_that_is_no_model_is_told_what_to_type(folder, model, hint):
    done = asked(folder, "--model", model)

    assert f"`{model}` does not name a model" in done.stderr
    assert hint in " ".join(done.stderr.split())


def test_a_preview_needs_no_key(folder):
    assert "Say tea" in preview(folder, '(say "tea")', "--model", "anthropic:claude-x").stdout


def test_a_preview_asks_no_server_for_anything(folder):
    with MessagesServer() as server:
        (folder / "evil.xml").write_text(
            SAY.replace("</task>", f"<model>{server.url}#m</model></task>").replace("say", "evil")
        )
        words = ["task", "evil", "what=tea", "--from", "evil.xml", "--preview"]
        done = sexplang(*words, cwd=folder)
        permitted = sexplang(*words, "--allow-net", "127.0.0.1", cwd=folder)

    assert server.journal == []
    assert (done.returncode, done.stdout) == (1, "")
    assert "error[net-denied]" in done.stderr
    assert "Say tea" in permitted.stdout


def test_a_preview_ends_at_what_it_does_not_do(folder):
    """The program does not go on with an error that the run would not have."""
    done = preview(folder, DATE, "--allow-run", "date")

    assert done.stdout == '(run-script "date" [])\n'
    assert "which a preview does not perform" in done.stderr


def test_a_preview_ends_at_the_model(folder):
    """What the program would do then is done neither."""
    done = preview(folder, ENDING, "--allow-write", ".")

    assert (done.returncode, "Say tea" in done.stdout) == (0, True)
    assert not (folder / "left.txt").exists()
    assert "milk" not in done.stdout


def test_a_preview_shows_what_an_image_is_and_how_large(folder):
    """And says that the model in the process takes none."""
    (folder / "cup.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(1_000_000))
    (folder / "look.xml").write_text(
        SAY.replace("say", "look").replace(
            "</task>", "<file_paths><path>cup.png</path></file_paths></task>"
        )
    )
    words = ["task", "look", "what=it", "--from", "look.xml", "--preview"]
    done = sexplang(*words, "--model", "local", cwd=folder)

    assert "[image image/png, 1,000,008 bytes]" in done.stdout
    assert "warning the local model cannot read a block of type image" in done.stdout
    assert len(done.stdout) < 1000
    told = json.loads(
        sexplang(*words, "--json", "--model", "anthropic:claude-x", cwd=folder).stdout
    )
    assert told["warnings"] == []
