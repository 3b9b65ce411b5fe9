"""The ledger of a conversation: its subtasks and plans, and the words for its model about plans."""

from sexplang.tasks.plans.artifacts import Artifacts, together
from sexplang.tasks.plans.proposal import Proposal
from sexplang.tasks.requests.subtask_request import fields_of
from sexplang.terms.classes.node import evolve, frozen
from sexplang.terms.task import Ask, task_result
from sexplang.terms.values.value import Record, Value


@frozen
class Planning:
    """The subtasks and plans that a conversation has asked for so far."""

    asked: dict[str, Value] | None = None
    """The proposal that is being answered."""
    accepted: tuple[Value, ...] = ()
    """The answers to the accepted plans."""
    artifacts: Artifacts = ()
    """The artifacts that the conversation has delivered with its proposals."""
    counted: Artifacts = ()
    """The artifacts at the time of the last accepted plan."""
    first: int = 0
    """The number of subtasks in accepted plans."""
    granted: float = 0
    """The seconds of the conversation's budget that these subtasks were given."""
    subtasks: tuple[Value, ...] = ()
    """The results of its subtasks, oldest first."""

    def over(self) -> "Planning":
        """Return the same without a pending proposal."""
        return evolve(self, asked=None)


def propose_plan(
    planning: Planning, read: Proposal, content: str, around: dict[str, Value]
) -> tuple[Planning, Ask]:
    """Return the operation `subplan`: the proposal, and the facts to judge it. `around` describes
    the conversation, `{depth max_depth limits seconds}`, with nil for absent values."""
    planning = with_artifacts(planning, read)
    artifacts = planning.artifacts
    plan = {
        **read.fields,
        **{name: item for name, item in around.items() if item is not None},
        "result": task_result(content, "CONTINUATION", notes={"subplan": read.fields}),
        "decomposition": len(planning.accepted) + 1,
        "progress": sum([each not in planning.counted for each in artifacts]),
        "first": planning.first,
        "granted": planning.granted,
    }
    return planning, Ask("subplan", (plan,), attempt=True)


def with_artifacts(planning: Planning | None, read: Proposal) -> Planning:
    """Return the ledger with the artifacts of a proposal, even of a refused one."""
    planning = planning or Planning()
    more = read.fields.get("artifacts")
    return evolve(planning, artifacts=together(planning.artifacts, more)) if more else planning


@frozen
class Answered:
    """The answer to a proposal: the words for the model, and the reason of a refusal."""

    planning: Planning
    words: dict[str, Value]
    is_error: bool
    refused: str | None = None


def read_answer(planning: Planning, value: Value) -> Answered | None:
    """Read the reply to the pending proposal. None for a reply that is not about a plan."""
    asked, reply = planning.asked or {}, fields_of(value) or {}
    planning = planning.over()
    accepted, reason = reply.get("accepted"), reply.get("reason")
    if not is_plan(value):
        return None
    words = reason if isinstance(reason, str) else None
    if not accepted:
        why = words or "no reason was given"
        return Answered(planning, {"accepted": False, "reason": why}, True, why)
    subtasks = asked.get("subtasks") or ()
    granted = reply.get("granted")
    if not isinstance(granted, (int, float)):
        granted = sum([_seconds(subtask) for subtask in subtasks])
    planning = evolve(
        planning,
        accepted=(*planning.accepted, _with_kept(reply)),
        counted=planning.artifacts,
        first=planning.first + len(subtasks),
        granted=planning.granted + granted,
    )
    return Answered(planning, _select_for_model(reply, words), words is not None)


def _seconds(subtask: Value) -> float:
    cap = (fields_of(subtask) or {}).get("budget_cap") or {}
    seconds: float = cap.get("seconds", 0)
    return seconds


def is_plan(reply: Value) -> bool:
    """Return whether a value answers a plan."""
    if isinstance(reply, Record):
        return False
    return isinstance((fields_of(reply) or {}).get("accepted"), bool)


def _with_kept(reply: dict[str, Value]) -> dict[str, Value]:
    results = results_of(reply)
    return {**reply, "results": tuple(map(strip_error, results))} if results else reply


def strip_error(result: Value) -> Value:
    """Return a result as it is kept. Partial results stand in its notes alone, not in its error
    too, so each of many nested failures is kept once."""
    if not isinstance(result, Record) or result.kind != "TaskResult":
        return result
    notes = fields_of(result.fields.get("notes")) or {}
    error = notes.get("error")
    details = fields_of(error.fields.get("details")) if isinstance(error, Record) else None
    if not isinstance(error, Record) or not details or "partial_results" not in details:
        return result
    rest = {name: item for name, item in details.items() if name != "partial_results"}
    error = Record(error.kind, {**error.fields, "details": rest})
    fields = {**result.fields, "notes": {**notes, "error": error}}
    return Record(result.kind, fields, result.answer)


def results_of(reply: Value) -> tuple[Value, ...]:
    """Return the results of a reply to a plan. Empty if it is none."""
    fields = fields_of(reply) or {}
    results = fields.get("results")
    if isinstance(fields.get("accepted"), bool) and isinstance(results, (tuple, list)):
        return tuple(results)
    return ()


def _select_for_model(reply: dict[str, Value], reason: str | None) -> dict[str, Value]:
    """Return the part of the results that a model reads: the node, the end, the content and the
    artifacts of each."""
    told: dict[str, Value] = {"accepted": True}
    if reason is not None:
        told["reason"] = reason
    for name in ("decision", "warnings"):
        if reply.get(name):
            told[name] = reply[name]
    told["results"] = tuple([_result(each) for each in results_of(reply)])
    return told


def _result(result: Value) -> Value:
    fields = fields_of(result)
    if fields is None or "notes" not in fields:
        return result
    notes = fields_of(fields["notes"]) or {}
    node = fields_of(notes.get("node")) or {}
    told: dict[str, Value] = {name: node.get(name) for name in ("id", "description", "state")}
    told["content"] = fields.get("content")
    error = fields_of(notes.get("error"))
    if error is not None:
        told["error"] = error.get("message")
    if notes.get("artifacts"):
        told["artifacts"] = notes["artifacts"]
    return {name: item for name, item in told.items() if item not in (None, "")}
