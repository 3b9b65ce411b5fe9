"""The performer of `search-memory`. Errors are part of the reply and never raised."""

import os
from shlex import quote
from typing import Any

from sexplang.runtime.memory.index_paths import discover_index, with_slash
from sexplang.runtime.memory.query import BadQuery, query_of
from sexplang.runtime.memory.search import NO_INDEX, PathDisplay, Reply, reply, search_index
from sexplang.runtime.permissions import Permissions
from sexplang.runtime.refusal import Refusal
from sexplang.terms.task import error_record
from sexplang.terms.values.value import Fault, Record, Value

RETRIEVAL, PARSING = "context_retrieval_failure", "context_parsing_failure"


def search(asked: Value, index: str | None, permissions: Permissions) -> Reply:
    """Search an index, by default the one that the program's folder sees. Only readable files
    match."""
    return answer(index or discover_index(permissions.base), asked, make_display(permissions))


def describe_lack(found: Reply, index: str | None, permissions: Permissions) -> str | None:
    """Return what to do if a search found no index; None if there was one."""
    if found["summary"] != NO_INDEX:
        return None
    if index is not None:
        return f"there is no index at {index}; type: sexplang index PATH --index {quote(index)}"
    base = permissions.base
    return (
        f"there is no index for `search-memory` in {base} or in a folder above it; "
        f"type: sexplang index {quote(base)}"
    )


def answer(index: str | None, asked: Value, shown: PathDisplay) -> Reply:
    """Return the reply to a value, which may not be a query, from an index, which may be None. A
    failure is retried once, since another process may have held the index."""
    try:
        query = query_of(asked)
    except (BadQuery, Fault) as wrong:
        return reply("", error=_failure(PARSING, str(wrong)))
    if index is None:
        return reply(NO_INDEX)
    for _ in range(2):
        try:
            return search_index(index, query, shown)
        except BadQuery as wrong:
            return reply("", error=_failure(PARSING, str(wrong)))
        except Refusal as refused:
            error = refused.error.fields
    details = {"code": error["reason"], **error["details"]}
    return reply("", error=_failure(RETRIEVAL, error["message"], details, error["hint"]))


def make_display(permissions: Permissions) -> PathDisplay:
    """Show readable files: relative to the program's folder if they lie below it."""
    places = [with_slash(os.path.realpath(place)) for place in permissions.grants("read")]
    base = with_slash(os.path.realpath(permissions.base))

    def show(path: str) -> str | None:
        for place in places:
            # As for `read-file`, a grant of a folder does not cover names that begin with a dot.
            below = path.startswith(place) and "/." not in path[len(place) - 1 :]
            if below or path + "/" == place:
                return path.removeprefix(base)
        return None

    return show


def _failure(
    reason: str, message: str, details: dict[str, Any] | None = None, hint: str | None = None
) -> Record:
    return error_record("TASK_FAILURE", reason, message, details=details, hint=hint)
