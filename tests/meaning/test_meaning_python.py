"""What Python builds, runs and looks at: programs with their folders, outcomes and events."""

import asyncio
import json
from pathlib import Path

import pytest
from support.command import sexplang as command

import sexplang

OVERVIEW = """
(import "greet.sexp")
(define-effect (more))
(define files (list-files "documents/*.txt"))
(more)
(map (lambda (path) (greet (read-file path))) files)
"""


@pytest.fixture
def docs(tmp_path, monkeypatch):
    """A program in a folder of its own, beside the working folder."""
    folder = tmp_path / "docs"
    (folder / "documents").mkdir(parents=True)
    (folder / "documents" / "a.txt").write_text("Ada")
    (folder / "greet.sexp").write_text('(define (greet who) (str "Hello, " who))')
    (folder / "overview.sexp").write_text(OVERVIEW)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(tmp_path)
    return folder


RUN = {"effects": {"more": lambda: None}}


def test_a_program_that_was_built_from_a_file_keeps_its_folder(docs, tmp_path, monkeypatch):
    """It gives what running the file gives, also after the working folder has changed."""
    path = Path("docs/overview.sexp")
    program = sexplang.build(path)
    expected = sexplang.run(path, **RUN)
    monkeypatch.chdir(tmp_path / "elsewhere")

    assert ["Hello, Ada"] == expected
    assert expected == sexplang.run(program, **RUN)
    assert expected == asyncio.run(sexplang.arun(program, **RUN))


def test_so_does_what_was_started_and_frozen_of_it(docs, tmp_path, monkeypatch):
    """`run` goes on with it in the program's folder."""
    program = sexplang.build(docs / "overview.sexp")
    outcome = sexplang.start(program)
    (request,) = outcome.requests
    waiting = outcome.resume(request.id, ["documents/a.txt"])
    data = json.loads(json.dumps(sexplang.freeze(waiting)))
    monkeypatch.chdir(tmp_path / "elsewhere")

    assert ["Hello, Ada"] == sexplang.run(waiting, **RUN)
    assert ["Hello, Ada"] == sexplang.run(sexplang.thaw(program, data), **RUN)


def test_permissions_are_those_of_the_run(docs):
    """More places are of the working folder; another folder takes the place of the program's."""
    program = sexplang.build(docs / "overview.sexp")
    (docs.parent / "out").mkdir()
    writing = docs / "write.sexp"
    writing.write_text('(write-file "../out/a.txt" "x")')

    with pytest.raises(sexplang.Failed, match="path-denied"):
        sexplang.run(sexplang.build(writing))
    granted = sexplang.Permissions(write=["out"])
    assert sexplang.run(sexplang.build(writing), permissions=granted) is None
    assert "x" == (docs.parent / "out" / "a.txt").read_text()
    elsewhere = sexplang.Permissions(folder="elsewhere")
    assert [] == sexplang.run(program, permissions=elsewhere, **RUN)


def test_a_program_of_a_text_has_no_folder(docs):
    """It may read nothing, built or not."""
    for source in ('(list-files "*")', sexplang.build('(list-files "*")')):
        with pytest.raises(sexplang.Failed, match="path-denied"):
            sexplang.run(source)


