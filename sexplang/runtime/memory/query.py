"""The argument of `search-memory` as a query: a text, or a table of ContextGenerationInput.

Its words are those of a text, equally for indexing and for searching.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from sexplang.tasks.requests.subtask_request import snake
from sexplang.terms.classes.node import frozen
from sexplang.terms.quota import GREATEST
from sexplang.terms.texts.words import IDLE, words
from sexplang.terms.values.text import text
from sexplang.terms.values.value import Record, Symbol, Value

STRATEGIES = {"content": 10, "metadata": 5}
"""Search strategies and their default number of matches."""

MOST = 1000
"""Maximum number of matches of one query."""

PARTS = 1000
"""Maximum number of values read from a table of inputs or of earlier outputs."""

_TEXTS = ("query", "template_description", "template_type", "template_subtype")
_VALUES = ("inputs", "inherited_context", "previous_outputs")
FIELDS = (*_TEXTS, *_VALUES, "matching_strategy", "limit", "include_unmatched", "vector")

MOST_DIMENSIONS = 16_384
"""Maximum numbers of a query's vector."""


@frozen
class Query:
    """The texts to search for: `wanted`, and `around` with less weight."""

    wanted: tuple[str, ...]
    around: tuple[str, ...] = ()
    strategy: str = "content"
    limit: int = STRATEGIES["content"]
    include_unmatched: bool = False
    """Whether files without a match follow the matches."""
    vector: tuple[float, ...] = ()
    """The vector that files are compared with; empty for none."""


class BadQuery(Exception):
    """The argument is not a query. The message says why."""


def query_of(given: Value) -> Query:
    """Convert a value to a query. Raises BadQuery."""
    fields = given.fields if isinstance(given, Record) else given
    if isinstance(fields, dict) and not _is_text(given):
        return _from_fields(_normalize_names(fields))
    if given is None or not _is_text(given):
        raise BadQuery(f"a query is a text or a table of {', '.join(FIELDS)}")
    return Query((_describe(given),))


def _normalize_names(given: dict[str, Value]) -> dict[str, Value]:
    """Return the fields with snake_case names."""
    fields: dict[str, Value] = {}
    for key, value in given.items():
        name = snake(key)
        if name in fields:
            raise BadQuery(f"`{name}` occurs twice, in two spellings: keep one")
        fields[name] = value
    return fields


def _from_fields(fields: dict[str, Value]) -> Query:
    unknown = [name for name in fields if name not in FIELDS]
    if unknown:
        raise BadQuery(f"a query has no field `{unknown[0]}`; it has {', '.join(FIELDS)}")
    for name in _TEXTS:
        if not _is_text(fields.get(name)):
            raise BadQuery(f"`{name}` is a text")
    strategy = _name(fields.get("matching_strategy"), "content")
    if strategy not in STRATEGIES:
        raise BadQuery('`matching_strategy` is "content" or "metadata"')
    limit = fields.get("limit")
    if limit is None:
        limit = STRATEGIES[strategy]
    if type(limit) is not int or not 1 <= limit <= MOST:
        raise BadQuery(f"`limit` is an integer from 1 to {MOST:,}")
    unmatched = fields.get("include_unmatched")
    if unmatched is not None and not isinstance(unmatched, bool):
        raise BadQuery("`include_unmatched` is true or false")
    vector = _vector_of(fields.get("vector"))
    wanted = [_describe(fields.get(name)) for name in ("query", "template_description")]
    wanted += _texts(fields.get("inputs"))
    around = [each for name in _VALUES[1:] for each in _texts(fields.get(name))]
    return Query(tuple(wanted), tuple(around), strategy, limit, unmatched is True, vector)


def _vector_of(given: Value) -> tuple[float, ...]:
    """Return a query's vector; empty if there is none. Raises BadQuery."""
    if given is None:
        return ()
    numbers = given if isinstance(given, (tuple, list)) else ()
    if not 0 < len(numbers) <= MOST_DIMENSIONS or not all(map(_is_finite, numbers)):
        raise BadQuery(f"`vector` is a list of at most {MOST_DIMENSIONS:,} finite numbers")
    return tuple([float(number) for number in numbers])


def _is_finite(number: Value) -> bool:
    return type(number) in (int, float) and abs(number) <= GREATEST


def _is_text(value: Value) -> bool:
    return (
        value is None
        or isinstance(value, (str, Symbol))
        or (isinstance(value, Record) and value.kind == "TaskResult")
    )


def _describe(value: Value) -> str:
    return text(value)[:LONGEST]


def _name(value: Value, default: str) -> Any:
    return default if value is None else value.name if isinstance(value, Symbol) else value


def _texts(value: Value) -> Iterator[str]:
    """Yield the texts in a value of any depth. Numbers and field names are left out."""
    work, seen = [value], 0
    while work and seen < PARTS:
        item = work.pop()
        seen += 1
        if isinstance(item, (str, Symbol)) or (_is_text(item) and item is not None):
            yield _describe(item)
        elif isinstance(item, (dict, Record)):
            fields = item if isinstance(item, dict) else item.fields
            work.extend(reversed(fields.values()))
        elif isinstance(item, (tuple, list)):
            work.extend(reversed(item))


# -- The words of a query -------------------------------------------------------------------------

MOST_TERMS = 64
"""Maximum number of different words of a query. The most frequent ones are used."""

LONGEST = 100_000
"""Maximum characters of a query that are read."""


def terms(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the words to search for, each once: the most frequent first, then in order of
    appearance."""
    found = Counter(word for text in texts for word in words(text[:LONGEST]))
    telling = [(word, count) for word, count in found.items() if word not in IDLE]
    ranked = sorted(telling or found.items(), key=lambda each: -each[1])
    return tuple([word for word, _ in ranked[:MOST_TERMS]])
