"""`define-type`, and the types that names stand for in a module.

A type that refers to itself is a definition of the schema, `#/$defs/NAME`; the others stand in
place of their names.
"""

from collections.abc import Iterable, Iterator
from functools import partial

from sexplang.compiler.compilation import Lowering, Namespace
from sexplang.compiler.forms.shapes import word_of
from sexplang.compiler.types.type_reader import WORDS, TypeReader, bad, check_schema, count_parts
from sexplang.terms.classes.node import define, field
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.form import Form, ListForm, Literal, Name, TableForm, VectorForm
from sexplang.terms.program import Export
from sexplang.terms.schemas import Schema, TypeDefinition, TypeSchema, in_order
from sexplang.terms.source import Span
from sexplang.terms.values.boundary import value_of
from sexplang.terms.values.value import Value


def read_type(
    c: Lowering, form: Form, *, closed: bool, words: Iterable[str] = ()
) -> TypeSchema | None:
    """Return the type of a form in this module. Reports a form that is none. `words` are others
    that may stand there, for suggestions."""
    known = [*_list_known(c), *words]
    reader = TypeReader(_Names(c, closed).find, c.load_schema, known, closed)
    try:
        made = reader.read(form)
        if reader.has_names and not _count(c, made, form.span):
            return None
        if reader.has_schema and not closed:  # the check of templates has those of tasks
            check_schema(made, form.span)
        return made
    except Diagnostics as found:
        c.findings.extend(found.diagnostics)
        return None


def type_value(c: Lowering, form: Form) -> Value:
    """Return a type as a value: its JSON Schema, with the name as the title if it has one."""
    if type(form) is Name:
        binding = c.names.find(form.text) or c.names.find_in_module(form.text)
        if type(binding) is Export and isinstance(binding.shape, TypeDefinition):
            return binding.core.value  # type: ignore[union-attr]
    made = read_type(c, form, closed=False)
    return None if made is None else value_of(made.whole)


MOST_PARTS = 300_000
"""The most parts of all types of a module, with names written out wherever they stand."""


def _count(c: Lowering, made: TypeSchema, span: Span) -> bool:
    """Count the parts of a type with names. Return whether the module may have so many. The first
    type beyond is reported. Raises Diagnostics."""
    if c.type_parts > MOST_PARTS:
        return False
    try:
        c.type_parts += count_parts(made, span)
    except Diagnostics:
        c.type_parts += MOST_PARTS // 10
        raise
    if c.type_parts > MOST_PARTS:
        words = (
            f"the types of this file have more than {MOST_PARTS:,} parts, with names written out"
        )
        raise bad(span, words, "a type may be a `table`, whose fields are checked by another one")
    return True


@define(eq=False)
class _Names:
    """The types that names stand for in a module."""

    c: Lowering
    closed: bool

    def find(self, name: str) -> TypeSchema | None:
        binding = self.c.names.find(name) or self.c.names.find_in_module(name)
        shape = binding.shape if type(binding) is Export else None
        if not isinstance(shape, TypeDefinition) or name in self.c.hidden:
            return None
        return shape.closed if self.closed else shape.open


def _list_known(c: Lowering) -> Iterator[str]:
    for name, binding in c.names.table.items():
        if type(binding) is Namespace:
            for inner, export in binding.exports.items():
                if isinstance(export.shape, TypeDefinition):
                    yield f"{name}.{inner}"
        elif type(binding) is Export and isinstance(binding.shape, TypeDefinition):
            yield name


def declare_types(c: Lowering, forms: list[ListForm]) -> list[tuple[Name, TypeDefinition | None]]:
    """Return the definitions of a module's types, which may refer to each other in any order."""
    named: dict[str, ListForm] = {}
    names: list[Name] = []
    for form in forms:
        name = form.items[1]
        if not c.is_bindable(name, "I expected the name of the type here"):
            continue
        assert isinstance(name, Name)
        names.append(name)
        if name.text in WORDS:
            title = f"`{name.text}` is a word for a type already"
            c.report("reserved-name", name.span, title, hint="choose another name")
        else:
            named.setdefault(name.text, form)
    keys = list(named)
    at = {key: index for index, key in enumerate(keys)}
    uses = [_find_uses(named[key].items[2], at) for key in keys]
    order, backs, _ = in_order(lambda index: uses[index], range(len(keys)))
    made = _Module(c, {keys[index] for _, index in backs})
    for index in order:
        made.read(keys[index], named[keys[index]])
    found = {key: made.definition(key, named[key]) for key in keys}
    return [(name, found.get(name.text)) for name in names]


