"""Python files are read as texts: nothing of them runs, and what is wrong is said."""

import ast
import json
import os
from time import perf_counter

import pytest
from support.command import sexplang

from sexplang.pipeline.python_imports import read_python
from sexplang.signatures import python_reader
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.source import Source

HEAD = "from sexplang import operation, primitive, replay, tool\n"
TYPES = """
import datetime as dt
import typing as t
from collections.abc import Mapping
from dataclasses import dataclass
from elsewhere import Seat
from typing import Annotated, Literal, Optional, TypedDict

Language = Literal["en", "de"]

@dataclass
class Flight:
    origin: str

class Row(TypedDict):
    id: int
"""


def _read(text):
    return read_python(Source("tools.py", text)).functions


def _refuse(text):
    """The diagnostics of a text that is refused, as (code, title)."""
    with pytest.raises(Diagnostics) as raised:
        _read(text)
    return [(each.code, each.title) for each in raised.value.diagnostics]


def test_the_signature_of_a_function():
    """Its name, kind, parameters with types and defaults, docstring and word on replay."""
    (function,) = _read(
        HEAD + "@tool(name='look-up', replay='safe')\n"
        "async def look_up(word: str, *, n: int, language: 'str' = \"é\") -> str:\n"
        '    """Looks a word up.\n\n    Slowly.\n    """\n'
    )
    params = [(each.name, each.type, each.default, each.is_text) for each in function.params]

    assert ("look-up", "look_up", "tool") == (function.name, function.attribute, function.kind)
    assert [
        ("word", "str", "", True),
        ("n", "int", "", False),
        ("language", "'str'", '"é"', True),
    ] == params
    assert "Looks a word up.\n\nSlowly." == function.doc
    assert ("safe", True, "str") == (function.replay, function.is_async, function.returns)
    assert "look_up" == function.name_span.text


@pytest.mark.parametrize(
    "text",
    [
        "import sexplang\n@sexplang.tool\ndef f(x): ...",
        "import sexplang as s\n@s.operation()\ndef f(x): ...",
        "from sexplang import tool as t\n@t\ndef f(x): ...",
        "from sexplang import *\n@tool\ndef f(x): ...",
        "from __future__ import annotations\n" + HEAD + "@primitive\ndef f(x: str): ...",
        HEAD + "import functools\n@functools.cache\n@primitive\ndef f(x): ...",
        HEAD + "@replay('never')\n@operation\ndef f(x): ...",
        HEAD.replace("\n", "\r\n") + "@tool\r\ndef f(x):\r\n    return 1\r\n",
        "# -*- coding: utf-8 -*-\n" + HEAD + "@tool\ndef f(x): ...",
        HEAD + "@tool\ndef f(x):\n    def inner():\n        yield 1\n    return list(inner())",
    ],
)
def test_ways_to_mark_a_function(text):
    """The decorators are known by what the file imports, under any name."""
    assert ["f"] == [each.name for each in _read(text)]


@pytest.mark.parametrize(
    "hint",
    [
        "str | None",
        "Optional[int]",
        "t.Union[str, int]",
        "list[dict[str, Flight]]",
        "Mapping[str, list[Row]]",
        "Language",
        "Literal['a', -1, True, None]",
        "Annotated[str, 'what it is']",
        "tuple[int, ...]",
        "dt.date",
        "Seat",
        "'Flight | None'",
        "t.Any",
        "object",
    ],
)
def test_types_that_are_read(hint):
    """Also those of classes and names of the file, and of classes of elsewhere."""
    assert _read(f"{TYPES}{HEAD}@tool\ndef f(x: {hint}): ...")[0].params[0].type == hint


HOSTILE_TYPES = {
    "set": "set",
    "bytes": "bytes",
    "t.Callable": "t.Callable",
    "Flights": "Flights",
    "open('marker', 'w')": "open('marker', 'w')",
    "(lambda: 1)()": "(lambda: 1)()",
    "'open(1)'": "open(1)",
    "'1 +'": "'1 +'",
    "dict[int, str]": "dict[int, str]",
    "list[int, str]": "list[int, str]",
    "Literal[x]": "x",
    "Plain": "Plain",
    "Round": "Round",
    "[int]": "[int]",
    "5": "5",
    "list[" * 40 + "int" + "]" * 40: "one inside of more than thirty others",
}


