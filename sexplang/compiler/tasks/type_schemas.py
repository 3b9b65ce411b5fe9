"""Types, in a clause or in XML, as JSON Schemas.

Law: nothing is evaluated. A form that is no type is reported with its span.
"""

from collections.abc import Iterator
from typing import Any

from sexplang.compiler.forms.shapes import word_of
from sexplang.terms.diagnostic import Diagnostic, Diagnostics, Label
from sexplang.terms.form import Form, ListForm, Literal, Name, TableForm, VectorForm
from sexplang.terms.source import Span
from sexplang.terms.texts.nearest import did_you_mean

Schema = dict[str, Any]

WORDS: dict[str, Schema] = {
    "any": {},
    "nil": {"type": "null"},
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "list": {"type": "array"},
    "table": {"type": "object"},
    "array": {"type": "array"},
    "object": {"type": "object"},
}
"""The names of types; the last two are those of the documents."""

_FORMS = (
    'a type is one of any nil string integer number boolean list table, (one-of "a" "b"), [T], '
    "{name: T  note?: T}, (or T …) or (schema {…})"
)

_DEEPEST = 50


def schema_of(form: Form, depth: int = 0) -> Schema:
    """Return the JSON Schema of a type. Raises Diagnostics `bad-schema`."""
    if depth > _DEEPEST:
        raise _bad(form.span, f"a type is nested at most {_DEEPEST} levels deep", None)
    if type(form) is ListForm and word_of(form) == "quote" and len(form.items) == 2:
        return schema_of(form.items[1], depth)
    if type(form) is Literal and form.value is None:
        return WORDS["nil"]
    if type(form) is Name:
        return _of_word(form.spelling, form.span)
    if type(form) is Literal and isinstance(form.value, str):
        return _of_word(form.value.strip(), form.span)
    if type(form) is VectorForm:
        if len(form.items) != 1:
            raise _bad(form.span, "a list is of one type", "write [T], or (or T …) for several")
        return {"type": "array", "items": schema_of(form.items[0], depth + 1)}
    if type(form) is TableForm:
        return _table(form, depth)
    word = word_of(form)
    if word in _COMPOUND and isinstance(form, ListForm):
        return _COMPOUND[word](form, depth)
    raise _bad(form.span, "this is not a type", _FORMS)


def _of_word(word: str, span: Span) -> Schema:
    name = word.rstrip("[]") or "any"
    count = word.count("[]")
    if name not in WORDS or word not in (name + "[]" * count, "[]" * count):
        raise _bad(span, f"`{word[:40]}` is not a type", did_you_mean(word, WORDS, _FORMS))
    schema = WORDS[name]
    for _ in range(count):
        schema = {"type": "array", "items": schema} if schema else {"type": "array"}
    return schema


def _table(form: TableForm, depth: int) -> Schema:
    """`{name: T  note?: T}`: a label that ends in `?` may be absent or nil; one in quotes is taken
    verbatim."""
    properties: dict[str, Schema] = {}
    required: list[str] = []
    for label, value in form.entries():
        is_optional = label.text.endswith("?") and not label.span.text.startswith('"')
        name = label.text[:-1] if is_optional else label.text
        if name in properties:
            raise _bad(label.span, f"the field `{name}` stands twice", "keep one of them")
        of = schema_of(value, depth + 1)
        properties[name] = _either([of, WORDS["nil"]]) if is_optional else of
        if not is_optional:
            required.append(name)
    if {"type", "properties"} <= properties.keys():
        raise _bad(form.span, "this is a JSON Schema", "write (schema {…}) for one")
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _one_of(form: ListForm, depth: int) -> Schema:
    """`(one-of "a" "b")`"""
    values = [*_values(form)]
    if not values:
        raise _bad(form.span, "there is nothing to choose from", 'write (one-of "yes" "no")')
    if len({(type(value), value) for value in values}) < len(values):
        raise _bad(form.span, "a choice stands twice", "keep one of them")
    return {"enum": values}


def _values(form: ListForm) -> Iterator[Any]:
    for item in form.items[1:]:
        if type(item) is Name:
            yield item.spelling
        elif type(item) is Literal:
            yield item.value
        else:
            hint = "a choice is a text, a number, a boolean or nil; types are joined by `or`"
            raise _bad(item.span, "this is no choice", hint)


def _or(form: ListForm, depth: int) -> Schema:
    """`(or T …)`"""
    if len(form.items) < 3:
        raise _bad(form.span, "`or` joins two types or more", "write (or string nil)")
    return _either([schema_of(item, depth + 1) for item in form.items[1:]])


def _either(schemas: list[Schema]) -> Schema:
    return {} if {} in schemas else {"anyOf": schemas}


def _schema(form: ListForm, depth: int) -> Schema:
    """`(schema {…})`: a JSON Schema as it is."""
    written = _plain(form.items[1]) if len(form.items) == 2 else None
    if not isinstance(written, dict):
        raise _bad(form.span, "a JSON Schema is a table", 'write (schema {type: "string"})')
    return written


def _plain(form: Form, depth: int = 0) -> Any:
    """Return a form as JSON data: symbols are words."""
    if depth > _DEEPEST:
        raise _bad(form.span, f"a schema is nested at most {_DEEPEST} levels deep", None)
    if type(form) is Literal:
        return form.value
    if type(form) is Name:
        return form.spelling
    if type(form) is VectorForm:
        return [_plain(item, depth + 1) for item in form.items]
    if type(form) is TableForm:
        return {label.text: _plain(value, depth + 1) for label, value in form.entries()}
    raise _bad(form.span, "this is no data", "a JSON Schema is written out")


_COMPOUND = {"one-of": _one_of, "or": _or, "schema": _schema}


def _bad(span: Span, title: str, hint: str | None) -> Diagnostics:
    return Diagnostics([Diagnostic("bad-schema", title, (Label(span),), hint=hint)])
