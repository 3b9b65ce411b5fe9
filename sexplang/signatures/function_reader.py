"""The reader of one marked function: its name, parameters, docstring and decorator."""

import ast
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from sexplang.signatures.annotations import TYPES, Annotations
from sexplang.signatures.imported_names import Origin, mark_of
from sexplang.signatures.places import Places
from sexplang.terms.python_file import PythonFunction, PythonKind, PythonParameter
from sexplang.terms.values.abbreviation import excerpt
from sexplang.terms.values.boundary import writable_value
from sexplang.terms.values.value import Fault

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

LONGEST_DOC = 10_000
"""The characters of a docstring: a model reads it with every call."""
MOST_PARAMETERS = 50
_LONGEST = 200
"""The characters of a type or a default that are shown."""

_REPLAYS = ("safe", "ask", "never")


def read_function(
    places: Places, annotations: Annotations, imports: Mapping[str, Origin], node: FunctionNode
) -> PythonFunction | None:
    """Return a function, or None after its errors were reported."""
    before = len(places.findings)
    report = _Reporter(places, node)
    kind, name, replay = _read_decorators(report, imports, node)
    if name.startswith("_"):
        report("a name that begins with `_` is private to its file", 'give it another: name="…"')
    is_async = isinstance(node, ast.AsyncFunctionDef)
    if is_async and kind == "primitive":
        report("a primitive gives its value at once, and this one is async", "make it an operation")
    if any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in _own_nodes(node)):
        report("it is a generator, which gives no value", "return a list")
    params = tuple(_read_parameters(report, annotations, node.args))
    doc = _read_doc(report, node)
    if len(places.findings) > before:
        return None
    return PythonFunction(
        name=name,
        attribute=node.name,
        kind=kind,
        params=tuple(sorted(params, key=lambda each: not each.is_required)),
        returns="" if node.returns is None else _shorten(places.span(node.returns).text),
        doc=doc,
        replay=replay,
        is_async=is_async,
        name_span=places.name_span(node),
        span=places.span(node),
        file=places.source.name,
    )


class _Reporter:
    """The errors of one function."""

    def __init__(self, places: Places, node: FunctionNode) -> None:
        self.places = places
        self.node = node

    def __call__(self, why: str, hint: str, at: ast.expr | ast.arg | None = None) -> None:
        span = self.places.name_span(self.node) if at is None else self.places.span(at)
        title = f"`{excerpt(self.node.name)}` cannot be imported: {why}"
        self.places.report("bad-function", title, span, hint)


def _read_decorators(
    report: _Reporter, imports: Mapping[str, Origin], node: FunctionNode
) -> tuple[PythonKind, str, str | None]:
    """Return the kind of a function, its name in programs, and what replay does with it."""
    kinds: list[Any] = []
    found: dict[str, Any] = {}
    for each in node.decorator_list:
        mark = mark_of(each, imports)
        if mark is None:
            continue
        if mark == "replay":
            found["replay"] = _read_replay(report, each)
            continue
        kinds.append(mark)
        if isinstance(each, ast.Call):
            found |= _read_keywords(report, mark, each)
    if len(kinds) > 1:
        report(f"it is marked as {' and '.join(kinds)}", "leave one: a tool is an operation, too")
    if found.get("replay") is not None and kinds[0] == "primitive":
        report("a primitive is always repeated in a replay", "leave `replay` out")
    name = found.get("name")
    return kinds[0], node.name if name is None else name, found.get("replay")


def _read_replay(report: _Reporter, mark: ast.expr) -> str | None:
    given = mark.args if isinstance(mark, ast.Call) else []
    return _read_decision(report, given[0] if len(given) == 1 else mark)


def _read_keywords(report: _Reporter, mark: str, call: ast.Call) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for extra in call.args:
        report(f"@{mark} takes no argument by position", 'write name="…"', extra)
    for each in call.keywords:
        if each.arg == "name" and _is_text(each.value):
            found["name"] = each.value.value  # type: ignore[attr-defined]
        elif each.arg == "name":
            report("`name` is not a literal text", 'write name="…"', each.value)
        elif each.arg == "replay":
            found["replay"] = _read_decision(report, each.value)
        else:
            report(
                f"@{mark} takes no `{excerpt(each.arg or '**')}`",
                "it takes `name` and `replay`",
                call,
            )
    return found


def _read_decision(report: _Reporter, node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and node.value in _REPLAYS:
        return str(node.value)
    report("`replay` is not one of its words", 'write "safe", "ask" or "never"', node)
    return None


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _read_parameters(
    report: _Reporter, annotations: Annotations, given: ast.arguments
) -> Iterator[PythonParameter]:
    count = len(given.args) + len(given.kwonlyargs)
    if count > MOST_PARAMETERS:
        words = f"it has {count:,} parameters, and may have {MOST_PARAMETERS}"
        report(words, "take a table, or a dataclass")
        return
    for each in given.posonlyargs:
        report(
            f"`{excerpt(each.arg)}` cannot be given by name",
            "take out the `/` of its parameters",
            each,
        )
    for star in (given.vararg, given.kwarg):
        if star is not None:
            stars = "*" if star is given.vararg else "**"
            hint = "take a list, or a table"
            report(f"`{stars}{excerpt(star.arg)}` takes any number of arguments", hint, star)
    for each, default in _with_defaults(given):
        written = "" if each.annotation is None else report.places.span(each.annotation).text
        misfit = None if each.annotation is None else annotations.misfit_of(each.annotation)
        if misfit is not None:
            typed = f"its parameter `{excerpt(each.arg)}` is of type `{misfit}`"
            report(f"{typed}, for which there is no schema", f"use {TYPES}", each.annotation)
        shown = ""
        if default is not None:
            shown = _shorten(report.places.span(default).text)
            _check_default(report, each.arg, default)
        is_text = written.strip("\"' ") == "str"
        span = report.places.span(each)
        yield PythonParameter(each.arg, _shorten(written), shown, default is None, is_text, span)


def _with_defaults(given: ast.arguments) -> list[tuple[ast.arg, ast.expr | None]]:
    """Return the parameters that are given by name, each with its default."""
    positional = [*given.posonlyargs, *given.args]
    missing: list[ast.expr | None] = [None] * (len(positional) - len(given.defaults))
    pairs = [*zip(positional, [*missing, *given.defaults], strict=True)]
    named = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return [*pairs[len(given.posonlyargs) :], *named]


def _check_default(report: _Reporter, name: str, default: ast.expr) -> None:
    try:
        writable_value(ast.literal_eval(default))
    except Fault as fault:
        report(
            f"the default of `{excerpt(name)}`: {fault.message}",
            "write None, and choose inside",
            default,
        )
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        words = f"the default of `{excerpt(name)}` is no literal, and is not computed to read it"
        report(words, "write None, and compute it inside of the function", default)


def _read_doc(report: _Reporter, node: FunctionNode) -> str:
    doc = ast.get_docstring(node) or ""
    if len(doc) > LONGEST_DOC:
        words = f"its docstring has {len(doc):,} characters, and may have {LONGEST_DOC:,}"
        report(words, "a model reads it with every call: say what it is for")
    try:
        doc.encode()
    except UnicodeEncodeError:
        report("its docstring holds half of a surrogate pair", "write a character")
    return doc


def _own_nodes(node: FunctionNode) -> Iterator[ast.AST]:
    """Yield the nodes of a function's body, without those of functions and classes in it."""
    work: list[ast.AST] = list(node.body)
    while work:
        each = work.pop()
        yield each
        if not isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            work += ast.iter_child_nodes(each)


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
