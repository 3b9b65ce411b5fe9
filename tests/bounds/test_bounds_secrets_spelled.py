"""However a credential is spelled it is found; and what holds one loses nothing else."""

import json
import pickle
from urllib.parse import quote

import pytest

import sexplang
from sexplang.guards.secrets import KNOWN, MARK, look, mask, redact, redact_bytes, silent

KEY = 'sk-abc/"q\\é+1 23'
LINES = ["MIIEvQIBADANBgkqhkiG9w0", "BAQEFAASCBKcwggSjAgEAAo", "IBAQ7q+/x"]
PEM = "\n".join(["-----BEGIN PRIVATE KEY-----", *LINES, "-----END PRIVATE KEY-----"])


@pytest.fixture
def known(monkeypatch):
    """Makes credentials known to this process."""

    def know(**given):
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        look()

    yield know
    monkeypatch.undo()
    look()


def inside(text):
    """What JSON makes of a text, without the quotes around it."""
    return json.dumps(text)[1:-1]


def spelled(key):
    """As those write JSON and addresses who do it in another way than Python."""
    php, address = inside(key).replace("/", "\\/"), quote(key, safe="")
    large = inside(key).replace("\\u00e9", "\\u00E9")
    net = inside(key).replace('\\"', "\\u0022").replace("+", "\\u002B")
    twice = inside(php).replace("/", "\\/")
    return [php, large, net, inside(php), twice, inside(twice), address.lower(), quote(address)]


@pytest.mark.parametrize("text", spelled(KEY))
def test_a_credential_is_found_as_others_spell_it(text, known):
    """PHP's `\\/`, large digits, `\\u002B`, JSON in JSON; in text and in bytes."""
    known(SHOP_TOKEN=KEY)
    data, shown = (f"\0{each}".encode() + b"\xff" for each in (text, MARK))

    assert f"<{MARK}>" == redact(f"<{text}>")
    assert shown == redact_bytes(data)
    assert [MARK] == sexplang.run("(told)", effects={"told": lambda: [text]})


def in_json(text):
    return "".join(f"\\u{ord(each):04x}" for each in text)


def in_address(text):
    return "".join(f"%{each:02x}" for each in text.encode())


def escaped(key):
    """With plain characters escaped, which nobody needs to do: one, or all of them."""
    whole = [in_json(key), in_json(key).upper().replace("U", "u"), inside(in_json(key))]
    whole += [in_address(key), in_address(key).replace("%", "%25")]
    return [*whole, in_json(key[0]) + key[1:], key[:-1] + in_address(key[-1])]


PLAIN = "canary-8g4b0dXYZ"


@pytest.mark.parametrize(
    "text",
    [*escaped(PLAIN), PLAIN.replace("-", "%2D"), *escaped(KEY), KEY.replace("-", "%2d")],
)
def test_a_credential_is_found_though_plain_characters_are_escaped(text, known):
    """Wherever it may be: in a text, in bytes, in a place of a program, or as a beginning."""
    known(SHOP_TOKEN=KEY, PLAIN_KEY=PLAIN)

    assert f"<{MARK}>%41" == redact(f"<{text}>%41") == silent(f"<{text}>%41")
    assert f"\0{MARK}".encode() + b"\xff" == redact_bytes(f"\0{text}".encode() + b"\xff")
    assert f"({'*' * len(text)})" == mask(f"({text})")
    assert [MARK] == sexplang.run("(told)", effects={"told": lambda: [text]})


def test_a_shortened_credential_with_plain_characters_escaped_is_found(known):
    known(SHOP_KEY="begins-here-0123456789-0123456789")

    assert f"{MARK}…" == silent(f"{in_address('begins-here-0123456789-01')}…")


