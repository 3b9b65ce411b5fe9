"""What hosts see of a model request is what `plain` makes of it, however it came about."""

import pytest
from tasks_driver import converse, failure, says, system, template, uses

from sexplang.terms.task import Perform
from sexplang.terms.template import FilePaths, Limits, OutputFormat, Param, Template
from sexplang.terms.values.boundary import plain

FILE = FilePaths(source="literal", paths=("a.png",))
HISTORY = (
    {"role": "user", "content": "tea?"},
    {"role": "assistant", "content": ({"type": "text", "text": "tea"},)},
)


def asks_of(run):
    """All that its model was asked with."""
    return [ask for perform in run.performed for ask in perform.asks if ask.operation == "model"]


@pytest.mark.parametrize(
    "task, script, overrides",
    [
        (template("Say {{x}}.", "x"), [says("ok")], {}),
        (template("Say {{x}}.", "x", system="Be {{x}}."), [says("ok")], {"model": "a:b"}),
        (template("Say {{x}}.", "x"), [says("ok")], {"history": HISTORY}),
        (
            template("", "x", description="Say {{x}}.", limits=Limits(max_turns=2)),
            [says("a", "pause_turn"), says("b")],
            {},
        ),
        (
            template("Say {{x}}.", "x", output_format=OutputFormat("json", "number")),
            [says("no"), says("1")],
            {},
        ),
        (
            template("Say {{x}}.", "x", allowed_tools=("read_file",)),
            [uses(("1", "read_file", {"path": "a"})), (failure(),), says("ok")],
            {},
        ),
        (template("Look.", "x", file_paths=FILE), [("aGk=",), says("ok")], {}),
    ],
)
def test_a_request_is_sent_as_plain_data(task, script, overrides):
    """Whether or not the task says at once what that is."""
    given = {"x": "tea"} if task.params else {}
    asks = asks_of(converse(task, script, given, overrides))

    assert asks
    for ask in asks:
        assert ask.sent in (None, tuple(map(plain, ask.arguments)))


def test_who_changes_what_was_sent_changes_nothing_else():
    """Neither the next call of the task nor what a handler of `model` sees."""
    task, tasks = template("Say {{x}}.", "x"), system()

    def first():
        _, _, want = tasks.begin(task, {"x": "tea"}, {}, ())
        assert isinstance(want, Perform)
        return want.asks[0]

    one, expected = first(), plain(first().arguments[0])
    one.sent[0]["tools"].append("mine")
    one.sent[0]["messages"][0]["content"][0]["text"] = "mine"
    one.sent[0]["messages"][0]["content"].append("mine")

    assert expected == plain(one.arguments[0])
    assert (expected,) == first().sent


def test_inputs_in_another_order_are_the_same_inputs():
    """What a call gives by name stands in any order, and is bound all the same."""
    task = template("{{a}} {{b}}", "a", "b", name="t")
    tasks = system()
    one, _, asked = tasks.begin(task, {"a": "x", "b": " y  z"}, {}, ())
    other, _, again = tasks.begin(task, {"b": "y z", "a": "x "}, {}, ())

    assert one.signature == other.signature
    assert "x  y  z" == asked.asks[0].arguments[0]["messages"][0]["content"][0]["text"]
    assert "x  y z" == again.asks[0].arguments[0]["messages"][0]["content"][0]["text"]


@pytest.mark.parametrize("others", [("xy", ""), ("", "x y"), ("y", "x"), ("x", "y ", "")])
def test_no_two_other_inputs_have_one_signature(others):
    """Where one input ends and the next begins is a part of it."""
    tasks = system()

    def signature(*values):
        names = "abc"[: len(values)]
        task = template("Do it.", *names)
        return tasks.begin(task, dict(zip(names, values, strict=True)), {}, ())[0].signature

    assert signature("x", "y") != signature(*others)


def test_usual_inputs_and_others_are_checked_alike():
    """What is left out has its default, and what does not fit is named."""
    params = (Param("a", "string"), Param("n", "integer", required=False, default=3))
    task, tasks = Template("t", instructions="{{a}} {{n}}", params=params), system()

    def prompt(**given):
        want = tasks.begin(task, given, {}, ())[2]
        return want.asks[0].arguments[0]["messages"][0]["content"][0]["text"]

    assert ["x 4", "x 3", "x 3"] == [prompt(a="x", n=4), prompt(a="x"), prompt(a="x", n=None)]
    error = tasks.begin(task, {"a": "x", "n": True}, {}, ())[2].error.fields
    assert "`n` is boolean, not integer" in error["message"]
