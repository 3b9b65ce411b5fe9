"""What a model is told that it may ask for, and which task its request finds."""

import json

import pytest
from support.command import sexplang as command

import sexplang
from sexplang.tasks.prompt.window import tokens_in
from sexplang.tasks.requests.catalogue import MOST_TOKENS

SUMMARIZE = """
(defatom summarize (description "Summarize a text") (params text) (instructions "Sum {{text}}"))
"""


@pytest.fixture
def requests(tmp_path):
    """Runs a program, whose models say "done": the requests that they were sent."""

    def requests(text, reply=lambda payload: "done", **files):
        for name, held in files.items():
            (tmp_path / f"{name}.sexp").write_text(held)
        file = tmp_path / "main.sexp"
        file.write_text(text)
        seen = []

        def model(payload):
            seen.append(payload)
            return reply(payload)

        sexplang.run(file, model=model)
        return seen

    return requests


def described(payload, tool="spawn_subtask"):
    """What the description of a tool lists: each line of it."""
    (found,) = [each for each in payload["tools"] if each["name"] == tool]
    return found["description"].split("\n")[1:]


def test_the_tool_lists_tasks_nearest_first(requests):
    """Those of the same file, then those of imported ones; not itself, nor what is private."""
    near = """
    (defatom helper (description "Help") (params (n integer) (why string required: false))
      (instructions "{{n}}"))
    (defatom _own (instructions "Mine."))
    (defatom last (params (where list doc: "Places to look.")) (instructions "Go {{where}}"))
    """
    main = f"""
    (import "far.sexp" as: far)
    {near}
    (defatom chief (description "Lead") (instructions "Lead.") (allowed_tools spawn_subtask))
    (chief)
    """
    (payload,) = requests(main, far=SUMMARIZE)

    assert [
        "- helper(n: integer, why?: string): Help",
        "- last(where: list): Go where",
        "  where: Places to look.",
        "- summarize(text: any): Summarize a text",
    ] == described(payload)
    schema = payload["tools"][0]["input_schema"]["properties"]["name"]
    assert ["helper", "last", "summarize"] == schema["enum"]


def test_a_task_of_an_imported_file_has_its_own_neighbours_first(requests):
    """What is nearest is not what the program's own file has."""
    far = f"""
    (defatom chief (instructions "Lead.") (allowed_tools spawn_subtask))
    {SUMMARIZE}
    """
    main = """
    (import "far.sexp" as: far)
    (defatom aside (instructions "Aside."))
    (far.chief)
    """
    (payload,) = requests(main, far=far)

    names = [line.partition("(")[0] for line in described(payload)]
    assert ["- summarize", "- aside"] == names


def test_a_clause_names_them(requests):
    """In its order; a list has nothing else, and nothing else is found."""
    told = []

    def reply(payload):
        if payload["task"] != "chief":
            return "wrong"
        (*_, last) = payload["messages"]
        if len(payload["messages"]) == 1:
            asked = {"name": "third", "description": "third", "inputs": {}}
            return {"tool_use": {"name": "spawn_subtask", "input": asked}}
        told.append(json.loads(last["content"][0]["content"]))
        return "done"

    main = """
    (defatom first-one (instructions "1"))
    (defatom second (instructions "2"))
    (defatom third (instructions "3"))
    (defatom chief (instructions "Lead.") (allowed_tools spawn_subtask) (subtasks second first-one))
    (chief)
    """
    seen = requests(main, reply)

    assert ["- second(): 2", "- first-one(): 1"] == described(seen[0])
    assert ["chief", "chief"] == [each["task"] for each in seen]
    assert "template_not_found" == told[0]["reason"]
    assert "`first-one()`, `second()`" in told[0]["message"]


def test_a_clause_of_xml_says_the_same(tmp_path):
    """A preview shows the list line by line, and a name that is no task's is a finding."""
    file = tmp_path / "tasks.xml"
    file.write_text("""<templates>
      <task name="chief"><instructions>Lead.</instructions>
        <allowed_tools><tool>spawn_subtask</tool></allowed_tools>
        <subtasks><subtask>clerk</subtask><subtask>clark</subtask></subtasks></task>
      <task name="clerk"><instructions>Work.</instructions></task>
    </templates>""")
    done = command("check", file.name, cwd=tmp_path)

    assert "unknown-subtask" in done.stdout + done.stderr
    assert "`clark`" in done.stdout + done.stderr
    shown = command("task", "chief", "--from", file.name, "--preview", cwd=tmp_path)
    assert "\n        - clerk(): Work.\n" in shown.stdout


