"""A source to its forms, or to all that keeps it from being read.

The quick way first: lark's table, which knows right from wrong and nothing else. Only a text that
it refuses, or that holds something it cannot judge, is walked a second time to say why.
"""

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager

from sexplang.reader.characters import find_hidden
from sexplang.reader.flaw import Flaw
from sexplang.reader.form_builder import Forms
from sexplang.reader.parser import TooManyWords, Unreadable, parse
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.form import Form
from sexplang.terms.source import Source

_LARGE = 50_000
_BYTE_ORDER_MARK = "\ufeff"
_COMMA_BEFORE_FORM = re.compile(r"(?:^|[\s(\[{'`~@]),+[^\s,;)\]}]")


def read(
    source: Source,
    *,
    max_depth: int = 10_000,
    max_size: int = 10_000_000,
    max_words: int = 200_000,
) -> tuple[Form, ...]:
    """The forms of a source. Raises `Diagnostics`, and nothing else.

    A byte order mark at the very start is white space. `max_depth` bounds how deep forms nest (a
    quoting mark is a level), `max_size` the number of characters, `max_words` that of words and
    brackets.
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
    # Most programs are right: what only a wrong one needs is imported for it alone.
    from sexplang.reader.diagnosis import diagnose

    wrong = diagnose(source, max_depth, max_words, at)
    if wrong:
        raise Diagnostics(wrong)
    assert found is not None, "refused, and nothing found wrong"
    return tuple(found)


@contextmanager
def no_collection(size: int) -> Iterator[None]:
    """Collects no garbage meanwhile: all that a large text is made into lives on, and looking
    through it again and again takes longer than making it."""
    pause = size > _LARGE and gc.isenabled()
    if pause:
        gc.disable()
    try:
        yield
    finally:
        if pause:
            gc.enable()


def _may_unquote_by_comma(text: str) -> bool:
    return ("`" in text or "(quasiquote" in text) and _COMMA_BEFORE_FORM.search(text) is not None
