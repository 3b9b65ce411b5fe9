"""Tasks as data: results, errors, requests, and what a conversation wants next.

Fields and enumerations are those of the documents (inventory 3.1 to 3.3).
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from sexplang.terms.classes.node import field, node
from sexplang.terms.plan import Judgement, Standing
from sexplang.terms.source import Span
from sexplang.terms.template import Template
from sexplang.terms.values.value import Fault, Record, Value
from sexplang.terms.work import Work

STATUSES = ("COMPLETE", "CONTINUATION", "FAILED")


def task_result(
    content: str,
    status: str = "COMPLETE",
    *,
    parsed_content: Value = None,
    notes: dict[str, Value] | None = None,
    usage: dict[str, Value] | None = None,
    answer: tuple[Value] | None = None,
) -> Record:
    """A TaskResult `{status content parsed_content notes usage}`; status COMPLETE,
    CONTINUATION or FAILED; usage `{input_tokens output_tokens}` of the task's own calls. `answer`
    holds what it answers with, where that is not its content."""
    return Record(
        "TaskResult",
        {
            "status": status,
            "content": content,
            "parsed_content": parsed_content,
            "notes": notes or {},
            "usage": usage or {},
        },
        answer,
    )


def error_record(
    type: str,
    reason: str,
    message: str,
    *,
    details: dict[str, Value] | None = None,
    content: Value = None,
    span: Value = None,
    hint: str | None = None,
) -> Record:
    """An error `{type reason message details content span hint}`. `span` is plain data."""
    return Record(
        "error",
        {
            "type": type,
            "reason": reason,
            "message": message,
            "details": details or {},
            "content": content,
            "span": span,
            "hint": hint,
        },
    )


GIVEN = ("said", "subtasks", "artifacts", "subplans", "unfinished", "finished")
"""What a conversation has said before its content, and been given, by the names that it has in the
notes of its result; what was not done yet that it waited for, and what was beside that."""


REFUSALS = frozenset(("path-denied", "run-denied", "net-denied", "no-model", "unhandled-effect"))
"""The words with which a host refuses what a program asks for: to ask again is of no use."""


def is_refusal(error: Value) -> bool:
    """Whether it is an error with which the host refuses the program."""
    fields = error.fields if isinstance(error, Record) else {}
    details = fields.get("details")
    code = details.get("code") if isinstance(details, dict) else None
    return fields.get("reason") in REFUSALS or (isinstance(code, str) and code in REFUSALS)


MISTAKES = frozenset(("resume-across-par", "not-data", "wrong-arity", "not-a-function"))
"""The words of mistakes that a program's text shows: no model can do anything about them."""


def is_mistake(error: Value) -> bool:
    """Whether it is an error that the program's author made and no input caused."""
    fields = error.fields if isinstance(error, Record) else {}
    return fields.get("type") == "PROGRAM_ERROR" and fields.get("reason") in MISTAKES


def longer(task: str, seconds: float) -> str:
    """The hint where a template's own timeout was too short."""
    more = f"{2 * seconds:g}"
    written = f'<limits timeout="{more}"/> or in its defatom (limits timeout: {more})'
    return f"allow `{task}` more, {written}, or ask for less in one task"


def error_of(fault: Fault, span: Span | None = None) -> Record:
    """The error that a fault stands for: as it is if it carries one, else a PROGRAM_ERROR."""
    if fault.error is not None:
        return fault.error
    place = fault.span or span
    return error_record(
        "PROGRAM_ERROR",
        fault.code,
        fault.message,
        details=fault.details,
        span=place.plain() if place is not None else None,
        hint=fault.hint,
    )


def cut_off(error: Record, part: dict[str, Value]) -> Record:
    """The error that a model call ends with instead of its reply: the text that had arrived is its
    content, and what was counted stands in its details."""
    fields = dict(error.fields)
    if part["usage"]:
        known = {name: part[name] for name in ("usage", "model") if part.get(name)}
        fields["details"] = {**fields["details"], **known}
    if part["text"]:
        fields["content"] = part["text"]
    return Record("error", fields)


