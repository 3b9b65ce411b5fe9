"""Forms of one file to a Unit: imports first, then names resolved and special forms lowered.

Law: a form that does not follow its syntax is reported, never guessed. Law: nothing here
evaluates.
"""

from collections.abc import Callable, Mapping

from sexplang.compiler.atoms import CheckTemplate, no_check
from sexplang.compiler.bodies import Definition, split, statements
from sexplang.compiler.forms import BY_TYPE
from sexplang.compiler.imports import Load, Top, declare, import_all, sort
from sexplang.compiler.scope import Named, Place, Signature
from sexplang.compiler.state import Lowering, run
from sexplang.terms.core import Const, Known, Local
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.form import Form
from sexplang.terms.program import Export, Item, Unit
from sexplang.terms.source import Source, Span
from sexplang.terms.value import Operation, Task

NEEDED = (
    *("list", "append", "merge", "equal?", "list?", "length", "nth", "drop"),
    *("table?", "has-key?", "get", ">="),
)
"""The primitives that special forms become."""

Layout = Callable[[], tuple[int, int]]

_NOWHERE = Span(Source("a declaration", ""), 0, 0)


def compile_unit(
    forms: tuple[Form, ...],
    *,
    name: str,
    scope: Mapping[str, Export],
    load: Load,
    layout: Layout,
    main: bool,
    check_template: CheckTemplate = no_check,
) -> Unit:
    """The unit that a file's forms make. Raises Diagnostics: every finding, if one is an error.

    `scope` is the prelude; it has at least the primitives of `NEEDED` and `raise`.
    `load(path, span)` gives the public names of what an import names; `span.text` is the path
    as written, `"a/b.sexp"` in quotes or `std/x`. When all imports are loaded, `layout()` gives
    the size of the program's environment and of its table of functions so far.
    `check_template(template, where)` finds what is wrong with a `defatom`; `where(part, raw)`
    tells it the place.
    """
    c = Lowering(scope, BY_TYPE, main=main)
    top = sort(c, split(c, forms))
    import_all(c, top.imports, load)
    c.size, c.first_function = layout()
    declare(c, top, check_template)
    whole = forms[0].span if forms else Span(Source(name, ""), 0, 0)
    items: list[Item] = run(statements(c, top.statements, 0, whole))
    if top.ends_in_declaration:
        items.append(Const(None, span=whole))
    findings = tuple(sorted(c.findings, key=_place))
    if any(finding.severity == "error" for finding in findings):
        raise Diagnostics(findings)
    return Unit(
        name,
        tuple(items),
        tuple(function for function in c.functions if function is not None),
        _exports(c, top),
        c.size,
        operations=c.operations,
        tasks=tuple(c.tasks.values()),
        handled=frozenset(c.handled),
        performed=tuple(c.performed),
        inputs=tuple(c.inputs),
        warnings=findings,
        main=main,
    )


def _place(finding: Diagnostic) -> tuple[str, int]:
    span = finding.span
    return (span.source.name, span.start) if span is not None else ("", 0)


def _exports(c: Lowering, top: Top) -> dict[str, Export]:
    """The public names of the module: those that do not begin with `_`."""
    declared: dict[str, Operation | Task] = {**c.operations, **c.tasks}
    exports = {
        name: Export(name, Const(value, span=_NOWHERE), value)
        for name, value in declared.items()
        if not name.startswith("_")
    }
    for item in top.statements:
        if not isinstance(item, Definition) or item.name.text.startswith("_"):
            continue
        name = item.name.text
        binding = c.table.get(name)
        if isinstance(binding, Named):
            function = c.functions[binding.function - c.first_function]
            assert function is not None
            core = Known(0, binding.function, span=function.span)
            exports[name] = Export(name, core, function)
        elif isinstance(binding, Place):
            shape = None if isinstance(binding.shape, Signature) else binding.shape
            slot = Local(0, binding.index, name, span=item.name.span)
            exports[name] = Export(name, slot, shape)
    return exports
