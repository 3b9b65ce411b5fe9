"""Template files as tasks, functions and core, with the schemas beside them.

The callees of a template that calls others are known when the whole program is. Until then its
function has its parameters and a reserved index in the table, so that importers can call it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from sexplang.compiler import RESERVED
from sexplang.terms.classes.node import define, evolve, field, frozen
from sexplang.terms.core import Call, CallKnown, Const, Core, Known, Local
from sexplang.terms.core import Path as PathInto
from sexplang.terms.diagnostic import Diagnostic, Diagnostics, Label, diagnose
from sexplang.terms.form import Literal, source_name
from sexplang.terms.program import Export, Function, Parameter, Unit
from sexplang.terms.schemas import TypeDefinition
from sexplang.terms.source import Source, Span
from sexplang.terms.template import (
    ArgumentNode,
    FunctionCallNode,
    ParameterPath,
    Template,
    TemplateNode,
)
from sexplang.terms.texts.nearest import did_you_mean
from sexplang.terms.values.value import Fault, Task


def read_schema(
    find: Callable[[str, str], tuple[Source, ...]], sources: list[Source], path: str, span: Span
) -> str:
    """Return the text of a schema, and add it to the sources. Raises Diagnostics."""
    if not path.endswith((".xsd", ".json")):
        hint = "write the schema itself, or the name of a file such as reply.xsd"
        raise diagnose("bad-schema", f"`{path}` is no .xsd file", span, hint)
    try:
        (source,) = find(path, span.source.name)
    except Fault as fault:
        hint = "the path is that from the file that names it"
        title = f"there is no `{path}` here"
        if fault.code != "import-not-found":
            title, hint = fault.message, fault.hint or hint
        raise diagnose(fault.code, title, span, hint) from None
    except ValueError:
        raise diagnose("bad-schema", f"`{path}` is a folder", span) from None
    if source not in sources:
        sources.append(source)
    return source.text


@frozen
class Library:
    """The content of a template file: atomic tasks, templates that call, calls to run."""

    tasks: tuple[Task, ...]
    functions: tuple[TemplateNode, ...]
    calls: tuple[FunctionCallNode, ...]


def library_of(
    source: Source,
    report: Callable[[Diagnostic], None],
    load_schema: Callable[[str, Span], str],
    load_module: Callable[[str, Span], Mapping[str, Export]],
    *,
    main: bool,
) -> Library:
    """Return the content of a template file.

    `report` receives warnings, `load_schema` returns the schemas that the file names, and
    `load_module` the exports of the modules that define its types. Raises Diagnostics, also for
    calls in a file that is not the `main` program.
    """
    from sexplang.templates import read_templates

    def read_type(written: str, span: Span, module: str | None) -> dict[str, Any]:
        exports = {} if module is None else load_module(module, span)
        shapes = {name: export.shape for name, export in exports.items()}
        types = {name: each for name, each in shapes.items() if isinstance(each, TypeDefinition)}
        return type_in(written, span, load_schema, types)

    parts = read_templates(source, report, load_schema, read_type)
    for part in parts:
        if not isinstance(part, FunctionCallNode) and part.name in RESERVED:
            raise diagnose(
                "reserved-name",
                f"`{part.name}` is a word of the language and cannot be the name of a task",
                part.span,
                f"choose another name, such as `{part.name.strip('!*')}-1`",
            )
        if not isinstance(part, FunctionCallNode):
            for name in (part.name, *_names(part)):
                _check_symbol(name, part.span)
        if isinstance(part, FunctionCallNode) and not main:
            raise diagnose(
                "effect-at-import",
                f"this file calls `{part.template}` while it is imported",
                part.span,
                "an import binds names: put the call into a <template>, or run the file",
            )
    return Library(
        tuple([Task(part) for part in parts if isinstance(part, Template)]),
        tuple([part for part in parts if isinstance(part, TemplateNode)]),
        tuple([part for part in parts if isinstance(part, FunctionCallNode)]),
    )


def type_in(
    written: str,
    span: Span,
    load: Callable[[str, Span], str] | None = None,
    types: Mapping[str, TypeDefinition] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the JSON Schema of a type in XML; `flight.json` is the schema in that file, and
    `types` are those that names stand for. Raises Diagnostics."""
    from sexplang.compiler.types.type_reader import TypeReader
    from sexplang.reader import read

    reader = TypeReader(
        lambda name: types[name].closed if name in types else None,
        None if load is None else lambda path, _: load(path, span),
        types,
    )
    written = re.sub(r"^\s*([^\s()\[\]{}\"]+\.json)\s*$", r'(schema "\1")', written)
    if re.fullmatch(r"\w*(\[\])*", written.strip()):
        return reader.read(Literal(written.strip(), span)).whole
    try:
        forms = read(Source("<returns>", written))
        if len(forms) == 1:
            return reader.read(forms[0]).whole
    except Diagnostics as found:
        first = found.diagnostics[0]
        if first.span is not None and first.span.source is span.source:  # of a file that it names
            raise
        raise diagnose("bad-schema", first.title, span, first.hint) from None
    hint = "write one, such as integer or {name: string}"
    raise diagnose("bad-schema", "this is not a type", span, hint)


def _names(part: Template | TemplateNode) -> Iterable[str]:
    return [each.name for each in part.params] if isinstance(part, Template) else part.params


def _check_symbol(name: str, span: Span | None) -> None:
    """Raise Diagnostics for a name that is no symbol of the language."""
    if name.isascii():
        return
    from sexplang.reader import read

    try:
        read(Source(name, name))
    except Diagnostics as found:
        first = found.diagnostics[0]
        title = f"nothing can be called `{name[:40]}`: {first.title}"
        raise diagnose("bad-name", title, span, first.hint) from None


