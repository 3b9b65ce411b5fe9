"""Hover: the explanation of the name at an offset."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sexplang.hosts.language_server.outline import Outline
from sexplang.hosts.reference.meanings import Meaning, Parameter
from sexplang.hosts.reference.name_entries import Entry, find_entry
from sexplang.terms.values.text import to_source, type_words
from sexplang.terms.values.value import Task

if TYPE_CHECKING:
    from sexplang.analysis import NameType, Row


def hover(
    found: Outline, offset: int, effects: "Iterable[Row]", types: "Iterable[NameType]" = ()
) -> tuple[int, int, str] | None:
    """Return start, end and explanation, in Markdown; None if there is no name.

    `effects` are those of the document's functions at its last check, `types` those of its names.
    """
    mention = found.scopes.mention_at(offset)
    if mention is None:
        return None
    meaning = mention.meaning
    known = [_describe_effects(row) for row in effects if _is_about(row, meaning)]
    used = {each.start for each in found.scopes.mentions if each.meaning is meaning}
    known += [
        each.words
        for each in types
        if each.span.start in used and each.span.source.text == found.source.text
    ]
    return mention.start, mention.end, explain(meaning, known)


def explain(meaning: Meaning, known: Sequence[str] = ()) -> str:
    """Return the meaning of a name, in Markdown, with the first sentence that is `known` of it."""
    entry = find_entry(meaning)
    shown = _code("\n".join(map(str, entry.examples))) if entry.examples else ""
    parts = [_code(entry.signature), *_describe(meaning, entry), shown, *known[:1], _where(meaning)]
    return "\n\n".join(part for part in parts if part)


def _describe(meaning: Meaning, entry: Entry) -> list[str]:
    if meaning.kind == "module":
        return [f'The module `"{meaning.doc}"`: ' + _list_names(meaning.members)]
    said = [entry.doc]
    params = meaning.params or ()
    if meaning.kind == "task" or any(each.type or each.doc for each in params):
        said.append("\n".join(map(_param, params)))
    if meaning.kind == "task":
        said.append(_settings(meaning.shape))
    return said


def _is_about(row: "Row", meaning: Meaning) -> bool:
    """Return whether a row of effects is about the function that a name means."""
    defined, checked = meaning.span, row.span
    return (
        meaning.kind == "function"
        and defined is not None
        and checked is not None
        and row.name == meaning.name
        and defined.source.name == checked.source.name
        and defined.source.text == checked.source.text
        and defined.start <= checked.start < defined.end
    )


def _describe_effects(row: "Row") -> str:
    """Return the operations that a function may perform, and its bound of model calls."""
    said = f"Performs {', '.join(row.performs) or 'nothing'}."
    if not row.calls.is_zero:
        calls = row.says()
        more = " and ".join(f"`{param}`" for param in row.effects_of)
        said += f" {calls[0].upper()}{calls[1:]}{', and those of ' if more else ''}{more}."
    return said


_KINDS = {
    "function": "A function",
    "value": "A value",
    "parameter": "A parameter",
    "input": "An input of the program",
    "operation": "An operation: calling it performs it",
    "task": "An atomic task: a model answers",
    "type": "A type",
    "syntax": "A macro",
    "primitive": "A function of the language",
}


def _where(meaning: Meaning) -> str:
    words = _KINDS.get(meaning.kind, "")
    if meaning.name_span is None or not words:
        return f"*{words}.*" if words else ""
    source = meaning.name_span.source.name.rpartition("/")[2]
    return f"*{words}, {source}:{meaning.name_span.begin.line}.*"


def _param(param: Parameter) -> str:
    words = [f"- `{param.name}`"]
    if param.type and param.type != "any":
        words.append(f"({param.type})")
    if param.doc:
        words.append(" ".join(param.doc.split()))
    if param.default is not None:
        words.append(f"default `{param.default}`" if param.default else "may be left out")
    return " ".join(words)


def _is_word(schema: object) -> bool:
    return isinstance(schema, str) and not schema.lstrip().startswith(("<", "{"))


def _settings(shape: object) -> str:
    if not isinstance(shape, Task):
        return ""
    template = shape.template
    schema = template.output_format.schema
    answer = template.output_format.type
    typed = template.output_format.typed
    said = {
        "answers with": f"{answer} `{schema}`" if _is_word(schema) else "" if typed else answer,
        "model": template.model,
        "tools": ", ".join(template.allowed_tools),
        "subtasks": ", ".join(template.subtasks),
        "validate": template.validate.name if template.validate is not None else "",
        "options": " ".join(
            [f"{key}: {to_source(each)}" for key, each in template.options.items()]
        ),
        "returns": template.returns and type_words(template.returns),
    }
    return " · ".join(f"{name} {value}" for name, value in said.items() if value)


def _list_names(names: dict[str, Meaning]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names)) or "it has no public names"


def _code(text: str) -> str:
    # The fence is longer than any in the text.
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}sexp\n{text}\n{fence}"
