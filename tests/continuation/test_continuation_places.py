"""Where a conversation may ask for a subtask: in loops, over lists, in branches; and siblings."""

import pytest

import sexplang

TASKS = """
(defatom chief (params topic) (instructions "Chief on {{topic}}") (allowed_tools spawn_subtask))
(defatom clerk (description "Look something up") (params what) (instructions "Clerk on {{what}}"))
"""

LOOP = """
(director-evaluator-loop max_iterations: 3 initial: "a"
  director: (lambda (input i) (str (chief (str input i))))
  executor: (lambda (plan i) plan)
  evaluator: (lambda (execution plan i) (= i 2))
  controller: (lambda (good plan execution i) (if good ['stop execution] ['continue "b"])))
"""
BOTH = ["chief: known of a", "chief: known of b"]


def text_of(message):
    """What a message says, or what its only tool result does."""
    if isinstance(message["content"], str):
        return message["content"]
    (block,) = message["content"]
    return block.get("text") or block["content"]


def delegating(payload):
    """A chief has its clerk look its topic up, and says what it was told."""
    said = text_of(payload["messages"][-1])
    if payload["task"] == "clerk":
        return said.replace("Clerk on", "known of")
    if len(payload["messages"]) > 1:
        return f"chief: {said}"
    inputs = {"what": said.removeprefix("Chief on ")}
    asked = {"description": "look it up", "name": "clerk", "inputs": inputs}
    return {"tool_use": {"name": "spawn_subtask", "input": asked}}


@pytest.mark.parametrize(
    ("program", "value"),
    [
        (LOOP, "chief: known of b2"),
        ('(map (lambda (t) (str (chief t))) ["a" "b"])', BOTH),
        ('(par-map (lambda (t) (str (chief t))) ["a" "b"])', BOTH),
        ('(par (str (chief "a")) (str (chief "a")))', ["chief: known of a"] * 2),
        ('(loop 2 (str (chief "a")))', "chief: known of a"),
        ('(loop ((i 0) (s "")) (if (= i 2) s (recur (+ i 1) (str (chief (str s i))))))',
         "chief: known of chief: known of 01"),
        ('(race (str (chief "a")) (begin (sleep 60) 1))', "chief: known of a"),
        ('(fold (lambda (acc t) (str acc (chief t))) "" ["a" "b"])',
         "chief: known of achief: known of b"),
    ],
)  # fmt: skip
def test_a_subtask_may_be_asked_for_wherever_a_task_is_called(program, value):
    """A director in a loop, the body of a loop, a function over a list, a branch."""
    assert value == sexplang.run(TASKS + program, model=delegating)


def test_siblings_of_one_signature_are_no_cycle():
    """Twice in one turn, and once more after it: only ancestors count."""
    asked = {"description": "look it up", "name": "clerk", "inputs": {"what": "tea"}}
    use = {"type": "tool_use", "name": "spawn_subtask", "input": asked}
    turns = iter([[{**use, "id": "a"}, {**use, "id": "b"}], [{**use, "id": "c"}], "done"])
    seen = []

    def model(payload):
        if payload["task"] == "clerk":
            return "wet"
        seen.append(payload["messages"][-1]["content"])
        return next(turns)

    assert "done" == sexplang.run(f'{TASKS} (str (chief "tea"))', model=model)
    results = [block["content"] for message in seen[1:] for block in message]
    assert ["wet"] * 3 == results
