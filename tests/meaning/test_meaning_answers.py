"""A call of a task gives its answer: what a program says of it is what happens."""

import pytest

import sexplang
from sexplang.templates.reply.answers import AnswerFitter

ASK = '(defatom f (params (t string)) (instructions "OK? {{t}}"))\n'
JSON = '(defatom j (params (t string)) (instructions "J {{t}}") (output_format type: json))\n'


def value(text, *replies, head=ASK):
    return sexplang.run(head + text, model=list(replies))


@pytest.mark.parametrize(
    ("text", "reply", "expected"),
    [
        ('(if (equal? (f "a") "yes") 1 2)', "yes", 1),
        ('(case (f "a") (("yes") 1) (else 2))', "yes", 1),
        ('(match (f "a") ("yes" 1) (_ 2))', "yes", 1),
        ('(member? (f "a") ["yes"])', "yes", True),
        ('(string-contains? (f "a") "e")', "yes", True),
        ('(get {yes: 1} (f "a"))', "yes", 1),
        ('(sort-by identity (list (f "a") "z" "b"))', "yes", ["b", "yes", "z"]),
        ('(distinct (map f ["a" "b"]))', "yes", ["yes"]),
        ('(group-by f ["a" "b"])', "yes", [["yes", ["a", "b"]]]),
        ('(json-string {said: (f "a")})', "yes", '{"said":"yes"}'),
    ],
)
def test_an_answer_is_a_text_like_any_other(text, reply, expected):
    """The programs of a newcomer, each of which took the other branch."""
    assert value(text, reply, reply) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('(bind v (j "t")) v.good', False),
        ('(get (j "t") "good")', False),
        ('(match (j "t") ({good: g} g) (_ "nothing"))', False),
        ('(bind v (j "t")) (if v.good "good" "bad")', "bad"),
        ('(keys (j "t"))', ["good"]),
        ('(equal? (j "t") {good: false})', True),
    ],
)
def test_what_was_read_is_the_answer(text, expected):
    """The programs of a writer for a task that replies with JSON."""
    assert value(text, '{"good": false}', head=JSON) == expected


def test_null_and_false_are_answers():
    """What was read is never guessed from `parsed_content`, which is nil of a text too."""
    assert value('(if (j "t") 1 2)', "false", head=JSON) == 2
    assert value('(nil? (j "t"))', "null", head=JSON) is True
    assert value('(nil? (answer (call-task j "t")))', "null", head=JSON) is True
    assert value('(answer (call-task f "t"))', "null") == "null"


def test_the_result_is_asked_for():
    """By position and label, through values, and what it answers."""
    assert value('(get (call-task f t: "a") "status")', "yes") == "COMPLETE"
    text = '(map (lambda (r) [r.content (answer r)]) (map call-task [f f] ["a" "b"]))'
    assert value(text, "1", "2") == [["1", "1"], ["2", "2"]]
    assert value('(let ((g f)) (get (call-task g t: "a") "content"))', "yes") == "yes"
    assert value('(get (apply call-task f ["a"]) "content")', "yes") == "yes"


def test_a_result_stays_a_record():
    """True, its content in text, and equal to one with equal fields, whatever it answers."""
    same = '(bind r (call-task j "t")) (equal? r (subtask {}))'
    around = f"(handle (begin {same}) ((subtask q) k (k (call-task j q))))"
    assert value('(if (call-task j "t") 1 2)', "false", head=JSON) == 1
    assert value('(str "says " (call-task j "t"))', "false", head=JSON) == "says false"
    assert value(around.replace("(call-task j q)", '(call-task j "t")'), "1", "1", head=JSON)


def test_the_answer_travels_with_the_result():
    """Through freezing, `par`, handlers and the loops of the library."""
    text = '(define r (call-task j "t")) (read-file "a") (answer r)'
    program = sexplang.build(JSON + text)
    run = sexplang.start(program)
    run = run.resume(run.requests[0].id, '{"good": [1]}')
    frozen = sexplang.freeze(run)
    run = sexplang.thaw(program, frozen)
    run = run.resume(run.requests[0].id, "x")
    assert sexplang.result(run) == {"good": [1]}

    steps = '(sequence [j (lambda (v) v.good)] "t")'
    assert value(steps, '{"good": 7}', head=JSON) == 7
    assert value('(vote (lambda () (f "a")) n: 3)', "yes", " yes\n", "no") == "yes"
    assert value('(retry (lambda () (f "a")))', "yes") == "yes"


def test_a_failure_is_no_answer():
    """A FAILED result raises its error where its answer is asked for; a default takes its place."""
    assert value('(failed? (attempt (error "no")))') is True
    assert value('(failed? (call-task f "a"))', "yes") is False
    assert value('(attempt (error "no") "nothing")') == "nothing"
    assert value('(attempt (f "a") (error "never"))', "yes") == "yes"
    with pytest.raises(sexplang.Failed) as failed:
        value('(answer (attempt (raise {reason: "odd"})))')
    assert failed.value.reason == "odd"


def test_what_a_handler_resumes_with_is_the_value_of_the_call():
    """Also where it is a result."""
    text = """(handle (f "a") ((error e) resume (resume {status: e.reason})))"""
    refusal = {"content": [], "stop_reason": "refusal"}
    assert value(text, refusal) == {"status": "llm_error"}


def test_an_evaluator_that_is_a_task_is_read():
    """`{success feedback}` is an EvaluationResult, and stays a table."""
    text = """(director-evaluator-loop max_iterations: 1 initial: "x"
      director: (lambda (input i) input)
      executor: (lambda (plan i) plan)
      evaluator: (lambda (done plan i) (j done))
      controller: (lambda (said plan done i)
                    ['stop [said.success said.notes.success said.notes.feedback]]))"""
    reply = '{"success": true, "feedback": "fine"}'
    assert value(text, reply, head=JSON) == [True, True, "fine"]


