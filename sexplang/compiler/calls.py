"""Calls to core: known callees are resolved and checked, arguments are assigned to parameters.

A call in the syntax of older programs, `(task (key value))`, is reported.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sexplang.compiler.compilation import (
    Binding,
    Continuation,
    Lowered,
    Lowering,
    NamedFunction,
    Place,
    Signature,
    Steps,
    signature_of,
)
from sexplang.compiler.forms.shapes import CLAUSES, OLD_CALLS, word_of
from sexplang.compiler.names import is_unbound, reference, report_unbound
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
from sexplang.terms.form import Form, Label, ListForm, Literal, Name
from sexplang.terms.program import Export, Function, is_label
from sexplang.terms.texts.nearest import fewest_letters_off
from sexplang.terms.values.abbreviation import excerpt
from sexplang.terms.values.value import Higher, Operation, Primitive, Task

if TYPE_CHECKING:
    from sexplang.compiler import habit_hints

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
    if type(head) is Name and is_unbound(c, head):
        is_form = report_unbound(c, head, form)
        if is_form or head.text in OLD_CALLS:
            # Operands of another language's form would give more diagnostics.
            return Const(None, span=form.span)
        callee: Core = Const(None, span=head.span)
    else:
        callee = yield c.lower(head)
    if type(callee) is Const and type(head) is Literal:
        return _report_not_callable(c, form, head)
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


def _report_not_callable(c: Lowering, form: ListForm, head: Literal) -> Core:
    from sexplang.compiler import habit_hints

    null = habit_hints.Suggestion("write `(null? xs)`") if head.span.text == "null" else None
    meant = null or habit_hints.find_name_before(c, form.span)
    return c.report(
        "not-a-function",
        head.span,
        "only a function can be called",
        "this is data",
        hint=meant.hint if meant is not None else "a list of values is written `[a b c]`",
        edits=meant.edits if meant is not None else (),
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
    rest = "values" if shape.rest else None
    signature = Signature(shape.name, shape.params, frozenset(shape.params) - required, rest)
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
            is_sound &= waiting is None or _report_no_value(c, waiting)
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
        is_sound &= _report_no_value(c, waiting)
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


def _report_no_value(c: Lowering, label: Label) -> bool:
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
    meant = _foreign_call(c, form)
    hint = meant.hint if meant is not None else _find_label_hint(at)
    c.report(
        "positions-only",
        at.span,
        f"{name} takes its arguments by position, not by label",
        "no label can stand here",
        hint=hint or "leave the label out and put the arguments in their order",
        edits=meant.edits if meant is not None else (),
    )


def _foreign_call(c: Lowering, form: ListForm) -> "habit_hints.Suggestion | None":
    """Return what to write for a call of the library in the manner of another language."""
    from sexplang.compiler import habit_hints

    head = form.items[0]
    return habit_hints.find_call(c, head.text, form) if type(head) is Name else None


def _find_label_hint(at: Form) -> str | None:
    from sexplang.package import habits

    return habits.find_label_hint(at.text) if type(at) is Label else None


def check_count(
    c: Lowering,
    form: ListForm,
    name: str,
    count: int,
    least: int,
    most: int | None,
    params: Sequence[str] = (),
    usage: str | None = None,
    is_call: bool = True,
) -> bool:
    """Return whether this many arguments fit; report if not. A clause of a handler is no call."""
    if least <= count and (most is None or count <= most):
        return True
    if most is None:
        wanted = f"at least {least}"
    else:
        wanted = str(least) if most == least else f"{least} to {most}"
    noun = "argument" if least == 1 and most in (1, None) else "arguments"
    usage = f"`({' '.join([name, *params])})`" if params else usage
    meant = _foreign_call(c, form) if is_call else None
    c.report(
        "wrong-arity",
        form.span,
        f"`{name}` takes {wanted} {noun}, not {count}",
        f"{count} here",
        hint=meant.hint if meant is not None else f"write {usage}" if usage else None,
        edits=meant.edits if meant is not None else (),
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
            _report_unknown_label(c, form, shape, text)
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
            hint=f"add `{missing[0]}: …`"
            if is_label(missing[0])
            else "a pattern is given by position",
        )
    return None


def _report_unknown_label(c: Lowering, form: ListForm, shape: Signature, text: str) -> None:
    known = [name for name in shape.params if is_label(name)]
    close = fewest_letters_off(text, known)
    listed = ", ".join(f"`{name}`" for name in known) or "no parameters"
    if len(known) < len(shape.params):
        listed = f"{', '.join(f'`{name}`' for name in shape.params)}; a pattern has no label"
    hint = f"did you mean `{close}:`?" if close else f"it has {listed}"
    if shape.is_task and text in _OF_CALLS:
        hint += (
            f"; what holds for one call: (call-atomic-task '{shape.name} inputs: {{…}} {text}: …)"
        )
    meant = None if shape.is_task else _foreign_call(c, form)
    if not shape.is_task and shape.name not in c.names.table:
        hint = _find_label_hint(label_form(form, text)) or hint
    c.report(
        "unknown-label",
        label_form(form, text).span,
        f"`{shape.name}` has no parameter `{text}`",
        hint=hint if meant is None else meant.hint,
        edits=() if meant is None else meant.edits,
    )


_OF_CALLS = frozenset(
    (
        *("context_management", "file_paths", "history", "history_config", "max_depth"),
        *("max_turns", "model", "options", "previous_outputs", "return_expectations", "subtype"),
    )
)
"""The labels that `call-atomic-task` takes beside inputs."""


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
    if name not in _CALLS or len(form.items) < 3 or (task := _find_task(c, form.items[1])) is None:
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


def _find_task(c: Lowering, form: Form) -> Task | None:
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
