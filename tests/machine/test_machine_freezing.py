"""A suspended run as data: cut anywhere, frozen, thawed and gone on with, it is the same run."""

import json
import subprocess
import sys
from contextlib import chdir
from pathlib import Path
from random import Random

import pytest
from support.laws import schedule
from support.programs import program
from support.running import begun, built, seen
from support.thawing import resealed

import sexplang
from sexplang.machine import Done, Failed, Suspended, link, start, state_of
from sexplang.machine.frozen_runs import _seal, freeze, thaw
from sexplang.machine.scheduler.scheduler import Scheduler
from sexplang.pipeline.pipeline import build, tasks
from sexplang.terms.source import Source
from sexplang.terms.values.value import Fault


@pytest.mark.parametrize(
    "start", [0, *[pytest.param(at, marks=pytest.mark.long) for at in range(50, 1_000, 50)]]
)
def test_freezing_at_every_wait_changes_nothing(start):
    """Continuations, handlers, branches, deadlines, cleanups: nothing of a run is lost or
    doubled."""
    for seed in range(start, start + 50):
        text = program(Random(seed)).text
        made = built(text)

        def thawed(outcome, made=made):
            return thaw(made, json.loads(json.dumps(freeze(outcome))))

        whole = seen(begun(text), choose=schedule(seed))
        parts = seen(begun(text), choose=schedule(seed), pause=thawed)

        assert (whole, whole.ids) == (parts, parts.ids), f"seed {seed}: {text}"


def test_threads_that_begin_with_a_program_at_once_have_the_same_code(monkeypatch):
    """A run of each can be frozen."""
    program, inner, codes_of = built("(define (f) 1) (f)"), [], link._codes

    def meanwhile(functions):
        if not inner:
            inner.append(None)
            inner[0] = link.link_program(program, None)
        return codes_of(functions)

    monkeypatch.setattr(link, "_codes", meanwhile)
    outer = link.link_program(program, None)

    assert outer is inner[0] is link.link_program(program, None)


TASKS = """<templates>
<task name="parent" type="atomic"><description>Ask around</description>
  <params><param name="topic"/></params><instructions>About {{topic}}</instructions>
  <allowed_tools><tool>spawn_subtask</tool><tool>read_file</tool></allowed_tools></task>
<task name="child" type="atomic"><description>Look it up</description>
  <params><param name="what"/></params><instructions>Find {{what}}</instructions></task>
</templates>"""

PROGRAM = """
(import "tasks.xml")
(define-effect (wait n))
(define (twice f) (lambda (x) (f (f x))))
(handle
  (with-budget {calls: 9}
    (par (str (parent "tea"))
         (with-timeout 60 (try ((twice (lambda (x) (+ x (wait x)))) 1) (finally (wait "F"))))
         (map (lambda (x) (* x (wait x))) [1 2.5])))
  ((subtask request) k (forward k subtask request)))
"""


def find(path, importer):
    """The one file of these programs."""
    return (Source("tasks.xml", TASKS),)


def reply(request):
    """A model that reads a file, asks a child, and ends; everything else is its argument."""
    if request.operation != "model":
        return request.arguments[0] if request.arguments else None
    payload = request.arguments[0]
    last = payload["messages"][-1]["content"][0]
    said = json.dumps(payload["messages"])
    if payload["task"] == "child":
        content = [{"type": "text", "text": "a leaf"}]
    elif "read_file" not in said and last["type"] == "text":
        content = [_use("read_file", {"path": "x"}), _use("read_file", {"path": "y"})]
    elif "spawn_subtask" not in said:
        asked = {"description": "d", "name": "child", "inputs": {"what": "it"}}
        content = [_use("spawn_subtask", asked)]
    else:
        content = [{"type": "text", "text": "tea is " + str(last["content"])}]
    stop = "tool_use" if content[0]["type"] == "tool_use" else "end_turn"
    usage = {"input_tokens": 1, "output_tokens": 1}
    return {"content": content, "stop_reason": stop, "usage": usage, "model": "m"}


def _use(name, inputs):
    id = f"t-{name}-{inputs.get('path', '')}"
    return {"type": "tool_use", "id": id, "name": name, "input": inputs}


def next_of(outcome):
    """The first request that is no timer, answered."""
    request = next(each for each in outcome.requests if each.operation != "timer")
    return outcome.resume(request.id, reply(request))


