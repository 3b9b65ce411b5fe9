"""Lowering of calls. Known callees are resolved and checked at compile time."""

from collections.abc import Sequence
from typing import Any

from sexplang.compiler.calls.argument_pairs import has_inputs, has_pairs, shape_of
from sexplang.compiler.calls.arguments import (
    check_count,
    label_form,
    operands,
    places_of,
    positions_only,
)
from sexplang.compiler.compilation import AT_HEAD, Lowered, Lowering, Steps
from sexplang.compiler.forms.shapes import OLD_CALLS
from sexplang.compiler.names.bindings import Binding, Continuation, Signature
from sexplang.compiler.names.names import reference
from sexplang.terms.core import (
    Call,
    CallKnown,
    CallPrimitive,
    Const,
    Core,
    Known,
    Lambda,
    Let,
    Local,
)
from sexplang.terms.form import Form, ListForm, Literal, Name
from sexplang.terms.program import Export
from sexplang.terms.values.value import Higher, Operation, Primitive, Task

_AT_ONCE = frozenset([Name, Literal])
"""Forms that are lowered without a generator."""


def call(c: Lowering, form: ListForm, head: Form, binding: Binding | None) -> Lowered:
    """`(callee e… label: e …)`. `binding` is the binding of a callee that is a name. It is not a
    clause's continuation."""
    shape = shape_of(binding)
    if shape is not None and (has_pairs(c, form, shape) or has_inputs(c, form, shape)):
        return Const(None, span=form.span)
    if binding is None:
        return _unknown(c, form, head)
    forms, labels, is_sound = operands(c, form)
    if not is_sound:
        shape = None
    callee = _callee(c, binding, head, shape)
    if _AT_ONCE.issuperset(map(type, forms)):
        return _make(c, form, callee, shape, c.each(forms), labels)
    return _lower_known(c, form, callee, shape, forms, labels)


def _callee(c: Lowering, binding: Binding, head: Form, shape: Any) -> Core | None:
    """Return the callee, or None for a primitive that is called by its own name."""
    if type(shape) is Primitive and type(binding) is Export and type(binding.core) is Const:
        return None
    return reference(c, binding, head)  # type: ignore[arg-type]


def _lower_known(
    c: Lowering,
    form: ListForm,
    callee: Core | None,
    shape: Any,
    forms: Sequence[Form],
    labels: tuple[str, ...],
) -> Steps:
    arguments = yield c.each(forms)
    return _make(c, form, callee, shape, arguments, labels)


def _unknown(c: Lowering, form: ListForm, head: Form) -> Steps:
    """Lower a call whose callee is computed."""
    callee = yield c.lower(head, AT_HEAD)
    if type(callee) is Const and type(head) is Literal:
        return _not_callable(c, form, head)
    if type(head) is Name and head.text in OLD_CALLS:
        return Const(
            None, span=form.span
        )  # arguments in the old syntax would give more diagnostics
    forms, labels, _ = operands(c, form)
    arguments = yield c.each(forms)
    return Call(callee, arguments, labels, span=form.span)


def _make(
    c: Lowering,
    form: ListForm,
    callee: Core | None,
    shape: Any,
    arguments: tuple[Core, ...],
    labels: tuple[str, ...],
) -> Core:
    if shape is None:
        return Call(callee, arguments, labels, span=form.span)  # type: ignore[arg-type]
    made: Core = _KNOWN[type(shape)](c, form, callee, shape, arguments, labels)
    return made


def lower_call(c: Lowering, form: ListForm, head: Form, arguments: tuple[Core, ...]) -> Steps:
    """Lower a call of `head` with arguments that are core already."""
    binding: Binding | None = None
    if type(head) is Name:
        binding = c.names.find(head.text) or c.names.find_in_module(head.text)
    if binding is None or type(binding) is Continuation:
        return Call((yield c.lower(head)), arguments, span=form.span)
    shape = shape_of(binding)
    return _make(c, form, _callee(c, binding, head, shape), shape, arguments, ())


def _not_callable(c: Lowering, form: ListForm, head: Literal) -> Core:
    return c.report(
        "not-a-function",
        head.span,
        "only a function can be called",
        "this is data",
        hint="a list of values is written `[a b c]`",
    )


