"""The checks that end endless subtasks: cycles of a task with the same inputs, and the depth."""

from sexplang.tasks.failures import halt
from sexplang.terms.json.json_writer import json_text
from sexplang.terms.quota import MOST_DEPTH
from sexplang.terms.task import Conversation, sign
from sexplang.terms.values.value import Value


def check_depth(limit: int, name: str, depth: int, requested: int | None) -> None:
    """Raise Fault for a task that would be too deep."""
    more = f", or raise the limit: --limit max_task_depth={min(2 * limit, MOST_DEPTH)}"
    if requested is not None and requested < limit:
        limit, more = requested, ", or raise the `max_depth` that the task asks for"
    if depth >= limit:
        raise halt(
            f"task `{name}` would be {depth} deep, and the limit is {limit}",
            "max_depth",
            "let the tasks above do more of the work themselves" + more * (limit < MOST_DEPTH),
            nestingDepth=depth,
            limit=limit,
        )


def sign_inputs(
    name: str, values: dict[str, Value], file_paths: tuple[str, ...] | None
) -> str | tuple[str, ...]:
    """Return a signature that tells the call from others: texts verbatim, all else hashed."""
    texts = tuple(values.values())  # in the order of the parameters
    if not file_paths and _TEXT.issuperset(map(type, texts)):
        return texts
    written = "\0".join([name, *map(_normalize, texts)])
    return sign(f"{written}\0files {json_text(tuple(sorted(file_paths or ())))}")


_TEXT = frozenset((str,))


def _normalize(value: Value) -> str:
    if type(value) is str:
        return "text " + " ".join(value.split())
    return "json " + json_text(value, canonical=True)


def check_cycle(child: Conversation, conversations: tuple[Conversation, ...]) -> None:
    """Raise Fault for a task that was started with these inputs by itself. Two siblings may do the
    same."""
    name = child.name
    for at, conversation in enumerate(conversations):
        if conversation.name == name and conversation.signature == child.signature:
            path = (*(above.name for above in conversations[at:]), name)
            raise halt(
                f"task `{name}` was started with these inputs by itself: {' -> '.join(path)}",
                "cycle",
                "give the subtask other inputs, or let it return",
                nestingDepth=conversations[-1].depth + 1,
                cycle=path,
            )
