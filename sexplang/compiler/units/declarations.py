"""Lowering of `define-input` and `define-effect`."""

from typing import Any, get_args

from sexplang.compiler.compilation import Lowering, Steps
from sexplang.compiler.forms.functions import duplicate
from sexplang.compiler.forms.quotation import datum
from sexplang.terms.classes.node import define
from sexplang.terms.core import Const, Core, InputValue
from sexplang.terms.form import Form, Label, ListForm, Literal, Name, VectorForm
from sexplang.terms.program import Input, InputType, is_of_type
from sexplang.terms.source import Span
from sexplang.terms.values.value import Operation, Value

_TYPES: dict[str, InputType] = {name: name for name in get_args(InputType)}


def top_level_only(c: Lowering, form: ListForm, position: int) -> Core:
    """Report `import`, `define-input` or `define-effect` that is not at the top of a module."""
    word = form.items[0].text  # type: ignore[union-attr]
    return c.report(
        "top-level-only",
        form.span,
        f"`{word}` stands only at the top level of a file",
        "here it is inside another form",
        hint="move it to the top of the file",
    )


@define(eq=False)
class InputForm:
    """A `define-input` as written."""

    form: ListForm
    name: Name
    options: dict[str, Form]

    def __call__(self, c: Lowering) -> Steps:
        """Lower the value of the input, and declare it."""
        return _lower(c, self)


def declare_input(c: Lowering, form: ListForm) -> InputForm | None:
    """Read a `define-input`. Only a main program may have one."""
    name, *rest = form.items[1:]
    if not c.is_bindable(name):
        return None
    assert isinstance(name, Name)
    if not c.main:
        c.report(
            "input-outside-main",
            form.span,
            "only the main program has inputs",
            "this file is imported",
            hint=f"make `{name.text}` a parameter of a function",
        )
    options: dict[str, Form] = {}
    for at in range(0, len(rest), 2):
        label = rest[at]
        if type(label) is not Label or label.text not in ("type", "choices", "doc", "default"):
            c.report_malformed(
                form, label, "I expected `type:`, `choices:`, `doc:` or `default:` here"
            )
            break
        if at + 1 == len(rest):
            c.report_malformed(form, label, "I expected a value after this label")
        elif label.text in options:
            c.report("duplicate-label", label.span, f"`{label.text}` is given twice")
        else:
            options[label.text] = rest[at + 1]
    return InputForm(form, name, options)


def _lower(c: Lowering, declared: InputForm) -> Steps:
    form, options = declared.form, declared.options
    default: Core | None = None
    if "default" in options:
        default = yield c.lower(options["default"])
    literal = default.value if type(default) is Const else None
    type_ = _type(c, form, options.get("type"), default)
    choices = _choices(c, form, options.get("choices"))
    doc = options.get("doc")
    if doc is not None and not (type(doc) is Literal and isinstance(doc.value, str)):
        c.report_malformed(form, doc, "I expected a string here")
        doc = None
    _check(c, options, type_, choices, literal)
    name = declared.name.spelling
    text: Any = doc.value if type(doc) is Literal else ""
    c.inputs.append(Input(name, type_, choices, text, default is None, literal, form.span))
    return InputValue(name, default, span=form.span)


def _type(c: Lowering, form: ListForm, written: Form | None, default: Core | None) -> InputType:
    if written is not None:
        found = _TYPES.get(written.spelling) if type(written) is Name else None
        if found is None:
            c.report_malformed(form, written, f"I expected one of {', '.join(_TYPES)} here")
        return found or "string"
    value: Value = default.value if type(default) is Const else None
    for type_ in ("boolean", "integer", "number"):
        if is_of_type(value, _TYPES[type_]):
            return _TYPES[type_]
    return "json" if isinstance(value, (tuple, dict)) else "string"


def _choices(c: Lowering, form: ListForm, written: Form | None) -> tuple[Value, ...]:
    if written is None:
        return ()
    if type(written) is VectorForm and all(type(item) is Literal for item in written.items):
        if not written.items:
            c.report_malformed(form, written, "I expected at least one choice here")
        return tuple(datum(c, written))
    c.report_malformed(form, written, "I expected a vector of literals here")
    return ()


def _check(
    c: Lowering,
    options: dict[str, Form],
    type_: InputType,
    choices: tuple[Value, ...],
    default: Value,
) -> None:
    """Check that the choices and a literal default are of the type, and that the default is a
    choice."""
    for choice in choices:
        if not is_of_type(choice, type_):
            _mismatch(c, options["choices"].span, f"not every choice is of type {type_}")
            return
    if "default" not in options or default is None:
        return
    span = options["default"].span
    if not is_of_type(default, type_):
        _mismatch(c, span, f"the default is not of type {type_}")
    elif choices and default not in choices:
        _mismatch(c, span, "the default is not one of the choices")


def _mismatch(c: Lowering, span: Span, title: str) -> None:
    c.report("input-mismatch", span, title, hint="correct it, or the `type:`")


def declare_effect(c: Lowering, form: ListForm) -> tuple[Name, Operation] | None:
    """Read a `define-effect`."""
    pattern = form.items[1]
    if type(pattern) is not ListForm or not pattern.items:
        c.report_malformed(form, pattern, "I expected `(operation param…)` here")
        return None
    doc: Value = ""
    if len(form.items) == 3:
        text = form.items[2]
        if type(text) is Literal and isinstance(text.value, str):
            doc = text.value
        else:
            c.report_malformed(form, text, "I expected a string here")
    names: list[Name] = []
    for item in pattern.items:
        if not c.is_bindable(item):
            return None
        names.append(item)  # type: ignore[arg-type]
    params: dict[str, Span] = {}
    for name in names[1:]:
        if name.text in params and name.text != "_":
            duplicate(c, name, params[name.text])
        params.setdefault(name.text, name.span)
    texts = tuple(name.spelling for name in names[1:])
    return names[0], Operation(names[0].spelling, texts, len(texts), doc=doc)
