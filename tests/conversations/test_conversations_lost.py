"""Nothing that was paid for is lost: every way out of a conversation, and all it may have been
given; and who sees it."""

import json
from threading import Event

import pytest
from support.command import sexplang as command
from support.lost import CELLS, nothing_lost
from support.messages_server import MessagesServer

import sexplang

NAMES = [f"{way.name}: {given.name}" for way, given in CELLS]


@pytest.mark.parametrize("cell", range(len(CELLS)), ids=NAMES)
def test_what_was_given_is_told(cell: int):
    """The words are in the error's partial results and in the notes of the FAILED result."""
    assert nothing_lost(cell) is None


# -- From a server that speaks the protocol, to whoever looks -------------------------------------

TASKS = """
(defatom parent (instructions "Reach it.") (allowed_tools spawn_subtask propose_subplan))
(defatom lead (params (what string)) (instructions "Lead {{what}}.") (allowed_tools spawn_subtask))
(defatom leaf (params (what string)) (instructions "Do {{what}}."))
"""
REFUSED = {"content": [], "stop_reason": "refusal"}
DELIVERED = [{"name": "half.md", "text": "DELIVERABLE"}]


def use(tool, **given):
    """A block that calls a tool."""
    return {"type": "tool_use", "id": f"toolu_{tool}", "name": tool, "input": given}


def calling(*blocks):
    """A reply with these blocks."""
    return {"content": list(blocks), "stop_reason": "tool_use"}


PROPOSED = calling(
    use("propose_subplan", artifacts=DELIVERED, subtasks=[{"description": "one", "name": "leaf"}])
)


def spawning(what="it", name="leaf"):
    """A reply that asks for a subtask."""
    return calling(use("spawn_subtask", name=name, inputs={"what": what}))


def ran(program, *script, **options):
    """The value of a program whose models are this server's."""
    with MessagesServer(*script) as server:
        return sexplang.run(TASKS + program, model=server.url, **options)


def told(notes):
    """What notes hold, or partial results, as text."""
    return str({name: item for name, item in notes.items() if name != "error"})


def test_a_plan_and_what_was_delivered_with_it():
    """The finding as it was found: a deliverable, a plan that is done, then a refusal."""
    failed = ran("(attempt (parent))", PROPOSED, "EXPENSIVE ONE", REFUSED)

    assert ("FAILED", "llm_error") == (failed.status, failed.notes["error"]["reason"])
    assert "DELIVERABLE" == failed.notes["artifacts"][0]["text"]
    assert "EXPENSIVE ONE" == failed.notes["subplans"][0]["results"][0].content
    partial = failed.notes["error"]["details"]["partial_results"]
    assert partial == {name: failed.notes[name] for name in ("artifacts", "subplans")}


def test_a_result_and_a_failure_have_the_same_notes():
    """A program reads both alike."""
    program = "(bind r (attempt (call-task parent))) [r.status (map answer r.notes.subtasks)]"

    assert ["COMPLETE", ["A", "B"]] == ran(program, spawning("a"), "A", spawning("b"), "B", "Done.")
    assert ["FAILED", ["A", "B"]] == ran(program, spawning("a"), "A", spawning("b"), "B", REFUSED)


@pytest.mark.parametrize(
    ("call", "last"),
    [
        ("(call-atomic-task 'parent max_turns: 1)", PROPOSED),
        ("(parent)", {**PROPOSED, "stop_reason": "max_tokens"}),
        ("(parent)", {**PROPOSED, "stop_reason": "refusal"}),
        (
            "(call-atomic-task 'parent max_turns: 1)",
            json.dumps(
                {
                    "status": "CONTINUATION",
                    "notes": {"subplan": {"name": "leaf"}, "artifacts": DELIVERED},
                }
            ),
        ),
    ],
)
def test_what_the_last_reply_delivers(call, last):
    """Also where that reply is one too many."""
    failed = ran(f"(attempt {call})", last)

    assert "FAILED" == failed.status
    assert "DELIVERABLE" == failed.notes["artifacts"][0]["text"]


def test_what_a_subtask_gave_that_does_not_fit_any_more():
    """There is no room to tell its parent, which ends there."""
    full = {**spawning("more"), "usage": {"input_tokens": 79_995, "output_tokens": 1}}
    failed = ran("(attempt (parent))", spawning(), "FIRST", full, "SECOND")

    assert "context" == failed.notes["error"]["reason"]
    assert ["FIRST", "SECOND"] == [each.content for each in failed.notes["subtasks"]]


def test_each_thing_is_told_once_however_deep_it_is():
    """A subtask that failed has what it was given in its notes, and not in its error as well."""
    tasks = "".join(
        f'(defatom t{n} (instructions "Go.") (allowed_tools spawn_subtask))' for n in range(4)
    )
    script = [calling(use("spawn_subtask", name=f"t{n}", inputs={})) for n in (1, 2, 3)]
    failed = ran(f"{tasks} (attempt (t0))", *script, spawning(), "DEEP", *[REFUSED] * 4)

    inner = failed
    for _ in range(4):
        assert 1 == told(inner.notes).count("DEEP")
        (inner,) = inner.notes["subtasks"]
    assert "DEEP" == inner.content


