"""Subagents against a server on the loopback: isolation, limits, permits, what is left behind."""

import json
import os
import re
import threading
from collections import Counter
from itertools import count
from random import Random

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from support.messages_server import MessagesServer
from support.processes import list_process_files
from support.running import built

import sexplang
from sexplang import Limits, Permissions
from sexplang.machine import Suspended, start, state_of
from sexplang.machine.frozen_runs import freeze, thaw
from sexplang.pipeline.pipeline import inspect, tasks
from sexplang.runtime.driver.events import Finished, Started, Withdrawn


def said(text, taken=7, given=3):
    """A reply with a usage."""
    return {
        "content": [{"type": "text", "text": text}],
        "usage": {"input_tokens": taken, "output_tokens": given},
    }


def uses(name, given, text="", taken=7, output=3):
    """A reply that calls a tool."""
    block = {"type": "tool_use", "id": f"u{Random(str(given)).random()}", "name": name}
    words = [{"type": "text", "text": text}] if text else []
    return {
        "content": [*words, {**block, "input": given}],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": taken, "output_tokens": output},
    }


def of(body):
    """The word that the task of a request begins with, past the context if there is one."""
    for message in body["messages"]:
        content = message["content"]
        text = content if isinstance(content, str) else content[0].get("text", "")
        if found := re.match(r"Task: (\w+)", text):
            return found[1]
    raise AssertionError(body)


def last(body):
    return body["messages"][-1]["content"]


def look_up() -> str:
    """Looks it up."""
    return "nothing"


def several(names, more=""):
    each = " ".join(f'{{id: "{name}" task: "{name} it" {more}}}' for name in names)
    return f"(run-parallel-subagents [{each}])"


def test_each_knows_only_what_it_is_given():
    """A canary in every part of each subagent is in its own requests and in no other."""
    names = [f"canary{at}x" for at in range(12)]
    tasks = " ".join(
        f'{{id: "{name}" task: "{name} task" relevant_history: "{name} history"'
        f' constraints: ["{name} constraint"] system_prompt: "{name} system"}}'
        for name in names
    )

    def answer(body):
        name = of(body)
        if len(body["messages"]) == 3:
            return uses("look", {"word": f"{name} input"}, f"{name} text")
        return said(f"{name} result")

    def look(word: str) -> str:
        """Looks a word up."""
        return f"found {word}"

    program = f"(run-parallel-subagents [{tasks}])"
    with MessagesServer(answer) as server:
        result = sexplang.run(program, model=server.url, tools=[look])

    assert [(name, f"{name} result") for name in names] == [
        (each["task_id"], each["result"]["content"]) for each in result["results"]
    ]
    assert 2 * len(names) == len(server.journal)
    for body in server.journal:
        text = json.dumps(body)
        assert {of(body)} == set(re.findall(r"canary\d+x", text))
        parts = ("task", "history", "constraint", "system")
        assert all(f"{of(body)} {part}" in text for part in parts)


def test_nothing_comes_from_the_conversation_around_and_only_the_result_goes_back():
    """A subagent on behalf of a task: neither sees the other's messages."""
    program = """
    (defatom lead (params about) (allowed_tools ask_apart)
      (instructions "Lead: outercanary {{about}}"))
    (handle (str (lead "x"))
      ((tool name inputs) resume
        (if (equal? name "look")
            (forward resume tool name inputs)
            (resume (get (spawn-subagent task: inputs.task tools: ["look"]) "content")))))
    """

    def answer(body):
        if "outercanary" in json.dumps(body):
            asked = uses("ask_apart", {"task": "inner do"})
            return asked if len(body["messages"]) == 1 else said("done")
        turn = len(body["messages"])
        return uses("look", {"word": "innercanary"}) if turn == 1 else said("the result")

    def look(word: str) -> str:
        """Looks a word up."""
        return f"found {word}"

    with MessagesServer(answer) as server:
        assert "done" == sexplang.run(program, model=server.url, tools=[look])

    outer = [body for body in server.journal if "outercanary" in json.dumps(body)]
    inner = [body for body in server.journal if body not in outer]
    assert [2, 2] == [len(outer), len(inner)]
    assert not any("innercanary" in json.dumps(body) for body in outer)
    assert "the result" == last(outer[1])[0]["content"]


