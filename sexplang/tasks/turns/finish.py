"""A final text to the TaskResult, or to the question that asks for a better one."""

from typing import Any

from sexplang.tasks.failures import misfit
from sexplang.tasks.notes import notes_of
from sexplang.tasks.plans.artifacts import artifacts_of
from sexplang.tasks.prompt.history import record_history
from sexplang.tasks.requests.subtask_request import fields_of
from sexplang.tasks.session import HandlerSession, Reading, Rules
from sexplang.tasks.turns.partial_notes import metrics, sources_of
from sexplang.terms.classes.node import evolve, node
from sexplang.terms.task import task_result
from sexplang.terms.values.value import Record, Value


@node
class Question:
    """What the model is told about a reply that does not fit, and what is noted."""

    words: str
    repairs: tuple[str, ...]


_NO_RESULT = task_result("")


def finish(
    rules: Rules, session: HandlerSession, text: str, model: str | None
) -> tuple[Record, Question | None]:
    """The result; with a question, there is none yet. Raises Fault when asking did not help."""
    if session.setup.format.type == "text":
        if not text or text.isspace():
            words = "the model ended its turn without a word: the answer is empty"
            session = evolve(session, warnings=(*session.warnings, words))
        notes = _notes(session, model, ())
        return task_result(text, notes=notes, usage=notes["usage"]), None
    reading = rules.read_reply(text, session.setup.format)
    if reading.problem is None:
        notes = _notes(session, model, reading.repairs)
        _pass_score(notes, reading.value)
        _pass_artifacts(notes, session, reading.value)
        value, usage = reading.value, notes["usage"]
        made = task_result(text, parsed_content=value, notes=notes, usage=usage, answer=(value,))
        return made, None
    if session.setup.takes_text:
        words = f"the reply could not be read and is taken as text: {_reason(reading.problem)}"
        warned = evolve(session, warnings=(*session.warnings, words))
        notes = _notes(warned, model, ())
        return task_result(text, notes=notes, usage=notes["usage"]), None
    if session.asked_again >= rules.max_repairs or session.turns >= session.setup.max_turns:
        raise misfit(_reason(reading.problem), text, _details(session, reading))
    noted = f"asked again: {_reason(reading.problem)}"
    return _NO_RESULT, Question(reading.problem, (*reading.repairs, noted))


def _reason(problem: str) -> str:
    """A problem without its last sentence, which tells the model what to do."""
    return problem.rsplit(". ", 1)[0]


def _details(session: HandlerSession, reading: Reading) -> dict[str, Value]:
    schema = session.setup.format.schema
    repairs = (*session.repairs, *reading.repairs)
    return {
        "expectedType": schema if isinstance(schema, str) else "json",
        **reading.details,
        "repairs": repairs,
    }


def _notes(
    session: HandlerSession, model: str | None, repairs: tuple[str, ...]
) -> dict[str, Value]:
    """Where the result comes from."""
    notes: dict[str, Any] = {
        **session.setup.notes,
        "warnings": session.warnings,
        "model": model,
        "usage": {"input_tokens": session.usage[0], "output_tokens": session.usage[1]},
        "turns": session.turns,
        "metrics": metrics(session),
    }
    if session.children != (0, 0):
        notes["chain_usage"] = {
            "input_tokens": session.usage[0] + session.children[0],
            "output_tokens": session.usage[1] + session.children[1],
        }
    if session.setup.unseen is not None:
        notes["history"] = record_history(session)
    if session.repairs or repairs:
        notes["repairs"] = (*session.repairs, *repairs)
    sources = sources_of(session)
    if sources:
        notes["sources"] = sources
    if session.planning is not None:
        notes |= notes_of(session)
    if session.left_out is not None:
        for name in ("shortened", "compacted"):
            if each := getattr(session.left_out, name):
                notes[name] = each
    return notes


def _pass_artifacts(notes: dict[str, Value], session: HandlerSession, parsed: Value) -> None:
    """`artifacts` of the answer are a note of the result, with those delivered before."""
    more = artifacts_of((fields_of(parsed) or {}).get("artifacts"))
    if more:
        notes |= notes_of(session, more)


def _pass_score(notes: dict[str, Value], parsed: Value) -> None:
    """`successScore` of the answer is a note of the result."""
    score = (fields_of(parsed) or {}).get("successScore")
    if isinstance(score, (int, float)) and not isinstance(score, bool):
        notes["successScore"] = score
