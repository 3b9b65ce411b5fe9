"""A program and a further piece of it to the program with that piece.

Law: nothing is changed in place: a piece that is refused, or whose run fails, leaves no trace.

Functions that were entered in earlier pieces are compiled again together with a piece that gives
another meaning to a name in them, so that they mean what the name means now. Values keep what they
were made of.
"""

from collections.abc import Iterable, Iterator, Mapping

from sexplang.hosts.language_server.scopes.declarations import flat, read_declaration, word_of
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
        # A session may define a task again, as it may any name.
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
    """All pieces so far: what they define, and the program that they make."""

    builder: Builder
    program: Program
    names: Mapping[str, Export] = field(factory=dict)
    functions: Mapping[str, _Function] = field(factory=dict)
    stale: tuple[tuple[str, Diagnostic], ...] = ()
    """Functions that still mean what the last piece defined anew, and why."""

    def extend(self, source: Source, forms: tuple[Form, ...]) -> "GrowingProgram":
        """The program with another piece. Raises Diagnostics if it is none."""
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
            # A file that is imported again may have changed.
            exports={name: old.exports[name] for name in old.exports if name.startswith("std/")},
            loading=[],
            findings=[],
            sources=[],
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
        """The functions of earlier pieces in which a name means something else now, directly or
        through one another. What is only hidden by a `bind` still means what it did."""
        bound = {_target(form) for form in flat(forms) if word_of(form) == "bind"}
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


def beginning(find: Find) -> GrowingProgram:
    """A program without pieces, whose imports `find` finds."""
    return GrowingProgram(_Pieces(find, {}, {}, plan=Plans), Program((), (), (), {}))


def in_pieces(forms: Iterable[Form]) -> Iterator[tuple[Form, ...]]:
    """Forms that are entered together to pieces: each is one by itself, but functions side by
    side may call each other."""
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
    # What stands for a module is made anew for each piece.
    return one is other or (one.shape is not None and one.shape is other.shape)


def _is_function(form: Form) -> bool:
    meaning = read_declaration(form)
    return meaning is not None and meaning.kind == "function" and word_of(form) == "define"


def _target(form: Form) -> str:
    meaning = read_declaration(form)
    return meaning.name if meaning is not None else ""


def _functions(forms: Iterable[Form]) -> dict[str, _Function]:
    """The functions that a piece defines, by name."""
    return {
        _target(form): _Function(form, frozenset(_names(form)))
        for form in flat(forms)
        if _is_function(form)
    }


def _names(form: Form) -> Iterator[str]:
    """All symbols in a form, and the heads of paths."""
    work = [form]
    while work:
        form = work.pop()
        if isinstance(form, Name):
            yield form.text
            yield form.text.partition(".")[0]
        elif isinstance(form, (ListForm, VectorForm, TableForm)):
            work.extend(form.items)