def test_a_run_with_conversations_goes_on_in_another_process():
    """Frozen at each of its waits, it ends the same in a process that never saw it."""
    made = build(Source("main.sexp", PROGRAM), find)
    outcome = start(made, {}, tasks())
    stages = []
    while isinstance(outcome, Suspended):
        stages.append(json.dumps(freeze(outcome)))
        outcome = next_of(outcome)
    assert isinstance(outcome, Done)

    code = (
        "import json, sys\n"
        "from test_machine_freezing import *\n"
        "for line in sys.stdin:\n"
        "    outcome = thaw(build(Source('main.sexp', PROGRAM), find), json.loads(line), tasks())\n"
        "    while isinstance(outcome, Suspended):\n"
        "        outcome = next_of(outcome)\n"
        "    print(json.dumps(outcome.value))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        input="\n".join(stages),
        capture_output=True,
        text=True,
        env={"PYTHONPATH": ":".join([*sys.path]), "PYTHONHASHSEED": "7"},
        check=True,
    )

    assert [json.dumps(outcome.value)] * len(stages) == ran.stdout.split("\n")[:-1]
    assert len(stages) > 8


def test_what_is_shared_stays_shared():
    """A value that stands for more than there is memory freezes to a few nodes."""
    text = """
    (define-effect (ask))
    (define (twice n x) (if (= n 0) x (twice (- n 1) [x x])))
    (let ((big (twice 60 1))) (begin (ask) (length big)))
    """
    outcome = begun(text)

    data = json.dumps(freeze(outcome))

    assert len(data) < 10_000
    assert thaw(built(text), json.loads(data)).resume("0") == Done(2)


def test_a_deep_stack_freezes_without_recursion():
    """100,000 frames are 100,000 nodes."""
    text = """
    (define-effect (ask))
    (define (down n) (if (= n 0) (ask) (+ 1 (down (- n 1)))))
    (down 100000)
    """
    outcome = begun(text)

    thawed = thaw(built(text), json.loads(json.dumps(freeze(outcome))))

    assert thawed.resume("0", 5) == Done(100_005)


def test_a_run_of_another_program_is_refused():
    """The digest of the sources decides."""
    frozen = freeze(begun("(print 1)"))

    with pytest.raises(Fault, match="another program") as refused:
        thaw(built("(print 2)"), frozen)
    assert refused.value.code == "frozen-mismatch"


def test_a_run_goes_on_wherever_its_files_are(tmp_path):
    """The names of sources count from the folder of the main file, however that was named."""
    text = '(import "lib/u.sexp") (import "../v.sexp") (define-effect (ask)) (str (ask) one two)'
    for place in ("a", "b/c"):
        (tmp_path / place / "x/lib").mkdir(parents=True)
        (tmp_path / place / "x/p.sexp").write_text(text)
        (tmp_path / place / "x/lib/u.sexp").write_text("(define one 1)")
        (tmp_path / place / "v.sexp").write_text("(define two 2)")
    allowed = sexplang.Permissions(read=[str(tmp_path)])
    frozen = sexplang.freeze(
        sexplang.start(sexplang.build(tmp_path / "a/x/p.sexp", permissions=allowed))
    )
    with chdir(tmp_path):
        there = sexplang.build(Path("b/c/../c/x/p.sexp"), permissions=allowed)

    assert "312" == sexplang.run(sexplang.thaw(there, frozen), effects={"ask": lambda: 3})


def test_a_run_whose_code_stands_elsewhere_is_refused():
    """Another compiler may number the nodes of the same program in another way."""
    frozen = freeze(begun("(print 1)")) | {"sites": "0" * 64}
    frozen["seal"] = _seal({name: frozen[name] for name in frozen if name != "seal"}, None)

    with pytest.raises(Fault, match="the compiler is another one"):
        thaw(built("(print 1)"), frozen)


def test_a_run_of_the_version_before_is_refused_by_name():
    """What a name of code means has changed with the version."""
    frozen = freeze(begun("(print 1)"))
    now = frozen["sexplang-frozen"]
    frozen["sexplang-frozen"] = now - 1

    words = f"it is of version {now - 1} of frozen runs, and this is {now}"
    with pytest.raises(Fault, match=words) as refused:
        thaw(built("(print 1)"), frozen)
    assert refused.value.code == "frozen-mismatch"


def test_damaged_data_is_refused():
    """A seal shows any change of the data."""
    text = (
        "(define-effect (ask x)) (try (handle (ask [1 {a: 2}]) ((no) k (k 1))) (finally (ask 2)))"
    )
    whole = freeze(begun(text))
    random = Random(1)
    for _ in range(500):
        data = json.loads(json.dumps(whole))
        node = random.choice(data["nodes"])
        node[random.randrange(len(node))] = random.choice([None, 0, 99, "x", [0], [99], [[]], 1.5])
        if data != whole:
            with pytest.raises(Fault) as refused:
                thaw(built(text), data)
            assert refused.value.code == "frozen-mismatch"


def test_damaged_data_with_a_seal_is_refused_or_runs():
    """At thaw or later: no Python exception comes out of it."""
    for seed in (*range(50), 471, 472, 491, 734, 1015):  # the last have closed requests
        resealed(seed)


