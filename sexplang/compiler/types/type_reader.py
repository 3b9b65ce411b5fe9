"""Types, in a clause or in XML, as JSON Schemas.

Law: nothing is evaluated. A form that is no type is reported with its span.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Any

from sexplang.compiler.forms.shapes import word_of
from sexplang.terms.classes.node import define, field
from sexplang.terms.diagnostic import Diagnostic, Diagnostics, Edit, Label
from sexplang.terms.form import Form, ListForm, Literal, Name, TableForm, VectorForm
from sexplang.terms.schemas import Schema, TypeSchema, Unbounded, below, bound_of
from sexplang.terms.source import Made, Span

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
"""The words for types; the last two are those of the documents."""

_DEEPEST = 50

Find = Callable[[str], TypeSchema | None]
"""A search for the type that a name stands for."""

Load = Callable[[str, Span], str]
"""A loader of a schema's file. Raises Diagnostics."""


@define(eq=False)
class TypeReader:
    """The reader of one type. Tables of a `closed` type have no other fields than those written."""

    find: Find = lambda name: None
    load: Load | None = None
    known: Iterable[str] = ()
    """The names of types, for suggestions."""
    closed: bool = True
    name: str = "schema"
    """The name of the type, for its definition if it has references."""
    definitions: dict[str, Schema] = field(factory=dict)
    has_names: bool = False
    has_schema: bool = False

    def read(self, form: Form) -> TypeSchema:
        """Return the type of a form. Raises Diagnostics `bad-schema`."""
        inner = _unquote(form)
        if word_of(inner) == "schema" and isinstance(inner, ListForm):
            written = self._read_schema(inner)
            part = self._define(written, self.name)
            return TypeSchema(part, self.definitions, written)
        found = self.find(inner.text) if type(inner) is Name and inner.text not in WORDS else None
        if found is not None:
            self.has_names = True
            return found
        return TypeSchema(self.schema_of(form), self.definitions)

    def schema_of(self, form: Form, depth: int = 0) -> Schema:
        """Return the schema of a part of the type. Raises Diagnostics `bad-schema`."""
        form = _unquote(form)
        if depth > _DEEPEST:
            raise bad(form.span, f"a type is nested at most {_DEEPEST} levels deep", None)
        if type(form) is Literal and form.value is None:
            return WORDS["nil"]
        if type(form) is Name:
            return self._of_word(form.text, form.spelling, form.span)
        if type(form) is Literal and isinstance(form.value, str):
            return self._of_word(form.value.strip(), form.value.strip(), form.span)
        if type(form) is VectorForm:
            if len(form.items) != 1:
                raise bad(form.span, "a list is of one type", "write [T], or (or T …) for several")
            return {"type": "array", "items": self.schema_of(form.items[0], depth + 1)}
        if type(form) is TableForm and form.has_pairs:
            return self._table(form, depth)
        word = word_of(form)
        if isinstance(form, ListForm) and word == "one-of":
            return _one_of(form)
        if isinstance(form, ListForm) and word == "or":
            if len(form.items) < 3:
                raise bad(form.span, "`or` joins two types or more", "write (or string nil)")
            return _either([self.schema_of(item, depth + 1) for item in form.items[1:]])
        if isinstance(form, ListForm) and word == "schema":
            return self._define(self._read_schema(form), self.name)
        from sexplang.compiler.types.type_guesses import guess_form

        raise bad(form.span, "this is not a type", *guess_form(form, (*WORDS, *self.known)))

    def _of_word(self, text: str, shown: str, span: Span) -> Schema:
        name = text.rstrip("[]") or "any"
        lists = text.count("[]")
        schema = (
            self._find_part(name, span) if text in (name + "[]" * lists, "[]" * lists) else None
        )
        if schema is None:
            from sexplang.compiler.types.type_guesses import guess_word

            hint, meant = guess_word(shown, (*WORDS, *self.known))
            if not meant and span.text == f'"{shown}"':
                hint = f"a text is a type by `(one-of {span.text})`"
            written = meant if span.text == shown else ""
            raise bad(span, f"`{shown[:40]}` is not a type", hint, written)
        for _ in range(lists):
            schema = {"type": "array", "items": schema} if schema else {"type": "array"}
        return schema

    def _find_part(self, name: str, span: Span) -> Schema | None:
        if name in WORDS:
            return WORDS[name]
        found = self.find(name)
        if found is None:
            return None
        self.has_names = True
        for key, schema in found.definitions.items():
            if self.definitions.setdefault(key, schema) is not schema:
                hint = "rename one of them: a type that refers to itself keeps its name"
                raise bad(span, f"two types called `{key}` meet in this one", hint)
        return found.part

    def _table(self, form: TableForm, depth: int) -> Schema:
        """`{name: T  note?: T}`: a label that ends in `?` may be absent or nil; one in quotes is
        taken verbatim."""
        properties: dict[str, Schema] = {}
        required: list[str] = []
        for label, value in form.entries():
            is_optional = label.text.endswith("?") and not label.span.text.startswith('"')
            name = label.text[:-1] if is_optional else label.text
            if name in properties:
                raise bad(label.span, f"the field `{name}` occurs twice", "keep one of them")
            of = self.schema_of(value, depth + 1)
            properties[name] = _either([of, WORDS["nil"]]) if is_optional else of
            if not is_optional:
                required.append(name)
        if {"type", "properties"} <= properties.keys():
            raise bad(form.span, "this is a JSON Schema", "write (schema {…}) for one")
        made: Schema = {"type": "object", "properties": properties, "required": required}
        return {**made, "additionalProperties": False} if self.closed else made

    # -- JSON Schemas

    def _read_schema(self, form: ListForm) -> Schema:
        """`(schema {…})`, a JSON Schema as it is, or `(schema "flight.json")`."""
        self.has_schema = True
        only = form.items[1] if len(form.items) == 2 else form
        if type(only) is Literal and isinstance(only.value, str):
            return self._load_schema(only.value, only.span)
        written = _plain(only) if only is not form else None
        if not isinstance(written, dict):
            hint = 'write (schema {type: "string"}), or (schema "flight.json") for a file'
            raise bad(form.span, "a JSON Schema is a table", hint)
        return written

    def _load_schema(self, path: str, span: Span) -> Schema:
        if not path.endswith(".json"):
            hint = 'the file of a JSON Schema is named, such as "flight.json"'
            raise bad(span, f"`{path[:80]}` is no .json file", hint)
        if self.load is None:
            raise bad(span, "no file can be read here", "write the schema itself")
        text = self.load(path, span)
        from sexplang.terms.json.json_reader import NotJson
        from sexplang.terms.json.strict import certain

        try:
            found = certain(text)
        except NotJson as why:
            raise bad(span, f"`{path[:80]}` is not JSON: {why}", None) from None
        if not isinstance(found, dict):
            raise bad(span, f"`{path[:80]}` holds no JSON Schema: one is a table", None)
        return found

    def _define(self, schema: Schema, name: str) -> Schema:
        """Return a schema as a part of this type. One with references becomes a definition."""
        if '"$ref"' not in json.dumps(schema):
            return schema
        for number in count(1):
            key = name if number == 1 else f"{name}-{number}"
            made = below(schema, f"#/$defs/{key}")
            if self.definitions.setdefault(key, made) == made:
                self.has_names = True
                return {"$ref": f"#/$defs/{key}"}
        raise AssertionError("numbers end")


