"""Performers → performers: what stands between a program and the world, in a visible order."""

from typing import Any

from sexplang.runtime.driver.answers import Performer, Performers
from sexplang.runtime.permissions import Permissions
from sexplang.runtime.refusal import refuse
from sexplang.terms.effect import Request

FLAGS = {"read-file": "read", "list-files": "read", "write-file": "write"}
"""Which permission each operation on files needs at least one place of."""


def check_permissions(performers: Performers, permissions: Permissions) -> dict[str, Performer]:
    """Operations for which nothing at all was granted are refused before they look at anything."""

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
