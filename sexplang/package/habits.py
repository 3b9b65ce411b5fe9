"""Names of other languages, and what to write here: the rows of `stdlib/habits.txt`.

Only a name that is not bound is looked up, so a program without a mistake never reads the table.
"""

import re
from collections.abc import Container, Iterator
from functools import cache

from sexplang.package import package_data
from sexplang.terms.classes.node import frozen


@frozen
class Habit:
    """A row: names of other languages with one meaning.

    `hint` says what to write, `example` is a call and its value. `name` is the name here for the
    same arguments in the same order, else empty. A row of a call has a `pattern` of its operands,
    as in `((x xs) body…)`, and maybe a `template` that is filled with them. The operands of a form
    are no expressions.
    """

    names: tuple[str, ...]
    hint: str
    example: str
    name: str = ""
    pattern: str = ""
    template: str = ""
    is_form: bool = False


@cache
def rows() -> tuple[Habit, ...]:
    """Return all rows, in the order of the file."""
    blocks = package_data.read_shipped("stdlib/habits.txt").split("\n\n")
    lines = [[line for line in block.splitlines() if line[:1] != ";"] for block in blocks]
    return tuple([_row("\n".join(each)) for each in lines if any(each)])


def find_habits(name: str, known: Container[str]) -> tuple[Habit, ...]:
    """Return the rows of a name, the first that fits first; empty if there is none. `known` are the
    names of the prelude, which may be spelled otherwise."""
    table = _by_name()
    calls: tuple[Habit, ...] = ()
    for key in _keys(name):
        found = (*calls, *table.get(key, ()))
        if key in known and key != name:
            found = (*found, Habit((name,), f"write `{key}`", "", key))
        if any(not each.pattern for each in found):
            return found
        calls = found
        here = next((one for one in _spellings(key) if one in known), None)
        if here is not None and here != name:
            return (*calls, Habit((name,), f"write `{here}`", "", here))
    return calls


def find_label_hint(label: str) -> str | None:
    """Return what to write for an argument of another language with a label; None if none has
    it."""
    found = _by_name().get(f":{label}", ())
    return found[0].hint if found else None


def find_field_hint(field: str) -> str | None:
    """Return what to write for `x.field` where x has no fields: an item, or a method of another
    language."""
    if field.isdigit():
        return f"an item of a list is `(get xs {field})`"
    found = find_habits(f".{field}", ())
    renamed = next((each.name for each in found if each.name), "")
    if renamed:
        return f"write `({renamed} x)`, the value first"
    return next((each.hint for each in found if not each.pattern), found[0].hint if found else None)


def to_directives(text: str) -> str:
    """Return the template of another language with the directives of `format`: `%.2f` is
    `~,2f`, `%s` and `{}` are `~a`."""
    return re.sub(_PLACES, _directive, text)


_PLACES = (
    r"%%|\{\{|\}\}"
    r"|%[-+ 0]*\d*(?:\.(\d+))?([sdifgxr])"
    r"|\{\w*(?::[<>^]?\d*(,)?(?:\.(\d+))?f?\w?)?\}"
)


def _directive(found: re.Match[str]) -> str:
    if found[0] in ("%%", "{{", "}}"):
        return found[0][0]
    digits = found[1] or found[4]
    comma = ":" if found[3] else ""
    if digits is not None:
        return f"~,{digits}{comma}f"
    return "~,6f" if found[2] == "f" else f"~{comma}d" if comma else "~a"


def find_module(name: str) -> str:
    """Return the module of `std/` that defines a public name, or an empty text."""
    wanted = re.compile(rf"^\((?:define|defatom|define-syntax) \(?{re.escape(name)}[\s)]", re.M)
    for module in list_modules():
        if wanted.search(package_data.read_shipped(f"stdlib/{module}.sexp")):
            return f"std/{module}"
    return ""


def list_modules() -> tuple[str, ...]:
    """Return the names of the modules of `std/`."""
    files = package_data.names("stdlib")
    return tuple([each.removesuffix(".sexp") for each in files if each.endswith(".sexp")])


