"""Classes of which a program has thousands: spans, forms, core."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attrs import frozen as node
else:
    from attrs import define as node

__all__ = ["node"]