def test_three_work_at_a_time():
    """Three requests meet at the server, again and again, and never four."""
    meeting = threading.Barrier(3)
    lock, working, most = threading.Lock(), [0], [0]

    def answer(body):
        with lock:
            working[0] += 1
            most[0] = max(most[0], working[0])
        meeting.wait(60)
        with lock:
            working[0] -= 1
        meeting.wait(60)
        return said(of(body))

    names = [f"t{at}" for at in range(9)]
    with MessagesServer(answer) as server:
        result = sexplang.run(several(names), model=server.url)

    assert 9 == result["success_count"]
    assert names == [each["task_id"] for each in result["results"]]
    assert 3 == most[0]


def test_the_limit_is_the_runs():
    """Two batches at once share the permits; who runs the program may set how many there are."""
    lock, working, most = threading.Lock(), [0], [0]
    two = threading.Barrier(2)

    def answer(body):
        with lock:
            working[0] += 1
            most[0] = max(most[0], working[0])
        two.wait(60)
        with lock:
            working[0] -= 1
        two.wait(60)
        return said(of(body))

    program = f"(par {several(['a', 'b', 'c', 'd'])} {several(['e', 'f'])})"
    with MessagesServer(answer) as server:
        first, second = sexplang.run(program, model=server.url, limits=Limits(places=2))

    assert [4, 2] == [first["success_count"], second["success_count"]]
    assert 2 == most[0]


def test_a_tenth_of_the_calls_fails_and_they_succeed():
    """More than 95 % of the subagents, with 429, 500 and 529 injected."""
    numbers = count(1)
    failed = Counter()

    def answer(body):
        tens, rest = divmod(next(numbers), 10)
        if rest == 0:
            status = (429, 500, 529)[tens % 3]
            failed[status] += 1
            return {"status": status, "headers": {"retry-after": "0"}}
        return said(of(body))

    names = [f"t{at}" for at in range(100)]
    with MessagesServer(answer) as server:
        result = sexplang.run(several(names), model=server.url, limits=Limits(places=50))

    assert {429, 500, 529} == {*failed}
    assert result["success_count"] > 95


def test_every_one_that_hangs_is_ended():
    """Whether a model or a tool hangs; what was said and taken is there."""

    def answer(body):
        if len(body["messages"]) == 1:
            return uses("wait", {"n": 1}, "so far", 11, 5)
        return {"fail": "hang"}

    def wait(n: int) -> str:
        """Waits."""
        return "waited"

    names = [f"t{at}" for at in range(6)]
    with MessagesServer(answer) as server:
        result = sexplang.run(
            several(names, "timeout: 2"), model=server.url, tools=[wait], limits=Limits(places=6)
        )

    assert 6 == result["failure_count"]
    for each in result["results"]:
        assert {
            "success": False,
            "content": "so far",
            "sources": [],
            "error": "the subagent timed out after 2 seconds",
            "token_usage": {"input": 11, "output": 5},
        } == each["result"]


def test_a_loop_ends_at_ten_calls():
    """Every one, and the eleventh call is never made; nor are the tools of the tenth called."""
    called = []

    def look(n: int) -> str:
        """Looks something up."""
        called.append(n)
        return "more"

    def answer(body):
        return uses("look", {"n": len(body["messages"])}, "hm", 2, 1)

    names = [f"t{at}" for at in range(5)]
    with MessagesServer(answer) as server:
        result = sexplang.run(several(names), model=server.url, tools=[look])

    assert dict.fromkeys(names, 10) == Counter(of(body) for body in server.journal)
    assert 5 * 9 == len(called)
    for each in result["results"]:
        assert "the subagent was not done after 10 calls of the model" == each["result"]["error"]
        assert ("hm", {"input": 20, "output": 10}) == (
            each["result"]["content"],
            each["result"]["token_usage"],
        )


