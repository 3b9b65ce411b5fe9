"""The tool calls of a turn to operations, and what answered them to result blocks.

Direct tools stand together, whatever their number; what may take long or ask back (`subtask`,
`ask-user`) follows one by one. Results go back in the order of the calls.
"""

from collections.abc import Callable

from attrs import evolve

from sexplang.tasks.json_text import json_text
from sexplang.tasks.replies import Reply, ToolUse
from sexplang.tasks.request import SubtaskRequest, fields_of, subtask_request
from sexplang.tasks.session import Block, Calls, HandlerSession, Setup
from sexplang.tasks.substitute import value_text
from sexplang.tasks.tools import SCRIPT_SECONDS
from sexplang.terms.node import node
from sexplang.terms.task import Ask, task_result
from sexplang.terms.value import Fault, Record, Value


@node
class Told:
    """A call that is not performed: what the model is told instead, and what is to be noted."""

    words: str
    malformed: bool = False


def planned(session: HandlerSession, reply: Reply) -> tuple[HandlerSession, tuple[Ask, ...]]:
    """The session that waits for the turn's direct tools, and these; maybe there are none."""
    results: list[Block | None] = []
    direct: list[tuple[int, Ask]] = []
    later: list[tuple[int, Ask]] = []
    malformed, warnings = False, session.warnings
    for at, use in enumerate(reply.uses):
        asked, noted = _asked(session.setup, use, reply)
        warnings += noted
        if isinstance(asked, Told):
            results.append(result_block(use.id, asked.words, is_error=True))
            malformed = malformed or asked.malformed
            continue
        results.append(None)
        alone = asked.operation in _ALONE
        (later if alone else direct).append((at, asked))
    calls = Calls(
        tuple([use.id for use in reply.uses]),
        tuple(results),
        tuple([at for at, _ in direct]),
        tuple(later),
    )
    refused = session.refused + malformed
    waiting = evolve(session, waits="calls", calls=calls, refused=refused, warnings=warnings)
    return waiting, tuple([ask for _, ask in direct])


_ALONE = frozenset({"subtask", "ask-user"})


def answered(calls: Calls, replies: tuple[Value, ...]) -> Calls:
    """The calls with the results that the replies make."""
    results = list(calls.results)
    halted = calls.halted
    for at, value in zip(calls.waiting, replies, strict=False):
        words, is_error = outcome(value)
        results[at] = result_block(calls.ids[at], words, is_error=is_error)
        halted = halting(value) or halted
    return evolve(calls, results=tuple(results), waiting=(), halted=halted)


def result_block(identity: str, words: str, *, is_error: bool) -> Block:
    """A tool_result block."""
    block: Block = {"type": "tool_result", "tool_use_id": identity, "content": words}
    if is_error:
        block["is_error"] = True
    return block


def outcome(value: Value) -> tuple[str, bool]:
    """What answered, as a model reads it, and whether it is a failure: then the TaskError."""
    try:
        if isinstance(value, Record) and value.fields.get("status") == "FAILED":
            return error_words(value), True
        return value_text(value), False
    except Fault as fault:
        return json_text(
            {"type": "TASK_FAILURE", "reason": "tool_execution_error"} | {"message": fault.message}
        ), True


def spent(replies: tuple[Value, ...]) -> tuple[int, int]:
    """Input and output tokens that subtasks among what answered took, with theirs; a failed one
    says so in the details of its error."""
    taken = given = 0
    for value in replies:
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
    """The error that stopped a chain of subtasks, if that is what answered."""
    if not isinstance(value, Record) or value.fields.get("status") != "FAILED":
        return None
    error = (fields_of(value.fields.get("notes")) or {}).get("error")
    is_halt = isinstance(error, Record) and error.fields.get("reason") == "execution_halted"
    return error if is_halt else None


def error_words(failed: Record) -> str:
    """The TaskError of a FAILED result as JSON, with what was done until then as its content."""
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
    # Places in our program's text mean nothing to a model.
    told = {
        key: item for key, item in error.items() if key != "span" and item not in (None, {}, "")
    }
    return json_text(told)


def spawned(setup: Setup, request: SubtaskRequest, content: str) -> Ask:
    """The subtask operation: the request, the depth the child would have, the CONTINUATION."""
    fields = dict(request.fields)
    if setup.max_depth is not None:
        fields["max_depth"] = min(fields.get("max_depth", setup.max_depth), setup.max_depth)
    result = task_result(content, "CONTINUATION", notes={"subtask_request": fields})
    return Ask("subtask", ({**fields, "depth": setup.depth + 1, "result": result},), attempt=True)


def _asked(setup: Setup, use: ToolUse, reply: Reply) -> tuple[Ask | Told, tuple[str, ...]]:
    name = setup.offered.get(use.name)
    given = fields_of(use.input)
    if name is None:
        return _untold(f"there is no tool `{use.name}`; you have {_listed(setup)}"), ()
    if given is None:
        return _untold(f"the input of `{use.name}` is no object", malformed=True), ()
    if name == "spawn_subtask":
        request = subtask_request(given)
        if request.problems:
            return _untold(f"a malformed subtask request: {request.complaint()}", True), ()
        return spawned(setup, request, reply.text), request.warnings
    made = _OPERATIONS.get(name)
    if made is None:
        return Ask("tool", (name, given), attempt=True), ()
    arguments = made(given)
    if isinstance(arguments, str):
        return _untold(f"the input of `{use.name}` does not fit: {arguments}"), ()
    return Ask(_NAMES[name], arguments, attempt=True), ()


def _untold(message: str, malformed: bool = False) -> Told:
    reason = "input_validation_failure" if malformed else "tool_execution_error"
    error = {"type": "TASK_FAILURE", "reason": reason, "message": message}
    return Told(json_text(error), malformed)


def _listed(setup: Setup) -> str:
    return ", ".join(f"`{name}`" for name in setup.offered) or "none"


def _text_of(name: str) -> Callable[[dict[str, Value]], tuple[Value, ...] | str]:
    def arguments(given: dict[str, Value]) -> tuple[Value, ...] | str:
        value = given.get(name)
        return (value,) if isinstance(value, str) and value else f"`{name}` must be text"

    return arguments


def _question(given: dict[str, Value]) -> tuple[Value, ...] | str:
    prompt, choices = given.get("prompt"), given.get("choices")
    if not isinstance(prompt, str) or not prompt:
        return "`prompt` must be text"
    if choices is None:
        return (prompt, None)
    if not _are_texts(choices):
        return "`choices` must be a list of texts"
    return (prompt, choices)


def _script(given: dict[str, Value]) -> tuple[Value, ...] | str:
    command, words = given.get("command"), given.get("args")
    text, seconds = given.get("input"), given.get("timeout")
    if not isinstance(command, str) or not command:
        return "`command` must be text"
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


_OPERATIONS = {
    "read_file": _text_of("path"),
    "list_files": _text_of("glob"),
    "request_user_input": _question,
    "system:run_script": _script,
}
_NAMES = {
    "read_file": "read-file",
    "list_files": "list-files",
    "request_user_input": "ask-user",
    "system:run_script": "run-script",
}
