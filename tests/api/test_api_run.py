"""Running from Python: loops, inputs, files, records, and what is given up."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
import trio

import sexplang
from sexplang.pipeline import pipeline

ROOT = Path(__file__).parents[2]


def codes(text, inputs):
    with pytest.raises(sexplang.Diagnostics) as found:
        sexplang.run(text, inputs=inputs)
    return [each.code for each in found.value.diagnostics]


async def slow(x):
    await asyncio.sleep(0.01)
    return x


def test_both_kinds_of_caller_get_the_same():
    """`run` outside and inside of a running loop, and `arun`."""
    given = {"effects": {"slow": slow}}
    text = "(par (slow 1) (slow 2))"

    async def inside():
        return sexplang.run(text, **given), await sexplang.arun(text, **given)

    assert [1, 2] == sexplang.run(text, **given)
    assert ([1, 2], [1, 2]) == asyncio.run(inside())


def test_a_program_that_begins_while_another_does_sees_the_whole_prelude(monkeypatch):
    """In another thread; or after one that was interrupted when it began."""
    kept, made, inner = pipeline.Export, [], []

    def export(*given):
        made.append(given)
        if len(made) == 10:
            inner.append(sexplang.run("(map (lambda (x) (+ x 1)) (range 3))"))
            raise KeyboardInterrupt
        return kept(*given)

    monkeypatch.setattr(pipeline, "_preludes", [])
    monkeypatch.setattr(pipeline, "Export", export)
    with pytest.raises(KeyboardInterrupt):
        sexplang.run("(map (lambda (x) (+ x 2)) (range 3))")

    assert [[1, 2, 3]] == inner
    assert [1, 2, 3] == sexplang.run("(map (lambda (x) (+ x 1)) (range 3))")


def test_arun_under_trio():
    """Trio's loop will do as well."""

    async def waiting():
        await trio.sleep(0)
        return 2

    assert 2 == trio.run(lambda: sexplang.arun("(w)", effects={"w": waiting}))


def test_a_cancelled_call_cleans_up():
    """Cancelling `arun` runs the program's finally bodies."""
    left = []

    async def forever():
        await asyncio.sleep(60)

    async def main():
        text = "(try (forever) (finally (leave)))"
        effects = {"forever": forever, "leave": lambda: left.append(1)}
        task = asyncio.create_task(sexplang.arun(text, effects=effects))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())

    assert [1] == left


@pytest.mark.parametrize(
    ("declared", "good", "bad"),
    [
        ("x", "3", 3),
        ("x type: number", 1.5, "1.5"),
        ("x type: number", 2, True),
        ("x type: integer", 3, 3.0),
        ("x type: boolean", True, 1),
        ("x type: json", [1, None], {1}),
        ('x choices: ["a" "b"]', "a", "c"),
        ("x type: integer choices: [1 2]", 2, 3),
    ],
)
def test_inputs_fit_their_declaration(declared, good, bad):
    """Types are those of Python, nothing is converted."""
    text = f"(define-input {declared}) x"

    assert good == sexplang.run(text, inputs={"x": good})
    assert ["bad-input"] == codes(text, {"x": bad})


def test_everything_wrong_with_inputs_is_said_at_once():
    """Unknown, bad and missing ones."""
    text = "(define-input a) (define-input b type: integer) (define-input c default: 1) a"

    assert ["unknown-input", "bad-input", "missing-input"] == codes(text, {"z": 1, "b": "1"})


def test_files_that_are_given_may_be_read(tmp_path, monkeypatch):
    """An input of type file grants that file, and is relative to the caller."""
    (tmp_path / "programs").mkdir()
    program = tmp_path / "programs/show.sexp"
    program.write_text("(define-input f type: file) (read-file f)")
    (tmp_path / "note.txt").write_text("tea")
    monkeypatch.chdir(tmp_path)

    assert "tea" == sexplang.run(program, inputs={"f": Path("note.txt")})
    assert "tea" == sexplang.run(program, inputs={"f": "note.txt"})


