"""What a plan's node had tried, what was said in earlier turns, and what `check` finds of clauses
that answer a conversation."""

import pytest
from support.command import sexplang as command
from support.messages_server import MessagesServer

import sexplang

TASKS = """
(defatom parent (instructions "Reach it.") (allowed_tools spawn_subtask))
(defatom leaf (params (what string)) (instructions "Do {{what}}."))
(defatom slow (params (what string)) (instructions "Slow {{what}}.") (allowed_tools spawn_subtask))
"""
REFUSED = {"content": [], "stop_reason": "refusal"}
USAGE = {"input_tokens": 10, "output_tokens": 1}


def saying(text, *uses):
    """A reply that says something and calls tools."""
    blocks = [{"type": "text", "text": text}] if text else []
    return {
        "content": [*blocks, *uses],
        "stop_reason": "tool_use" if uses else "end_turn",
        "usage": USAGE,
    }


def spawning(number, what="it"):
    given = {"name": "leaf", "inputs": {"what": what}}
    return {"type": "tool_use", "id": f"toolu_{number}", "name": "spawn_subtask", "input": given}


def delivering(name):
    """A result with an artifact that nobody expects."""
    text = (
        f'{{"content": "{name}", "artifacts": [{{"name": "{name}", "type": "note", "text": "x"}}]}}'
    )
    return saying(text)


def ran(program, *script):
    with MessagesServer(*script) as server:
        return sexplang.run(TASKS + program, model=server.url)


# -- A node whose outputs are not as expected ------------------------------------------------------

PLAN = """
(bind reply
  (subplan {subtasks: [{name: "leaf" description: "tea" expected_output_types: ["table"]}]}))
(first reply.results)
"""


def test_a_node_that_fails_its_outputs_keeps_its_tries():
    """All it was given for is in its result, and all of it counts."""
    failed = ran(PLAN, delivering("FIRST"), delivering("SECOND"), saying("THIRD"))

    assert ("FAILED", "subtask_failure") == (failed.status, failed.notes["error"]["reason"])
    assert ["FIRST", "SECOND", "THIRD"] == [each.content for each in failed.notes["subtasks"]]
    assert ["FIRST", "SECOND"] == [each["name"] for each in failed.notes["artifacts"]]
    assert {"input_tokens": 30, "output_tokens": 3} == failed.usage
    told = failed.notes["error"]["details"]["partial_results"]
    assert {"subtasks", "artifacts"} == set(told)


def test_a_node_that_is_put_right_keeps_its_tries():
    """What the first try delivered, and its tokens."""
    right = '{"content": "Here.", "artifacts": [{"name": "t", "type": "table", "text": "a,b"}]}'
    done = ran(PLAN, delivering("FIRST"), saying(right))

    assert ("COMPLETE", "Here.") == (done.status, done.content)
    assert ["FIRST"] == [each.content for each in done.notes["subtasks"]]
    assert ["FIRST", "t"] == [each["name"] for each in done.notes["artifacts"]]
    assert {"input_tokens": 20, "output_tokens": 2} == done.notes["chain_usage"]


def test_a_try_that_fails_itself_is_told_with_those_before():
    failed = ran(PLAN, delivering("FIRST"), REFUSED)

    assert ("FAILED", "llm_error") == (failed.status, failed.notes["error"]["reason"])
    assert ["FIRST"] == [each.content for each in failed.notes["subtasks"]]
    assert {"input_tokens": 17, "output_tokens": 4} == failed.usage


def test_a_cancelled_node_is_named_by_its_own_task():
    """And not by the subtask that was at work for it."""
    program = """
    (bind reply
      (subplan {stop_when: "FirstSuccess"
                subtasks: [{name: "slow" description: "a"} {name: "leaf" description: "b"}]}))
    (map (lambda (each) each.notes.error.details.task) reply.results)
    """
    given = []

    def says(body):
        text = str(body["messages"])
        if "Slow a" in text:
            return saying("", spawning(1, "part"))
        if "part" in text:
            given.append(1)
            return {"fail": "hang"}
        while not given:
            pass
        return "Quick."

    assert ["slow", None] == ran(program, says)


# -- Words of earlier turns ------------------------------------------------------------------------


def test_what_was_said_in_earlier_turns_is_told():
    """The last words are the content, those before a note."""
    script = [saying("ONE", spawning(1)), "A", saying("TWO", spawning(2)), "B", REFUSED]
    failed = ran("(attempt (parent))", *script)

    assert ("TWO", ["ONE"]) == (failed.content, failed.notes["said"])
    assert ["ONE"] == failed.notes["error"]["details"]["partial_results"]["said"]


