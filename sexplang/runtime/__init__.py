"""The driver and the world: performers, models, files, permissions, the journal.

The public names are loaded on first use: making an index needs none of them.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sexplang.runtime.interface import (
        Endpoint,
        Journal,
        Permissions,
        Person,
        Refusal,
        Retries,
        Settings,
        adrive,
        choose_model,
        drive,
        performers,
    )

__all__ = [
    "Endpoint",
    "Journal",
    "Permissions",
    "Person",
    "Refusal",
    "Retries",
    "Settings",
    "adrive",
    "choose_model",
    "drive",
    "performers",
]


def __getattr__(name: str) -> "Any":
    if name in __all__:
        from sexplang.runtime import interface

        # All of them: a module that bears a function's name is in its place by now.
        globals().update({each: getattr(interface, each) for each in __all__})
        return globals()[name]
    raise AttributeError(f"module 'sexplang.runtime' has no attribute {name!r}")
