"""Calls to core: what is called is known as early as possible, and what does not fit is said."""

from collections.abc import Sequence
from typing import Any

from sexplang.compiler.names import namespaced, nearest, reference
from sexplang.compiler.scope import Binding, Continuation, Named, Place, Signature, signature_of
from sexplang.compiler.state import Lowered, Lowering, Steps
from sexplang.terms.core import (
    Call,
    CallKnown,
    CallPrimitive,
    Const,
    Core,
    Export,
    Function,
    Known,
    Lambda,
    Let,
    Local,
)
from sexplang.terms.form import Form, Label, ListForm, Literal, Name
from sexplang.terms.value import Higher, Operation, Primitive, Task

_LABELLED = ("call-atomic-task",)
"""Functions of the machine that take labels: a request's keys."""


def shape_of(c: Lowering, binding: Binding | None) -> Any:
    """What is known of the calls that a binding takes."""
    shape: Any = None
    if type(binding) is Export:
        shape = binding.shape
        if shape is None and type(binding.core) is Const:
            shape = binding.core.value
    elif isinstance(binding, (Place, Named)):
        shape = binding.shape
    if isinstance(shape, Function):
        return signature_of(shape)
    return shape if isinstance(shape, (Signature, Primitive, Higher, Operation, Task)) else None


def call(c: Lowering, form: ListForm, head: Form) -> Steps:
    """`(callee e… label: e …)` where the callee is not a continuation of a clause."""
    binding: Binding | None = None
    if type(head) is Name:
        binding = c.find(head.text) or namespaced(c, head.text)
    shape = shape_of(c, binding)
    if binding is not None:
        callee = reference(c, binding, head)  # type: ignore[arg-type]
    else:
        callee = yield c.lower(head)
        if type(callee) is Const and type(head) is Literal:
            return _not_callable(c, form, head)
    if shape is not None:
        _recognise_pairs(c, form, shape)
    arguments, labels = yield from operands(c, form)
    if shape is None:
        return Call(callee, arguments, labels, span=form.span)
    return _KNOWN[type(shape)](c, form, callee, shape, arguments, labels)


def _not_callable(c: Lowering, form: ListForm, head: Literal) -> Core:
    return c.report(
        "not-callable",
        head.span,
        "only a function can be called",
        "this is data",
        hint="a list of values is written `[a b c]`",
    )


def operands(c: Lowering, form: ListForm) -> Any:
    """The arguments of a call as they are written, and the labels of the last ones."""
    forms: list[Form] = []
    labels: list[Label] = []
    waiting: Label | None = None
    for item in form.items[1:]:
        if type(item) is Label:
            if waiting is not None:
                _no_value(c, waiting)
            waiting = item
        elif waiting is not None:
            _unique(c, waiting, labels)
            labels.append(waiting)
            forms.append(item)
            waiting = None
        elif labels:
            c.report(
                "label-misplaced",
                item.span,
                "an argument by position stands after one by label",
                "this one has no label",
                hint="put the arguments without a label first",
            )
        else:
            forms.append(item)
    if waiting is not None:
        _no_value(c, waiting)
    arguments = yield c.each(forms)
    return arguments, tuple(label.text for label in labels)


def _no_value(c: Lowering, label: Label) -> None:
    c.report(
        "label-misplaced",
        label.span,
        f"the label `{label.text}:` has no value",
        "I expected an argument after this label",
    )


def _unique(c: Lowering, label: Label, labels: list[Label]) -> None:
    if any(label.text == other.text for other in labels):
        c.report(
            "duplicate-label",
            label.span,
            f"`{label.text}` is given twice",
            hint="remove one of them",
        )


def plain_arguments(c: Lowering, form: ListForm, forms: Sequence[Form]) -> Any:
    """Arguments where labels have no meaning."""
    for item in forms:
        if type(item) is Label:
            _positions_only(c, form, item)
    return c.each(item for item in forms if type(item) is not Label)


def _positions_only(c: Lowering, form: ListForm, at: Form) -> None:
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
) -> bool:
    """Whether this many arguments fit; reports if not."""
    if least <= count and (most is None or count <= most):
        return True
    wanted = str(least) if most == least else f"{least} to {most}"
    if most is None:
        wanted = f"at least {least}"
    noun = "argument" if (most if most is not None else least) == 1 else "arguments"
    c.report(
        "wrong-arity",
        form.span,
        f"`{name}` takes {wanted} {noun}, not {count}",
        f"{count} here",
        hint=f"write `({' '.join([name, *params])})`" if params else None,
    )
    return False


def _primitive(
    c: Lowering,
    form: ListForm,
    callee: Core,
    shape: Primitive,
    arguments: tuple[Core, ...],
    labels: tuple[str, ...],
) -> Core:
    if labels:
        _positions_only(c, form, _label_form(form, labels[0]))
    elif not check_count(c, form, shape.name, len(arguments), shape.least, shape.most):
        pass
    elif type(callee) is Const:
        return CallPrimitive(shape, arguments, span=form.span)
    return Call(callee, arguments, span=form.span)


