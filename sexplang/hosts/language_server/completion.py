"""Completion: the names and paths that may be typed at an offset."""

import os
from collections.abc import Iterable, Iterator
from typing import get_args

from sexplang.compiler.forms.shapes import SHAPES, shape_of
from sexplang.hosts.language_server.brackets import brackets_around, is_data
from sexplang.hosts.language_server.hover import explain
from sexplang.hosts.language_server.library import Library, folder_of
from sexplang.hosts.language_server.outline import Outline
from sexplang.hosts.reference.documentation import headline
from sexplang.hosts.reference.language_names import is_deprecated, list_modules, special
from sexplang.hosts.reference.meanings import Meaning
from sexplang.hosts.tokens import LABELS as LABEL_KINDS
from sexplang.hosts.tokens import Token
from sexplang.terms.classes.node import frozen
from sexplang.terms.form import Form, Label, ListForm, Name
from sexplang.terms.program import InputType


@frozen
class Offer:
    """A text to insert in the place of the range from `start` to the cursor."""

    text: str
    kind: str
    start: int
    detail: str = ""
    doc: str = ""
    rank: int = 1


_WORDS = frozenset(["NAME", "BAD", "NUMBER", *LABEL_KINDS])
_PROSE = frozenset(["STRING", "TEXT", "COMMENT", "LINE_COMMENT", "OPEN"])
_ENDLESS = frozenset(["LINE_COMMENT", "OPEN"])
"""Tokens that the cursor is still inside of, directly behind their last character."""


def offers(library: Library, found: Outline, offset: int) -> list[Offer]:
    """Return the completions at an offset."""
    token = found.text.token_at(offset)
    chain = brackets_around(found.text.forms, offset)
    start = offset
    if token is not None and token.start < offset:
        is_inside = offset < token.end or token.kind in _ENDLESS
        if token.kind in _PROSE and is_inside:
            return _in_prose(library, found, chain, token, offset)
        if token.kind in _WORDS:
            start = token.start
    return [] if is_data(chain) else list(_names(found, chain, start, offset))


def _in_prose(
    library: Library, found: Outline, chain: list[Form], token: Token, offset: int
) -> list[Offer]:
    """Return the completions inside a string or a comment: none, but for the path of an import."""
    text = found.source.text
    if text[token.start] != '"' or not _is_import_path(chain, token.start):
        return []
    typed = text[token.start + 1 : offset]
    return list(_paths(library, found.source.name, typed, token.start + 1))


def _is_import_path(chain: list[Form], start: int) -> bool:
    form = chain[-1] if chain else None
    return _takes_path(form) and any(item.span.start == start for item in form.items[1:2])  # type: ignore[union-attr]


def _takes_path(form: Form | None) -> bool:
    shape = None if form is None else shape_of(form)
    return shape is not None and shape.operands == ("path",)


def _paths(library: Library, document: str, text: str, start: int) -> Iterator[Offer]:
    """Yield the folders and files that an import may name, below the path typed so far."""
    folder = folder_of(document)
    if folder is None or "\n" in text or "\0" in text:
        return
    typed, _, _ = text.rpartition("/")
    where = os.path.normpath(os.path.join(folder, typed))
    if where != folder and not where.startswith(folder.rstrip("/") + "/"):
        return
    start += len(typed) + 1 if typed or text.startswith("/") else 0
    for name, is_folder in _entries(where):
        if name.startswith(".") or os.path.join(where, name) == document:
            continue
        if is_folder:
            yield Offer(name + "/", "folder", start)
        elif name.endswith((".sexp", ".xml", ".py")):
            yield Offer(name, "file", start)


def _entries(folder: str) -> list[tuple[str, bool]]:
    try:
        with os.scandir(folder) as entries:
            return sorted((entry.name, entry.is_dir()) for entry in entries)[:1_000]
    except (OSError, ValueError):
        return []


def _names(found: Outline, chain: list[Form], start: int, offset: int) -> Iterator[Offer]:
    visible = found.scopes.visible(offset)
    form = chain[-1] if chain else None
    before = _before(form, start)
    head = before[0] if before else None
    word = head.text if type(head) is Name else ""
    is_operand = isinstance(form, ListForm) and bool(before)
    labels = SHAPES[word].labels if word in SHAPES else {}
    words = labels.get(before[-1].text) if before and type(before[-1]) is Label else None
    if words == "type":
        for each in get_args(InputType):
            yield Offer(each, "word", start, "type of an input", rank=0)
        for name, meaning in visible.items():
            if meaning.kind == "type":
                yield _offer(name, meaning, start, 0)
        return
    if _takes_path(form) and before:
        yield from _standard_modules(start)
        yield from _labels(labels, before, start)
        return
    if is_operand:
        yield from _labels(labels or _labels_of(visible, word), before, start)
    typed = found.source.text[start:offset]
    module = visible.get(typed.partition(".")[0]) if "." in typed else None
    if module is not None and module.kind == "module":
        for name, meaning in module.members.items():
            yield _offer(f"{module.name}.{name}", meaning, start, 0)
        return
    for name, meaning in visible.items():
        if name != "_" and not is_deprecated(meaning):
            yield _offer(name, meaning, start, 1 if meaning.name_span is not None else 2)
    if isinstance(form, ListForm) and not before:
        for name, meaning in special().items():
            yield _offer(name, meaning, start, 3)


def _before(form: Form | None, start: int) -> list[Form]:
    items: Iterable[Form] = getattr(form, "items", ())
    return [item for item in items if item.span.end <= start and item.span.start < start]


def _labels_of(visible: dict[str, Meaning], word: str) -> tuple[str, ...]:
    meaning = visible.get(word)
    if meaning is None and "." in word:
        module, _, name = word.partition(".")
        base = visible.get(module)
        meaning = base.members.get(name) if base is not None else None
    if meaning is None or meaning.kind not in ("function", "task", "operation"):
        return ()
    is_python = meaning.span is not None and meaning.span.source.name.endswith(".py")
    if is_python and meaning.kind == "function":  # a primitive takes its arguments by position
        return ()
    return tuple(each.name for each in meaning.params or () if not each.is_pattern)


def _labels(names: Iterable[str], before: list[Form], start: int) -> Iterator[Offer]:
    given = {item.text for item in before if type(item) is Label}
    if before and type(before[-1]) is Label:
        return
    for name in names:
        if name not in given:
            yield Offer(f"{name}:", "label", start, "label", rank=0)


def _standard_modules(start: int) -> Iterator[Offer]:
    for name in list_modules():
        yield Offer(f"std/{name}", "module", start, rank=0)


def _offer(text: str, meaning: Meaning, start: int, rank: int) -> Offer:
    detail = " ".join(headline(meaning).split())
    return Offer(text, meaning.kind, start, detail[:80], explain(meaning), rank)
