"""The assignment of arguments to parameters, with checks of counts and labels."""

from collections.abc import Sequence
from typing import Any

from sexplang.compiler.compilation import Lowering
from sexplang.compiler.names.bindings import Signature
from sexplang.terms.form import Form, Label, ListForm, Name
from sexplang.terms.texts.nearest import fewest_letters_off


def operands(c: Lowering, form: ListForm) -> tuple[Sequence[Form], tuple[str, ...], bool]:
    """Return the arguments as written, the labels of the last ones, and whether labels are well
    placed."""
    if Label in map(type, form.items):
        return _split_labels(c, form)
    return form.items[1:], (), True


def _split_labels(c: Lowering, form: ListForm) -> tuple[Sequence[Form], tuple[str, ...], bool]:
    forms: list[Form] = []
    labels: list[str] = []
    seen: set[str] = set()
    waiting: Label | None = None
    is_sound = True
    for item in form.items[1:]:
        if type(item) is Label:
            is_sound &= waiting is None or _no_value(c, waiting)
            waiting = item
        elif waiting is not None:
            is_sound &= _is_new(c, waiting, seen)
            labels.append(waiting.text)
            forms.append(item)
            waiting = None
        else:
            is_sound &= not labels or _check_label(c, item)
            forms.append(item)
    if waiting is not None:
        is_sound &= _no_value(c, waiting)
    return forms, tuple(labels), is_sound


def _check_label(c: Lowering, item: Form) -> bool:
    c.report(
        "label-misplaced",
        item.span,
        "an argument by position stands after one by label",
        "this one has no label",
        hint="put the arguments without a label first",
    )
    return False


def _no_value(c: Lowering, label: Label) -> bool:
    c.report(
        "label-misplaced",
        label.span,
        f"the label `{label.text}:` has no value",
        "I expected an argument after this label",
    )
    return False


def _is_new(c: Lowering, label: Label, seen: set[str]) -> bool:
    is_new = label.text not in seen
    seen.add(label.text)
    if not is_new:
        c.report(
            "duplicate-label",
            label.span,
            f"`{label.text}` is given twice",
            hint="remove one of them",
        )
    return is_new


def plain_arguments(c: Lowering, form: ListForm, forms: Sequence[Form]) -> Any:
    """Lower arguments that take no labels."""
    for item in forms:
        if type(item) is Label:
            positions_only(c, form, item)
    return c.each(item for item in forms if type(item) is not Label)


def positions_only(c: Lowering, form: ListForm, at: Form) -> None:
    head = form.items[0]
    name = f"`{head.text}`" if type(head) is Name else "this"
    c.report(
        "positions-only",
        at.span,
        f"{name} takes its arguments by position, not by label",
        "no label can stand here",
        hint="leave the label out and put the arguments in their order",
    )


def check_count(
    c: Lowering,
    form: ListForm,
    name: str,
    count: int,
    least: int,
    most: int | None,
    params: Sequence[str] = (),
    usage: str | None = None,
) -> bool:
    """Return whether this many arguments fit; report if not."""
    if least <= count and (most is None or count <= most):
        return True
    if most is None:
        wanted = f"at least {least}"
    else:
        wanted = str(least) if most == least else f"{least} to {most}"
    noun = "argument" if least == 1 and most in (1, None) else "arguments"
    usage = f"`({' '.join([name, *params])})`" if params else usage
    c.report(
        "wrong-arity",
        form.span,
        f"`{name}` takes {wanted} {noun}, not {count}",
        f"{count} here",
        hint=f"write {usage}" if usage else None,
    )
    return False


def label_form(form: ListForm, text: str) -> Form:
    return next(item for item in form.items if type(item) is Label and item.text == text)


def places_of(
    c: Lowering, form: ListForm, shape: Signature, count: int, labels: tuple[str, ...]
) -> list[int] | None:
    """Return the parameter that each argument fills, or None (and report) if they do not fit."""
    positional = count - len(labels)
    params = shape.params
    if positional > len(params):
        if shape.rest is None:
            least = sum(name not in shape.optional for name in params)
            check_count(c, form, shape.name, count, least, len(params), params)
            return None
        positional = len(params)
    places = list(range(positional))
    known = {name: at for at, name in enumerate(params)} if labels else {}
    for text in labels:
        at = known.get(text, -1)
        if at < 0:
            _unknown_label(c, form, shape, text)
            return None
        if at < positional:
            title = f"`{text}` is given by position and by label"
            c.report("duplicate-label", label_form(form, text).span, title)
            return None
        places.append(at)
    filled = set(places)
    missing = [
        name for at, name in enumerate(params) if at not in filled and name not in shape.optional
    ]
    if not missing:
        return places
    most = None if shape.rest is not None else len(params)
    least = len(params) - len(shape.optional)
    # Enough arguments may still omit a required one, if parameters with a default come first.
    if labels or check_count(c, form, shape.name, count, least, most, params):
        c.report(
            "wrong-arity",
            form.span,
            f"`{shape.name}` needs {' and '.join(f'`{name}`' for name in missing)} too",
            hint=f"add `{missing[0]}: …`",
        )
    return None


def _unknown_label(c: Lowering, form: ListForm, shape: Signature, text: str) -> None:
    close = fewest_letters_off(text, shape.params)
    listed = ", ".join(f"`{name}`" for name in shape.params) or "no parameters"
    hint = f"did you mean `{close}:`?" if close else f"it has {listed}"
    if shape.is_task and text in _OF_CALLS:
        hint += (
            f"; what holds for one call: (call-atomic-task '{shape.name} inputs: {{…}} {text}: …)"
        )
    c.report(
        "unknown-label",
        label_form(form, text).span,
        f"`{shape.name}` has no parameter `{text}`",
        hint=hint,
    )


_OF_CALLS = frozenset(
    (
        *("context_management", "file_paths", "history", "history_config", "max_depth"),
        *("max_turns", "model", "options", "previous_outputs", "return_expectations", "subtype"),
    )
)
"""The labels that `call-atomic-task` takes beside inputs."""