NAMES = ["agent.sexp", "docs/my agent.sexp", "../a.sexp", "C:\\a.sexp", "summarize.xml"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("call", [sexplang.run, sexplang.build])
def test_a_text_that_looks_like_the_name_of_a_file_is_told_apart(call, name):
    """One diagnostic, which says what to write."""
    with pytest.raises(sexplang.Diagnostics) as raised:
        call(name)
    (found,) = raised.value.diagnostics

    assert f"a str is program text; write Path({json.dumps(name)})" == found.hint


@pytest.mark.parametrize("text", ["größe/ä.sexp", "größe/ä.sexp\n", "  größe/ä.sexp "])
def test_the_name_is_shown_as_it_is_written(text):
    """And without what stands around it."""
    (found,) = sexplang.check(text)

    assert 'a str is program text; write Path("größe/ä.sexp")' == found.hint


CHECKED = {
    """(defatom f (params (x string)) (instructions "S {{x}}")) (if (f "a") 1 2)""": (
        ["answer-as-test"]
    ),
    """(defatom f (params (x string)) (instructions "S {x}")) (f "a")""": ["unused-param"],
    """(string-split "," "a,b")""": ["swapped-arguments"],
    """(define x 1) (* x 3)""": [],
}


@pytest.mark.parametrize(("program", "codes"), CHECKED.items(), ids=list(CHECKED))
def test_check_finds_what_the_command_finds(program, codes, tmp_path):
    path = tmp_path / "p.sexp"
    path.write_text(program)
    done = command("check", path, "--json")
    (said,) = json.loads(done.stdout)["files"].values()

    assert codes == [each["code"] for each in said["findings"]]
    assert codes == [each.code for each in sexplang.check(program)]
    assert codes == [each.code for each in sexplang.check(path)]


def test_a_path_of_keys_that_ends_in_sexp_is_a_program():
    """Only what is wrong is looked at."""
    assert 7 == sexplang.run("(define a {sexp: 7}) a.sexp")
    assert [] == sexplang.check("(define a {sexp: 7})\na.sexp")


TWO = sexplang.build("(define-effect (ask n)) (par (ask 1) (with-timeout 9 (ask 2)))")


def public(thing):
    return {name for name in dir(thing) if not name.startswith("_")}


def test_outcomes_have_the_attributes_of_the_specification():
    """And no others, but for what every exception has."""
    waiting = sexplang.start(TWO)
    failed = waiting.cancel()
    done = sexplang.start(sexplang.build("7"))

    assert {"requests", "withdrawn", "passed", "resume", "fail", "cancel"} == public(waiting)
    assert {"value", "withdrawn", "accounts"} == public(done)
    named = {"error", "reason", "details", "trail", "withdrawn", "accounts"}
    assert named == public(failed) - public(Exception())


def test_the_repr_of_an_outcome_is_a_line():
    """However much waits, and whatever it holds."""
    many = sexplang.start(
        sexplang.build("(define-effect (ask n)) (par-map (lambda (n) (ask n)) (range 500))")
    )

    assert repr(sexplang.start(TWO)) == "Suspended(0.0.0 ask, 0.1.0 timer, 0.1.1 ask)"
    assert repr(many).startswith("Suspended(0.0.0 ask, ") and repr(many).endswith("… 495 more)")
    assert len(repr(many)) < 200
    done = sexplang.start(sexplang.build("(range 5000)"))
    assert repr(done) == "Done(a list of 5000 items)"
    failed = sexplang.start(sexplang.build('(error (string-join (map str (range 999)) "\\n"))'))
    assert len(repr(failed)) < 200 and "\n" not in repr(failed)
    assert repr(failed).startswith("Failed(")
    assert repr(TWO) == "Program('<string>')"


FIELDS = {
    "Queued": set(),
    "Started": set(),
    "Finished": {"seconds", "model", "usage", "error", "attempts"},
    "Said": {"characters"},
    "Withdrawn": {"model", "usage"},
    "Retrying": {"attempt", "wait", "error", "held"},
    "Progressed": {"text", "fraction"},
}


def test_each_event_has_the_fields_of_all_and_its_own():
    """`Said` and `Progressed` as well."""
    for name, own in FIELDS.items():
        kind = getattr(sexplang, name)
        assert {"id", "operation", "task", "turn", *own} == set(kind.__match_args__)


def test_whoever_watches_may_read_any_event_alike():
    """The operation of each, the task of a model call."""
    events = []
    sexplang.run(
        """
        (defatom say (params words) (instructions "{{words}}"))
        (progress "half" 0.5)
        (race (par (say 1) (say 2)) 7)
        (str (say 3))
        """,
        model=lambda payload: "ok",
        parallel=1,
        on_event=events.append,
    )
    seen = {(type(each).__name__, each.operation, each.task, each.turn) for each in events}

    assert ("Progressed", "progress", None, None) in seen
    assert ("Finished", "model", "say", 1) in seen
    assert all(event.id for event in events)
    assert {"<string>:3", None} == {event.place for event in events}
