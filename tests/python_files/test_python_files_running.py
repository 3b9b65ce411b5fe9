"""The functions of a Python file in runs: of Python, of the command, in sessions and tests."""

import json
import os

import pytest
from support.command import sexplang as command

import sexplang
from sexplang import Permissions

HEAD = "from sexplang import operation, primitive, replay, tool\nimport sexplang\n"
TOOLS = f"""{HEAD}
calls = []

@tool
def lookup(word: str) -> str:
    '''Looks a word up.'''
    calls.append(word)
    return word.upper()

@operation(replay="safe")
async def note(text: str, level: str = "info") -> list:
    return [text, level]

@primitive
def slug(text: str) -> str:
    return "-".join(text.split())
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder with a file of Python; every test has a text of its own, as a process has one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.py").write_text(f"{TOOLS}# {tmp_path}\n")
    return tmp_path


def _run(text, **more):
    return sexplang.run(
        f'(import "tools.py") {text}', permissions=Permissions(python=["tools.py"]), **more
    )


def _write(home, text):
    (home / "tools.py").write_text(f"{HEAD}{text}\n# {home}\n")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('(lookup "tea")', "TEA"),
        ('(note "a" level: "warn")', ["a", "warn"]),
        ('(note "a" nil)', ["a", "info"]),
        ('(slug "a b")', "a-b"),
        ('(map slug ["a b" "c"])', ["a-b", "c"]),
        ('(sort-by slug ["b a" "a b"])', ["a b", "b a"]),
        ('(par (note "a") (note "b"))', [["a", "info"], ["b", "info"]]),
        ('(tool \'lookup {word: "tea"})', "TEA"),
        ('(handle (lookup "tea") ((lookup word) resume (resume (str "no " word))))', "no tea"),
    ],
)
def test_the_three_kinds(home, text, value):
    """The smallest program of each, and their ways to be called."""
    assert value == _run(text)


def test_a_model_is_told_a_tool_and_calls_it(home):
    """Its description and schema are those of the function; a misfit is told to the model."""
    payloads = []

    def model(payload):
        payloads.append(payload)
        words = [{"word": 3}, {"word": "tea"}, "It is TEA."][len(payloads) - 1]
        return words if isinstance(words, str) else {"tool_use": {"name": "lookup", "input": words}}

    task = '(defatom t (allowed_tools lookup) (instructions "What?")) (t)'

    assert "It is TEA." == _run(task, model=model)
    (told,) = payloads[0]["tools"]
    assert ("lookup", "Looks a word up.") == (told["name"], told["description"])
    assert {"word": {"type": "string"}} == told["input_schema"]["properties"]
    assert "does not fit" in json.dumps(payloads[1]["messages"])


@pytest.mark.parametrize(
    "words", [{}, {"read": ["."]}, {"python": ["other.py"]}, {"python": ["."]}]
)
def test_no_other_permission_runs_a_file(home, words):
    """That of its folder or of another file does not."""
    with pytest.raises(sexplang.Diagnostics, match=r"python-denied|import-denied"):
        sexplang.run('(import "tools.py") 1', permissions=Permissions(**words))
    program = sexplang.build('(import "tools.py") 1', permissions=Permissions(read=["."]))
    with pytest.raises(sexplang.Diagnostics, match="python-denied"):
        sexplang.run(program, permissions=Permissions(**words))


def test_what_the_caller_gives_stands_before_the_file(home):
    """An effect or a tool of the same name answers instead."""
    assert "ours" == _run('(lookup "tea")', effects={"lookup": lambda word: "ours"})
    assert "ours" == _run('(tool \'lookup {word: "x"})', tools={"lookup": lambda word: "ours"})


def test_types_of_classes(home):
    """Dataclasses, TypedDicts, enumerations and dates, as a function takes and gives them."""
    _write(
        home,
        """
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import TypedDict

class Size(Enum):
    small = "s"

@dataclass
class Leg:
    day: date
    size: Size = Size.small

class Trip(TypedDict):
    legs: list[Leg]

@primitive
def first_day(trip: Trip) -> date:
    return min(leg.day for leg in trip["legs"])