def test_private_tasks_of_one_name_have_their_own_lists(requests):
    """What both may have is all that either can have done: a name does not say who asks."""
    told = []

    def reply(payload):
        (*_, last) = payload["messages"]
        if "(leads)" not in payload["messages"][0]["content"][0]["text"]:
            return "child"
        if len(payload["messages"]) == 1:
            calls = [{"name": "spawn_subtask", "input": {"name": n}} for n in ("near", "far-off")]
            return {"tool_use": calls}
        told.append([block.get("is_error", False) for block in last["content"]])
        return "done"

    lead = '(defatom _boss (instructions "(leads)") (allowed_tools spawn_subtask) (subtasks %s))'
    far = f"""
    (defatom far-off (instructions "Far."))
    {lead % "far-off near"}
    (define (lead) (_boss))
    """
    main = f"""
    (import "far.sexp" as: far)
    (defatom near (instructions "Near."))
    {lead % "near"}
    [(_boss) (far.lead)]
    """
    seen = requests(main, reply, far=far)

    assert ["- near(): Near."] == described(seen[0])
    assert [[False, True], [False, True]] == told


def test_a_subagent_that_has_the_tool_has_the_list(requests):
    """The tool is no part of a template there."""
    main = f"""
    (import std/subagents)
    {SUMMARIZE}
    (spawn-subagent task: "Lead." tools: ["spawn_subtask"])
    """
    (payload,) = requests(main)

    assert ["- summarize(text: any): Summarize a text"] == described(payload)


def test_both_tools_have_one_list(requests):
    """The second refers to the first, and has the names as choices too."""
    main = f"""
    {SUMMARIZE}
    (defatom chief (instructions "Lead.") (allowed_tools propose_subplan spawn_subtask))
    (defatom planner (instructions "Plan.") (allowed_tools propose_subplan) (subtasks summarize))
    [(chief) (planner)]
    """
    chief, planner = requests(main)

    assert 2 == len(described(chief))
    assert [] == described(chief, "propose_subplan")
    plan = {tool["name"]: tool for tool in chief["tools"]}["propose_subplan"]
    assert plan["description"].endswith("The tasks are those that `spawn_subtask` lists.")
    name = plan["input_schema"]["properties"]["subtasks"]["items"]["properties"]["name"]
    assert ["planner", "summarize"] == sorted(name["enum"])
    assert ["- summarize(text: any): Summarize a text"] == described(planner, "propose_subplan")


def test_who_may_not_ask_is_told_nothing(requests):
    """Nor is anybody in a program without another task."""
    alone = '(defatom chief (instructions "Lead.") (allowed_tools spawn_subtask)) (chief)'
    (payload,) = requests(alone)
    assert [] == described(payload)
    assert "enum" not in payload["tools"][0]["input_schema"]["properties"]["name"]

    idle = f'{SUMMARIZE} (defatom chief (instructions "Lead.") (allowed_tools read_file)) (chief)'
    (payload,) = requests(idle)
    assert "summarize" not in json.dumps(payload["tools"])


@pytest.mark.parametrize(("count", "words", "shown"), [(12, 20, 12), (40, 200, 40), (400, 300, 0)])
def test_a_long_list_keeps_its_bound(requests, count, words, shown):
    """What is said of inputs goes first, then the farthest tasks; the rest is counted."""
    tasks = "".join(
        f'(defatom t{at} (description "{"word " * (words // 8)}")'
        f' (params (a string doc: "{"doc " * (words // 8)}")) (instructions "{{{{a}}}}"))\n'
        for at in range(count)
    )
    main = f'{tasks} (defatom chief (instructions "Go.") (allowed_tools spawn_subtask)) (chief)'
    (payload,) = requests(main)

    (tool,) = payload["tools"]
    lines = described(payload)
    assert tokens_in("\n".join(lines)) <= MOST_TOKENS
    listed = [line for line in lines if line.startswith("- ")]
    assert [f"- t{at}(" for at in range(len(listed))] == [
        line[: line.index("(") + 1] for line in listed
    ]
    names = tool["input_schema"]["properties"]["name"]
    if shown:
        assert shown == len(listed) == len(names["enum"])
    else:
        assert f"There are {count - len(listed)} more" in lines[-1]
        assert "enum" not in names and len(listed) > 10


