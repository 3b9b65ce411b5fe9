"""The meanings of the names that a Python file gives to programs."""

from collections.abc import Mapping

from sexplang.hosts.reference.meanings import Meaning, Parameter
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.python_file import PythonFunction, PythonParameter
from sexplang.terms.source import Source


def list_python_names(source: Source) -> Mapping[str, Meaning]:
    """Return the functions of a Python file by name; none of a file with errors."""
    from sexplang.signatures import read_signatures

    try:
        file = read_signatures(source)
    except Diagnostics:
        return {}
    return {each.name: make_meaning(each) for each in file.functions}


def make_meaning(function: PythonFunction) -> Meaning:
    """Return the meaning of a Python function."""
    return Meaning(
        function.name,
        "function" if function.kind == "primitive" else "operation",
        function.name_span,
        function.span,
        tuple([_make_parameter(each) for each in function.params]),
        doc=function.doc,
    )


_CONSTANTS = {"None": "nil", "True": "true", "False": "false"}


def _make_parameter(given: PythonParameter) -> Parameter:
    default = None if given.is_required else _CONSTANTS.get(given.default, given.default)
    return Parameter(given.name, given.span, default, type=given.type)