@tool
def back(leg: Leg | None = None) -> Leg:
    return leg or Leg(date(2026, 1, 1))
""",
    )

    assert "2026-02-03" == _run('(first_day {legs: [{day: "2026-02-03"} {day: "2026-03-01"}]})')
    assert {"day": "2026-01-01", "size": "s"} == _run("(back)")
    with pytest.raises(sexplang.Failed, match=r"legs\[0\]\.day") as raised:
        _run('(first_day {legs: [{day: "yesterday"}]})')
    assert "type-misfit" == raised.value.reason


FAILING = """
@operation
def sync(): return {}["a"]
@operation
async def wait(): return {}["a"]
@primitive
def pure(): return {}["a"]
@operation
def leave(): raise SystemExit(3)
class Mute(Exception):
    def __str__(self): raise ValueError
@operation
def mute(): raise Mute
@operation
def long(): raise ValueError("x" * 100_000)
@operation
def on_purpose(): raise sexplang.error("closed", "the shop is closed", until=9)
@tool
def inner(): return deep(3)
def deep(n): return deep(n - 1) if n else 1 / 0
"""


@pytest.mark.parametrize(
    ("name", "line", "exception"),
    [
        ("sync", 5, "KeyError"),
        ("wait", 7, "KeyError"),
        ("pure", 9, "KeyError"),
        ("leave", 11, "SystemExit"),
        ("mute", 15, "Mute"),
        ("long", 17, "ValueError"),
        ("inner", 22, "ZeroDivisionError"),
    ],
)
def test_an_exception_is_an_error_with_both_places(home, name, line, exception):
    """The call in the program, and the innermost line of the file. The program may catch it."""
    _write(home, FAILING)
    with pytest.raises(sexplang.Failed) as raised:
        _run(f"\n  ({name})")
    error = raised.value

    assert ("python-failed", "tools.py", line) == (
        error.reason,
        error.details["file"],
        error.details["line"],
    )
    assert exception == error.details["exception"]
    place = error.error.fields["span"]
    assert (2, 3) == (place["line"], place["column"])
    assert f"failed at tools.py:{line}: {exception}" in str(error)
    assert len(str(error)) < 3_000
    assert line == _run(f"(try ({name}) (catch (e python-failed) e.details.line))")


def test_a_function_fails_on_purpose(home):
    """Its reason is its own."""
    _write(home, FAILING)

    assert 9 == _run("(try (on_purpose) (catch (e closed) e.details.until))")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 / 0\n@tool\ndef f(): ...", "tools.py failed when it was run: ZeroDivisionError"),
        ("raise SystemExit\n@tool\ndef f(): ...", "tools.py failed when it was run: SystemExit"),
        ("import beside\n@tool\ndef f(): ...", "only installed packages are found"),
        ("import _nowhere.a\n@tool\ndef f(): ...", "failed when it was run: ModuleNotFoundError"),
        ("return 1\n@tool\ndef f(): ...", "failed when it was run: SyntaxError"),
        ("@tool\ndef f(): ...\nf = None", "the name has another value when the file has run"),
        ("@tool\ndef f(): ...\ndef f(): ...", "the name has another value when the file has run"),
        (
            "def other(call): return operation(lambda x: x)\n@other\n@operation\ndef f(): ...",
            "it has other parameters when the file has run",
        ),
        ("from re import Pattern\n@tool\ndef f(x: Pattern): ...", "for which there is no schema"),
    ],
)
def test_a_file_that_cannot_be_used(home, text, words):
    """It ends the run before it begins, at the line and at the import."""
    _write(home, text)
    (home / "beside.py").write_text("import tools")
    with pytest.raises(sexplang.Diagnostics) as raised:
        _run("1")
    (found,) = raised.value.diagnostics

    assert words in str(found)
    assert ["tools.py", "<string>"] == [each.span.source.name for each in found.labels]


def test_the_text_that_was_read_is_the_one_that_runs(home):
    """A file that changes between the build and the run does not change the program."""
    allowed = Permissions(python=["tools.py"])
    program = sexplang.build('(import "tools.py") (lookup "tea")', permissions=allowed)
    (home / "tools.py").write_text("raise SystemExit")

    assert "TEA" == sexplang.run(program, permissions=allowed)


def test_a_file_runs_once_in_a_process(home):
    """As a module does: what it keeps is there in the next run."""
    _write(home, "seen = []\n@operation\ndef see(n): seen.append(n); return len(seen)")

    assert [1, 2] == _run("[(see 1) (see 2)]")
    assert 3 == _run("(see 1)")


def test_files_run_in_other_modules(home):
    """A module that is imported may import a file; the library's names stay its own."""
    _write(home, "@operation\ndef count(text: str): return len(text)")
    (home / "part.sexp").write_text('(import "tools.py") (define (size t) (count t))')
    (home / "main.sexp").write_text('(import "part.sexp") [(size "abc") (count odd? [1 2 3])]')
    value = sexplang.run(home / "main.sexp", permissions=Permissions(python=["tools.py"]))

    assert [3, 2] == value


