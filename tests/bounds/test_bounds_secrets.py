"""A credential lives with the host alone: no program is given one, and nothing that leaves a run
holds one."""

import base64
import html
import json
import os
import random
import shlex
import string
import sys
from urllib.parse import quote, quote_plus

import pytest
from support.command import served
from support.command import sexplang as command
from support.messages_server import MessagesServer

import sexplang
from sexplang import Failed, Permissions
from sexplang.guards.secrets import KNOWN, MARK, credentials_of, is_plausible, look, redact
from sexplang.runtime.journal.fold import fold
from sexplang.runtime.journal.recording_reader import lines
from sexplang.runtime.journal.rows import Row
from sexplang.runtime.scripts.script_runner import OutputBuffer
from sexplang.terms.json.tagged import unpack
from sexplang.terms.texts.address import split_credentials
from sexplang.terms.values.value import Record

SHAPES = (
    *("{}{}", "{}-{}", "{}_{}", "{}.{}", "sk-ant-api03-{}{}", "{}/{}", "/{}+{}=", "{}=={}"),
    *('{}"{}', "{}\\{}", '\\"{}"\\{}', "{}\\\\{}\\n", "{}'{}'", "{}%{}", "{}%20{}", "{}&{}"),
    *("<{}>{}</a>", "{}?{}#", "{};{}", "{}:{}", "{}@{}", "{}$&{}", "{}|{}", "({}[{}*", "^{}.*{}$"),
    *("{}é{}", "{}ß{}ü", "{}→{}", "{}😀{}", "密碼{}{}", "{}\x7f{}", "{{}}{}{}", "{}~{}!", "`{}`{}"),
    *(
        "{}#{}",
        "{}\\u00e9{}",
        "{} {}",
        "{}\t{}",
        "{}  {}",
        "-----BEGIN KEY {} {}",
        "--\n{}\n{}\n--",
    ),
)
"""Two parts that nothing else holds, in as many shapes; the last six have spaces in them."""


def credentials():
    """Forty-one credentials, each with its parts, which are spelled alike everywhere."""
    draw = random.Random(14)
    letters = string.ascii_letters + string.digits
    found = {}
    for shape in SHAPES:
        parts = ["".join(draw.choices(letters, k=10)) + "7q" for _ in range(2)]
        found[shape.format(*parts)] = parts
    return found


