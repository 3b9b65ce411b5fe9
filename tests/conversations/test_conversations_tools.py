"""Tools of a conversation: what a server of models is sent of them, and who does their work."""

import json

import pytest
from support.messages_server import MessagesServer
from support.serving import run_served

import sexplang
from sexplang.hosts import main as command

TASKS = """
(define rate 1.8)
(define (to-fahrenheit celsius (shift 32))
  "Converts degrees Celsius to Fahrenheit."
  (+ shift (* rate celsius)))
(define (total first . others)
  "Adds numbers up."
  (reduce + 0 (cons first others)))
(define (ask-twice question)
  "Asks a person."
  (str (ask-user question) "!"))
(define (_shout words) "Shouts." (string-upcase words))
(defatom to-spanish
  (params (words string doc: "what to translate") (formal boolean default: false))
  (description "Translates into Spanish.")
  (instructions "Translate {{words}}"))
(defatom guide (params question) (instructions "Guide: {{question}}")
  (allowed_tools to-spanish to-fahrenheit total ask-twice _shout))
"""


def uses(*calls):
    """The model calls tools: name and input of each."""
    return [
        {"type": "tool_use", "id": f"t{at}", "name": name, "input": given}
        for at, (name, given) in enumerate(calls)
    ]


def results(body):
    """What the last message of a request says of each call, and whether it is an error."""
    blocks = body["messages"][-1]["content"]
    return [(block["content"], block.get("is_error", False)) for block in blocks]


def test_a_task_and_a_function_go_out_with_their_own_schema():
    _, (body,) = run_served(f'{TASKS} (guide "tea")', "done")

    tools = {tool["name"]: tool for tool in body["tools"]}
    assert list(tools) == ["to-spanish", "to-fahrenheit", "total", "ask-twice", "_shout"]
    spanish, fahrenheit = tools["to-spanish"], tools["to-fahrenheit"]
    assert spanish["description"] == "Translates into Spanish."
    assert spanish["input_schema"] == {
        "type": "object",
        "properties": {
            "words": {"type": "string", "description": "what to translate"},
            "formal": {"type": "boolean", "default": False},
        },
        "required": ["words"],
        "additionalProperties": False,
    }
    assert fahrenheit["description"] == "Converts degrees Celsius to Fahrenheit."
    assert fahrenheit["input_schema"]["properties"] == {
        "celsius": {},
        "shift": {"type": "integer", "default": 32},
    }
    assert fahrenheit["input_schema"]["required"] == ["celsius"]
    assert tools["total"]["input_schema"]["properties"] == {
        "first": {},
        "others": {"type": "array"},
    }


def test_functions_are_called_and_their_errors_told():
    calls = uses(
        ("to-fahrenheit", {"celsius": 20}),
        ("to-fahrenheit", {"celsius": 20, "shift": 0}),
        ("total", {"first": 1, "others": [2, 3]}),
        ("total", {"first": 1}),
        ("_shout", {"words": "tea"}),
        ("to-fahrenheit", {"celsius": "warm"}),
        ("to-fahrenheit", {"kelvin": 20}),
        ("to-fahrenheit", {"celsius": 20, "kelvin": 20}),
        ("total", {"first": 1, "others": 2}),
    )

    _, journal = run_served(f'{TASKS} (guide "tea")', calls, "done")

    told = results(journal[1])
    assert [content for content, _ in told[:5]] == ["68.0", "36.0", "6", "1", "TEA"]
    assert [is_error for _, is_error in told] == [False] * 5 + [True] * 4
    assert json.loads(told[5][0])["reason"] == "wrong-type"
    assert "`celsius` is missing" in told[6][0]
    assert "`kelvin` is none of its inputs: celsius, shift" in told[7][0]
    assert "`others` must be a list" in told[8][0]


def test_a_task_is_a_subtask_and_a_handler_may_answer_it():
    program = f"""{TASKS}
        (handle [(guide "tea") "no requests"]
          ((subtask request) resume
            (append ["asked" request.name request.inputs request.depth] (resume "mock"))))"""

    value, journal = run_served(program, uses(("to-spanish", {"words": "tea"})), "done")

    assert value == ["asked", "to-spanish", {"words": "tea"}, 1, "done", "no requests"]
    assert results(journal[1]) == [("mock", False)]


def test_what_does_not_fit_a_task_is_told():
    calls = uses(("to-spanish", {"word": "tea"}), ("to-spanish", {"words": 1}))

    _, journal = run_served(f'{TASKS} (guide "tea")', calls, "done")

    told = [json.loads(content) for content, is_error in results(journal[1]) if is_error]
    assert [each["reason"] for each in told] == ["input_validation_failure"] * 2
    assert "missing `words`; unknown `word`" in told[0]["message"]
    assert len(journal) == 2


