"""Depth, time and guards of plans, the memory and what was done before: who bounds them, and what
a conversation gets."""

import pytest
from support.command import sexplang as command

import sexplang

DEEP = """
(defatom level (params (n integer)) (instructions "Level {{n}}.") (allowed_tools spawn_subtask))
(level 0)
"""


def descending(payload):
    """Asks for one level more, until it is told no."""
    last = payload["messages"][-1]["content"][0]
    if last["type"] == "text":
        n = int(last["text"].removeprefix("Level ").removesuffix("."))
        request = {"name": "level", "description": "deeper", "inputs": {"n": n + 1}}
        return {"tool_use": {"name": "spawn_subtask", "input": request}}
    n = len(payload["messages"])
    return f"one above, {last['content']}" if not last.get("is_error") else f"the lowest {n}"


def depth_of(value):
    """How many conversations there were."""
    return str(value).count("one above") + 1


# -- Seeds 6


@pytest.mark.parametrize("most", [1, 3, 5, 8, 10])
def test_a_person_sets_how_deep_tasks_go(most):
    """In Python, up to 10; where nobody says, it is 5. A frozen run keeps it."""
    limits = sexplang.Limits(max_task_depth=most)
    program = sexplang.build(DEEP)

    assert depth_of(sexplang.run(program, model=descending, limits=limits)) == most
    assert depth_of(sexplang.run(program, model=descending)) == 5

    outcome = sexplang.start(program, limits=limits)
    outcome = sexplang.thaw(program, sexplang.freeze(outcome))
    assert depth_of(sexplang.run(outcome, model=descending)) == most


def test_no_python_caller_goes_deeper_than_10():
    """It is told what there is."""
    with pytest.raises(TypeError, match="max_task_depth"):
        sexplang.run(DEEP, model=descending, limits=sexplang.Limits(max_task_depth=11))


ALONE = """
(defatom level (params n) (instructions "{{n}}") (allowed_tools spawn_subtask))
(define (said payload)
  (bind block (first (get (last payload.messages) "content")))
  (if (equal? block.type "text")
      {content: [{type: "tool_use" id: "u" name: "spawn_subtask"
                  input: {name: "level" description: "deeper" inputs: {n: (str block.text "x")}}}]
       stop_reason: "tool_use"
       usage: {input_tokens: 1 output_tokens: 1}}
      {content: [{type: "text" text: block.content}]
       stop_reason: "end_turn"
       usage: {input_tokens: 1 output_tokens: 1}}))
(handle (level "x") ((model payload) resume (resume (said payload))))
"""


@pytest.mark.parametrize(
    ("own", "project", "words", "limit"),
    [
        (None, None, (), 5),
        (None, None, ("--limit", "max_task_depth=7"), 7),
        (8, None, (), 8),
        (8, 6, (), 6),
        (3, 4, (), 3),
        (None, 2, (), 2),
        (8, 2, ("--limit", "max_task_depth=9"), 9),
    ],
)
def test_the_project_only_lowers_what_the_person_says(tmp_path, own, project, words, limit):
    """The command line wins over both."""
    home, folder = tmp_path / "home", tmp_path / "project"
    (home / "sexplang").mkdir(parents=True)
    folder.mkdir()
    for where, most in ((home / "sexplang", own), (folder, project)):
        if most is not None:
            (where / "sexplang.toml").write_text(f"[limits]\nmax_task_depth = {most}\n")

    done = command(
        *("run", "-e", ALONE, "--quiet", *words),
        cwd=folder,
        XDG_CONFIG_HOME=str(home),
    )

    assert f"would be {limit} deep, and the limit is {limit}" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("where", "words"),
    [("--limit", "is at most 10, not `11`"), ("own", "is at most 10"), ("project", "at most 10")],
)
def test_nobody_lets_tasks_go_deeper_than_10(tmp_path, where, words):
    """Neither on the command line nor in a configuration."""
    home = tmp_path / "home"
    (home / "sexplang").mkdir(parents=True)
    said = "[limits]\nmax_task_depth = 11\n"
    if where == "own":
        (home / "sexplang" / "sexplang.toml").write_text(said)
    elif where == "project":
        (tmp_path / "sexplang.toml").write_text(said)
    limit = ("--limit", "max_task_depth=11") if where == "--limit" else ()

    done = command("run", "-e", "1", *limit, cwd=tmp_path, XDG_CONFIG_HOME=str(home))

    assert done.returncode == 2
    assert words in done.stderr