def with_part(error: Record, before: Record) -> Record:
    """The error that takes the place of one `before`, with the text that had arrived then and what
    had been counted."""
    counted = [{"usage": each.fields["details"].get("usage", {})} for each in (before, error)]
    part = together([{**each, "text": ""} for each in counted])
    text = error.fields["content"] or before.fields["content"]
    return cut_off(error, {**before.fields["details"], **part, "text": text})


def together(parts: Sequence[dict[str, Value]]) -> dict[str, Value]:
    """What several model calls had got: all that was counted; the text where there is one call."""
    usage: dict[str, Value] = {}
    for part in parts:
        for name, count in part["usage"].items():
            usage[name] = usage.get(name, 0) + count
    return {"usage": usage, "text": parts[0]["text"] if len(parts) == 1 else ""}


def make_failed_result(error: Record, **notes: Value) -> Record:
    """The FAILED TaskResult that `attempt` gives for an error: with what the task said, took and
    was warned of until then, and `notes` of whoever asked."""
    fields = error.fields
    content, details = fields.get("content"), fields.get("details")
    known = details if isinstance(details, dict) else {}
    told: dict[str, Value] = {"error": error, **_partly(partial_of(error))}
    if isinstance(known.get("warnings"), tuple):
        told["warnings"] = known["warnings"]
    if isinstance(known.get("turns"), dict):
        told["turns"] = known["turns"].get("used")
        told["metrics"] = {"turns": known["turns"], "context": known.get("context")}
    usage = known.get("usage")
    return task_result(
        content if isinstance(content, str) else "",
        "FAILED",
        notes={**told, **notes},
        usage=usage if isinstance(usage, dict) else None,
    )


def partial_of(error: Record) -> Value:
    """What an error tells of what there was when it came: `details.partial_results`."""
    details = error.fields.get("details")
    return details.get("partial_results") if isinstance(details, dict) else None


def _partly(partial: Value) -> dict[str, Value]:
    """What there is of a failure as notes: what a conversation has been given by the names that it
    has in the notes of a result, all else as `partial_results`."""
    if not isinstance(partial, dict):
        return {"partial_results": partial} if partial else {}
    notes = {name: partial[name] for name in GIVEN if name in partial}
    rest = {name: item for name, item in partial.items() if name not in notes}
    return {**notes, "partial_results": rest} if rest else notes


@node
class Conversation:
    """An entry of the context: a conversation that the work is done for.

    `asked` tells its inputs from others: they themselves, in the order of the parameters, where
    all are text, else their hash; `items` are the context items `{source text}` that children may
    inherit; the outermost one has depth 0.
    """

    name: str
    asked: str | tuple[str, ...]
    depth: int
    items: tuple[Value, ...] = ()

    @property
    def signature(self) -> str:
        """A hash of name and normalised inputs, for cycles: the same for calls that differ in order
        of keys and in white space alone. Made when it is read: most conversations begin no other
        one."""
        if isinstance(self.asked, str):
            return self.asked
        return sign(" ".join(" \0text ".join((self.name, *self.asked)).split()))


def sign(written: str) -> str:
    """A text as its hash."""
    from hashlib import blake2b

    return blake2b(written.encode("utf-8", "replace"), digest_size=16).hexdigest()


@node
class Ask:
    """One operation that a conversation wants performed: `(op argument…)`.

    With `attempt`, an error comes back as a FAILED TaskResult instead of being raised. `sent` are
    the arguments as the host sees them, plain data, where whoever asks knows their form. With
    `handled`, only a handler of the program is asked; the reply is nil where none takes it.
    """

    operation: str
    arguments: tuple[Value, ...]
    attempt: bool = False
    sent: tuple[Any, ...] | None = None
    handled: bool = False


@node
class Perform:
    """The conversation waits for replies, one per ask and in their order.

    Together: the asks are branches of a fork (the direct tools of one turn). Else there is
    exactly one ask, performed in the conversation's own branch. `items` replace the context
    items of the conversation, for what is done on its behalf from here on; None keeps them. `told`
    is what the conversation has done by itself before, for traces.
    """

    asks: tuple[Ask, ...]
    together: bool = False
    items: tuple[Value, ...] | None = None
    span_events: str = ""


