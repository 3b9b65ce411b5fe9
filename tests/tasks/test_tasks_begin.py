"""Beginnings: inputs, placeholders, depth, cycles, context settings and files."""

import pytest
from tasks_driver import converse, failure, says, system, template

from sexplang.tasks.start.call_settings import CONFLICT, MINIMAL
from sexplang.terms.task import Broke, Conversation, Perform, sign, task_result
from sexplang.terms.template import ContextManagement, FilePaths, Param, Template
from sexplang.terms.values.value import Primitive, Record, symbol


def begun(task, inputs=None, overrides=None, conversations=(), **options):
    """What a task begins with: conversation and want."""
    conversation, _, want = system(**options).begin(
        task, inputs or {}, overrides or {}, conversations
    )
    return conversation, want


def error_of(want):
    """The fields of the error that broke it."""
    assert isinstance(want, Broke)
    return want.error.fields


def prompt_of(want):
    """The first user message."""
    assert isinstance(want, Perform)
    return want.asks[0].arguments[0]["messages"][0]["content"][0]["text"]


def parent(name="p", depth=0, items=(), signature="s"):
    """A conversation that stands around."""
    return Conversation(name, signature, depth, items)


@pytest.mark.parametrize(
    "source, value, expected",
    [
        ("{{x}}", "tea", "tea"),
        ("{{ x }}!", 3, "3!"),
        ("{{x}}", True, "true"),
        ("{{x}}", symbol("a"), "a"),
        ("{{x}}", (1, "a"), '[1, "a"]'),
        ("{{x}}", {"a": None}, '{"a": null}'),
        ("{{x.a.b}}", {"a": {"b": 1.5}}, "1.5"),
        ("{{ x.a[0].b }}", {"a": ({"b": "deep"},)}, "deep"),
        ("{{x[1]}}", ("a", "b"), "b"),
        ("{{x}}", task_result("done"), "done"),
        ("{{x}}", (task_result("one"), task_result("two")), '["one", "two"]'),
        ("{{x.content}}", task_result("done"), "done"),
        ("{{{{x}}", "v", "{{x}}"),
        ("{{{x}}}", "v", "{v}"),
        ('{"a": {"b": "{{x}}"}}', "v", '{"a": {"b": "v"}}'),
        ("{{x}}", "{{x}} {{y}} {{{{", "{{x}} {{y}} {{{{"),
    ],
)
def test_a_placeholder_is_the_text_of_its_value(source, value, expected):
    """Scalars and TaskResults are text, lists and tables JSON; no value is expanded again."""
    _, want = begun(template(source, "x"), {"x": value})

    assert expected == prompt_of(want)


def test_all_placeholders_that_lead_nowhere_are_one_failure():
    """They are listed together, from every text of the template."""
    task = template("{{x.a}} {{y}} {{f(x)}} {{", "x", system="{{z}} {{x[0]}}")
    error = error_of(begun(task, {"x": {"b": 1}})[1])

    assert error["reason"] == "input_validation_failure"
    assert error["details"]["missing"] == ("x.a", "y", "f(x)", "{{", "z", "x[0]")


@pytest.mark.parametrize("given", ["", " \n\t", None])
def test_a_prompt_that_is_blank_is_not_sent(given):
    """No provider takes one: the placeholders that it consists of are named."""
    task = template("{{x}} {{x}}", "x")
    error = error_of(begun(task, {"x": given if given is not None else task_result("")})[1])

    assert error["reason"] == "input_validation_failure"
    assert error["details"]["blank"] == ("x",)
    assert prompt_of(begun(task, {"x": "."})[1]) == ". ."


@pytest.mark.parametrize("wrong", [{"use_session_history": "x"}, {"turns": 3}])
def test_settings_of_a_history_are_checked_where_there_is_none(wrong):
    """What a request says is right or refused, whether it matters or not."""
    error = error_of(begun(template(), {}, {"history_config": wrong})[1])

    assert error["reason"] == "input_validation_failure"
    assert error["message"].startswith("history_config has no such setting or value")


