"""Functions of Python whose parameters are dataclasses, TypedDicts and pydantic models."""

import asyncio
import functools
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from typing import Annotated, Any, NotRequired, TypedDict

import pytest
from hypothesis import strategies as st
from pydantic import BaseModel, field_validator
from support.examples import examples

import sexplang
from sexplang.api.python_tools import params_of


class Mood(Enum):
    UP = "up"
    DOWN = "down"


@dataclass
class Flight:
    origin: str
    price: float = 0.0
    day: date | None = None
    stops: list["Flight"] = field(default_factory=list)


class Row(TypedDict):
    a: int
    flight: NotRequired[Flight]


class Seat(BaseModel):
    number: int

    @field_validator("number")
    @classmethod
    def exists(cls, number: int) -> int:
        if number == 13:
            raise ValueError("there is no seat 13")
        return number


def book(flight: Flight, seat: Seat | None = None, mood: Mood = Mood.UP, *more: Flight) -> Any:
    return [flight, seat, mood, more]


def count(rows: list[Row], on: date = date(2024, 1, 1)) -> Any:
    return [rows, on]


CALLS = [
    ('{origin: "a"}', "book", [Flight("a"), None, Mood.UP, ()]),
    (
        '{origin: "a" price: 2 day: "2024-02-29" stops: [{origin: "b"}]} {number: 3} "down" '
        '{origin: "c"} {origin: "d"}',
        "book",
        [
            Flight("a", 2.0, date(2024, 2, 29), [Flight("b")]),
            Seat(number=3),
            Mood.DOWN,
            (Flight("c"), Flight("d")),
        ],
    ),
    ('{origin: "a"} nil', "book", [Flight("a"), None, Mood.UP, ()]),
    ("[]", "count", [[], date(2024, 1, 1)]),
    (
        '[{a: 1} {a: 2 flight: {origin: "b"}}] "2024-02-29"',
        "count",
        [[{"a": 1}, {"a": 2, "flight": Flight("b")}], date(2024, 2, 29)],
    ),
]


@pytest.mark.parametrize(("arguments", "name", "expected"), CALLS)
@pytest.mark.parametrize("kind", ["effects", "primitives"])
def test_a_function_is_given_instances(arguments, name, expected, kind):
    """Wherever its hints have a class, in lists, unions and further arguments too."""
    seen: list[Any] = []
    function = {"book": book, "count": count}[name]

    @functools.wraps(function)
    def keep(*given: Any) -> None:
        seen.append(function(*given))

    sexplang.run(f"({name} {arguments})", **{kind: {name: keep}})  # type: ignore[arg-type]

    assert seen == [expected]
    assert [type(each) for each in seen[0]] == [type(each) for each in expected]


MISFITS = [
    ("(book {price: 2})", "the argument `flight` of `book` is not of type Flight: origin: it is"),
    ('(book {origin: "a" stops: [{origin: 3}]})', "stops[0].origin: expected string, got 3"),
    ('(book {origin: "a"} {number: "x"})', "number: expected integer"),
    ('(book {origin: "a"} {number: 13})', "there is no seat 13"),
    ('(book {origin: "a"} nil "sideways")', "mood"),
    ('(book {origin: "a"} nil "up" {})', "the argument `more`"),
    ('(book {origin: "a" day: "soon"})', 'day: "soon" is not a "date"'),
    ("(count [{}])", "[0].a: it is missing"),
    ("(book (attempt (error 1)))", "`flight`"),
]


@pytest.mark.parametrize(("text", "words"), MISFITS)
@pytest.mark.parametrize("kind", ["effects", "primitives"])
def test_a_misfit_is_an_error_that_names_the_argument_and_the_path(text, words, kind):
    with pytest.raises(sexplang.Failed) as failed:
        sexplang.run(text, **{kind: {"book": book, "count": count}})

    assert failed.value.reason == "type-misfit"
    assert words in str(failed.value)
    caught = f"(try {text} (catch (err type-misfit) 1))"
    assert 1 == sexplang.run(caught, **{kind: {"book": book, "count": count}})


def test_what_a_function_gives_may_be_an_instance():
    """An effect, an async one, a primitive and a tool; in lists and tables too."""

    async def later() -> Flight:
        return Flight("b")

    def both(x: str) -> dict[str, Any]:
        return {"flights": [Flight(x)], "seat": Seat(number=3), "mood": Mood.UP}

    made = {"origin": "a", "price": 0.0, "day": None, "stops": []}
    assert {**made, "origin": "b"} == sexplang.run("(later)", effects={"later": later})
    expected = {"flights": [made], "seat": {"number": 3}, "mood": "up"}
    assert expected == sexplang.run('(both "a")', effects={"both": both})
    assert expected == sexplang.run('(both "a")', primitives={"both": both})
    assert expected == sexplang.run('(tool \'both {x: "a"})', tools=[both])


