"""The interface of a unit: its imports, exports, declared inputs, effects and tasks.

What it imports and declares is bound before the rest is compiled.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, get_args

from sexplang.compiler.compilation import (
    Binding,
    CheckTemplate,
    Keyword,
    Lowering,
    NamedFunction,
    Namespace,
    Place,
    Signature,
    Steps,
)
from sexplang.compiler.forms.patterns import report_duplicate
from sexplang.compiler.forms.quotation import datum
from sexplang.compiler.forms.shapes import DEFINING, SHAPES, splice, word_of
from sexplang.compiler.functions import Definition, Statement
from sexplang.compiler.macros import Syntax
from sexplang.terms.classes.node import define, field
from sexplang.terms.core import Const, Core, InputValue, Known, Local
from sexplang.terms.diagnostic import Diagnostic, Diagnostics, Label
from sexplang.terms.form import MARK, Form, ListForm, Literal, Name, VectorForm
from sexplang.terms.form import Label as LabelForm
from sexplang.terms.program import Export, Function, Input, InputType, is_of_type
from sexplang.terms.source import Made, Source, Span
from sexplang.terms.texts.nearest import did_you_mean
from sexplang.terms.values.boundary import value_of
from sexplang.terms.values.value import Operation, Task, Value

if TYPE_CHECKING:
    from sexplang.terms.template import Template

Load = Callable[[str, Span], Mapping[str, Export]]


@define(eq=False)
class TopLevel:
    """The sorted top level of a file."""

    declarations: list[ListForm] = field(factory=list)
    statements: list[Statement] = field(factory=list)
    ends_in_declaration: bool = False


def imports_of(c: Lowering, forms: Iterable[Form]) -> list[ListForm]:
    """Return the imports among the forms of a file."""
    found = [form for form in splice(forms) if word_of(form) == "import"]
    return [form for form in found if isinstance(form, ListForm) and _fits(c, form)]


def _fits(c: Lowering, form: ListForm) -> bool:
    shape, count = SHAPES[word_of(form)], len(form.items) - 1
    if count < shape.least or (shape.most is not None and count > shape.most):
        c.report_malformed(form, form, "this does not fit")
        return False
    return True


def sort(c: Lowering, statements: list[Statement]) -> TopLevel:
    """Sort statements into declarations and the rest. An input stays in place, as a definition."""
    top = TopLevel()
    for item in statements:
        word = "" if isinstance(item, (Definition, Syntax)) else word_of(item)
        defines = DEFINING.get(word)
        top.ends_in_declaration = word == "import" or defines in _DECLARED
        if word != "import" and defines is None:
            top.statements.append(item)
            continue
        assert isinstance(item, ListForm)
        if word == "import":
            if isinstance(item.span, Made):
                top_level_only(c, item, 0)
        elif not _fits(c, item):
            pass
        elif defines in _DECLARED:
            top.declarations.append(item)
        else:
            declared = declare_input(c, item)
            if declared is not None:
                top.statements.append(Definition(item, (declared.name,), False, value=declared))
    return top


_DECLARED = ("operation", "task", "type")
"""The kinds of names that are bound in the whole module before its statements are compiled."""


def import_all(c: Lowering, forms: list[ListForm], load: Load) -> None:
    """Load the imports of the file and bind their names."""
    spans: dict[str, Span] = {}
    for form in forms:
        target = form.items[1]
        path = _path(c, form, target)
        alias = _alias(c, form)
        if path is None or alias is None:
            c.import_failed = True
            continue
        try:
            exports = load(path, target.span)
        except Diagnostics as failed:
            c.findings.extend(failed.diagnostics)
            c.import_failed = True
            continue
        if alias:
            if _is_first(c, alias, path, form.items[3].span, spans):
                c.names.bind(alias, Namespace(path, exports))
            continue
        for name, export in exports.items():
            if _is_first(c, name, path, target.span, spans):
                c.names.bind(name, export)
                c.origins[name] = path


def _path(c: Lowering, form: ListForm, target: Form) -> str | None:
    if type(target) is Literal and isinstance(target.value, str):
        return target.value
    if type(target) is Name and target.text.startswith("std/"):
        return target.text
    hint = f'write `(import "{target.text}")`' if type(target) is Name else None
    c.report_malformed(
        form, target, "I expected a path in quotes, or a name like `std/state`", hint=hint
    )
    return None


def _alias(c: Lowering, form: ListForm) -> str | None:
    """Return the name after `as:`, or None."""
    if len(form.items) == 2:
        return ""
    label = form.items[2]
    if type(label) is not LabelForm or label.text != "as" or len(form.items) != 4:
        c.report_malformed(form, label, "I expected `as: name` here")
        return None
    name = form.items[3]
    if not c.is_bindable(name):
        return None
    assert isinstance(name, Name)
    if "." in name.text:
        c.report_malformed(
            form, name, "I expected a name without a point here: `name.x` is its `x`"
        )
        return None
    return name.text


def _is_first(c: Lowering, name: str, path: str, span: Span, spans: dict[str, Span]) -> bool:
    if name not in spans:
        spans[name] = span
        return True
    c.report(
        "imported-twice",
        span,
        f"`{name}` comes from two imports",
        "imported again here",
        also=(Label(spans[name], "first imported here"),),
        hint=f"keep one apart: `(import {span.text} as: other)`, then `other.{name}`",
    )
    return False


def declare(c: Lowering, top: TopLevel, check: CheckTemplate) -> None:
    """Bind declared types, operations and tasks in the whole module."""
    spans: dict[str, Span] = {}
    c.hidden = frozenset([name.text for item in top.statements for name in _names(item)])
    types = [form for form in top.declarations if _kind(form) == "type"]
    if types:
        _declare_types(c, types, spans)
    for form in top.declarations:
        if _kind(form) == "type":
            continue
        declared: tuple[Name, Operation | Task | None] | None
        if _kind(form) == "task":
            from sexplang.compiler.tasks.defatom import declare_task

            declared = declare_task(c, form, check)
        else:
            declared = declare_effect(c, form)
        if declared is None:
            continue
        name, value = declared
        if name.text in spans:
            _report_duplicate(c, name, spans[name.text])
            continue
        spans[name.text] = name.span
        if isinstance(value, Operation):
            c.operations[name.text] = value
        elif value is not None:
            c.tasks[name.text] = value
        c.names.bind(name.text, Export(name.text, Const(value, span=form.span), value))
    for item in top.statements:
        for name in item.names if isinstance(item, Definition) else ():
            if name.text in spans:
                _report_duplicate(c, name, spans[name.text])


def _kind(form: ListForm) -> str:
    return DEFINING[word_of(form)]


def _declare_types(c: Lowering, forms: list[ListForm], spans: dict[str, Span]) -> None:
    """Bind the types of the module. As a value, a type is its JSON Schema."""
    from sexplang.compiler.types.definitions import declare_types

    for name, made in declare_types(c, forms):
        if name.text in spans:
            _report_duplicate(c, name, spans[name.text])
            continue
        spans[name.text] = name.span
        schema = None
        if made is not None and made.open.part:
            schema = {"title": name.spelling, **value_of(made.open.whole)}
        export = Export(name.text, Const(schema, span=_NOWHERE), made)
        c.types[name.text] = export
        c.names.bind(name.text, export)


def _report_duplicate(c: Lowering, name: Name, first: Span) -> None:
    c.report(
        "defined-twice",
        name.span,
        f"`{name.text}` is already defined here",
        "defined again here",
        also=(Label(first, "first defined here"),),
        hint="choose another name",
    )


_NOWHERE = Span(Source("a declaration", ""), 0, 0)


def exports(c: Lowering, statements: Iterable[Statement]) -> dict[str, Export]:
    """Return the public names of the module: its own names without a leading `_`."""
    declared: dict[str, Operation | Task] = {**c.operations, **c.tasks}
    found = {
        name: Export(name, Const(value, span=_NOWHERE), value)
        for name, value in declared.items()
        if is_public(name)
    }
    found.update({name: export for name, export in c.types.items() if is_public(name)})
    for item in statements:
        if isinstance(item, Syntax):
            _close(c, item)
        for name in _names(item):
            export = _export(c, name.text, c.names.table.get(name.text), name.span)
            if export is not None and is_public(name.text):
                found[name.text] = export
    return found


def _names(item: Statement) -> tuple[Name, ...]:
    """Return the names that a statement defines."""
    if isinstance(item, Definition):
        return item.names
    return (item.name,) if isinstance(item, Syntax) else ()


def session_exports(c: Lowering, statements: Iterable[Statement]) -> dict[str, Export]:
    """Return all names after an input of a session, private and imported ones included."""
    found = exports(c, statements)
    for name, binding in c.names.table.items():
        if type(binding) is Namespace:
            found[name] = Export(name, Const(None, span=_NOWHERE), binding)
        elif MARK not in name:
            export = _export(c, name, binding, _NOWHERE)
            if export is not None:
                found[name] = export
    return found


def recall(c: Lowering, before: Mapping[str, Export]) -> None:
    """Bind the names of earlier inputs of a session. The current input may shadow them."""
    for name, export in before.items():
        space = type(export.shape) is Namespace
        c.names.bind(name, export.shape if space else export)


def functions_called(c: Lowering, names: Iterable[str]) -> dict[str, Function]:
    """Return the functions of the program that names stand for at the top of the module."""
    found: dict[str, Function] = {}
    for name in dict.fromkeys(names):
        binding = c.names.find(name)
        export = (
            c.names.find_in_module(name) if binding is None else _export(c, name, binding, _NOWHERE)
        )
        shape = None if export is None else export.shape
        if isinstance(shape, Function) and not shape.span.source.is_library:
            found[name] = shape
    return found


def find_validators(c: Lowering, tasks: Iterable[Task]) -> dict[Task, Function]:
    """Return the functions that judge the answers of tasks. What cannot judge one is reported."""
    found: dict[Task, Function] = {}
    for task in tasks:
        named = task.template.validate
        if named is None:
            continue
        binding = c.names.find(named.name)
        export = (
            c.names.find_in_module(named.name)
            if binding is None
            else _export(c, named.name, binding, _NOWHERE)
        )
        if export is None:
            title = f"nothing here is called `{named.name}`"
            known = sorted({each.name for each in c.functions if each is not None})
            hint = did_you_mean(named.name, known, f"define it: (define ({named.name} answer) …)")
            assert named.span is not None
            c.report("unbound-name", named.span, title, hint=hint)
        else:
            flaw = flaw_of_validator(task.template, export.shape)
            if flaw is not None:
                c.findings.append(flaw)
            else:
                found[task] = export.shape
    return found


def flaw_of_validator(template: "Template", shape: Any) -> Diagnostic | None:
    """Return the diagnostic for a value that cannot judge the answers of a task."""
    named = template.validate
    assert named is not None
    labels = () if named.span is None else (Label(named.span),)
    hint = "(define (f answer) …) gives nil, or what the model is told"
    if not isinstance(shape, Function):
        title = f"the validator `{named.name}` is no function of the program"
        return Diagnostic("not-a-function", title, labels, hint=hint)
    if len(shape.params) != 1 or shape.rest or shape.params[0].default is not None:
        title = f"the validator `{named.name}` takes one argument, the answer"
        return Diagnostic("wrong-arity", title, labels, hint=hint)
    return None


def is_public(name: str) -> bool:
    return not name.startswith("_") and MARK not in name


def _export(c: Lowering, name: str, binding: Binding | None, span: Span) -> Export | None:
    if isinstance(binding, NamedFunction):
        function = c.functions[binding.function - c.first_function]
        assert function is not None
        return Export(name, Known(0, binding.function, span=function.span), function)
    if isinstance(binding, Place):
        shape = None if isinstance(binding.shape, Signature) else binding.shape
        return Export(name, Local(0, binding.index, name, span=span), shape)
    if isinstance(binding, Keyword):
        return Export(name, Const(None, span=span), binding.macro)
    return binding if isinstance(binding, Export) else None


def _close(c: Lowering, item: Syntax) -> None:
    """Complete a macro with the bindings of its template's names, for modules that import it."""
    macro = item.keyword.macro
    for name in macro.rules.names if macro.rules is not None else ():
        binding = c.names.resolve(name, item.keyword)
        named = binding if type(binding) is Namespace else _export(c, name, binding, macro.span)
        if named is not None:
            macro.names[name] = named


