"""A program that grows by pieces, and the redefinition of its names.

Law: nothing is changed in place. A piece that is refused or fails leaves no trace.

A piece may give a name another meaning. Functions of earlier pieces that use the name are compiled
again with it, so that they have the new meaning. Values keep the old one.
"""

from collections.abc import Iterable, Iterator, Mapping

from sexplang.compiler.forms.shapes import shape_of, splice
from sexplang.hosts.reference.meanings import read_definition, read_definitions
from sexplang.pipeline.pipeline import Builder, Find, Plans
from sexplang.terms.classes.node import define, evolve, field, frozen
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.form import Form, ListForm, Name, TableForm, VectorForm
from sexplang.terms.program import Export, Program
from sexplang.terms.source import Source
from sexplang.terms.template import TemplateNode
from sexplang.terms.values.value import Task


@define
class _Pieces(Builder):
    def _register(self, named: Task | TemplateNode) -> None:
        # A session may define a task again, like any name.
        self.tasks.pop(named.name, None)
        self.called.pop(named.name, None)
        super()._register(named)


@frozen(eq=False)
class _Function:
    """A function that a piece defined: its form, and the names in it."""

    form: Form
    mentions: frozenset[str]


@frozen(eq=False)
class GrowingProgram:
    """All pieces so far: their definitions, and the program that they make."""

    builder: Builder
    program: Program
    names: Mapping[str, Export] = field(factory=dict)
    functions: Mapping[str, _Function] = field(factory=dict)
    stale: tuple[tuple[str, Diagnostic], ...] = ()
    """Functions that keep the old meaning of the last piece's names, and why."""

    def extend(self, source: Source, forms: tuple[Form, ...]) -> "GrowingProgram":
        """Return the program with another piece. Raises Diagnostics."""
        grown = self._with(source, forms, {})
        again = self._dependents(grown, forms)
        if not again:
            return grown
        try:
            return self._with(source, forms, again)
        except Diagnostics as refused:
            why = refused.diagnostics[0]
            return evolve(grown, stale=tuple([(name, why) for name in again]))

    def _with(
        self, source: Source, forms: tuple[Form, ...], again: Mapping[str, _Function]
    ) -> "GrowingProgram":
        old = self.builder
        builder = evolve(
            old,
            tasks=dict(old.tasks),
            called=dict(old.called),
            units=list(old.units),
            functions=list(old.functions),
            # An imported file may have changed since.
            exports={name: old.exports[name] for name in old.exports if name.startswith("std/")},
            loading=[],
            findings=[],
            sources=[],
            python=list(old.python),
        )
        pieces = (*forms, *[each.form for each in again.values()])
        unit = builder.compile_unit(source, pieces, True, self.names)
        del builder.exports[source.name]
        builder.check_effects()
        made = builder.program()
        fresh = sorted(builder.units[len(self.program.units) :], key=lambda unit: unit.main)
        program = evolve(made, units=(*self.program.units, *fresh), inputs=unit.inputs)
        functions = {**self.functions, **_functions(forms)}
        return GrowingProgram(builder, program, {**self.names, **unit.exports}, functions)

    def _dependents(self, grown: "GrowingProgram", forms: Iterable[Form]) -> dict[str, _Function]:
        """Return the functions of earlier pieces in which a name means something else now.

        This includes functions that use such functions. A name that a `bind` only hides keeps its
        meaning.
        """
        binds = [form for form in splice(forms) if _rebinds(form)]
        bound = {made.name for form in binds for made in read_definitions(form)}
        work = [
            name
            for name, export in self.names.items()
            if name not in bound and not _same(export, grown.names[name])
        ]
        found: dict[str, _Function] = {}
        defined = set(_functions(forms)).union(work)
        while work:
            name = work.pop()
            for other, each in self.functions.items():
                if name in each.mentions and other not in found and other not in defined:
                    found[other] = each
                    work.append(other)
        return found


def begin_program(find: Find) -> GrowingProgram:
    """Return a program without pieces; `find` finds its imports."""
    return GrowingProgram(_Pieces(find, {}, {}, plan=Plans), Program((), (), (), {}))


def in_pieces(forms: Iterable[Form]) -> Iterator[tuple[Form, ...]]:
    """Split forms that are entered together into pieces: adjacent functions, which may call each
    other, are one piece."""
    group: list[Form] = []
    for form in forms:
        if _is_function(form):
            group.append(form)
            continue
        if group:
            yield tuple(group)
            group = []
        yield (form,)
    if group:
        yield tuple(group)


def _same(one: Export, other: Export) -> bool:
    # The value of a module is made anew for each piece.
    return one is other or (one.shape is not None and one.shape is other.shape)


def _is_function(form: Form) -> bool:
    meaning = read_definition(form)
    return meaning is not None and meaning.kind == "function" and not _rebinds(form)


def _rebinds(form: Form) -> bool:
    shape = shape_of(form)
    return shape is not None and shape.rebinds


def _target(form: Form) -> str:
    meaning = read_definition(form)
    return meaning.name if meaning is not None else ""


def _functions(forms: Iterable[Form]) -> dict[str, _Function]:
    """Return the functions that a piece defines, by name."""
    return {
        _target(form): _Function(form, frozenset(_names(form)))
        for form in splice(forms)
        if _is_function(form)
    }


def _names(form: Form) -> Iterator[str]:
    """Yield all symbols in a form, and the heads of paths."""
    work = [form]
    while work:
        form = work.pop()
        if isinstance(form, Name):
            yield form.text
            yield form.text.partition(".")[0]
        elif isinstance(form, (ListForm, VectorForm, TableForm)):
            work.extend(form.items)
