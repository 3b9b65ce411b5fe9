"""A language for work done by language models: programs whose functions may be atomic tasks.

`run`, `arun`, `build` and `start` are all there is to begin with; `spec/` is the language, and
`spec/11-embedding.md` is about this package.
"""

# This is loaded before the command can say what Ctrl-C does: it takes no time, not even typing's.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sexplang.api import (
        CurrentRequest,
        Diagnostic,
        Diagnostics,
        Done,
        Event,
        EventQueue,
        Failed,
        Finished,
        Limits,
        Memory,
        Outcome,
        Permissions,
        Program,
        Progressed,
        Queued,
        Request,
        Retrying,
        Said,
        Started,
        Suspended,
        TaskResult,
        Withdrawn,
        adispatch,
        answer,
        aresume,
        arun,
        build,
        check,
        current_request,
        dispatch,
        error,
        freeze,
        operation,
        primitive,
        questions,
        replay,
        result,
        resume,
        run,
        start,
        thaw,
        tool,
    )
    from sexplang.api.components import (
        AtomicTaskExecutor,
        Dispatcher,
        Handler,
        MemorySystem,
        SexpEvaluator,
        TaskSystem,
    )

_COMPONENTS = (
    "AtomicTaskExecutor",
    "Dispatcher",
    "Handler",
    "MemorySystem",
    "SexpEvaluator",
    "TaskSystem",
)

__all__ = [
    "AtomicTaskExecutor",
    "CurrentRequest",
    "Diagnostic",
    "Diagnostics",
    "Dispatcher",
    "Done",
    "Event",
    "EventQueue",
    "Failed",
    "Finished",
    "Handler",
    "Limits",
    "Memory",
    "MemorySystem",
    "Outcome",
    "Permissions",
    "Program",
    "Progressed",
    "Queued",
    "Request",
    "Retrying",
    "Said",
    "SexpEvaluator",
    "Started",
    "Suspended",
    "TaskResult",
    "TaskSystem",
    "Withdrawn",
    "adispatch",
    "answer",
    "aresume",
    "arun",
    "build",
    "check",
    "current_request",
    "dispatch",
    "error",
    "freeze",
    "operation",
    "primitive",
    "questions",
    "replay",
    "result",
    "resume",
    "run",
    "start",
    "thaw",
    "tool",
]


def __getattr__(name: str) -> "Any":
    # The command must start without loading what only embedding needs.
    if name in _COMPONENTS:
        from sexplang.api import components

        return getattr(components, name)
    if name in __all__:
        from sexplang import api

        return getattr(api, name)
    raise AttributeError(f"module 'sexplang' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
