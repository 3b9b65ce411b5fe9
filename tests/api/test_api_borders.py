"""What does not fit through the border of a program, and what no function of the API takes."""

import copy
import json
import pickle

import pytest

import sexplang
from sexplang.machine import state_of

HUGE = 10**6000
HALF = "a\ud800"
WAITING = sexplang.start(sexplang.build("(define-effect (ask)) (ask)"))
(ASKED,) = WAITING.requests
SLOW = sexplang.start(sexplang.build("(with-timeout 5 (model {messages: []}))"))
PART = {"usage": {}, "text": ""}


def entering(border, data):
    """The run that is given the data at a border."""
    if border == "effects":
        return sexplang.run("(x) 1", effects={"x": lambda: data})
    if border == "primitives":
        return sexplang.run("(x) 1", primitives={"x": lambda: data})
    if border == "inputs":
        return sexplang.run("(define-input x type: json) 1", inputs={"x": data})
    return WAITING.resume(ASKED.id, data)


@pytest.mark.parametrize("border", ["effects", "primitives", "inputs", "resume"])
@pytest.mark.parametrize("key", [1, None, True, b"a", (1, 2), HUGE], ids="inbath")
def test_a_key_that_is_no_text_is_not_converted(border, key):
    """It could be the same text as another key."""
    with pytest.raises((sexplang.Failed, sexplang.Diagnostics), match="a key of a table is a str"):
        entering(border, {"1": 1, key: {"a": 1}})


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


@pytest.mark.parametrize("way", ["function", "async", "list", "whole"])
def test_half_of_a_surrogate_pair_in_what_a_model_says_becomes_a_question_mark(way):
    """Whoever answers for the model."""

    async def later(payload):
        return HALF

    whole = {"content": [{"type": "text", "text": HALF}], "stop_reason": "end_turn", "usage": {}}
    answers = {"function": lambda _: HALF, "async": later, "list": [HALF], "whole": lambda _: whole}
    task = '(defatom t (instructions "Hi.")) (str (t))'

    assert "a?" == sexplang.run(task, model=answers[way])


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


@pytest.mark.parametrize("count", [-1, 0.5, True, "7"])
def test_a_model_that_is_a_function_counts_in_whole_numbers(count):
    """Else a budget would take it for 0, and the recording would be none."""
    reply = {"content": [], "stop_reason": "end_turn", "usage": {"output_tokens": count}}
    with pytest.raises(sexplang.Failed, match="`output_tokens` is not a whole number from 0"):
        sexplang.run(
            '(model {messages: [{role: "user" content: "x"}]})', model=lambda payload: reply
        )


def test_the_largest_integer_enters():
    """The limit is that of programs."""
    most = 2**13_999

    assert sexplang.run("(x)", effects={"x": lambda: -most}) == -most


