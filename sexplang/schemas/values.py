"""Values that are held to a type: its misfits in a sentence."""

from typing import Any

from sexplang.schemas.checker import Account, TooMuch
from sexplang.schemas.schema import Misfit, fits
from sexplang.schemas.type_check import TypeCheck, depth_of
from sexplang.terms.json.strict import MAX_DEPTH
from sexplang.terms.quota import work
from sexplang.terms.schemas import Schema
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.boundary import LARGEST, plain, value_of
from sexplang.terms.values.value import Fault, Value


def check_value(value: Value, schema: Schema, path: str = "") -> Misfit | None:
    """Return the misfit of a value and a type, or None. `path` is that of the value. The run is
    charged by its size.

    Raises Fault `not-data` for functions, `limit-data` for what is too large.
    """
    data = plain(value)
    parts, depth = depth_of(data)
    work(_OF_PART * parts)
    if depth > MAX_DEPTH:
        raise Fault(
            "limit-data",
            f"a value of more than {MAX_DEPTH} levels is not held to a type",
            hint="hold a part of it to its type",
        )
    if parts > _MANY and _fits_library(data, schema):
        return None
    whole = path or "the value"
    return TypeCheck(schema, whole, path, _describe, _WORDS, most=LARGEST).unfit(data)


_OF_PART = 4
"""The steps of a part of a value."""
_MANY = 5_000
"""The parts from which on the library is asked first: it is quicker, and takes time to import."""


def _fits_library(data: Any, schema: Schema) -> bool:
    try:
        return fits(data, schema, Account())
    except TooMuch:
        return False


_WORDS = {"array": "list", "object": "table", "null": "nil"}


def _describe(data: Any) -> str:
    return abbreviate(value_of(data))


def misfit_of(value: Value, schema: Schema, path: str = "") -> str | None:
    """Return the paths at which a value does not fit a type, in a sentence. None if it fits."""
    try:
        wrong = check_value(value, schema, path)
    except Fault as fault:
        return fault.message
    return None if wrong is None else wrong.sentence.removeprefix("it does not fit: ")
