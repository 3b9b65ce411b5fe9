"""A whole conversation over the loopback: several subtasks, a failure, and the depth limit."""

import json
from itertools import pairwise

TEMPLATES = """<templates>
<task name="chief" type="atomic">
  <description>Answer a question with the help of others</description>
  <params><param name="question"/></params>
  <system>You delegate.</system>
  <instructions>Chief about {{question}}</instructions>
  <allowed_tools><tool>spawn_subtask</tool></allowed_tools>
</task>
<task name="clerk" type="atomic">
  <description>Look something up</description>
  <params><param name="what"/></params>
  <instructions>Clerk about {{what}}</instructions>
</task>
<task name="level" type="atomic">
  <description>Go one level down</description>
  <params><param name="n"/></params>
  <instructions>Level {{n}}.</instructions>
  <allowed_tools><tool>spawn_subtask</tool></allowed_tools>
</task>
</templates>"""


def spawning(id, name, **inputs):
    """A block that asks for a subtask."""
    asked = {"description": f"have {name} do it", "name": name, "inputs": inputs}
    return {"type": "tool_use", "id": id, "name": "spawn_subtask", "input": asked}


def texts(message):
    """All text of a message, its tool results included."""
    content = message["content"]
    blocks = [{"text": content}] if isinstance(content, str) else content
    return " ".join(str(block.get("text", block.get("content", ""))) for block in blocks)


def delegating(body):
    """A chief who asks two clerks at once, of whom one fails, and then a third."""
    last = texts(body["messages"][-1])
    if "Clerk about coffee" in last:
        return {"content": [], "stop_reason": "refusal"}
    if "Clerk about" in last:
        return f"known: {last.removeprefix('Clerk about ')}"
    turn = len(body["messages"])
    if turn == 1:
        return [spawning("a", "clerk", what="tea"), spawning("b", "clerk", what="coffee")]
    if turn == 3:
        return [spawning("c", "clerk", what="water")]
    return "Tea and water; nothing about coffee."


def test_two_subtasks_in_one_turn_a_failure_and_a_third(run):
    """Ids are paired, the failure is an error result, and the chief recovers."""
    value, journal = run('(call-task chief "drinks")', delegating)

    assert str(value) == "Tea and water; nothing about coffee."
    chief = [body for body in journal if body["messages"][0]["content"][0]["text"][:5] == "Chief"]
    assert [len(body["messages"]) for body in chief] == [1, 3, 5]
    first, second = (chief[-1]["messages"][at]["content"] for at in (2, 4))
    assert [(block["tool_use_id"], block.get("is_error", False)) for block in first] == [
        ("a", False),
        ("b", True),
    ]
    assert "known: tea" in first[0]["content"]
    error = json.loads(first[1]["content"])
    assert (error["type"], error["reason"]) == ("TASK_FAILURE", "llm_error")
    assert [block["tool_use_id"] for block in second] == ["c"]
    assert value.notes["chain_usage"]["input_tokens"] > value.usage["input_tokens"]


def test_what_was_sent_before_is_the_beginning_of_what_is_sent_next(run):
    """Byte for byte: a provider's prompt cache hits from the second turn on."""
    _, journal = run('(chief "drinks")', delegating)
    chief = [body for body in journal if body["messages"][0]["content"][0]["text"][:5] == "Chief"]

    for before, after in pairwise(chief):
        for part in ("model", "max_tokens", "system", "tools", "cache_control"):
            assert json.dumps(before[part]) == json.dumps(after[part])
        sent = json.dumps(before["messages"]).removesuffix("]")
        assert json.dumps(after["messages"]).startswith(sent)
        assert before["system"][0]["cache_control"] == {"type": "ephemeral"}
    clerk = next(body for body in journal if "tools" not in body)
    assert "cache_control" not in json.dumps(clerk)


def test_the_fourth_level_is_refused(run):
    """With max_depth 3 there are depths 0, 1 and 2; the refusal is told the model at depth 2."""

    def descending(body):
        last = texts(body["messages"][-1])
        if "Level" in last:
            level = int(last.removeprefix("Level ").rstrip("."))
            return [spawning(f"at{level}", "level", n=level + 1)]
        (result,) = body["messages"][-1]["content"]
        return "stopped" if result.get("is_error") else f"below: {result['content']}"

    value, journal = run("(call-atomic-task 'level inputs: {n: 1} max_depth: 3)", descending)

    assert str(value) == "below: below: stopped"
    asked = [texts(body["messages"][0]) for body in journal]
    assert sorted(set(asked)) == ["Level 1.", "Level 2.", "Level 3."]
    (refusal,) = [
        block
        for body in journal
        for block in body["messages"][-1]["content"]
        if block.get("is_error")
    ]
    error = json.loads(refusal["content"])
    assert error["reason"] == "execution_halted"
    assert error["details"]["limit_kind"] == "max_depth"
    assert refusal["tool_use_id"] == "at3"


def naming_nobody(name="look-things-up", **inputs):
    """A chief who asks for a clerk by a name that nobody has."""

    def answer(body):
        last = texts(body["messages"][-1])
        if "Chief" in last:
            block = spawning("a", name, **inputs)
            block["input"]["description"] = "look something up"
            return [block]
        return "found it" if "Clerk about" in last else f"told: {last}"

    return answer


def test_another_task_than_was_named_says_so(run):
    """To the model that asked, and in the notes of the result."""
    value, _ = run('(call-task chief "drinks")', naming_nobody(what="tea"))

    assert value.notes["warnings"][0].startswith("no task is called `look-things-up`")
    said = "no task is called `look-things-up`; `clerk` took the request"
    assert str(value) == f"told: found it\n\n[{said}]"
    program = """
    (define result (subtask {name: "look-things-up" description: "look something up"
                             inputs: {what: "tea"}}))
    [(str result) result.notes.asked_for result.notes.warnings]
    """
    value, _ = run(program, naming_nobody())
    assert value == ["found it", "look-things-up", [said]]


def test_a_task_that_takes_other_inputs_is_shown_with_them(run):
    """So that the next request fits."""
    value, _ = run('(chief "drinks")', naming_nobody(about="tea"))

    assert (
        "no task takes the request `look-things-up` with the inputs `about`; the nearest are "
        "`clerk(what: any)`" in str(value)
    )


def test_a_task_whose_name_is_written_otherwise_says_so_too(run):
    """By its name it is found, whatever its inputs are."""
    value, _ = run('(chief "drinks")', naming_nobody("Clerk", about="tea"))

    assert "missing `what`; unknown `about` (no task is called `Clerk`; `clerk` took" in str(value)


def test_the_task_that_was_named_says_nothing(run):
    """However the result came to be."""
    value, _ = run('(subtask {name: "clerk" inputs: {what: "tea"}})', "found it")

    assert "asked_for" not in value.notes and value.notes["warnings"] == []