def test_a_file_reads_and_imports_below_its_folder(tmp_path):
    """Also when other permissions are given."""
    (tmp_path / "a.sexp").write_text('(import "b.sexp") (str two (read-file "c.txt"))')
    (tmp_path / "b.sexp").write_text("(define two 2)")
    (tmp_path / "c.txt").write_text("!")
    elsewhere = sexplang.Permissions(read=["/nowhere"])

    assert "2!" == sexplang.run(tmp_path / "a.sexp")
    assert "2!" == sexplang.run(tmp_path / "a.sexp", permissions=elsewhere)


def test_no_file_of_an_imported_folder_is_passed_over(tmp_path):
    """One that may not be read, because it has another name too, is said to be so."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "a.sexp").write_text('(import "lib") (one)')
    (tmp_path / "lib/one.sexp").write_text("(define (one) 1)")
    assert 1 == sexplang.run(tmp_path / "a.sexp")
    (tmp_path / "other").hardlink_to(tmp_path / "lib/one.sexp")
    with pytest.raises(sexplang.Diagnostics) as raised:
        sexplang.run(tmp_path / "a.sexp")

    (found,) = raised.value.diagnostics
    assert ("import-denied", True) == (found.code, "hard link" in found.title)


@pytest.mark.parametrize("target", ["beside.sexp", "none.sexp", ""], ids=["file", "none", "folder"])
def test_an_import_that_is_denied_says_what_to_grant(tmp_path, target):
    """Whether or not anything is there, which is not told; what the hint says is enough."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own/a.sexp").write_text(f'(import "../{target}") beside')
    (tmp_path / "beside.sexp").write_text("(define beside 1)")
    place = str(tmp_path / target).rstrip("/")
    with pytest.raises(sexplang.Diagnostics) as raised:
        sexplang.run(tmp_path / "own/a.sexp")
    (found,) = raised.value.diagnostics

    assert "import-denied" == found.code
    assert f"{place} may not be read" in found.title
    assert f"--allow-read {place}" in found.hint and f"Permissions(read=['{place}'])" in found.hint
    permitted = sexplang.Permissions(read=[place])
    codes = [each.code for each in sexplang.check(tmp_path / "own/a.sexp", permissions=permitted)]
    assert (["import-not-found"] if "none" in target else []) == codes


@pytest.mark.parametrize("name", ["b.sexp", "b.xml"])
def test_an_import_that_is_no_text_says_so(tmp_path, name):
    """Nobody denies it, and to read its bytes would not help."""
    (tmp_path / "a.sexp").write_text(f'(import "{name}")')
    (tmp_path / name).write_bytes("<task>café</task>".encode("latin-1"))
    (found,) = sexplang.check(tmp_path / "a.sexp")

    assert ("not-text", "save it as UTF-8") == (found.code, found.hint)
    assert "not UTF-8 text: byte 9 is 0xe9" in found.title


def test_an_import_of_what_is_no_module_says_so(tmp_path):
    """It is there, so nobody is told that it is not."""
    (tmp_path / "a.sexp").write_text('(import "notes.txt")')
    (tmp_path / "notes.txt").write_text("tea")
    (found,) = sexplang.check(tmp_path / "a.sexp")

    assert "import-not-found" == found.code
    assert "`notes.txt` is no folder, and no .sexp or .xml file" == found.title


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [("gone", None, "file-not-found"), ("raw", b"\xff", "not-text"), ("", None, "file-not-found")],
)
def test_a_file_that_cannot_be_read_has_diagnostics(tmp_path, name, text, code):
    """Missing, no text, or a folder."""
    if text is not None:
        (tmp_path / name).write_bytes(text)

    assert [code] == [found.code for found in sexplang.check(tmp_path / name)]


