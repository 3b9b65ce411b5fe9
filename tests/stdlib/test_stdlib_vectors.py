"""Search by meaning: what `std/vectors` asks a model for, and what it makes of the reply."""

import pytest

import sexplang


def lengths(payload):
    """A model whose vectors say how long the texts are."""
    return [[float(len(text)), 1.0] for text in payload["embed"]]


def run(text, model=lengths, **settings):
    return sexplang.run(f"(import std/vectors) {text}", model=model, **settings)


def test_a_text_has_a_vector_and_a_list_has_a_list():
    assert [3.0, 1.0] == run('(embed "tea")')
    assert [[3.0, 1.0], [1.0, 1.0]] == run('(embed ["tea" "a"])')
    assert [] == run("(embed [])", model=lambda payload: pytest.fail("nothing is asked"))


def test_the_name_of_the_model_goes_with_each_request():
    seen = []
    run(
        '[(embed "a" model: "finder") (embed "a")]',
        model=lambda payload: seen.append(payload) or lengths(payload),
    )

    assert [{"embed": ["a"], "model": "finder"}, {"embed": ["a"]}] == seen


def test_many_texts_are_sent_a_hundred_at_a_time_and_keep_their_order():
    sizes = []

    def model(payload):
        sizes.append(len(payload["embed"]))
        return lengths(payload)

    vectors = run('(embed (map (lambda (n) (string-repeat "x" (+ n 1))) (range 250)))', model=model)

    assert [float(n) for n in range(1, 251)] == [vector[0] for vector in vectors]
    assert [50, 100, 100] == sorted(sizes)


def test_the_answer_of_a_task_is_a_text():
    text = '(defatom write (instructions "Write.")) (embed [(call-task write) (write)])'

    def model(payload):
        return lengths(payload) if "embed" in payload else "Rain"

    assert [[4.0, 1.0], [4.0, 1.0]] == run(text, model=model)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("(embed 3)", "wrong-type"),
        ('(embed ["a" nil])', "wrong-type"),
        ('(embed "")', "protocol_error"),
        ('(embed ["a" "  "])', "protocol_error"),
        ('(handle (embed "a") ((model p) resume (resume "Tea.")))', "protocol_error"),
        (
            '(handle (embed ["a" "b"]) ((model p) resume (resume {embeddings: [[1]]})))',
            "protocol_error",
        ),
    ],
)
def test_what_is_no_text_and_what_is_no_reply_is_named(text, reason):
    with pytest.raises(sexplang.Failed) as caught:
        run(text)

    assert reason == caught.value.error.fields["reason"]


def test_a_handler_of_model_answers_in_place_of_a_model():
    text = '(handle (nearest 1 (embed "tea") (embed ["a" "tea"]))'
    made = "(map (lambda (text) [(string-length text) 1]) payload.embed)"

    text += f" ((model payload) resume (resume {{embeddings: {made}}})))"

    assert 1 == run(f"(first (first {text}))", model=None)
