"""A text that can be read to the same text, laid out.

Law: what is laid out reads to the same forms, has the same comments in the same places, and is
laid out already. Law: the layout depends on what the tree of `concrete.py` depends on.

From the outside in, each node stands on one line if it fits there, and is broken otherwise; the
ways to break are below. Nothing is tried twice, and nothing recurses.
"""

from collections.abc import Callable, Iterator

from attrs import Factory, define, frozen

from sexplang.reader.concrete import Comment, Node, concrete
from sexplang.reader.page import Page
from sexplang.reader.reading import read
from sexplang.reader.shapes import (
    ALIGNED,
    CLAUSES,
    DEEPEST,
    NEVER,
    WIDTH,
    Shape,
    clause_of,
    measure,
    name_of,
    shape_of,
)
from sexplang.terms.source import Source