async def later(event):
    """Nobody would wait for it."""


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
        (lambda: sexplang.thaw(sexplang.build("1"), None), "data is what freeze gives.* NoneType"),
        (lambda: sexplang.thaw(sexplang.build("1"), 5), "data is what freeze gives, .* int"),
        (lambda: sexplang.thaw(sexplang.build("1"), "{}"), "data is what freeze gives, .* str"),
        (lambda: sexplang.thaw(sexplang.build("1"), []), "data is what freeze gives, .* list"),
        (lambda: WAITING.cancel(5), "a run is cancelled with an error, .* not int"),
        (lambda: WAITING.cancel("x"), "a run is cancelled with an error, .* not str"),
        (lambda: WAITING.cancel(sexplang.error("a", "b")), "such as error.*error, not Failed"),
        (lambda: WAITING.resume(ASKED.id, so_far=None), "so_far is a function .* not NoneType"),
        (lambda: WAITING.cancel(so_far=5), "so_far is a function .* not int"),
        (lambda: SLOW.fail("0", sexplang.error("a", "b").error), "a timer, which cannot fail"),
        (lambda: SLOW.resume("0", so_far=lambda id: 5), "so_far gives None or .*, not int"),
        (lambda: SLOW.resume("0", so_far=lambda id: {}), "`usage` .* is a dict, not nothing"),
        (lambda: SLOW.cancel(so_far=lambda id: {"usage": None}), "`usage` .*, not NoneType"),
        (lambda: SLOW.cancel(so_far=lambda id: {"usage": {}}), "`text` .* a str, not nothing"),
        (lambda: SLOW.cancel(so_far=lambda id: PART | {"model": 5}), "`model` .* a str, not int"),
        (lambda: sexplang.Permissions(read="docs"), "a permission is a list"),
        (lambda: sexplang.Permissions(net=5), "a permission is a list, .* not int"),
        (lambda: sexplang.Permissions(folder=""), "not empty; the current folder is written '.'"),
        (lambda: sexplang.Permissions(net=["http://a@x:1/y"]), "such as 'x:1', not 'http://a@x:1"),
        (lambda: sexplang.Permissions(net=["x/y"]), "such as 'x', not 'x/y'"),
        (lambda: sexplang.Permissions(net=["///"]), "such as 'localhost', not '///'"),
        (lambda: sexplang.Permissions(read=[5]), "a path or a name as text, not int"),
        (lambda: sexplang.Permissions(folder=b"x"), "a path or a name as text, not bytes"),
        (lambda: sexplang.run(b"1"), "a program is a str, its text, or a path, not bytes"),
        (lambda: sexplang.run("1", model=b"1"), "model is a name, .* not bytes"),
        (lambda: sexplang.run("1", model={"a": 1}), r"model\['a'\] is a name, .* not 1"),
        (lambda: sexplang.run("1", model={1: "local"}), "names in model are str, not int"),
        (lambda: sexplang.run("1", model={"a"}), "model is a name, .* not set"),
        (lambda: sexplang.run("1", model=""), "model is a name, such as .*, not ''"),
        (lambda: sexplang.run("1", memory=5), "memory is a path, not int"),
        (lambda: sexplang.run("1", record=b"x"), "record is a path, not bytes"),
        (lambda: sexplang.run("1", record="a\0"), "record is a path, not 'a"),
        (lambda: sexplang.run("1", record="\ud800"), "record is a path, not"),
        (lambda: sexplang.run("1", trace=5), "trace is a path, .*, not int"),
        (lambda: sexplang.run("1", run_id=5), "run_id is a text, not int"),
        (lambda: sexplang.run("1", run_id=""), "run_id is a text that is not empty"),
        (lambda: sexplang.run("1", traceparent=b"00"), "traceparent is a text, not bytes"),
        (
            lambda: sexplang.run("1", on_event=5),
            "on_event is a function, or a list .* not int",
        ),
        (lambda: sexplang.run("1", on_event=later), "on_event is called and not awaited"),
        (lambda: sexplang.run("1", single_flight=None), "single_flight is True or False"),
        (lambda: sexplang.run("1", limits=sexplang.Limits(held=5)), "limits.held is a function"),
        (lambda: sexplang.run("1", limits=sexplang.Limits(frames=-1)), "limits.frames is .*-1"),
        (lambda: sexplang.build("1", effects=[len]), "effects is a table by name, not list"),
        (lambda: sexplang.check("1", primitives=5), "primitives is a table by name, not int"),
        (lambda: sexplang.build("1", permissions=[]), "permissions is Permissions.*, not list"),
        (lambda: sexplang.start(sexplang.build("1"), tools=5), "tools is functions.*, not int"),
        (lambda: sexplang.thaw(sexplang.build("1"), {}, tools="f"), "tools is .*, not str"),
        (lambda: sexplang.result(5), "outcome is what start, resume or fail gives, not int"),
        (lambda: sexplang.error(5, "x"), "reason is a text, not int"),
        (lambda: sexplang.error("x", 5), "message is a text, not int"),
        (lambda: sexplang.error("x", "y", type=None), "type is a text, not NoneType"),
        (lambda: sexplang.TaskResult(5, "x"), "the status of a TaskResult is a text, not int"),
        (lambda: sexplang.TaskResult("COMPLETE", 5), "the content of a TaskResult is a text"),
        (lambda: sexplang.TaskResult("COMPLETE", "", notes=5), "the notes of a TaskResult is"),
        (lambda: sexplang.dispatch("(+ 1 2)", library=5), "library is a path or a list of paths"),
        (lambda: sexplang.dispatch("x", library=[5]), "a path of the library is a path, not int"),
        (lambda: sexplang.dispatch("(+ 1 2)", tools=5), "tools is functions, .* not int"),
        (lambda: sexplang.dispatch("(+ 1 2)", permissions=[]), "permissions is .*, not list"),
        (lambda: sexplang.Memory(5), "index is a path, not int"),
        (lambda: sexplang.Memory.of(b"x"), "folder is a path, not bytes"),
        (lambda: sexplang.Memory("i.db").add("\0"), "path is a path, not"),
        (lambda: sexplang.Memory("i.db").add("x", include="*.md"), "include is a list of patterns"),
        (lambda: sexplang.Memory("i.db").add("x", exclude=[5]), "a pattern of exclude is a text"),
        (lambda: sexplang.Memory("i.db").add("x", max_file_size=-1), "a number of bytes, not -1"),
        (lambda: sexplang.Memory("i.db").search(5), "query is a text or a table"),
        (lambda: sexplang.Memory("i.db").update({"/a": 5}), "metadata is a text, not int"),
    ],
)
def test_an_argument_that_no_function_takes_is_a_type_error(call, words):
    """The message says which, what it takes and what was given."""
    with pytest.raises(TypeError, match=words):
        call()


