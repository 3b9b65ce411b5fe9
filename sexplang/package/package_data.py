"""Files to texts: those that ship with the package (`grammar/`, `stdlib/`, `spec/errors/`), and
those that a person names."""

import os
from functools import cache

from sexplang.terms.diagnostic import Diagnostic, Diagnostics

LARGEST = 10_000_000
"""Bytes: the reader's limit is as many characters."""

STANDARD = {
    "call-atomic-task": "tasks",
    "par-map": "parallel",
    "eval-plan": "plans",
    "director-evaluator-loop": "loops",
    "iterative-loop": "loops",
    "sequence": "steps",
    "retry": "attempts",
    "vote": "attempts",
    "hedge": "attempts",
    "get-context": "memory",
    "get_context": "memory",
    "system:run_script": "scripts",
    "spawn-subagent": "subagents",
    "run-parallel-subagents": "subagents",
    **dict.fromkeys(["find", "find-index", "count", "flat-map", "filter-map"], "lists"),
    **dict.fromkeys(["map-indexed", "partition", "take-while", "drop-while"], "lists"),
    **dict.fromkeys(["min-by", "max-by", "fold-right", "index-by"], "lists"),
    **dict.fromkeys(["map-values", "map-keys", "filter-table"], "tables"),
    **dict.fromkeys(["update-in", "merge-with"], "tables"),
    "today": "dates",
}
"""Names of the prelude that are written in the language, and their module in `stdlib/`."""

DEFAULTS = {
    "subtask": ("subtask", "default-subtask"),
    "subplan": ("subplans", "default-subplan"),
    "agent-tools": ("agent", "default-agent-tools"),
    "agent-limits": ("agent", "default-agent-limits"),
    "agent-next": ("agent", "default-agent-next"),
}
"""Operations with a default: its module in `stdlib/` and its name there."""


def defaults_for(texts: list[str], has_tasks: bool) -> dict[str, tuple[str, str]]:
    """The defaults that a program may need, by its sources and the tools of its tasks: any task
    may be asked for by a subtask, and a plan is made of them."""
    plans = any("subplan" in text for text in texts)
    tasks = has_tasks or plans or any("subtask" in text for text in texts)
    modules = {"subtask": tasks, "subplans": plans, "agent": _imports("std/agent", texts)}
    return {operation: place for operation, place in DEFAULTS.items() if modules[place[0]]}


def _imports(module: str, texts: list[str]) -> bool:
    return any(module in text for text in texts)


_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@cache
def read_shipped(path: str) -> str:
    """The text of a shipped file, such as `grammar/sexplang.lark`, `stdlib/subtask.sexp`,
    `errors/unbound-name.md`. Raises FileNotFoundError."""
    with open(place(path), encoding="utf-8") as file:
        return file.read()


def place(path: str) -> str:
    """Where a shipped file lies on this machine."""
    folder, _, name = path.rpartition("/")
    return os.path.join(_folder(folder), name)


def names(folder: str) -> list[str]:
    """The names of the shipped files in `grammar`, `stdlib` or `errors`, sorted."""
    return sorted(os.listdir(_folder(folder)))


def _folder(name: str) -> str:
    # In a wheel they lie inside the package; in a checkout beside it.
    inside = os.path.join(_HERE, "_data", name)
    if os.path.isdir(inside):
        return inside
    return os.path.join(os.path.dirname(_HERE), "spec/errors" if name == "errors" else name)


def text_at(path: str) -> str:
    """The text at a path that a person named. Raises Diagnostics."""
    try:
        with open(path, "rb") as file:
            return decode(file.read(LARGEST + 1), path)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None


def decode(raw: bytes, name: str) -> str:
    """The text that some bytes are. Raises Diagnostics."""
    if len(raw) > LARGEST:
        raise _diagnose(
            "limit-size",
            f"`{name}` is larger than {LARGEST:,} bytes",
            "split it, or let the program read it piece by piece",
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        mark = next((mark for mark in _MARKS if raw.startswith(mark)), None)
        if mark is not None:
            raise _diagnose(
                "not-text",
                f"`{name}` begins with the byte order mark of {_MARKS[mark]}, and a text is UTF-8",
                f"save it as UTF-8: iconv -f {_MARKS[mark]} -t UTF-8 {name}",
            ) from None
        line = raw.count(b"\n", 0, error.start) + 1
        raise _diagnose(
            "not-text",
            f"`{name}` is not UTF-8 text: line {line} holds the byte 0x{raw[error.start]:02x}",
            "save it as UTF-8",
        ) from None
    if text.startswith("\ufeff"):
        raise _diagnose(
            "bad-character",
            f"`{name}` begins with two byte order marks",
            "delete one of them, or both",
        )
    return text


_MARKS = {
    b"\xff\xfe\0\0": "UTF-32",
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
"""The byte order marks of other encodings, the longer first."""


def _unreadable(path: str, error: Exception) -> Diagnostics:
    if isinstance(error, FileNotFoundError):
        return _diagnose("file-not-found", f"there is no `{path}`", "check the path's spelling")
    why = getattr(error, "strerror", None) or str(error)
    if isinstance(error, IsADirectoryError):
        hint = f"name the files of the folder, as in {path.rstrip('/')}/*.sexp"
        return _diagnose("file-not-found", f"`{path}` is a folder, not a file", hint)
    hint = "give the path of a file that may be read"
    return _diagnose("file-failed", f"cannot read `{path}`: {why}", hint)


def _diagnose(code: str, title: str, hint: str) -> Diagnostics:
    return Diagnostics([Diagnostic(code, title, hint=hint)])
