"""`sexplang.run` and `arun` in a host that traces."""

import asyncio
import logging

import anyio
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from support.collector import Collector
from support.messages_server import MessagesServer

import sexplang
from sexplang.runtime.traces.spans import Spans

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

TASK = '(defatom t (params x) (instructions "Do {{x}}"))\n'


@pytest.fixture
def host():
    """A provider of the host's own, and what it was given."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider, exporter.get_finished_spans


def names(spans):
    return sorted(span.name for span in spans)


def named(spans, name):
    (found,) = [span for span in spans if span.name == name]
    return found


def test_a_provider_of_the_host_gets_the_spans(host):
    """Below the span that the host names."""
    provider, spans = host

    value = sexplang.run(TASK + "(str (t 1))", model=["one"], trace=provider, traceparent=PARENT)

    root = named(spans(), "invoke_workflow string")
    assert "one" == value
    assert ["chat", "invoke_agent t", "invoke_workflow string"] == names(spans())
    assert 0xB7AD6B7169203331 == root.parent.span_id
    assert 0x0AF7651916CD43DD8448EB211C80319C == root.context.trace_id


def test_a_subtask_stands_in_the_task_that_asked(host):
    """Also where a handler of the program runs it."""
    provider, spans = host
    program = """
    (defatom outer (params) (instructions "Outer") (allowed_tools ["spawn_subtask"]))
    (defatom inner (params) (instructions "Inner"))
    (handle (outer) ((subtask request) resume (begin (now) (forward resume subtask request))))
    """
    asked = {"name": "spawn_subtask", "input": {"name": "inner", "description": "more"}}

    def model(payload):
        words = str(payload["messages"])
        return "well" if "Inner" in words or "tool_result" in words else {"tool_use": asked}

    sexplang.run(program, model=model, trace=provider)

    outer, inner = named(spans(), "invoke_agent outer"), named(spans(), "invoke_agent inner")
    assert outer.context.span_id == inner.parent.span_id
    assert outer.context.span_id == named(spans(), "execute_tool now").parent.span_id
    chats = [span.parent.span_id for span in spans() if span.name.startswith("chat")]
    assert sorted([outer.context.span_id] * 2 + [inner.context.span_id]) == sorted(chats)


def test_the_current_context_plays_no_part(host):
    """A span that happens to be current in the host is not the parent of anything here."""
    provider, spans = host

    with provider.get_tracer("host").start_as_current_span("host"):
        sexplang.run("(now)", trace=provider)

    assert named(spans(), "invoke_workflow string").parent is None


def test_each_attempt_that_failed_is_an_event(host):
    """Of the one span that the call has."""
    provider, spans = host
    busy = {"status": 429, "headers": {"retry-after": "0"}}

    with MessagesServer(busy, "well") as server:
        sexplang.run(
            TASK + "(t 1)",
            model=f"{server.url}#m",
            trace=provider,
            permissions=sexplang.Permissions(net=["127.0.0.1"]),
        )

    chat = named(spans(), "chat m")
    (event,) = chat.events
    assert ("retry", 1) == (event.name, event.attributes["sexplang.attempt"])
    assert "llm_error" == event.attributes["error.type"]
    assert 2 == chat.attributes["sexplang.attempts"]
    assert {"http", "m"} == {
        chat.attributes["gen_ai.provider.name"],
        chat.attributes["gen_ai.response.model"],
    }


def test_what_cut_replies_took_is_in_the_span(host):
    """Of all attempts, whether one of them gave a reply or not."""
    provider, spans = host
    content = [{"type": "text", "text": "x"}]
    whole = {"content": content, "usage": {"input_tokens": 7, "output_tokens": 3}}
    cut = {"cut": 1, **whole}
    ask = '(attempt (model {messages: [{role: "user" content: "tea?"}]}))'

    with MessagesServer(cut, whole, cut) as server:
        sexplang.run(f"[{ask} {ask}]", model=f"{server.url}#m", trace=provider)

    chats = [span.attributes for span in spans() if span.name == "chat m"]
    used = [[chat[f"gen_ai.usage.{kind}_tokens"] for kind in ("input", "output")] for chat in chats]
    assert [[14, 4], [21, 3]] == used
    assert ["m", "m"] == [chat["gen_ai.response.model"] for chat in chats]


def test_a_failed_task_is_over_before_what_follows(host):
    """Its span ends where it was left, with the error that left it."""
    provider, spans = host

    def refuse(payload):
        raise sexplang.error("busy", "not now")

    sexplang.run(TASK + "(begin (attempt (t 1)) (now))", model=refuse, trace=provider)

    task, after = named(spans(), "invoke_agent t"), named(spans(), "execute_tool now")
    assert "ERROR" == task.status.status_code.name
    assert task.end_time <= after.start_time
    assert "UNSET" == named(spans(), "invoke_workflow string").status.status_code.name


def test_a_run_that_fails_says_so(host):
    """With the reason, and without the message: that may hold anything."""
    provider, spans = host

    with pytest.raises(sexplang.Failed):
        sexplang.run('(begin (now) (error "secret of tea"))', trace=provider)

    root = named(spans(), "invoke_workflow string")
    assert ("ERROR", "USER_ERROR raised") == (root.status.status_code.name, root.status.description)
    assert "raised" == root.attributes["error.type"]


def test_a_run_without_effects_has_its_span(host):
    """It ends before anybody could watch it."""
    provider, spans = host

    assert 3 == sexplang.run("(+ 1 2)", trace=provider)
    assert ["invoke_workflow string"] == names(spans())


def test_a_run_that_is_cancelled_leaves_no_span_open(host):
    """What was open says that it was cancelled."""
    provider, spans = host

    async def main():
        with anyio.move_on_after(0.05):
            await sexplang.arun("(par (sleep 60) (try (sleep 60) (finally (now))))", trace=provider)

    asyncio.run(main())

    assert [
        *("branch 0", "branch 1", "execute_tool now", "execute_tool sleep", "execute_tool sleep"),
        "invoke_workflow string",
    ] == names(spans())
    cut = [span.name for span in spans() if span.attributes.get("sexplang.cancelled")]
    assert ["branch 0", "branch 1", "execute_tool sleep", "execute_tool sleep"] == sorted(cut)
    root = named(spans(), "invoke_workflow string")
    assert "cancelled" == root.attributes["error.type"]


def test_a_crash_of_a_performer_is_a_status(host):
    """It fails the request; the run goes on."""
    provider, spans = host

    def broken():
        raise RuntimeError("a bug of the host")

    sexplang.run("(attempt (now))", effects={"now": broken}, trace=provider)

    assert "unexpected_error" == named(spans(), "execute_tool now").attributes["error.type"]


def test_a_crash_of_ours_closes_all(host, monkeypatch):
    """A fault while a run is driven does not leave its spans open."""
    provider, spans = host

    def crash(self, span, row):
        raise ZeroDivisionError

    monkeypatch.setattr(Spans, "record_reply", crash)
    with pytest.raises(ZeroDivisionError):
        sexplang.run("(par (now) (now))", trace=provider)

    assert 4 == len(spans())
    root = named(spans(), "invoke_workflow string")
    assert "unexpected_error" == root.attributes["error.type"]


def test_subagents_stand_in_what_spawned_them(host):
    """Each is an agent, in its branch; what it was told is content, and in no span."""
    provider, spans = host
    program = """
        (define asked [{id: "a" task: "secret leaves"} {id: "b" task: "secret hills"}])
        (length (get (run-parallel-subagents asked) "results"))"""

    assert 2 == sexplang.run(program, model=lambda payload: "well", trace=provider)

    both = named(spans(), "invoke_workflow subagents")
    by_id = {span.context.span_id: span for span in spans()}
    agents = [span for span in spans() if span.name == "invoke_agent subagent"]
    branches = [by_id[span.parent.span_id] for span in agents]
    chats = [span for span in spans() if span.name.startswith("chat")]
    assert ["branch 0", "branch 1"] == names(branches)
    assert {both.context.span_id} == {span.parent.span_id for span in branches}
    assert {span.context.span_id for span in agents} == {
        by_id[span.parent.span_id].parent.span_id for span in chats
    }
    assert not any("secret" in span.to_json() for span in spans())


def test_a_plan_stands_in_the_task_that_proposed_it(host):
    """Each of its nodes is one thing, and what works on it stands there."""
    provider, spans = host
    program = """
    (defatom report (params) (instructions "Report") (allowed_tools ["propose_subplan"]))
    (defatom look-up (params what) (instructions "Look up {{what}}"))
    (report)
    """
    subtasks = [{"name": "look-up", "description": words} for words in ("price", "taste")]
    subtasks.append({"name": "look-up", "description": "both", "depends_on_subtasks": [0, 1]})
    plan = {"name": "propose_subplan", "input": {"reason": "TooLarge", "subtasks": subtasks}}

    def model(payload):
        words = str(payload["messages"])
        return {"tool_use": plan} if "Report" in words and "tool_result" not in words else "well"

    sexplang.run(program, model=model, trace=provider)

    by_id = {span.context.span_id: span for span in spans()}
    report = named(spans(), "invoke_agent report")
    (proposed,) = [span for span in spans() if span.attributes.get("sexplang.work") == "plan"]
    nodes = [span for span in spans() if span.attributes.get("sexplang.work") == "plan-node"]
    assert report.context.span_id == proposed.parent.span_id
    assert {proposed.context.span_id} == {
        by_id[node.parent.span_id].parent.span_id for node in nodes
    }
    works = [span.parent.span_id for span in spans() if span.name == "invoke_agent look-up"]
    assert sorted(node.context.span_id for node in nodes) == sorted(works)
    assert 3 == len(nodes) == len({node.name for node in nodes})
    first, second, last = sorted(nodes, key=lambda node: node.name)
    assert last.start_time >= max(first.end_time, second.end_time)


def test_what_the_library_names_is_one_thing(host):
    """`as-work` is a call like any other where nobody traces the run."""
    provider, spans = host
    program = '(as-work "plan-node" "a/sub-0" (lambda () (begin (now) 3)))'

    assert 3 == sexplang.run(program) == sexplang.run(program, trace=provider)

    node = named(spans(), "invoke_workflow a/sub-0")
    assert "plan-node" == node.attributes["sexplang.work"]
    assert node.context.span_id == named(spans(), "execute_tool now").parent.span_id
    with pytest.raises(sexplang.Failed, match="wrong-type"):
        sexplang.run("(as-work 1 2 3)")


def test_logs_name_the_trace(host, caplog):
    """The records of `log` carry the ids that lead to its span."""
    provider, spans = host

    with caplog.at_level(logging.INFO, "sexplang"):
        sexplang.run('(par (log "info" "a") (log "info" "b"))', trace=provider)

    ids = {format(span.context.span_id, "016x") for span in spans() if "log" in span.name}
    assert ids == {record.span_id for record in caplog.records}
    traces = {format(span.context.trace_id, "032x") for span in spans()}
    assert traces == {record.trace_id for record in caplog.records}


def test_an_event_loop_goes_on_while_the_last_is_delivered():
    """`arun` hands over its spans in a thread."""
    beats = []

    async def main(url):
        async with anyio.create_task_group() as group:
            group.start_soon(beat)
            await sexplang.arun("(par (sleep 0.01) (now))", trace=url)
            group.cancel_scope.cancel()

    async def beat():
        while True:
            beats.append(1)
            await anyio.sleep(0.001)

    with Collector() as collector:
        asyncio.run(main(collector.url))

    assert 5 == len(collector.spans)
    assert beats


def test_two_runs_at_once_do_not_mix(host):
    """Two programs in one event loop: each has its own trace, with its own spans."""
    provider, spans = host

    async def main():
        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(one)

    async def one():
        await sexplang.arun("(par-map (lambda (x) (sleep 0.001)) (range 5))", trace=provider)

    asyncio.run(main())

    traces = {span.context.trace_id for span in spans()}
    assert 10 == len(traces)
    for trace in traces:
        own = [span for span in spans() if span.context.trace_id == trace]
        ids = {span.context.span_id for span in own}
        assert 11 == len(own)
        assert all(span.parent is None or span.parent.span_id in ids for span in own)


def test_a_run_that_goes_on_has_a_trace_of_its_own(host):
    """What was frozen while nobody traced it, or by another process, hangs from the new root."""
    provider, spans = host
    program = sexplang.build("(par (ask-user 1) (begin (ask-user 2) (now)))")
    thawed = sexplang.thaw(program, sexplang.freeze(sexplang.start(program)))

    sexplang.run(thawed, effects={"ask-user": lambda words: words}, trace=provider)

    root = named(spans(), "invoke_workflow string")
    others = [span for span in spans() if span is not root]
    assert 3 == len(others)
    assert all(span.parent.span_id == root.context.span_id for span in others)