def test_a_recording_is_never_overwritten(tmp_path):
    """It is a new file, closed when the call ends."""
    path = tmp_path / "run.jsonl"
    sexplang.run("(now)", record=path)
    header, *lines = map(json.loads, path.read_text().splitlines())
    (row,) = [line for line in lines if "digest" in line]

    assert "now" == row["operation"] and "run" in header
    with pytest.raises(sexplang.Failed, match="file-exists"):
        sexplang.run("(now)", record=path)


def test_a_model_that_is_no_script_is_refused():
    """What a list or a function says is checked as a file would be."""
    text = '(defatom say (instructions "Hello.")) (say)'

    for model, reason in (([3], "bad-script"), (lambda payload: 3, "bad-script"), ([], "mismatch")):
        with pytest.raises(sexplang.Failed, match=reason):
            sexplang.run(text, model=model)


def test_a_budget_that_is_none_is_refused():
    """The error is the program's."""
    wrong = ({"cups": 1}, {"calls": -1}, {"calls": "many"}, {"calls": {1}})
    for budget in (*wrong, {"seconds": 10**400}, {"usd": 1e308}):
        with pytest.raises(sexplang.Failed):
            sexplang.run("1", budget=budget)


def test_a_run_that_goes_on_keeps_its_settings():
    """Primitives are the program's, inputs and limits those it began with."""
    program = sexplang.build("(define-effect (ask)) (ask)")
    waiting = sexplang.start(program)

    assert 5 == sexplang.run(waiting, effects={"ask": lambda: 5})
    with pytest.raises(TypeError):
        sexplang.run(waiting, inputs={"x": 1})
    with pytest.raises(sexplang.Diagnostics, match="give primitives to build"):
        sexplang.run(program, primitives={"f": abs})
    with pytest.raises(TypeError):
        sexplang.run(3)
    with pytest.raises(TypeError):
        sexplang.result(waiting)


def test_a_frozen_conversation_goes_on_with_its_tools():
    """A conversation that waits is thawed by a process that has the same tools."""

    def look_up(word: str) -> str:
        """Looks a word up."""
        return word + " is a plant"

    text = '(defatom ask (allowed_tools look_up) (instructions "Ask.")) (str (ask))'
    program = sexplang.build(text)
    call = {"tool_use": {"name": "look_up", "input": {"word": "tea"}}}
    frozen = json.dumps(sexplang.freeze(sexplang.start(program, tools=[look_up])))
    thawed = sexplang.thaw(sexplang.build(text), json.loads(frozen), tools=[look_up])

    assert "done" == sexplang.run(thawed, tools=[look_up], model=[call, "done"])


def test_limits_are_frozen_too():
    """A run that goes on elsewhere is bounded as it was."""
    program = sexplang.build("(define-effect (ask)) (ask) (range 5000)")
    limits = sexplang.Limits(steps=900_000, allocation=1_000)
    thawed = sexplang.thaw(program, sexplang.freeze(sexplang.start(program, limits=limits)))

    with pytest.raises(sexplang.Failed, match="limit-allocation"):
        sexplang.run(thawed, effects={"ask": lambda: 1})


def test_primitives_are_part_of_a_frozen_run():
    """They are found again by their name."""
    text = "(define-effect (ask)) (let ((f up)) (begin (f (ask))))"
    up = {"up": lambda text: text.upper()}
    frozen = sexplang.freeze(sexplang.start(sexplang.build(text, primitives=up)))
    thawed = sexplang.thaw(sexplang.build(text, primitives=up), frozen)

    assert "TEA" == sexplang.run(thawed, effects={"ask": lambda: "tea"})