def test_a_reply_that_is_cut_off_does_not_hide_what_was_said():
    cut = {"content": [{"type": "text", "text": "TWO"}], "stop_reason": "max_tokens"}
    failed = ran("(attempt (parent))", saying("ONE", spawning(1)), "A", cut)

    assert ("TWO", ["ONE"]) == (failed.content, failed.notes["said"])


def test_one_turn_is_told_once():
    failed = ran("(attempt (parent))", saying("ONE", spawning(1)), "A", REFUSED)

    assert "ONE" == failed.content
    assert "said" not in failed.notes


# -- What check finds ------------------------------------------------------------------------------

ASKS = '(defatom a (instructions "x") (allowed_tools look))'


def found(clause):
    program = f"{ASKS} (handle (a) {clause})"
    return [(each.code, each.severity) for each in sexplang.check(program)]


@pytest.mark.parametrize(
    ("clause", "code"),
    [
        ('((tool name) k (k "x"))', "wrong-arity"),
        ("((tool name) k (forward k tool name))", "wrong-arity"),
        ("((tool name given) k (k (lambda (x) x)))", "not-data"),
        ("((tool name given) k (k str))", "not-data"),
        ("((tool name given) k (k a))", "not-data"),
    ],
)
def test_a_clause_that_cannot_answer_is_an_error(clause, code):
    """`check` finds what ends the run."""
    use = {"tool_use": {"name": "look", "input": {}}}
    with MessagesServer(use, "ok") as server, pytest.raises(sexplang.Failed) as failed:
        sexplang.run(f"{ASKS} (handle (a) {clause})", model=server.url)

    assert code == failed.value.reason
    assert (code, "error") in found(clause)


@pytest.mark.parametrize("given", ['"x"', "3", "nil"])
def test_what_is_no_list_of_messages_is_an_error(given):
    clause = f"((compact messages used limit) k (k {given}))"
    assert ("bad-compaction", "error") in found(clause)


@pytest.mark.parametrize(
    "clause",
    [
        "((tool name given) k (k name))",
        '((tool name _) k (k "x"))',
        '((tool name given) k (if (equal? name "x") (k str) (k 1)))',
        "((tool name given) k (k (map str given)))",
        "((tool name given) k (forward k tool name given))",
    ],
)
def test_a_clause_that_may_answer_is_none(clause):
    assert [] == found(clause)


def test_what_holds_for_one_call_is_said_where_it_stands():
    """`call-task` takes the inputs of the task by name, and nothing else."""
    (problem,) = sexplang.check(TASKS + '(call-task leaf "x" options: {temperature: 0})')

    assert "unknown-label" == problem.code
    assert "(call-atomic-task 'leaf inputs: {…} options: …)" in problem.hint


# -- What a program had been given before it failed ------------------------------------------------

BEFORE = {
    "(handle (let ((x (leaf 'a))) (str x (leaf 'c))) ((model p) r (r (model p))))": {"x": "A"},
    "(map leaf ['a 'b 'c])": {"map": ["A", "B"]},
    "(map (lambda (x) (str (leaf x) '!)) ['a 'b 'c])": {"map": ["A!", "B!"]},
    "(fold (lambda (all x) (append all [(leaf x)])) [] ['a 'b 'c])": {"fold": ["A", "B"]},
    "[(leaf 'a) (leaf 'c)]": {"list": ["A"]},
    "(str (leaf 'a) 'x (leaf 'b) (leaf 'c))": {"str": ["A", "B"]},
    "(both (leaf 'a) (leaf 'c))": {"both": ["A"]},
    "{x: (leaf 'a) y: 3 z: (leaf 'c)}": {"x": "A"},
    "(let ((x (leaf 'a)) (y (leaf 'c))) y)": {"x": "A"},
}


@pytest.mark.parametrize("program", BEFORE)
def test_what_was_given_before_is_told(program):
    """Also where it had no name yet: by the name of what it was for."""

    def says(body):
        text = str(body["messages"])
        return REFUSED if "Do c." in text else "A" if "Do a." in text else "B"

    words = program.replace("'a", '"a"').replace("'b", '"b"').replace("'c", '"c"')
    words = words.replace("'!", '"!"').replace("'x", '"x"')
    failed = ran(f"(define (both one other) [one other]) (attempt {words})", says)

    assert BEFORE[program] == failed.notes["error"]["details"]["partial_results"]


# -- Slips that were passed over -------------------------------------------------------------------


