"""The brackets around an offset in a text."""

from sexplang.compiler.forms.shapes import QUOTING, shape_of, word_of
from sexplang.terms.form import Form, ListForm, TableForm, VectorForm


def brackets_around(forms: tuple[Form, ...], offset: int) -> list[Form]:
    """Return the brackets around an offset, outermost first."""
    chain: list[Form] = []
    while True:
        inner = next(
            (
                form
                for form in forms
                if form.span.start < offset <= form.span.end and _holds(form, offset)
            ),
            None,
        )
        if inner is None:
            return chain
        chain.append(inner)
        forms = inner.items  # type: ignore[union-attr]


def _holds(form: Form, offset: int) -> bool:
    if not isinstance(form, (ListForm, VectorForm, TableForm)):
        return False
    text = form.span.source.text
    is_closed = text[form.span.end - 1] in ")]}" or text[form.span.start] in "'`~"
    return offset < form.span.end or not is_closed


def is_data(chain: list[Form]) -> bool:
    """Return whether brackets, outermost first, hold data that is not evaluated."""
    level = 0
    for form in chain:
        shape = shape_of(form)
        if shape is not None and shape.operands == ("datum",) and not level:
            return True
        level += QUOTING.get(word_of(form), 0)
    return level > 0