@pytest.mark.parametrize(
    ("written", "run", "depth"), [(2, 5, 2), (9, 3, 3), (1, 10, 1), (7, 10, 7)]
)
def test_a_template_only_lowers_how_deep_its_chain_goes(written, run, depth):
    """Whatever the run allows."""
    text = DEEP.replace("(allowed_tools", f"(limits max_depth: {written}) (allowed_tools")
    limits = sexplang.Limits(max_task_depth=run)
    assert depth_of(sexplang.run(text, model=descending, limits=limits)) == depth


# -- Seeds 18

PLANNERS = """
(defatom planner
  (params part)
  (instructions "Plan {{part}}.")
  (allowed_tools propose_subplan)
  (limits %s))
(defatom lead
  (params part)
  (description "Lead a part.")
  (instructions "Lead {{part}}.")
  (allowed_tools propose_subplan))
(planner "all")
"""


def proposals(*plans):
    """A model that proposes these plans one after the other, and what it was told."""
    told = []

    def model(payload):
        turn = sum(each["role"] == "assistant" for each in payload["messages"])
        last = payload["messages"][-1]["content"][0]
        if turn:
            told.append(str(last["content"]))
        if payload["task"] == "planner" and turn < len(plans):
            artifact = {"name": f"a{turn}", "text": "A"}
            return proposing(plans[turn], artifacts=[artifact])
        if payload["task"] == "lead" and not turn:
            return proposing(["below"])
        return "done"

    return model, told


def proposing(names, **more):
    subtasks = [
        {"name": "lead", "description": f"part {name}", "budget_cap": 20, **more.pop("each", {})}
        for name in names
    ]
    plan = {"reason": "TooLarge", "subtasks": subtasks, **more}
    return {"tool_use": {"name": "propose_subplan", "input": plan}}


@pytest.mark.parametrize(
    ("limits", "plans", "reason"),
    [
        ("max_subtasks: 1", [["a", "b"]], "2 are proposed, and the limit is 1"),
        ("max_decompositions: 1", [["a"], ["b"]], "1 were accepted in this conversation, and the"),
        ("max_plan_depth: 1", [["a"]], "would be at depth 2, and the limit is 1"),
        ("max_subtasks: 50", [range(11)], "11 are proposed, and the limit is 10"),
    ],
)
def test_a_template_bounds_its_own_plans(limits, plans, reason):
    """Never above what the run allows. How deep plans stand in plans holds for those below, too."""
    model, told = proposals(*plans)
    sexplang.run(PLANNERS % limits, model=model)

    assert any(reason in each for each in told), told


def test_what_a_template_does_not_bound_is_the_runs():
    """With no limit of its own the same plans are accepted."""
    model, told = proposals(["a", "b"], ["c"])
    sexplang.run(PLANNERS % "max_turns: 9", model=model)

    assert told and not any("the limit is" in each for each in told), told


def test_the_plan_of_the_document_is_read_as_it_is_written():
    """PascalCase, a TimeSpan, a StopCondition, nulls."""
    plan = {
        "ParentTaskId": "planner",
        "Reason": "TooLarge",
        "Subtasks": [
            {
                "Description": "part a",
                "RequiredCapabilities": [],
                "DependsOnSubtasks": [],
                "BudgetCap": "00:01:00",
                "ExpectedOutputTypes": None,
            },
            {"Description": "part b", "DependsOnSubtasks": ["0"], "BudgetCap": None},
        ],
        "StopWhen": {"Kind": "AllSubtasksComplete", "Description": ""},
    }

    def model(payload):
        if payload["task"] == "planner" and len(payload["messages"]) == 1:
            return {"tool_use": {"name": "propose_subplan", "input": plan}}
        return "done"

    text = (PLANNERS % "max_turns: 9").replace('(planner "all")', '(call-task planner "all")')
    result = sexplang.run(text, model=model)
    (done,) = result.notes["subplans"]

    assert done["granted"] == 300
    assert "`00:01:00` was understood as 60 seconds" in str(result.notes["warnings"])


# -- Seeds 13

PARENT = """
(defatom find (params what) (instructions "Find {{what}}.") (subtype subtask))
(defatom chief (instructions "Find all.") (allowed_tools spawn_subtask))
(call-task chief)
"""


