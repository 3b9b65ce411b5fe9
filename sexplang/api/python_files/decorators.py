"""The decorators of functions in a Python file that a program imports.

They mark a function and return it: in Python it is what it was. The marks are read from the text of
the file, and looked at again when it has run.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from sexplang.api import argument_checks
from sexplang.api.python_values import Function, replay
from sexplang.terms.python_file import PythonKind

if TYPE_CHECKING:
    from sexplang.runtime.journal.doubts import Decision

KIND = "__sexplang_kind__"
"""The attribute of a function that holds its kind."""

_F = TypeVar("_F", bound=Function)


@overload
def tool(function: _F, /) -> _F: ...
@overload
def tool(*, name: str | None = None, replay: "Decision | None" = None) -> Callable[[_F], _F]: ...
def tool(
    function: Any = None, /, *, name: str | None = None, replay: "Decision | None" = None
) -> Any:
    """Mark a function as a tool that models may be allowed, and an operation of the same name.

    `name` is its name in programs. `replay` is what the decorator `replay` says.
    """
    return _mark("tool", function, name, replay)


@overload
def operation(function: _F, /) -> _F: ...
@overload
def operation(
    *, name: str | None = None, replay: "Decision | None" = None
) -> Callable[[_F], _F]: ...
def operation(
    function: Any = None, /, *, name: str | None = None, replay: "Decision | None" = None
) -> Any:
    """Mark a function as an operation: the host performs it, and its reply is recorded."""
    return _mark("operation", function, name, replay)


@overload
def primitive(function: _F, /) -> _F: ...
@overload
def primitive(*, name: str | None = None) -> Callable[[_F], _F]: ...
def primitive(function: Any = None, /, *, name: str | None = None) -> Any:
    """Mark a pure function: equal arguments give an equal value, and a replay calls it again."""
    return _mark("primitive", function, name, None)


def _mark(kind: PythonKind, function: Any, name: str | None, decision: "Decision | None") -> Any:
    """Return the marked function, or the decorator if there is none yet."""
    if name is not None:
        argument_checks.text("name", name)

    def mark(given: _F) -> _F:
        if not callable(given):
            raise argument_checks.wrong(f"what @{kind} marks", "a function", given)
        setattr(given, KIND, kind)
        return given if decision is None else replay(decision)(given)

    return mark if function is None else mark(function)