def _higher(
    c: Lowering,
    form: ListForm,
    callee: Core,
    shape: Higher,
    arguments: tuple[Core, ...],
    labels: tuple[str, ...],
) -> Core:
    if labels and shape.name not in _LABELLED:
        _positions_only(c, form, _label_form(form, labels[0]))
    elif not labels:
        check_count(c, form, shape.name, len(arguments), shape.least, shape.most)
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
    places = _places(c, form, signature, len(arguments), labels)
    if places is None:
        return Call(callee, (), span=form.span)
    # What is left out between two labels is sent as nil.
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
    places = _places(c, form, shape, len(arguments), labels)
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
    params = shape.template.params
    optional = frozenset(p.name for p in params if not p.required or p.default is not None)
    signature = Signature(shape.name, tuple(p.name for p in params), optional, None)
    _places(c, form, signature, len(arguments), labels)
    return Call(callee, arguments, labels, span=form.span)


_KNOWN: dict[type, Any] = {
    Primitive: _primitive,
    Higher: _higher,
    Operation: _operation,
    Signature: _function,
    Task: _task,
}


def _label_form(form: ListForm, text: str) -> Form:
    return next(item for item in form.items if type(item) is Label and item.text == text)


def _places(
    c: Lowering, form: ListForm, shape: Signature, count: int, labels: tuple[str, ...]
) -> list[int] | None:
    """Which parameter each argument fills; None (and a report) if they do not fit."""
    positional = count - len(labels)
    params = shape.params
    if positional > len(params):
        if shape.rest is None:
            least = sum(name not in shape.optional for name in params)
            check_count(c, form, shape.name, count, least, len(params), params)
            return None
        positional = len(params)
    places = list(range(positional))
    for text in labels:
        if text not in params:
            return _unknown_label(c, form, shape, text)
        at = params.index(text)
        if at < positional:
            title = f"`{text}` is given by position and by label"
            c.report("duplicate-label", _label_form(form, text).span, title)
            return None
        places.append(at)
    missing = [
        name for at, name in enumerate(params) if at not in places and name not in shape.optional
    ]
    if not missing:
        return places
    if not labels:
        most = None if shape.rest is not None else len(params)
        check_count(c, form, shape.name, count, len(params) - len(shape.optional), most, params)
    else:
        c.report(
            "wrong-arity",
            form.span,
            f"`{shape.name}` needs {' and '.join(f'`{name}`' for name in missing)} too",
            hint=f"add `{missing[0]}: …`",
        )
    return None


def _unknown_label(c: Lowering, form: ListForm, shape: Signature, text: str) -> None:
    close = nearest(text, shape.params)
    listed = ", ".join(f"`{name}`" for name in shape.params) or "no parameters"
    c.report(
        "unknown-label",
        _label_form(form, text).span,
        f"`{shape.name}` has no parameter `{text}`",
        hint=f"did you mean `{close}:`?" if close else f"it has {listed}",
    )


def _in_order(
    c: Lowering,
    form: ListForm,
    arguments: tuple[Core, ...],
    places: list[int],
    made: Any,
) -> Core:
    """The call with its arguments in the order of the parameters, evaluated as written."""
    if places == list(range(len(arguments))):
        return made(arguments)  # type: ignore[no-any-return]
    filled: list[Core] = [Const(None, span=form.span)] * (max(places, default=-1) + 1)
    free = all(type(one) in (Const, Local, Known, Lambda) for one in arguments)
    for at, (place, one) in enumerate(zip(places, arguments, strict=True)):
        filled[place] = one if free else Local(0, c.size + at, "_", span=one.span)
    core: Core = made(tuple(filled))
    return core if free else Let(arguments, core, span=form.span)


def _recognise_pairs(c: Lowering, form: ListForm, shape: Any) -> None:
    """`(task (key value))`, the way of older programs to name arguments."""
    params: tuple[str, ...] = getattr(shape, "params", ())
    if type(shape) is Task:
        params = tuple(param.name for param in shape.template.params)
    for item in form.items[1:]:
        if type(item) is ListForm and len(item.items) == 2 and type(item.items[0]) is Name:
            name = item.items[0].text
            if name in params and c.find(name) is None:
                c.report(
                    "named-argument",
                    item.span,
                    f"an argument is named with a label, not with `({name} …)`",
                    hint=f"write `{name}: {item.items[1].span.text[:40]}`",
                )


def is_continuation(c: Lowering, form: Form) -> bool:
    """Whether the form names the continuation of a clause."""
    return type(form) is Name and type(c.find(form.text)) is Continuation


__all__ = ["Lowered", "call", "check_count", "is_continuation", "operands", "plain_arguments"]
