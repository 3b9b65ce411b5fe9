"""Predicates for the kinds of values."""

from math import isinf, isnan

from sexplang.terms.values.rope import TEXTS
from sexplang.terms.values.sequences import LISTS
from sexplang.terms.values.value import Procedure, Record, Symbol, Task, Value


def is_nil(value: Value) -> Value:
    return value is None


def is_null(value: Value) -> Value:
    return value is None or (type(value) is tuple and not value)


def is_list(value: Value) -> Value:
    return type(value) in LISTS


def is_table(value: Value) -> Value:
    return isinstance(value, (dict, Record))


def is_string(value: Value) -> Value:
    return type(value) in TEXTS


def is_number(value: Value) -> Value:
    return type(value) is int or type(value) is float


def is_integer(value: Value) -> Value:
    """Return whether a number is an integer. As in R7RS, a float without a fraction is one."""
    if type(value) is int:
        return True
    return type(value) is float and not isnan(value) and not isinf(value) and value == int(value)


def is_boolean(value: Value) -> Value:
    return value is True or value is False


def is_symbol(value: Value) -> Value:
    return isinstance(value, Symbol)


def is_procedure(value: Value) -> Value:
    return isinstance(value, Procedure)


def is_task(value: Value) -> Value:
    return isinstance(value, Task)


def negate(value: Value) -> Value:
    return value is False or value is None


def identity(value: Value) -> Value:
    return value