SPOKEN = [*credentials()]
WHERE = {
    **dict.fromkeys(("_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "user", "query", "toml"), SPOKEN),
    "header": SPOKEN[:-6],  # of a header the last word counts
}
"""What is known, by where it is known from."""


def spelled(secret):
    """As it may come in."""
    once = json.dumps(secret)
    php, net = once.replace("/", "\\/"), once.replace('\\"', "\\u0022").replace("+", "\\u002B")
    quoted = [quote(secret), quote(secret, safe=""), quote_plus(secret), quote(quote(secret))]
    written = [once, json.dumps(once), json.dumps(secret, ensure_ascii=False), php, json.dumps(php)]
    return [secret, *written, net, secret.replace("\n", "\r\n"), *secret.splitlines(), *quoted]


LEAKING = """
from pathlib import Path
from mcp.server import MCPServer

server = MCPServer("keys", log_level="CRITICAL")

@server.tool(structured_output=False)
def plain() -> str:
    return Path("key.txt").read_text()

@server.tool()
def shaped() -> dict[str, list[str]]:
    return {line: [line] for line in Path("key.txt").read_text().splitlines()}

@server.tool()
def broken() -> str:
    raise ValueError(Path("key.txt").read_text())

server.run("stdio")
"""

PROGRAM = """
(define-input given)
(define-input end)
(defatom say (params n) (instructions "Say {{n}}"))
(define (failure f) (try (f) (catch (e) e)))
(define texts
  [given
   (read-file "key.txt")
   (read-file "key.txt" "base64")
   (run-script "cat" ["key.txt"])
   (run-script "sh" ["-c" "cat key.txt >&2; exit 3"])
   (failure (lambda () (run-script "sh" ["-c" "cat key.txt; sleep 9"] nil 0.5)))
   (tool "keys:plain" {})
   (tool "keys:shaped" {})
   (failure (lambda () (tool "keys:broken" {})))
   (say given)
   (failure (lambda () (say (read-file "key.txt"))))])
(for-each print texts)
(log "info" texts)
(progress (str texts) 0.5)
(write-file "out.txt" (str texts))
(if (equal? end "error") (error (str texts)) texts)
"""


def known_from(where, secrets, folder, server):
    """The arguments and the environment of a command that knows them."""
    models, environment = ["--model", f"{server.url}#m"], {}
    if where in ("user", "query"):
        models = []
        for at, each in enumerate(secrets):
            user, query = f"://user{at}:{quote(each, safe='')}@", f"?api_key={quote(each, safe='')}"
            if where == "user":
                address = server.url.replace("://", user) + "/"
            else:
                address = f"{server.url}/{query}"
            models += ["--model", f"{f'm{at}=' if at else ''}{address}#m{at}"]
    elif where == "header":
        headers = [f"x-{at}-key=Basic%20{quote(each, safe='')}" for at, each in enumerate(secrets)]
        environment["OTEL_EXPORTER_OTLP_HEADERS"] = ",".join(headers)
    elif where == "toml":
        environment = {f"CANARY{at}": each for at, each in enumerate(secrets)}
        half = len(secrets) // 2
        given = ", ".join(f'C{at} = "secret:CANARY{at}"' for at in range(half))
        (folder / "own" / "sexplang").mkdir(parents=True)
        (folder / "own" / "sexplang" / "sexplang.toml").write_text(
            f"[secrets]\nnames = {[f'CANARY{at}' for at in range(half, len(secrets))]}\n"
            f'[mcp.keys]\ncommand = "{sys.executable}"\nargs = {served("leaking.py")[1:]}\n'
            f"env = {{{given}}}\n"
        )
        environment["XDG_CONFIG_HOME"] = str(folder / "own")
    else:
        environment = {f"CANARY_{at}{where}": each for at, each in enumerate(secrets)}
    if where != "toml":
        models += ["--mcp", f"keys={shlex.join(served('leaking.py'))}"]
    return models, environment


@pytest.mark.parametrize(
    "where",
    [pytest.param(each, marks=[] if each == "user" else [pytest.mark.long]) for each in WHERE],
)
def test_nothing_that_leaves_a_run_holds_a_credential(where, tmp_path):
    """It is known from one place, and comes in from ten: an input, a file, its bytes, a script's
    output, complaints and last words, a server's text, data and error, a model's reply in pieces
    and its error. Nine things are looked at: both outputs, the recording, spans, both reports, what
    a file got, what a model was sent, and the value as JSON."""
    secrets, parts = WHERE[where], credentials()
    (tmp_path / "leaking.py").write_text(LEAKING)
    (tmp_path / "p.sexp").write_text(PROGRAM)
    lines = [line for each in secrets for line in spelled(each)]
    users = [f"user{at}:{each}".encode() for at, each in enumerate(secrets)]
    encoded = [base64.b64encode(each).decode() for each in users if where == "user"]
    lines += encoded  # as a server says it that shows headers
    text = "\n".join(lines)
    (tmp_path / "key.txt").write_text(text)
    pieces = [text[at : at + 20] for at in range(0, len(text), 20)]
    reply = {"content": [{"type": "text", "text": text, "pieces": pieces}]}
    outputs = {}
    with MessagesServer(reply, {"status": 401, "message": text}) as server:
        words, environment = known_from(where, secrets, tmp_path, server)
        words = ["run", "p.sexp", f"given={text}", *words, "--allow-write", "."]
        words += ["--allow-run", "cat", "--allow-run", "sh", "--allow-run", sys.executable]
        environment["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "true"
        kept = ["--record", "r.jsonl", "--trace", "spans.jsonl", "--json", "end=value"]
        value = command(*words, *kept, cwd=tmp_path, **environment)
        server.journal.clear()
        error = command(*words, "end=error", cwd=tmp_path, **environment)
        outputs["sent"] = b"".join(server.bodies).decode()
        if where == "user":
            assert users[0] == base64.b64decode(server.headers[0]["authorization"][6:])
        if where == "query":
            assert f"/v1/messages?api_key={quote(secrets[0])}" == server.paths[0]
    assert (0, 1) == (value.returncode, error.returncode), value.stderr[-500:]
    for flags, name in ((["-o", "r.html"], "r.html"), (["--json", "-o", "r.json"], "r.json")):
        done = command("runs", "report", "r.jsonl", *flags, cwd=tmp_path)
        assert 0 == done.returncode, done.stderr
        outputs[name] = (tmp_path / name).read_text()
    for name in ("r.jsonl", "spans.jsonl", "out.txt"):
        outputs[name] = (tmp_path / name).read_text()
    outputs |= {"value": value.stdout, "notes": value.stderr}
    outputs |= {"printed": error.stdout, "error": error.stderr}
    outputs["bytes"] = base64.b64decode(json.loads(value.stdout)[2]).decode()

    read = {name: html.unescape(output) for name, output in outputs.items()}
    hits = [
        (secret, name)
        for name, output in read.items()
        for secret in secrets
        for part in parts[secret]
        if part in output
    ]
    hits += [(each, name) for name, output in outputs.items() for each in encoded if each in output]
    assert [] == hits
    assert len(secrets) <= outputs["out.txt"].count(MARK)


KEY = 'canary-7f3"a9\\c'


@pytest.fixture
def key(monkeypatch):
    """A credential that this process knows of, with two characters that JSON escapes."""
    monkeypatch.setenv("SHOP_TOKEN", KEY)
    look()
    yield KEY
    monkeypatch.undo()
    look()


def test_what_functions_of_python_give_is_taken_out(key):
    """A tool, an answer, a person, an error, a primitive, a model; and an input before them."""

    def refuse(word):
        raise sexplang.error("closed", f"not with {word}", seen=[key])

    def crash():
        raise ValueError(key)

    program = """(define-input given type: json) (define (failure f) (try (f) (catch (e) e)))
        (define reply (model {messages: [{role: "user" content: "hi"}]}))
        [given (tool "look" {}) (answered) (ask-user "key?") (primitive) reply
         (failure (lambda () (refuse given))) (failure (lambda () (crash)))]"""
    made = sexplang.run(
        program,
        inputs={"given": {key: [key, 1]}},
        tools={"look": lambda: f"it is {key}"},
        effects={
            "answered": lambda: {"deep": [{key: (key,)}]},
            "ask-user": lambda question: json.dumps(key),
            "refuse": refuse,
            "crash": crash,
        },
        primitives={"primitive": lambda: [key]},
        model=lambda payload: f"I say {key}",
    )

    assert "canary" not in json.dumps(made)
    assert [
        {MARK: [MARK, 1]},
        f"it is {MARK}",
        {"deep": [{MARK: [MARK]}]},
        f'"{MARK}"',
        [MARK],
    ] == (made[:5])
    assert f"I say {MARK}" == made[5]["content"][0]["text"]
    assert [MARK] == made[6]["details"]["seen"]


def test_a_run_with_a_key_in_a_file_is_repeated(key, tmp_path):
    """What is recorded is what was delivered: its length is that of `[redacted]`."""
    (tmp_path / "key.txt").write_text(f"the key is {key}!")
    (tmp_path / "p.sexp").write_text(
        '(defatom say (params n) (instructions "Say {{n}}"))'
        '(define t (read-file "key.txt")) [(string-length t) (say (string-length t))]'
    )
    record = tmp_path / "r.jsonl"
    made = sexplang.run(tmp_path / "p.sexp", model=["ok"], record=record)

    assert [len(f"the key is {MARK}!"), "ok"] == made
    assert made == sexplang.run(tmp_path / "p.sexp", model=f"replay:{record}")
    assert key not in record.read_text() and "canary" not in record.read_text()


def test_a_run_is_the_fold_over_what_was_recorded(key, tmp_path):
    """With a key in a file, too: the rows of the file lead to the same value."""
    (tmp_path / "key.txt").write_text(key * 3)
    text = '(define t (read-file "key.txt")) (now) (print (string-length t)) [t (string-length t)]'
    program, record = sexplang.build(text), tmp_path / "r.jsonl"
    allowed = Permissions(folder=tmp_path)
    made = sexplang.run(program, permissions=allowed, record=record)
    rows = [
        Row(each["id"], each["operation"], *map(unpack, said), False, 1, 0.0, 0.0)
        for _, each in lines(str(record))
        if "reply" in each and (said := (each["arguments"], each["reply"]))
    ]
    folded = fold(sexplang.start(program), rows)

    assert [MARK * 3, 30] == made == sexplang.result(folded)


def test_a_frozen_run_holds_no_credential(key):
    """What was answered by hand is redacted where it is written down, also in a long text."""
    program = sexplang.build(
        "(define-effect (ask)) (define t (ask)) (define long (str (ask) t))"
        "(ask) [t (string-length long) (substring long 0 10)]"
    )
    run = sexplang.start(program)
    for reply in (f"it is {key}", key + "x" * 2_000):
        run = run.resume(run.requests[0].id, reply)
    frozen = sexplang.freeze(run)
    run = sexplang.thaw(program, frozen)
    made = sexplang.result(run.resume(run.requests[0].id, None))

    assert "canary" not in json.dumps(frozen)
    assert [f"it is {MARK}", len(f"{MARK}it is {MARK}") + 2_000, MARK] == made


def test_an_index_holds_no_credential(tmp_path):
    """Of what it says about a file, nothing is a credential."""
    (tmp_path / "notes.md").write_text(f"# The token of the shop is {KEY}\n")
    done = command("index", ".", "--index", "notes.db", cwd=tmp_path, SHOP_TOKEN=KEY)
    held = (tmp_path / "notes.db").read_bytes()

    assert 0 == done.returncode
    assert b"The token of the shop is" in held and b"canary" not in held


def test_the_address_of_a_model_is_shown_without_its_credentials(tmp_path):
    """Not to a person, not in the result, not in the recording; the server is sent them."""
    with MessagesServer({"status": 401, "message": "no"}) as server:
        address = f"{server.url.replace('://', '://me:CANARY-PW123@')}/?api_key=CANARY-Q123&v=2#m"
        words = ["task", '(model {messages: [{role: "user" content: "a"}]})', "--json"]
        done = command(*words, "--model", address, "--record", "r.jsonl", cwd=tmp_path)
        given = server.headers[0]["authorization"], server.paths[0]
    recorded = (tmp_path / "r.jsonl").read_text()

    assert "CANARY" not in done.stdout + done.stderr + recorded
    assert f"{server.url}/?v=2#m" in done.stdout and f"{server.url}/?v=2#m" in recorded
    assert b"me:CANARY-PW123" == base64.b64decode(given[0].removeprefix("Basic "))
    assert "/v1/messages?api_key=CANARY-Q123&v=2" == given[1]


def test_a_program_names_no_credential(tmp_path):
    """Only a person gives one: a program that does is refused, and what it wrote is not kept."""
    (tmp_path / "p.sexp").write_text(
        '(model {model: "http://127.0.0.1:9/?token=CANARY-1234#m"'
        ' messages: [{role: "user" content: "a"}]})'
    )
    record = ["--record", "r.jsonl", "--allow-net", "127.0.0.1"]
    done = command("run", "p.sexp", *record, cwd=tmp_path)

    assert "error[net-denied]" in done.stderr and "which only a person gives" in done.stderr
    assert "CANARY" not in (tmp_path / "r.jsonl").read_text()


@pytest.mark.parametrize(
    ("own", "project", "said"),
    [
        ("", '[mcp.a]\ncommand = "b"\nenv = {A = "secret:CANARY"}', "only a person gives a secret"),
        ("", '[mcp.a]\nurl = "http://b"\nheaders = {A = "secret:CANARY"}', "--mcp 'a={url"),
        ("", '[mcp.a]\nurl = "http://b"\nheaders = {A = "B secret:CANARY"}', "--allow-net b, or"),
        ("", '[secrets]\nnames = ["CANARY"]', "only a person says what is a secret"),
        ("", '[models]\na = "http://me:long-enough@host#m"', "holds a credential, which only"),
        ('[secrets]\nnames = ["SHORT"]', "", "`SHORT` is shorter than 8 characters"),
        ('[secrets]\nother = ["CANARY"]', "", "`secrets` holds `names`, a list of variables"),
        ("[secrets]\nnames = [1]", "", "is that of a variable of the environment"),
        ('[mcp.a]\ncommand = "b"\nenv = {A = "secret:SHORT"}', "", "`SHORT` is shorter than 8"),
        ('[mcp.a]\ncommand = "b"\nenv = {A = "secret:NO"}', "", "the environment has no `NO`"),
        ('[mcp.a]\nurl = "http://b"\nheaders = {A = "secret:NO"}', "", "type: export NO=VALUE"),
    ],
)
def test_a_person_declares_what_is_a_secret(own, project, said, tmp_path):
    """In their own configuration, and in no project's; too short a value is refused."""
    (tmp_path / "own" / "sexplang").mkdir(parents=True)
    (tmp_path / "own" / "sexplang" / "sexplang.toml").write_text(own)
    (tmp_path / "sexplang.toml").write_text(project)
    (tmp_path / "p.sexp").write_text("1")
    more = {"XDG_CONFIG_HOME": str(tmp_path / "own"), "CANARY": "long-enough-1", "SHORT": "1234567"}
    done = command("run", "p.sexp", cwd=tmp_path, **more)

    assert (2, "") == (done.returncode, done.stdout)
    assert said in done.stderr


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        *(("k3y", False), ("production", False), ("customer_id", False), ("us-east", False)),
        *((sys.executable, False), ("a1b2c3d", False), ("correct horse battery staple", True)),
        *(("a1b2c3d4", True), ("/abc+1=/no/such/file", True), ("12345678", True)),
        ("A035C8C19219BA821ECEA86B64E628F8D684696D", True),
    ],
)
def test_a_value_is_a_credential_if_it_looks_like_it(value, is_one):
    """Where only the name of a variable says so: no placeholder, no word or two, no path."""
    assert is_one == is_plausible(value)


@pytest.mark.parametrize(
    ("address", "shown", "found"),
    [
        ("http://host:1/a?v=2#m", "http://host:1/a?v=2#m", []),
        ("http://me:pa55word@host/#m", "http://host/#m", ["pa55word", "bWU6cGE1NXdvcmQ="]),
        ("http://me:a%40b@host", "http://host", ["a%40b", "a@b", "bWU6YUBi"]),
        ("http://t0ken1234@host", "http://host", ["t0ken1234", "dDBrZW4xMjM0"]),
        ("http://postgres@host", "http://host", []),
        ("http://host/?API-Key=k1&n=3", "http://host/?n=3", ["k1"]),
        ("fast=http://host?sig=s%2F1", "fast=http://host", ["s%2F1", "s/1"]),
        ("http://me:a#b@host", "http://host", ["a#b", "bWU6YSNi"]),
        ("http://me:a/b@c@host/x", "http://host/x", ["a/b@c", "bWU6YS9iQGM="]),
        ("http://[::1]:80/a@b#c@d", "http://[::1]:80/a@b#c@d", []),
        ("scripted:a@b?key=c", "scripted:a@b?key=c", []),
    ],
)
def test_an_address_is_shown_without_what_opens_it(address, shown, found):
    """Its user and password, parameters with such a name; and so is what a server says of them."""
    assert (shown, found) == (split_credentials(address)[0], credentials_of(address))


def test_addresses_that_differ_in_their_credentials_alone_are_two():
    """Each is asked with its own, and another model at an address with that of the first."""
    from sexplang.terms.model.roles import read_models

    models = read_models("http://a:1@h/#m", {"x": "http://b:2@h/#m", "y": "http://a:1@h/#m"})

    assert ("http://h/#m", "http://2@h/#m") == (models.default, models.own["x"])
    assert "http://h/#m" == models.own["y"]
    assert "http://b:2@h/#m" == models.with_credentials("http://2@h/#m")
    assert "http://a:1@h/#n" == models.with_credentials("http://h/#n")
    assert "a:1" not in repr(models)


def test_what_is_cut_holds_no_beginning_of_a_credential(key):
    """An output is looked through before it is cut, wherever that falls."""
    whole = f"it is {key}, you see".encode()
    for most in range(len(whole)):
        kept = OutputBuffer(most)
        for at in range(len(whole)):
            kept.take(whole[at : at + 1])

        assert "can" not in kept.text and len(kept.text) <= most and kept.cut


def test_a_value_without_a_credential_stays_what_it_is(key):
    """Nothing is copied that need not be; what is changed keeps its kinds, however deep."""
    deep = "x"
    for _ in range(100_000):
        deep = (deep,)
    value = ({"a": deep, "b": Record("error", {"c": (1, None, 2.5)})}, "text")

    assert redact(value) is value
    made = redact((value, Record("error", {key: (key,)}, ("answer",))))
    assert ("error", {MARK: (MARK,)}) == (made[1].kind, made[1].fields)
    assert ("answer",) == made[1].answer
    assert value[0]["b"].fields == made[0][0]["b"].fields


def test_without_a_credential_there_is_nothing_to_look_for(monkeypatch):
    """In a process that knows of none."""
    for name in [*os.environ]:
        monkeypatch.delenv(name)
    look()
    monkeypatch.setattr(KNOWN, "given", {})

    assert frozenset() == KNOWN.environment


def test_a_variable_may_hold_anything(tmp_path):
    """Bytes that are no text, and JSON: a recording of data that is spelled alike is one still."""
    (tmp_path / "p.sexp").write_text('(print {"a1": ["b2"]} "a1") {"a1": ["b2"]}')
    environment = {
        "SHOP_KEY": '{"a1": ["b2"]}',
        "SHOP_TOKEN": "a1b2c3d4\udcff/",
        "SHOP_URL": "http://\udcff:p\udcffassword@host/?key=%ff%00abcdefgh/",
    }
    done = command("run", "p.sexp", "--record", "r.jsonl", cwd=tmp_path, **environment)

    assert (0, "") == (done.returncode, done.stderr)
    assert 0 == command("runs", "report", "r.jsonl", "-o", "r.html", cwd=tmp_path).returncode


def test_no_permission_of_a_script_gives_it_a_credential(key):
    """Its environment is small, whoever started the command."""
    run = '(get (run-script "env" []) "stdout")'
    made = sexplang.run(run, permissions=Permissions(run=["env"]))

    assert "SHOP_TOKEN" not in made and MARK not in made
    with pytest.raises(Failed, match="may not be run here"):
        sexplang.run(run)
