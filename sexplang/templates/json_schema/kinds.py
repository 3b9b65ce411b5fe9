"""Plain data to the type that JSON Schema has for it."""

from decimal import Decimal
from typing import Any


def type_name(data: Any) -> str:
    """The JSON type of plain data."""
    if data is None:
        return "null"
    if isinstance(data, bool):
        return "boolean"
    if isinstance(data, (int, float, Decimal)):
        return "number"
    if isinstance(data, str):
        return "string"
    return "object" if isinstance(data, dict) else "array"


def is_of(data: Any, type_: Any) -> bool:
    """Whether data are of a type, where one is said."""
    if type_ == "integer":
        return type_name(data) == "number" and _is_whole(data)
    return type_ is None or type_name(data) == type_


def _is_whole(number: Any) -> bool:
    return bool(number == number and abs(number) != float("inf") and number == int(number))
