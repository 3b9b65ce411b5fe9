"""A credential that a person gives to a server of models reaches that server, and nothing else."""

import html

import pytest
from support.chat_server import chat_server
from support.command import sexplang as command
from support.messages_server import MessagesServer

import sexplang

SECRETS = {
    "ANTHROPIC_API_KEY": "c4nary-0-9a7b3c1d",
    "OPENAI_API_KEY": "c4nary-1-8b6d2e4f",
    "header": "c4nary-2-7c5e1f3a",
    "user": "c4nary-3-6d4f9b2c",
    "password": "c4nary-4-5e3a8c1d",
    "query": "c4nary-5-4f2b7d9e",
}

PROGRAM = """
(define-input end)
(defatom a (model "messages") (instructions "Say it."))
(defatom b (model "chat") (instructions "Say it."))
(defatom c (model "own") (instructions "Say it."))
(define texts [(a) (b) (c)])
(for-each print texts)
(write-file "out.txt" (str texts))
(if (equal? end "error") (error (str texts)) texts)
"""


def telling(make):
    """A server that answers with the headers and the address that it was sent."""
    server = make(lambda body: " ".join([*server.headers[-1].values(), server.paths[-1]]))
    return server


def test_what_a_model_is_given_stands_in_no_output(tmp_path, monkeypatch):
    """Six credentials: two keys and a header of the environment, and three in an address of one's
    own configuration. Their servers tell them all."""
    (tmp_path / "p.sexp").write_text(PROGRAM)
    own = tmp_path / "own" / "sexplang"
    own.mkdir(parents=True)
    outputs = {}
    with telling(MessagesServer) as messages, telling(chat_server) as chat:
        address = chat.url.replace("//", "//{user}:{password}@") + "/v1?key={query}#own"
        (own / "sexplang.toml").write_text(
            f'[models]\nmessages = "claude-opus-5-5"\nchat = "openai:gpt-5"\n'
            f'own = "openai:{address.format(**SECRETS)}"\n'
        )
        environment = {
            "ANTHROPIC_API_KEY": SECRETS["ANTHROPIC_API_KEY"],
            "ANTHROPIC_BASE_URL": messages.url,
            "ANTHROPIC_CUSTOM_HEADERS": f"X-Team-Token: {SECRETS['header']}",
            "OPENAI_API_KEY": SECRETS["OPENAI_API_KEY"],
            "OPENAI_BASE_URL": chat.url,
            "XDG_CONFIG_HOME": str(own.parent),
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true",
        }
        for end in ("value", "error"):
            words = ["run", "p.sexp", f"end={end}", "--allow-write", ".", "--stream", "-v"]
            words += ["--record", f"{end}.jsonl", "--trace", f"{end}.spans"]
            done = command(*words, cwd=tmp_path, **environment)
            assert (end == "error") == done.returncode, done.stderr[-800:]
            outputs |= {f"{end} out": done.stdout, f"{end} err": done.stderr}
            told = command("runs", "report", f"{end}.jsonl", "-o", f"{end}.html", cwd=tmp_path)
            assert 0 == told.returncode, told.stderr
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(tmp_path)
        events, queue = [], sexplang.EventQueue()
        with pytest.raises(sexplang.Failed) as raised:
            sexplang.run(
                PROGRAM,
                inputs={"end": "error"},
                model={"messages": "claude-opus-5-5", "chat": "openai:gpt-5"}
                | {"own": f"openai:{address.format(**SECRETS)}"},
                on_event=[events.append, queue],
                event_content=True,
                permissions=sexplang.Permissions(write=["."]),
            )
    heard = [*events, *queue]
    outputs["events"] = "\n".join([f"{each!r} {vars_of(each)}" for each in heard])
    outputs["raised"] = f"{raised.value} {raised.value.details} {raised.value.trail}"
    (own / "sexplang.toml").unlink()
    for each in tmp_path.iterdir():
        if each.is_file():
            outputs[each.name] = each.read_bytes().decode("utf-8", "replace")

    sent = f"{messages.headers} {chat.headers} {chat.paths}"
    assert {"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "header", "query"} <= {
        name for name, value in SECRETS.items() if value in sent
    }
    assert 3 <= outputs["out.txt"].count("[redacted]")
    assert "Said" in outputs["events"] and "[redacted]" in outputs["events"]
    hits = [
        (name, secret)
        for name, output in outputs.items()
        for secret, value in SECRETS.items()
        if value[3:-1] in html.unescape(output)  # a text may be cut
    ]
    assert [] == hits


def vars_of(event):
    """All that an event says of itself and of its request."""
    return [getattr(event, name) for name in dir(event) if not name.startswith("__")]
