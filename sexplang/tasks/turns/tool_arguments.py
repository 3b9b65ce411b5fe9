"""What a model wrote for one of the language's own tools to the arguments of its operation, or a
sentence on why it does not fit."""

from collections.abc import Callable

from sexplang.tasks.turns.tools import BUILT_IN, SCRIPT_SECONDS
from sexplang.terms.values.value import Value


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
    """The arguments of the operation that a tool stands for, or what is wrong; None for a tool
    that is none of the language's own."""
    made = OPERATIONS.get(name)
    if made is None:
        return None
    known = BUILT_IN[name]["input_schema"]["properties"]
    unknown = [key[:_LONGEST] for key in given if key not in known]
    if unknown:
        return f"`{unknown[0]}` is none of its inputs: {', '.join(known)}"
    return made(given)


_LONGEST = 40
"""Characters of an unknown name that are told."""

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
