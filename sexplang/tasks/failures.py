"""The error records of tasks: one function for each kind."""

from sexplang.terms.task import error_record
from sexplang.terms.values.value import Fault, Value


def _failure(reason: str, message: str, hint: str | None = None, **rest: Value) -> Fault:
    content = rest.pop("content", None)
    error = error_record(
        "TASK_FAILURE", reason, message, details=rest, content=content or None, hint=hint
    )
    return Fault(reason, message, error=error)


def bad_input(message: str, hint: str | None = None, **details: Value) -> Fault:
    """Return the failure of a task or a request whose input does not fit."""
    return _failure("input_validation_failure", message, hint, **details)


def halt(message: str, limit_kind: str, hint: str, **details: Value) -> Fault:
    """Return the failure of a chain of subtasks that goes no deeper. `limit_kind` is max_depth or
    cycle."""
    return _failure("execution_halted", message, hint, limit_kind=limit_kind, **details)


def bad_reply(message: str, *, content: str = "", **details: Value) -> Fault:
    """Return the failure of a model's reply that was cut short or breaks the protocol."""
    hint = "run it again; if it stays, the server does not speak the Messages protocol"
    return _failure("protocol_error", message, hint, content=content, **details)


def refuse(category: str, content: str) -> Fault:
    """Return the failure of a model that refuses to answer."""
    return _failure(
        "llm_error",
        "the model refused to answer",
        "change the instructions, or catch llm_error",
        content=content,
        stop_reason="refusal",
        category=category,
    )


def misfit(problem: str, content: str, details: dict[str, Value]) -> Fault:
    """Return the failure of a final reply that does not have the declared output format."""
    message = f"the task's output format is not met: {problem}"
    hint = "loosen the schema, or show the model an example of what you expect"
    return _reject(message, hint, content, details)


def reject_answer(problem: str, content: str, details: dict[str, Value]) -> Fault:
    """Return the failure of a final answer that the task's validator does not take."""
    message = f"the task's answer is not valid: {problem}"
    hint = "say in the instructions what a good answer has, or loosen the validator"
    return _reject(message, hint, content, details)


def _reject(message: str, hint: str, content: str, details: dict[str, Value]) -> Fault:
    return _failure(
        "output_format_failure",
        message,
        hint,
        **{"expectedType": None, "actualType": None, **details},
        originalOutput=content,
        content=content,
    )


def exhaust(resource: str, message: str, hint: str, content: str, **metrics: Value) -> Fault:
    """Return the failure of a conversation that reached a bound: turns, output or context."""
    error = error_record(
        "RESOURCE_EXHAUSTION",
        resource,
        message,
        details={"resource": resource, "metrics": metrics},
        content=content or None,
        hint=hint,
    )
    return Fault(resource, message, error=error)


def fail_unmatched(message: str, candidates: tuple[Value, ...]) -> Fault:
    """Return the failure of a request that no template takes."""
    return _failure(
        "template_not_found",
        message,
        "name one of these with its inputs, or import a template that does this",
        candidates=candidates,
    )
