"""The tree of a run → notes between the rows of its recording, from which a report is made.

A note says that a piece of work or a request begins, within what and when, that an attempt of it
failed, or how it ended; a request that was answered ends with its row.
"""

from threading import Thread
from typing import Any

from sexplang.runtime.driver.events import Retrying, model_name_of
from sexplang.runtime.journal.journal import CUT, Journal, Row
from sexplang.runtime.models.prices import FREE, Rates, rates, table
from sexplang.terms.classes.node import attributes, define, field
from sexplang.terms.effect import Request
from sexplang.terms.json.tagged import pack
from sexplang.terms.model.roles import Models
from sexplang.terms.values.value import Record
from sexplang.terms.work import Work


@define(eq=False)
class RecordingSink:
    """The sink of one recording; its spans are numbers, the run's is 0. `models` says who
    answers to their names."""

    journal: Journal
    name: str
    models: Models = Models()
    _count: int = 0
    _numbers: dict[str, int] = field(factory=dict)
    """Works by id, to say which ones another comes after."""
    _answered: set[int] = field(factory=set)
    _named: set[str | None] = field(factory=set)
    """Names of which it has said who answers."""
    _priced: set[str] = field(factory=set)
    """Models whose prices it has said."""
    _asked: bool = False
    """Whether a model has been asked."""

    def run(self, at: float) -> int:
        return self._begins(
            {"kind": "run", "name": self.name, "model": self.models.default}, None, at
        )

    def work(self, work: Work, parent: int, at: float) -> int:
        after = [self._numbers[id] for id in work.after if id in self._numbers]
        facts: dict[str, Any] = {"kind": work.kind, "name": work.name}
        self._numbers[work.id] = self._begins(
            facts | ({"after": after} if after else {}), parent, at
        )
        return self._numbers[work.id]

    def request(self, request: Request, parent: int, at: float) -> int:
        facts: dict[str, Any] = {"request": request.id, "operation": request.operation}
        if request.context.conversations:
            facts["task"] = request.context.conversations[-1].name
        if request.span is not None:
            place = request.span.plain()
            facts["place"] = f"{place['source']}:{place['line']}"
        if request.operation == "model" and not self._asked and not self._is_free(request):
            # The price table takes a moment to load, and the reply is not there yet.
            self._asked = True
            Thread(target=rates, args=("",), daemon=True).start()
        return self._begins(facts, parent, at)

    def record_retry(self, span: int, event: Retrying, at: float) -> None:
        error = pack(event.error)
        self.journal.note({"retries": span, "attempt": event.attempt, "error": error, "at": at})

    def record_reply(self, span: int, row: Row) -> None:
        if row.operation != CUT:
            self._answered.add(span)
        if row.model is not None and row.model not in self._priced and not self._is_free(row):
            self._priced.add(row.model)
            each = rates(row.model)
            known = None if each is None else attributes(each)
            self.journal.note({"prices": row.model, "usd": known, "table": table()})
        if row.operation == "model" and model_name_of(row) not in self._named:
            self._say_named(row)

    def _say_named(self, row: Row) -> None:
        """Who answers to a name, and at what price: what a replay needs to know of models."""
        named = model_name_of(row)
        self._named.add(named)
        model = self.models.answer(named).model
        if model is not None:
            each = Rates(0, 0, 0, 0) if self._is_free(row) else rates(model)
            known = None if each is None else attributes(each)
            self.journal.note({"named": named, "answers": model, "usd": known})

    def _is_free(self, asked: Request | Row) -> bool:
        model = self.models.answer(model_name_of(asked)).model
        return (model or "").partition(":")[0] in FREE

    def end(self, span: int, at: float, error: Record | None, *, cut: bool) -> None:
        if span in self._answered:
            self._answered.discard(span)
            return
        how = {"error": pack(error)} if error is not None else {"cut": True} if cut else {}
        self.journal.note({"ends": span, **how, "at": at})

    def ids(self, span: int) -> dict[str, str]:
        return {}

    def close(self) -> None:
        self.journal.close()

    def _begins(self, facts: dict[str, Any], within: int | None, at: float) -> int:
        number = self._count
        self._count += 1
        self.journal.note({"begins": number, "within": within, **facts, "at": at})
        return number