def test_a_field_of_a_plan_that_is_nearly_one_is_told():
    """What it holds would be missing: a bound, an order, when it is enough."""
    program = '(subplan {stop_wen: "x" subtasks: [{name: "leaf" description: "a" budgt_cap: 3}]})'
    reply = ran(program, "never")

    assert not reply["accepted"]
    assert "stop_wen: there is no such field: did you mean `stop_when`?" in reply["reason"]
    assert "subtasks[0].budgt_cap: there is no such field: did you mean" in reply["reason"]


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("option: {temperature: 1}", "option: there is no such field: did you mean `options`?"),
        ("zzz: 1", "previous_outputs, options"),
        ('model: "fast"', "(call-atomic-task 'name inputs: {…} model: …)"),
    ],
)
def test_a_field_of_a_request_that_is_none_says_what_there_is(field, said):
    with pytest.raises(sexplang.Failed) as failed:
        ran(f'(subtask {{name: "leaf" inputs: {{what: "x"}} {field}}})', "never")

    assert said in failed.value.error.fields["message"]


def test_a_tool_is_not_run_where_the_choice_is_none():
    """The program said that there is none in this turn."""
    program = """
    (define (look x) "Looks." (raise "never"))
    (defatom a (instructions "x") (allowed_tools look) (options tool_choice: none))
    (a)
    """
    heard = []

    def says(body):
        heard.append(str(body["messages"][-1]))
        use = {"tool_use": {"name": "look", "input": {"x": 1}}}
        return "Done." if len(heard) > 1 else use

    assert "Done." == ran(program, says)
    assert "`look` is not offered in this turn: `tool_choice` is none" in heard[1]


PROVIDED = '(defatom a (instructions "x") (provider "openai") (model "fast")) (str (a))'


def test_a_provider_makes_an_id_of_a_name():
    """Everywhere the same: in the request, and in what is said of its models."""
    with MessagesServer("ok") as server:
        said = sexplang.run(PROVIDED, model={"openai:fast": server.url})
    only = sexplang.check('(defatom c (instructions "x") (provider "openai")) (str (c))')

    assert "ok" == said
    assert [("incomplete-template", "warning")] == [(each.code, each.severity) for each in only]


def test_a_clause_that_cannot_keep_state_says_what_can():
    program = """
    (import std/state)
    (define (note x) "Notes." (update-state (lambda (all) (append all [x]))))
    (defatom a (instructions "x") (allowed_tools note))
    (with-state [] (lambda () (a)))
    """
    use = {"tool_use": {"name": "note", "input": {"x": "tea"}}}
    with pytest.raises(sexplang.Failed) as failed:
        ran(program, use, "ok")

    assert "resume-across-par" == failed.value.reason
    assert "(allowed_tools (in-order name))" in failed.value.error.fields["hint"]


@pytest.mark.parametrize(
    "asked",
    [
        {"name": "count", "input": {"n": 3.0}},
        {"name": "spawn_subtask", "input": {"name": "count", "inputs": {"n": 3.0}}},
    ],
)
def test_a_number_without_a_part_is_a_whole_number(asked):
    """JSON has one kind of number, and some models write 3.0."""
    program = """
    (defatom count (params (n integer)) (instructions "Count to {{n}}."))
    (defatom a (instructions "x") (allowed_tools count spawn_subtask))
    (a)
    """
    heard = []

    def says(body):
        heard.append(str(body["messages"]))
        return {"tool_use": asked} if len(heard) == 1 else "Done."

    assert "Done." == ran(program, says)
    assert "Count to 3." in heard[1]


def test_inputs_that_do_not_fit_are_told_with_their_types():
    with pytest.raises(sexplang.Failed) as failed:
        ran('(call-atomic-task \'leaf inputs: {what: 3 when: "x"})', "never")

    assert "`leaf` takes what (string)" == failed.value.error.fields["hint"]


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("ls src/*.py", ["`src/*.py` is taken as it is"]),
        ("find src | head", ["`|` is taken as it is"]),
        ("ls $(pwd)", ["`$(pwd)` is taken as it is"]),
        ("find src -name", ["does not only name files with `-name`"]),
        ("find src -name '*.py'", []),
        ("git ls-files '*.py'", []),
    ],
)
def test_a_command_that_is_meant_for_a_shell_is_found(written, found):
    task = f'(defatom a (instructions "x") (file_paths source: command command: "{written}"))'
    said = [each.title for each in sexplang.check(f"{task} (str (a))")]

    assert len(found) == len(said)
    assert all(words in title for words, title in zip(found, said, strict=True))


def test_a_function_without_a_doc_is_no_tool_and_the_warning_says_why(tmp_path):
    (tmp_path / "s.json").write_text('["ok"]')
    program = '(defatom a (instructions "x") (allowed_tools look)) (define (look x) x) (str (a))'
    done = command("run", "-e", program, "--model", f"scripted:{tmp_path}/s.json")

    assert "there is no tool `look`" in done.stderr
    assert 'say what it is for, as its model reads it: (define (look …) "…" …)' in done.stderr
