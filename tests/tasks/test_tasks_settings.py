"""Settings of one call: template over defaults, request over template; what no setting changes."""

import json
import sys
from typing import Any

import pytest
from attrs import evolve
from tasks_driver import converse, failure, says, template, uses

from sexplang.tasks import task_system
from sexplang.tasks.start.call_settings import MINIMAL
from sexplang.templates import json_schema, read_reply, xml_words
from sexplang.terms.task import Conversation, Finished, Perform, task_result
from sexplang.terms.template import ContextManagement, FilePaths, OutputFormat, Param, Template
from sexplang.terms.values.boundary import value_of

LEGAL = [
    ("full", False, "disabled"),
    ("full", True, "disabled"),
    ("none", False, "disabled"),
    ("none", True, "disabled"),
    ("none", False, "enabled"),
    ("none", True, "enabled"),
    ("subset", False, "disabled"),
    ("subset", True, "disabled"),
]
ABOVE = (Conversation("p", "s", 0, ({"source": "memo", "text": "Green tea leaves."},)),)
NOTHING: dict[str, Any] = {"summary": "", "matches": (), "error": None}
FOUND: dict[str, Any] = {**NOTHING, "matches": ({"id": "m.md", "source_path": "m.md"},)}
EARLIER = (task_result("all", notes={"score": 1}),)


def seen(run: Any) -> tuple[bool, bool, bool]:
    """Whether the model saw what was inherited, what was done before, and what was found."""
    system = run.requests[0]["system"]
    return "memo" in system, "<previous_outputs>" in system, "m.md" in system


@pytest.mark.parametrize(("inherit", "accumulate", "fresh"), LEGAL)
@pytest.mark.parametrize("way", ["template", "request"])
def test_each_legal_combination_shows_what_it_says(way, inherit, accumulate, fresh):
    """Whoever sets it; a named file is there in all eight, and comes first."""
    chosen = {
        "inherit_context": inherit,
        "accumulate_data": accumulate,
        "fresh_context": fresh,
    }
    overrides: dict[str, Any] = {"previous_outputs": EARLIER}
    task = template("Brew tea.")
    if way == "template":
        settings, files = ContextManagement(**chosen), FilePaths(paths=("a.md",))
        task = template("Brew tea.", context_management=settings, file_paths=files)
    else:
        overrides |= {"context_management": chosen, "file_paths": ("a.md",)}
    is_fresh = fresh == "enabled"
    script = [(FOUND,), ("A", "M"), says("ok")] if is_fresh else [("A",), says("ok")]
    run = converse(task, script, overrides=overrides, conversations=ABOVE, memory=True)

    # With a request's own files these are the subset.
    inherits = inherit == "full" or (inherit == "subset" and way == "template")
    assert (inherits, accumulate, is_fresh) == seen(run)
    assert '<file path="a.md">\nA\n</file>' in run.requests[0]["system"]
    assert "a.md" == run.performed[-2].asks[0].arguments[0]
    assert MINIMAL not in run.notes["warnings"]  # a file is in the prompt


@pytest.mark.parametrize(
    ("subtype", "sees"),
    [
        ("standard", (True, True, False)),
        ("director", (True, True, False)),
        ("evaluator", (True, True, False)),
        ("subtask", (False, True, True)),
        ("aider_interactive", (False, True, True)),
        ("aider_automatic", (False, True, True)),
    ],
)
@pytest.mark.parametrize("way", ["template", "request"])
def test_what_nobody_sets_follows_the_subtype(way, subtype, sees):
    """That of the request, else that of the template; without `previous_outputs` there are none."""
    task = template(subtype=subtype if way == "template" else "director")
    overrides = {} if way == "template" else {"subtype": subtype}
    script = [(FOUND,), ("M",), says("ok")] if sees[2] else [says("ok")]
    given = {"conversations": ABOVE, "memory": True}
    run = converse(task, script, overrides={**overrides, "previous_outputs": EARLIER}, **given)
    assert sees == seen(run)

    run = converse(task, script, overrides=overrides, **given)
    assert (sees[0], False, sees[2]) == seen(run)


@pytest.mark.parametrize(
    ("template_has", "request_has", "shown"),
    [
        (None, {}, '"score": 1'),
        ("full_output", {}, "all"),
        ("notes_only", {"accumulation_format": "full_output"}, "all"),
        ("full_output", {"accumulation_format": "notes_only"}, '"score": 1'),
    ],
)
def test_a_request_wins_over_its_template_and_that_over_the_defaults(
    template_has, request_has, shown
):
    task = template(context_management=ContextManagement(accumulation_format=template_has))
    overrides = {"previous_outputs": EARLIER, "context_management": request_has}
    run = converse(task, [says("ok")], overrides=overrides)

    assert shown in run.requests[0]["system"]


