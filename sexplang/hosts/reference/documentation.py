"""What is written of a name: its use, and the documentation at its definition."""

from sexplang.hosts.reference.language_names import syntax_of
from sexplang.hosts.reference.meanings import Meaning
from sexplang.terms.source import Source
from sexplang.terms.values.value import Higher, Operation, Primitive

_LONGEST = 8
"""The lines of a definition that are shown."""


def headline(meaning: Meaning) -> str:
    """Return the name as it is written in a use; empty for a macro whose documentation has its
    uses."""
    if meaning.kind == "special form":
        return syntax_of(meaning.name) or meaning.name
    if meaning.kind in ("value", "input", "type", "syntax") and meaning.form is not None:
        return _shorten(meaning.form.span.text)
    if meaning.kind == "syntax":
        return ""
    shape = meaning.shape
    if isinstance(shape, (Primitive, Higher)):
        return _show_call(meaning.name, *shape.params.split())
    if isinstance(shape, Operation):
        optional = [f"[{name}]" for name in shape.params[shape.least :]]
        words = [*shape.params, "…"] if shape.rest else [*shape.params[: shape.least], *optional]
        return _show_call(meaning.name, *words)
    return meaning.signature


def _show_call(*words: str) -> str:
    return f"({' '.join(words)})"


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


def _shorten(text: str) -> str:
    lines = text.splitlines()
    return "\n".join([*lines[:_LONGEST], "…"] if len(lines) > _LONGEST else lines)[:2_000]
