"""The reader of Python files: text to the functions that it marks.

Law: nothing of the text is run, imported or evaluated. What cannot be read is reported.
"""

import ast
import re
from collections.abc import Mapping

from sexplang.signatures.annotations import Annotations
from sexplang.signatures.function_reader import FunctionNode, read_function
from sexplang.signatures.imported_names import Origin, list_imports, mark_of
from sexplang.signatures.places import Places
from sexplang.terms.classes.node import evolve
from sexplang.terms.diagnostic import Diagnostic, Diagnostics, Label
from sexplang.terms.python_file import PythonFile, PythonFunction
from sexplang.terms.source import Source, Span
from sexplang.terms.values.abbreviation import excerpt

MOST_CHARACTERS = 200_000

_COOKIE = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_UTF_8 = frozenset({"utf-8", "utf8", "u8", "utf-8-sig", "utf", "ascii", "us-ascii"})


def read_signatures(source: Source, imported: Span | None = None) -> PythonFile:
    """Return the marked functions of a file. Raises Diagnostics with everything that is wrong."""
    places = Places(source)
    tree = _parse(places)
    imports = list_imports(tree)
    annotations = Annotations(*_types_of(tree), imports)
    top = {id(node) for node in tree.body}
    found: list[PythonFunction] = []
    for node in _find_marked(tree, imports):
        if id(node) not in top:
            places.report(
                "bad-function",
                f"`{excerpt(node.name)}` is marked, and is not at the top level of the file",
                places.name_span(node),
                "move it out of what is around it: only the names of the file itself are imported",
            )
            continue
        made = read_function(places, annotations, imports, node)
        if made is not None:
            found.append(made)
    if not found and not places.findings:
        places.report(
            "bad-python",
            "this file marks no function",
            Span(source, 0, 0),
            "write @tool, @operation or @primitive above a `def`: from sexplang import tool",
        )
    _find_twins(places, found)
    if places.findings:
        raise Diagnostics([_with_import(each, imported) for each in places.findings])
    return PythonFile(source, tuple(found), imported)


def _parse(places: Places) -> ast.Module:
    """Return the syntax tree of a text. Raises Diagnostics."""
    source = places.source
    text, start = source.text, Span(source, 0, 0)
    if len(text) > MOST_CHARACTERS:
        words = f"this file has {len(text):,} characters, and may have {MOST_CHARACTERS:,}"
        raise _refuse(places, words, start, "move data into files, and code into packages")
    for line in re.split(r"\r\n|\r|\n", text[:1_000])[:2]:
        cookie = _COOKIE.match(line)
        if cookie is not None and cookie[1].lower().replace("_", "-") not in _UTF_8:
            words = f"this file says that it is {cookie[1]}, and it is read as UTF-8"
            raise _refuse(places, words, start, "save it as UTF-8, and take the line out")
    at = text.find("\0")
    if at >= 0:
        words = "this file has a null character"
        raise _refuse(places, words, Span(source, at, at + 1), "take it out")
    try:
        return ast.parse(text)
    except SyntaxError as error:
        line, column = error.lineno or 1, max((error.offset or 1) - 1, 0)
        at = min(places.offset(line, 0) + column, len(text))
        words = f"this is no Python: {error.msg}"
        raise _refuse(places, words, Span(source, at, at), "correct it") from None
    except (ValueError, RecursionError, MemoryError) as error:
        words = f"this file cannot be read: {str(error) or 'it is nested too deep'}"
        raise _refuse(places, words, start, "write it in smaller parts") from None


def _refuse(places: Places, title: str, span: Span, hint: str) -> Diagnostics:
    places.report("bad-python", title, span, hint)
    return Diagnostics(places.findings)


def _types_of(tree: ast.Module) -> tuple[Mapping[str, ast.ClassDef], Mapping[str, ast.expr]]:
    """Return the classes of a file, and the names that it gives to other expressions."""
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    aliases: dict[str, ast.expr] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            if isinstance(node.targets[0], ast.Name):
                aliases[node.targets[0].id] = node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            aliases[node.target.id] = node.value
    return classes, aliases


def _find_marked(tree: ast.Module, imports: Mapping[str, Origin]) -> list[FunctionNode]:
    """Return the functions under a decorator of this package, wherever they stand, in order."""
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and any(mark_of(each, imports) not in (None, "replay") for each in node.decorator_list)
    ]
    return sorted(found, key=lambda node: node.lineno)


def _find_twins(places: Places, found: list[PythonFunction]) -> None:
    first: dict[str, PythonFunction] = {}
    for each in found:
        if first.setdefault(each.name, each) is not each:
            places.report(
                "bad-function",
                f"two functions of this file are called `{excerpt(each.name)}`",
                each.name_span,
                'rename one, or write name="…" in its decorator',
            )


def _with_import(found: Diagnostic, imported: Span | None) -> Diagnostic:
    if imported is None:
        return found
    return evolve(found, labels=(*found.labels, Label(imported, "imported here")))
