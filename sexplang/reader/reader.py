"""Reading of a source: its forms, or all its diagnostics.

The parser comes first; it accepts or refuses. Only a text that it refuses, or that holds a
construct beyond its grammar, is walked again for diagnostics.
"""

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager

from sexplang.reader.characters import Flaw, find_hidden
from sexplang.reader.parser import Forms, TooManyWords, Unreadable, parse
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.form import Form
from sexplang.terms.source import Source

_LARGE = 50_000
_BYTE_ORDER_MARK = "\ufeff"
_COMMA_BEFORE_FORM = r"(?:^|[\s(\[{'`~@]),+[^\s,;)\]}]"


def read(
    source: Source,
    *,
    max_depth: int = 10_000,
    max_size: int = 10_000_000,
    max_words: int = 200_000,
) -> tuple[Form, ...]:
    """Return the forms of a source. Raises `Diagnostics`, and nothing else.

    A byte order mark at the very start is white space. `max_depth` bounds the nesting of forms (a
    quoting mark is a level), `max_size` the number of characters, `max_words` the number of words
    and brackets.
    """
    text = source.text
    if len(text) > max_size:
        from sexplang.reader import reader_diagnostics

        raise Diagnostics([reader_diagnostics.too_large(source, max_size)])
    at = int(text.startswith(_BYTE_ORDER_MARK))
    forms = Forms(source)
    found: list[Form] | None = None
    if next(find_hidden(text, at), None) is None:
        try:
            with no_collection(len(text)):
                found = parse(text, forms, max_depth, max_words, at)
        except (Unreadable, Flaw):
            found = None
        except TooManyWords as endless:
            from sexplang.reader import reader_diagnostics

            raise Diagnostics(
                [reader_diagnostics.too_many(source, endless.end, max_words)]
            ) from None
    if found is not None and not forms.spliced and not _may_unquote_by_comma(text):
        return tuple(found)
    # Imported here: most programs need no diagnosis.
    from sexplang.reader.diagnosis import diagnose

    wrong = diagnose(source, max_depth, max_words, at)
    if wrong:
        raise Diagnostics(wrong)
    assert found is not None, "refused, and nothing found wrong"
    return tuple(found)


@contextmanager
def no_collection(size: int) -> Iterator[None]:
    """Suspend garbage collection. The objects made from a large text stay alive, and repeated scans
    of them take longer than making them."""
    pause = size > _LARGE and gc.isenabled()
    if pause:
        gc.disable()
    try:
        yield
    finally:
        if pause:
            gc.enable()


def _may_unquote_by_comma(text: str) -> bool:
    is_quasi = "`" in text or "(quasiquote" in text
    return is_quasi and re.search(_COMMA_BEFORE_FORM, text) is not None
