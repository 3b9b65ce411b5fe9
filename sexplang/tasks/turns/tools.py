"""The tools of a model: their names, descriptions and schemas, and its calls of them as operations.

Direct tools are performed together. Operations that take long or ask back (`subtask`, `ask-user`),
and tools that are called in order, follow one by one. Results keep the order of the calls.
"""

from collections.abc import Callable, Collection, Iterable
from shlex import quote
from typing import Any

from sexplang.tasks.plans.proposal import Planning, Proposal, proposal, propose_plan, with_artifacts
from sexplang.tasks.plans.schema import INPUTS, PROPOSE
from sexplang.tasks.prompt.media import media_in
from sexplang.tasks.prompt.window import plan_words, tokens_of
from sexplang.tasks.requests.catalogue import Catalogue, catalogue
from sexplang.tasks.requests.definitions import misfit, tool_of, tool_of_function
from sexplang.tasks.requests.match import candidates
from sexplang.tasks.requests.subtask_request import SubtaskRequest, fields_of, subtask_request
from sexplang.tasks.session import Block, Calls, HandlerSession, Rules, Setup
from sexplang.tasks.start.call_settings import accumulates
from sexplang.tasks.turns.replies import Reply, ToolUse, find_halt, outcome
from sexplang.tasks.turns.replies import read_answer as answered_plan
from sexplang.terms.classes.node import evolve, node
from sexplang.terms.host.host_operations import ALONE, HIDDEN_BY_OWN, HOST_TOOLS
from sexplang.terms.json.json_writer import json_text
from sexplang.terms.json.strict import read_json, unfit
from sexplang.terms.model.payload import choice_of
from sexplang.terms.program import Function
from sexplang.terms.task import Ask, task_result
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
    "write_file": _tool(
        "Writes a text file, in place of one that is there.",
        ("path", "text"),
        path=_TEXT,
        text=_TEXT,
    ),
    "edit_file": _tool(
        "Replaces a passage of a text file, which must stand in it exactly once.",
        ("path", "old", "new"),
        path=_TEXT,
        old={
            "type": "string",
            "description": "the passage, letter by letter, with its line breaks",
        },
        new={"type": "string", "description": "what stands there instead"},
    ),
    "fetch": _tool(
        "Reads a page or a file of the web as text, by GET.",
        ("url",),
        url={"type": "string", "description": "its address: https://…"},
    ),
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
        own = own_tool(name, rules) or rules.tools.get(name)
        built_in = None if own and name in HIDDEN_BY_OWN else BUILT_IN.get(name)
        known = listed.get(name) or built_in or own or {}
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
    return {name: _with_task_names(BUILT_IN[name], name, found, words[name]) for name in asking}


def _with_task_names(
    tool: dict[str, Value], name: str, found: Catalogue, words: str
) -> dict[str, Value]:
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
    """Return the program's tools among the names: `task`, `function` or `typed function`. A tool of
    the host that hides a built-in one is `host`."""
    others = [name for name in names if name not in BUILT_IN or name in HIDDEN_BY_OWN]
    hosts = {name: "host" for name in others if name in BUILT_IN and name in rules.tools}
    tasks = {name: "task" for name in others if _task(name, rules) is not None}
    functions = {name: _kind(rules.functions[name]) for name in others if name in rules.functions}
    return {**hosts, **functions, **tasks}


def _kind(function: Function) -> str:
    return "typed function" if function.is_defined_tool else "function"


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


@node
class ToldCall:
    """A call that is not performed: the words for the model."""

    words: str
    malformed: SubtaskRequest | Proposal | None = None
    """The malformed request or plan."""


Planned = tuple[HandlerSession, tuple[Ask, ...], SubtaskRequest | Proposal | None]


