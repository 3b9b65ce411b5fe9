"""Text with halves of surrogate pairs → text that UTF-8 can write, or a refusal.

JSON may hold such halves (`"\\ud800"`), and no file or terminal takes them.
"""

from typing import Any

from sexplang.runtime.refusal import refuse


def is_text(text: str) -> bool:
    """Whether a text can be written in UTF-8."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def writable(text: Any, operation: str) -> Any:
    """What is to be written, as it is. Raises a Refusal `not-text` for what UTF-8 lacks."""
    if isinstance(text, str) and not is_text(text):
        raise refuse(
            "not-text",
            f"`{operation}` was given half of a surrogate pair, which is no character",
            hint="look at where the text comes from: \\ud800 to \\udfff stand only in pairs",
        )
    return text
