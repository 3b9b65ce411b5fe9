"""Embeddings: one key of `model`'s payload, the same for every kind of model."""

import json
import math

import anyio
import pytest
from runtime_support import asked, begun, drive, perform, request, table
from support.chat_server import chat_server
from support.messages_server import MessagesServer
from support.running import begun as begun_text
from support.running import built, error_of

import sexplang
from sexplang.pipeline.pipeline import inspect
from sexplang.runtime import Refusal
from sexplang.runtime.models.adapters import local
from sexplang.runtime.models.adapters.stream_accumulator import StreamAccumulator
from sexplang.runtime.models.embeddings.local_embedder import PROMPT, embed_locally
from sexplang.runtime.models.embeddings.word_counts import count_words
from sexplang.runtime.models.payload_check import check_payload
from sexplang.terms.model.roles import read_models

EMBED = {"embed": ["green tea", "a cup"]}
KEY = b"k" * 16
needs_it = pytest.mark.skipif(not local.is_installed(), reason="engine or weights not installed")


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        ({"embed": []}, "`embed` in the payload"),
        ({"embed": ["a", ""]}, "not blank"),
        ({"embed": ["a", " \n"]}, "not blank"),
        ({"embed": "a"}, "`embed` in the payload"),
        ({"embed": ["a", 3]}, "`embed` in the payload"),
        ({"embed": ["a"] * 2049}, "at most 2,048 texts"),
        ({"embed": ["a"], "messages": []}, "`messages` in the payload"),
        ({"embed": ["a"], "temperature": 0}, "`temperature` in the payload"),
        ({"embed": ["a"], "max_tokens": 5}, "`max_tokens` in the payload"),
        ({"embed": ["a"], "tools": []}, "`tools` in the payload"),
        ({"embed": ["a"], "output_schema": {}}, "`output_schema` in the payload"),
        ({"embed": None}, "a list of messages"),
        ({"embeddings": ["a"]}, "no key `embeddings`"),
    ],
)
def test_what_is_no_request_for_embeddings_is_refused(payload, words):
    """Whoever the model is, before anything is asked."""
    with pytest.raises(Refusal) as caught:
        check_payload(payload)
    fields = caught.value.error.fields

    assert ("protocol_error", "bad-payload") == (fields["reason"], fields["details"]["code"])
    assert words in fields["message"]


def test_what_may_stand_beside_it():
    payload = {"embed": ["a"] * 2048, "model": "m", "timeout": 3, "task": "t", "provider": {}}
    payload |= {"system": None, "temperature": None}

    assert payload == check_payload(payload)


def test_check_finds_it_in_the_text():
    """A key that was meant, and a value."""
    for text, words in (
        ('(model {input: ["a"]})', "did you mean `embed`?"),
        ('(model {embed: "a"})', "is not a list of at most 2,048 texts"),
    ):
        (found,) = inspect(built(text)).findings
        assert "bad-payload" == found.code
        assert words in f"{found.title} {found.hint}"


# -- Budgets --------------------------------------------------------------------------------------


def test_a_budget_reserves_the_texts_and_no_output():
    """The payload is sent as it is, without a bound of its output."""
    text = '(with-budget {tokens: 1000} (model {embed: ["one text" "another"]}))'
    outcome = begun_text(text)
    (sent,) = [each for each in outcome.requests if each.operation == "model"]

    assert {"embed"} == sent.arguments[0].keys()


def test_what_does_not_fit_into_a_budget_is_not_sent():
    long = "word " * 100
    text = f'(with-budget {{tokens: 100}} (model {{embed: ["{long}"]}}))'

    assert "tokens" == error_of(begun_text(text))["reason"]


def test_a_budget_is_charged_what_was_used():
    """Two calls fit where the first used less than it reserved, and a third does not."""
    used = {"input_tokens": 30, "output_tokens": 0}
    text = '(define (ask) (length (get (model {embed: ["tea"]}) "embeddings")))'
    text += "(try (with-budget {tokens: 100} (ask) (ask) (ask)) (catch (e tokens) e.details.spent))"

    assert 60 == sexplang.run(text, model=lambda _: {"embeddings": [[1.0]], "usage": used})


# -- Replies --------------------------------------------------------------------------------------

WRONG = [
    [[1.0]],
    [[1.0], [1.0, 2.0]],
    [[1.0], []],
    [[1.0], ["a"]],
    [[1.0], [True]],
    [[1.0], [math.nan]],
    [[1.0], [math.inf]],
    [[1.0], 2],
    [],
]