def test_who_catches_it_sees_it(tmp_path):
    """`catch`, Python and the Dispatcher."""
    words = "problem.details.partial_results.subtasks"
    caught = ran(f"(try (parent) (catch (problem) {words}))", spawning(), "WORDS", REFUSED)
    assert ["WORDS"] == [each.content for each in caught]

    with pytest.raises(sexplang.Failed) as raised:
        ran("(parent)", spawning(), "WORDS", REFUSED)
    assert "WORDS" == raised.value.details["partial_results"]["subtasks"][0]["content"]

    with MessagesServer(spawning(), "WORDS", REFUSED) as server:
        library = tmp_path / "tasks.sexp"
        library.write_text(TASKS)
        given = sexplang.dispatch("parent", library=library, model=server.url)
    assert ["WORDS"] == [each.content for each in given.notes["subtasks"]]


def test_a_mistake_of_a_program_behind_the_dispatcher(tmp_path):
    """The result that takes the place of its error has what the error had."""
    library = tmp_path / "tasks.sexp"
    library.write_text(TASKS)
    program = """(handle (parent)
      ((subtask request) resume
        (if (equal? request.name "lead") (car 5) (forward resume subtask request))))"""
    with MessagesServer(spawning(), "WORDS", spawning("b", "lead")) as server:
        failed = sexplang.dispatch(program, library=library, model=server.url)

    assert "subtask_failure" == failed.notes["error"]["reason"]
    assert ["WORDS"] == [each.content for each in failed.notes["unfinished"][0]["subtasks"]]


def test_the_command_writes_it(tmp_path):
    """`run --json` in the error, `task --json` in the notes: and nothing of its own."""
    program, script = tmp_path / "p.sexp", tmp_path / "script.json"
    rules = [
        {"task": "leaf", "reply": "WORDS"},
        {"task": "parent", "times": 1, "reply": {"content": spawning()["content"]}},
        {"task": "parent", "reply": REFUSED},
    ]
    program.write_text(TASKS + "(parent)")
    script.write_text(json.dumps(rules))
    options = ["--model", f"scripted:{script}", "--quiet", "--json"]
    error = json.loads(command("run", program, *options).stdout)["error"]
    failed = json.loads(command("task", "parent", "--from", program, *options).stdout)

    assert "WORDS" == error["details"]["partial_results"]["subtasks"][0]["content"]
    assert "WORDS" == failed["notes"]["subtasks"][0]["content"]
    assert ["subtasks"] == list(failed["notes"]["error"]["details"]["partial_results"])


def test_who_was_too_late_is_in_the_plan():
    """The first success cancels the others: what they had been given is in their results."""
    listed = [{"name": name, "description": name} for name in ("lead", "leaf")]
    asked = calling(use("propose_subplan", subtasks=listed, stop_when={"kind": "FirstSuccess"}))

    was_given = Event()

    def says(body):
        text = json.dumps(body["messages"])
        if "Reach it." in text:
            return "Done." if "tool_result" in text else asked
        if "Lead" in text and "tool_result" in text:
            was_given.set()
            return {"fail": "hang"}
        if "Lead" in text:
            return spawning("a part")
        return "PART" if "a part" in text else was_given.wait(10) and "Quick."

    done = ran("(call-task parent)", says)

    (plan,) = done.notes["subplans"]
    late, first = plan["results"]
    assert ["Cancelled", "Completed"] == [each.notes["node"]["state"] for each in (late, first)]
    assert ["PART"] == [each.content for each in late.notes["subtasks"]]


def test_branches_that_are_done_are_told_where_another_fails():
    """Their values are nobody's else."""
    failed = ran(
        '(attempt (par (leaf "a") (begin (sleep 0.5) (leaf "b"))))',
        lambda body: "FIRST" if "Do a." in json.dumps(body) else REFUSED,
    )

    assert ["FIRST"] == failed.notes["finished"]
    assert ["FIRST"] == failed.notes["error"]["details"]["partial_results"]["finished"]


# -- What a program had bound, whatever ends it ---------------------------------------------------

PAID = """
(defatom sub (params t) (instructions "Sub {{t}}"))
(define draft (sub "a"))
(define (halved n) (let ((better (sub "b"))) (str better (nth [1] n))))
"""


@pytest.mark.parametrize(
    "wrong", ['(str (raise "stop"))', "(str draft (/ 1 0))", "(str (halved 9))"]
)
def test_an_error_of_the_program_keeps_what_was_paid_for(wrong):
    """The answers that it had bound, whole."""
    with pytest.raises(sexplang.Failed) as failed:
        sexplang.run(PAID + wrong, model=lambda payload: "word " * 3_000)

    assert "word " * 3_000 == failed.value.details["partial_results"]["draft"]


def test_a_map_that_fails_tells_what_it_had():
    """As `par-map` does; a `filter`, whose values are no answers, does not."""
    program = PAID + "(try (FN sub [1 2 3]) (catch (problem) problem.details.partial_results))"
    answers = {"a": "A", "1": "ONE", "2": "TWO"}

    def model(payload):
        word = payload["messages"][-1]["content"][-1]["text"].split()[-1]
        return answers.get(word) or {"content": [], "stop_reason": "refusal"}

    told = {each: sexplang.run(program.replace("FN", each), model=model) for each in FN}
    assert {"map": ["ONE", "TWO"], "draft": "A"} == told["map"]
    assert {"finished": ["ONE", "TWO"], "draft": "A"} == told["par-map"]
    assert {"draft": "A"} == told["filter"]


FN = ("map", "par-map", "filter")
