"""Replies that are made to cost whoever reads them: linear work, and an account of it."""

import pytest

import sexplang
from benchmarks.growth_replies import JSON, REQUESTED
from sexplang.tasks.requests.continuation import continuation
from sexplang.templates import read_reply
from sexplang.templates.reply.json_repair import MOST_STEPS
from sexplang.templates.reply.reply import MOST_SEARCHED
from sexplang.terms.json.strict import MOST_PARTS
from sexplang.terms.template import OutputFormat

ARRAY = OutputFormat("json", "array")
LARGEST = 16_000_000
"""Bytes of a reply, at most."""


def test_the_largest_reply_of_escaped_quotes_is_no_json():
    """A reader that starts at each quote again would take a year."""
    reading = read_reply('["' + '\\"' * (LARGEST // 2), ARRAY)

    assert "Unterminated string starting at line 1, column 2" in (reading.problem or "")
    assert "not searched for JSON" in str(reading.details["givenUp"])


@pytest.mark.parametrize("name", JSON)
def test_a_long_reply_comes_to_a_value_or_a_problem(name):
    """Whatever its shape: no test may take as long as quadratic work on it would."""
    reading = read_reply(JSON[name](200_000), ARRAY)

    assert reading.problem is None or reading.problem.endswith("without a word.")


@pytest.mark.parametrize("name", REQUESTED)
def test_a_long_reply_that_may_ask_for_something_is_read_in_one_pass(name):
    """Also where it is none."""
    continuation(REQUESTED[name](200_000), {}, OutputFormat())


def test_what_is_given_up_has_a_name_for_the_person_and_a_place_for_the_model():
    """Mended is what is worth so many steps."""
    few = read_reply(f"[{'1,' * (MOST_STEPS // 2)}]", ARRAY)
    many = read_reply(f"[{'1,' * MOST_STEPS}]", ARRAY)

    assert (few.problem, few.repairs) == (None, ("left out a comma before ]",))
    assert "not JSON: Expecting value at line 1, column" in (many.problem or "")
    assert many.details["givenUp"] == f"the mending of JSON was given up after {MOST_STEPS:,} steps"


def test_json_has_so_many_parts_at_most():
    """Commas and brackets are counted before the first is read."""
    assert read_reply(f"[{'1,' * (MOST_PARTS - 1)}1]", ARRAY).problem is None
    problem = read_reply(f"[{'1,' * MOST_PARTS}1]", ARRAY).problem or ""
    assert f"it has more than {MOST_PARTS:,} brackets and commas" in problem


def test_a_long_text_that_is_json_is_taken_and_one_with_words_around_is_not():
    """What is JSON as it stands needs no search."""
    long = f'["{"a" * MOST_SEARCHED}"]'

    assert read_reply(long, ARRAY).problem is None
    assert read_reply(f"Sure: {long}", ARRAY).problem is not None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("```\n```", None),
        ("<think></think>" * 5_000 + "[1]", (1,)),
        ("<think>a</think>\n<reasoning>[2]</reasoning> [1]", (1,)),
    ],
)
def test_an_empty_fence_and_many_thoughts_are_read(text, value):
    """They ended in an exception of Python."""
    reading = read_reply(text, ARRAY)

    assert reading.value == value
    assert (reading.problem is None) == (value is not None)


def test_a_request_has_so_many_parts_at_most_too():
    """The model is told; a text that is none stays an answer."""
    parts = ",".join(["1"] * 100_001)
    asked = '{"status": "CONTINUATION", "notes": {"subtask_request": {"name": "a", "b": [%s]}}}'
    request = continuation(asked % parts, {}, OutputFormat())

    assert request is not None
    assert "too large" in request.problems["result"]
    assert continuation(f'{{"subtask": [{parts}]}}', {}, OutputFormat()) is None


def test_a_text_in_which_no_request_is_looked_for_is_told_where_it_may_be_one():
    """Else it is an answer, however long."""
    long = "subtask " * 130_000

    assert continuation(f"{long} {{}}", {}, OutputFormat()) is None
    request = continuation(f'{long} {{"status": "CONTINUATION"}}', {}, OutputFormat())
    assert request is not None
    assert "longer than" in request.problems["result"]


SHARING = "(define (shared n x) (if (= n 0) x (shared (- n 1) (list x x))))"
"""Forty lists that share their parts stand for 10^12."""
SHARED = {
    "in a prompt": ("Say {{x}}", "(t (shared 40 1))"),
    "in no prompt": ("a", "(t (shared 40 1))"),
    "by name": ("a", '(subtask {name: "t" inputs: {x: (shared 40 1)}})'),
    "a text, again and again": ("Say {{x}}", "(t (map (lambda (i) text) (range 0 100)))"),
}


@pytest.mark.parametrize("shared", SHARED)
def test_what_stands_for_more_than_there_is_goes_into_no_prompt(shared):
    """A deadline could not end what writes it down."""
    words, call = SHARED[shared]
    task = f'(defatom t (params x) (description "d") (instructions "{words}"))'
    text = '(define text (string-join (map (lambda (i) "ten points") (range 0 50000)) ""))'

    reason = sexplang.run(f"{SHARING} {text} {task} (try {call} (catch (e) e.reason))")

    assert reason == "limit-string"


def test_a_model_asks_for_a_tool_with_no_more_than_can_be_written():
    block = '{type: "tool_use" id: "1" name: "f" input: {x: (shared 40 1)}}'
    task = '(defatom t (instructions "a") (allowed_tools f) (limits max_turns: 2))'
    answer = f'((model p) k (k {{content: [{block}] stop_reason: "tool_use"}}))'

    reason = sexplang.run(
        f"{SHARING} {task} (handle (try (t) (catch (e) e.reason)) ((tool n i) k (k 1)) {answer})"
    )

    assert reason in ("input_validation_failure", "turns")


@pytest.mark.parametrize(
    ("returns", "reply"),
    [
        ('(or nil (one-of "none" "some"))', "none"),
        ('(or boolean (one-of "True" "Maybe"))', "True"),
        ('(or integer (one-of "+5" "5."))', "+5"),
        ('{a: (or nil (one-of "None"))}', '{"a": None}'),
        ("{a: (or string nil)}", '{"a": none}'),
        ("[(or integer string)]", "[+5]"),
    ],
)
def test_a_word_that_may_be_a_text_of_the_type_is_asked_again(returns, reply):
    asked: list[str] = []
    program = (
        f'(defatom t (instructions "x") (returns {returns})) (try (t) (catch (e) "none of it"))'
    )

    def model(payload):
        asked.append(payload["messages"][-1]["content"])
        return reply

    assert sexplang.run(program, model=model) == "none of it"
    assert "it may be a text, or another value" in str(asked[1])