@pytest.mark.parametrize("hint", HOSTILE_TYPES)
def test_types_that_cannot_be_read(hint):
    """They are named, and none is evaluated."""
    text = f"{TYPES}class Plain: ...\nRound = list['Round']\n{HEAD}@tool\ndef f(x: {hint}): ..."
    words = f"its parameter `x` is of type `{HOSTILE_TYPES[hint]}`"

    assert [
        ("bad-function", f"`f` cannot be imported: {words}, for which there is no schema")
    ] == _refuse(text)


FUNCTIONS = {
    "@tool\ndef let(x): ...": "every program has the name `let` already",
    "@tool(name='if')\ndef f(x): ...": "every program has the name `if` already",
    "@operation(name='model')\ndef f(x): ...": "every program has the name `model` already",
    "@tool(name='read_file')\ndef f(x): ...": "every program has the name `read_file` already",
    "@primitive\ndef first(x): ...": "every program has the name `first` already",
    "@tool(name='a b')\ndef f(x): ...": "`a b` is no name in a program",
    "@tool(name='')\ndef f(x): ...": "`` is no name in a program",
    "@tool(name='a.b')\ndef f(x): ...": "`a.b` is no name in a program",
    "@tool(name='nil')\ndef f(x): ...": "`nil` is no name in a program",
    "@tool(name='(f)')\ndef f(x): ...": "`(f)` is no name in a program",
    f"@tool(name='{'n' * 101}')\ndef f(x): ...": f"`{'n' * 39}…` is no name in a program",
    "@tool\ndef _f(x): ...": "a name that begins with `_` is private to its file",
    "@tool(name=NAME)\ndef f(x): ...": "`name` is not a literal text",
    "@tool('f')\ndef f(x): ...": "@tool takes no argument by position",
    "@tool(doc='f')\ndef f(x): ...": "@tool takes no `doc`",
    "@tool(**{})\ndef f(x): ...": "@tool takes no `**`",
    "@tool(replay='often')\ndef f(x): ...": "`replay` is not one of its words",
    "@replay(WORD)\n@tool\ndef f(x): ...": "`replay` is not one of its words",
    "@primitive(replay='safe')\ndef f(x): ...": "a primitive is always repeated in a replay",
    "@tool\n@operation\ndef f(x): ...": "it is marked as tool and operation",
    "@primitive\nasync def f(x): ...": "a primitive gives its value at once, and this one is async",
    "@tool\ndef f(x): yield x": "it is a generator, which gives no value",
    "@tool\nasync def f(x):\n  if x: yield from x": "it is a generator, which gives no value",
    "@tool\ndef f(x, /): ...": "`x` cannot be given by name",
    "@tool\ndef f(*x): ...": "`*x` takes any number of arguments",
    "@tool\ndef f(**x): ...": "`**x` takes any number of arguments",
    "@tool\ndef f(x=open('marker', 'w')): ...": "the default of `x` is no literal",
    "@tool\ndef f(x=WORDS): ...": "the default of `x` is no literal",
    "@tool\ndef f(*, x=[c for c in 'ab']): ...": "the default of `x` is no literal",
    "@tool\ndef f(x={1}): ...": "the default of `x`: a Python set is not a value here",
    "@tool\ndef f(x='\\ud800'): ...": "the default of `x`: ",
    "@tool\ndef f(x):\n  '''" + "d" * 10_001 + "'''": "its docstring has 10,001 characters",
    f"@tool\ndef f({', '.join(f'x{n}' for n in range(51))}): ...": "it has 51 parameters",
    "@tool\ndef f(x):\n  '\\ud800'": "its docstring holds half of a surrogate pair",
}


