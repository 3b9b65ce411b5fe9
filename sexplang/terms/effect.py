"""Requests and what answers them: the whole of a program's contact with the world."""

from typing import Any

from sexplang.terms.node import frozen
from sexplang.terms.task import Context
from sexplang.terms.value import Record, Value


@frozen
class Request:
    """An operation that nobody in the program answers, waiting for the host.

    `id` is its identity: the path of its branch and its ordinal in that branch, joined by dots;
    it does not depend on timing. `arguments` are plain data. `context` says what it is for.
    """

    id: str
    operation: str
    arguments: tuple[Value, ...]
    context: Context = Context()
    span: Any = None


@frozen
class Reply:
    """The answer: a value, or an error record with `failed`."""

    value: Value
    failed: bool = False

    @property
    def error(self) -> Record:
        assert self.failed
        error = self.value
        assert isinstance(error, Record)
        return error
