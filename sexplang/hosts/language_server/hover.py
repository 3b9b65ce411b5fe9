"""Hover: the explanation of the name at an offset."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sexplang.hosts.language_server.language_names import syntax_of
from sexplang.hosts.language_server.meanings import Meaning, Parameter
from sexplang.hosts.language_server.outline import Outline
from sexplang.terms.source import Source
from sexplang.terms.values.text import to_source, type_words
from sexplang.terms.values.value import Primitive, Task

if TYPE_CHECKING:
    from sexplang.analysis import Row

_LONGEST = 8
"""The lines of a definition that are shown."""


def hover(found: Outline, offset: int, effects: "Iterable[Row]") -> tuple[int, int, str] | None:
    """Return start, end and explanation, in Markdown; None if there is no name.

    `effects` are those of the document's functions at its last check.
    """
    mention = found.scopes.mention_at(offset)
    if mention is None:
        return None
    return mention.start, mention.end, explain(mention.meaning, effects)


def explain(meaning: Meaning, effects: "Iterable[Row]" = ()) -> str:
    """Return the meaning of a name, in Markdown."""
    done = [_describe_effects(row) for row in effects if _is_about(row, meaning)]
    parts = [_code(headline(meaning)), *_describe(meaning), *done[:1], _where(meaning)]
    return "\n\n".join(part for part in parts if part)


def headline(meaning: Meaning) -> str:
    """Return the name as it is written in a use."""
    if meaning.kind == "special form":
        return syntax_of(meaning.name) or meaning.name
    if meaning.kind in ("value", "input", "type", "syntax") and meaning.form is not None:
        return _shorten(meaning.form.span.text)
    if meaning.kind == "primitive":
        return f"({meaning.name} {_describe_arity(meaning)})"
    return meaning.signature


def _describe(meaning: Meaning) -> list[str]:
    if meaning.kind == "module":
        return [f'The module `"{meaning.doc}"`: ' + _list_names(meaning.members)]
    said = [read_documentation(meaning)]
    if meaning.kind == "task":
        said += ["\n".join(_param(each) for each in meaning.params or ()), _settings(meaning.shape)]
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


def read_documentation(meaning: Meaning) -> str:
    """Return the documentation at a definition: its string, or the comment directly above."""
    if meaning.doc or meaning.kind in ("parameter", "special form") or meaning.span is None:
        return meaning.doc
    return comment_above(meaning.span.source, meaning.span.start)


def comment_above(source: Source, offset: int) -> str:
    """Return the lines of comment directly above the line of an offset."""
    number = source.position(offset).line - 1
    found: list[str] = []
    while number > 0 and source.line(number).lstrip().startswith(";"):
        found.append(source.line(number).strip().lstrip(";").strip())
        number -= 1
    return "\n".join(reversed(found))


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
        "options": " ".join(
            [f"{key}: {to_source(each)}" for key, each in template.options.items()]
        ),
        "returns": template.returns and type_words(template.returns),
    }
    return " · ".join(f"{name} {value}" for name, value in said.items() if value)


def _describe_arity(meaning: Meaning) -> str:
    shape = meaning.shape
    assert isinstance(shape, Primitive) or hasattr(shape, "least")
    letters = "abcdefgh"
    words = list(letters[: shape.least])
    if shape.most is None:
        return " ".join([*words, "…"])
    optional = [f"[{letter}]" for letter in letters[shape.least : shape.most]]
    return " ".join([*words, *optional])


def _list_names(names: dict[str, Meaning]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names)) or "it has no public names"


def _code(text: str) -> str:
    # The fence is longer than any in the text.
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}sexp\n{text}\n{fence}"


def _shorten(text: str) -> str:
    lines = text.splitlines()
    return "\n".join([*lines[:_LONGEST], "…"] if len(lines) > _LONGEST else lines)[:2_000]