def plan_calls(session: HandlerSession, reply: Reply) -> Planned:
    """Return the session that waits for the turn's direct tools, their requests, and the turn's
    malformed subtask request or plan, if any."""
    results: list[Block | None] = []
    direct: list[tuple[int, Ask]] = []
    later: list[tuple[int, Ask]] = []
    malformed: SubtaskRequest | Proposal | None = None
    warnings = session.warnings
    planning = session.planning
    for at, use in enumerate(reply.uses):
        asked, noted = _ask_of(session, use, reply)
        if isinstance(asked, Proposal):
            planning, asked = _plan_proposal(session, planning, asked, reply.text)
        warnings += noted
        if isinstance(asked, ToldCall):
            if isinstance(asked.malformed, Proposal):
                planning = with_artifacts(planning, asked.malformed)
            results.append(result_block(use.id, asked.words, is_error=True))
            malformed = asked.malformed or malformed
            continue
        results.append(None)
        alone = asked.operation in ALONE or _is_in_order(session.setup, use)
        (later if alone else direct).append((at, asked))
    calls = Calls(
        tuple([use.id for use in reply.uses]),
        tuple(results),
        tuple([at for at, _ in direct]),
        tuple(later),
    )
    refused = session.refused + (malformed is not None)
    waiting = evolve(
        session,
        waits="calls",
        calls=calls,
        refused=refused,
        warnings=warnings,
        planning=planning,
    )
    return waiting, tuple([ask for _, ask in direct]), malformed


def _is_in_order(setup: Setup, use: ToolUse) -> bool:
    return bool(setup.in_order) and setup.offered.get(use.name) in setup.in_order


def _plan_proposal(
    session: HandlerSession, planning: Planning | None, read: Proposal, content: str
) -> tuple[Planning | None, "Ask | ToldCall"]:
    if planning is not None and planning.asked is not None:
        return with_artifacts(planning, read), _untold(
            "one subplan at a time: the one before is proposed in this turn"
        )
    return propose(session, read, content)


def propose(session: HandlerSession, read: Proposal, content: str) -> tuple[Planning, Ask]:
    """Return the session's plans with the proposal, and the operation that proposes it."""
    setup = session.setup
    before = session.planning or Planning()
    around: dict[str, Value] = {
        "depth": setup.depth + 1,
        "max_depth": setup.max_depth,
        "limits": setup.guards or None,
        "seconds": setup.seconds,
    }
    planning, ask = propose_plan(before, read, content, around)
    return evolve(planning, asked=read.fields), ask


def with_plan(session: HandlerSession, reply: Value) -> HandlerSession:
    """Return the calls with the result of the plan that one of them proposed."""
    calls, planning = session.calls, session.planning
    assert calls is not None and planning is not None
    said = answered_plan(planning, reply)
    if said is None:
        session = evolve(session, planning=planning.over())
        return evolve(session, calls=add_results(calls, (reply,)))
    (at,) = calls.waiting
    others = tokens_of(tuple([block for block in calls.results if block is not None]))
    words = plan_words(session, said.words, others)
    block = result_block(calls.ids[at], words, is_error=said.is_error)
    results = (*calls.results[:at], block, *calls.results[at + 1 :])
    calls = evolve(calls, results=results, waiting=(), refused=said.refused)
    return evolve(session, calls=calls, planning=said.planning)


def add_results(calls: Calls, replies: tuple[Value, ...]) -> Calls:
    """Return the calls with the results of the replies."""
    results = list(calls.results)
    halted = calls.halted
    for at, value in zip(calls.waiting, replies, strict=False):
        media = media_in(value)
        if media is not None:
            results[at] = result_block(calls.ids[at], media, is_error=False)
            continue
        words, is_error = outcome(value)
        results[at] = result_block(calls.ids[at], words, is_error=is_error)
        halted = find_halt(value) or halted
    return evolve(calls, results=tuple(results), waiting=(), halted=halted)


def result_block(identity: str, content: str | tuple[Block, ...], *, is_error: bool) -> Block:
    """Return a tool_result block."""
    block: Block = {"type": "tool_result", "tool_use_id": identity, "content": content}
    if is_error:
        block["is_error"] = True
    return block