def asking(*requests, replies=None):
    """A chief who asks for these one after the other, and the system prompts of the others."""
    systems = {}

    def model(payload):
        said = payload["messages"][0]["content"][0]["text"]
        if payload["task"] != "chief":
            systems[said] = payload["system"]
            return (replies or {}).get(said, f"found {said}")
        turn = sum(each["role"] == "assistant" for each in payload["messages"])
        if turn == len(requests):
            return "all"
        return {"tool_use": {"name": "spawn_subtask", "input": requests[turn]}}

    return model, systems


def finding(what, **context):
    request = {"name": "find", "description": "find", "inputs": {"what": what}}
    return {**request, "context_management": context} if context else request


FULL = {
    "inherit_context": "none",
    "accumulate_data": True,
    "accumulation_format": "full_output",
    "fresh_context": "disabled",
}


def test_a_request_that_accumulates_has_what_was_found_before():
    """The oldest first, in the form that it asks for; a request that does not has nothing."""
    model, systems = asking(
        finding("1", **FULL),
        finding("2"),
        finding("3", **FULL),
        finding("4", **{**FULL, "accumulation_format": "notes_only"}),
        finding("5", accumulateData=True, accumulationFormat="full_output"),
    )
    result = sexplang.run(PARENT, model=model)

    assert [systems[f"Find {n}."] for n in "12"] == ["", ""]
    before = "<previous_outputs>\nfound Find 1.\n\nfound Find 2.\n</previous_outputs>"
    assert systems["Find 3."] == before
    notes = '{"status": "COMPLETE"}'
    assert systems["Find 4."].count("COMPLETE") == 3, (systems["Find 4."], notes)
    assert "found" not in systems["Find 4."]
    assert systems["Find 5."].count("found") == 4
    assert len(result.notes["subtasks"]) == 5
    assert not any("minimal context" in str(each) for each in result.notes["warnings"])


def test_what_a_handler_gives_wins():
    """Whoever answers the request sees what would be shown, and may say otherwise."""
    model, systems = asking(finding("1"), finding("2", **FULL))
    text = PARENT.replace(
        "(call-task chief)",
        """(handle (call-task chief)
             ((subtask request) resume
               (forward resume subtask (put request "previous_outputs" ["mine"]))))""",
    )
    sexplang.run(text, model=model)

    assert systems["Find 2."] == "<previous_outputs>\nmine\n</previous_outputs>"


def test_outside_of_a_conversation_nothing_was_done_before():
    """A program gives previous_outputs itself; without them it is warned."""
    asked = """(call-atomic-task 'find inputs: {what: "tea"} context_management:
                 {accumulate_data: true accumulation_format: "full_output"}%s)"""
    text = PARENT.replace("(call-task chief)", asked)
    bare = sexplang.run(text % "", model=lambda payload: "x")
    given = sexplang.run(text % ' previous_outputs: ["one"]', model=lambda payload: "x")

    assert "accumulate_data has nothing to show" in str(bare.notes["warnings"])
    assert "accumulate_data" not in str(given.notes["warnings"])


@pytest.mark.parametrize("sign", ["a", "ä", "茶"])
def test_what_was_found_before_fits_into_the_window(sign):
    """What is too long loses its oldest part, and the subtask is told so."""
    small = PARENT.replace("(subtype subtask)", '(subtype subtask) (model "gpt-3.5-turbo")')
    long = {f"Find {n}.": f"{n}{sign * 15_000}" for n in "12"}
    model, systems = asking(finding("1"), finding("2"), finding("3", **FULL), replies=long)
    result = sexplang.run(small, model=model)

    assert result.status == "COMPLETE", result
    shown = systems["Find 3."]
    assert "left out]" in shown and shown.rstrip().endswith(f"{sign}\n</previous_outputs>")
    assert len(shown.encode()) < 3.5 * 12_800


def test_an_error_does_not_repeat_what_was_found_before():
    """It says what was asked for."""
    model, _ = asking(
        finding("1"), finding("2", **FULL), replies={"Find 2.": {"error": "overloaded_error"}}
    )
    result = sexplang.run(PARENT, model=model)

    (_, failed) = result.notes["subtasks"]
    request = failed.notes["error"]["details"]["subtaskRequest"]
    assert "previous_outputs" not in request and request["inputs"] == {"what": "2"}


# -- Seeds 9

