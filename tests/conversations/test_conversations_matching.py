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


LOOK_UP = """
(defatom look-up (params (what string)) (instructions "Find {{what}}"))
(defatom other (params (what string)) (instructions "Other {{what}}"))
(defatom boss %s (instructions "Lead.") (allowed_tools %s) (subtasks look-up))
(define r (call-task boss))
{content: r.content warnings: r.notes.warnings}
"""
BARE = '{"name": "look-up", "inputs": {"what": "x"}}'


def led(text, clause="", tools="spawn_subtask"):
    """What the child was asked, what the boss was told, its result."""
    prompts, told = [], []

    def model(payload):
        (*_, last) = payload["messages"]
        if payload["task"] != "boss":
            prompts.append(last["content"][0]["text"])
            return "child"
        if len(payload["messages"]) > 1:
            told.append(last["content"][0]["text"])
            return '{"name": "done", "inputs": {}, "status": "done", "page": 1}'
        return text

    program = LOOK_UP % (clause, tools)
    if tools != "spawn_subtask":
        program = program.replace("(subtasks look-up)", "")
    return prompts, told, sexplang.run(program, model=model)


@pytest.mark.parametrize("text", [BARE, f"```json\n{BARE}\n```"])
def test_a_request_alone_is_read_where_it_is_certain(text):
    prompts, told, result = led(text)

    assert ["Find x"] == prompts
    assert ["The result of the subtask:\n\nchild"] == told
    said = "a request that is no CONTINUATION result was read as one"
    assert [said] == list(result["warnings"])


@pytest.mark.parametrize(
    ("text", "clause", "tools"),
    [
        (BARE.replace("look-up", "Look_up"), "", "spawn_subtask"),
        (BARE.replace("look-up", "other"), "", "spawn_subtask"),
        (BARE.replace("what", "text"), "", "spawn_subtask"),
        (BARE.replace('"x"', "3"), "", "spawn_subtask"),
        (BARE[:-1] + ', "page": 2}', "", "spawn_subtask"),
        (BARE[:-1] + ', "name": "look-up"}', "", "spawn_subtask"),
        (f"I would ask: {BARE}", "", "spawn_subtask"),
        (BARE, "(returns {name: string inputs: table})", "spawn_subtask"),
        (BARE, "", "read_file"),
    ],
)
def test_an_answer_may_look_like_a_request(text, clause, tools):
    prompts, told, result = led(text, clause, tools)

    assert ([], [], text) == (prompts, told, result["content"])


def test_the_word_is_no_answer_unless_the_schema_has_such_a_field():
    """In capitals: it was meant for the host."""
    text = '{"status": "CONTINUATION", "page": 2}'

    assert "is malformed: notes.subtask_request" in led(text)[1][0]
    own = "(returns {status: string page: integer})"
    prompts, told, result = led(text, own)
    assert ([], [], text) == (prompts, told, result["content"])
    whole = f'{{"status": "CONTINUATION", "notes": {{"subtask_request": {BARE}}}}}'
    assert ["Find x"] == led(whole, own)[0]
