"""The assembly of a run, for the command, its tests and sessions, and Python: its terms and its
first outcome, or the outcome of a frozen run."""

from collections.abc import Callable
from functools import cache
from typing import Any

from sexplang import machine
from sexplang.machine import Limits, Outcome, Standing, Suspended
from sexplang.machine.outcome import Conceal, as_it_is
from sexplang.machine.scopes.budgets import METER, Meter, Price
from sexplang.package.process import growth
from sexplang.pipeline import pipeline
from sexplang.terms.classes.node import attributes, evolve
from sexplang.terms.model.roles import Models
from sexplang.terms.program import Program
from sexplang.terms.run_terms import Prices, RateBook, Terms
from sexplang.terms.task import TaskSystem
from sexplang.terms.values.value import Value


def terms_of(
    program: Program,
    inputs: dict[str, Value],
    *,
    limits: Limits | None = None,
    budget: dict[str, Value] | None = None,
    tools: dict[str, Any] | None = None,
    models: Models | None = None,
    windows: Models | None = None,
    prices: Prices = "table",
    folder: str = "",
    memory: bool = False,
    all_tools: bool = False,
) -> Terms:
    """Return the terms of a run. Without `windows` they are those of the `models`."""
    data = attributes(limits or Limits())
    who = evolve(models or Models(), credentials={})
    return Terms(
        sources=tuple([(program.relative_name(each), each.text) for each in program.sources]),
        inputs=inputs,
        limits={name: value for name, value in data.items() if name != "held"},
        budget=budget,
        prices=prices,
        tools=tools or {},
        models=who,
        windows=who if windows is None else evolve(windows, credentials={}),
        folder=folder,
        memory=memory,
        all_tools=all_tools,
    )


def begin(
    program: Program,
    terms: Terms,
    *,
    has_tasks: bool = True,
    held: Callable[[], int] | None = None,
    traced: bool = False,
    conceal: Conceal = as_it_is,
    slice: machine.Slice | None = None,
    book: RateBook | None = None,
) -> Outcome:
    """Run the program up to its first wait. `book` has the prices of a run that goes on.

    `held` is the memory of the process in bytes; by default it is measured.
    """
    return machine.start(
        program,
        terms.inputs,
        task_system(program, terms) if has_tasks else None,
        Limits(**terms.limits, held=held or growth()),
        terms.budget,
        _meter(terms, book),
        traced=traced,
        conceal=conceal,
        slice=slice,
    )


def proceed(
    program: Program,
    standing: Standing,
    terms: Terms,
    *,
    has_tasks: bool = True,
    held: Callable[[], int] | None = None,
) -> Outcome:
    """Run what is new in a growing program, in the environment of the part that has run, up to its
    first wait. The final value is the next Standing."""
    return machine.proceed(
        program,
        standing,
        task_system(program, terms) if has_tasks else None,
        Limits(**terms.limits, held=held or growth()),
        _meter(terms),
        machine.Slice(),
    )


def thaw(
    program: Program,
    terms: Terms,
    data: dict[str, Any],
    *,
    key: bytes | None,
    conceal: Conceal,
    book: RateBook | None = None,
) -> Suspended:
    """Return a frozen run, which has its own inputs, limits and budget. Raises Fault
    `frozen-mismatch`."""
    from sexplang.machine import frozen_runs

    system = task_system(program, terms)
    return frozen_runs.thaw(program, data, system, _meter(terms, book), growth(), key, conceal)


def task_system(program: Program, terms: Terms) -> TaskSystem:
    """Return the TaskSystem of a run."""
    return pipeline.tasks(
        terms.tools,
        models=terms.windows,
        memory=terms.memory,
        has_own_memory=program.handles("search-memory"),
        folder=terms.folder,
        all_tools=terms.all_tools and not program.handles("tool"),
        max_task_depth=terms.limits["max_task_depth"],
    )


def _meter(terms: Terms, book: RateBook | None = None) -> Meter:
    """Return the meter of model calls. A price is looked up when a budget of money asks."""
    if terms.prices == "none":
        return METER

    @cache
    def load() -> Price:
        # Most programs have no budget in dollars and start without the runtime.
        from sexplang.runtime.models.prices import prices

        return prices(
            terms.models, function=terms.prices == "function", is_replayed=True, book=book
        )

    return pipeline.meter(load)
