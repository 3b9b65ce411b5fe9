"""The tool calls of a turn as operations, and their replies as result blocks.

Direct tools are performed together. Operations that take long or ask back (`subtask`, `ask-user`),
and tools that are called in order, follow one by one. Results keep the order of the calls.
"""

from collections.abc import Callable
from typing import Any

from sexplang.tasks.plans.ledger import (
    Planning,
    propose_plan,
    results_of,
    strip_error,
    with_artifacts,
)
from sexplang.tasks.plans.ledger import read_answer as answered_plan
from sexplang.tasks.plans.proposal import Proposal, proposal
from sexplang.tasks.prompt.media import media_in, value_text
from sexplang.tasks.prompt.window import plan_words, tokens_of
from sexplang.tasks.requests.definitions import misfit
from sexplang.tasks.requests.match import describe_substitute
from sexplang.tasks.requests.subtask_request import SubtaskRequest, fields_of, subtask_request
from sexplang.tasks.session import Block, Calls, HandlerSession, Setup
from sexplang.tasks.settings import accumulates
from sexplang.tasks.turns.replies import Reply, ToolUse
from sexplang.tasks.turns.tools import BUILT_IN, SCRIPT_SECONDS
from sexplang.terms.classes.node import evolve, node
from sexplang.terms.json.json_writer import json_text
from sexplang.terms.json.strict import read_json, unfit
from sexplang.terms.model.payload import choice_of
from sexplang.terms.task import MISTAKES, Ask, task_result
from sexplang.terms.values.text import text
from sexplang.terms.values.value import Fault, Record, Value


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
        alone = asked.operation in _ALONE or _is_in_order(session.setup, use)
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


_ALONE = frozenset({"subtask", "subplan", "ask-user"})


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
        halted = halting(value) or halted
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
    arguments = arguments_of(name, given)
    if arguments is None:
        wrong = misfit(_definition(session, use.name), given) if kind == "function" else None
        if wrong is None:
            return Ask("tool", (name, given), attempt=True), ()
        arguments = wrong
    if isinstance(arguments, str):
        return _untold(f"the input of `{use.name}` does not fit: {arguments}"), ()
    return Ask(NAMES[name], arguments, attempt=True), ()


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
    "request_user_input": _question,
    "system:run_script": _script,
}
NAMES = {
    "read_file": "read-file",
    "list_files": "list-files",
    "request_user_input": "ask-user",
    "system:run_script": "run-script",
}


def outcome(value: Value) -> tuple[str, bool]:
    """Return the reply as a model reads it, and whether it is a failure: then the TaskError as
    JSON. Raises Fault for values that are not data, which are the program's mistake."""
    try:
        if isinstance(value, Record) and value.fields.get("status") == "FAILED":
            return error_words(value), True
        if (fields_of(value) or {}).get("status") == "CONTINUATION":
            return json_text(_GOES_ON), True
        said = "; ".join(_instead(value))
        return value_text(value) + (f"\n\n[{said}]" if said else ""), False
    except Fault as fault:
        if fault.code in MISTAKES:
            raise
        error = {"type": "TASK_FAILURE", "reason": "tool_execution_error", "message": fault.message}
        return json_text({**error, "details": {"code": fault.code}}), True


_GOES_ON: dict[str, Value] = {
    "type": "TASK_FAILURE",
    "reason": "tool_execution_error",
    "message": "the tool gave a CONTINUATION, and nobody can go on with it: only a conversation "
    "asks for a subtask",
}


def _instead(value: Value) -> tuple[str, ...]:
    """Return the note for a task that answered a request by another name. Other warnings of a
    subtask go to the notes: its answer may be JSON that the model asked for."""
    notes = _notes(value)
    if "asked_for" not in notes:
        return ()
    said = describe_substitute(notes["asked_for"], notes.get("template_used"))
    return (said,) if said else ()


def _warnings_of(value: Value) -> tuple[str, ...]:
    """Return the warnings of a subtask without those of `_instead`."""
    listed = _notes(value).get("warnings")
    if not isinstance(listed, tuple):
        return ()
    before = _instead(value)
    return tuple([text(each) for each in listed if each not in before])