def test_depth_and_cycle_hold():
    program = """(defatom dig (params n) (instructions "Dig {{n}}") (allowed_tools dig))
                 (call-task dig "0")"""

    def again(body):
        if body["messages"][-1]["content"][0]["type"] == "tool_result":
            return "up"
        said = body["messages"][0]["content"][0]["text"]
        return uses(("dig", {"n": str(int(said.removeprefix("Dig ")) + 1)}))

    _, journal = run_served(program, again)
    errors = [content for body in journal for content, bad in told_in(body) if bad]
    assert "`dig` would be 5 deep" in errors[0]
    assert len(journal) == 10

    _, journal = run_served(program, uses(("dig", {"n": "0"})), "up")
    assert "dig -> dig" in results(journal[1])[0][0]


def told_in(body):
    blocks = body["messages"][-1]["content"]
    return results(body) if blocks[0]["type"] == "tool_result" else []


def test_a_handler_of_tool_takes_a_function_and_may_pass_it_on():
    program = f"""{TASKS}
        (handle (guide "tea")
          ((tool name inputs) resume
            (if (equal? name "total") (resume "denied") (forward resume tool name inputs))))"""
    calls = uses(("total", {"first": 1}), ("to-fahrenheit", {"celsius": 100}))

    _, journal = run_served(program, calls, "done")

    assert results(journal[1]) == [("denied", False), ("212.0", False)]


def test_a_tool_of_the_host_may_be_called_by_a_function_of_its_name():
    """Only the model's call is the function's: what the program performs, the host is asked."""
    program = """(define (search q) "Searches in small letters."
                   (tool "search" {q: (string-downcase q)}))
                 (defatom find (instructions "Find.") (allowed_tools search))
                 (find)"""

    def search(q: str) -> str:
        return f"found {q}"

    _, journal = run_served(program, uses(("search", {"q": "TEA"})), "done", tools=[search])

    assert results(journal[1]) == [("found tea", False)]
    assert journal[0]["tools"][0]["description"] == "Searches in small letters."


def test_templates_name_the_functions_of_the_file_that_imports_them(tmp_path):
    (tmp_path / "tasks.xml").write_text(
        """<task name="guide" type="atomic"><instructions>Go.</instructions>
           <allowed_tools><tool>louder</tool><tool>u.softer</tool><tool>other</tool></allowed_tools>
           </task>
        """
    )
    (tmp_path / "other.xml").write_text(
        '<task name="other" type="atomic"><instructions>Other.</instructions></task>'
    )
    (tmp_path / "util.sexp").write_text('(define (softer w) "Softer." (string-downcase w))')
    file = tmp_path / "main.sexp"
    file.write_text(
        """(import "tasks.xml") (import "other.xml") (import "util.sexp" as: u)
           (define (louder w) "Louder." (string-upcase w))
           (guide)"""
    )
    calls = uses(("louder", {"w": "a"}), ("u_softer", {"w": "B"}), ("other", {}))

    _, journal = run_served(file, calls, "of other", "done")

    assert results(journal[2]) == [("A", False), ("b", False), ("of other", False)]


def test_functions_of_two_files_cannot_be_one_tool(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.sexp").write_text(
            f'(define (look) "Looks." "{name}")'
            f'(defatom t{name} (instructions "Go.") (allowed_tools look))'
        )
    file = tmp_path / "main.sexp"
    file.write_text('(import "a.sexp" as: a) (import "b.sexp" as: b) (a.ta)')

    with pytest.raises(sexplang.Diagnostics) as raised:
        sexplang.build(file)

    assert raised.value.diagnostics[0].code == "duplicate-tool"


def test_a_subagent_has_what_its_call_names():
    program = f'{TASKS} (spawn-subagent task: "Add." tools: ["total" "to-spanish"])'
    calls = uses(("total", {"first": 4}), ("to-spanish", {"words": "tea"}))

    value, journal = run_served(program, calls, "té", "done")

    assert [tool["name"] for tool in journal[0]["tools"]] == ["total", "to-spanish"]
    assert results(journal[2]) == [("4", False), ("té", False)]
    assert value["success"] is True