def test_a_primitive_is_frozen_by_its_name(home):
    """A run that holds one goes on in another process from the same program."""
    text = '(import "tools.py") (define f slug) (ask-user "?") (f "a b")'
    allowed = Permissions(python=["tools.py"])
    program = sexplang.build(text, permissions=allowed)
    frozen = json.loads(json.dumps(sexplang.freeze(sexplang.start(program))))
    again = sexplang.thaw(sexplang.build(text, permissions=allowed), frozen)

    assert "a-b" == sexplang.run(again, effects={"ask-user": lambda *_: 1}, permissions=allowed)


def test_start_runs_no_file(home):
    """Its operations are requests; a primitive is an error that says so."""
    allowed = Permissions(python=["tools.py"])
    asked = sexplang.start(sexplang.build('(import "tools.py") (note "a")', permissions=allowed))
    failed = sexplang.start(sexplang.build('(import "tools.py") (slug "a")', permissions=allowed))

    assert ["note"] == [each.operation for each in asked.requests]
    assert "python-denied" == failed.reason


def test_a_primitive_counts_and_is_charged(home):
    """Its calls are steps, and what it gives counts for the limits of the run."""
    _write(home, "@primitive\ndef large(n: int): return 'x' * n")
    with pytest.raises(sexplang.Failed, match="limit-steps"):
        _run("(for-each large (range 100))", limits=sexplang.Limits(steps=5_000))
    with pytest.raises(sexplang.Failed, match="limit-allocation"):
        _run("(for-each large [100000 100000 100000])", limits=sexplang.Limits(allocation=150_000))


def test_a_resumed_run_calls_primitives_again_and_operations_not(home):
    """Replies are in the journal. A call in doubt is what the decorator says."""
    _write(
        home,
        """
done = []
@operation(replay="safe")
def act(n: int):
    done.append(n)
    if done == [1, 2]:
        raise KeyboardInterrupt
    return list(done)
@primitive
def next_of(items: list): return items[-1] + 1
""",
    )
    text = "(define a (act 1)) (define b (act (next_of a))) [a b]"
    with pytest.raises(KeyboardInterrupt):
        _run(text, store="runs.db", run_id="r")
    value = sexplang.resume(
        f'(import "tools.py") {text}',
        "r",
        store="runs.db",
        permissions=Permissions(python=["tools.py"]),
    )

    assert [[1], [1, 2, 2]] == value


def test_a_changed_file_is_a_changed_program(home):
    """Its digest is in the terms of the run, and a kept run goes on if it asks the same."""
    _write(home, "@operation\ndef act(n: int): return n\n@primitive\ndef next_of(n): return n + 1")
    text = '(import "tools.py") (define a (act 1)) (ask-user "?") (act (next_of a))'

    def ask(*words):
        raise KeyboardInterrupt

    def resume(store):
        allowed = Permissions(python=["tools.py"])
        given = {"effects": {"ask-user": lambda *words: "yes"}, "replay": {"*": "safe"}}
        return sexplang.resume(text, "r", store=store, permissions=allowed, **given)

    digests = []
    for name in ("one", "two"):
        with pytest.raises(KeyboardInterrupt):
            sexplang.run(
                text,
                permissions=Permissions(python=["tools.py"]),
                effects={"ask-user": ask},
                store=f"{name}.db",
                run_id="r",
                record=f"{name}.jsonl",
            )
        lines = (home / f"{name}.jsonl").read_text().splitlines()
        digests.append(json.loads(lines[0])["terms"]["program"])
        (home / "tools.py").write_text((home / "tools.py").read_text() + "# edited\n")

    assert len({*digests}) == 2
    assert 2 == resume("one.db")
    _write(home, "@operation\ndef act(n: int): return n\n@primitive\ndef next_of(n): return n + 2")
    assert 3 == resume("two.db")


