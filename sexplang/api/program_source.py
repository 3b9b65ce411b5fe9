"""Programs from text or files, with the Python functions that they may call."""

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from sexplang.api import argument_checks
from sexplang.api.python_values import Functions, bad_function, operation, primitive
from sexplang.guards.secrets import Concealment, conceal
from sexplang.machine import HIGHER, Suspended, state_of
from sexplang.package.package_data import text_at
from sexplang.pipeline import pipeline
from sexplang.primitives import OPERATIONS, PRIMITIVES
from sexplang.runtime import Permissions
from sexplang.runtime.files.missing_imports import with_imports
from sexplang.runtime.files.source_finder import make_finder
from sexplang.terms.classes.node import evolve
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.host.host_operations import HIDDEN_BY_OWN
from sexplang.terms.program import Program
from sexplang.terms.source import Source
from sexplang.terms.values.value import Operation, Primitive


def build(
    source: str | os.PathLike[str],
    *,
    effects: Functions | None = None,
    primitives: Functions | None = None,
    permissions: Permissions | None = None,
) -> Program:
    """Return the program of a text (str) or a file (path), with its imports.

    Names of `effects` are operations that the program may call without declaring them; a run takes
    the functions again. `primitives` become part of the program. A file imports from below its own
    folder, a text only what `permissions` let it read.

    The program of a file keeps its folder: a run starts there and may read it.

    Raises Diagnostics with every error. Warnings are in `program.warnings`.
    """
    argument_checks.by_name("effects", effects)
    argument_checks.by_name("primitives", primitives)
    find = make_finder(permissions_for(source, permissions))
    names = _register(effects, primitives)
    with Concealment():
        text = _source(source)
        try:
            made = pipeline.build(text, find, functions=names)
        except Diagnostics as found:
            if isinstance(source, str) and _FILE_NAME.fullmatch(source.strip()):
                raise _explain_path(source.strip(), found) from None
            if not isinstance(source, str):
                found = with_imports(found, _folder(source), find)
            raise _with_effects(found) from None
    return made if isinstance(source, str) else evolve(made, folder=_folder(source))


def check(
    source: str | os.PathLike[str],
    *,
    effects: Functions | None = None,
    primitives: Functions | None = None,
    permissions: Permissions | None = None,
) -> list[Diagnostic]:
    """Return what the command `check` finds, errors and warnings; empty for a good program.

    Nothing runs, nothing is raised.
    """
    try:
        program = build(source, effects=effects, primitives=primitives, permissions=permissions)
    except Diagnostics as found:
        return list(found.diagnostics)
    return conceal([*program.warnings, *pipeline.inspect(program).findings])


def permissions_for(source: object, given: Permissions | None) -> Permissions:
    """Return the permissions, and for a file those for its own folder."""
    argument_checks.permissions(given)
    allowed = given or Permissions()
    if isinstance(source, Suspended):
        source = state_of(source).setting.program
    if allowed.folder is not None:
        return allowed
    if isinstance(source, Program):
        return evolve(allowed, folder=source.folder)
    if isinstance(source, os.PathLike):
        return evolve(allowed, folder=_folder(source))
    return allowed


def _folder(path: os.PathLike[str]) -> str:
    return os.path.dirname(os.path.abspath(os.fspath(path)))


_FILE_NAME = re.compile(r"[^\n(){}\[\]]+\.(sexp|xml)")


def _explain_path(text: str, found: Diagnostics) -> Diagnostics:
    """Return the Diagnostics of a text that looks like the name of a file, with a hint."""
    hint = f"a str is program text; write Path({json.dumps(text, ensure_ascii=False)})"
    return Diagnostics([evolve(found.diagnostics[0], hint=hint)])


def _with_effects(found: Diagnostics) -> Diagnostics:
    """Return the Diagnostics, where a called name that nothing is near to may be an effect."""
    return Diagnostics([_with_effect(each) for each in found.diagnostics])


def _with_effect(found: Diagnostic) -> Diagnostic:
    span = found.span
    if found.code != "unbound-name" or found.hint is not None or span is None:
        return found
    name = span.text
    if span.source.text[span.start - 1 : span.start] != "(" or "." in name:
        return found
    hint = f"an effect of Python: build(…, effects={{{json.dumps(name)}: …}}), "
    return evolve(found, hint=f"{hint}or (define-effect ({name} text))")


def _source(source: str | os.PathLike[str]) -> Source:
    if isinstance(source, str):
        return Source("<string>", source)
    if isinstance(source, os.PathLike):
        argument_checks.place("the path of a program", source)
        path = os.fspath(source)
        return Source(path, text_at(path))
    raise argument_checks.wrong("a program", "a str, its text, or a path", source)


def _register(
    effects: Functions | None, primitives: Functions | None
) -> dict[str, Primitive | Operation]:
    fixed = OPERATIONS.keys() - HIDDEN_BY_OWN
    answers = {name: answer for name, answer in (effects or {}).items() if name not in fixed}
    for name in {**(primitives or {})}.keys() & answers.keys():
        raise bad_function(name, "it is an effect and a primitive", "give it as one of them")
    # A name that is written in the language is hidden; a primitive is frozen by its name.
    names = {**PRIMITIVES, **HIGHER, "error": None, "timer": None}
    check_names(answers, taken=names)
    check_names(primitives or {}, taken={**names, **dict.fromkeys(fixed)})
    return {
        **{name: operation(name, answer) for name, answer in answers.items()},
        **{name: primitive(name, function) for name, function in (primitives or {}).items()},
    }


def check_names(functions: Functions, *, taken: Mapping[str, Any]) -> None:
    """Raise Diagnostics for a name that is no symbol or has a meaning already."""
    from sexplang.compiler.forms.shapes import RESERVED
    from sexplang.reader import read
    from sexplang.terms.form import Name

    for name in functions:
        try:
            forms = read(Source(f"the name {name}", name))
        except Diagnostics:
            forms = ()
        if len(forms) != 1 or type(forms[0]) is not Name or "." in name:
            raise bad_function(name, "this is no name in a program", "write words with hyphens")
        if name in RESERVED or name in taken:
            raise bad_function(name, "every program has this name already", "choose another")
