"""`search-memory` → its reply, whatever happens: what fails is told in the reply, never raised."""

import os
from typing import Any

from sexplang.runtime.memory.index_paths import discover_index, with_slash
from sexplang.runtime.memory.query import Malformed, query_of
from sexplang.runtime.memory.search import NO_INDEX, Reply, Shown, reply, search_index
from sexplang.runtime.permissions import Permissions
from sexplang.runtime.refusal import Refusal
from sexplang.terms.task import error_record
from sexplang.terms.values.value import Fault, Record, Value

RETRIEVAL, PARSING = "context_retrieval_failure", "context_parsing_failure"


def search(asked: Value, index: str | None, permissions: Permissions) -> Reply:
    """The reply of an index, or where none is named of the one that the program's folder sees. It
    holds only files that may be read."""
    return answer(index or discover_index(permissions.base), asked, sight(permissions))


def answer(index: str | None, asked: Value, shown: Shown) -> Reply:
    """The reply to a query, or to what is none, of an index if there is one. What fails is tried
    once more: another process may have been in the way."""
    try:
        query = query_of(asked)
    except (Malformed, Fault) as wrong:
        return reply("", error=_failure(PARSING, str(wrong)))
    if index is None:
        return reply(NO_INDEX)
    for _ in range(2):
        try:
            return search_index(index, query, shown)
        except Refusal as refused:
            error = refused.error.fields
    details = {"code": error["reason"], **error["details"]}
    return reply("", error=_failure(RETRIEVAL, error["message"], details, error["hint"]))


def sight(permissions: Permissions) -> Shown:
    """Shows what may be read: relative to the program's folder where it lies below that."""
    places = [with_slash(os.path.realpath(place)) for place in permissions.grants("read")]
    base = with_slash(os.path.realpath(permissions.base))

    def show(path: str) -> str | None:
        for place in places:
            # As for `read-file`: a folder's grant does not cover names that begin with a dot.
            below = path.startswith(place) and "/." not in path[len(place) - 1 :]
            if below or path + "/" == place:
                return path.removeprefix(base)
        return None

    return show


def _failure(
    reason: str, message: str, details: dict[str, Any] | None = None, hint: str | None = None
) -> Record:
    return error_record("TASK_FAILURE", reason, message, details=details, hint=hint)