@pytest.mark.parametrize("given", [PEM, PEM.replace("\n", "\\n"), PEM.replace("\n", "\r\n")])
def test_each_line_of_a_credential_is_one(given, known):
    """However lines are broken; what every such key has in it is none."""
    known(SHOP_KEY=given)
    texts = [
        *LINES,
        "\r\n".join(LINES),
        json.dumps(PEM),
        PEM.replace("\n", "\r\n"),
        "\n".join(LINES),
    ]

    assert [MARK] * 3 == [redact(line) for line in LINES]
    assert not any(part in redact(text) for text in texts for part in LINES)
    assert "-----BEGIN PRIVATE KEY-----" == redact("-----BEGIN PRIVATE KEY-----")


def test_what_was_shortened_holds_no_beginning_of_a_credential(known):
    """Of a long one, however it is spelled; what comes behind it stays."""
    key = 'begins/"here\\and' + "0123456789" * 3
    known(SHOP_KEY=key)

    for text in (key, json.dumps(key)[1:-1], json.dumps(key)[1:-1].replace("/", "\\/")):
        for length in range(30, len(text)):
            assert f"{MARK}…" == silent(f"{text[:length]}…")
    assert "begins/" == silent("begins/")


def test_to_look_for_a_credential_takes_linear_time(known):
    """Backslashes in a row are the worst there is: each place is looked at, and left soon."""
    known(SHOP_KEY='\\\\\\"/\\\\é"\\' + "\\" * 20 + "\nabc", OTHER_KEY='"""///"""\\\\\\"\'end')
    known(THIRD_KEY="%25" * 8 + "abc-1")
    text = ("\\" * 50_000 + '"' + "/" * 50_000) + "abc end"
    escaped = f"{text}{'%25' * 50_000}{in_json('abc-') * 5_000}%41"

    assert (text, escaped) == (redact(text), redact(escaped))


def test_keys_of_a_table_that_become_one_are_numbered(known):
    """No value is lost; a key that was there keeps its name."""
    known(A_TOKEN="abcdefgh-12", B_TOKEN="abcdefgh-12345678")
    given = {"abcdefgh-12": 1, "abcdefgh-12345678": 2, "x": 3, "x abcdefgh-12": 4}
    made = sexplang.run("(told)", effects={"told": lambda: given})

    assert {MARK: 1, f"{MARK} (2)": 2, "x": 3, f"x {MARK}": 4} == made
    assert {f"{MARK} (2)": 1, MARK: 2} == redact({"abcdefgh-12": 1, MARK: 2})


def raised(program, **given):
    with pytest.raises((sexplang.Failed, sexplang.Diagnostics)) as caught:
        sexplang.run(program, **given)
    return caught.value


LONG = "canary-7f3a9cXY-0123456789-0123456789-0123456789"


@pytest.mark.parametrize(
    "program",
    [
        f'(raise "{LONG}")',
        f'(error "a" "b" {{x: "{LONG}"}})',
        f'(+ 1 "{LONG}")',
        f'(define ({LONG} n) (let ((m "{LONG}")) (/ 1 n))) (+ 1 ({LONG} 0))',
        f"({LONG})",
        f'(import "{LONG}")',
        f"(define-input {LONG}) 1",
        f"(define-syntax m (syntax-rules () ((_ x) ({LONG} x)))) (m 1)",
        f"(handle (abc) ((abc) resume (resume {LONG})))",
    ],
)
def test_an_error_in_python_holds_no_credential(program, known):
    """Of the program's own text neither: whoever runs it logs the exception."""
    known(SHOP_TOKEN=LONG)
    error = raised(program)
    told = [error, repr(error), getattr(error, "details", None), getattr(error, "trail", None)]
    told += [each.plain() for each in getattr(error, "diagnostics", ())]

    assert "canary" not in "".join(map(str, told))
    assert b"canary" not in pickle.dumps(error)


def test_the_places_of_diagnostics_stay_what_they_are(known):
    """In the text that they are in stars stand for the credential, as many as it has characters."""
    known(SHOP_TOKEN="canary-7f3a9cXY")
    text = '(print "canary-7f3a9cXY")\n(nothing-here)'
    with pytest.raises(sexplang.Diagnostics) as caught:
        sexplang.build(text)
    (found,) = caught.value.diagnostics

    assert ("nothing-here", 2) == (found.span.text, found.span.begin.line)
    assert found.span.source.text == mask(text) == text.replace("canary-7f3a9cXY", "*" * 15)
    assert "canary" not in str(sexplang.check(text)) + repr(sexplang.dispatch(text))


