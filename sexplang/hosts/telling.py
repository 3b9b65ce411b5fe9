"""Diagnostics to the text that a person reads: the first of them, and how many more there are."""

import os
from collections.abc import Sequence
from typing import TextIO

from sexplang.hosts.explain import codes
from sexplang.hosts.show import paint_for, show
from sexplang.terms.diagnostic import Diagnostic

MOST = 50
"""Nobody reads more than some; of many, errors come first."""


def told(found: Sequence[Diagnostic], stream: TextIO) -> str:
    """The diagnostics as they look on a stream, with an empty line between them."""
    paint = paint_for(stream, os.environ)
    pages = frozenset(codes())
    first, more = found, len(found) - MOST
    if more > 0:
        first = sorted(found, key=lambda each: each.severity != "error")[:MOST]
    shown = [show(each, paint, each.code in pages) for each in first]
    if more > 0:
        shown.append(f"and {more:,} more")
    return "\n\n".join(shown)
