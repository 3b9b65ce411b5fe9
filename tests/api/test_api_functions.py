"""Python functions as effects, primitives and tools."""

import enum
import functools
import gc
import warnings
from typing import Annotated, Any, Literal, Optional

import pytest
from hypothesis import strategies as st
from support.examples import examples

import sexplang
from sexplang.api.python_tools import params_of
from sexplang.api.python_types import WrongData
from sexplang.testing import values


def failing(text, **given):
    with pytest.raises(sexplang.Failed) as failed:
        sexplang.run(text, **given)
    return failed.value


def refused(text="1", **given):
    with pytest.raises(sexplang.Diagnostics) as found:
        sexplang.run(text, **given)
    return found.value.diagnostics[0]


@examples(40, 200, values())
def test_plain_data_goes_in_and_comes_back(data):
    """Through an effect, a primitive and an input, whatever it is."""
    same = {"same": lambda value: value}

    assert data == sexplang.run("(define-input x type: json) x", inputs={"x": data})
    assert data == sexplang.run(
        "(define-input x type: json) (same x)", inputs={"x": data}, effects=same
    )
    assert data == sexplang.run(
        "(define-input x type: json) (same x)", inputs={"x": data}, primitives=same
    )


class Colour(str, enum.Enum):  # noqa: UP042
    RED = "red"


def test_what_is_nearly_plain_becomes_plain():
    """Members of enumerations, as keys too, and tuples."""
    value = sexplang.run("(f)", effects={"f": lambda: (Colour.RED, {Colour.RED: (2,)})})

    assert ["red", {"red": [2]}] == value
    assert {str} == {type(value[0]), *map(type, value[1])}


@pytest.mark.parametrize("data", [{1, 2}, b"x", object(), [1, {"a": {3}}]])
def test_what_is_no_data_is_refused(data):
    """Wherever it comes from, with the reason `not-data`."""
    assert "not-data" == failing("(f)", effects={"f": lambda: data}).reason
    assert "not-data" == failing("(f)", primitives={"f": lambda: data}).reason
    assert "bad-input" == refused("(define-input x type: json) x", inputs={"x": data}).code


def test_a_list_that_holds_itself_is_refused():
    """Near or far inside, whatever is around it; one that is only large is another matter."""
    endless: list[Any] = []
    endless.append(endless)
    far: dict[str, Any] = {"a": [1, {}]}
    far["a"][1]["b"] = far
    wide: list[Any] = [0]
    for _ in range(30):
        wide = [wide, wide]
    for data in (endless, far, [wide, far]):
        failed = failing("(f)", effects={"f": lambda data=data: data})
        assert ("not-data", True) == (failed.reason, "holds itself" in str(failed))
        found = refused("(define-input x type: json) x", inputs={"x": data})
        assert ("bad-input", True) == (found.code, "holds itself" in found.title)
    assert "limit-data" == failing("(f)", effects={"f": lambda: wide}).reason


def test_results_go_in_again_as_results():
    """A TaskResult from one run is one in the next, also inside of lists."""
    text = """(defatom say (instructions "Hello."))
      (list (call-task say) (attempt (raise {reason: "odd"})))"""
    results = sexplang.run(text, model=["Hi."])
    texts = "(define-input rs type: json) (map (lambda (r) (str r r.status)) rs)"

    assert ["COMPLETE", "FAILED"] == [result.status for result in results]
    assert "odd" == results[1].notes["error"]["reason"]
    assert ["Hi.COMPLETE", "FAILED"] == sexplang.run(texts, inputs={"rs": results})
    assert "Hi." == sexplang.run("(define-input t) t", inputs={"t": results[0]})


def test_defaults_of_python_hold():
    """Arguments that a program leaves out are left out; nil for one without default is None."""
    seen = []

    def note(text, level="info", *more):
        seen.append((text, level, more))

    effects = {"note": note}
    sexplang.run('(note "a") (note "b" "warn") (note "c" "warn" 1 2) (note nil)', effects=effects)
    expected = [("a", "info", ()), ("b", "warn", ()), ("c", "warn", (1, 2)), (None, "info", ())]

    assert expected == seen


