"""Values of a program's inputs from `name=value` arguments."""

import json
import os
import re
from collections.abc import Callable, Iterable

from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.program import INPUT_TYPES, Input
from sexplang.terms.values.text import text, to_source, type_words
from sexplang.terms.values.value import Fault, Value

ReadText = Callable[[str], str]
"""A function of a path, or `-` for standard input, to the text there. It raises Diagnostics."""


TO_THE_COMMAND = "add {given} to the command"
"""The way to give an input that is missing."""


def values_of(
    arguments: Iterable[str],
    inputs: tuple[Input, ...],
    read: ReadText,
    hint: str = TO_THE_COMMAND,
) -> dict[str, Value]:
    """Return the values by name. Raises Diagnostics with every misfit.

    `hint` is a text that tells how to give the input `{name}` as `{given}`.
    """
    declared = {each.name: each for each in inputs}
    values: dict[str, Value] = {}
    wrong: list[Diagnostic] = []
    given_already: set[str] = set()
    for argument in arguments:
        name, _, given = argument.partition("=")
        if name not in declared:
            wrong.append(_unknown(name, declared))
            continue
        if name in given_already:
            wrong.append(_twice(name))
            continue
        given_already.add(name)
        try:
            values[name] = _value(declared[name], given, read)
        except Diagnostics as found:
            wrong += found.diagnostics
    for each in inputs:
        if (
            each.required
            and each.name not in values
            and f"{each.name}=" not in _names_so_far(arguments)
        ):
            wrong.append(_missing(each, hint))
    if wrong:
        raise Diagnostics(wrong)
    return values


def _names_so_far(arguments: Iterable[str]) -> set[str]:
    return {argument.partition("=")[0] + "=" for argument in arguments}


def _value(declared: Input, given: str, read: ReadText) -> Value:
    if declared.type != "file":
        if given == "-":
            given = read("-")
        elif given.startswith("@"):
            given = read(given[1:])
    value = _convert(declared, given)
    wanted = declared.wants(value)
    if wanted is not None:
        raise _bad(declared, given, wanted)
    return value


def _convert(declared: Input, given: str) -> Value:
    if declared.type == "file":
        # The program reads from its own folder, the person types a path from theirs.
        return os.path.abspath(given)
    if declared.type == "string":
        return given
    try:
        return json_given(given)
    except Fault as fault:
        # The place in a document helps; that in a single number would be noise.
        notes = (fault.message,) if declared.type == "json" else ()
        raise _bad(declared, given, INPUT_TYPES[declared.type][0], *notes) from None


def json_given(text: str) -> Value:
    """Return the value of JSON on the command line.

    Raises Fault, also for a key that occurs twice in one table.
    """
    from sexplang.primitives import PRIMITIVES

    value = PRIMITIVES["json-parse"].function(text)
    key = _key_twice(text)
    if key is not None:
        raise Fault("bad-json", f"the key `{key[:40]}` occurs twice", hint="keep one of them")
    return value


_KEYS = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*")\s*(:?)|[{}]')


def _key_twice(text: str) -> str | None:
    """Return a key that occurs twice in one table of a JSON text, at any depth; None if none
    does."""
    tables: list[set[str]] = []
    for token in _KEYS.finditer(text):
        if token[0] == "{":
            tables.append(set())
        elif token[0] == "}":
            tables.pop()
        elif token[2]:
            key = json.loads(token[1]) if "\\" in token[1] else token[1][1:-1]
            if key in tables[-1]:
                return key
            tables[-1].add(key)
    return None


def _bad(declared: Input, given: str, wanted: str, *notes: str) -> Diagnostics:
    short = given if len(given) <= 60 else given[:59] + "…"
    return Diagnostics(
        [
            Diagnostic(
                "bad-input",
                f"the input `{declared.name}` takes {wanted}, not `{short}`",
                notes=notes,
                hint=f"write {declared.name}={_sample(declared)}",
            )
        ]
    )


def _twice(name: str) -> Diagnostic:
    return Diagnostic("bad-input", f"the input `{name}` is given twice", hint=f"give {name}= once")


def _missing(declared: Input, hint: str) -> Diagnostic:
    about = f": {declared.doc}" if declared.doc else ""
    return Diagnostic(
        "missing-input",
        f"the program needs the input `{declared.name}`{about}",
        hint=hint.format(name=declared.name, given=f"{declared.name}={_sample(declared)}"),
    )


def _unknown(name: str, declared: dict[str, Input]) -> Diagnostic:
    names = ", ".join(declared)
    return Diagnostic(
        "unknown-input",
        f"the program has no input called `{name}`",
        hint=f"its inputs are {names}" if names else "it declares no inputs (define-input)",
    )


def _sample(declared: Input) -> str:
    if declared.choices:
        from shlex import quote

        return quote(text(declared.choices[0]))
    schema = declared.misfit.schema if declared.misfit is not None else {}
    if schema.get("type") == "array":
        items = schema.get("items")
        kind = items.get("type") if isinstance(items, dict) else None
        return f"'[{_ITEMS.get(str(kind), _ITEMS['string'])}]'"
    return {
        "string": "TEXT, or @PATH for a file's text",
        "number": "1.5",
        "integer": "3",
        "boolean": "true",
        "json": "'{\"a\": 1}'",
        "file": "PATH",
    }[declared.type]


_ITEMS = {
    "string": '"a", "b"',
    "number": "1.5, 2",
    "integer": "1, 2",
    "boolean": "true, false",
    "object": '{"a": 1}',
    "array": "[1, 2]",
}
"""Samples of the items of a list, by their type."""


def describe_inputs(inputs: tuple[Input, ...]) -> list[tuple[str, str]]:
    """Return for `--help` the name and type of each input, and the rest about it."""
    return [(f"{each.name}=<{_type_of(each)}>", "  ".join(_facts(each))) for each in inputs]


def _type_of(declared: Input) -> str:
    """Return the type of an input as it is written; of a long one its kind."""
    if declared.misfit is None:
        return declared.type
    kind = declared.misfit.schema.get("type")
    if len(declared.misfit.written) <= _LONGEST:
        return declared.misfit.written
    return type_words({"type": kind}) if isinstance(kind, str) else declared.type


_LONGEST = 30
"""The characters of a type in the first column."""


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _facts(declared: Input) -> Iterable[str]:
    if declared.doc:
        yield declared.doc
    if declared.misfit is not None:
        fields = type_words(declared.misfit.schema)
        if fields != _type_of(declared):
            yield _shorten(fields, 60)
    if declared.choices:
        yield "[" + "|".join(text(choice) for choice in declared.choices) + "]"
    if declared.required:
        yield "[required]"
    elif declared.default is not None:
        yield f"[default: {to_source(declared.default)}]"