def test_importing_is_light():
    """Neither the API nor the tests' package loads what only few need."""
    code = (
        "import sys, sexplang, sexplang.testing; sexplang.run('(+ 1 2)');"
        "heavy = {'hypothesis', 'asyncio', 'anyio', 'anthropic', 'xmlschema', 'click', 'pydantic'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)

    assert ("[]\n", "") == (done.stdout, done.stderr)


@pytest.mark.late  # from the cache of mypy: without one it takes half a minute
def test_callers_are_typed(tmp_path):
    """A caller's file passes mypy --strict, and a wrong one does not."""
    good = tmp_path / "good.py"
    good.write_text(TYPED)
    bad = tmp_path / "bad.py"
    bad.write_text("import sexplang\n\nsexplang.run('1', limits=3)\nsexplang.start('1')\n")
    mypy = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", good, bad]
    done = subprocess.run(mypy, cwd=ROOT, capture_output=True, text=True, timeout=110)
    lines = done.stdout.splitlines()

    assert ["bad.py:3", "bad.py:4"] == [line.split("/")[-1].split(": ")[0] for line in lines], lines


TYPED = '''
import asyncio
from pathlib import Path
from typing import Any

import sexplang
from sexplang.testing import run_script, values


def notify(text: str, level: str = "info") -> int:
    return len(text)


async def lookup(word: str) -> str:
    """Looks a word up."""
    return word


def watch(event: sexplang.Event) -> None:
    if isinstance(event, sexplang.Finished):
        print(event.seconds)


async def main() -> None:
    value: Any = await sexplang.arun(
        Path("x.sexp"),
        inputs={"topic": "tea"},
        model="local",
        tools=[lookup],
        effects={"notify": notify},
        permissions=sexplang.Permissions(read=["."]),
        budget={"calls": 20},
        on_event=watch,
    )
    if isinstance(value, sexplang.TaskResult):
        print(value.content)


def step() -> Any:
    program: sexplang.Program = sexplang.build("1", primitives={"slug": str.lower})
    outcome: sexplang.Outcome = sexplang.start(program, inputs={})
    while isinstance(outcome, sexplang.Suspended):
        request: sexplang.Request = outcome.requests[0]
        if request.operation == "x":
            outcome = outcome.fail(request.id, sexplang.error("no", "no").error)
        else:
            outcome = outcome.resume(request.id, 1)
    frozen: dict[str, Any] = {}
    codes: list[str] = [found.code for found in sexplang.check("1")]
    print(codes, sexplang.run(sexplang.thaw(program, frozen), model=["hi"]))
    return sexplang.result(outcome)


asyncio.run(main())
run_script("1", [("ask", 1), (("model", ...), "yes")])
values().example()
'''


def test_requests_can_be_kept_in_sets():
    """Whatever they hold: equal ones have the same id."""
    program = sexplang.build("(par (model {a: [{}]}) (now))")
    first, second = sexplang.start(program).requests
    again = sexplang.start(program).requests[0]

    assert first is not again
    assert {first, second} == {again, second}
    assert hash(first) == hash(again)


def test_templates_do_not_change_during_a_run(tmp_path):
    """Neither when their file does, nor by what a model of Python does to what it is given."""
    task = '<task name="greet" type="atomic"><params><param name="who"/></params>{}</task>'
    greet, insult = (
        task.format(f"<instructions>{word} {{{{who}}}}.</instructions>")
        for word in ("Greet", "Insult")
    )
    (tmp_path / "t.xml").write_text(greet)
    (tmp_path / "p.sexp").write_text('(import "t.xml") [(str (greet "A")) (str (greet "B"))]')
    prompts = []

    def model(payload):
        prompts.append(payload["messages"][0]["content"][0]["text"])
        (tmp_path / "t.xml").write_text(insult)
        payload["messages"][0]["content"][0]["text"] = "Nothing."
        return "ok"

    assert ["ok", "ok"] == sexplang.run(tmp_path / "p.sexp", model=model)
    assert ["Greet A.", "Greet B."] == prompts
    sexplang.run(tmp_path / "p.sexp", model=model)
    assert ["Insult A.", "Insult B."] == prompts[2:]