def test_functions_that_do_not_tell_what_they_take():
    """Some written in C have no signature: any arguments will do."""
    assert 3 == sexplang.run("(largest 1 3 2)", primitives={"largest": max})


def test_a_program_stands_between():
    """Handlers take an effect of the host as any other; definitions of the program hide it."""
    effects = {"ask": lambda x: x}

    assert 3 == sexplang.run("(handle (ask 1) ((ask x) k (k (+ x 2))))", effects=effects)
    assert 10 == sexplang.run("(define (ask x) (* x 10)) (ask 1)", effects=effects)
    assert 1 == sexplang.run("(define-effect (ask x)) (ask 1)", effects=effects)


def test_a_function_cannot_reach_into_the_record():
    """What it does to its arguments stays with it."""

    def spoil(items):
        items.append(1)
        return items

    assert [[1], []] == sexplang.run("(let ((x [])) [(spoil x) x])", effects={"spoil": spoil})


def test_a_failed_of_another_run_is_passed_on():
    """A function that runs a program fails as that does."""
    effects = {"inner": lambda: sexplang.run("(/ 1 0)")}

    assert "division-by-zero" == failing("(inner)", effects=effects).reason
    assert 0 == sexplang.run(
        "(try (inner) (catch (e division-by-zero) 0))", primitives={"inner": effects["inner"]}
    )


@pytest.mark.parametrize("name", ["map", "if", "a b", "", "x.y", "3", "timer", "error"])
def test_names_are_free_symbols(name):
    """A form, an operation of the runtime or a primitive is not replaced."""
    assert "bad-function" == refused(effects={name: abs}).code
    assert "bad-function" == refused(primitives={name: abs}).code


def test_a_name_of_the_library_is_hidden():
    """For the program, not for the library."""
    assert 3 == sexplang.run("(count [1 2 3])", primitives={"count": len})
    assert 2 == sexplang.run("(length (flat-map list [1 2]))", primitives={"find": len})


def test_one_name_is_one_function():
    """An effect and a primitive do not share a name."""
    assert "bad-function" == refused(effects={"f": abs}, primitives={"f": abs}).code


def test_what_programs_cannot_call_is_refused():
    """Async primitives, parameters by keyword alone, and what is no function."""

    async def later():
        return 1

    def keyed(*, key):
        return key

    assert "bad-function" == refused(primitives={"f": later}).code
    assert "bad-function" == refused(effects={"f": keyed}).code
    assert "bad-function" == refused(effects={"f": 3}).code


# -- Tools --------------------------------------------------------------------------------------


def test_hints_become_a_schema():
    """Every kind of hint that has one."""

    def tool(
        a: str,
        b: int,
        c: Annotated[list[float], "the numbers"],
        d: dict[str, bool],
        e: Literal["x", 1],
        f: Optional[str] = None,  # noqa: UP045
        g: bool | None = True,
        h: Any = 1.5,
        i: "list" = (),
    ):
        """Does something."""

    assert {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "b": {"type": "integer"},
            "c": {"type": "array", "items": {"type": "number"}, "description": "the numbers"},
            "d": {"type": "object", "additionalProperties": {"type": "boolean"}},
            "e": {"enum": ["x", 1]},
            "f": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "g": {"anyOf": [{"type": "boolean"}, {"type": "null"}], "default": True},
            "h": {"default": 1.5},
            "i": {"type": "array", "default": ()},
        },
        "required": ["a", "b", "c", "d", "e"],
        "additionalProperties": False,
    } == params_of("tool", tool).schema


def many(words: list[str], how: Literal["all", "any"] = "all", size: int | None = None):
    return f"{len(words)} {how} {size}"


FITTING = st.fixed_dictionaries(
    {"words": st.lists(st.text())},
    optional={"how": st.sampled_from(["all", "any"]), "size": st.none() | st.integers()},
)


