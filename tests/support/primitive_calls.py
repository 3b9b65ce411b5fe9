"""Primitives called by name, outside of a run."""

import pytest

from sexplang.primitives import PRIMITIVES
from sexplang.terms.values.value import Fault, Value


def call(name: str, *arguments: Value) -> Value:
    return PRIMITIVES[name].function(*arguments)


def refused(name: str, *arguments: Value) -> Fault:
    """The fault of a call."""
    with pytest.raises(Fault) as caught:
        call(name, *arguments)
    return caught.value
