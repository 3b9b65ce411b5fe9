"""Scores of a data set, the best of several, drafts with feedback; and agents."""

import pytest

import sexplang


def run(text, model=lambda payload: "tea", **settings):
    return sexplang.run(f"(import std/evaluate) (import std/agent) {text}", model=model, **settings)


def test_a_row_that_fails_has_a_score_and_its_error():
    report = run("""
    (evaluate (lambda (row) (if (= row.n 2) (error "no two") (* 2 row.n)))
      [{n: 1 double: 2} {n: 2 double: 4} {n: 3 double: 7}] (same-as "double"))
    """)

    assert report["score"] == pytest.approx(1 / 3)
    assert (report["count"], report["failed"]) == (3, 1)
    assert [row["error"] for row in report["rows"]] == [None, "no two", None]
    assert [row["score"] for row in report["rows"]] == [1, 0, 0]


def test_an_evaluation_of_nothing_has_no_score():
    report = run("(evaluate identity [] (same-as 1))")

    assert report == {"score": None, "count": 0, "failed": 0, "rows": []}


def test_rows_of_a_report_are_written_as_csv():
    text = run("""
    (csv-string (result-rows (evaluate (lambda (n) {twice: (* 2 n)}) [1] (lambda (value n) 0.5))))
    """)

    assert text == 'row,value,score,error\n1,"{""twice"":2}",0.5,\n'


def test_what_the_host_refuses_ends_an_evaluation():
    with pytest.raises(sexplang.Failed) as failed:
        run('(evaluate (lambda (row) (read-file "/etc/hosts")) [1 2] (same-as "x"))')

    assert failed.value.reason == "path-denied"


def test_the_best_of_several_is_the_first_of_the_greatest():
    text = """
    (define-effect (next))
    (best-of (lambda () (next)) (lambda (draft) draft.score) n: 3)
    """
    drafts = iter([{"score": 1, "n": 0}, {"score": 2, "n": 1}, {"score": 2, "n": 2}])

    assert run(text, effects={"next": lambda: next(drafts)}) == {"score": 2, "n": 1}


def test_what_fails_does_not_count_among_the_best():
    text = "(best-of (lambda () (act)) identity n: 3)"
    done = []

    def act():
        done.append(1)
        if len(done) < 3:
            raise sexplang.error("busy", f"busy {len(done)}")
        return 7

    assert run(text, effects={"act": act}) == 7
    done[:] = [1] * -9
    with pytest.raises(sexplang.Failed, match="busy 1"):
        run("(best-of (lambda () (act)) identity n: 2)", effects={"act": act})


def test_drafts_are_refined_a_bounded_number_of_times():
    text = '(refine (lambda (words) (str "draft " words)) (lambda (draft) "again") times: 2)'

    assert run(text) == "draft again"


def test_an_agent_may_be_given_a_function_as_a_tool():
    seen = []

    def model(payload):
        seen.append([tool["name"] for tool in payload["tools"]])
        if len(seen) == 1:
            return {"tool_use": {"name": "twice", "input": {"n": 4}}}
        return "done"

    program = """
    (define (twice n) "Doubles a number." (* 2 n))
    (defatom work (instructions "Work.") (limits max_turns: 5))
    (handle (answer (run-agent work {}))
      ((agent-tools task) k (k ["twice"])))"""

    assert run(program, model=model) == "done"
    assert seen == [["twice"], ["twice"]]


def test_an_agent_continues_one_conversation_and_its_limits_hold():
    lengths = []

    def model(payload):
        lengths.append(len(payload["messages"]))
        return "more"

    program = """
    (defatom work (instructions "Work."))
    (handle (run-agent work {})
      ((agent-limits task) k (k {rounds: 3}))
      ((agent-next result round) k (k (str "Go on, " round "."))))"""

    with pytest.raises(sexplang.Failed, match="not done after round 3"):
        run(program, model=model)
    assert lengths == [1, 3, 5]


def test_a_tool_that_is_not_allowed_is_not_called():
    told = []

    def model(payload):
        told.append(payload["messages"][-1]["content"])
        return {"tool_use": {"name": "pay", "input": {"n": 99}}} if len(told) == 1 else "no"

    program = """
    (define-tool (pay (n integer)) "Pays." (spend n))
    (defatom work (instructions "Work.") (allowed_tools pay))
    (with-approval (lambda (name inputs) (str name " is not for you: " inputs.n)) work)"""
    value = run(program, model=model, effects={"spend": lambda n: pytest.fail("it is spent")})

    assert value == "no"
    assert told[1][0]["is_error"]
    assert "pay is not for you: 99" in told[1][0]["content"]


def test_a_mistake_of_the_program_is_no_failed_row():
    with pytest.raises(sexplang.Failed) as failed:
        sexplang.run("(import std/evaluate) (evaluate (lambda () 1) [1 2] (lambda (value row) 1))")
    assert "wrong-arity" == failed.value.reason
