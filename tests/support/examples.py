"""A law that Hypothesis draws for: few examples among the other tests, many by -m long."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis.strategies import SearchStrategy


def examples(
    few: int, many: int, *drawn: SearchStrategy[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Makes a test of a function that takes what is drawn."""

    def decorate(law: Callable[..., None]) -> Callable[..., None]:
        @pytest.mark.parametrize("count", [few, pytest.param(many, marks=pytest.mark.long)])
        def test(count: int) -> None:
            settings(max_examples=count)(given(*drawn)(law))()

        test.__name__, test.__doc__ = law.__name__, law.__doc__
        test.__qualname__, test.__module__ = law.__qualname__, law.__module__
        return test

    return decorate