def test_one_fails_one_hangs_one_succeeds():
    """The results are in order, the tokens are all there, and nothing runs any more."""

    def answer(body):
        first = len(body["messages"]) == 1
        if of(body) == "fails":
            return uses("look", {"n": 1}, "", 100, 10) if first else {"status": 400}
        if of(body) == "hangs":
            return uses("look", {"n": 2}, "", 1000, 20) if first else {"fail": "hang"}
        return uses("look", {"n": 3}, "", 10000, 30) if first else said("here", 20000, 40)

    def look(n: int) -> dict[str, list[str]]:
        """Looks something up."""
        return {"sources": [f"place {n}"]}

    events = []
    names = ["fails", "hangs", "succeeds"]
    with MessagesServer(answer) as server:
        result = sexplang.run(
            several(names, "timeout: 2"),
            model=server.url,
            tools=[look],
            on_event=events.append,
        )

    results = [each["result"] for each in result["results"]]
    assert names == [each["task_id"] for each in result["results"]]
    assert [False, False, True] == [each["success"] for each in results]
    assert [{"input": 100, "output": 10}, {"input": 1000, "output": 20}] == [
        each["token_usage"] for each in results[:2]
    ]
    assert {"input": 30000, "output": 70} == results[2]["token_usage"]
    assert [["place 1"], ["place 2"], ["place 3"]] == [each["sources"] for each in results]
    assert "timed out" in results[1]["error"]
    over = [each.id for each in events if isinstance(each, (Finished, Withdrawn))]
    assert sorted(each.id for each in events if isinstance(each, Started)) == sorted(over)


def sleeping(seconds):
    """The processes that sleep for so long."""
    found = []
    for place in list_process_files("cmdline"):
        try:
            if place.read_bytes().split(b"\0")[1:2] == [seconds.encode()]:
                found.append(place.parent.name)
        except OSError:
            continue
    return found


def test_what_a_tool_has_started_ends_with_its_subagent():
    """A process of a script, and those that it started, when the time is up."""
    seconds = f"86{os.getpid()}"
    script = f"import subprocess; subprocess.run(['sleep', '{seconds}'])"

    def answer(body):
        return uses("system_run_script", {"command": "python3", "args": ["-c", script]})

    tools = 'tools: ["system:run_script"] timeout: 2'
    with MessagesServer(answer) as server:
        result = sexplang.run(
            several(["a", "b"], tools), model=server.url, permissions=Permissions(run=["python3"])
        )

    assert ["the subagent timed out after 2 seconds"] * 2 == [
        each["result"]["error"] for each in result["results"]
    ]
    assert [] == sleeping(seconds)


def test_a_subagent_in_a_subagent_is_bounded():
    """Each has a tool that spawns another: the sixth would be too deep, and is no call."""
    program = """
    (define (deeper n)
      (handle (spawn-subagent task: (str "deep" n) tools: ["deeper"])
        ((tool name inputs) resume (resume (deeper (+ n 1))))))
    (deeper 1)
    """

    def answer(body):
        if len(body["messages"]) == 1:
            return uses("deeper", {})
        return said(last(body)[0]["content"])

    with MessagesServer(answer) as server:
        result = sexplang.run(program, model=server.url, limits=Limits(places=1))

    assert result["success"]
    assert Counter({f"deep{n}": 2 for n in range(1, 6)}) == Counter(map(of, server.journal))
    assert "execution_halted" in result["content"]
    assert "the limit is 5" in result["content"]


def test_its_template_is_found_by_no_request():
    """However well its description fits: a task whose name begins with `_` is private."""
    program = """
    (define apart (lambda () (spawn-subagent task: "x")))
    (try (subtask {description: "Do one task and report on it." inputs: {}})
      (catch (err template_not_found) err.message))
    """

    assert "`_subagent`" not in sexplang.run(program, model=[])


@pytest.mark.parametrize(
    "more",
    [
        "relevant_history: 3",
        "constraints: [1]",
        "system_prompt: []",
        "tools: [1]",
        "timeout: 0",
        'timeout: "soon"',
        "task: nil",
    ],
)
def test_what_does_not_fit_is_a_result(more):
    """It is told which part, and no model is asked."""
    task = "" if "task:" in more else 'task: "x"'
    result = sexplang.run(f"(spawn-subagent {task} {more})", model=[])

    assert not result["success"]
    assert f"`{more.split()[0]}`" in result["error"]


def test_a_history_that_does_not_fit_is_a_result():
    """More than the model's window holds is refused before any call."""
    program = '(spawn-subagent task: "x" relevant_history: words)'
    result = sexplang.run(
        f"(define-input words type: string) {program}", inputs={"words": "tea " * 500_000}, model=[]
    )

    assert not result["success"]
    assert "context" in result["error"]


def test_seconds_can_only_be_lowered():
    """A request for more than the run allows gets what the run allows."""
    program = built('(spawn-subagent task: "x" timeout: 999)')
    for limits, seconds in ((Limits(), 60), (Limits(subagent_seconds=5), 5)):
        outcome = _begun(start(program, {}, tasks(), limits))
        timers = [each for each in outcome.requests if each.operation == "timer"]
        assert [(seconds,)] == [each.arguments for each in timers]


