"""Settings, files and the parent's items to the system prompt.

The system prompt is the base prompt, the template's, what is expected of the answer, and then
the context: one wrapper for each file, inherited item and earlier output. A wrapped text cannot
close its wrapper.
"""

import re
from collections.abc import Iterable

from sexplang.tasks.json_text import json_text
from sexplang.tasks.matching import words
from sexplang.tasks.session import Gathering
from sexplang.tasks.substitute import value_text
from sexplang.terms.task import Conversation
from sexplang.terms.text import text
from sexplang.terms.value import Record, Value

SEPARATOR = "\n\n===\n\n"

# An inherited item stays in a subset if it shares at least this part of the words (of four
# letters and more) of the smaller of the two texts.
OVERLAP = 0.1
_PROVENANCE = frozenset(
    {"template_used", "context_source", "context_files_count", "warnings", "model", "usage"}
    | {"turns", "repairs"}
)
_CLOSING = re.compile(r"<(?=\s*/\s*(?:file|context|previous_outputs)\b)", re.IGNORECASE)


def sections(*texts: str) -> str:
    """The sections that say something, one after the other."""
    return SEPARATOR.join(part for part in texts if part and not part.isspace())


def wrapped(tag: str, attribute: str, body: str) -> str:
    """`<file path="a.py">` … `</file>`; the body cannot end it."""
    return f"<{tag}{attribute}>\n{_CLOSING.sub('&lt;', body)}\n</{tag}>"


def file_text(path: str, body: str) -> str:
    """A file as a model sees it."""
    # As a JSON string with `<` escaped, a path can hold no quote or bracket that counts.
    return wrapped("file", f" path={json_text(path)}".replace("<", "\\u003c"), body)


def inherited_items(conversations: tuple[Conversation, ...], inherit: str) -> tuple[Value, ...]:
    """The items of the nearest conversation; at top level there are none."""
    return conversations[-1].items if conversations and inherit != "none" else ()


def previous_text(outputs: Value, accumulation_format: str) -> str:
    """Earlier outputs as text: of a TaskResult its content, or with notes_only its notes."""
    listed = outputs if isinstance(outputs, tuple) else (outputs,)
    return "\n\n".join(_output(item, accumulation_format) for item in listed)


def _output(item: Value, accumulation_format: str) -> str:
    if (
        accumulation_format == "notes_only"
        and isinstance(item, Record)
        and item.kind == "TaskResult"
    ):
        notes = item.fields.get("notes")
        own = notes.items() if isinstance(notes, dict) else ()
        told = {key: value for key, value in own if key not in _PROVENANCE}
        return json_text({"status": item.fields.get("status"), **told})
    return value_text(item)


def composed(gathering: Gathering, files: Iterable[tuple[str, str]]) -> str:
    """The whole system prompt, once the files are read."""
    wanted = words_of(gathering.wanted) if gathering.wanted else None
    shown: list[str] = []
    for item in gathering.items:
        source, body = text(item["source"]), text(item["text"])
        if is_relevant(wanted, f"{source} {body}"):
            shown.append(wrapped("context", f" source={json_text(source)}", body))
    for path, body in files:
        if path not in gathering.inherited or is_relevant(wanted, f"{path} {body}"):
            shown.append(file_text(path, body))
    if gathering.previous:
        shown.append(wrapped("previous_outputs", "", gathering.previous))
    return sections(gathering.system, "\n\n".join(shown))


def words_of(prompt: str) -> frozenset[str]:
    """The words that tell what a text is about."""
    return frozenset(word for word in words(prompt) if len(word) > 3)


def is_relevant(wanted: frozenset[str] | None, body: str) -> bool:
    """Whether an inherited text has to do with the prompt; without a filter all have."""
    if wanted is None:
        return True
    known = words_of(body)
    return len(wanted & known) >= OVERLAP * max(1, min(len(wanted), len(known)))
