"""A language for work done by language models: programs whose functions may be atomic tasks.

`run`, `arun`, `build` and `start` are all there is to begin with; `spec/` is the language.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sexplang.api import (
        Diagnostics,
        Done,
        Failed,
        Limits,
        Permissions,
        Program,
        Suspended,
        TaskResult,
        arun,
        build,
        run,
        start,
    )

__all__ = [
    "Diagnostics",
    "Done",
    "Failed",
    "Limits",
    "Permissions",
    "Program",
    "Suspended",
    "TaskResult",
    "arun",
    "build",
    "run",
    "start",
]


def __getattr__(name: str) -> Any:
    # The command must start without loading what only embedding needs.
    if name in __all__:
        from sexplang import api

        return getattr(api, name)
    raise AttributeError(f"module 'sexplang' has no attribute {name!r}")
