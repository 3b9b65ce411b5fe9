"""`try` and `attempt` to core: a try's catches are clauses of the operation `error`."""

from collections.abc import Generator
from typing import Any

from sexplang.compiler.compilation import Lowering, Steps
from sexplang.compiler.forms.shapes import word_of
from sexplang.compiler.units.bodies import body
from sexplang.terms.core import Attempt, Clause, Core, Finally, Handle
from sexplang.terms.form import ListForm, Literal, Name


def attempt(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(attempt e)`, or with a default `(attempt e default)`, which is a `try` that takes all."""
    inner: Core = yield c.lower(form.items[1])
    if len(form.items) == 2:
        return Attempt(inner, span=form.span)
    place = c.here()
    c.place("_")
    c.place("_")
    default: Core = yield c.lower(form.items[2])
    c.back(place)
    c.handled.add("error")
    clause = Clause("error", ("_",), default, "never", (), span=form.items[2].span)
    return Handle(inner, (clause,), span=form.span)


def try_(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(try e… (catch (name word…) body…) … (finally body…))`"""
    forms = list(form.items[1:])
    last: ListForm | None = None
    if word_of(forms[-1]) == "finally":
        last = forms.pop()  # type: ignore[assignment]
        c.scopes += 1
    catches: list[ListForm] = []
    while forms and word_of(forms[-1]) == "catch":
        catches.append(forms.pop())  # type: ignore[arg-type]
    if not catches and last is None:
        return c.report_malformed(form, form, "I expected a `catch` or a `finally` at the end")
    if not forms:
        return c.report_malformed(
            form, form, "I expected a body before the first `catch` or `finally`"
        )
    for item in forms:
        if word_of(item) == "catch" or word_of(item) == "finally":
            hint = "after the body come the catches, then at most one `finally`"
            return c.report_malformed(form, item, "this stands too early", hint=hint)
    inner: Core = yield body(c, tuple(forms), 0, form.span)
    clauses: list[Clause] = []
    for item in reversed(catches):
        clause = yield _catch(c, form, item)
        if clause is not None:
            clauses.append(clause)
    if clauses:
        c.handled.add("error")
        inner = Handle(inner, tuple(clauses), span=form.span)
    if last is None:
        return inner
    if len(last.items) == 1:
        return c.report_malformed(form, last, "I expected a body here")
    cleanup = yield body(c, last.items[1:], 0, last.span)
    return Finally(inner, cleanup, span=form.span)


def _catch(c: Lowering, form: ListForm, item: ListForm) -> Generator[Any, Any, Clause | None]:
    head = item.items[1] if len(item.items) > 1 else item
    if type(head) is not ListForm or not head.items or len(item.items) < 3 or head is item:
        c.report_malformed(form, head, "I expected `(catch (name word…) body…)` here")
        return None
    name, *rest = head.items
    words = []
    for word in rest:
        if type(word) is Name:
            words.append(word.spelling)
        elif type(word) is Literal and isinstance(word.value, str):
            words.append(word.value)
        else:
            c.report_malformed(form, word, "I expected an error's type or reason here")
    if not c.is_bindable(name):
        return None
    place = c.here()
    c.place(name.text)  # type: ignore[union-attr]
    # The continuation has its slot, though a catch cannot name it.
    c.place("_")
    c.catches.append(head)
    inner = yield body(c, item.items[2:], 0, item.span)
    c.catches.pop()
    c.back(place)
    params = (name.spelling,)  # type: ignore[union-attr]
    return Clause("error", params, inner, "never", tuple(words), span=item.span)
