"""What does not fit through the border of a program, and what no function of the API takes."""

import pytest

import sexplang

HUGE = 10**6000
HALF = "a\ud800"
WAITING = sexplang.start(sexplang.build("(define-effect (ask)) (ask)"))
(ASKED,) = WAITING.requests


def entering(border, data):
    """The run that is given the data at a border."""
    if border == "effects":
        return sexplang.run("(x) 1", effects={"x": lambda: data})
    if border == "primitives":
        return sexplang.run("(x) 1", primitives={"x": lambda: data})
    if border == "inputs":
        return sexplang.run("(define-input x type: json) 1", inputs={"x": data})
    return WAITING.resume(ASKED.id, data)


@pytest.mark.parametrize("nested", [False, True], ids=["bare", "nested"])
@pytest.mark.parametrize("data", [HUGE, HALF], ids=["integer", "surrogate"])
@pytest.mark.parametrize(
    ("border", "words"),
    [
        ("effects", "the reply to `x`"),
        ("primitives", "what `x` gave"),
        ("inputs", "the input `x`"),
        ("resume", "the reply to `ask`"),
    ],
)
def test_what_no_program_could_have_made_does_not_enter(border, words, data, nested):
    """An integer beyond the limit and half of a surrogate pair, with the language's own error."""
    with pytest.raises((sexplang.Failed, sexplang.Diagnostics)) as caught:
        entering(border, {"a": [1, data]} if nested else data)

    code = "limit-integer" if data is HUGE else "not-text"
    found = caught.value
    reason = found.reason if isinstance(found, sexplang.Failed) else found.diagnostics[0].code
    assert reason == code
    assert words in str(found)


@pytest.mark.parametrize(
    "reply",
    [
        {"content": "a", "usage": {"input_tokens": HUGE, "output_tokens": 1}},
        {"content": "a", "stop_reason": "end_turn", "usage": {"input_tokens": HUGE}},
    ],
)
def test_a_model_reports_no_such_usage(reply):
    """The error names who said so."""
    with pytest.raises(sexplang.Failed, match="limit-integer: the reply to `model`"):
        sexplang.run('(defatom a (instructions "x")) (str (a))', model=lambda payload: reply)


def test_the_largest_integer_enters():
    """The limit is that of programs."""
    most = 2**13_999

    assert sexplang.run("(x)", effects={"x": lambda: -most}) == -most


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sexplang.run("1", inputs=[1]), "inputs is a table by name, not list"),
        (lambda: sexplang.run("1", inputs={1: 2}), "the names in inputs are str, not int"),
        (lambda: sexplang.run("1", limits={"steps": 5}), "limits is Limits"),
        (lambda: sexplang.run("1", effects={5: len}), "the names in effects are str, not int"),
        (lambda: sexplang.run("1", effects=[len]), "effects is a table by name"),
        (lambda: sexplang.run("1", primitives={5: len}), "the names in primitives are str"),
        (lambda: sexplang.run("1", tools=5), "tools is functions"),
        (lambda: sexplang.run("1", permissions="docs"), "permissions is Permissions"),
        (lambda: sexplang.run("1", parallel=0), "parallel is an integer from 1 on, not 0"),
        (lambda: sexplang.run("1", parallel="x"), "parallel is an integer from 1 on, not 'x'"),
        (lambda: sexplang.start("1"), "program is what build gives, not str"),
        (lambda: sexplang.start(sexplang.build("1"), inputs=[1]), "inputs is a table by name"),
        (lambda: sexplang.start(sexplang.build("1"), limits=5), "limits is .*, not int"),
        (lambda: WAITING.resume(None, 1), "the id of a request is a str, not NoneType"),
        (lambda: WAITING.fail(ASKED.id, "x"), "a request fails with an error"),
        (lambda: sexplang.freeze(WAITING.resume(ASKED.id, 1)), "a run that waits, .* not Done"),
        (lambda: sexplang.freeze("x"), "a run that waits, .* not str"),
        (lambda: sexplang.thaw("1", {}), "program is what build gives"),
        (lambda: sexplang.Permissions(read="docs"), "a permission is a list"),
        (lambda: sexplang.Permissions(net=5), "a permission is a list, .* not int"),
    ],
)
def test_an_argument_that_no_function_takes_is_a_type_error(call, words):
    """The message says which, what it takes and what was given."""
    with pytest.raises(TypeError, match=words):
        call()