# -- the command


def test_the_command_runs_a_file_that_is_named(home):
    """With its permission alone, and with --json nothing but the document is written."""
    _write(home, "print('loaded')\n@operation\ndef f(x): print('called'); return x")
    (home / "main.sexp").write_text('(import "tools.py") (f 1)')
    refused = command("run", "main.sexp", cwd=home)
    done = command("run", "main.sexp", "--allow-python", "tools.py", cwd=home)
    as_json = command("run", "main.sexp", "--allow-python", "tools.py", "--json", cwd=home)

    assert 1 == refused.returncode and "" == refused.stdout
    assert "hint: look into it, and permit it: --allow-python tools.py" in refused.stderr
    assert "loaded\ncalled\n1\n" == done.stdout
    assert 1 == json.loads(as_json.stdout)
    assert "loaded\ncalled\n" in as_json.stderr


def test_only_the_persons_own_configuration_names_files(home):
    """A project's is refused, as it may come with the program."""
    (home / "main.sexp").write_text('(import "tools.py") (slug "a b")')
    own = home / "config/sexplang"
    own.mkdir(parents=True)
    (own / "sexplang.toml").write_text('[python]\nfiles = ["../../tools.py"]\n')
    given = {"XDG_CONFIG_HOME": str(home / "config")}
    done = command("run", "main.sexp", cwd=home, **given)
    (home / "sexplang.toml").write_text('[python]\nfiles = ["tools.py"]\n')
    refused = command("run", "main.sexp", cwd=home, XDG_CONFIG_HOME=str(home / "none"))
    (home / "sexplang.toml").unlink()
    (own / "sexplang.toml").write_text('[python]\nfiles = "tools.py"\n')
    wrong = command("run", "main.sexp", cwd=home, **given)

    assert "a-b\n" == done.stdout
    assert "error[bad-configuration]" in refused.stderr
    assert "only a person says which Python files are run" in refused.stderr
    assert "`python` holds `files`, a list of paths" in wrong.stderr


def test_a_kept_run_of_the_command_goes_on(home):
    """Its words are kept with it, the permission too; a copy of it calls primitives."""
    _write(
        home,
        "import os\n@primitive\ndef twice(n: int): return 2 * n\n"
        "@operation\ndef act(n: int):\n    if not os.path.exists('ok'): raise ValueError(n)\n"
        "    return n",
    )
    (home / "main.sexp").write_text(
        '(import "tools.py") (define a (twice (random 1))) (define b (act 5)) [a b]'
    )
    given = {"SEXPLANG_STORE": str(home / "runs.db")}
    typed = ("main.sexp", "--allow-python", "tools.py", "--run-id", "r1")
    failed = command("run", *typed, cwd=home, **given)
    (home / "ok").touch()
    exported = command("runs", "export", "r1", "r1.jsonl", cwd=home, **given)
    resumed = command("runs", "resume", "r1", "--again", "*", cwd=home, **given)

    assert "failed at tools.py:8: ValueError: 5" in failed.stderr
    assert 0 == exported.returncode, exported.stderr
    assert "[0 5]\n" == resumed.stdout, resumed.stderr


def test_a_session_imports_a_file(home):
    """Its functions are there in later inputs."""
    text = '(import "tools.py")\n(lookup "tea")\n(define f slug)\n(f "a b")\n'
    done = command("repl", "--allow-python", "tools.py", "--allow-read", ".", text=text, cwd=home)

    assert '"TEA"\n"a-b"\n' == done.stdout, done.stderr