def normalize(name: str) -> str:
    """Return a name in words with hyphens: `toUpperCase` is `to-upper-case`."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name)
    return re.sub(r"(?<=[\w.])_(?=\w)", "-", apart).lower()


def _row(text: str) -> Habit:
    *lines, hint, example = text.splitlines()
    names, pattern = " ".join(lines), ""
    if names.startswith("(") and names.endswith(")"):
        words, _, pattern = names[1:-1].partition(" ")
        names, pattern = " ".join(words.split("|")) if words != "|>" else words, f"({pattern})"
    mark, _, meant = hint.partition(" ")
    if mark not in ("=", "->"):
        return Habit(tuple(names.split()), hint, example, pattern=pattern, is_form=bool(pattern))
    if not pattern:
        return Habit(tuple(names.split()), f"write `{meant}`", example, meant)
    why = meant.partition(": ")[0] if meant[0].isalpha() and ": " in meant else ""
    template, more = _split_template(meant.removeprefix(why).removeprefix(": "))
    hint = f"{why + ': ' if why else ''}write `{template}`{more}"
    return Habit(tuple(names.split()), hint, example, "", pattern, template, mark == "->")


def _split_template(text: str) -> tuple[str, str]:
    """Return the form that begins a text, and what is said behind it."""
    depth = 0
    for found in re.finditer(r'"(?:[^"\\]|\\.)*"|[(\[{]|[)\]}]|[^\s()\[\]{}"]+', text):
        depth += (found[0] in "([{") - (found[0] in ")]}")
        if depth == 0:
            end = found.end()
            return (text[:end], text[end:]) if text[end : end + 1] in ";:," else (text, "")
    return text, ""


@cache
def _by_name() -> dict[str, tuple[Habit, ...]]:
    table: dict[str, tuple[Habit, ...]] = {}
    for row in rows():
        for key in dict.fromkeys([normalize(name) for name in row.names]):
            table[key] = (*table.get(key, ()), row)
    return table


_NAMESPACES = {"clojure.string": "str", "string": "str", "s": "str", "clojure.set": "set"}
"""Aliases of namespaces, and the one that the table has."""

_OWNERS = frozenset(
    [
        *("array", "bt", "cl", "cl-ppcre", "collections", "copy", "console", "csv", "date"),
        *("datetime", "dict", "fs", "functools", "hashlib", "io", "itertools", "json", "list"),
        *("lodash", "map", "math", "np", "number", "object", "operator", "os", "os.path", "path"),
        *("pd", "process", "promise", "r", "random", "re", "set", "shutil", "statistics", "str"),
        *("string", "subprocess", "sys", "text", "time", "tuple", "uuid", "alexandria"),
        *("serapeum", "uiop", "_", "array.prototype", "string.prototype"),
        *("object.prototype", "datetime.datetime", "datetime.date", "builtins"),
        *("clojure.core", "pathlib", "asyncio", "textwrap"),
    ]
)
"""Modules and classes of other languages, whose members may be known by their name alone."""


def _keys(name: str) -> Iterator[str]:
    """Yield the keys of a name: itself, then without its namespace, class or module."""
    key = normalize(name)
    if re.fullmatch(r"[a-z]+[A-Z]\w*", name):
        yield f".{key}"
    yield key
    space, slash, member = key.rpartition("/")
    if slash and space and member:
        yield f"{_NAMESPACES.get(space, space)}/{member}"
        yield member
    owner, colon, member = key.rpartition(":")
    if colon and member:
        yield member
    owner, dot, member = key.rpartition(".")
    if dot and member and (owner in _OWNERS or not owner):
        yield f".{member.lstrip('-')}"
        if owner in ("str", "string", "string.prototype"):
            yield f"string-{member}"
        yield member.lstrip("-")
    if key.endswith(("-error", "-exception")):
        yield "exception"
    members = key.split(".")
    for at in range(1, len(members) if members[0] else 0):
        yield f"*.{'.'.join(members[at:])}"


def _spellings(key: str) -> Iterator[str]:
    """Yield the spellings of a name in this language."""
    yield key
    yield f"{key}?"
    yield key.rstrip("!*")
    if key.startswith(("is-", "is")):
        yield key.removeprefix("is").lstrip("-") + "?"
    if key.endswith("p"):
        yield key[:-1].rstrip("-") + "?"
    for prefix in ("list-", "vector-", "array-", "seq-", "table-", "prelude-", "text-"):
        if key.startswith(prefix):
            yield key.removeprefix(prefix)
    for prefix in ("str-", "text-"):
        if key.startswith(prefix):
            yield f"string-{key.removeprefix(prefix)}"
    yield f"string-{key}"
    yield f"re-{key.removeprefix('regex-').removeprefix('regexp-')}"