def test_a_result_in_python_holds_no_credential(known):
    """Put together from parts, too; as at the command."""
    known(SHOP_TOKEN="canary-7f3a9cXY")
    program = "(define-input x type: json) (str (get x 0) (get x 1))"

    assert MARK == sexplang.run(program, inputs={"x": ["canary-7", "f3a9cXY"]})


def test_a_symbol_that_is_a_credential_is_taken_out(known):
    """From a value, the details of an error, and a frozen run."""
    known(SHOP_TOKEN=LONG)
    program = sexplang.build(f"(define-effect (ask)) (define x '{LONG}) (ask) x")
    frozen = sexplang.freeze(sexplang.start(program))
    run = sexplang.thaw(program, frozen)

    assert [[MARK], {"a": MARK}, "other"] == sexplang.run(f"[(list '{LONG}) {{a: '{LONG}}} 'other]")
    assert {"value": MARK} == raised(f"(raise '{LONG})").details
    assert "canary" not in json.dumps(frozen)
    assert MARK == sexplang.result(run.resume(run.requests[0].id))


@pytest.mark.parametrize(
    "given",
    [
        {"mcp": {PLAIN: {"colour": 1}}},
        {"mcp": {"shop": {PLAIN: 1}}},
        {"effects": {PLAIN: 1}},
        {"tools": {PLAIN: 1}},
    ],
)
def test_what_is_wrong_with_what_a_host_gives_holds_no_credential(given, known):
    """Names of servers and of functions."""
    known(SHOP_TOKEN=PLAIN)
    error = raised("1", **given)

    assert MARK in str(error)
    assert "canary" not in f"{error}{error.diagnostics[0].plain()}"


def test_who_embeds_is_told_of_a_plain_word(known, caplog):
    """Once, by the log of this package."""
    KNOWN.doubted.clear()
    known(ANTHROPIC_API_KEY="anything")
    sexplang.run("1")
    sexplang.run("1")

    assert ["`ANTHROPIC_API_KEY` holds a plain word"] == [
        each.getMessage().partition(" as ")[0] for each in caplog.records
    ]


def test_an_index_that_python_makes_holds_no_credential(tmp_path, monkeypatch):
    """Though nothing has run yet; and what one says that held one before does not either."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# The token is canary-7f3a9cXY")
    memory = sexplang.Memory(tmp_path / "m.db")
    memory.update({str(tmp_path / "old.md"): "see canary-7f3a9cXY"})
    monkeypatch.setenv("SHOP_TOKEN", "canary-7f3a9cXY")
    memory.add(tmp_path / "docs")
    memory.update({str(tmp_path / "b.md"): "see canary-7f3a9cXY"})
    told = repr(memory.entries()) + repr(memory.search("token"))
    memory.update({str(tmp_path / "old.md"): "nothing"})
    monkeypatch.undo()
    look()

    assert "The token is [redacted]" in told and "canary" not in told
    assert {str(tmp_path / "b.md"): "see [redacted]"}.items() <= memory.entries().items()


def test_the_keys_of_a_frozen_table_are_no_credentials(known):
    """Of the program's own text; none of them is lost."""
    known(A_TOKEN="canary-7f3a9c", B_TOKEN="canary-8g4b0d")
    table = '{"[redacted] (2)": 0 "canary-7f3a9c": 1 "canary-8g4b0d": 2}'
    text = f"(define-effect (ask)) (define t {table}) (ask) t"
    program = sexplang.build(text)
    run = sexplang.start(program)
    frozen = sexplang.freeze(run)
    run = sexplang.thaw(program, frozen)

    assert "canary" not in json.dumps(frozen)
    assert [0, 1, 2] == [*sexplang.result(run.resume(run.requests[0].id)).values()]