def count_parts(made: TypeSchema, span: Span) -> int:
    """Return the number of parts of a type, with names written out. Raises Diagnostics `bad-schema`
    for a type that is too large or leads in a circle."""
    try:
        return bound_of(made.whole).count
    except Unbounded as why:
        words = str(why).replace("#/$defs/", "")
        raise bad(span, f"this type cannot be used: {words}", None) from None


def check_schema(made: TypeSchema, span: Span) -> None:
    """Raise Diagnostics `bad-schema` for a type with a JSON Schema in it that cannot be used."""
    from sexplang.schemas.schema import schema_problem

    problem = schema_problem(made.whole)
    if problem is not None:
        raise bad(span, problem, None)


def _unquote(form: Form) -> Form:
    while type(form) is ListForm and word_of(form) == "quote" and len(form.items) == 2:
        form = form.items[1]
    return form


def _one_of(form: ListForm) -> Schema:
    """`(one-of "a" "b")`"""
    values = [*_values(form)]
    if not values:
        raise bad(form.span, "there is nothing to choose from", 'write (one-of "yes" "no")')
    if len({(type(value), value) for value in values}) < len(values):
        raise bad(form.span, "a choice occurs twice", "keep one of them")
    return {"enum": values}


def _values(form: ListForm) -> Iterator[Any]:
    for item in form.items[1:]:
        if type(item) is Name:
            yield item.spelling
        elif type(item) is Literal:
            yield item.value
        else:
            hint = "a choice is a text, a number, a boolean or nil; types are joined by `or`"
            raise bad(item.span, "this is no choice", hint)


def _either(schemas: list[Schema]) -> Schema:
    return {} if {} in schemas else {"anyOf": schemas}


def _plain(form: Form, depth: int = 0) -> Any:
    """Return a form as JSON data: symbols are words."""
    if depth > _DEEPEST:
        raise bad(form.span, f"a schema is nested at most {_DEEPEST} levels deep", None)
    if type(form) is Literal:
        return form.value
    if type(form) is Name:
        return form.spelling
    if type(form) is VectorForm:
        return [_plain(item, depth + 1) for item in form.items]
    if type(form) is TableForm and form.has_pairs:
        return {label.text: _plain(value, depth + 1) for label, value in form.entries()}
    raise bad(form.span, "this is no data", "a JSON Schema is written out")


def bad(span: Span, title: str, hint: str | None, written: str = "") -> Diagnostics:
    """Return the Diagnostics `bad-schema` for a form that is no type, with the edit that puts what
    is `written` in its place."""
    edits = (Edit(span, written),) if written and not isinstance(span, Made) else ()
    return Diagnostics([Diagnostic("bad-schema", title, (Label(span),), (), hint, edits=edits)])
