"""Hypothesis strategies for forms, values, programs and scripts of replies; all of them shrink."""

from collections.abc import Mapping
from random import Random
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from sexplang.reader.writer import write
from sexplang.terms.form import Form, Label, ListForm, Literal, Name, TableForm, VectorForm
from sexplang.terms.source import Source, Span
from sexplang.testing.program_writer import EVERYWHERE, Shape, program

_NOWHERE = st.just(Span(Source("", ""), 0, 0))
_TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def values(*, max_leaves: int = 12) -> SearchStrategy[Any]:
    """Plain data of programs: None, bool, int, float, str, list, dict with keys of str.

    There is no NaN, which is not equal to itself, and no infinity, which JSON cannot hold.
    """
    scalars: SearchStrategy[Any] = (
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | _TEXT
    )
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=5) | st.dictionaries(_TEXT, inner, max_size=5),
        max_leaves=max_leaves,
    )


_WORDS = ("nil", "null", "true", "false")


def _names() -> SearchStrategy[str]:
    pattern = r"[a-zé@.*/<=>!?_-][a-z:.*/<=>!?_-]{0,6}"
    return st.from_regex(pattern, fullmatch=True).filter(
        lambda text: not text.endswith(":") and text not in _WORDS
    )


def forms(*, max_leaves: int = 15) -> SearchStrategy[Form]:
    """Forms (`sexplang.terms.form`) as the reader returns them, with or without a meaning.

    `sexplang.reader.write(form)` is a form's text.
    """
    scalars = (
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text()
    )
    leaves: SearchStrategy[Form] = st.builds(Name, _names(), span=_NOWHERE) | st.builds(
        Literal, scalars, span=_NOWHERE
    )
    return st.recursive(leaves, _lists, max_leaves=max_leaves).filter(_is_sound)


def _lists(inner: SearchStrategy[Form]) -> SearchStrategy[Form]:
    label = st.builds(Label, st.text(max_size=5) | _names(), span=_NOWHERE)
    pair = st.tuples(label, inner)
    single = inner.map(lambda form: (form,))
    flat = st.lists(single | pair, max_size=4).map(_join)
    pairs = st.lists(pair, max_size=3).map(_join)
    marks = st.sampled_from(["quote", "quasiquote", "unquote", "unquote-splicing"])
    marked = st.tuples(st.builds(Name, marks, span=_NOWHERE), inner)
    return (
        st.builds(ListForm, flat | marked, span=_NOWHERE)
        | st.builds(VectorForm, st.lists(inner, max_size=4).map(tuple), span=_NOWHERE)
        | st.builds(TableForm, pairs, span=_NOWHERE)
    )


def _join(parts: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(item for part in parts for item in part)


def _is_sound(form: Form) -> bool:
    """Return whether a form has no lone surrogate in its strings."""
    return not any("\ud800" <= char <= "\udfff" for char in write(form))


def programs(*, size: int = 0, without: tuple[str, ...] = ()) -> SearchStrategy[str]:
    """Texts of programs that are well formed and end: with a list of two numbers, or an error.

    They declare the operations `ask note alpha beta gamma enter leave`, each of one number. They
    perform them and `model` inside and outside of handlers, branches, tries, finallys, deadlines
    and budgets. An operation without a handler is a request that expects a number. A request of
    `timer` may be left open. `size` is the approximate number of numbers, 0 for a random one.
    `without` leaves out kinds: "functions", "handlers", "calls", "aborts", "kept", "multi" (resumed
    more than once), "errors", "finally", "par", "races", "timeouts", "budgets".
    """
    shape = Shape(size, EVERYWHERE.allowed - {*without})

    def text(random: Random) -> str:
        return program(random, shape).text

    return st.builds(text, st.randoms(use_true_random=False))


def scripts(
    *,
    texts: SearchStrategy[str] | None = None,
    tools: Mapping[str, SearchStrategy[dict[str, Any]]] | None = None,
    errors: bool = False,
    max_size: int = 5,
) -> SearchStrategy[list[Any]]:
    """Replies of a model for `run(…, model=script)`: some calls of `tools`, then a text.

    `tools` are names with strategies for their inputs. With `errors` a call may fail.
    """
    said: SearchStrategy[Any] = texts if texts is not None else _TEXT
    calls = [_call(name, inputs) for name, inputs in (tools or {}).items()]
    failing = [st.sampled_from(_FAILURES).map(lambda type: {"error": type})] if errors else []
    last = st.one_of(said, *failing)
    if not calls:
        return st.lists(last, min_size=1, max_size=max_size)
    turns = st.lists(st.one_of(*calls), max_size=max(0, max_size - 1))
    return st.builds(lambda first, end: [*first, end], turns, last)


_FAILURES = ("llm_error", "connection_error", "protocol_error")


def _call(name: str, inputs: SearchStrategy[dict[str, Any]]) -> SearchStrategy[Any]:
    return inputs.map(lambda given: {"tool_use": {"name": name, "input": given}})