@examples(
    40, 200, FITTING | st.dictionaries(st.sampled_from(["words", "how", "size", "x"]), values())
)
def test_a_tool_is_called_only_with_what_fits(inputs):
    """A misfit is an error that names the parameter; the function sees only what its hints say."""
    text = "(define-input i type: json) (tool 'many i)"
    try:
        given = params_of("many", many).arguments(inputs)
    except WrongData as problem:
        failed = failing(text, inputs={"i": inputs}, tools=[many])
        assert "bad-tool-input" == failed.details["code"]
        assert str(problem) in str(failed)
    else:
        assert many(**given) == sexplang.run(text, inputs={"i": inputs}, tools=[many])


def test_a_model_is_offered_tools_and_told_what_does_not_fit():
    """The definition is sent; a bad call is answered with an error, and the function not called."""
    calls, seen = [], []

    async def look_up(word: str):
        """Looks a word up."""
        calls.append(word)
        return {"found": word}

    def model(payload):
        seen.append(payload)
        said = [{"word": 3}, {"word": "tea"}][len(seen) - 1 : len(seen)]
        return {"tool_use": {"name": "look_up", "input": said[0]}} if said else "done"

    text = '(defatom ask (allowed_tools look_up) (instructions "Ask.")) (str (ask))'

    assert "done" == sexplang.run(text, tools=[look_up], model=model)
    assert ["tea"] == calls
    assert "Looks a word up." == seen[0]["tools"][0]["description"]
    assert "word: expected string, got 3" in seen[1]["messages"][-1]["content"][0]["content"]
    assert '{"found": "tea"}' == seen[2]["messages"][-1]["content"][0]["content"]


def test_tools_have_names():
    """Their own, or those of a mapping; two of one name are refused, and so is one without."""
    double = functools.partial(many, ["a", "b"])

    assert "2 all None" == sexplang.run("(tool 'twice)", tools={"twice": double})
    assert "bad-function" == refused(tools=[double]).code
    assert "bad-function" == refused(tools=[many, many]).code
    assert "bad-function" == refused(tools=[lambda x: x]).code


@pytest.mark.parametrize(("name", "words"), [("cups:of", None), ("cups of", "could name it")])
def test_a_function_has_the_name_that_it_has(name, words):
    """Whatever a template could write, also one that Python could not."""

    def tea():
        return "tea"

    tea.__name__ = name
    if words is None:
        assert "tea" == sexplang.run(f"(tool '{name})", tools=[tea])
    else:
        assert words in refused(tools=[tea]).title


def test_what_has_no_schema_is_refused():
    """Other classes, and parameters that cannot be given by name."""

    def odd(x: complex):
        return x

    def starred(*words):
        return words

    for tool in (odd, starred):
        assert "bad-function" == refused(tools=[tool]).code


def test_other_tools_are_unknown():
    """A tool that nobody registered."""
    assert "unknown-tool" == failing("(tool 'nothing {})", tools=[many]).reason


def test_an_async_function_that_nobody_awaits_warns_of_nothing():
    """Another branch ends the run before it has begun."""

    async def slow(word):
        return word

    async def model(payload):
        return "tea"

    def breaks(word):
        raise sexplang.error("llm_error", "broken")

    effects = {"slow": slow, "break": breaks}
    text = """
        (define-effect (slow word))
        (define-effect (break word))
        (par (slow "x") (model {messages: [{role: "user" content: "x"}]}) (break "x"))"""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(sexplang.Failed, match="broken"):
            sexplang.run(text, effects=effects, model=model)
        gc.collect()


def test_a_call_of_an_unbound_name_may_be_an_effect(tmp_path):
    """A name that is near to another, is not called, or is defined in a file has its own hint."""
    (tmp_path / "p.sexp").write_text('(notify "a") (prinnt "b") (+ 1 other) (helped 1)')
    (tmp_path / "help.sexp").write_text("(define (helped x) x)")
    with pytest.raises(sexplang.Diagnostics) as found:
        sexplang.build(tmp_path / "p.sexp")
    hint = 'an effect of Python: build(…, effects={"notify": …}), or (define-effect (notify text))'
    hints = [each.hint for each in found.value.diagnostics]
    assert [hint, None] == [hints[0], hints[2]]
    assert "print" in hints[1] and "help.sexp" in hints[3]
    assert hint == refused('(notify "a")').hint
