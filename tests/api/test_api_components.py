"""The components of the documents by their names: each does what `run` and `dispatch` do."""

import pytest
from support.messages_server import MessagesServer

import sexplang
from sexplang import (
    AtomicTaskExecutor,
    Dispatcher,
    Handler,
    Limits,
    MemorySystem,
    Permissions,
    SexpEvaluator,
    TaskSystem,
)

TASK = """<task name="{0}" type="atomic" subtype="{1}">
  <description>{2}</description>
  <params><param name="text" type="string"/></params>
  <instructions>{2}: {{{{text}}}}</instructions>
</task>"""


@pytest.fixture
def library(tmp_path):
    (tmp_path / "summarize.xml").write_text(TASK.format("summarize", "director", "Sum up a text"))
    (tmp_path / "polish.xml").write_text(TASK.format("polish", "evaluator", "Polish some words"))
    return tmp_path


def sent(work):
    """What a server is sent while `work` is done with its address."""
    with MessagesServer(lambda body: {"content": [{"type": "text", "text": "Wet."}]}) as server:
        work(server.url)
        return list(server.journal)


def test_every_way_to_a_task_sends_the_same(library):
    """A name, a request, a template with its parameters, and a program."""
    inputs = {"text": "Tea."}

    def work(model):
        handler = Handler(model=model)
        tasks = TaskSystem(library, handler)
        template = tasks.find_template("summarize")
        request = {"type": "atomic", "description": "Sum up a text", "inputs": inputs}
        results = [
            tasks.execute_atomic_template(request),
            AtomicTaskExecutor(handler).execute_body(template, inputs),
            Dispatcher(tasks).dispatch("summarize", inputs),
            SexpEvaluator(tasks).evaluate("(call-task summarize text)", inputs),
            sexplang.dispatch("summarize", inputs, library=library, model=model),
        ]
        assert ["Wet."] * 5 == [str(each) for each in results]
        assert {"summarize"} == {each.notes["template_used"] for each in results}

    first, *others = sent(work)
    assert [first] * 4 == others
    assert "Sum up a text: Tea." == first["messages"][0]["content"][0]["text"]


def test_a_template_is_found_by_name_and_by_subtype(library):
    tasks = TaskSystem(library)

    assert "polish" == tasks.find_template("polish").name
    assert "summarize" == tasks.find_template("atomic:director").name
    assert [None, None] == [tasks.find_template(name) for name in ("tea", "atomic:subtask")]


def test_a_template_of_a_file_that_cannot_be_read_is_no_none(library):
    (library / "bad.xml").write_text('<task name="bad" type="atomic"><nonsense/></task>')

    with pytest.raises(sexplang.Diagnostics):
        TaskSystem(library).find_template("bad")


def test_an_evaluator_takes_several_forms_and_its_inputs_as_names(library):
    evaluator = SexpEvaluator(TaskSystem(library, Handler(model=["Wet."])))

    assert "Wet." == evaluator.evaluate("; a note\n(define x text) (summarize x)", {"text": "Tea."})
    with pytest.raises(sexplang.Failed, match="division"):
        evaluator.evaluate("(/ 1 0)")


def test_the_permissions_of_a_handler_hold_for_all(library):
    """Nothing is permitted that was not given; a library's own folder may be read."""
    (library / "a.md").write_text("Tea.")
    outside = Handler().execute_tool("read_file", {"path": str(library / "a.md")})
    inside = Handler(permissions=Permissions(folder=library)).execute_tool(
        "read_file", {"path": "a.md"}
    )

    assert ("FAILED", "Tea.") == (outside.status, str(inside))
    assert "Tea." == SexpEvaluator(TaskSystem(library)).evaluate('(read-file "a.md")')


def test_the_limits_of_a_handler_hold_for_all(library):
    tasks = TaskSystem(library, Handler(limits=Limits(model_calls=1), model=["a", "b"]))

    with pytest.raises(sexplang.Failed, match="model"):
        SexpEvaluator(tasks).evaluate('(summarize "a") (summarize "b")')


def test_a_memory_is_what_fresh_context_asks(library):
    """The same search, through the name of the documents and in a task."""
    (library / "tea.md").write_text("Tea is a drink of leaves.")
    memory = MemorySystem(library / "index.db")
    memory.add(library / "tea.md")
    found = memory.get_relevant_context_for({"template_description": "tea leaves"})
    seen = []

    def model(payload):
        seen.append(payload["system"])
        return "done"

    handler = Handler(model=model, memory=memory)
    request = {
        "name": "summarize",
        "description": "Sum up tea leaves",
        "inputs": {"text": "tea leaves"},
        "context_management": {"inherit_context": "none", "fresh_context": "enabled"},
    }
    TaskSystem(library, handler).execute_atomic_template(request)

    assert [str(library / "tea.md")] == [each["source_path"] for each in found["matches"]]
    assert "Tea is a drink of leaves." in seen[0]


def test_what_is_no_option_of_a_handler_is_refused():
    with pytest.raises(TypeError, match="no argument `modle`"):
        Handler(modle="local")