def reserve(flight: Annotated[Flight, "the flight"], seats: list[Seat], row: Row) -> str:
    """Reserves seats."""
    assert isinstance(flight, Flight) and all(isinstance(seat, Seat) for seat in seats)
    assert "flight" not in row or isinstance(row["flight"], Flight)
    return f"{flight.origin} {[seat.number for seat in seats]} {row['a']}"


def test_a_tool_has_the_schema_of_its_classes():
    """Classes that refer to themselves, and models of pydantic, are definitions at its root."""
    schema = params_of("reserve", reserve).schema

    assert ["Flight", "Seat"] == sorted(schema["$defs"])
    assert {"$ref": "#/$defs/Flight", "description": "the flight"} == schema["properties"]["flight"]
    assert {"type": "array", "items": {"$ref": "#/$defs/Seat"}} == schema["properties"]["seats"]
    assert ["flight", "seats", "row"] == schema["required"]


def test_two_classes_of_one_name_have_two_definitions():
    class Other(BaseModel):
        x: int

    first = Other

    class Other(BaseModel):  # type: ignore[no-redef]
        y: int

    def tool(a: first, b: Other, c: list[first]) -> None:  # type: ignore[valid-type]
        pass

    tool.__annotations__ = {"a": first, "b": Other, "c": list[first]}
    schema = params_of("tool", tool).schema

    assert ["x", "y"] == [
        next(iter(schema["$defs"][name]["properties"])) for name in ("Other", "Other-2")
    ]
    assert {"$ref": "#/$defs/Other"} == schema["properties"]["c"]["items"]


def test_a_model_calls_a_tool_with_instances_and_is_told_of_misfits():
    seen: list[Any] = []
    calls = [
        {"flight": {"price": 1}, "seats": [], "row": {"a": 1}},
        {"flight": {"origin": "Turku"}, "seats": [{"number": 13}], "row": {"a": 1}},
        {"flight": {"origin": "Turku"}, "seats": [{"number": 3}], "row": {"a": 1}},
    ]

    def model(payload: dict[str, Any]) -> Any:
        seen.append(payload["messages"][-1]["content"])
        at = len(seen) - 1
        return {"tool_use": {"name": "reserve", "input": calls[at]}} if at < 3 else "Done."

    text = '(defatom ask (instructions "Book.") (allowed_tools reserve)) (ask)'

    assert "Done." == sexplang.run(text, tools=[reserve], model=model)
    told = [content[0]["content"] for content in seen[1:]]
    assert "flight.origin: it is missing" in told[0]
    assert "there is no seat 13" in told[1]
    assert "Turku [3] 1" == told[2]


def test_plain_hints_of_effects_are_not_checked():
    """As ever: `str` and `int` in a signature are words for people, and so are other classes."""

    class Plain:
        pass

    def loose(text: str, number: int, items: list[int], odd: Plain, later: "Unknown") -> Any:  # type: ignore[name-defined]  # noqa: F821
        return [text, number, items, odd, later]

    given = '[1] "x" [nil] 2 3'
    assert [[1], "x", [None], 2, 3] == sexplang.run(f"(loose {given})", effects={"loose": loose})
    assert [[1], "x", [None], 2, 3] == sexplang.run(f"(loose {given})", primitives={"loose": loose})


@examples(
    60,
    500,
    st.builds(
        Flight,
        st.text(),
        st.floats(-1e9, 1e9),
        st.none() | st.dates(),
        st.lists(st.builds(Flight, st.text()), max_size=2),
    ),
)
def test_instances_go_in_and_come_back_the_same(flight):
    """Through an input, an effect, a primitive and `returns`."""
    effects = {"same": lambda x: x}

    def typed(flight: Flight) -> Flight:
        assert isinstance(flight, Flight)
        return flight

    program = "(define-input x type: json) (typed (same x))"
    assert flight == sexplang.run(
        program, inputs={"x": flight}, effects={**effects, "typed": typed}, returns=Flight
    )
    assert flight == sexplang.run(
        program,
        inputs={"x": flight},
        effects=effects,
        primitives={"typed": typed},
        returns=Flight,
    )


def test_async_effects_are_given_instances():
    async def fly(flight: Flight) -> str:
        await asyncio.sleep(0)
        return flight.origin

    found = asyncio.run(sexplang.arun('(fly {origin: "a"})', effects={"fly": fly}))
    assert "a" == found


def test_functions_with_plain_hints_load_no_types():
    """Neither dataclasses nor pydantic are looked at."""
    program = """
import sys, sexplang
def note(text: str, level: "str" = "info", n: int | None = None): return text
assert sexplang.run('(note "a")', effects={"note": lambda text: text}) == "a"
def plain(text: str, n: int = 1) -> str: return text
assert sexplang.run('(plain "a")', effects={"plain": plain}) == "a"
assert "sexplang.api.python_types" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert 0 == done.returncode, done.stderr