@node
class Finished:
    """The conversation has its TaskResult."""

    result: Record


@node
class Broke:
    """The conversation failed with a TaskError, raised (resumably) where the task was called."""

    error: Record


Want: TypeAlias = Perform | Finished | Broke

Session: TypeAlias = Any
"""A HandlerSession: an immutable value that only the tasks room looks into."""


@node
class Match:
    """The task that takes a request: with which inputs, and how it was found.

    `found` is `{by score others}`, with the scores of those that came after it; None where the
    request has the task's own name.
    """

    template: Template
    inputs: dict[str, Value]
    found: dict[str, Value] | None = None


@node(eq=False)
class Cut:
    """What is cut off: conversations that stand in one another, innermost first, and what there is
    inside of the innermost, in branches: those that are at work, and the values of the others."""

    sessions: tuple[Session, ...] = ()
    inside: "tuple[Cut, ...]" = ()
    done: tuple[Value, ...] = ()
    is_plan: bool = False
    """Whether the branches are the subtasks of a plan."""


@node
class TaskSystem:
    """What the machine needs of the tasks room, handed in by name.

    begin(template, inputs, overrides, conversations) -> (Conversation, Session, Want)
        starts a conversation. `inputs` binds declared params to values; `overrides` is the
        table of a request (`call-atomic-task`, SubtaskRequest), maybe empty; `conversations`
        are those of the context, outermost first. Depth and cycles are checked here.
    go_on(conversation, session, words, conversations) -> (Conversation, Session, Want)
        goes on with a conversation that is over, whose session this was at its end.
    advance(session, replies) -> (Session, Want)
        goes on with the replies to the last Perform.
    compact(messages, used, limit) -> messages
        what answers `compact` where no handler of the program does. Raises Fault.
    cut_short(error, sessions, cut=None) -> Record
        the error, with what the conversations whose error it is, innermost first, have said, and
        with what all that it cuts off have taken and been given: a Cut, by default of these alone.
    knowing(templates, functions={}) -> TaskSystem
        the same for a program that has these tasks, and functions that models may have as tools:
        what its models may ask for is among them.
    match(request, conversations) -> Match | Record
        which task takes a SubtaskRequest (a table) that is made in these conversations, or the
        error record that says why none.
    judge(plan, lower, standing) -> Judgement
        what is said about a ProposedSubplan (a table); `lower`, a table, can only lower limits.
    bids(node, conversations) -> list
        what its tasks bid for a node of a plan that is made in these conversations, best first.
    outputs(node, result) -> table
        the artifacts that a node of a plan gave, and those that are missing.
    Raises nothing: whatever is wrong is a Broke.
    """

    begin: Callable[
        [Template, dict[str, Value], dict[str, Value], tuple[Conversation, ...]],
        tuple[Conversation, Session, Want],
    ]
    go_on: Callable[
        [Conversation, Session, Value, tuple[Conversation, ...]],
        tuple[Conversation, Session, Want],
    ]
    advance: Callable[[Session, tuple[Value, ...]], tuple[Session, Want]]
    compact: Callable[[Value, Value, Value], Value]
    cut_short: Callable[..., Record]
    knowing: Callable[..., "TaskSystem"]
    match: Callable[[Value, tuple[Conversation, ...]], "Match | Record"]
    judge: Callable[[Value, Value, Standing], Judgement]
    bids: Callable[[Value, tuple[Conversation, ...]], Value]
    outputs: Callable[[Value, Value], Value]
    nouns: tuple[type, ...] = ()
    """The frozen classes that sessions are made of, so that a run can be frozen."""


@node
class Context:
    """What the work is done for, read but never written by programs.

    `conversations` are the atomic tasks around, outermost first; `work` is what traces show, in a
    run that is traced.
    """

    conversations: tuple[Conversation, ...] = field(default=())
    work: Work | None = None
