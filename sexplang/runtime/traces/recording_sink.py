"""The notes of a recording: the tree of work between the rows, from which a report is made.

A note records the begin of work or of a request with its parent and time, a failed attempt, or an
end. An answered request ends with its row.
"""

from threading import Thread
from typing import Any

from sexplang.runtime.driver.events import Retrying, model_name_of, place_of
from sexplang.runtime.journal.journal import Journal
from sexplang.runtime.journal.rows import CUT, Row
from sexplang.runtime.models.prices import FREE, rates, rates_of_answer, table
from sexplang.terms.classes.node import attributes, define, field
from sexplang.terms.effect import Request
from sexplang.terms.json.tagged import pack
from sexplang.terms.model.roles import Models
from sexplang.terms.values.value import Record
from sexplang.terms.work import Work


@define(eq=False)
class RecordingSink:
    """The sink of one recording. Its spans are numbers; the run is 0. `models` are the models that
    answer to names."""

    journal: Journal
    name: str
    models: Models = Models()
    _count: int = 0
    _numbers: dict[str, int] = field(factory=dict)
    """Numbers of works by id, to name the works that another one follows."""
    _answered: set[int] = field(factory=set)
    _named: set[str | None] = field(factory=set)
    """Names whose answering model is noted."""
    _priced: set[str] = field(factory=set)
    """Models whose prices are noted."""
    _asked: bool = False
    """Whether a model has been asked."""

    def run(self, at: float) -> int:
        return self._note_begin(
            {"kind": "run", "name": self.name, "model": self.models.default}, None, at
        )

    def work(self, work: Work, parent: int, at: float) -> int:
        after = [self._numbers[id] for id in work.after if id in self._numbers]
        facts: dict[str, Any] = {"kind": work.kind, "name": work.name}
        self._numbers[work.id] = self._note_begin(
            facts | ({"after": after} if after else {}), parent, at
        )
        return self._numbers[work.id]

    def request(self, request: Request, parent: int, at: float) -> int:
        facts: dict[str, Any] = {"request": request.id, "operation": request.operation}
        if request.context.conversations:
            facts["task"] = request.context.conversations[-1].name
        place = place_of(request)
        if place is not None:
            facts["place"] = place
        if request.operation == "model" and not self._asked and not self._is_free(request):
            # The price table is loaded while the reply is awaited.
            self._asked = True
            Thread(target=rates, args=("",), daemon=True).start()
        return self._note_begin(facts, parent, at)

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
            self._note_answering_model(row)

    def _note_answering_model(self, row: Row) -> None:
        """Note the model that answers to a name, and its price, for replays."""
        named = model_name_of(row)
        self._named.add(named)
        answer = self.models.answer(named)
        model = answer.model
        if model is not None:
            each = rates_of_answer(answer)
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

    def _note_begin(self, facts: dict[str, Any], within: int | None, at: float) -> int:
        number = self._count
        self._count += 1
        self.journal.note({"begins": number, "within": within, **facts, "at": at})
        return number
