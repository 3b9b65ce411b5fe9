r"""Surrogate halves, which UTF-8 cannot encode.

JSON may contain them (`"\ud800"`), but files and terminals do not accept them.
"""

from typing import Any

from sexplang.runtime.refusal import refuse


def is_text(text: str) -> bool:
    """Whether UTF-8 can encode a text."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def join_surrogates(text: str) -> str:
    """Return a text in which each pair of halves is the character that it stands for."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def require_text(text: Any, operation: str) -> Any:
    """Return the value to be written. Raises a Refusal `not-text` for text that UTF-8 cannot
    encode."""
    if isinstance(text, str) and not is_text(text):
        raise refuse(
            "not-text",
            f"`{operation}` was given half of a surrogate pair, which is no character",
            hint="look at where the text comes from: \\ud800 to \\udfff stand only in pairs",
        )
    return text
