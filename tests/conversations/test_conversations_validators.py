"""Validators: a function of the program judges the answer of a task, in its conversation."""

import json

import pytest
from support.running import built
from support.serving import run_served

import sexplang
from sexplang.pipeline.pipeline import inspect

BOOK = """
(define-effect (seats place))
(defatom book (params (wish string)) (instructions "Book: {{wish}}")
  (returns {to: string}) (validate _free))
(define (_free flight)
  (when (= 0 (seats flight.to)) (format "No seat to ~a." flight.to)))
"""

ROME, BONN = json.dumps({"to": "Rome"}), json.dumps({"to": "Bonn"})


def words_of(body):
    """The texts that the model was told last."""
    return [block["text"] for block in body["messages"][-1]["content"]]


def answering(**free):
    return {"effects": {"seats": lambda place: free[place]}}


def test_the_model_is_told_what_the_validator_says():
    value, (first, second) = run_served(
        f'{BOOK} (book "south")', ROME, BONN, **answering(Rome=0, Bonn=1)
    )

    assert value == {"to": "Bonn"}
    assert words_of(second) == ["No seat to Rome."]
    assert second["messages"][: len(first["messages"])] == first["messages"]


def test_the_usage_counts_the_repairs():
    value, _ = run_served(f'{BOOK} (call-task book "x")', ROME, BONN, **answering(Rome=0, Bonn=1))
    one, _ = run_served(f'{BOOK} (call-task book "x")', BONN, **answering(Bonn=1))

    assert value.usage["output_tokens"] == 2 * one.usage["output_tokens"]
    assert value.notes["turns"] == 2
    assert value.notes["repairs"] == ["asked again: No seat to Rome."]


def test_format_and_validator_share_the_repairs():
    with pytest.raises(sexplang.Failed, match=r"not valid: No seat to Rome\.") as found:
        run_served(f'{BOOK} (book "x")', "no", ROME, ROME, **answering(Rome=0))

    assert found.value.error.fields["reason"] == "output_format_failure"
    assert found.value.error.fields["details"]["violations"] == ("No seat to Rome.",)
    assert json.loads(found.value.error.fields["content"]) == {"to": "Rome"}


def test_a_handler_around_the_call_answers_the_validator():
    program = f"""{BOOK}
    (handle (book "x") ((seats place) k (k (if (equal? place "Bonn") 1 0))))"""
    value, bodies = run_served(program, ROME, BONN)

    assert (value, len(bodies)) == ({"to": "Bonn"}, 2)


def test_a_validator_may_keep_state_as_it_runs_in_the_branch_of_its_conversation():
    program = """
    (import std/state)
    (defatom guess (instructions "Guess.") (validate count))
    (define (count answer)
      (update-state (lambda (n) (+ n 1)))
      (when (< (get-state) 3) (str "Not " answer ".")))
    (run-state 0 guess)"""
    value, bodies = run_served(program, "a", "b", "c")

    assert value == {"value": "c", "state": 3}
    assert words_of(bodies[2]) == ["Not b."]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('(raise {reason: "closed" message: "no more"})', "closed"),
        ("(car [])", "empty-list"),
        ("false", "wrong-type"),
        ('" "', "wrong-type"),
        ("[answer]", "wrong-type"),
    ],
)
def test_an_error_in_a_validator_fails_the_task(body, reason):
    program = f"""
    (defatom name (instructions "Name.") (validate judge))
    (define (judge answer) {body})
    [(get (attempt (call-task name)) "status") (name)]"""
    with pytest.raises(sexplang.Failed) as found:
        run_served(program, "tea", "tea")

    error = found.value.error.fields
    assert (error["reason"], error["details"]["task"], error["content"]) == (reason, "name", "tea")


def test_a_validator_may_ask_a_model_and_its_calls_are_within_the_bound():
    program = """
    (defatom write (instructions "Write.") (validate judge))
    (defatom _critic (params text) (instructions "Good? {{text}}") (returns boolean))
    (define (judge text) (unless (_critic text) "Not good."))
    (write)"""
    value, bodies = run_served(program, "a", "false", "b", "true")

    assert (value, len(bodies)) == ("b", 4)
    assert inspect(built(program)).calls.constant == 12


def test_a_run_is_frozen_in_a_validator():
    program = sexplang.build(f'(define rest "s") {BOOK} (str (book "x") rest)')
    waiting = sexplang.start(program)
    reply = {"content": [{"type": "text", "text": ROME}], "stop_reason": "end_turn"}
    waiting = waiting.resume(waiting.requests[0].id, reply)
    assert [each.operation for each in waiting.requests] == ["seats"]

    waiting = sexplang.thaw(program, json.loads(json.dumps(sexplang.freeze(waiting))))
    again = waiting.resume(waiting.requests[0].id, 0)
    done = waiting.resume(waiting.requests[0].id, 1)

    assert [each.operation for each in again.requests] == ["model"]
    assert done.value == '{to: "Rome"}s'


def test_a_task_is_validated_each_time_it_is_continued():
    program = """
    (defatom chat (instructions "Hello.") (validate short))
    (define (short answer) (when (> (string-length answer) 3) "Shorter."))
    (answer (continue (call-task chat) "And now?"))"""
    value, bodies = run_served(program, "long one", "Hi", "long two", "Ho")

    assert value == "Ho"
    assert [words_of(each)[-1] for each in bodies] == ["Hello.", "Shorter.", "And now?", "Shorter."]


def test_a_program_of_a_model_has_validators_of_its_own():
    program = """
    (defatom name (instructions "Name.") (validate judge))
    (define (judge answer) (when (equal? answer "a") "Not a."))
    (define text "(define bad \\"b\\") (define (judge x) (when (equal? x bad) \\"Not b.\\"))
                  (defatom other (instructions \\"Other.\\") (validate judge))
                  [(other) (answer (call-atomic-task 'name))]")
    (eval-plan text allow: ['model '(task "name")])"""
    value, bodies = run_served(program, "b", "c", "a", "d")

    assert value == {"status": "done", "value": ["c", "d"]}
    assert [words_of(bodies[at]) for at in (1, 3)] == [["Not b."], ["Not a."]]


def test_a_template_in_xml_names_a_function_of_the_file_that_imports_it(tmp_path):
    template = tmp_path / "name.xml"
    template.write_text(
        '<task name="name" type="atomic"><instructions>Name.</instructions>'
        "<validate>_judge</validate></task>"
    )
    main = tmp_path / "main.sexp"
    main.write_text("""(import "name.xml")
    (define (_judge answer) (when (equal? answer "a") "Not a."))
    (name)""")
    value, bodies = run_served(main, "a", "b")
    assert (value, words_of(bodies[1])) == ("b", ["Not a."])

    main.write_text('(import "name.xml") (name)')
    with pytest.raises(sexplang.Diagnostics, match="no function is called `_judge`"):
        sexplang.build(main)