@define
class TemplateCalls:
    """The functions and calls of template files, added to the program's `table` of functions."""

    table: list[Function]
    calls: tuple[FunctionCallNode, ...] = ()
    """The calls at the top of the file that is the main program."""
    _bodies: dict[int, FunctionCallNode] = field(factory=dict)

    def reserve(self, node: TemplateNode) -> Export:
        """Reserve an index in the table for a template that calls."""
        index, body = len(self.table), Const(None, span=node.span)
        params = tuple(map(Parameter, node.params))
        self.table.append(Function(index, node.name, params, None, body, node.span))
        self._bodies[index] = node.body
        return _of_function(self.table[index])

    def unit(self, library: Mapping[str, Export], slots: int, main: str | None) -> Unit | None:
        """Return a unit with the bodies of reserved functions, and the calls of the `main` program.

        `library` has all callees. Raises Diagnostics with every wrong call.
        """
        making = _CallLowering(library)
        for index, body in self._bodies.items():
            names = tuple([each.name for each in self.table[index].params])
            self.table[index] = evolve(self.table[index], body=making.core(body, names, 1))
        items = tuple([making.core(call, (), 0) for call in self.calls])
        making.found += _endless({self.table[at].name: body for at, body in self._bodies.items()})
        if making.found:
            raise Diagnostics(making.found)
        functions = tuple([self.table[index] for index in self._bodies])
        self._bodies, self.calls = {}, ()
        if main is None and not functions:
            return None
        name = main or functions[0].span.source.name
        exports = {each.name: _of_function(each) for each in functions}
        return Unit(name, items, functions, exports, slots, main=main is not None)


def _of_function(function: Function) -> Export:
    return Export(function.name, Known(0, function.index, span=function.span), function)


@define
class _CallLowering:
    library: Mapping[str, Export]
    found: list[Diagnostic] = field(factory=list)

    def core(self, call: FunctionCallNode, params: tuple[str, ...], depth: int) -> Core:
        """Return the core of a call, `depth` activations away from the program's environment."""
        arguments = tuple([self._argument(each, params, depth) for each in call.arguments])
        export = self.library.get(call.template)
        if export is None:
            self.found.append(_unknown(call, self.library))
            return Const(None, span=call.span)
        self.found.extend(_check_count(call, export.shape))
        if type(export.core) is Known:
            return CallKnown(depth, export.core.function, arguments, span=call.span)
        return Call(Const(export.shape, span=call.span), arguments, span=call.span)

    def _argument(self, argument: ArgumentNode, params: tuple[str, ...], depth: int) -> Core:
        value, span = argument.value, argument.span
        if isinstance(value, FunctionCallNode):
            return self.core(value, params, depth)
        if not isinstance(value, ParameterPath):
            return Const(value, span=span)
        # The enclosing environment has the first slot.
        place = Local(0, 1 + params.index(value.name), value.name, span=span)
        if not value.fields:
            return place
        return PathInto(place, value.fields, needed=True, span=span)


def _unknown(call: FunctionCallNode, library: Iterable[str]) -> Diagnostic:
    hint = "define it in this file, or import its file into the program too"
    return Diagnostic(
        "unbound-name",
        f"there is no template called `{call.template}`",
        (Label(call.span),),
        hint=did_you_mean(call.template, sorted(library), hint, "{}"),
    )


def _check_count(call: FunctionCallNode, shape: Any) -> Iterator[Diagnostic]:
    names, needed = _params(shape)
    count, least = len(call.arguments), max([at + 1 for at in needed], default=0)
    if least <= count <= len(names):
        return
    wanted = str(least) if least == len(names) else f"{least} to {len(names)}"
    noun = "argument" if len(names) == 1 else "arguments"
    args = "".join(f"<arg>{name}</arg>" for name in names)
    yield Diagnostic(
        "wrong-arity",
        f"`{call.template}` takes {wanted} {noun}, not {count}",
        (Label(call.span, f"{count} here"),),
        hint=f'write <call template="{call.template}">{args}</call>',
    )


def _endless(bodies: Mapping[str, FunctionCallNode]) -> list[Diagnostic]:
    """Return diagnostics for recursive templates: a template has no condition, so they never
    end."""
    callers: dict[str, list[str]] = {name: [] for name in bodies}
    left: dict[str, int] = {}
    for name, body in bodies.items():
        called = [each for each in _callees(body) if each in bodies]
        left[name] = len(called)
        for each in called:
            callers[each].append(name)
    ending = [name for name, count in left.items() if not count]
    for name in ending:
        del left[name]
        for caller in callers[name]:
            left[caller] -= 1
            if not left[caller]:
                ending.append(caller)
    return [
        Diagnostic(
            "endless-call",
            f"`{name}` never ends: it calls itself, or a template that does",
            (Label(bodies[name].span),),
            hint="what goes on until something is reached is written in a program, with loop",
        )
        for name in left
    ]


def _callees(call: FunctionCallNode) -> Iterator[str]:
    yield call.template
    for argument in call.arguments:
        if isinstance(argument.value, FunctionCallNode):
            yield from _callees(argument.value)


def _params(shape: Task | Function) -> tuple[list[str], list[int]]:
    """Return the names of the parameters, and the indexes of the required ones."""
    if isinstance(shape, Task):
        params = shape.template.params
        needed = [at for at, each in enumerate(params) if each.required and each.default is None]
        return [each.name for each in params], needed
    return [source_name(each.name) for each in shape.params], list(range(len(shape.params)))