@pytest.mark.parametrize("vectors", WRONG, ids=str)
def test_a_reply_with_wrong_vectors_is_bad(vectors):
    """Of a function, as a list and in a table, and of a script."""
    text = '(model {embed: ["a" "b"]})'
    said = [lambda _: vectors, lambda _: {"embeddings": vectors}, [{"embeddings": vectors}]]
    for model in said:
        with pytest.raises(sexplang.Failed) as caught:
            sexplang.run(text, model=model)
        fields = caught.value.error.fields
        assert ("protocol_error", "bad-reply") == (fields["reason"], fields["details"]["code"])


def test_a_text_is_no_reply_and_vectors_are_none_to_messages():
    for text, said in (
        ('(model {embed: ["a"]})', "Tea."),
        ('(model {messages: [{role: "user" content: "a"}]})', {"embeddings": [[1.0]]}),
    ):
        with pytest.raises(sexplang.Failed) as caught:
            sexplang.run(text, model=lambda _, said=said: said)
        assert "bad-reply" == caught.value.error.fields["details"]["code"]


async def _later(payload):
    await anyio.sleep(0)
    return [[len(text)] for text in payload["embed"]]


@pytest.mark.parametrize(
    "model",
    [
        lambda payload: [[len(text)] for text in payload["embed"]],
        lambda payload: {"embeddings": [[9], [5]], "usage": {"input_tokens": 3}},
        [{"embeddings": [[9], [5]]}],
        _later,
    ],
    ids=["list", "table", "script", "async"],
)
def test_functions_and_lists_give_vectors(model):
    reply = sexplang.run('(model {embed: ["green tea" "a cup"]})', model=model)

    assert [[9], [5]] == reply["embeddings"]
    assert 0 == reply["usage"]["output_tokens"]
    assert {"embeddings", "usage", "model"} == reply.keys()


# -- Scripts --------------------------------------------------------------------------------------


def script(tmp_path, said):
    (tmp_path / "replies.json").write_text(json.dumps(said))
    return f"scripted:{tmp_path}/replies.json"


def test_a_number_of_dimensions_counts_words(tmp_path):
    """Equal texts have equal vectors; more words in common are more similar."""
    model = script(tmp_path, [{"reply": {"embeddings": 256}}])
    texts = ["Tea is wet", "tea is  wet!", "Tea is dry", "A clock"]
    one, same, near, far = asked(model, {"embed": texts}).value["embeddings"]
    again = asked(model, {"embed": texts}).value["embeddings"]

    assert (256, one, 1.0) == (len(one), again[0], round(math.hypot(*one), 9))
    assert one == same
    assert sum(map(float.__mul__, one, near)) > 0.5 > sum(map(float.__mul__, one, far))
    assert [0.0] * 8 == count_words("?!", 8)


def test_a_rule_fits_requests_of_its_kind(tmp_path):
    """Rules of both kinds stand in one script; an error fits both."""
    rules = [
        {"contains": "cup", "reply": {"embeddings": [[1, 2], [3, 4]]}, "times": 1},
        {"contains": "broken", "reply": {"error": "overloaded_error"}},
        {"reply": {"embeddings": 4}},
        {"reply": "Wet."},
    ]
    model = script(tmp_path, rules)
    message = {"messages": ({"role": "user", "content": "a cup"},)}

    assert ((1, 2), (3, 4)) == asked(model, EMBED).value["embeddings"]
    assert "Wet." == asked(model, message).value["content"][0]["text"]
    assert 4 == len(asked(model, {"embed": ["x"]}).value["embeddings"][0])
    assert "scripted-error" == error_of(asked(model, {"embed": ["broken"]}))["details"]["code"]


def test_a_script_without_vectors_shows_the_texts(tmp_path):
    told = error_of(asked(script(tmp_path, [{"reply": "Wet."}]), EMBED))

    assert ("script-mismatch", "a cup") == (told["reason"], told["details"]["last_message"])
    assert "the request is for embeddings" in told["message"]
    assert 'add a rule with embeddings: {"reply": {"embeddings": 64}}' == told["hint"]


@pytest.mark.parametrize("said", [0, -1, 4097, True, "many", None, {"a": 1}])
def test_a_script_with_no_form_of_vectors_is_refused(tmp_path, said):
    told = error_of(asked(script(tmp_path, [{"embeddings": said}]), EMBED))

    assert "bad-script" == told["reason"]


# -- Servers of the OpenAI protocol ---------------------------------------------------------------


