"""Tasks as data: results, errors, conversations, and the interface of the task system.

Fields and enumerations are those of the documents (inventory 3.1 to 3.3).
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from sexplang.terms.classes.node import field, node
from sexplang.terms.plan import Judgement, Standing
from sexplang.terms.source import Span
from sexplang.terms.values.value import Fault, Record, Value
from sexplang.terms.work import Work

if TYPE_CHECKING:
    from sexplang.terms.template import Template

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
    """Return a TaskResult `{status content parsed_content notes usage}`; status COMPLETE,
    CONTINUATION or FAILED; usage `{input_tokens output_tokens}` of the task's own calls. `answer`
    holds the task's answer if it differs from the content."""
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
    """Return an error `{type reason message details content span hint}`. `span` is plain data."""
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
"""The notes of a TaskResult with partial results of its conversation: its texts before the content,
the results that it was given, the unfinished work that it waited for, and the finished work beside
that."""


REFUSALS = frozenset(("path-denied", "run-denied", "net-denied", "no-model", "unhandled-effect"))
"""The reasons of a host's refusals. A second request would be refused too."""


def is_refusal(error: Value) -> bool:
    """Return whether an error is a host's refusal."""
    fields = error.fields if isinstance(error, Record) else {}
    details = fields.get("details")
    code = details.get("code") if isinstance(details, dict) else None
    return fields.get("reason") in REFUSALS or (isinstance(code, str) and code in REFUSALS)


MISTAKES = frozenset(("resume-across-par", "not-data", "wrong-arity", "not-a-function"))
"""The reasons of mistakes in a program's text, which no model can correct."""


def is_mistake(error: Value) -> bool:
    """Return whether an error is the program author's mistake, for any input. An operation of the
    program that nothing answers is one; an operation of the host may be what a model asked for."""
    fields = error.fields if isinstance(error, Record) else {}
    if fields.get("type") != "PROGRAM_ERROR":
        return False
    return fields.get("reason") in MISTAKES or _is_unanswered(fields)


def _is_unanswered(fields: dict[str, Value]) -> bool:
    from sexplang.terms.host.host_operations import HOST_OPERATIONS

    details = fields.get("details")
    operation = details.get("operation") if isinstance(details, dict) else None
    is_own = isinstance(operation, str) and operation not in HOST_OPERATIONS
    return is_own and fields.get("reason") == "unhandled-effect"


def longer(task: str, seconds: float) -> str:
    """Return the hint for a template's own timeout that was too short."""
    more = f"{2 * seconds:g}"
    written = f'<limits timeout="{more}"/> or in its defatom (limits timeout: {more})'
    return f"allow `{task}` more, {written}, or ask for less in one task"


def error_of(fault: Fault, span: Span | None = None) -> Record:
    """Return the error record of a fault: the one that it carries, else a PROGRAM_ERROR."""
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
    """Return the error of a model call that ended without a reply. The text that had arrived is its
    content; the counted usage is in its details."""
    fields = dict(error.fields)
    if part["usage"]:
        known = {name: part[name] for name in ("usage", "model") if part.get(name)}
        fields["details"] = {**fields["details"], **known}
    if part["text"]:
        fields["content"] = part["text"]
    return Record("error", fields)


def with_part(error: Record, before: Record) -> Record:
    """Return an error that replaces `before`, with the partial text and usage of that."""
    counted = [{"usage": each.fields["details"].get("usage", {})} for each in (before, error)]
    part = sum_parts([{**each, "text": ""} for each in counted])
    text = error.fields["content"] or before.fields["content"]
    return cut_off(error, {**before.fields["details"], **part, "text": text})


def sum_parts(parts: Sequence[dict[str, Value]]) -> dict[str, Value]:
    """Return the sum of the parts of several model calls: all usage, and the text of a single
    call."""
    usage: dict[str, Value] = {}
    for part in parts:
        for name, count in part["usage"].items():
            usage[name] = usage.get(name, 0) + count
    return {"usage": usage, "text": parts[0]["text"] if len(parts) == 1 else ""}


def make_failed_result(error: Record, **notes: Value) -> Record:
    """Return the FAILED TaskResult of `attempt` for an error: with the task's partial texts, usage
    and warnings, and with further `notes`."""
    fields = error.fields
    content, details = fields.get("content"), fields.get("details")
    known = details if isinstance(details, dict) else {}
    told: dict[str, Value] = {"error": error, **_partial_notes(partial_of(error))}
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
    """Return the partial results of an error: `details.partial_results`."""
    details = error.fields.get("details")
    return details.get("partial_results") if isinstance(details, dict) else None


def _partial_notes(partial: Value) -> dict[str, Value]:
    """Return the partial results of a failure as notes: the results of a conversation under the
    names of its notes, any other value as `partial_results`."""
    if not isinstance(partial, dict):
        return {"partial_results": partial} if partial else {}
    notes = {name: partial[name] for name in GIVEN if name in partial}
    rest = {name: item for name, item in partial.items() if name not in notes}
    return {**notes, "partial_results": rest} if rest else notes


