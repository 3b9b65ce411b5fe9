"""Settings, files and the parent's items to the system prompt.

The system prompt is the base prompt, the template's, what is expected of the answer, and then
the context: one wrapper for each file, inherited item and earlier output. A wrapped text cannot
close its wrapper.
"""

import re
from collections.abc import Collection, Iterable
from functools import cache
from operator import itemgetter

from sexplang.tasks.prompt.paths import relative_to
from sexplang.tasks.prompt.substitution import value_text
from sexplang.tasks.prompt.window import tokens_in
from sexplang.tasks.requests.subtask_request import fields_of
from sexplang.tasks.session import Gathering
from sexplang.terms.classes.node import node
from sexplang.terms.json.json_writer import json_text
from sexplang.terms.task import Conversation, sign
from sexplang.terms.texts.wildcards import fits
from sexplang.terms.texts.words import telling
from sexplang.terms.values.text import text
from sexplang.terms.values.value import Record, Value

SEPARATOR = "\n\n===\n\n"

# An inherited item stays in a subset if it shares at least this part of the telling words of the
# smaller of the two texts.
OVERLAP = 0.1
_PROVENANCE = frozenset(
    {"template_used", "context_source", "context_files_count", "warnings", "model", "usage"}
    | {"turns", "repairs", "metrics", "chain_usage", "history", "shortened", "compacted"}
    | {"asked_for", "subtasks"}
)
# What nobody sees may stand between the signs of a tag, and a model reads over it.
_UNSEEN = (
    r"[\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]*"
)
_TAGS = "|".join([_UNSEEN.join(tag) for tag in ("file", "context", "previous_outputs")])


def sections(*texts: str) -> str:
    """The sections that say something, one after the other."""
    return SEPARATOR.join(part for part in texts if part and not part.isspace())


def wrap(tag: str, attribute: str, body: str) -> str:
    """`<file path="a.py">` … `</file>`; the body cannot end it. Where it has tags like these, a
    word is on both ends that nobody knows who has not got all of it: what they begin is a part of
    the body. The same body has the same word, so a conversation goes on with the same bytes."""
    if "<" in body and (found := _tag().search(body)):
        closed = _closing().sub("&lt;", body[found.start() :])
        fence = f' fence="{sign(body)[:16]}"'
        return f"<{tag}{attribute}{fence}>\n{body[: found.start()]}{closed}\n</{tag}{fence}>"
    return f"<{tag}{attribute}>\n{body}\n</{tag}>"


@cache  # so large a set is slow to make, and most texts have no tag
def _tag() -> re.Pattern[str]:
    return re.compile(rf"<{_UNSEEN}(?:/{_UNSEEN})?(?:{_TAGS})\b", re.IGNORECASE)


@cache
def _closing() -> re.Pattern[str]:
    return re.compile(rf"<(?={_UNSEEN}/{_UNSEEN}(?:{_TAGS})\b)", re.IGNORECASE)


def file_text(path: str, body: str, also: tuple[str, ...] = ()) -> str:
    """A file as a model sees it, and under which other paths the same text was found."""
    # As a JSON string with `<` escaped, a path can hold no quote or bracket that counts.
    said = f" path={json_text(path)}" + (f" also={json_text(', '.join(also))}" if also else "")
    return wrap("file", said.replace("<", "\\u003c"), body)


def inherit_items(conversations: tuple[Conversation, ...], inherit: str) -> tuple[Value, ...]:
    """The items of the nearest conversation; at top level there are none."""
    return conversations[-1].items if conversations and inherit != "none" else ()


MOST_PREVIOUS = 40_000
"""Characters of earlier outputs that a task is shown."""


