"""The context of a task: files are found and read, and the system prompt is assembled.

The lookups come first (a command, a search of the memory), then the files, then the system prompt:
the base prompt, the template's, the form of the answer, and one wrapper for each file, inherited
item and earlier output. A wrapped text cannot close its wrapper. A file that cannot be found or
read is a warning.
"""

import re
from collections.abc import Collection, Iterable
from functools import cache
from operator import itemgetter
from typing import TypeAlias

from sexplang.tasks.failures import bad_input
from sexplang.tasks.prompt.media import (
    is_kind,
    kind_of,
    media_blocks,
    relative_to,
    unique,
    value_text,
)
from sexplang.tasks.prompt.window import fits, tokens_in, tokens_of, with_more
from sexplang.tasks.requests.subtask_request import fields_of
from sexplang.tasks.session import Block, Gathering, HandlerSession, Lookup
from sexplang.tasks.turns.replies import outcome
from sexplang.terms.classes.node import evolve, node
from sexplang.terms.host.file_command import words_of
from sexplang.terms.json.json_writer import json_text
from sexplang.terms.task import Ask, Conversation, Perform, sign
from sexplang.terms.texts import wildcards
from sexplang.terms.texts.words import content_roots
from sexplang.terms.values.sequences import LISTS
from sexplang.terms.values.text import text
from sexplang.terms.values.value import Fault, Record, Value

SEPARATOR = "\n\n===\n\n"

# An inherited item is relevant if it shares at least this part of the telling words of the smaller
# of the two texts.
OVERLAP = 0.1
_PROVENANCE = frozenset(
    {"template_used", "context_source", "context_files_count", "warnings", "model", "usage"}
    | {"turns", "repairs", "metrics", "chain_usage", "history", "shortened", "compacted"}
    | {"asked_for", "subtasks"}
)
# Invisible characters may stand between the signs of a tag, and a model reads over them.
_UNSEEN = (
    r"[\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]*"
)
_TAGS = "|".join([_UNSEEN.join(tag) for tag in ("file", "context", "previous_outputs")])


def sections(*texts: str) -> str:
    """Join the sections that are not blank."""
    return SEPARATOR.join(part for part in texts if part and not part.isspace())


def wrap(tag: str, attribute: str, body: str) -> str:
    """Return `<file path="a.py">` … `</file>`. The body cannot close the wrapper. A body with such
    tags gets a fence on both ends: a word that follows from the whole body, so that its author
    cannot know it. The same body has the same fence, so that a conversation keeps its bytes."""
    if "<" in body and (found := _tag().search(body)):
        closed = _closing_tags().sub("&lt;", body[found.start() :])
        fence = f' fence="{sign(body)[:16]}"'
        return f"<{tag}{attribute}{fence}>\n{body[: found.start()]}{closed}\n</{tag}{fence}>"
    return f"<{tag}{attribute}>\n{body}\n</{tag}>"


@cache  # compiled late: it is large, and most texts have no tag
def _tag() -> re.Pattern[str]:
    return re.compile(rf"<{_UNSEEN}(?:/{_UNSEEN})?(?:{_TAGS})\b", re.IGNORECASE)


@cache
def _closing_tags() -> re.Pattern[str]:
    return re.compile(rf"<(?={_UNSEEN}/{_UNSEEN}(?:{_TAGS})\b)", re.IGNORECASE)


def file_text(path: str, body: str, also: tuple[str, ...] = ()) -> str:
    """Return a file as a model sees it, with the other paths of the same text."""
    # A path is a JSON string with `<` escaped, so it holds no quote or bracket that counts.
    said = f" path={json_text(path)}" + (f" also={json_text(', '.join(also))}" if also else "")
    return wrap("file", said.replace("<", "\\u003c"), body)


def inherit_items(conversations: tuple[Conversation, ...], inherit: str) -> tuple[Value, ...]:
    """Return the items of the nearest conversation. Empty at the top level."""
    return conversations[-1].items if conversations and inherit != "none" else ()


MOST_PREVIOUS = 40_000
"""The most characters of earlier outputs in a prompt."""


def previous_text(outputs: Value, accumulation_format: str, room: int) -> str:
    """Return earlier outputs as text: the content of a TaskResult, or with notes_only its notes.

    A text that is too long, or longer than half of `room` in tokens, loses its oldest part and says
    so.
    """
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
    """Describe a failure in words, because a failed result may have no content."""
    notes = fields_of(result.fields.get("notes")) or {}
    message = (fields_of(notes.get("error")) or {}).get("message")
    return f"[FAILED: {message}]" if isinstance(message, str) and message else "[FAILED]"


@node
class Piece:
    """One part of the context: its element, source and text."""

    element: str
    source: str
    text: str


