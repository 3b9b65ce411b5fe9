"""CONTINUATION from end to end: programs, the real SDK, and a server that speaks the protocol."""

import json
from itertools import count

import pytest

TEMPLATES = """<templates>
<task name="parent" type="atomic">
  <description>Answer a question about a topic</description>
  <params><param name="topic"/></params>
  <instructions>Parent about {{topic}}</instructions>
  <allowed_tools><tool>spawn_subtask</tool></allowed_tools>
</task>
<task name="child" type="atomic">
  <description>Look something up</description>
  <params><param name="what"/></params>
  <instructions>Child about {{what}}</instructions>
</task>
<task name="endless" type="atomic">
  <description>Go on for ever</description>
  <params><param name="n"/></params>
  <instructions>Endless {{n}}</instructions>
  <allowed_tools><tool>spawn_subtask</tool></allowed_tools>
</task>
</templates>"""


def spawn(name, **inputs):
    """The model asks for a subtask."""
    asked = {"description": "look it up", "name": name, "inputs": inputs}
    return {"tool_use": {"name": "spawn_subtask", "input": asked}}


def said(body):
    """The text of the last message of a request."""
    return json.dumps(body["messages"][-1])


def parent_then_child(body):
    """A model that lets a child look things up before it answers as the parent."""
    if "Child about" in said(body):
        return "child fact"
    if "tool_result" in said(body):
        (result,) = body["messages"][-1]["content"]
        content = result["content"]
        text = content if isinstance(content, str) else content[0]["text"]
        return f"parent heard: {text}"
    return spawn("child", what="tea")


def test_nobody_handles_it_and_the_default_runs_the_child(run):
    """The parent's conversation goes on: tool_use is answered by a tool_result with its id."""
    value, journal = run('(parent "tea")', parent_then_child)

    assert str(value) == "parent heard: child fact"
    assert len(journal) == 3
    *_, asked, answered = journal[2]["messages"]
    (use,) = [block for block in asked["content"] if block["type"] == "tool_use"]
    (result,) = answered["content"]
    assert (result["type"], result["tool_use_id"]) == ("tool_result", use["id"])
    assert "Child about tea" in said(journal[1])


def test_a_handler_denies_it(run):
    """Not resuming ends the handle expression: the parent is not asked again."""
    program = '(handle (parent "tea") ((subtask request) k (str "denied: " request.name)))'

    value, journal = run(program, parent_then_child)

    assert (value, len(journal)) == ("denied: child", 1)


def test_a_handler_answers_it(run):
    """What the handler resumes with becomes the tool's result; no child runs."""
    program = '(handle (parent "tea") ((subtask request) k (k "made up")))'

    value, journal = run(program, parent_then_child)

    assert str(value) == "parent heard: made up"
    assert len(journal) == 2


def test_a_handler_forwards_it(run):
    """Forwarding leaves it to the default, in the parent's place."""
    program = '(handle (parent "tea") ((subtask request) k (forward k subtask request)))'

    value, journal = run(program, parent_then_child)

    assert str(value) == "parent heard: child fact"
    assert len(journal) == 3


def test_a_handler_resumes_it_twice(run):
    """Two futures of one conversation, independent of each other."""
    program = """
    (handle (str (parent "tea")) ((subtask request) k [(k "one") (k "two")]))
    """
    value, journal = run(program, parent_then_child)

    assert value == ["parent heard: one", "parent heard: two"]
    assert len(journal) == 3


def test_a_handler_of_model_serves_parent_and_children_alike(run):
    """A mock around the parent leaves nothing for the server to do."""
    program = """
    (define (first-text payload) (get-in payload ["messages" 0 "content" 0 "text"]))
    (define (reply payload)
      (cond ((string-contains? (first-text payload) "Child") "mocked child")
            ((> (length payload.messages) 1) "mocked parent")
            (else {content: [{type: "tool_use" id: "t1" name: "spawn_subtask"
                              input: {description: "d" name: "child" inputs: {what: "x"}}}]
                   stop_reason: "tool_use" usage: {input_tokens: 1 output_tokens: 1} model: "m"})))
    (handle (str (parent "tea")) ((model payload) k (k (reply payload))))
    """
    value, journal = run(program, "the server should not be asked")

    assert (value, journal) == ("mocked parent", [])


@pytest.mark.parametrize(
    "around",
    ["{}", "(handle {} ((subtask request) k (forward k subtask request)))"],
)
def test_a_task_that_always_asks_for_a_subtask_ends_at_the_depth_limit(run, around):
    """The sixth conversation is refused; the model hears it and gives up at every level."""
    numbers = count(1)

    def always(body):
        if "tool_result" in said(body):
            return "gave up: " + said(body)[-300:]
        return spawn("endless", n=next(numbers))

    value, journal = run(around.format("(endless 0)"), always)

    opened = [body for body in journal if len(body["messages"]) == 1]
    assert len(opened) == 5
    assert "execution_halted" in said(journal[5])
    assert str(value).startswith("gave up")