@node
class Conversation:
    """An entry of the context: a conversation that the work is done for.

    `asked` identifies its inputs: the values, in the order of the parameters, if all are text, else
    their hash. `items` are the context items `{source text}` that children may inherit. The
    outermost conversation has depth 0.
    """

    name: str
    asked: str | tuple[str, ...]
    depth: int
    items: tuple[Value, ...] = ()

    @property
    def signature(self) -> str:
        """A hash of name and normalised inputs, to find cycles. Calls that differ only in the order
        of keys and in white space have the same one. It is computed on demand: most conversations
        begin no other."""
        if isinstance(self.asked, str):
            return self.asked
        return sign(" ".join(" \0text ".join((self.name, *self.asked)).split()))


def sign(written: str) -> str:
    """Return the hash of a text."""
    from hashlib import blake2b

    return blake2b(written.encode("utf-8", "replace"), digest_size=16).hexdigest()


@node
class Ask:
    """An operation that a conversation performs: `(op argument…)`.

    With `attempt`, an error is returned as a FAILED TaskResult instead of raised. `sent` are the
    arguments as the host sees them, plain data, if their form is known. With `handled`, only a
    handler of the program answers; the reply is nil if there is none.
    """

    operation: str
    arguments: tuple[Value, ...]
    attempt: bool = False
    sent: tuple[Any, ...] | None = None
    handled: bool = False


@node
class Perform:
    """The conversation waits for replies, one per ask and in their order.

    Together: the asks are branches of a fork (the direct tools of one turn). Else there is exactly
    one ask, performed in the conversation's own branch. `items` replace the context items of the
    conversation for all later work on its behalf; None keeps them. `told` are the conversation's
    own earlier events, for traces.
    """

    asks: tuple[Ask, ...]
    together: bool = False
    items: tuple[Value, ...] | None = None
    span_events: str = ""


@node
class Validate:
    """The conversation asks its validator about an answer. The reply is nil, or the words for the
    model."""

    answer: Value


@node
class Finished:
    """The conversation has its TaskResult."""

    result: Record


@node
class Broke:
    """The conversation failed with a TaskError, which is raised (resumably) at the call of the
    task."""

    error: Record


Want: TypeAlias = Perform | Validate | Finished | Broke

Session: TypeAlias = Any
"""A HandlerSession: an immutable value, private to the package `tasks`."""


@node
class Match:
    """The task for a request, with its inputs and the way it was found.

    `found` is `{by score others}`, with the scores of the next candidates; None if the request has
    the task's own name.
    """

    template: "Template"
    inputs: dict[str, Value]
    found: dict[str, Value] | None = None


@node(eq=False)
class Cut:
    """A cancelled part of the run: nested conversations, innermost first, and the branches inside
    the innermost: the conversations of the active ones, and the values of the others."""

    sessions: tuple[Session, ...] = ()
    inside: "tuple[Cut, ...]" = ()
    done: tuple[Value, ...] = ()
    is_plan: bool = False
    """Whether the branches are the subtasks of a plan."""


@node
class TaskSystem:
    """The functions of the package `tasks` that the machine needs.

    begin(template, inputs, overrides, conversations) -> (Conversation, Session, Want)
        start a conversation. `inputs` binds declared params to values; `overrides` is the
        table of a request (`call-atomic-task`, SubtaskRequest), maybe empty; `conversations`
        are those of the context, outermost first. Depth and cycles are checked here.
    go_on(conversation, session, words, conversations) -> (Conversation, Session, Want)
        continue a finished conversation from its last session.
    advance(session, replies) -> (Session, Want)
        continue with the replies to the last Perform.
    compact(messages, used, limit) -> messages
        answer `compact` without a handler of the program. Raises Fault.
    cut_short(error, sessions, cut=None) -> Record
        return the error with the partial results of its conversations, innermost first, and
        with the usage and results of all cancelled work: a Cut, by default of these alone.
    knowing(templates, functions={}) -> TaskSystem
        return the task system for a program with these tasks, and with functions that models
        may have as tools. They determine the catalogue of its models.
    match(request, conversations) -> Match | Record
        return the task for a SubtaskRequest (a table) that is made in these conversations,
        or the error record with the reason why there is none.
    judge(plan, lower, standing) -> Judgement
        judge a ProposedSubplan (a table); `lower`, a table, can only lower limits.
    bids(node, conversations) -> list
        return the tasks' bids for a node of a plan that is made in these conversations, best
        first.
    outputs(node, result) -> table
        return the artifacts of a node of a plan, and the missing ones.

    No function raises: an error is a Broke.
    """

    begin: Callable[
        ["Template", dict[str, Value], dict[str, Value], tuple[Conversation, ...]],
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
    """The frozen classes of sessions, so that a run can be frozen."""


@node
class Context:
    """The purpose of the current work; programs cannot change it.

    `conversations` are the enclosing atomic tasks, outermost first; `work` is the current node of
    the trace, in a traced run.
    """

    conversations: tuple[Conversation, ...] = field(default=())
    work: Work | None = None