def pieces(gathering: Gathering, files: Iterable[tuple[str, str]]) -> list[Piece]:
    """Return the parts of the context in the order in which they are shown."""
    wanted = content_roots(gathering.wanted) if gathering.wanted else None
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
    """Group the paths by equal text, in order. Copies and links are shown once."""
    found: dict[tuple[str, bool], list[str]] = {}
    for path, body in files:
        found.setdefault((body, path in inherited), []).append(path)
    return found


_EXCLUDED = 3
_RANKS = {"excluded_elements": _EXCLUDED, "primary_elements": 0, "secondary_elements": 2}


@node
class Ranks:
    """The order of `context_assembly`: primary, unnamed, secondary, excluded. The strongest setting
    wins."""

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
        return wildcards.fits(source, named) or wildcards.fits(
            path, relative_to(named, self.folder)
        )


def select_paths(
    paths: tuple[str, ...], assembly: tuple[tuple[str, str], ...], folder: str
) -> tuple[str, ...]:
    """Drop the paths that `context_assembly` excludes. They are not read."""
    if not assembly:
        return paths
    ranks = Ranks(assembly, folder)
    return tuple(path for path in paths if ranks.of("files", path) < _EXCLUDED)


def is_relevant(wanted: frozenset[str] | None, body: str) -> bool:
    """Return whether an inherited text is relevant to the prompt. Without a filter every text
    is."""
    if wanted is None:
        return True
    known = content_roots(body)
    return len(wanted & known) >= OVERLAP * max(1, min(len(wanted), len(known)))


AUTOMATIC = "automatic"
"""The provenance of files that fresh context found."""

_MARK = "\ufeff"
"""The byte order mark at the beginning of some files."""
MATCHES = 10

Gathered: TypeAlias = tuple[HandlerSession, Perform | None]
"""The session and its next request. With None, the model can be asked."""


def ask_for_files(command: str) -> Ask:
    """Return the request for the files that a command names."""
    return Ask("list-files", (words_of(command) or (command,),), attempt=True)


def ask_memory(query: dict[str, Value]) -> Ask:
    """Return the request to the memory for a ContextGenerationInput."""
    known = {key: value for key, value in query.items() if value not in (None, "", {})}
    asked = {**known, "template_type": "atomic", "matching_strategy": "content", "limit": MATCHES}
    return Ask("search-memory", (asked,), attempt=True)


def begin_lookups(session: HandlerSession, gathering: Gathering) -> Gathered:
    """Return the first request for context, if there is one."""
    if gathering.lookups:
        asks = tuple([lookup.ask for lookup in gathering.lookups])
        return evolve(session, waits="lookups"), Perform(asks, together=True)
    return _begin_reading(session, gathering)


def read_lookups(session: HandlerSession, replies: tuple[Value, ...]) -> Gathered:
    """Add the paths that the lookups found to those that are always read."""
    gathering = session.gathering
    assert gathering is not None
    paths, matched = gathering.paths, gathering.matched
    warnings, source = session.warnings, session.setup.notes["context_source"]
    for lookup, value in zip(gathering.lookups, replies, strict=True):
        if value is None and lookup.ask.handled:
            warnings += (lookup.unanswered,) if lookup.unanswered else ()
            continue
        found, problem = _read_found(lookup, value)
        found = select_paths(found, gathering.assembly, gathering.folder)
        if lookup.ask.operation == "search-memory":
            matched += tuple([path for path in found if path not in paths])
        paths += found
        if problem:
            task = session.setup.task
            warnings = (*warnings, f"the files of task `{task}` could not be found: {problem}")
        if source == "none":
            failed = "none" if lookup.provenance == AUTOMATIC else "resolution_failed"
            source = lookup.provenance if found else failed if problem else "none"
    paths = unique(paths, gathering.folder)
    gathering = evolve(gathering, lookups=(), paths=paths, matched=matched)
    notes = {**session.setup.notes, "context_source": source}
    setup = evolve(session.setup, notes=notes)
    session = evolve(session, setup=setup, warnings=warnings, gathering=gathering)
    session, perform = _begin_reading(session, gathering)
    if perform is None:
        return session, None
    return session, evolve(perform, items=own_items(gathering.items, gathering.paths))


def _read_found(lookup: Lookup, value: Value) -> tuple[tuple[str, ...], str]:
    """Return the paths that a lookup found, and the problem if it failed."""
    if isinstance(value, Record) and value.fields.get("status") == "FAILED":
        return (), _why(value)
    if lookup.ask.operation == "list-files":
        return _read_command(lookup, value)
    reply = fields_of(value)
    if reply is None:
        return (), f"`{lookup.ask.operation}` gave no table"
    problem = reply.get("error")
    matches = reply.get("matches")
    found: list[str] = []
    for match in matches if isinstance(matches, tuple) else ():
        fields = fields_of(match) or {}
        path = fields.get("source_path") or fields.get("id")
        if isinstance(path, str) and path:
            found.append(path)
    told = fields_of(problem)
    words = (told or {}).get("message") or problem
    return tuple(found[:MATCHES]), value_text(words) if problem is not None else ""