FRESH = """
(defatom child
  (params word)
  (instructions "Say {{word}}.")
  (context_management (inherit_context none) %s))
(defatom asker (instructions "Ask.") (allowed_tools spawn_subtask))
(define (found query) {summary: "" matches: [{id: "tea.md"}] error: nil})
"""
ENABLED = FRESH % "(fresh_context enabled)"
NOBODY = "there is no fresh context: nobody here answers `search-memory`"


def fresh(tmp_path, text, model=lambda payload: "done", **options):
    """The value, and the system prompts that the model got."""
    (tmp_path / "tea.md").write_text("Not too hot.")
    (tmp_path / "main.sexp").write_text(text)
    systems = []

    def seen(payload):
        systems.append(payload["system"])
        return model(payload)

    return sexplang.run(tmp_path / "main.sexp", model=seen, **options), systems


TEA = '<file path="tea.md">\nNot too hot.\n</file>'


def test_a_handler_of_the_program_answers_for_fresh_context(tmp_path):
    """It is asked once for each task around which it stands, also across the branches of `par`."""
    text = """%s
    (handle (par (call-task child "a") (call-task child "b"))
      ((search-memory query) resume (resume (found query))))
    """
    both, systems = fresh(tmp_path, text % ENABLED)

    assert [each.notes["context_source"] for each in both] == ["automatic"] * 2
    assert systems == [TEA] * 2
    assert [each.notes["warnings"] for each in both] == [[]] * 2


def test_an_effect_of_python_answers_for_fresh_context(tmp_path):
    """No index is needed, and a subtask that a model asks for has it by default."""
    queries = []

    def search(query):
        queries.append(query)
        return {"summary": "", "matches": [{"id": "tea.md"}], "error": None}

    def model(payload):
        if payload["task"] == "asker" and len(payload["messages"]) == 1:
            request = {"name": "child", "description": "c", "inputs": {"word": "tea"}}
            return {"tool_use": {"name": "spawn_subtask", "input": request}}
        return "done"

    text = FRESH % ""
    value, systems = fresh(
        tmp_path, f"{text}\n(str (asker))", model, effects={"search-memory": search}
    )

    assert (value, len(queries)) == ("done", 1)
    assert systems == ["", TEA, ""]


def test_with_nobody_who_answers_nothing_is_asked(tmp_path):
    """Somebody who wants it is told so; where it is a default there is nothing to say. A handler
    elsewhere in the program answers nothing."""
    ask = '(call-task child "tea")'
    elsewhere = "(define (other) (handle 1 ((search-memory q) resume (resume (found q)))))"
    for more in ("", elsewhere):
        result, systems = fresh(tmp_path, f"{ENABLED}\n{more}\n{ask}")
        assert result.notes["context_source"] == "none"
        assert result.notes["warnings"] == [NOBODY]
        assert systems == [""]
        asked = "(call-atomic-task 'child inputs: {word: 1} subtype: 'subtask)"
        usual, _ = fresh(tmp_path, f"{FRESH % ''}\n{more}\n{asked}")
        assert usual.notes["warnings"] == []


def test_a_frozen_run_still_asks_its_handler(tmp_path):
    """A task that begins after the thaw does what one before it did."""
    text = (
        ENABLED
        + """
    (handle [(call-task child "a") (call-task child "b")]
      ((search-memory query) resume (resume (found query))))
    """
    )
    (tmp_path / "tea.md").write_text("Not too hot.")
    (tmp_path / "main.sexp").write_text(text)
    program = sexplang.build(tmp_path / "main.sexp")
    outcome = sexplang.start(program)
    outcome = sexplang.thaw(program, sexplang.freeze(outcome))
    value = sexplang.run(
        outcome,
        model=lambda payload: payload["system"],
        permissions=sexplang.Permissions(read=[tmp_path]),
    )

    assert all("Not too hot." in str(each.content) for each in value), value


def test_a_recording_is_replayed_with_whoever_answered(tmp_path):
    """The replies are those of the same requests."""
    effects = {"search-memory": lambda query: {"matches": [{"id": "tea.md"}], "error": None}}
    text = f'{ENABLED}\n(call-task child "tea")'
    first, _ = fresh(tmp_path, text, effects=effects, record=tmp_path / "r.jsonl")
    again = sexplang.run(
        tmp_path / "main.sexp", model=f"replay:{tmp_path / 'r.jsonl'}", effects=effects
    )

    assert again.content == first.content
    assert again.notes["context_source"] == "automatic"
