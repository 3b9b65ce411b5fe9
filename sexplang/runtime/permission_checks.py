"""Performers with a permission check before the operation."""

from typing import Any

from sexplang.runtime.driver.answers import Performer, Performers
from sexplang.runtime.permissions import Permissions
from sexplang.runtime.refusal import refuse
from sexplang.terms.effect import Request

FLAGS = {"read-file": "read", "list-files": "read", "write-file": "write"}
"""The permission that each file operation needs for at least one place."""


def check_permissions(performers: Performers, permissions: Permissions) -> dict[str, Performer]:
    """Wrap performers: an operation without any granted place is refused before it runs."""

    def deny(operation: str, right: str) -> Performer:
        def perform(request: Request) -> Any:
            raise refuse(
                "path-denied",
                f"`{operation}` is not permitted here: no folder to {right} was given",
                hint=f"allow one with --allow-{right} FOLDER",
            )

        return perform

    shut = {name: right for name, right in FLAGS.items() if not permissions.grants(right)}
    return {**performers, **{name: deny(name, right) for name, right in shut.items()}}
