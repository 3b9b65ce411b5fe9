"""Compilation of one file's forms to a Unit, and the operations that a Unit mentions.

Law: a form that does not follow its syntax is reported, never guessed. Law: nothing here evaluates.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from sexplang.compiler.compilation import CheckTemplate, LoadSchema, Lowering, run
from sexplang.compiler.forms.forms import BY_TYPE
from sexplang.compiler.forms.shapes import RESERVED
from sexplang.compiler.functions import flatten, split, statements
from sexplang.compiler.unit_interface import (
    Load,
    declare,
    exports,
    find_validators,
    functions_called,
    import_all,
    imports_of,
    recall,
    session_exports,
    sort,
)
from sexplang.terms.classes.node import fields, has
from sexplang.terms.core import Const, Forward, PerformOp
from sexplang.terms.diagnostic import Diagnostic, Diagnostics, Label
from sexplang.terms.form import Form
from sexplang.terms.macro import NewExpander
from sexplang.terms.program import Export, Function, Item, Unit
from sexplang.terms.source import Source, Span
from sexplang.terms.texts.nearest import did_you_mean
from sexplang.terms.values.value import Operation, Task

NEEDED = (
    *("list", "append", "merge", "equal?", "list?", "length", "nth", "drop"),
    *("table?", "has-key?", "get", ">="),
)
"""The primitives that special forms are lowered to."""

Layout = Callable[[], tuple[int, int]]


def compile_unit(
    forms: tuple[Form, ...],
    *,
    name: str,
    scope: Mapping[str, Export],
    load: Load,
    layout: Layout,
    main: bool,
    expander: NewExpander,
    is_library: bool = False,
    check_template: CheckTemplate = lambda template, where: (),
    load_schema: LoadSchema | None = None,
    before: Mapping[str, Export] | None = None,
    tools: Callable[[], Iterable[str]] = tuple,
) -> Unit:
    """Return the unit of a file's forms. Raises Diagnostics with every diagnostic if one is an
    error.

    `scope` is the prelude; it has at least the primitives of `NEEDED` and `raise`. `load(path,
    span)` gives the public names of an import; `span.text` is the path as written, `"a/b.sexp"` in
    quotes or `std/x`. When all imports are loaded, `layout()` gives the size of the program's
    environment and of its table of functions so far. `expander(words)` expands the macros of one
    file; no template rebinds a word in `words`. `check_template(template, where)` yields the flaws
    of a `defatom`; `where(part, raw)` gives spans. `load_schema(name, span)` gives the text of a
    schema that a `defatom` names. A main program and one that `is_library` may have inputs.

    `before` holds the names of earlier inputs of a session. The unit then exports all its names and
    may redefine names. When all imports are loaded, `tools()` gives the names of tasks' tools that
    no file like this one declares.
    """
    c = Lowering(scope, BY_TYPE, main=main or is_library, expander=expander(RESERVED))
    c.load_schema = load_schema
    recall(c, before or {})
    # Macros come with imports, so the rest is split into statements after them.
    imports = imports_of(c, forms)
    import_all(c, imports, load)
    c.size, c.first_function = layout()
    top = sort(c, split(c, forms, is_top=True))
    declare(c, top, check_template)
    whole = forms[0].span if forms else Span(Source(name, ""), 0, 0)
    items: list[Item] = [*flatten(run(statements(c, top.statements, 0, whole)))]
    if top.ends_in_declaration:
        items.append(Const(None, span=whole))
    validators: Mapping[Task, Function] = {}
    if not any(finding.severity == "error" for finding in c.findings):
        validators = find_validators(c, c.tasks.values())
    findings = tuple(sorted(c.findings, key=_place))
    if any(finding.severity == "error" for finding in findings):
        raise Diagnostics(findings)
    return Unit(
        name,
        tuple(items),
        tuple(function for function in c.functions if function is not None),
        exports(c, top.statements) if before is None else session_exports(c, top.statements),
        c.size,
        operations={each.name: each for each in c.operations.values()},
        tasks=tuple(c.tasks.values()),
        handled=frozenset(c.handled),
        performed=tuple(c.performed),
        inputs=tuple(c.inputs),
        warnings=findings,
        main=main,
        tools=functions_called(c, [*_tools(c.tasks.values()), *tools()]),
        validators=validators,
    )


def _tools(tasks: Iterable[Task]) -> list[str]:
    return [tool for task in tasks for tool in task.template.allowed_tools]


def _place(finding: Diagnostic) -> tuple[str, int]:
    span = finding.span
    return (span.source.name, span.start) if span is not None else ("", 0)


def operations_in(unit: Unit) -> Iterator[tuple[str, Span]]:
    """Yield each mention of an operation with its span."""
    work: list[Any] = [*unit.items, *unit.functions][::-1]
    while work:
        node = work.pop()
        if isinstance(node, (PerformOp, Forward)):
            yield node.operation, node.span
        if isinstance(node, Const):
            if isinstance(node.value, Operation):
                yield node.value.name, node.span
        elif isinstance(node, tuple):
            work.extend(reversed(node))
        elif has(type(node)) and type(node).__module__ in _NODES:
            work.extend([getattr(node, each.name) for each in reversed(fields(type(node)))])


_NODES = ("sexplang.terms.core", "sexplang.terms.program")


def unknown_effect(name: str, span: Span, known: Collection[str]) -> Diagnostic:
    """Return the error for an operation that is not in `known`."""
    return Diagnostic(
        "unknown-effect",
        f"nobody declares or handles an operation called `{name}`",
        (Label(span, "performed here"),),
        hint=did_you_mean(name, sorted(known), f"declare it: (define-effect ({name} …))"),
    )