TYPED = [
    ("boolean", "Yes.", True),
    ("boolean", '{"answer": false}', False),
    ("boolean", "No", False),
    ('(one-of "bug" "idea")', '"bug"', "bug"),
    ('(one-of "bug" "idea")', "**Bug**", "bug"),
    ('(one-of "bug" "idea")', '{"answer": "IDEA"}', "idea"),
    ("integer", "4", 4),
    ("integer", '{"answer": 4.0, "why": "so"}', 4),
    ("number", "1.5", 1.5),
    ("nil", "null", None),
    ("any", '{"answer": [1]}', [1]),
    ("string", "It says {so}.", "It says {so}."),
    ("(or string nil)", "Tea.", "Tea."),
    ("(or string nil)", "null", None),
    ("(or integer boolean)", "yes", True),
    ("[integer]", "[1, 2]", [1, 2]),
    ("list", '{"answer": [1, "a"]}', [1, "a"]),
    ("table", '{"answer": 1}', {"answer": 1}),
    ('"integer[]"', '{"answer": [3]}', [3]),
    ("{a: integer b?: string}", '{"a": 1, "c": 2}', {"a": 1}),
    ("{a: integer b?: string}", '{"a": 1, "b": null}', {"a": 1, "b": None}),
    ('{"a?": integer}', '{"a?": 1}', {"a?": 1}),
    ("(or {a: integer} {b: integer})", '{"b": 1, "c": 2}', {"b": 1}),
    ('(schema {type: "integer" minimum: 3})', '{"answer": 3}', 3),
    ("{x: [{y: (one-of 1 2)}]}", '{"x": [{"y": 2}]}', {"x": [{"y": 2}]}),
]


@pytest.mark.parametrize(("written", "reply", "expected"), TYPED)
def test_an_answer_is_of_the_type_that_its_task_returns(written, reply, expected):
    """In the language and in XML, which mean the same."""
    head = f'(defatom f (params (t string)) (instructions "OK? {{{{t}}}}") (returns {written}))\n'
    assert value('(f "a")', reply, head=head) == expected


WRONG = [
    ("integer", '"four"', 'the answer: expected integer, got "four"'),
    ('(one-of "a" "b")', '"c"', 'the answer: expected one of "a", "b", got "c"'),
    ('(one-of "Up" "up")', '"UP"', 'the answer: expected one of "Up", "up", got "UP"'),
    ("[{stars: integer}]", '[{"stars": "four"}]', '[0].stars: expected integer, got "four"'),
    ("{a: {b: string}}", '{"a": {}}', "a.b: it is missing"),
    ("(or {a: integer} nil)", '{"a": "x"}', 'a: expected integer, got "x"'),
    ("(or integer nil)", '"x"', 'the answer: expected integer or null, got "x"'),
    ('(schema {type: "integer" minimum: 3})', "2", "2 is less than the minimum of 3"),
    ("boolean", '"perhaps"', 'the answer: expected boolean, got "perhaps"'),
    ("table", "[1]", "the answer: expected object, got an array of 1"),
]


@pytest.mark.parametrize(("written", "reply", "words"), WRONG)
def test_what_does_not_fit_is_told_by_its_path(written, reply, words):
    """To the model, twice at most, and then to the program."""
    head = f'(defatom f (params (t string)) (instructions "OK? {{{{t}}}}") (returns {written}))\n'
    with pytest.raises(sexplang.Failed) as failed:
        value('(f "a")', reply, reply, reply, head=head)
    assert failed.value.reason == "output_format_failure"
    assert words in str(failed.value)


def test_unions_in_unions_cost_what_they_weigh():
    """A reply that nearly fits a deep type is refused at once."""
    schema, data = {"type": "integer"}, "x"
    for _ in range(49):
        of = {"type": "array", "items": schema}, {"type": "object", "properties": {"a": schema}}
        schema, data = {"anyOf": [*of]}, [data]
    fitting = AnswerFitter(schema)
    made, notes = fitting.fit(data)
    wrong = fitting.unfit(made)
    assert (data, ()) == (made, notes)
    assert wrong.violations == ("[0]" * 49 + ': expected integer, got "x"',)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('(+ 1 (f "a"))', ["`+`", '"4"', "`f`", "(returns integer)"]),
        ('(> (f "a") 3)', ["`>`", "`f`", "(returns integer)"]),
        ('(map str (f "a"))', ["`map`", "`f`", "(returns [string])"]),
        ('(get (f "a") "k")', ["`get`", "`f`", "(returns {name: string})"]),
    ],
)
def test_the_wrong_kind_of_answer_names_its_task(text, words):
    with pytest.raises(sexplang.Failed) as failed:
        value(text, "4")
    said = f"{failed.value} {failed.value.error.fields['hint']}"
    assert failed.value.reason == "wrong-type"
    assert [word for word in words if word not in said] == []


@pytest.mark.parametrize(
    ("returns", "reply", "answer"),
    [
        ('(one-of "Up" "up")', "Up", "Up"),
        ('(or (one-of "a") (one-of "A"))', "a", "a"),
        ("any", '{"answer": 3, "b": 4}', {"answer": 3, "b": 4}),
    ],
)
def test_what_a_reply_says_to_the_letter_is_the_answer(returns, reply, answer):
    """Before anything is read as it may be meant."""
    text = f'(defatom t (instructions "T") (returns {returns})) (t)'

    assert sexplang.run(text, model=[reply]) == answer