@pytest.mark.parametrize("text", FUNCTIONS, ids=lambda text: text[:40])
def test_functions_that_cannot_be_imported(text):
    """Each is named with what is wrong, at its place in the Python file."""
    ((code, title), *more) = _refuse(HEAD + text)

    assert ("bad-function", []) == (code, more)
    assert FUNCTIONS[text] in title


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("@tool\ndef f(x): ...\n@tool\ndef f(y): ...", "two functions of this file are called `f`"),
        ("if True:\n  @tool\n  def f(x): ...", "`f` is marked, and is not at the top level"),
        ("class A:\n  @tool\n  def f(self): ...", "`f` is marked, and is not at the top level"),
    ],
)
def test_functions_that_have_no_place(text, title):
    """A name is that of one function, at the top level of the file."""
    ((code, said),) = _refuse(HEAD + text)

    assert "bad-function" == code and title in said


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("", "this file marks no function"),
        ("def f(x): ...", "this file marks no function"),
        ("from other import tool\n@tool\ndef f(x): ...", "this file marks no function"),
        ("def f(:", "this is no Python: "),
        ("x = 1\0", "this file has a null character"),
        ("# coding: latin-1\n", "this file says that it is latin-1, and it is read as UTF-8"),
        ("#!python\n# vim: set fileencoding=utf-7 :\n", "this file says that it is utf-7"),
        ("(" * 300, "this is no Python: too many nested parentheses"),
        ("-" * 100_000 + "1", "this file cannot be read: "),
        ("x = " + "9" * 5_000, "this "),
        ("#" * 200_001, "this file has 200,001 characters, and may have 200,000"),
    ],
    ids=lambda text: text[:30],
)
def test_files_that_cannot_be_read(text, title):
    """The file is refused as a whole."""
    ((code, said),) = _refuse(text)

    assert "bad-python" == code and said.startswith(title)


def test_every_error_of_a_file_is_told():
    """Not the first alone."""
    found = _refuse(f"{HEAD}@tool\ndef f(x: set, y=1+1): ...\n@tool\ndef g(*x): ...")

    assert 3 == len(found)


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"A{n} = A{n + 1} | list[A{n + 1}]" for n in range(28))
        + f"\nA28 = str\n{HEAD}@tool\ndef f(x: A0): ...",
        f"{HEAD}@tool\ndef f({','.join(f'é{n}' for n in range(30_000))}): ...",
        HEAD + "@tool\ndef f(x): ...\n" * 8_000,
        f"{HEAD}@tool\ndef f(x: {' | '.join(['int'] * 25_000)}): ...",
        f"{HEAD}@tool\ndef f(x={'[' * 90}{']' * 90}): ...",
        f"x = {'(' * 150}{'{' * 49}",
        "x = " + "lambda: " * 20_000 + "1",
        f"x = {'f(' * 199}{')' * 199}",
        "if x:\n" + "".join(f"{' ' * n}if x:\n" for n in range(1, 99)) + " " * 99 + "pass",
    ],
    ids=lambda text: text[-20:],
)
def test_reading_takes_time_in_proportion(text):
    """Whatever the text: names for types in each other, long lines, many functions."""
    since = perf_counter()
    try:
        _read(text)
    except Diagnostics as refused:
        assert {each.code for each in refused.diagnostics} <= {"bad-python", "bad-function"}

    assert perf_counter() - since < 8


HOSTILE = f"""
import pathlib
pathlib.Path("MARKER").touch()
{HEAD}
class Evil(metaclass=type(pathlib.Path("MARKER").touch())): ...

@tool(name=str(pathlib.Path("MARKER").touch()))
def one(x: pathlib.Path("MARKER").touch() = pathlib.Path("MARKER").touch()): ...

@(lambda f: pathlib.Path("MARKER").touch() or f)
@operation
def two(x: int = 1) -> pathlib.Path("MARKER").touch():
    '''Does {{x}}.'''
"""


def test_nothing_of_a_hostile_file_runs(tmp_path):
    """Not with `check` of a file or of the program, `doc`, `--help`, or a refused `run`."""
    marker = tmp_path / "marker"
    (tmp_path / "tools.py").write_text(HOSTILE.replace("MARKER", str(marker)))
    good = HOSTILE.replace("MARKER", str(marker)).partition("@tool(name")
    rest = "@(lambda" + good[2].partition("@(lambda")[2]
    (tmp_path / "fair.py").write_text(good[0] + rest)
    (tmp_path / "main.sexp").write_text('(import "tools.py") (one 1)')
    (tmp_path / "fair.sexp").write_text('(import "fair.py") (two 1)')
    (tmp_path / "fair.test.sexp").write_text(
        '(test "two" file: "fair.sexp" script: [[(two 1) 5]] expect: 5)'
    )
    statuses = [
        sexplang(*words, cwd=tmp_path).returncode
        for words in (
            ("check", "main.sexp", "tools.py"),
            ("check", "fair.sexp", "fair.py", "fair.test.sexp"),
            ("run", "main.sexp", "--allow-python", "tools.py"),
            ("run", "fair.sexp"),
            ("run", "fair.sexp", "--allow-read", ".", "--allow-run", "fair.py"),
            ("run", "fair.sexp", "--help"),
            ("doc", "tools.py"),
            ("doc", "fair.py"),
            ("test", "fair.test.sexp"),
        )
    ]

    assert [1, 0, 1, 1, 1, 0, 1, 0, 0] == statuses
    assert not marker.exists()