def spawn_subtask(session: HandlerSession, request: SubtaskRequest, content: str) -> Ask:
    """Return the subtask operation: the request, the child's depth, the CONTINUATION. A request
    that accumulates data carries the results of the conversation's earlier subtasks."""
    setup, fields = session.setup, dict(request.fields)
    inputs = fields_of(fields.get("inputs")) or {}
    if any(type(each) is float for each in inputs.values()):  # JSON has one kind of number
        fields["inputs"] = {name: _whole(each) for name, each in inputs.items()}
    if setup.max_depth is not None:
        fields["max_depth"] = min(fields.get("max_depth", setup.max_depth), setup.max_depth)
    result = task_result(content, "CONTINUATION", notes={"subtask_request": fields})
    told: dict[str, Value] = {**fields, "depth": setup.depth + 1, "result": result}
    if accumulates(fields.get("context_management")):
        told["previous_outputs"] = (session.planning or Planning()).subtasks
    return Ask("subtask", (told,), attempt=True)


def _whole(value: Value) -> Value:
    """Return a float without a fraction as an integer."""
    return int(value) if type(value) is float and value.is_integer() else value


def _is_none(choice: Any) -> bool:
    """Return whether a `tool_choice` allows no tool."""
    return bool(choice) and choice_of(choice)["type"] == "none"


def _ask_of(
    session: HandlerSession, use: ToolUse, reply: Reply
) -> tuple[Ask | ToldCall | Proposal, tuple[str, ...]]:
    setup = session.setup
    if _is_none(session.payload.get("tool_choice")):
        return _untold(f"`{use.name}` is not offered in this turn: `tool_choice` is none"), ()
    name = available(setup, reply).get(use.name)
    given = fields_of(use.input)
    if name is None:
        known = ", ".join([f"`{each}`" for each in available(setup, reply)]) or "none"
        if use.name in setup.offered:
            return _untold(f"`{use.name}` is not offered in this turn; you have {known}"), ()
        return _untold(f"there is no tool `{use.name}`; you have {known}"), ()
    if given is None or unfit(given):
        return _untold(f"the input of `{use.name}` {_flaw(use.input)}", _NO_OBJECT), ()
    if name == "spawn_subtask":
        request = subtask_request(given)
        if request.problems:
            return _untold(f"a malformed subtask request: {request.complaint()}", request), ()
        return spawn_subtask(session, request, reply.text), request.warnings
    if name == "propose_subplan":
        read = proposal(given)
        if read.problems:
            return _untold(f"a malformed subplan: {read.complaint()}", read), ()
        return read, read.warnings
    kind = setup.own.get(name)
    if kind == "task":
        return spawn_subtask(
            session, SubtaskRequest({"name": name, "inputs": given}), reply.text
        ), ()
    arguments = arguments_of(name, given) if kind is None else None
    if arguments is None:
        wrong = None
        if kind in ("function", "typed function"):
            wrong = misfit(_definition(session, use.name), given, kind == "typed function")
        if wrong is None:
            return Ask("tool", (name, given), attempt=True), ()
        arguments = wrong
    if isinstance(arguments, str):
        return _untold(f"the input of `{use.name}` does not fit: {arguments}"), ()
    return Ask(HOST_TOOLS[name], arguments, attempt=True), ()


def available(setup: Setup, reply: Reply) -> dict[str, str]:
    """Return the tools that the model had in this turn. A handler may have offered fewer."""
    if reply.offered is None:
        return setup.offered
    return {seen: name for seen, name in setup.offered.items() if seen in reply.offered}


def _definition(session: HandlerSession, name: str) -> Value:
    """Return the definition of a tool as the model was sent it."""
    return next(tool for tool in session.payload["tools"] if tool["name"] == name)