def _begun(outcome):
    """A run of one subagent that waits for its model: it has looked at the clock."""
    assert ["now"] == [each.operation for each in outcome.requests]
    return outcome.resume(outcome.requests[0].id, 100.0)


def test_sixty_seconds_end_one_that_hangs():
    """Where nobody says another number, and its model never replies."""
    outcome = _begun(start(built('(spawn-subagent task: "x")'), {}, tasks(), Limits()))
    waiting = {each.operation: each for each in outcome.requests}
    assert {"timer", "model"} == waiting.keys()
    assert (60,) == waiting["timer"].arguments

    outcome = outcome.resume(waiting["timer"].id, None)
    entries = []
    while isinstance(outcome, Suspended):
        (request,) = outcome.requests
        if request.operation == "log":
            entries.append(request.arguments[1])
        outcome = outcome.resume(request.id, 160.0 if request.operation == "now" else None)

    assert "the subagent timed out after 60 seconds" == outcome.value["error"]
    assert [(True, 60_000)] == [(each["isTimeout"], each["durationMs"]) for each in entries]


def test_the_calls_of_a_run_can_be_fewer():
    """Never more than ten."""
    for most in (2, 50):
        with MessagesServer(lambda body: uses("look", {})) as server:
            limits = Limits(subagent_calls=most)
            program = '(spawn-subagent task: "x" tools: ["look"])'
            sexplang.run(program, model=server.url, tools={"look": look_up}, limits=limits)
        assert min(most, 10) == len(server.journal)


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ('(spawn-subagent task: "x")', "10"),
        ('(run-parallel-subagents [{id: "a" task: "x"} {id: "b" task: "y"}])', "20"),
    ],
)
def test_model_calls_are_bounded(text, bound):
    """`check` knows how many a subagent may make."""
    assert bound == str(inspect(built(text)).calls)


def test_a_run_with_subagents_can_be_frozen():
    """At every wait, those in line for a permit too."""
    program = built(several(["a", "b", "c", "d", "e"]))
    outcome = start(program, {}, tasks(), Limits(places=2))
    waited = 0
    while isinstance(outcome, Suspended):
        outcome = thaw(program, json.loads(json.dumps(freeze(outcome))), tasks())
        waited += state_of(outcome).scheduler.permits.line != (None, None)
        asked = [each for each in outcome.requests if each.operation != "timer"]
        assert sum(each.operation == "model" for each in asked) <= 2
        replies = {"now": 5, "log": None}
        outcome = outcome.resume(asked[-1].id, replies.get(asked[-1].operation, "said"))

    assert 5 == outcome.value["success_count"]
    assert waited > 3


def test_each_is_a_span_below_that_of_all():
    """And its calls are below it, in the trace of whoever spawned it."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    sexplang.run(several(["a", "b"]), model=lambda payload: "said", trace=provider)

    spans = {span.context.span_id: span for span in exporter.get_finished_spans()}

    def above(span):
        found = []
        while span.parent is not None:
            span = spans[span.parent.span_id]
            found.append(span.name)
        return found

    whole = ["invoke_workflow subagents", "invoke_workflow string"]
    chats = [above(span) for span in spans.values() if span.name == "chat"]
    assert [
        ["invoke_agent _subagent", "invoke_agent subagent", f"branch {at}", *whole]
        for at in range(2)
    ] == sorted(chats)


def test_a_list_that_is_none_is_told():
    """None are no results; two of the same name are refused before any begins."""
    assert {"results": [], "success_count": 0, "failure_count": 0} == {
        name: value
        for name, value in sexplang.run("(run-parallel-subagents [])", model=[]).items()
        if name != "total_duration"
    }
    with pytest.raises(sexplang.Failed, match="two subagents have the id `a`"):
        sexplang.run(several(["a", "b", "a"]), model=[])


def test_a_reply_that_was_cut_off_is_no_success():
    """What there is of it is kept."""
    reply = {**said("Tea is", 5, 4096), "stop_reason": "max_tokens"}
    with MessagesServer(reply) as server:
        result = sexplang.run('(spawn-subagent task: "x")', model=server.url)

    assert (False, "Tea is") == (result["success"], result["content"])
    assert {"input": 5, "output": 4096} == result["token_usage"]