def _why(failed: Value) -> str:
    """Describe a FAILED result in words."""
    result = fields_of(failed) or {}
    error = fields_of((fields_of(result.get("notes")) or {}).get("error")) or {}
    message, hint = error.get("message"), error.get("hint")
    if not isinstance(message, str):
        return outcome(failed)[0]
    return f"{message} ({hint})" if isinstance(hint, str) else message


def _read_command(lookup: Lookup, value: Value) -> tuple[tuple[str, ...], str]:
    """Return the paths that a command named, and the problem if it failed."""
    if type(value) not in LISTS or not all(isinstance(path, str) for path in value):
        return (), "`list-files` gave no list of paths"
    (words,) = lookup.ask.arguments
    assert isinstance(words, tuple)
    command = " ".join(map(value_text, words))
    return tuple(value), "" if value else f"`{command[:60]}` names no file that may be read"


def _begin_reading(session: HandlerSession, gathering: Gathering) -> Gathered:
    if not gathering.paths:
        return files_read(session, ())
    asks = tuple(
        [
            Ask("read-file", (path, "base64") if kind_of(path) else (path,), attempt=True)
            for path in gathering.paths
        ]
    )
    return evolve(session, waits="files"), Perform(asks, together=True)


def own_items(items: tuple[Value, ...], paths: tuple[str, ...]) -> tuple[Value, ...]:
    """Return the items that children may inherit. A file is named, not quoted: a child reads it
    itself."""
    known = {item["source"] for item in items}
    return items + tuple({"source": path, "text": None} for path in paths if path not in known)


def files_read(session: HandlerSession, replies: tuple[Value, ...]) -> Gathered:
    """Assemble the system prompt of the files that were read, as far as there is room."""
    gathering = session.gathering
    assert gathering is not None
    files: list[tuple[str, str]] = []
    seen: dict[tuple[str, str], list[str]] = {}
    warnings: list[str] = []
    for path, value in zip(gathering.paths, replies, strict=True):
        words, is_error = outcome(value)
        kind = kind_of(path)
        if path in gathering.needed:
            _check_needed(session, path, kind, words, value if is_error else None)
        if is_error:
            warnings.append(f"file `{path}` could not be read: {_why(value)}")
        elif kind is not None and not is_kind(kind, words):
            warnings.append(f"file `{path}` was left out: it is not {kind}, whatever its name says")
        elif kind is not None:
            seen.setdefault((kind, words), []).append(path)
        elif "\0" in words:
            warnings.append(f"file `{path}` was left out: it is binary, and no text")
        else:
            files.append((path, words.removeprefix(_MARK)))
    session = evolve(session, warnings=(*session.warnings, *warnings))
    if seen:
        media = [
            block
            for (kind, data), paths in seen.items()
            for block in media_blocks(paths, kind, data)
        ]
        session = _with_media(session, media)
    shown: list[str] = []
    count = len(seen)
    for piece in pieces(gathering, files):
        tokens = tokens_in(piece.text)
        if piece.source in gathering.matched and not fits(session, tokens):
            left_out = f"file `{piece.source}` was left out: no room in the context window"
            session = evolve(session, warnings=(*session.warnings, left_out))
            continue
        session = with_more(session, tokens, f"`{piece.source or piece.element}`")
        shown.append(piece.text)
        count += piece.text.startswith("<file ")
    setup = session.setup
    notes = {**setup.notes, "context_files_count": count}
    system = sections(gathering.system, "\n\n".join(shown))
    return evolve(
        session,
        setup=evolve(setup, notes=notes),
        payload={**session.payload, "system": system},
        waits="model",
        gathering=None,
    ), None


def _check_needed(
    session: HandlerSession, path: str, kind: str | None, words: str, failed: Value
) -> None:
    """Raise Fault for a file that is an input of the task and cannot be seen."""
    if failed is not None:
        error = (fields_of((fields_of(failed) or {}).get("notes")) or {}).get("error")
        if isinstance(error, Record):
            raise Fault("raised", text(error.fields["message"]), error=error)
    task = session.setup.task
    if kind is not None and not is_kind(kind, words):
        flaw = f"it is not {kind}, whatever its name says"
    elif kind is None and "\0" in words:
        flaw = "it is binary, and no text"
    else:
        return
    raise bad_input(f"task `{task}` cannot be given the file `{path}`: {flaw}", "give it another")


def _with_media(session: HandlerSession, media: list[Block]) -> HandlerSession:
    """Put images and documents before the prompt, each with its path."""
    at = session.setup.earlier
    prompt = session.messages[at]
    session = with_more(session, tokens_of(media), "all that is seen of images and documents")
    messages = list(session.messages)
    messages[at] = {**prompt, "content": (*media, *prompt["content"])}
    return evolve(session, messages=tuple(messages))
