"""The tools that a model is offered: names, descriptions and schemas."""

from collections.abc import Collection, Iterable
from shlex import quote

from sexplang.tasks.plans.schema import INPUTS, PROPOSE
from sexplang.tasks.requests.catalogue import Catalogue, catalogue
from sexplang.tasks.requests.definitions import tool_of, tool_of_function
from sexplang.tasks.requests.match import candidates
from sexplang.tasks.session import Rules, Setup
from sexplang.terms.classes.node import evolve
from sexplang.terms.template import Template, tool_alias
from sexplang.terms.values.value import Fault, Value

SCRIPT_SECONDS = 300
"""The longest time of a script. A model can ask for less."""

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}

_SUBTASK_FIELDS: dict[str, Value] = {
    "description": {"type": "string", "description": "what the subtask is to do, in one sentence"},
    "inputs": {"type": "object", "description": INPUTS},
    "name": {"type": "string", "description": "the name of the task to run, if it is known"},
    "template_hints": {**_TEXTS, "description": "words that help to find the right task"},
    "type": _TEXT,
    "subtype": _TEXT,
    "max_depth": {"type": "integer", "minimum": 0},
    "file_paths": {**_TEXTS, "description": "files that the subtask has to see"},
    "return_expectations": {"type": "string", "description": "the form of the answer you need"},
    "context_management": {
        "type": "object",
        "properties": {
            "inherit_context": {"enum": ("full", "none", "subset")},
            "accumulate_data": {
                "type": "boolean",
                "description": "whether it sees what your subtasks so far gave",
            },
            "accumulation_format": {"enum": ("notes_only", "full_output")},
            "fresh_context": {"enum": ("enabled", "disabled")},
        },
    },
}


def _tool(what: str, required: tuple[str, ...], /, **properties: Value) -> dict[str, Value]:
    return {
        "description": what,
        "input_schema": {"type": "object", "properties": properties, "required": required},
    }


BUILT_IN: dict[str, dict[str, Value]] = {
    "read_file": _tool("Reads a text file.", ("path",), path=_TEXT),
    "list_files": _tool("Lists the files that match a glob pattern.", ("glob",), glob=_TEXT),
    "spawn_subtask": _tool(
        "Has a subtask done and gives its result.", ("description", "inputs"), **_SUBTASK_FIELDS
    ),
    "propose_subplan": PROPOSE,
    "request_user_input": _tool(
        "Asks the user a question and gives the answer.",
        ("prompt",),
        prompt=_TEXT,
        choices={**_TEXTS, "description": "the answers to choose from, if they are few"},
    ),
    "system:run_script": _tool(
        "Runs a program, without a shell, and gives its exit_code, stdout and stderr.",
        ("command",),
        command={"type": "string", "description": "the name of the executable"},
        args={**_TEXTS, "description": "its arguments"},
        input={"type": "string", "description": "what it reads from standard input"},
        timeout={"type": "number", "description": f"seconds, at most {SCRIPT_SECONDS}"},
    ),
}
"""The tools that need no registration. The operation `tool` answers any other name."""

_TASK_NAMES: dict[str, tuple[str, ...]] = {
    "spawn_subtask": ("properties", "name"),
    "propose_subplan": ("properties", "subtasks", "items", "properties", "name"),
}
"""The tools that ask for tasks, and the path of a task's name in the schema of each."""

_ANY_OBJECT: dict[str, Value] = {"type": "object"}


def offer_tools(
    allowed: tuple[str, ...], rules: Rules, asks: Template
) -> tuple[dict[str, str], tuple[Value, ...]]:
    """Return the names that a task's model sees with the tools they stand for, and the definitions.
    Raises Fault for a tool of an unknown server, of which a model would see only the name."""
    listed = _catalogue_tools(allowed, rules.tasks, asks)
    names: dict[str, str] = {}
    tools: list[Value] = []
    for name in dict.fromkeys(allowed):
        seen = _safe(name, names)
        names[seen] = name
        known = listed.get(name) or BUILT_IN.get(name) or own_tool(name, rules)
        known = known or rules.tools.get(name) or {}
        if rules.all_tools and not known and ":" in name:
            raise _report_missing(name)
        tools.append(
            {
                "name": seen,
                "description": known.get("description", ""),
                "input_schema": known.get("input_schema", _ANY_OBJECT),
            }
        )
    return names, tuple(tools)