_TYPES: dict[str, InputType] = {name: name for name in get_args(InputType)}


def top_level_only(c: Lowering, form: ListForm, position: int) -> Core:
    """Report an import or a declaration that is not at the top of a module."""
    word = form.items[0].text  # type: ignore[union-attr]
    return c.report(
        "top-level-only",
        form.span,
        f"`{word}` stands only at the top level of a file",
        "here it is inside another form",
        hint="move it to the top of the file",
    )


_LABELS = SHAPES["define-input"].labels


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
        if type(label) is not LabelForm or label.text not in _LABELS:
            *first, last = [f"`{name}:`" for name in _LABELS]
            c.report_malformed(form, label, f"I expected {', '.join(first)} or {last} here")
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
    type_, misfit = _type(c, options.get("type"), default)
    choices = _choices(c, form, options.get("choices"))
    doc = options.get("doc")
    if doc is not None and not (type(doc) is Literal and isinstance(doc.value, str)):
        c.report_malformed(form, doc, "I expected a string here")
        doc = None
    _check(c, options, type_, choices, literal)
    name = declared.name.spelling
    text: Any = doc.value if type(doc) is Literal else ""
    given = Input(name, type_, choices, text, default is None, literal, form.span, misfit)
    if literal is not None and misfit is not None and misfit(literal) is not None:
        _mismatch(c, options["default"].span, f"the default is not {misfit(literal)}")
    c.inputs.append(given)
    return InputValue(name, default, span=form.span)


def _type(c: Lowering, written: Form | None, default: Core | None) -> tuple[InputType, Any]:
    """Return the type of an input, and its check if it is a type of the language's own."""
    if written is not None:
        if type(written) is Name and written.spelling in _TYPES:
            return _TYPES[written.spelling], None
        from sexplang.compiler.types.inputs import read_input_type

        return read_input_type(c, written, _TYPES)
    value: Value = default.value if type(default) is Const else None
    for type_ in ("boolean", "integer", "number"):
        if is_of_type(value, _TYPES[type_]):
            return _TYPES[type_], None
    return ("json" if isinstance(value, (tuple, dict)) else "string"), None


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
            report_duplicate(c, name, params[name.text])
        params.setdefault(name.text, name.span)
    texts = tuple(name.spelling for name in names[1:])
    return names[0], Operation(names[0].spelling, texts, len(texts), doc=doc)