@pytest.mark.parametrize(
    ("noun", "at", "other"),
    [
        ("Bounds", 3, None),
        ("Bounds", 3, "x"),
        ("Bounds", 3, -1),
        ("Waiting", 2, None),
        ("Request", 2, "1.0.0"),
        ("Forked", 11, 1),
    ]
    + [("Request", at, other) for at in (2, 3, 4) for other in (None, 7, {})],
)
def test_what_nobody_can_go_on_with_is_refused(noun, at, other):
    """A request or a branch that has a seal: whoever drove the run met a Python exception."""
    text = "(define-effect (ask x)) (with-timeout 5 (par (ask 1) (ask 2)))"
    data = json.loads(json.dumps(freeze(begun(text))))
    if other == {}:
        data["nodes"].append(["dict", 0])
        other = [len(data["nodes"]) - 1]
    for node in data["nodes"]:
        if node[:2] == ["noun", noun]:
            node[at] = other
    data["seal"] = _seal({name: data[name] for name in data if name != "seal"}, None)

    with pytest.raises(Fault) as refused:
        thaw(built(text), data)
    assert "frozen-mismatch" == refused.value.code


@pytest.mark.long
@pytest.mark.timeout(600)
def test_much_damaged_data_with_a_seal_is_refused_or_runs():
    """The same for many more programs."""
    for seed in range(50, 2_000):
        resealed(seed)


def test_a_bug_of_ours_is_no_damage(monkeypatch):
    """Only a run that was thawed has data to blame; what has been raised is the cause."""
    made = built("(define-effect (ask)) (ask)")
    outcome = start(made)
    thawed = thaw(made, freeze(outcome))

    def broken(self, *_):
        raise KeyError("a bug")

    monkeypatch.setattr(Scheduler, "settle", broken)

    with pytest.raises(KeyError):
        outcome.resume("0")
    for deliver in (lambda: thawed.resume("0"), thawed.cancel):
        with pytest.raises(Failed, match="KeyError") as refused:
            deliver()
        assert "frozen-mismatch" == refused.value.reason
        assert isinstance(refused.value.__cause__, KeyError)
    with pytest.raises(LookupError):
        thawed.resume("7")


def test_a_key_seals_what_others_may_write():
    """Without it, with another, and where the seal is a plain one: refused, each in its words."""
    made = built("(define-effect (ask)) (ask)")
    outcome = start(made)
    plain, keyed = freeze(outcome), freeze(outcome, key=b"one")
    raised = {**keyed, "limits": {**keyed["limits"], "steps": 10**15}}

    assert Done(5) == thaw(made, json.loads(json.dumps(keyed)), key=b"one").resume("0", 5)
    for data, key, why in [
        (keyed, None, "sealed with a key"),
        (keyed, b"two", "another key"),
        (raised, b"one", "damaged"),
        (plain, b"one", "not sealed with a key"),
        ({**keyed, "seal": plain["seal"]}, b"one", "not sealed with a key"),
    ]:
        with pytest.raises(Fault, match=why) as refused:
            thaw(made, data, key=key)
        assert "frozen-mismatch" == refused.value.code
    for key in ("one", b""):
        with pytest.raises(TypeError, match="key is bytes"):
            sexplang.freeze(outcome, key=key)


def test_a_plan_is_frozen_with_its_text():
    """Code that came as text while the program ran is made again from that text."""
    text = """
    (define-effect (ask x))
    (handle (eval-plan "(define (f x) (+ x (perform ask x))) (+ 1 (f n))"
              inputs: {n: 2} allow: ['ask])
      ((note) k (k 1)))
    """
    outcome = begun(text)

    thawed = thaw(built(text), json.loads(json.dumps(freeze(outcome))))

    (asked,) = thawed.requests
    assert thawed.resume(asked.id, 5) == Done({"status": "done", "value": 8})


def test_what_was_learned_and_is_held_is_frozen_too():
    """A budget goes on with the same estimates, and with what calls hold that are on their way."""
    call = "(perform model {messages: [] max_tokens: 40})"
    made = built(f"(with-budget {{tokens: 9000 calls: 9}} {call} (par {call} {call}))")
    usage = {"input_tokens": 50, "output_tokens": 2}
    waiting = start(made).resume("1", {"content": [], "usage": usage})

    thawed = thaw(made, json.loads(json.dumps(freeze(waiting))))

    assert (
        state_of(waiting).scheduler.times.learned == state_of(thawed).scheduler.times.learned != {}
    )
    assert state_of(waiting).scheduler.times.accounts == state_of(thawed).scheduler.times.accounts
    assert 2 == state_of(thawed).scheduler.times.accounts["0"].held_calls