def test_the_hint_of_a_denied_file_is_what_to_type(home):
    """As of a denied import. Data and Python have what to write in Python too."""
    (home / "main.sexp").write_text('(import "tools.py") (slug "a")')
    done = command("run", "main.sexp", "--json", cwd=home)
    (finding,) = json.loads(done.stdout)["findings"]
    outside = command("run", "-e", '(import "tools.py") (slug "a")', cwd=home)

    assert "hint: look into it, and permit it: --allow-python tools.py\n" in done.stderr
    assert f"or in Python Permissions(python=['{home}/tools.py'])" in finding["hint"]
    assert f"hint: permit it: --allow-read {home}/tools.py\n" in outside.stderr


def test_tests_run_a_file_for_its_primitives_alone(home):
    """A script answers operations and tools; the file is not run without its option."""
    (home / "main.sexp").write_text('(import "tools.py") [(slug "a b") (lookup "tea")]')
    (home / "main.test.sexp").write_text(
        '(test "t" file: "main.sexp" script: [[(lookup "tea") "T"]] expect: ["a-b" "T"])'
    )
    refused = command("test", "main.test.sexp", cwd=home)
    done = command("test", "main.test.sexp", "--allow-python", "tools.py", cwd=home)

    assert 1 == refused.returncode and "python-denied" in refused.stdout
    assert 0 == done.returncode, done.stdout


def test_doc_says_what_a_file_gives(home):
    """Signature, docstring and types, also as data."""
    said = command("doc", "tools.py", cwd=home).stdout
    data = json.loads(command("doc", "tools.py", "--json", cwd=home).stdout)

    assert "(lookup word)\nLooks a word up.\n  word: str\n" in said
    assert '(note text (level "info"))' in said
    assert ["lookup", "note", "slug"] == [each["name"] for each in data["entries"]]


def test_a_task_of_the_command_takes_a_file_too(home):
    """`task` with a program text."""
    done = command("task", "(begin (define x 2) x)", "--allow-python", "tools.py", cwd=home)

    assert "2\n" == done.stdout


def test_a_program_of_a_model_imports_no_python(home):
    """Nor does it call what it is not allowed."""
    plan = '(get (eval-plan "{}" {}) "status")'

    assert "refused" == _run(plan.format('(import \\"tools.py\\") 1', ""))
    assert "refused" == _run(plan.format('(perform note \\"a\\")', ""))
    assert "done" == _run(plan.format('(perform note \\"a\\")', "allow: ['note]"))
    assert os.path.exists("tools.py")


LATE = """
import asyncio
from dataclasses import dataclass
done = []
@operation
async def slow():
    try:
        await asyncio.sleep(30)
    finally:
        await asyncio.sleep(0.01)
        done.append("cleaned")
@operation
def list_done(): return done
@operation
async def cut(): raise asyncio.CancelledError
@operation
def sync_cut(): raise asyncio.CancelledError
@primitive
def pure_cut(): raise GeneratorExit
@dataclass
class Odd:
    a: int
    def __post_init__(self): self.b = {}["tea"]
@primitive
def odd(value: Odd): return 1
@dataclass
class Leaving:
    a: int
    def __post_init__(self): raise SystemExit(9)
@operation
def leaving(value: Leaving): return 1
@operation
def count(n: int): return [*range(n)]
"""


def test_a_function_that_is_cancelled_cleans_up(home):
    """It is told once, and may wait in its `finally`."""
    _write(home, LATE)

    assert ["cleaned"] == _run(
        "(begin (attempt (with-timeout 0.2 (slow)) nil) (sleep 0.3) (list_done))"
    )


@pytest.mark.parametrize("name", ["cut", "sync_cut", "pure_cut"])
def test_an_exception_that_ends_other_code_is_a_failure(home, name):
    _write(home, LATE)

    assert "python-failed" == _run(f"(try ({name}) (catch (e) e.reason))")


def test_the_code_of_a_class_fails(home):
    """Where the arguments are made instances."""
    _write(home, LATE)

    assert "type-misfit" == _run("(try (odd {a: 1}) (catch (e) e.reason))")
    assert "type-misfit" == _run("(try (leaving {a: 1}) (catch (e) e.reason))")
    assert [0, 1, 2] == _run("(count 3.0)")