def vectors(*rows, **more):
    """A reply with these vectors, out of order as some servers send them."""
    data = [{"index": at, "embedding": row} for at, row in enumerate(rows)]
    usage = {"prompt_tokens": 5, "total_tokens": 5}
    return {"status": 200, "body": {"data": data[::-1], "model": "e-1", "usage": usage, **more}}


def test_a_server_of_the_openai_protocol_gives_vectors():
    """By one request to `/v1/embeddings`; what `provider` says goes with it."""
    with chat_server(vectors([1, 0.5], [0, 2.5])) as server:
        payload = {**EMBED, "provider": {"dimensions": 2}}
        reply = asked(f"openai:{server.url}#e", payload).value

    assert ((1, 0.5), (0, 2.5)) == reply["embeddings"]
    assert ({"input_tokens": 5, "output_tokens": 0}, "e-1") == (reply["usage"], reply["model"])
    sent = {"model": "e", "input": [*EMBED["embed"]], "encoding_format": "float", "dimensions": 2}
    assert ["/v1/embeddings"] == server.paths
    assert [sent] == server.journal


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("a page", "it has no `data`"),
        ({"data": [1, 2]}, "it has no `data`"),
        ({"object": "chat.completion", "choices": []}, "it has no `data`"),
        ({"data": [{"embedding": [1]}]}, "1 vectors for 2 texts"),
        ({"data": [{"index": 1, "embedding": [1]}] * 2}, "indexes"),
        ({"data": [{"index": [], "embedding": [1]}] * 2}, "indexes"),
        ({"data": [{"embedding": "AACAPw=="}] * 2}, "vector 0 is not a list"),
        ({"data": [{"embedding": [1]}] * 2, "usage": {"prompt_tokens": -1}}, "whole numbers"),
        ({"data": [{"embedding": [1]}, {"embedding": [1, 2]}]}, "vector 1 has 2 numbers"),
    ],
    ids=str,
)
def test_what_a_server_says_instead_is_named(body, words):
    with chat_server({"status": 200, "body": body}) as server:
        told = error_of(asked(f"openai:{server.url}#e", EMBED))

    assert "bad-reply" == told["details"]["code"]
    assert words in told["message"]
    assert 1 == len(server.journal)


def test_without_usage_a_budget_keeps_its_reservation():
    with chat_server(vectors([1], [2], usage=None)) as server:
        reply = asked(f"openai:{server.url}#e", EMBED).value

    assert reply["usage"] is None


@pytest.mark.parametrize(
    ("says", "code", "sent"),
    [
        ({"status": 429}, "model-busy", 3),
        ({"status": 500}, "model-failed", 3),
        ({"status": 404, "message": "no model e"}, "model-not-found", 1),
        ({"status": 400, "message": "no"}, "model-refused-request", 1),
        ({"fail": "garbage"}, "bad-reply", 1),
        ({"status": 307, "headers": {"location": "http://127.0.0.1:1/"}}, "model-redirected", 1),
    ],
    ids=str,
)
def test_embeddings_fail_and_are_tried_again_as_conversations(says, code, sent):
    with chat_server(says) as server:
        told = error_of(asked(f"openai:{server.url}#e", EMBED))

    assert (code, sent) == (told["details"]["code"], len(server.journal))


def test_of_several_models_the_first_alone_is_asked():
    """Vectors of two models cannot be compared."""
    with chat_server({"status": 500}) as broken, chat_server(vectors([1], [2])) as other:
        both = [f"openai:{server.url}#e" for server in (broken, other)]
        told = error_of(drive(begun(perform("model", EMBED)), table(models=read_models(both))))

    assert "model-failed" == told["details"]["code"]
    assert [] == other.journal