def test_all_inputs_that_do_not_fit_are_one_failure():
    """Missing, unknown and of the wrong type: all are named."""
    params = (Param("a"), Param("b", "integer"), Param("c", "string"), Param("d", required=False))
    error = error_of(begun(Template("t", params), {"b": True, "c": 1, "e": 0})[1])

    assert error["reason"] == "input_validation_failure"
    assert error["details"]["missing"] == ("a",)
    assert error["details"]["unknown"] == ("e",)
    assert [item["name"] for item in error["details"]["invalid"]] == ["b", "c"]
    assert all(word in error["message"] for word in ("`a`", "`b`", "`c`", "`e`"))


def test_an_optional_parameter_has_its_default():
    """Left out or nil is the same."""
    task = Template("t", (Param("n", "integer", required=False, default=7),), "{{n}}")

    assert prompt_of(begun(task)[1]) == "7"
    assert prompt_of(begun(task, {"n": None})[1]) == "7"


def test_a_function_is_no_input():
    """Not even inside a list."""
    function = Primitive("f", len, 1, 1)

    assert (
        error_of(begun(template("", "x"), {"x": function})[1])["reason"]
        == "input_validation_failure"
    )
    assert error_of(begun(template("", "x"), {"x": (function,)})[1])["reason"] == "not-data"


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan")])
def test_a_number_that_json_lacks_is_no_part_of_a_prompt(number):
    """Nothing is put in its place, whether it stands alone or inside of something."""
    for value in (number, (1, number), {"a": {"b": number}}):
        error = error_of(begun(template("{{x}}", "x"), {"x": value})[1])
        assert "not-json" == error["reason"]
        assert "a model cannot be given" in error["message"]
    _, want = begun(template("{{x.a}}", "x"), {"x": {"a": "tea", "b": number}})
    assert "tea" == prompt_of(want)


def test_an_input_may_be_nested_deeper_than_python_recurses():
    """A list in a list in a list, 20,000 times."""
    deep = ()
    for _ in range(20_000):
        deep = (deep,)

    assert prompt_of(begun(template("{{x}}", "x"), {"x": deep})[1]) == "[" * 20_001 + "]" * 20_001


def test_a_task_without_instructions_sends_its_description_and_says_so():
    """The warning is in the notes."""
    run = converse(template("  ", description="Describe {{x}}."), [], {})

    assert run.error["reason"] == "input_validation_failure"
    run = converse(template("  ", "x", description="Describe {{x}}."), [says("ok")], {"x": "tea"})
    assert run.requests[0]["messages"][0]["content"][0]["text"] == "Describe tea."
    assert "no instructions" in run.notes["warnings"][0]


def test_a_tool_that_nobody_has_is_noted():
    """Where it is known who has which."""
    task = template(allowed_tools=("read_file", "zip", "look"))
    known = {"look": {"description": "", "input_schema": {}}}
    run = converse(task, [says("done")], tools=known, all_tools=True)
    unknown = converse(task, [says("done")], tools=known)

    assert ("there is no tool `zip`",) == run.notes["warnings"]
    assert () == unknown.notes["warnings"]


def test_the_root_has_depth_0_and_children_one_more():
    """Depth is that of the nearest conversation plus one."""
    assert begun(template())[0].depth == 0
    assert begun(template(), conversations=(parent(), parent(depth=2)))[0].depth == 3


@pytest.mark.parametrize(
    "depth, overrides, options, refused",
    [
        (3, {}, {}, False),
        (4, {}, {}, True),
        (4, {"max_depth": 9}, {}, True),
        (1, {"max_depth": 2}, {}, True),
        (0, {"max_depth": 2}, {}, False),
        (6, {}, {"max_task_depth": 8}, False),
        (7, {}, {"max_task_depth": 8}, True),
        (6, {"max_depth": 9}, {"max_task_depth": 7}, True),
    ],
)
def test_a_child_that_would_reach_the_limit_is_refused(depth, overrides, options, refused):
    """The limit is the run's, 5 where it says none; a request may lower it and never raise it."""
    _, want = begun(template(), {}, overrides, (parent(depth=depth),), **options)

    assert refused == isinstance(want, Broke)
    if refused:
        error = error_of(want)
        assert (error["type"], error["reason"]) == ("TASK_FAILURE", "execution_halted")
        assert error["details"]["limit_kind"] == "max_depth"
        assert depth + 1 == error["details"]["nestingDepth"]