def test_the_list_has_the_same_bytes_in_each_turn(requests):
    """Also where another run begins, so that what a provider keeps is found again."""

    def reply(payload):
        if payload["task"] != "chief" or len(payload["messages"]) > 4:
            return "done"
        asked = {"name": "summarize", "description": "d", "inputs": {"text": "x"}}
        return {"tool_use": {"name": "spawn_subtask", "input": asked}}

    main = f'{SUMMARIZE} (defatom chief (instructions "Go.") (allowed_tools spawn_subtask)) (chief)'
    both = [*requests(main, reply), *requests(main, reply)]

    asked = [json.dumps(each["tools"]) for each in both if each["task"] == "chief"]
    assert len(asked) == 6 and len(set(asked)) == 1


LOOK_UP = '(defatom look-up (params (what string)) (instructions "Find {{what}}"))'


@pytest.mark.parametrize("name", ["nosuch", "_priv", "Look_up"])
def test_a_clause_that_names_nobody_is_told_as_such(name):
    """What the program has beside it is not denied."""
    told = []

    def reply(payload):
        (*_, last) = payload["messages"]
        if len(payload["messages"]) == 1:
            asked = {"name": "look-up", "description": "d", "inputs": {"what": "x"}}
            return {"tool_use": {"name": "spawn_subtask", "input": asked}}
        told.append(json.loads(last["content"][0]["content"])["message"])
        return "done"

    # With a handler of `subtask`, which may have answered the name, it is a warning.
    main = f"""{LOOK_UP} (defatom _priv (instructions "Mine."))
    (defatom boss (instructions "Lead.") (allowed_tools spawn_subtask) (subtasks {name}))
    (handle (boss) ((subtask request) resume (forward resume subtask request)))"""
    sexplang.run(main, model=reply)

    assert told == [
        f"no task takes the request `look-up`: `boss` names `{name}`, "
        "and no task can be asked for by such a name"
    ]


@pytest.mark.parametrize(
    ("names", "tools", "rest", "severity"),
    [
        ("_priv", "", "", "error"),
        ("_priv look-up", "", "", "warning"),
        ("_priv nosuch", "", "", "warning"),
        ("_priv", "look-up", "", "warning"),
        ("_priv", "", "(handle (boss) ((subtask r) k (k 1)))", "warning"),
    ],
)
def test_a_clause_of_private_names_is_an_error(names, tools, rest, severity):
    """Unless something else may answer a request."""
    found = sexplang.check(f"""{LOOK_UP} (defatom _priv (instructions "Mine."))
    (defatom boss (instructions "Lead.") (allowed_tools spawn_subtask {tools}) (subtasks {names}))
    {rest or "(boss)"}""")

    (private,) = [each for each in found if "`_priv`" in each.title]
    assert ("unknown-subtask", severity) == (private.code, private.severity)
    assert "a private task cannot be asked for" in private.title
    assert private.hint == "call it `priv`: only public tasks can be asked for"


def test_a_prompt_in_place_of_a_description_has_no_braces(requests):
    (payload,) = requests(f"""{LOOK_UP}
    (defatom boss (instructions "Lead.") (allowed_tools spawn_subtask look-up)) (boss)""")

    assert ["- look-up(what: string): Find what"] == described(payload)
    assert "Find what" == payload["tools"][1]["description"]


def test_a_task_as_a_tool_has_its_defaults(requests):
    """What is long, or nil, is left out."""
    (payload,) = requests(f"""
    (defatom find (params (what string) (n integer default: 3) (by list default: ["a"])
                          (long string default: "{"x" * 400}") (none string required: false))
      (instructions "{{{{what}}}} {{{{n}}}} {{{{by}}}} {{{{long}}}} {{{{none}}}}"))
    (defatom boss (instructions "Lead.") (allowed_tools find)) (boss)""")

    properties = payload["tools"][0]["input_schema"]["properties"]
    assert properties["n"] == {"type": "integer", "default": 3}
    assert list(properties["by"]["default"]) == ["a"]
    assert [name for name, each in properties.items() if "default" in each] == ["n", "by"]


def test_a_definition_called_as_the_languages_own_tool_is_warned_of():
    """The model has the language's; a definition of another name is silence."""
    text = """(define (%s path) "mine" path) (%s "a")
    (defatom boss (instructions "Lead.") (allowed_tools read_file)) (boss)"""
    (found,) = sexplang.check(text.replace("%s", "read_file"))

    assert ("unknown-tool", "warning") == (found.code, found.severity)
    assert "the language's own tool and not the definition" in found.title
    assert [] == sexplang.check(text.replace("%s", "read_files"))
