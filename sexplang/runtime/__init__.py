"""Suspended runs to their ends: requests are performed, replies are journaled and delivered.

Here the world begins: time, networks, files, models, permissions, the journal. What runs programs
is loaded when its first name is asked for: an index is made without it.
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