def test_the_reader_calls_nothing_that_runs_text():
    """It parses, and has neither `exec`, `eval`, `compile` nor importlib."""
    folder = python_reader.__file__.rpartition("/")[0]
    names = set()
    for name in ("annotations", "function_reader", "imported_names", "places", "python_reader"):
        with open(f"{folder}/{name}.py") as file:
            for node in ast.walk(ast.parse(file.read())):
                names |= {getattr(node, "id", ""), getattr(node, "module", "") or ""}
                names |= {each.name for each in getattr(node, "names", ()) if hasattr(each, "name")}

    assert names.isdisjoint({"exec", "eval", "compile", "importlib", "__import__", "runpy"})


def test_check_says_what_a_program_needs(tmp_path):
    """The permission, as it is typed from here, and as data."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a/tools.py").write_text(HEAD + "@tool\ndef f(x: str): ...")
    (tmp_path / "a/main.sexp").write_text('(import "tools.py") (f "tea")')
    said = sexplang("check", "a/main.sexp", cwd=tmp_path)
    data = json.loads(sexplang("check", "--json", "a/main.sexp", cwd=tmp_path).stdout)

    assert "a/main.sexp: needs --allow-python a/tools.py for the functions that it imports\n" == (
        said.stdout
    )
    (need,) = data["files"]["a/main.sexp"]["needs"]
    assert ("--allow-python", "a/tools.py") == (need["option"], need["name"])


def test_an_error_of_a_file_has_both_places(tmp_path):
    """That in the Python file, and that of the import."""
    (tmp_path / "tools.py").write_text(HEAD + "@tool\ndef f(*x): ...")
    (tmp_path / "main.sexp").write_text('\n(import "tools.py")')
    said = sexplang("check", "main.sexp", cwd=tmp_path).stderr

    assert "tools.py:3:8" in said and "main.sexp:2:9" in said and "imported here" in said


def test_a_tool_of_a_file_is_known_to_check(tmp_path):
    """A task may allow it; one that is not there is unknown."""
    (tmp_path / "tools.py").write_text(HEAD + "@tool\ndef f(x: str): ...\n@operation\ndef g(): ...")
    task = '(import "tools.py") (defatom t (allowed_tools {}) (instructions "Go.")) (t)'
    (tmp_path / "main.sexp").write_text(task.format("f"))
    (tmp_path / "odd.sexp").write_text(task.format("g"))

    assert "unknown-tool" not in sexplang("check", "main.sexp", cwd=tmp_path).stderr
    assert "unknown-tool" in sexplang("check", "odd.sexp", cwd=tmp_path).stderr


def test_two_files_with_one_name(tmp_path):
    """A name is that of one function in a program: performers and frozen runs go by it."""
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(HEAD + "@tool\ndef f(x: str): ...")
    (tmp_path / "main.sexp").write_text('(import "a.py" as: a) (import "b.py" as: b) (a.f "x")')
    said = sexplang("check", "main.sexp", cwd=tmp_path).stderr

    assert "error[bad-function]: `f` cannot be imported: a.py has a `f`, too" in said


@pytest.mark.parametrize("kind", ["link", "folder", "pipe", "large", "latin"])
def test_what_is_no_file_of_its_own(tmp_path, kind):
    """A link out of the folder, a folder, a pipe, a large file and one that is not UTF-8."""
    path, home = tmp_path / "home/tools.py", tmp_path / "home"
    home.mkdir()
    text = HEAD + "@tool\ndef f(x): ..."
    if kind == "link":
        (tmp_path / "real.py").write_text(text)
        path.symlink_to("../real.py")
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.write_bytes(b"#" * 10_000_001 if kind == "large" else "# é".encode("latin-1"))
    (home / "main.sexp").write_text('(import "tools.py") (f 1)')
    done = sexplang("run", "home/main.sexp", "--allow-python", path, cwd=tmp_path)
    code = "not-text" if kind == "latin" else "import-denied"

    assert 1 == done.returncode
    assert f"error[{code}]" in done.stderr
