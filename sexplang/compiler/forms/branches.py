"""Lowering of forms with branches, deadlines and budgets."""

from collections.abc import Generator
from typing import Any

from sexplang.compiler.compilation import Lowering, Steps
from sexplang.compiler.units.bodies import body
from sexplang.terms.core import Budgeted, Const, Core, Par, Race, Timed
from sexplang.terms.form import ListForm


def par(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(par e…)`"""
    branches = yield from _branches(c, form)
    return Par(branches, span=form.span) if branches else Const((), span=form.span)


def race(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(race e…)`"""
    return Race((yield from _branches(c, form)), span=form.span)


def _branches(c: Lowering, form: ListForm) -> Generator[Any, Any, tuple[Core, ...]]:
    c.scopes += 1
    c.fence += 1
    branches: tuple[Core, ...] = yield c.each(form.items[1:])
    c.fence -= 1
    return branches


def with_timeout(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(with-timeout seconds e…)`"""
    seconds, inner = yield from _scope(c, form)
    return Timed(seconds, inner, span=form.span)


def with_budget(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(with-budget {calls: n tokens: n usd: x seconds: s} e…)`"""
    limits, inner = yield from _scope(c, form)
    return Budgeted(limits, inner, span=form.span)


def _scope(c: Lowering, form: ListForm) -> Generator[Any, Any, tuple[Core, Core]]:
    c.scopes += 1
    bound = yield c.lower(form.items[1])
    inner = yield body(c, form.items[2:], 0, form.span)
    return bound, inner