def _find_uses(form: Form, at: dict[str, int]) -> list[int]:
    """Return the types of the module that a type mentions, by their indexes."""
    found: dict[int, None] = {}
    work: list[Form] = [form]
    while work:
        part = work.pop()
        word = part.text if type(part) is Name else getattr(part, "value", None)
        if isinstance(word, str):
            index = at.get(word.rstrip("[]"))
            if index is not None:
                found[index] = None
        elif isinstance(part, (VectorForm, ListForm)) and word_of(part) not in _WITHOUT_TYPES:
            work.extend(part.items)
        elif type(part) is TableForm and part.has_pairs:
            work.extend([value for _, value in part.entries()])
    return list(found)


_WITHOUT_TYPES = ("one-of", "schema")


_ANY = TypeSchema({})


@define(eq=False)
class _Module:
    """The types of a module. `circular` are the names that stand for references."""

    c: Lowering
    circular: set[str]
    types: dict[tuple[str, bool], TypeSchema] = field(factory=dict)
    """The types as they are written, by name and whether they are closed."""
    bodies: dict[tuple[str, bool], Schema] = field(factory=dict)
    """The definitions of the circular types, which are filled as they are read."""
    with_schema: set[str] = field(factory=set)

    def read(self, name: str, form: ListForm) -> None:
        """Read one type. The types that it mentions are read, or are references."""
        for closed in (True, False):
            known = [*_list_known(self.c), *{each for each, _ in self.types}]
            find = partial(self._find, _Names(self.c, closed))
            reader = TypeReader(find, self.c.load_schema, known, closed, name)
            made = _ANY
            try:
                made = reader.read(form.items[2])
            except Diagnostics as found:
                self.c.findings.extend(found.diagnostics if closed else ())
            self.types[name, closed] = made
            if reader.has_schema:
                self.with_schema.add(name)
            if name in self.circular:
                self._body(name, closed).update(made.part)

    def _find(self, names: _Names, name: str) -> TypeSchema | None:
        if name in self.circular:
            return self._reference(name, names.closed)
        return self.types.get((name, names.closed)) or names.find(name)

    def _body(self, name: str, closed: bool) -> Schema:
        return self.bodies.setdefault((name, closed), {})

    def _reference(self, name: str, closed: bool) -> TypeSchema:
        part = {"$ref": f"#/$defs/{name}"}
        return TypeSchema(part, {name: self._body(name, closed)})

    def definition(self, name: str, form: ListForm) -> TypeDefinition:
        """Return a type with all that it refers to. Reports one that cannot be used; it stands for
        any value."""
        doc = form.items[3] if len(form.items) > 3 else None
        if doc is not None and not (type(doc) is Literal and isinstance(doc.value, str)):
            self.c.report_malformed(form, doc, "I expected a string here")
        closed, open_ = self._complete(name, True), self._complete(name, False)
        try:
            is_small = _count(self.c, open_, form.items[2].span)
            if not is_small:
                closed = open_ = _ANY
            elif name in self.with_schema:
                check_schema(open_, form.items[2].span)
        except Diagnostics as found:
            self.c.findings.extend(found.diagnostics)
            closed = open_ = _ANY
        text = str(doc.value) if type(doc) is Literal else ""
        return TypeDefinition(name, closed, open_, form.span, text)

    def _complete(self, name: str, closed: bool) -> TypeSchema:
        own = self.types[name, closed]
        part, definitions = own.part, dict(own.definitions)
        if name in self.circular:
            part = {"$ref": f"#/$defs/{name}"}
            definitions[name] = self._body(name, closed)
        work = list(definitions)
        while work:
            key = work.pop()
            other = self.types.get((key, closed))
            if other is not None and definitions[key] is self.bodies.get((key, closed)):
                more = other.definitions.items()
                found = {each: body for each, body in more if each not in definitions}
                definitions |= found
                work += found
        return TypeSchema(part, definitions, own.alone)