def test_a_function_may_wait_and_the_run_be_frozen_meanwhile():
    program = sexplang.build(f'{TASKS} (define suffix "?") (str (guide "tea") suffix)')
    waiting = sexplang.start(program)

    def answer(operation, value):
        nonlocal waiting
        frozen = json.loads(json.dumps(sexplang.freeze(waiting)))
        waiting = sexplang.thaw(program, frozen)
        (request,) = waiting.requests
        assert request.operation == operation
        waiting = waiting.resume(request.id, value)
        return request

    calls = uses(("ask-twice", {"question": "Sugar?"}))
    answer("model", {"content": calls, "stop_reason": "tool_use"})
    assert answer("ask-user", "yes").arguments[0] == "Sugar?"
    body = answer("model", "done").arguments[0]

    assert results(body) == [("yes!", False)]
    assert waiting.value == "done?"


@pytest.mark.parametrize(
    ("code", "clause"),
    [
        ("not-data", "(resume (lambda () 1))"),
        ("wrong-arity", "(resume ((lambda (x) x) 1 2))"),
        ("not-a-function", "(resume ((or inputs.f name) 1))"),
        ("resume-across-par", "(append [inputs] (resume 1))"),
    ],
)
def test_a_mistake_of_the_program_in_a_handler_ends_the_run(code, clause):
    program = f"""(defatom t (instructions "Go.") (allowed_tools look))
                  (handle [(t)] ((tool name inputs) resume {clause}))"""

    server = MessagesServer(uses(("look", {})), "done")
    with server, pytest.raises(sexplang.Failed) as failed:
        sexplang.run(program, model=server.url)

    assert failed.value.error.fields["reason"] == code
    assert len(server.journal) == 1


def test_a_mistake_in_a_function_ends_the_run_at_any_depth():
    program = """(define (look) "Looks." ((lambda (x) x)))
                 (defatom inner (instructions "In.") (allowed_tools look))
                 (defatom outer (instructions "Out.") (allowed_tools inner))
                 (try (outer) (catch (err wrong-arity) ["caught" err.reason]))"""

    value, journal = run_served(program, uses(("inner", {})), uses(("look", {})), "done")

    assert value == ["caught", "wrong-arity"]
    assert len(journal) == 2


def test_check_says_which_names_no_tool_has(tmp_path, capsys):
    file = tmp_path / "a.sexp"
    file.write_text(
        """(define (plain w) w)
           (define (told w) "Tells." w)
           (defatom _hidden (instructions "Go."))
           (defatom other (instructions "Go."))
           (defatom t (instructions "Go.") (allowed_tools plain told other _hidden nowhere))
           (str (t) (_hidden) (other))"""
    )

    command(["check", str(file)])

    said = capsys.readouterr()
    found = [line for line in said.err.splitlines() if "unknown-tool]" in line]
    assert [line.partition("`t` may use the tool ")[2] for line in found] == [
        "`plain`, and the function of that name has no doc",
        "`_hidden`, and the task of that name is private",
        "`nowhere`, and neither the language nor the program has one of that name",
    ]
    assert '(define (plain w) "…" …)' in said.err


def test_in_order_tools_keep_state_and_follow_the_others():
    program = """
        (import std/state)
        (defatom shop (instructions "Buy.") (allowed_tools price (in-order note)))
        (run-state []
          (lambda ()
            (handle (shop)
              ((tool name inputs) resume
                (if (equal? name "price")
                    (resume 4)
                    (begin
                      (update-state (lambda (notes) (append notes [inputs.text])))
                      (resume "noted")))))))"""
    calls = uses(("note", {"text": "tea"}), ("price", {}), ("note", {"text": "milk"}))

    value, journal = run_served(program, calls, "done")

    assert value == {"value": "done", "state": ["tea", "milk"]}
    assert [content for content, _ in results(journal[1])] == ["noted", "4", "noted"]


def test_in_order_functions_pass_a_state_on(tmp_path):
    """The textbook handler, whose answer is a function of the state."""
    (tmp_path / "tasks.xml").write_text(
        """<task name="keep" type="atomic"><instructions>Keep.</instructions>
           <allowed_tools><tool in_order="true">note</tool></allowed_tools></task>"""
    )
    file = tmp_path / "main.sexp"
    file.write_text(
        """(import "tasks.xml")
           ((handle (str (keep))
              ((tool name inputs) resume
                (lambda (notes) ((resume "noted") (append notes [inputs.text]))))
              (return v (lambda (notes) [v notes]))) [])"""
    )
    calls = uses(("note", {"text": "tea"}), ("note", {"text": "milk"}))

    value, _ = run_served(file, calls, "done")

    assert value == ["done", ["tea", "milk"]]