def _flaw(given: Value) -> str:
    """Describe an input that is no object, or that cannot be sent back as JSON."""
    twice: list[str] = []
    if isinstance(given, str) and given.lstrip().startswith("{"):
        try:
            given = read_json(given, twice)
        except (ValueError, RecursionError, Fault):
            return "is no data: it is too large, nested too deep, or a number in it is too long"
    if twice:
        return f"has the key `{twice[0]}` twice in one object: keep one"
    why = unfit(given)
    return "is no object" if why is None else f"is no data: {why}"


_NO_OBJECT = SubtaskRequest(
    {}, {"tool_use.input": "write an object with the fields of the tool's schema"}
)


def _untold(message: str, malformed: SubtaskRequest | Proposal | None = None) -> ToldCall:
    reason = "input_validation_failure" if malformed is not None else "tool_execution_error"
    error = {"type": "TASK_FAILURE", "reason": reason, "message": message}
    return ToldCall(json_text(error), malformed)


def _text_of(name: str) -> Callable[[dict[str, Value]], tuple[Value, ...] | str]:
    def arguments(given: dict[str, Value]) -> tuple[Value, ...] | str:
        value = given.get(name)
        return (
            (value,)
            if isinstance(value, str) and value
            else f"`{name}` must be text that is not empty"
        )

    return arguments


def _passages(
    *names: str,
) -> Callable[[dict[str, Value]], tuple[Value, ...] | str]:
    """Return a reader of a path and texts, of which all but the last must not be empty."""

    def arguments(given: dict[str, Value]) -> tuple[Value, ...] | str:
        for name in names:
            value = given.get(name)
            if not isinstance(value, str) or not (value or name == names[-1]):
                return f"`{name}` must be text" + " that is not empty" * (name != names[-1])
        return tuple([given[name] for name in names])

    return arguments


def _question(given: dict[str, Value]) -> tuple[Value, ...] | str:
    prompt, choices = given.get("prompt"), given.get("choices")
    if not isinstance(prompt, str) or not prompt:
        return "`prompt` must be text that is not empty"
    if choices is None:
        return (prompt, None)
    if not _are_texts(choices):
        return "`choices` must be a list of texts"
    return (prompt, choices)


def _script(given: dict[str, Value]) -> tuple[Value, ...] | str:
    command, words = given.get("command"), given.get("args")
    text, seconds = given.get("input"), given.get("timeout")
    if not isinstance(command, str) or not command:
        return "`command` must be text that is not empty"
    if words is not None and not _are_texts(words):
        return "`args` must be a list of texts"
    if text is not None and not isinstance(text, str):
        return "`input` must be text"
    if seconds is None:
        seconds = SCRIPT_SECONDS
    if type(seconds) not in (int, float) or not 0 < seconds <= SCRIPT_SECONDS:
        return f"`timeout` must be a number of seconds, at most {SCRIPT_SECONDS}"
    return (command, words or (), text, seconds)


def _are_texts(value: Value) -> bool:
    return isinstance(value, tuple) and all(isinstance(item, str) for item in value)


def arguments_of(name: str, given: dict[str, Value]) -> tuple[Value, ...] | str | None:
    """Return the arguments of the operation of a built-in tool, or the flaw of its input. None for
    any other tool."""
    made = OPERATIONS.get(name)
    if made is None:
        return None
    known = BUILT_IN[name]["input_schema"]["properties"]
    unknown = [key[:_LONGEST] for key in given if key not in known]
    if unknown:
        return f"`{unknown[0]}` is none of its inputs: {', '.join(known)}"
    return made(given)


_LONGEST = 40
"""The most characters of an unknown name in a message."""

OPERATIONS = {
    "read_file": _text_of("path"),
    "list_files": _text_of("glob"),
    "write_file": _passages("path", "text"),
    "edit_file": _passages("path", "old", "new"),
    "fetch": _text_of("url"),
    "request_user_input": _question,
    "system:run_script": _script,
}