def test_a_max_depth_of_0_is_a_limit_and_not_the_absence_of_one():
    """Nothing may begin then."""
    assert isinstance(begun(template(), {}, {"max_depth": 0})[1], Broke)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"k": "one  two", "l": 1}, {"l": 1, "k": " one two"}),
        ("one  two\n", " one two"),
        (("a b", {"c": 1}), ("a  b", {"c": 1})),
        (1, 1),
    ],
)
def test_a_task_is_no_ancestor_of_itself_with_the_same_inputs(one, other):
    """Order of keys and white space do not make inputs different, nor the order of files."""
    task = template("Do it.", "x", name="b")
    above, _ = begun(task, {"x": one}, {"file_paths": ("f", "g")})
    again = {"file_paths": ("g", "f")}
    error = error_of(begun(task, {"x": other}, again, (above, parent("c", 1)))[1])

    assert error["reason"] == "execution_halted"
    assert error["details"]["cycle"] == ("b", "c", "b")
    assert error["details"]["limit_kind"] == "cycle"


def test_other_inputs_or_files_make_no_cycle():
    """Nor do siblings: only ancestors count."""
    task = template("Do it.", "x")
    above, _ = begun(task, {"x": "one"})

    assert isinstance(begun(task, {"x": "two"}, {}, (above,))[1], Perform)
    assert isinstance(begun(task, {"x": "one"}, {"file_paths": ("f",)}, (above,))[1], Perform)


def test_fresh_and_inherited_context_exclude_each_other_where_both_are_set():
    """Across template and request as well; the message names both settings."""
    task = template(context_management=ContextManagement(inherit_context="full"))
    error = error_of(begun(task, {}, {"context_management": {"fresh_context": "enabled"}})[1])

    assert error["reason"] == "input_validation_failure"
    assert CONFLICT.format("full") == error["message"]


def test_what_is_set_wins_over_what_is_defaulted():
    """The counterpart adjusts, and the notes say so."""
    run = converse(
        template(subtype="subtask"),
        [says("ok")],
        overrides={"context_management": {"inheritContext": "subset"}},
    )

    assert run.notes["warnings"] == ("fresh_context is disabled because inherit_context is subset",)


def test_minimal_context_is_a_warning():
    """Valid, but perhaps not meant."""
    task = template(context_management=ContextManagement(inherit_context="none"))

    assert converse(task, [says("ok")]).notes["warnings"] == (MINIMAL,)


@pytest.mark.parametrize(
    "overrides, field",
    [
        ({"max_depth": -1}, "max_depth"),
        ({"max_depth": True}, "max_depth"),
        ({"file_paths": "x"}, "file_paths"),
        ({"file_paths": (1,)}, "file_paths"),
        ({"model": 3}, "model"),
        ({"context_management": {"inherit_context": "some"}}, "context_management.inherit_context"),
        ({"context_management": {"accumulate_data": 1}}, "context_management.accumulate_data"),
        ({"context_management": {"speed": "fast"}}, "context_management.speed"),
    ],
)
def test_overrides_are_checked(overrides, field):
    """The field that does not fit is named."""
    error = error_of(begun(template(), {}, overrides)[1])

    assert error["reason"] == "input_validation_failure"
    assert (field,) == error["details"]["fields"]


@pytest.mark.parametrize("turns", [0, -1, True, "1"])
def test_there_is_at_least_one_turn_to_include(turns):
    """And the hint says how there is none."""
    overrides = {"history": (), "history_config": {"history_turns_to_include": turns}}
    error = error_of(begun(template(), {}, overrides)[1])

    assert ("history_config.history_turns_to_include",) == error["details"]["fields"]
    assert "at least 1 turn" in error["hint"] and "use_session_history: false" in error["hint"]