def test_a_tool_that_is_not_offered_in_a_turn_is_not_run():
    """Port 10: seats are changed only after the question was asked."""
    program = """
        (defatom airline (instructions "Help.") (allowed_tools ask change spawn_subtask))
        (handle (airline)
          ((tool name inputs) resume (resume (str "did " name)))
          ((model payload) resume
            (resume (model (merge payload
              {tools: (filter (lambda (tool) (equal? tool.name "ask")) payload.tools)})))))"""
    calls = uses(("change", {}), ("ask", {}), ("spawn_subtask", {"description": "x"}))
    asked = '{"status": "CONTINUATION", "notes": {"subtask_request": {"description": "x"}}}'

    value, journal = run_served(program, calls, asked)

    assert [tool["name"] for tool in journal[0]["tools"]] == ["ask"]
    (change, is_error), ask, (spawn, _) = results(journal[1])
    assert is_error
    assert "`change` is not offered in this turn; you have `ask`" in change
    assert ask == ("did ask", False)
    assert "`spawn_subtask` is not offered in this turn" in spawn
    assert value == asked
    assert len(journal) == 2


def test_a_tool_of_the_host_cannot_ask_for_a_subtask():
    def more() -> dict:
        """Wants more."""
        return {"status": "CONTINUATION", "notes": {"subtask_request": {"description": "x"}}}

    program = '(defatom t (instructions "Go.") (allowed_tools more)) (t)'

    _, journal = run_served(program, uses(("more", {})), "done", tools=[more])

    ((told, is_error),) = results(journal[1])
    assert is_error
    assert json.loads(told)["reason"] == "tool_execution_error"
    assert "gave a CONTINUATION" in told


STATEFUL = """(defatom t (instructions "Go.") (allowed_tools ALLOWED)) BODY"""
PASSING = "(handle (t) ((tool name inputs) resume (append [1] (resume 2))))"
KEEPING = """(import std/state)
    (run-state [] (lambda () (handle (t)
      ((tool name inputs) resume (begin (put-state 1) (resume 2))))))"""
READING = '(handle (t) ((read-file path) resume (str (resume "x") "!")))'
FUNCTION = """(import std/state) (define (look) "Looks." (put-state 1))
    (run-state [] (lambda () (t)))"""


@pytest.mark.parametrize(
    ("allowed", "body", "found"),
    [
        ("look", PASSING, ["error"]),
        ("(in-order look)", PASSING, []),
        ("look (in-order note)", PASSING, ["error"]),
        ("look", PASSING.replace("(append [1] (resume 2))", "(resume 2)"), []),
        ("look", KEEPING, ["warning"]),
        ("look (in-order note)", KEEPING, []),
        ("(in-order look)", KEEPING, []),
        ("look", FUNCTION, ["warning"]),
        ("(in-order look)", FUNCTION, []),
        ("read_file", READING, ["error"]),
        ("list_files", READING, []),
        ("read_file", READING.replace("(t)", '(subtask {description: "go"})'), ["warning"]),
        ("spawn_subtask", PASSING.replace("tool name inputs", "subtask request"), []),
    ],
)
def test_check_finds_handlers_that_cannot_take_what_a_branch_performs(allowed, body, found):
    """It is certain of what the conversation performs itself; what a clause performs in turn may be
    for another tool."""
    findings = sexplang.check(STATEFUL.replace("ALLOWED", allowed).replace("BODY", body))

    said = [each.severity for each in findings if each.code == "resume-across-par"]
    assert said == found


TYPED = """
(define-type Flight {from: string  price?: number})
(define-type Tree {kids: [Tree]})
(defatom book
  (description "Books.")
  (params (flights [Flight]) (tree Tree required: false) (mood (one-of "up" "down")))
  (instructions "Book {{flights}} {{tree}} {{mood}}."))
(defatom guide (instructions "Guide.") (allowed_tools book))
"""


def test_a_tool_with_typed_inputs_goes_out_with_their_types():
    _, (body,) = run_served(f"{TYPED} (guide)", "done")
    (tool,) = body["tools"]
    schema = tool["input_schema"]

    assert schema["properties"]["flights"]["items"]["required"] == ["from"]
    assert schema["properties"]["mood"] == {"enum": ["up", "down"]}
    assert schema["properties"]["tree"]["properties"]["kids"]["items"] == {"$ref": "#/$defs/Tree"}
    assert list(schema["$defs"]) == ["Tree"]


def test_a_misfit_of_what_a_model_sends_is_told_by_its_path():
    given = {"flights": [{"from": "a", "price": "12"}], "mood": "up"}
    _, bodies = run_served(f"{TYPED} (guide)", uses(("book", given)), "done")
    ((said, is_error),) = results(bodies[-1])

    assert is_error
    assert "flights[0].price: expected number or nil, got" in str(said)
