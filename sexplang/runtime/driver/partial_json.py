"""The whole parts of a JSON text that is still being written."""

import re
from itertools import pairwise
from typing import Any

from sexplang.terms.model.payload import WRAPPER


def read_partial(text: str) -> Any:
    """Return what is whole of the first JSON table or list in a text, or None.

    An open table has its whole fields, an open list its whole items. A table or a list that is an
    item is left out until it is whole, and so is a number until something follows it.
    """
    from jiter import from_json

    begun = _BEGIN.search(text)
    if begun is None:
        return None
    text = _without_open_item(text[begun.start() :])
    try:
        return from_json(_OPEN_WORD.sub("", text).encode(), partial_mode=True)
    except ValueError:  # no JSON, or a surrogate half
        return None


def read_answer(text: str, schema: dict[str, Any]) -> Any:
    """Return what is whole of an answer of a schema. One in a wrapper is taken out of it."""
    value, fields = read_partial(text), schema.get("properties")
    is_wrapped = isinstance(fields, dict) and fields.keys() == {WRAPPER}
    return value.get(WRAPPER) if is_wrapped and isinstance(value, dict) else value


_BEGIN = re.compile(r"[\[{]")
_TOKENS = re.compile(r'"(?:\\.|[^"\\])*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_OPEN_WORD = re.compile(r"[-+.\w]+\Z", re.ASCII)


def _without_open_item(text: str) -> str:
    """Return the text up to its outermost open item; up to the end of its JSON, if that is
    there."""
    opened: list[tuple[str, int]] = []
    for token in _TOKENS.finditer(text):
        sign = token[0]
        if sign in "[{":
            opened.append((sign, token.start()))
        elif sign in "]}":
            opened.pop()
            if not opened:
                return text[: token.end()]
    inside = pairwise(opened)
    return next((text[:at] for (sign, _), (_, at) in inside if sign == "["), text)