def test_files_are_read_first_and_shown_with_their_paths():
    """Together, under attempt; what is missing is a warning; a file cannot close its wrapper."""
    task = template(file_paths=FilePaths(paths=("a.md", "b.md", "a.md")), system="Be terse.")
    run = converse(task, [("text </file> </FILE >", failure()), says("ok")])
    perform = run.performed[0]

    assert perform.together
    assert [(ask.operation, ask.arguments, ask.attempt) for ask in perform.asks] == [
        ("read-file", ("a.md",), True),
        ("read-file", ("b.md",), True),
    ]
    fence = f'fence="{sign("text </file> </FILE >")[:16]}"'
    text = "text &lt;/file> &lt;/FILE >"
    shown = f'Be terse.\n\n===\n\n<file path="a.md" {fence}>\n{text}\n</file {fence}>'
    assert shown == run.requests[0]["system"]
    assert run.notes["context_source"] == "template_literal"
    assert run.notes["context_files_count"] == 1
    assert "b.md" in run.notes["warnings"][0]


def test_files_of_a_request_replace_those_of_the_template():
    """Whatever the context settings are."""
    task = template(file_paths=FilePaths(paths=("a.md",)), subtype="subtask")
    run = converse(task, [("B",), says("ok")], overrides={"file_paths": ("b.md",)})

    assert run.requests[0]["system"] == '<file path="b.md">\nB\n</file>'
    assert run.notes["context_source"] == "explicit_request"


def test_no_value_becomes_part_of_a_path():
    """Where a template came past the check, its path is what it says; `{{{{` writes two braces."""
    paths = ("docs/{{name}}.md", "{{{{name}}.md")
    task = template("x", "name", file_paths=FilePaths(paths=paths))

    asks = begun(task, {"name": "../tea"})[1].asks
    assert [ask.arguments for ask in asks] == [("docs/{{name}}.md",), ("{{name}}.md",)]


def test_a_source_that_finds_nothing_leaves_the_task_without_files():
    """Nothing found is no fault; a search that fails is one, and is noted."""
    task = template(file_paths=FilePaths("description", text="all about tea"))
    nothing = {"summary": "", "matches": (), "error": None}
    broken = {**nothing, "error": {"reason": "context_retrieval_failure", "message": "gone"}}

    assert converse(task, [(nothing,), says("ok")]).notes["context_source"] == "none"
    run = converse(task, [(broken,), says("ok")])
    assert run.notes["context_source"] == "resolution_failed"
    assert "gone" in run.notes["warnings"][0]


def test_full_inheritance_shows_the_items_of_the_nearest_conversation():
    """A file that the parent saw is read again, so that mocks and permissions hold for it too."""
    items = ({"source": "memo", "text": "Tea is wet."}, {"source": "a.md", "text": None})
    above = (parent(items=({"source": "old", "text": "unseen"},)), parent("q", 1, items))
    run = converse(template(), [("A",), says("ok")], conversations=above)

    assert run.performed[0].asks[0].arguments == ("a.md",)
    assert (
        run.requests[0]["system"]
        == '<context source="memo">\nTea is wet.\n</context>\n\n<file path="a.md">\nA\n</file>'
    )
    assert items == run.conversation.items


def test_a_subset_holds_what_has_to_do_with_the_prompt():
    """Of inherited items only those that share words with it."""
    items = (
        {"source": "tea.md", "text": "Brewing green tea leaves."},
        {"source": "cars.md", "text": "Engines want petrol."},
    )
    task = template("Write about green leaves.", context_management=ContextManagement("subset"))
    run = converse(task, [says("ok")], conversations=(parent(items=items),))

    assert "tea.md" in run.requests[0]["system"]
    assert "cars.md" not in run.requests[0]["system"]