@pytest.fixture(scope="module")
def engine():
    """The engine of the local model for embeddings, which serves those who have the key."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local.os, "urandom", lambda count: KEY)
        patch.setattr(local, "_loaded", {})
        found = local.open_engine(local._weights(""), embeds=True)
    local._loaded[local._weights(""), True] = found
    return found


@needs_it
def test_the_engine_of_the_local_model_serves_the_same_vectors(engine, monkeypatch):
    """A real server of the protocol."""
    (expected,) = asked("local", {"embed": ["tea"]}).value["embeddings"]
    monkeypatch.setenv("OPENAI_API_KEY", KEY.hex())
    reply = asked(
        f"openai:{engine.listening_address}#m", {"embed": [PROMPT.replace("{}", "tea")]}
    ).value

    assert (expected,) == reply["embeddings"]
    assert reply["usage"]["input_tokens"] > 5


# -- Recordings, traces, servers of the Messages protocol -----------------------------------------


def test_the_messages_protocol_has_none():
    """By name, and nothing is sent."""
    with MessagesServer() as server:
        told = error_of(asked(f"{server.url}#m", EMBED))

    assert "model-refused-request" == told["details"]["code"]
    assert "the Messages protocol has no embeddings" == told["message"]
    assert [] == server.journal


def test_a_recording_gives_the_same_vectors(tmp_path):
    text = '(import std/vectors) (nearest 2 (embed "tea") (embed ["a" "tea" "teas"]))'

    def model(payload):
        return [[len(each) / 7, 1.0] for each in payload["embed"]]

    first = sexplang.run(text, model=model, record=tmp_path / "run.jsonl")

    assert 2 == len(first)
    assert first == sexplang.run(text, model=f"replay:{tmp_path}/run.jsonl")
    with pytest.raises(sexplang.Failed) as caught:
        sexplang.run(text.replace('"teas"', '"cup"'), model=f"replay:{tmp_path}/run.jsonl")
    assert "journal-mismatch" == caught.value.error.fields["reason"]


def test_a_span_of_embeddings_says_so():
    from sexplang.runtime.journal.rows import Row
    from sexplang.runtime.traces.span_attributes import of_reply, of_request

    name, _, facts = of_request(request("model", EMBED), read_models("local"), content=True)
    reply = {"embeddings": ((1.0, 2.0, 3.0),), "usage": {"input_tokens": 4}, "model": "m"}
    told = of_reply(Row("0.0", "model", (), reply, False, 1, 0, 0), content=True)

    assert ("embeddings local", "embeddings") == (name, facts["gen_ai.operation.name"])
    assert 3 == told["gen_ai.embeddings.dimension.count"]
    assert "gen_ai.output.messages" not in told


# -- The model in the process ---------------------------------------------------------------------


@needs_it
def test_the_local_model_finds_what_is_meant():
    """The same vectors twice, with tokens counted."""
    texts = ["Let the leaves steep.", "Invoices are due in May.", "The train leaves at nine."]
    whole = asked("local", {"embed": [*texts, "brew tea", "pay a bill"]})
    *known, tea, bill = whole.value["embeddings"]

    def best(query):
        return max(range(3), key=lambda at: sum(map(float.__mul__, query, known[at])))

    assert (0, 1) == (best(tea), best(bill))
    assert known[0] == asked("local", {"embed": texts[:1]}).value["embeddings"][0]
    assert whole.value["usage"]["input_tokens"] > 40
    assert whole.value["model"].startswith("local:")


@needs_it
def test_a_text_beyond_the_local_models_context_is_refused_by_name():
    told = error_of(asked("local", {"embed": ["word " * 3000]}))

    assert ("RESOURCE_EXHAUSTION", "context") == (told["type"], told["reason"])


@needs_it
def test_a_setting_of_a_provider_is_refused_by_the_local_model():
    told = error_of(asked("local", {"embed": ["a"], "provider": {"dimensions": 3}}))

    assert "the local model has no `provider`" == told["message"]


@needs_it
def test_a_call_that_is_withdrawn_ends_between_two_texts():
    """A thousand texts would take ten seconds."""

    async def main():
        with anyio.move_on_after(0.1) as scope:
            await local.local()(
                {"embed": ["tea"] * 1000}, request("model", EMBED), StreamAccumulator()
            )
        return scope.cancelled_caught

    assert anyio.run(main)


def test_a_file_with_its_own_pooling_is_given_the_bare_texts(tmp_path, monkeypatch):
    """Any other is asked for the meaning in one word."""
    heard = []

    class Engine:
        def handle_embeddings(self, asked):
            heard.append(asked["input"][0])
            return {"data": [{"embedding": [1.0]}], "usage": {"prompt_tokens": 2}}

    monkeypatch.setattr(
        "sexplang.runtime.models.embeddings.local_embedder.open_engine",
        lambda weights, *, embeds: Engine(),
    )
    for name, head in (("own", b"GGUF bert.pooling_type"), ("none", b"GGUF llama.block_count")):
        (tmp_path / name).write_bytes(head)
        reply = anyio.run(embed_locally, {"embed": ["tea"]}, str(tmp_path / name), name)
        assert {"input_tokens": 2, "output_tokens": 0} == reply["usage"]

    assert ["tea", 'This text: "tea" means in one word: "'] == heard