@pytest.mark.parametrize(
    ("subtype", "set_", "sees"),
    [
        ("subtask", {"inherit_context": "full"}, (True, False, False)),
        ("subtask", {"inherit_context": "none"}, (False, False, True)),
        ("subtask", {"fresh_context": "disabled"}, (False, False, False)),
        ("standard", {"fresh_context": "enabled"}, (False, False, True)),
        ("standard", {"fresh_context": "disabled"}, (True, False, False)),
    ],
)
@pytest.mark.parametrize("way", ["template", "request"])
def test_what_is_defaulted_adjusts_to_what_is_set(way, subtype, set_, sees):
    """Where both could not stand together, and with a warning only there."""
    task = template(subtype=subtype)
    overrides: dict[str, Any] = {"context_management": set_}
    if way == "template":
        task, overrides = evolve(task, context_management=ContextManagement(**set_)), {}
    script = [(FOUND,), ("M",), says("ok")] if sees[2] else [says("ok")]
    run = converse(task, script, overrides=overrides, conversations=ABOVE, memory=True)

    adjusted = set_ in ({"inherit_context": "full"}, {"fresh_context": "enabled"})
    assert sees == seen(run)
    assert adjusted == any("because" in said for said in run.notes["warnings"])
    assert (MINIMAL in run.notes["warnings"]) == (sees == (False, False, False))


@pytest.mark.parametrize(
    ("files", "reply", "source"),
    [
        (FilePaths(paths=("m.md",)), None, "template_literal"),
        (FilePaths("command", text="ls"), ("m.md",), "template_command"),
        (FilePaths("description", text="tea"), FOUND, "template_description"),
        (FilePaths("context_description", text="tea"), FOUND, "template_context_description"),
        (FilePaths("description", text="tea"), NOTHING, "none"),
        (FilePaths("command", text="ls"), {"exit_code": 1, "stdout": ""}, "resolution_failed"),
        (FilePaths(), None, "none"),
    ],
)
def test_the_notes_say_where_files_come_from(files, reply, source):
    """And how many there are; a file that is not there is a warning and not counted."""
    script: list[Any] = [] if reply is None else [(value_of(reply),)]
    is_found = source not in ("none", "resolution_failed")
    run = converse(template(file_paths=files), [*script, *[("M",)] * is_found, says("ok")])
    assert (source, is_found) == (
        *(run.notes["context_source"],),
        run.notes["context_files_count"] == 1,
    )
    if is_found:
        gone = [*script, (failure("file-not-found"),), says("ok")]
        run = converse(template(file_paths=files), gone)
        assert 0 == run.notes["context_files_count"]
        assert "`m.md` could not be read" in run.notes["warnings"][0]


def test_the_search_knows_what_the_task_is_about():
    """Its description with the values of the call, its inputs and its subtype."""
    task = Template("t", (Param("what"),), "Do it.", "Writes of {{what}}.", subtype="subtask")
    run = converse(task, [(NOTHING,), says("ok")], {"what": "tea"}, memory=True)

    assert {
        "template_description": "Writes of tea.",
        "template_type": "atomic",
        "template_subtype": "subtask",
        "inputs": {"what": "tea"},
        "matching_strategy": "content",
        "limit": 10,
    } == run.performed[0].asks[0].arguments[0]


@pytest.mark.parametrize("inherit", ["full", "subset", "none"])
def test_a_search_asks_for_what_the_task_is_about_alone(inherit):
    """Words of what is inherited, or was done before, would find files by themselves."""
    settings = ContextManagement(inherit_context=inherit, accumulate_data=True)
    files = FilePaths("context_description", text="tea")
    task = template("Brew tea.", file_paths=files, context_management=settings)
    overrides = {"previous_outputs": "one"}
    run = converse(task, [(NOTHING,), says("ok")], overrides=overrides, conversations=ABOVE)
    (query,) = run.performed[0].asks[0].arguments

    assert {"query", "template_type", "matching_strategy", "limit"} == set(query)


