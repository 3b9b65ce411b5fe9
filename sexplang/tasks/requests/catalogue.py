"""The catalogue: the tasks that a model may ask for, as text.

It is a part of a tool's definition, so it has the same bytes in each turn of a conversation.
"""

from sexplang.tasks.prompt.window import tokens_in
from sexplang.tasks.requests.definitions import line_of
from sexplang.terms.classes.node import frozen
from sexplang.terms.json.json_writer import json_text
from sexplang.terms.template import Template

MOST_TOKENS = 2_000
"""The most tokens of the list in a context window."""

_ABOVE = "These are the tasks, with their inputs; one with a ? may be left out:"
_BELOW = "There {are} {left} more: say what is to be done, and the one that fits is found."


@frozen
class Catalogue:
    """The list as text, and the names in it. `names` is None if tasks were left out."""

    words: str
    names: tuple[str, ...] | None


def catalogue(tasks: tuple[Template, ...]) -> Catalogue | None:
    """Return the list of these tasks, nearest first. None without tasks. Without room, the inputs
    are left out first, then the farthest tasks."""
    if not tasks:
        return None
    for with_inputs in (True, False):
        lines = [line_of(each, with_inputs=with_inputs) for each in tasks]
        room = MOST_TOKENS - tokens_in(f"{_ABOVE}\n{_BELOW}\n")
        kept = []
        for task, line in zip(tasks, lines, strict=True):
            # The name stands in the schema too.
            tokens = tokens_in(f"{line}\n") + tokens_in(json_text(f"{task.name}, "))
            if tokens <= room:
                kept.append(line)
                room -= tokens
        if len(kept) == len(lines):
            break
    left = len(lines) - len(kept)
    below = [_BELOW.format(are="is" if left == 1 else "are", left=left)] if left else []
    names = None if left else tuple([task.name for task in tasks])
    return Catalogue("\n".join([_ABOVE, *kept, *below]), names)
