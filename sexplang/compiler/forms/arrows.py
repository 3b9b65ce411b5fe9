"""`->` to the nested form that it stands for."""

from sexplang.compiler.compilation import Lowered, Lowering
from sexplang.compiler.forms.shapes import word_of
from sexplang.terms.form import Form, ListForm, Name


def thread(c: Lowering, form: ListForm, position: int) -> Lowered:
    """`(-> e (function e…) name …)`: each step a form, what stands before it its first operand.

    That is done with the forms as they are written, so a step may be a special form too.
    """
    whole = form.items[1]
    for step in form.items[2:]:
        if type(step) is Name:
            whole = ListForm((step, whole), span=step.span)
        elif type(step) is ListForm and step.items and word_of(step) not in _NO_STEP:
            whole = ListForm((step.items[0], whole, *step.items[1:]), span=step.span)
        else:
            return _no_step(c, form, step)
    return c.later(whole, position)


_NO_STEP = ("lambda", "fn")


def _no_step(c: Lowering, form: ListForm, step: Form) -> Lowered:
    hint = None
    if word_of(step) in _NO_STEP:
        hint = f"a function that is called needs parentheses: `(({word_of(step)} (x) …))`"
    return c.report_malformed(
        form, step, "I expected a call or the name of a function here", hint=hint
    )