def _notes(value: Value) -> dict[str, Value]:
    is_result = isinstance(value, Record) and value.kind == "TaskResult"
    return (fields_of(value.fields.get("notes")) or {}) if is_result else {}


def _find_unanswered(value: Value) -> tuple[str, ...]:
    """Return the note for a question that no user answered."""
    error = fields_of(_notes(value).get("error")) or {}
    if error.get("reason") != _NOBODY:
        return ()
    return (f"the user was asked and did not answer: {text(error.get('message'))}",)


def collect_warnings(replies: tuple[Value, ...]) -> tuple[str, ...]:
    """Return the warnings of the subtasks and plans among the replies."""
    found: list[Value] = []
    for value in replies:
        task = _notes(value).get("template_used")
        about = f"subtask `{text(task)}`: " if task is not None else "subtask: "
        found += _instead(value)
        found += [about + said for said in _warnings_of(value)]
        found += _find_unanswered(value)
    for plan in [fields_of(value) or {} for value in replies if results_of(value)]:
        listed = plan.get("warnings")
        found += listed if isinstance(listed, tuple) else ()
    return tuple(found)


def sum_usage(replies: tuple[Value, ...]) -> tuple[int, int]:
    """Return the input and output tokens of the subtasks among the replies, with theirs. A failed
    subtask reports them in its error's details."""
    taken = given = 0
    work = list(replies)
    while work:
        value = work.pop()
        work.extend(results_of(value))
        if not isinstance(value, Record) or value.kind != "TaskResult":
            continue
        notes = fields_of(value.fields.get("notes")) or {}
        error = fields_of(notes.get("error")) or {}
        details = fields_of(error.get("details")) or {}
        usage = notes.get("chain_usage") or details.get("usage") or value.fields.get("usage")
        counts = fields_of(usage) or {}
        taken += _count(counts.get("input_tokens"))
        given += _count(counts.get("output_tokens"))
    return taken, given


def _count(value: Value) -> int:
    return value if type(value) is int and value > 0 else 0


def halting(value: Value) -> Record | None:
    """Return the error that halted a chain of subtasks, if this is its result."""
    if not isinstance(value, Record) or value.fields.get("status") != "FAILED":
        return None
    error = _notes(strip_error(value)).get("error")
    is_halt = isinstance(error, Record) and error.fields.get("reason") == "execution_halted"
    return error if is_halt else None


def error_words(failed: Record) -> str:
    """Return the TaskError of a FAILED result as JSON, with the partial work as its content."""
    notes = fields_of(failed.fields.get("notes")) or {}
    error = fields_of(notes.get("error"))
    content = failed.fields.get("content")
    if error is None:
        error = {
            "type": "TASK_FAILURE",
            "reason": "unexpected_error",
            "message": "it failed and did not say why",
            "content": content,
            "details": notes,
        }
    # Spans mean nothing to a model, and permissions are the operator's.
    hidden = ("span", "hint") if error.get("reason") in _DENIED else ("span",)
    if error.get("reason") == _NOBODY:
        error = {**error, "hint": _ON_YOUR_OWN}
    details = fields_of(error.get("details")) or {}
    known = {key: item for key, item in details.items() if not _is_own(key, item)}
    if len(known) < len(details):
        error = {**error, "details": known}
    told = {
        key: item for key, item in error.items() if key not in hidden and item not in (None, {}, "")
    }
    try:
        return json_text(told)
    except Fault:  # the message without the details that are not JSON
        return json_text({key: told[key] for key in told if key not in ("details", "content")})


def _is_own(detail: str, item: Value) -> bool:
    """Return whether a detail is for the program alone: the model's own request, or bindings in the
    program."""
    return detail == "subtaskRequest" or (detail == "partial_results" and type(item) is dict)


_DENIED = frozenset({"path-denied", "run-denied", "net-denied"})
_NOBODY = "no-answer"
_ON_YOUR_OWN = (
    "nobody can be asked now: go on with what you know and say what you assumed, or say what is "
    "missing"
)