@pytest.mark.parametrize(
    ("give", "words"),
    [
        (lambda: sexplang.error("x", "y", details=object()), "not-data"),
        (lambda: sexplang.run("(f)", primitives={"f": object}), "not-data"),
        (lambda: sexplang.run("(f)", effects={"f": object}), "not-data"),
        (lambda: sexplang.thaw(sexplang.build("1"), {"a": 1}), "frozen-mismatch"),
        (lambda: sexplang.run("(model {messages: []})", model=[5]), "bad-script"),
    ],
    ids=range(5),
)
def test_what_is_no_data_is_a_failure(give, words):
    """As it is where a program gives it."""
    with pytest.raises(sexplang.Failed, match=words):
        give()


@pytest.mark.parametrize(
    ("give", "words"),
    [
        (lambda f: sexplang.build("1", effects={"f": f}, primitives={"f": f}), "and a primitive"),
        (lambda f: sexplang.run("1", tools={"": f}), "no template could name it"),
        (lambda f: sexplang.run("1", tools={"a b": f}), "no template could name it"),
        (lambda f: sexplang.build("1", primitives={"f": later}), "this one is async"),
        (lambda f: sexplang.build("1", primitives={"print": f}), "has this name already"),
        (lambda f: sexplang.build("1", effects={"map": f}), "has this name already"),
    ],
    ids=range(6),
)
def test_a_name_that_cannot_be_registered_is_a_diagnostic(give, words):
    """It says why, and what to do."""
    with pytest.raises(sexplang.Diagnostics, match=words):
        give(lambda: 1)


@pytest.mark.parametrize("right", ["read", "write", "run", "net"])
def test_what_is_empty_permits_nothing(right):
    """A path from a variable that is not set would be the whole current folder."""
    with pytest.raises(TypeError, match="what is permitted is not empty"):
        sexplang.Permissions(**{right: ["docs", ""]})


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda found: pickle.loads(pickle.dumps(found))]
)
def test_diagnostics_are_the_same_in_another_process(again):
    """What was found, the message and notes; an error record as well."""
    with pytest.raises(sexplang.Diagnostics) as caught:
        sexplang.build("(sqare 3) (cuve 4)")
    caught.value.add_note("of a worker")
    found = again(caught.value)

    before = [each.plain() for each in caught.value.diagnostics]
    assert before == [each.plain() for each in found.diagnostics]
    assert str(caught.value) == str(found)
    assert ["of a worker"] == found.__notes__
    assert "a" == again(sexplang.error("a", "b")).reason


def test_a_frozen_run_of_another_version_is_told_from_a_damaged_one():
    """The message says which version each is of."""
    program = state_of(WAITING).setting.program
    frozen = json.loads(json.dumps(sexplang.freeze(WAITING)))

    with pytest.raises(sexplang.Failed, match="it is of version 1 of frozen runs, and this is"):
        sexplang.thaw(program, frozen | {"sexplang-frozen": 1})
    with pytest.raises(sexplang.Failed, match="it is damaged"):
        sexplang.thaw(program, frozen | {"opened": []})