@pytest.mark.parametrize(
    ("body", "prompt", "fits"),
    [
        ("make tea", "tea", True),
        ("A tea is brewed.", "brew it", True),
        ("def parseHeader(text)", "headers", True),
        ("How it is parsed", "parsing", True),
        ("Engines of the car", "the leaves of a tree", False),
        ("お茶の淹れ方", "お茶", True),
        ("お茶の淹れ方", "車を運転する", False),
    ],
)
def test_a_subset_goes_by_telling_words(body, prompt, fits):
    """However short, whatever their ending and script; not by those that every text has."""
    task = template(prompt, context_management=ContextManagement("subset"))
    items = ({"source": "x", "text": body},)
    run = converse(task, [says("ok")], conversations=(parent(items=items),))

    assert fits == (body in (run.requests[0].get("system") or ""))


def test_explicit_files_are_the_subset():
    """Nothing else is inherited then."""
    items = ({"source": "memo", "text": "Do it."},)
    run = converse(
        template(context_management=ContextManagement("subset")),
        [("B",), says("ok")],
        overrides={"file_paths": ("b.md",)},
        conversations=(parent(items=items),),
    )

    assert run.requests[0]["system"] == '<file path="b.md">\nB\n</file>'


def test_a_subtask_inherits_nothing_by_default():
    """Its defaults are none, no accumulation, fresh; a request overrides each of them."""
    above = (parent(items=({"source": "memo", "text": "Tea."},)),)
    task, nothing = template(subtype="subtask"), {"summary": "", "matches": (), "error": None}
    run = converse(task, [(nothing,), says("ok")], conversations=above, memory=True)

    assert [ask.operation for perform in run.performed for ask in perform.asks] == [
        "search-memory",
        "model",
    ]
    assert run.requests[0]["system"] == ""

    wanted = {"inherit_context": "full", "fresh_context": "disabled", "accumulate_data": True}
    overrides = {"context_management": wanted, "previous_outputs": ("done",)}
    run = converse(task, [says("ok")], overrides=overrides, conversations=above, memory=True)
    assert len(run.performed) == 1
    assert "Tea." in run.requests[0]["system"] and "done" in run.requests[0]["system"]


def test_children_may_inherit_the_files_of_their_parent():
    """They stand in the conversation by name."""
    conversation, _ = begun(template(file_paths=FilePaths(paths=("a.md",))))

    assert conversation.items == ({"source": "a.md", "text": None},)


@pytest.mark.parametrize(
    "format_, expected",
    [
        ("notes_only", '{"status": "COMPLETE", "score": 1}\n\nplain'),
        ("full_output", "all\n\nplain"),
    ],
)
def test_previous_outputs_are_shown_by_the_accumulation_format(format_, expected):
    """Of a TaskResult its notes without provenance, or its content; text as it is."""
    first = task_result("all", notes={"score": 1, "model": "m"})
    task = template(context_management=ContextManagement(None, True, format_))
    run = converse(task, [says("ok")], overrides={"previous_outputs": (first, "plain")})

    assert f"<previous_outputs>\n{expected}\n</previous_outputs>" == run.requests[0]["system"]


def test_previous_outputs_stay_out_where_the_template_says_so():
    """An explicit accumulate_data false wins, with a warning."""
    task = template(context_management=ContextManagement(accumulate_data=False))
    run = converse(task, [says("ok")], overrides={"previous_outputs": "x"})

    assert run.requests[0]["system"] == ""
    assert len(run.notes["warnings"]) == 1


def test_a_request_names_the_model_and_the_form_of_the_answer():
    """The model of the request wins; expectations stand in the system prompt."""
    run = converse(
        template(model="m1"),
        [says("ok")],
        overrides={"model": "local", "return_expectations": "one word", "speed": 1},
    )

    assert run.requests[0]["model"] == "local"
    assert run.requests[0]["system"] == "Form of the answer: one word"
    assert "`speed`" in run.notes["warnings"][0]


def test_a_record_may_be_an_object():
    """An error can be told to a task."""
    task = Template("t", (Param("e", "object"),), "{{e.reason}}")

    assert prompt_of(begun(task, {"e": Record("error", {"reason": "r"})})[1]) == "r"
