"""Whatever is given to the command ends in an answer, an error or misuse: never in a bug."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sexplang.hosts import main

WORDS = st.sampled_from(
    re.findall(
        r"\S+",
        """( ) [ ] { } ' ` ~ ~@ " ; #| |# #; a: b x 1 -2.5 nil true define lambda if let loop recur
        handle resume perform try catch finally par raise error map fold first + / = import""",
    )
)
TEXTS = st.text(max_size=40) | st.lists(WORDS, max_size=25).map(" ".join)


@pytest.fixture(scope="module")
def output():
    """What the last run wrote, without a process of its own."""
    import contextlib
    import io

    def run(*arguments):
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            status = main(list(arguments))
        return status, out.getvalue(), errors.getvalue()

    return run


@given(TEXTS)
@settings(max_examples=300)
def test_any_text_has_an_end(output, text):
    """Status 0 or 1, an error with its code, no bug."""
    status, _, errors = output("run", f"--expression={text}")

    assert status in (0, 1), errors
    assert ("error[" in errors) == (status == 1)


@given(st.lists(TEXTS, max_size=4))
@settings(max_examples=100)
def test_any_arguments_have_an_end(output, words):
    """Misuse says what to type."""
    status, _, errors = output(*words)

    assert status in (0, 1, 2)
    assert "bug" not in errors
