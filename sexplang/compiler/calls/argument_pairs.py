"""Diagnostics for calls in the syntax of older programs, `(task (key value))`."""

from collections.abc import Sequence
from typing import Any

from sexplang.compiler.compilation import Lowering
from sexplang.compiler.forms.shapes import CLAUSES, word_of
from sexplang.compiler.names.bindings import Binding, NamedFunction, Place, Signature, signature_of
from sexplang.terms.core import Const
from sexplang.terms.form import Form, Label, ListForm, Name
from sexplang.terms.program import Export, Function
from sexplang.terms.values.abbreviation import excerpt
from sexplang.terms.values.value import Higher, Operation, Primitive, Task

SHAPES = frozenset((Primitive, Higher, Operation, Signature, Task))
"""The classes of call shapes."""

_CALLS = frozenset(("call-atomic-task", "call-task"))
"""Functions whose first argument is a task."""


def shape_of(binding: Binding | None) -> Any:
    """Return the shape of the calls that a binding takes."""
    shape: Any = None
    if type(binding) is Export:
        shape = binding.shape
        if shape is None and type(binding.core) is Const:
            shape = binding.core.value
        elif type(shape) is Function:
            return signature_of(shape)
    elif isinstance(binding, (Place, NamedFunction)):
        shape = binding.shape
    return shape if type(shape) in SHAPES else None


def has_pairs(c: Lowering, form: ListForm, shape: Any) -> bool:
    """Return whether arguments are named with lists instead of labels; report them."""
    if ListForm not in map(type, form.items):
        return False
    params = _names(shape) if type(shape) is Task else getattr(shape, "params", ())
    found = _pairs(c, form.items[1:], params) if params else []
    for item, label in found:
        _report(c, item, f"{label}: {excerpt(item.items[1].span.text)}")
    return bool(found)


def has_inputs(c: Lowering, form: ListForm, shape: Any) -> bool:
    """Return whether the inputs of a task stand beside it instead of in a table; report them. They
    may be pairs or labels."""
    name = getattr(shape, "name", "")
    if name not in _CALLS or len(form.items) < 3 or (task := _task(c, form.items[1])) is None:
        return False
    params = _names(task)
    pairs = _pairs(c, form.items[2:], params)
    inputs = {label: item.items[1] for item, label in pairs}
    first: Form | None = pairs[0][0] if pairs else None
    for label, item in zip(form.items, form.items[1:], strict=False):
        is_own = name == "call-task" or label.text in shape.params if type(label) is Label else True
        if not is_own and label.text in params:  # type: ignore[union-attr]
            inputs[label.text] = item  # type: ignore[union-attr]
            first = first or label
    if first is None:
        return False
    fields = " ".join(f"{key}: {excerpt(value.span.text)}" for key, value in inputs.items())
    if name == "call-task":
        _report(c, first, fields)
    elif pairs:
        _report(c, first, f"inputs: {{{fields}}}")
    else:
        c.report(
            "unknown-label",
            first.span,
            f"`{name}` takes the inputs of `{task.name}` in a table",
            hint=f"write `inputs: {{{fields}}}`",
        )
    return True


def _report(c: Lowering, item: Form, written: str) -> None:
    name = item.items[0].span.text  # type: ignore[union-attr]
    c.report(
        "named-argument",
        item.span,
        f"an argument is named with a label, not with `({name} …)`",
        hint=f"write `{written}`",
    )


def _names(task: Task) -> tuple[str, ...]:
    return tuple([param.name for param in task.template.params])


def _task(c: Lowering, form: Form) -> Task | None:
    """Return the task that `name` or `'name` stands for."""
    if word_of(form) == "quote":
        form = form.items[-1]  # type: ignore[union-attr]
    shape = shape_of(c.names.find(form.text)) if type(form) is Name else None
    return shape if type(shape) is Task else None


def _pairs(
    c: Lowering, items: Sequence[Form], params: tuple[str, ...]
) -> list[tuple[ListForm, str]]:
    """Return the lists that are names with values, each with its parameter."""
    found: list[tuple[ListForm, str]] = []
    for item in items:
        label = _find_parameter(c, item, params) if type(item) is ListForm else None
        if type(item) is ListForm and label is not None:
            found.append((item, label))
    return found


def _find_parameter(c: Lowering, item: ListForm, params: tuple[str, ...]) -> str | None:
    """Return the parameter that `(name value)` names."""
    name = word_of(item)
    if not name or len(item.items) != 2 or c.names.find(name) is not None:
        return None
    label = CLAUSES.get(name, name).replace("-", "_")
    return next((param for param in (name, label) if param in params), None)
