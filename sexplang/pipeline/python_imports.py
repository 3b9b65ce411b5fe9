"""Python files as modules: the exports of their functions, and the names that these may have."""

from collections.abc import Iterable

from sexplang.machine import HIGHER
from sexplang.primitives import OPERATIONS, PRIMITIVES
from sexplang.terms.core import Const
from sexplang.terms.diagnostic import Diagnostic, Diagnostics, Label
from sexplang.terms.program import Export
from sexplang.terms.python_file import PythonFile, PythonFunction
from sexplang.terms.source import Source, Span
from sexplang.terms.values.abbreviation import excerpt

LONGEST_NAME = 100


def read_python(
    source: Source, span: Span | None = None, others: Iterable[PythonFile] = ()
) -> PythonFile:
    """Return the functions of a Python file that is imported at a span, beside other files.

    Nothing of the file runs. Raises Diagnostics.
    """
    from sexplang.signatures import read_signatures

    file = read_signatures(source, span)
    taken = {each.name: other for other in others for each in other.functions}
    found = [
        Diagnostic(
            "bad-function",
            f"`{excerpt(each.attribute)}` cannot be imported: {why}",
            (Label(each.name_span), *([] if span is None else [Label(span, "imported here")])),
            hint='choose another name: name="…" in its decorator',
        )
        for each in file.functions
        for why in _list_flaws(each, taken)
    ]
    if found:
        raise Diagnostics(found)
    return file


def _list_flaws(function: PythonFunction, taken: dict[str, PythonFile]) -> Iterable[str]:
    """Yield what is wrong with the name of a function."""
    name = function.name
    if not _is_name(name):
        yield f"`{excerpt(name)}` is no name in a program"
    elif _has_meaning(function):
        yield f"every program has the name `{name}` already"
    elif name in taken:
        yield f"{taken[name].source.name} has a `{name}`, too"


def _is_name(name: str) -> bool:
    """Return whether a text is one name that binds, without a module."""
    from sexplang.reader import read
    from sexplang.terms.form import Name

    if len(name) > LONGEST_NAME:
        return False
    try:
        forms = read(Source("name", name))
    except Diagnostics:
        return False
    return len(forms) == 1 and type(forms[0]) is Name and forms[0].text == name and "." not in name


def _has_meaning(function: PythonFunction) -> bool:
    from sexplang.compiler.forms.shapes import RESERVED
    from sexplang.tasks.turns.tools import BUILT_IN

    tools = BUILT_IN if function.kind == "tool" else ()
    # A primitive is frozen by its name; another function may hide one of the prelude.
    prelude = (PRIMITIVES, HIGHER) if function.kind == "primitive" else ()
    places = (RESERVED, OPERATIONS, tools, ("error", "timer"), *prelude)
    return any(function.name in each for each in places)


def export_functions(file: PythonFile) -> dict[str, Export]:
    """Return the exports of a Python file."""
    return {
        each.name: Export(each.name, Const(each.procedure, span=each.name_span), each.procedure)
        for each in file.functions
    }