def previous_text(outputs: Value, accumulation_format: str, room: int) -> str:
    """Earlier outputs as text: of a TaskResult its content, or with notes_only its notes.

    What is too long loses its oldest part, and says so: no more is shown than half of the `room`,
    in tokens, that there is."""
    text = _shorten(outputs, accumulation_format, MOST_PREVIOUS)
    half = max(0, room // 2 - tokens_in(_LEFT_OUT))
    tokens = tokens_in(text)
    if tokens > half:
        return _shorten(outputs, accumulation_format, len(text) * half // tokens)
    return text


_LEFT_OUT = "[99 earlier outputs and 999999 characters left out]"


def _shorten(outputs: Value, accumulation_format: str, most: int) -> str:
    listed = outputs if isinstance(outputs, tuple) else (outputs,)
    written = [_output(item, accumulation_format) for item in listed]
    size = sum(map(len, written))
    if size <= most:
        return "\n\n".join(written)
    first = 0
    while size > most and first < len(written) - 1:
        size -= len(written[first])
        first += 1
    left_out = f"[{first} earlier output{'s' * (first != 1)} left out]"
    if size > most:
        cut = size - most
        left_out = f"[{first} earlier outputs and {cut} characters left out]"
        written[first] = written[first][cut:]
    return "\n\n".join([left_out, *written[first:]])


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
    if isinstance(item, Record) and item.fields.get("status") == "FAILED":
        return "\n".join([part for part in (value_text(item), _failure(item)) if part])
    return value_text(item)


def _failure(result: Record) -> str:
    """In words, because a result that failed may have said nothing."""
    notes = fields_of(result.fields.get("notes")) or {}
    message = (fields_of(notes.get("error")) or {}).get("message")
    return f"[FAILED: {message}]" if isinstance(message, str) and message else "[FAILED]"


@node
class Piece:
    """One part of the context: which element it belongs to, where it comes from, its text."""

    element: str
    source: str
    text: str


def pieces(gathering: Gathering, files: Iterable[tuple[str, str]]) -> list[Piece]:
    """The parts of the context in the order in which they are shown, once the files are read."""
    wanted = telling(gathering.wanted) if gathering.wanted else None
    shown: list[Piece] = []
    for item in gathering.items:
        source, body = text(item["source"]), text(item["text"])
        if is_relevant(wanted, f"{source} {body}"):
            written = wrap("context", f" source={json_text(source)}", body)
            shown.append(Piece("inherited", source, written))
    for (body, is_inherited), (path, *also) in _alike(files, gathering.inherited).items():
        written = file_text(path, body, tuple(also))
        if not is_inherited:
            shown.append(Piece("files", path, written))
        elif is_relevant(wanted, f"{path} {body}"):
            shown.append(Piece("inherited", path, written))
    if gathering.previous:
        element = "previous_outputs"
        shown.append(Piece(element, "", wrap(element, "", gathering.previous)))
    if not gathering.assembly:
        return shown
    ranks = Ranks(gathering.assembly, gathering.folder)
    ranked = [(ranks.of(piece.element, piece.source), piece) for piece in shown]
    return [piece for rank, piece in sorted(ranked, key=itemgetter(0)) if rank < _EXCLUDED]


def _alike(
    files: Iterable[tuple[str, str]], inherited: Collection[str]
) -> dict[tuple[str, bool], list[str]]:
    """The paths of each text, in order: what links lead to, and copies, are shown once."""
    found: dict[tuple[str, bool], list[str]] = {}
    for path, body in files:
        found.setdefault((body, path in inherited), []).append(path)
    return found


_EXCLUDED = 3
_RANKS = {"excluded_elements": _EXCLUDED, "primary_elements": 0, "secondary_elements": 2}


@node
class Ranks:
    """Where `context_assembly` puts a piece: primary, unnamed, secondary, excluded. What several
    name is placed by the strongest."""

    assembly: tuple[tuple[str, str], ...]
    folder: str

    def of(self, element: str, source: str) -> int:
        settings = dict(self.assembly)
        path = relative_to(source, self.folder) if source else ""
        for setting, rank in _RANKS.items():
            for named in settings.get(setting, "").replace(",", " ").split():
                if named == element or (source and self._is_meant(named, source, path)):
                    return rank
        return 1

    def _is_meant(self, named: str, source: str, path: str) -> bool:
        return fits(source, named) or fits(path, relative_to(named, self.folder))


def select_paths(
    paths: tuple[str, ...], assembly: tuple[tuple[str, str], ...], folder: str
) -> tuple[str, ...]:
    """The paths without those that `context_assembly` excludes, which are not even read."""
    if not assembly:
        return paths
    ranks = Ranks(assembly, folder)
    return tuple(path for path in paths if ranks.of("files", path) < _EXCLUDED)


def is_relevant(wanted: frozenset[str] | None, body: str) -> bool:
    """Whether an inherited text has to do with the prompt; without a filter all have."""
    if wanted is None:
        return True
    known = telling(body)
    return len(wanted & known) >= OVERLAP * max(1, min(len(wanted), len(known)))
