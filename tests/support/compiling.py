"""Text to a Unit or to its findings, with a prelude of a handful of names."""

from collections.abc import Mapping
from typing import Any

from support.core_dump import dump

from sexplang.compiler import compile_unit
from sexplang.expander import Expander
from sexplang.reader import read
from sexplang.terms.core import Const
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.program import Export, Unit
from sexplang.terms.source import Source, Span
from sexplang.terms.template import Param, Template
from sexplang.terms.values.value import Higher, Operation, Primitive, Task

NOWHERE = Span(Source("prelude", ""), 0, 0)


def _prelude() -> dict[str, Export]:
    def nothing(*arguments: Any) -> None:
        return None

    shapes: list[Any] = [
        Primitive(name, nothing, least, most)
        for name, least, most in [
            ("list", 0, None),
            ("append", 0, None),
            ("merge", 0, None),
            ("equal?", 2, 2),
            ("list?", 1, 1),
            ("number?", 1, 1),
            ("length", 1, 1),
            ("nth", 2, 2),
            ("drop", 2, 2),
            ("table?", 1, 1),
            ("has-key?", 2, 2),
            ("get", 2, 3),
            (">=", 1, None),
            ("+", 0, None),
            ("-", 1, None),
            ("<", 1, None),
            ("not", 1, 1),
            ("first", 1, 1),
            ("car", 1, 1),
            ("str", 0, None),
        ]
    ]
    shapes += [
        Higher("map", 2, None),
        Higher("abandon", 1, 1),
        Higher("raise", 1, 1),
        Operation("model", ("payload",), 1),
        Operation("ask-user", ("prompt", "choices"), 1, text=frozenset([0])),
        Operation("print", ("value",), 0, rest=True),
        Operation("run-script", ("command", "args", "input", "timeout"), 1),
    ]
    summarize = Template(
        "summarize", (Param("text"), Param("style", required=False), Param("words", default=50))
    )
    shapes.append(Task(summarize))
    return {shape.name: Export(shape.name, Const(shape, span=NOWHERE), shape) for shape in shapes}


PRELUDE = _prelude()


def compiled(
    text: str,
    *,
    main: bool = True,
    modules: Mapping[str, Mapping[str, Export]] | None = None,
    layout: tuple[int, int] = (1, 0),
) -> Unit:
    """The unit of a text; line 1 is empty, so that it is always the wrong place."""
    forms = read(Source("test.sexp", "\n" + text))
    return compile_unit(
        forms,
        name="test",
        scope=PRELUDE,
        load=lambda path, span: (modules or {})[path],
        layout=lambda: layout,
        expander=Expander,
        main=main,
    )


def core(text: str, **options: Any) -> str:
    """The core of a text, readable."""
    return dump(compiled(text, **options))


def findings(text: str, **options: Any) -> tuple[Diagnostic, ...]:
    """What is found in a text that is not a program; nothing if it is one."""
    try:
        compiled(text, **options)
    except Diagnostics as found:
        return found.diagnostics
    return ()


def complaint(text: str, **options: Any) -> tuple[str, str]:
    """The code of the only error in a text, and the part of the text it points to."""
    errors = [one for one in findings(text, **options) if one.severity == "error"]
    assert len(errors) == 1, errors
    span = errors[0].span
    assert span is not None
    return errors[0].code, span.text