def _primitive(
    c: Lowering,
    form: ListForm,
    callee: Core | None,
    shape: Primitive,
    arguments: tuple[Core, ...],
    labels: tuple[str, ...],
) -> Core:
    if labels:
        positions_only(c, form, label_form(form, labels[0]))
    elif not check_count(
        c, form, shape.name, len(arguments), shape.least, shape.most, usage=shape.usage
    ):
        pass
    elif callee is None:
        return CallPrimitive(shape, arguments, form.span)
    return Call(callee or Const(shape, span=form.span), arguments, span=form.span)


def _higher(
    c: Lowering,
    form: ListForm,
    callee: Core,
    shape: Higher,
    arguments: tuple[Core, ...],
    labels: tuple[str, ...],
) -> Core:
    if shape.name == "call-task":
        task = arguments[0].value if arguments and type(arguments[0]) is Const else None
        if type(task) is Task:
            _check_inputs(c, form, task, len(arguments) - 1, labels)
            return Call(callee, arguments, labels, span=form.span)
    elif labels:
        positions_only(c, form, label_form(form, labels[0]))
        return Call(callee, arguments, labels, span=form.span)
    count = len(arguments) - len(labels)
    check_count(c, form, shape.name, count, shape.least, shape.most, usage=shape.usage)
    return Call(callee, arguments, labels, span=form.span)


def _operation(
    c: Lowering,
    form: ListForm,
    callee: Core,
    shape: Operation,
    arguments: tuple[Core, ...],
    labels: tuple[str, ...],
) -> Core:
    if not labels:
        most = None if shape.rest else len(shape.params)
        check_count(c, form, shape.name, len(arguments), shape.least, most, shape.params)
        return Call(callee, arguments, span=form.span)
    required = frozenset(shape.params[: shape.least])
    signature = Signature(shape.name, shape.params, frozenset(shape.params) - required, None)
    places = places_of(c, form, signature, len(arguments), labels)
    if places is None:
        return Call(callee, (), span=form.span)
    # An argument that is omitted between two labels is nil.
    return _in_order(
        c, form, arguments, places, lambda ordered: Call(callee, ordered, span=form.span)
    )


def _function(
    c: Lowering,
    form: ListForm,
    callee: Core,
    shape: Signature,
    arguments: tuple[Core, ...],
    labels: tuple[str, ...],
) -> Core:
    places = places_of(c, form, shape, len(arguments), labels)
    if places is None or type(callee) is not Known or not shape.is_exact:
        return Call(callee, arguments, labels, span=form.span)
    known = callee
    return _in_order(
        c,
        form,
        arguments,
        places,
        lambda ordered: CallKnown(known.depth, known.function, ordered, span=form.span),
    )


def _task(
    c: Lowering,
    form: ListForm,
    callee: Core,
    shape: Task,
    arguments: tuple[Core, ...],
    labels: tuple[str, ...],
) -> Core:
    _check_inputs(c, form, shape, len(arguments), labels)
    return Call(callee, arguments, labels, span=form.span)


def _check_inputs(
    c: Lowering, form: ListForm, task: Task, count: int, labels: tuple[str, ...]
) -> None:
    params = task.template.params
    optional = frozenset(p.name for p in params if not p.required or p.default is not None)
    signature = Signature(task.name, tuple(p.name for p in params), optional, None, is_task=True)
    places_of(c, form, signature, count, labels)


_KNOWN: dict[type, Any] = {
    Primitive: _primitive,
    Higher: _higher,
    Operation: _operation,
    Signature: _function,
    Task: _task,
}


def _in_order(
    c: Lowering,
    form: ListForm,
    arguments: tuple[Core, ...],
    places: list[int],
    made: Any,
) -> Core:
    """Return the call with its arguments in the order of the parameters. They are evaluated in the
    order of the text."""
    if places == list(range(len(arguments))):
        return made(arguments)  # type: ignore[no-any-return]
    filled: list[Core] = [Const(None, span=form.span)] * (max(places, default=-1) + 1)
    free = all(type(one) in (Const, Local, Known, Lambda) for one in arguments)
    for at, (place, one) in enumerate(zip(places, arguments, strict=True)):
        filled[place] = one if free else Local(0, c.size + at, "_", span=one.span)
    core: Core = made(tuple(filled))
    return core if free else Let(arguments, core, span=form.span)
