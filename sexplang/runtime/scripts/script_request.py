"""A request for a script as a checked command."""

import json
import os
import shlex
from shutil import which
from typing import Any

from sexplang.package.process import IDEMPOTENCY_KEY
from sexplang.runtime.driver.current_request import find_key
from sexplang.runtime.files.surrogates import require_text
from sexplang.runtime.permissions import Permissions
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.runtime.scripts.process import Command, can_supervise
from sexplang.terms.classes.node import frozen
from sexplang.terms.effect import Request
from sexplang.terms.values.boundary import value_of
from sexplang.terms.values.text import text
from sexplang.terms.values.value import Record, Symbol, Value

SECONDS = 300.0
MOST_SECONDS = 86_400.0
MOST_BYTES = 1_000_000
"""Maximum bytes kept of standard output, and of standard error."""

SEEN = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")
"""Environment variables that a script sees. Keys are not among them."""

_SHAPE = '(run-script "wc" ["-l"] text 300)'


@frozen
class Script:
    """A command and its standard input."""

    command: Command
    given: str


def script_of(request: Request, permissions: Permissions) -> Script:
    """Return the script of a request. Raises a Refusal if it is malformed, not permitted or
    missing."""
    name, arguments, given, timeout = (*request.arguments, None, None, None, None)[:4]
    words = _words(name, arguments)
    seconds = _seconds(timeout)
    if given is not None and not isinstance(given, str):
        raise _wrong("the input of a script is text")
    if grant_name(words[0], permissions) not in permissions.run:
        raise not_permitted(words[0], "--allow-run")
    check_supervision()
    key = find_key()
    more = None if key is None else {IDEMPOTENCY_KEY: key}
    command = command_of(words, permissions.base, seconds, more)
    return Script(command, require_text(given or "", request.operation))


def check_supervision() -> None:
    """Raise a Refusal if this system cannot run scripts."""
    if not can_supervise():
        raise refuse(
            "not-available",
            "scripts are run on Linux alone: elsewhere their processes could not all be ended",
            hint="answer `run-script` with a handler, or with a function of the host",
        )


def command_of(
    words: tuple[str, ...], folder: str, seconds: float, more: dict[str, str] | None = None
) -> Command:
    """Return the command with a minimal environment and `more`. Raises a Refusal if the executable
    is missing."""
    seen = {name: os.environ[name] for name in SEEN if name in os.environ}
    environment = {"LANG": "C.UTF-8", **seen, "PATH": _path(), **(more or {})}
    name = words[0]
    if "/" in name:
        name = os.path.normpath(os.path.join(folder, name))
    file = which(name, path=environment["PATH"])
    if file is None:
        raise refuse(
            "script-not-found",
            f"there is no executable `{words[0]}`",
            hint="install it, or look at PATH; the words of a shell, such as `cd`, are none",
            command=words[0],
        )
    return Command(file, words, environment, folder, seconds)


def grant_name(name: str, permissions: Permissions) -> str:
    """Return the name of an executable in grants: its name, or its absolute path if it was named by
    a path."""
    return os.path.normpath(os.path.join(permissions.base, name)) if "/" in name else name


def not_permitted(name: str, flag: str) -> Refusal:
    """Return the refusal of an executable that is not granted."""
    words = name.split()
    hint = f"allow it with {flag} {shlex.quote(name)}"
    if len(words) > 1 and "/" not in name:  # a whole command line: it names no executable
        listed = " ".join(json.dumps(word, ensure_ascii=False) for word in words[1:])
        hint = f'an executable stands alone: write "{words[0]}" and args: [{listed}]'
    return refuse("run-denied", f"`{name}` may not be run here", hint=hint, command=name)


def _path() -> str:
    """Return the folders of executables. The working folder is never among them."""
    given = os.environ.get("PATH", os.defpath)
    return os.pathsep.join([part for part in given.split(os.pathsep) if os.path.isabs(part)])


def _words(name: Value, arguments: Value) -> tuple[str, ...]:
    if not isinstance(name, str) or not name:
        raise _wrong("an executable is named by a string")
    if arguments is not None and not isinstance(arguments, tuple | list):
        raise _wrong("the arguments of a script are a list")
    words = (name, *[_word(argument) for argument in arguments or ()])
    for word in words:
        if "\0" in require_text(word, "run-script"):
            raise _wrong("no argument can hold the character NUL")
    return words


def _word(argument: Any) -> str:
    is_result = isinstance(argument, Record) and argument.kind == "TaskResult"
    if is_result or type(argument) in (str, int, float) or isinstance(argument, Symbol):
        return text(value_of(argument))
    raise _wrong("an argument of a script is text or a number")


def _seconds(timeout: Value) -> float:
    if timeout is None:
        return SECONDS
    if type(timeout) not in (int, float) or not 0 < timeout <= MOST_SECONDS:
        raise _wrong(f"a timeout is a number of seconds, up to {MOST_SECONDS:,.0f}")
    return float(timeout)


def _wrong(message: str) -> Refusal:
    return refuse("wrong-type", message, hint=f"for example {_SHAPE}")