def _catalogue_tools(
    allowed: tuple[str, ...], tasks: tuple[Template, ...], asks: Template
) -> dict[str, dict[str, Value]]:
    """Return the definitions of the allowed tools that ask for tasks, with the catalogue. The
    catalogue stands in one of them, and the others refer to it."""
    asking = [name for name in _TASK_NAMES if name in allowed]
    found = catalogue(candidates(tasks, asks)) if asking else None
    if found is None:
        return {}
    first, *others = asking
    there = f"The tasks are those that `{first}` lists."
    words = {first: found.words, **dict.fromkeys(others, there)}
    return {name: _naming(BUILT_IN[name], name, found, words[name]) for name in asking}


def _naming(tool: dict[str, Value], name: str, found: Catalogue, words: str) -> dict[str, Value]:
    schema = tool["input_schema"]
    if found.names is not None:
        schema = _with_choices(schema, _TASK_NAMES[name], found.names)
    return {"description": f"{tool['description']} {words}", "input_schema": schema}


def _with_choices(schema: Value, path: tuple[str, ...], names: tuple[str, ...]) -> Value:
    if not path:
        return {**schema, "enum": names}
    return {**schema, path[0]: _with_choices(schema[path[0]], path[1:], names)}


def own_tool(name: str, rules: Rules) -> dict[str, Value] | None:
    """Return the definition of a tool that is a public task or a function of the program. Else
    None."""
    task = _task(name, rules)
    if task is not None:
        return tool_of(task)
    function = rules.functions.get(name)
    return None if function is None else tool_of_function(function)


def own_tools(names: Iterable[str], rules: Rules) -> dict[str, str]:
    """Return the program's tools among the names: `task` or `function`."""
    others = [name for name in names if name not in BUILT_IN]
    tasks = {name: "task" for name in others if _task(name, rules) is not None}
    functions = {name: "function" for name in others if name in rules.functions}
    return {**functions, **tasks}


def _task(name: str, rules: Rules) -> Template | None:
    return next((task for task in rules.tasks if task.is_public and task.name == name), None)


def missing_tools(allowed: tuple[str, ...], tools: Collection[str]) -> tuple[str, ...]:
    """Return the allowed tools that are neither built in nor known. Tools of servers are left out,
    because a task cannot begin without them."""
    others = [name for name in dict.fromkeys(allowed) if ":" not in name]
    return tuple([name for name in others if name not in BUILT_IN and name not in tools])


def with_tools(
    rules: Rules, setup: Setup, names: tuple[str, ...], asks: Template
) -> tuple[Setup, Value]:
    """Return the setup with these tools in place of the template's, and their definitions."""
    allowed = [each for name in names for each in (rules.tools if name == "*" else (name,))]
    own = own_tools(allowed, rules)
    known = (*BUILT_IN, *own, *rules.tools)
    unknown = [each for each in allowed if each not in known]
    if rules.all_tools and unknown:
        raise _unknown(unknown, rules)
    seen, tools = offer_tools(tuple(allowed), rules, asks)
    return evolve(setup, offered=seen, own=own), tools


def _unknown(names: list[str], rules: Rules) -> Fault:
    listed = ", ".join([f"`{name}`" for name in names])
    tasks = [task.name for task in rules.tasks if task.is_public]
    known = ", ".join([*sorted({*tasks, *rules.functions, *rules.tools}), *BUILT_IN])
    return Fault(
        "unknown-tool",
        f"nobody has the tool{'s' * (len(names) != 1)} {listed}; there are {known}",
        hint="register it with the run, or answer it with a handler of `tool`",
    )


def _report_missing(name: str) -> Fault:
    server = name.partition(":")[0]
    return Fault(
        "unknown-tool",
        f"a model may use `{name}` here, and no MCP server `{server}` is named",
        hint=f"name it: --mcp {quote(server)}='COMMAND …', or [mcp.{server}] in sexplang.toml; "
        "or answer it with a handler of `tool`",
    )


def _safe(name: str, taken: dict[str, str]) -> str:
    """Return the name as a model sees it, made unique by a number."""
    safe = plain = tool_alias(name)
    number = 2
    while safe in taken:
        safe, number = f"{plain}_{number}", number + 1
    return safe