def test_a_template_is_prepared_once_and_each_call_is_a_conversation_of_its_own():
    """However often it is called; what was said in one call is in no other."""
    schemas = []

    def counted(format_: OutputFormat) -> Any:
        schemas.append(format_)
        return json_schema(format_)

    tasks = task_system(read_reply, counted, xml_words)
    task = template(output_format=OutputFormat("json", "object"), allowed_tools=("look",))
    first = tasks.begin(task, {}, {}, ())
    session, want = tasks.advance(first[1], (uses(("a", "look", {})),))
    assert isinstance(want, Perform)
    _, want = tasks.advance(session, ("found",))
    assert isinstance(want, Perform)
    again = tasks.begin(task, {}, {}, ())

    assert first == again and 1 == len(schemas)
    _, want = tasks.advance(again[1], (says("{}"),))
    assert isinstance(want, Finished)
    assert 1 == want.result.fields["notes"]["turns"]


@pytest.mark.parametrize("request_", [{"name": "last"}, {"description": "x", "subtype": "rare"}])
def test_a_task_is_found_in_time_that_grows_with_their_number(request_):
    """By its name, and by a subtype that one alone has: ten times as many tasks are no more than
    ten times the work, counted in calls of functions."""
    counts = []
    for number in (200, 2_000):
        many = tuple(template(name=f"t{at}") for at in range(number))
        tasks = task_system(read_reply, json_schema, xml_words).knowing(
            (*many, template(name="last", subtype="rare"))
        )
        assert "last" == tasks.match(request_, ()).template.name
        counts.append(_calls(lambda tasks=tasks: tasks.match(request_, ())))

    assert counts[1] <= 11 * counts[0]
    assert counts[1] <= 100 * 2_000


def _calls(work: Any) -> int:
    """How many functions are called."""
    count = 0

    def counted(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def test_context_assembly_orders_what_is_shown():
    """Primary first, secondary last, what is excluded not at all, and not read either."""
    task = template(
        file_paths=FilePaths(paths=("a.md", "b.md", "c.log", "d.md")),
        context_assembly=(
            ("primary_elements", "d.md, previous_outputs"),
            ("secondary_elements", "a.*"),
            ("excluded_elements", "*.log"),
        ),
    )
    overrides = {"previous_outputs": "one"}
    run = converse(task, [("A", "B", "D"), says("ok")], overrides=overrides)
    system = run.requests[0]["system"]

    assert ["a.md", "b.md", "d.md"] == [ask.arguments[0] for ask in run.performed[0].asks]
    places = [system.index(words) for words in ('"d.md"', "<previous_outputs>", '"b.md"', '"a.md"')]
    assert sorted(places) == places and "c.log" not in json.dumps(system)


@pytest.mark.parametrize("named", ["d.md", "./d.md", "a/../d.md", "/w/x/d.md", "d.*", "./*.md"])
@pytest.mark.parametrize("path", ["d.md", "./d.md", "../x/d.md", "/w/x/d.md"])
def test_context_assembly_names_a_file_in_any_way(named, path):
    """By another way to the same place than the task does."""
    task = template(
        file_paths=FilePaths(paths=("c.txt", path)),
        context_assembly=(("excluded_elements", named),),
    )
    run = converse(task, [("C",), says("ok")], folder="/w/x")

    assert ["c.txt"] == [ask.arguments[0] for ask in run.performed[0].asks]


@pytest.mark.parametrize(
    ("said", "notes", "shown"),
    [
        ("", {"error": {"message": "no tea"}}, "[FAILED: no tea]"),
        ("half", {"error": {"message": "no tea"}}, "half\n[FAILED: no tea]"),
        ("", {}, "[FAILED]"),
    ],
)
def test_an_earlier_output_that_failed_says_so(said, notes, shown):
    """Its content, if it has any, is not all that is to be known."""
    failed = task_result(said, "FAILED", notes=notes)
    task = template(context_management=ContextManagement(accumulation_format="full_output"))
    run = converse(task, [says("ok")], overrides={"previous_outputs": (failed, "tea")})

    expected = f"<previous_outputs>\n{shown}\n\ntea\n</previous_outputs>"
    assert expected == run.requests[0]["system"]


def test_what_sees_earlier_outputs_is_not_warned_of_minimal_context():
    """Though nothing is inherited and nothing looked for."""
    settings = ContextManagement(inherit_context="none", fresh_context="disabled")
    task = template(context_management=settings)

    run = converse(task, [says("ok")], overrides={"previous_outputs": "one"})
    assert () == run.notes["warnings"] and "one" in run.requests[0]["system"]
    assert (MINIMAL,) == converse(task, [says("ok")]).notes["warnings"]
