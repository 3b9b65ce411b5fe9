"""Which task takes a model's request: by its name, else of those whose inputs fit."""

import json

import pytest

import sexplang

ASKS = """
(defatom parent (description "Have code verified and judge it") (params goal)
  (instructions "Go: {{goal}}") (allowed_tools spawn_subtask))
(str (parent "now"))
"""
VERIFY = """
(defatom code_verification (description "Verify generated code") (params (code string))
  (instructions "Verify {{code}}"))
(defatom poem (subtype subtask) (description "Write a poem") (params (topic string))
  (instructions "Poem on {{topic}}"))
(defatom suite (description "Verify generated code by its tests")
  (params (code string) (runs integer))
  (instructions "Run {{code}} {{runs}}"))
(defatom judge (subtype evaluator) (description "Grade a text") (params (text string))
  (instructions "Grade {{text}}"))
"""
S0 = {
    "type": "verification",
    "description": "Verify generated code",
    "inputs": {"code": "x=1"},
    "template_hints": ["code_verification", "testing"],
}


@pytest.fixture
def ask(tmp_path):
    """Runs a parent whose model makes one request: the child's prompt, and what the parent is
    told."""

    def ask(request, tasks=VERIFY):
        file = tmp_path / "main.sexp"
        file.write_text(tasks + ASKS)
        prompts, told = [], []

        def model(payload):
            (*_, last) = payload["messages"]
            if payload["task"] != "parent":
                prompts.append(last["content"][0]["text"])
                return "child"
            if len(payload["messages"]) > 1:
                told.append(last["content"][0]["content"])
                return "done"
            return {"tool_use": {"name": "spawn_subtask", "input": request}}

        sexplang.run(file, model=model)
        return (prompts or [None])[0], told[0]

    return ask


@pytest.mark.parametrize(
    ("request_", "prompt"),
    [
        (S0, "Verify x=1"),
        ({**S0, "subtype": "subtask"}, "Verify x=1"),
        ({**S0, "type": "subtask"}, "Verify x=1"),
        ({**S0, "template_hints": []}, "Verify x=1"),
        ({**S0, "inputs": {"code": "x=1", "runs": 3}}, "Run x=1 3"),
        ({**S0, "inputs": {"topic": "x"}}, None),
        ({**S0, "inputs": {"text": "x"}}, None),
        ({**S0, "subtype": "evaluator", "inputs": {"text": "x"}}, "Grade x"),
        ({**S0, "subtype": "evaluator"}, None),
        ({"name": "Code-Verification", "inputs": {"code": "y"}}, "Verify y"),
        ({"name": "suite", **S0}, None),
    ],
)
def test_the_inputs_say_who_can_take_it(ask, request_, prompt):
    """A subtype that is the default narrows nothing; another one does; a name wins."""
    assert prompt == ask({"description": "d", **request_})[0]


def test_a_task_that_takes_the_inputs_beats_one_that_is_more_alike(ask):
    tasks = """
    (defatom check-the-spelling (description "Check the spelling of names in a text")
      (params text language) (instructions "Spelling {{text}} {{language}}"))
    (defatom proof-read (description "Check a text") (params text) (instructions "Read {{text}}"))
    """
    request = {"description": "check the spelling of the names", "inputs": {"text": "Ann"}}

    assert "Read Ann" == ask(request, tasks)[0]


def test_who_asks_is_found_by_its_name_alone(ask):
    """However much it is alike."""
    words = {"description": "have code verified and judge it", "inputs": {"goal": "then"}}

    prompt, told = ask(words)
    assert prompt is None and "template_not_found" in told
    recursive = {"name": "parent", **words}
    seen = []

    def model(payload):
        seen.append(payload["messages"][0]["content"][0]["text"])
        if len(seen) == 1:
            return {"tool_use": {"name": "spawn_subtask", "input": recursive}}
        return "done"

    sexplang.run(VERIFY + ASKS, model=model)
    assert ["Go: now", "Go: then", "Go: now"] == seen


def test_a_single_text_is_filled_with_the_description(ask):
    """Also where a task is named; not where it needs more, or no text."""
    request = {"description": "the sea", "inputs": {}}

    assert "Poem on the sea" == ask({"name": "poem", **request})[0]
    assert None is ask({"name": "suite", **request})[0]
    number = '(defatom count (params (n integer)) (instructions "{{n}}"))'
    assert None is ask({"name": "count", **request}, number)[0]


def test_what_nobody_takes_names_the_nearest_with_their_inputs(ask):
    """So that the next request fits."""
    told = json.loads(ask({"description": "Verify generated code", "inputs": {"figure": "x"}})[1])

    assert (
        "no task takes the request `Verify generated code` with the inputs `figure`; the nearest "
        "are `code_verification(code: string)`, `suite(code: string, runs: integer)`, "
    ) in told["message"]
    assert "code_verification" == told["details"]["candidates"][0]["name"]


def test_a_record_may_be_the_inputs():
    """Its fields are; what does not fit is told."""
    program = """
    (define found (try (error "x") (catch (problem) problem)))
    (map (lambda (name) (try (subtask {name: name description: "verify code" inputs: found})
                          (catch (problem) problem.reason)))
         ["poem" "nobody"])
    """
    value = sexplang.run(VERIFY + program, model=lambda payload: "done")

    assert ["input_validation_failure", "template_not_found"] == value


@pytest.mark.parametrize(
    ("request_", "by"),
    [
        ('{name: "poem" inputs: {topic: "x"}}', None),
        ('{name: "Poem" inputs: {topic: "x"}}', "spelling"),
        ('{description: "x" subtype: "evaluator" inputs: {text: "x"}}', "subtype"),
        ('{description: "x" template_hints: ["poem"] inputs: {topic: "x"}}', "hint"),
        ('{description: "verify code" inputs: {code: "x"}}', "words"),
        ('{description: "zzz" inputs: {topic: "x"}}', "default"),
    ],
)
def test_a_result_says_how_its_task_was_found(request_, by):
    """With its score, and those of the others that take the inputs."""
    value = sexplang.run(f"{VERIFY} (subtask {request_})", model=lambda payload: "done")

    found = value.notes.get("matched")
    assert by == (found and found["by"])
    if by == "words":
        assert 0.1 <= found["score"] < 1 and found["others"] == []
    if by == "hint":
        assert 1 == found["score"]


def test_a_hint_matches_as_a_name_does(ask):
    """In any case and with any hyphens; it wins over words."""
    tasks = """
    (defatom big-text (description "Make a text") (params text) (instructions "Big {{text}}"))
    (defatom mid-size (description "Nothing alike") (params text) (instructions "Mid {{text}}"))
    """
    request = {"description": "make a text", "inputs": {"text": "x"}}

    assert "Big x" == ask(request, tasks)[0]
    assert "Mid x" == ask({**request, "template_hints": ["MID_size"]}, tasks)[0]
