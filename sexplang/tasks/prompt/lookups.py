"""What a conversation is to see: found, read and put together before its model is asked.

First the lookups (a command, a search of the memory), then the files, then the system prompt. What
cannot be found or read is a warning; the task goes on without it.
"""

from typing import TypeAlias

from sexplang.tasks.failures import bad_input
from sexplang.tasks.prompt.context import pieces, sections, select_paths
from sexplang.tasks.prompt.media import is_kind, kind_of, media_blocks
from sexplang.tasks.prompt.paths import unique
from sexplang.tasks.prompt.substitution import value_text
from sexplang.tasks.prompt.window import fits, tokens_in, tokens_of, with_more
from sexplang.tasks.requests.subtask_request import fields_of
from sexplang.tasks.session import Block, Gathering, HandlerSession, Lookup
from sexplang.tasks.turns.tool_results import outcome
from sexplang.terms.classes.node import evolve
from sexplang.terms.file_command import words_of
from sexplang.terms.task import Ask, Perform
from sexplang.terms.values.sequences import LISTS
from sexplang.terms.values.text import text
from sexplang.terms.values.value import Fault, Record, Value

AUTOMATIC = "automatic"
"""Where files come from that fresh context found."""

_MARK = "\ufeff"
"""What some editors begin a file with, to say how it is encoded."""
MATCHES = 10

Gathered: TypeAlias = tuple[HandlerSession, Perform | None]
"""The session and what is to be performed for it; with None, its model can be asked."""


def naming(command: str) -> Ask:
    """The request for the files that a command names."""
    return Ask("list-files", (words_of(command) or (command,),), attempt=True)


def searching(query: dict[str, Value]) -> Ask:
    """The request for what the memory knows about a ContextGenerationInput."""
    known = {key: value for key, value in query.items() if value not in (None, "", {})}
    asked = {**known, "template_type": "atomic", "matching_strategy": "content", "limit": MATCHES}
    return Ask("search-memory", (asked,), attempt=True)


def begin_lookups(session: HandlerSession, gathering: Gathering) -> Gathered:
    """The first thing to perform, if there is anything to see."""
    if gathering.lookups:
        asks = tuple([lookup.ask for lookup in gathering.lookups])
        return evolve(session, waits="lookups"), Perform(asks, together=True)
    return _reading(session, gathering)


def read_lookups(session: HandlerSession, replies: tuple[Value, ...]) -> Gathered:
    """The lookups are answered: their paths join those that are always there."""
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
    session, perform = _reading(session, gathering)
    if perform is None:
        return session, None
    return session, evolve(perform, items=own_items(gathering.items, gathering.paths))


def _read_found(lookup: Lookup, value: Value) -> tuple[tuple[str, ...], str]:
    """The paths that a lookup found, and what went wrong."""
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
    """What a FAILED result says in words."""
    result = fields_of(failed) or {}
    error = fields_of((fields_of(result.get("notes")) or {}).get("error")) or {}
    message, hint = error.get("message"), error.get("hint")
    if not isinstance(message, str):
        return outcome(failed)[0]
    return f"{message} ({hint})" if isinstance(hint, str) else message


def _read_command(lookup: Lookup, value: Value) -> tuple[tuple[str, ...], str]:
    """The paths that a command named."""
    if type(value) not in LISTS or not all(isinstance(path, str) for path in value):
        return (), "`list-files` gave no list of paths"
    (words,) = lookup.ask.arguments
    assert isinstance(words, tuple)
    command = " ".join(map(value_text, words))
    return tuple(value), "" if value else f"`{command[:60]}` names no file that may be read"


def _reading(session: HandlerSession, gathering: Gathering) -> Gathered:
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
    """What children may inherit. A file is named rather than quoted: a child reads it itself."""
    known = {item["source"] for item in items}
    return items + tuple({"source": path, "text": None} for path in paths if path not in known)


def files_read(session: HandlerSession, replies: tuple[Value, ...]) -> Gathered:
    """The files are read: the system prompt is put together, as far as there is room."""
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
    """Raises Fault for a file that is an input of the task and cannot be seen: the task could not
    be done without it."""
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
    """Images and documents stand before the prompt, each with its path."""
    at = session.setup.earlier
    prompt = session.messages[at]
    session = with_more(session, tokens_of(media), "all that is seen of images and documents")
    messages = list(session.messages)
    messages[at] = {**prompt, "content": (*media, *prompt["content"])}
    return evolve(session, messages=tuple(messages))
