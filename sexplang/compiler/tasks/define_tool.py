"""`define-tool`: a function with a description and typed parameters, which a model may call.

Calls of the program see a function like any other. Its arguments are held to their types.
"""

from sexplang.compiler.compilation import Lowering
from sexplang.compiler.forms.patterns import names_in
from sexplang.compiler.parameters import Draft, DraftParameter, draft
from sexplang.compiler.tasks.clause_data import flag, report_expected, text, unquote
from sexplang.compiler.tasks.typed_parameters import read_options
from sexplang.compiler.types.definitions import read_type
from sexplang.terms.classes.node import evolve, node
from sexplang.terms.form import Form, ListForm, Literal, Name
from sexplang.terms.source import Span
from sexplang.terms.values.abbreviation import excerpt


def read_name(c: Lowering, form: ListForm, is_top: bool) -> Name | None:
    """Return the name of a tool whose form has all its parts. Reports any other form."""
    if not is_top:
        c.report(
            "top-level-only",
            form.span,
            "`define-tool` stands only at the top level of a file",
            "here it is inside another form",
            hint="move it to the top of the file",
        )
        return None
    if len(form.items) < 3:
        c.report_malformed(form, form, "something is missing here")
        return None
    target, doc = form.items[1:3]
    if type(target) is not ListForm or not target.items:
        c.report_malformed(form, target, "I expected `(name param…)` here")
        return None
    name = target.items[0]
    if not c.is_bindable(name, "I expected the name of the tool here"):
        return None
    if not (type(doc) is Literal and isinstance(doc.value, str) and doc.value.strip()):
        c.report_malformed(
            form, doc, "I expected a description in quotes here", hint="a model chooses by it"
        )
        return None
    if len(form.items) < 4:
        c.report_malformed(form, form, "after the description stands what the tool does")
        return None
    assert isinstance(name, Name)
    return name


@node(eq=False)
class _ToolParameter:
    """A parameter as written. `plain` is the same parameter of a function."""

    name: Name
    plain: Form
    type: Form | None
    doc: str
    is_optional: bool


_OPTIONS = ("type", "default", "required", "doc")


def draft_tool(
    c: Lowering, name: str, params: tuple[Form, ...], body: tuple[Form, ...], span: Span
) -> Draft:
    """Return the function of a tool, whose parameters know their types and docs."""
    written = [each for at, form in enumerate(params) for each in _read(c, form, params[at + 1 :])]
    made = draft(c, name, tuple([each.plain for each in written]), body, span)
    by_name = {each.name.text: each for each in written}
    made.params = [_with_type(c, each, by_name[str(each.name)]) for each in made.params]
    made.is_tool = True
    return made


def _read(c: Lowering, form: Form, following: tuple[Form, ...]) -> list[_ToolParameter]:
    """Return the parameter of a form. The names in a form that is none are parameters, so that
    their uses are not reported."""
    name = form.items[0] if type(form) is ListForm and form.items else form
    if type(name) is not Name:
        hint = "an input of a tool has a name: `name`, `(name T)` or `(name T default: value)`"
        return _report(c, form, hint, *names_in(form))
    if form is name and name.text in (".", "&", "&rest"):
        last = following[0].span.text if following else "more"
        return _report(c, form, f"a tool has no further arguments: let it take `({last} list)`")
    rest = form.items[1:] if type(form) is ListForm else ()
    if len(rest) == 1 and type(rest[0]) is Literal and not isinstance(rest[0].value, str):
        hint = f"a default has a label: `({name.text} T default: {excerpt(rest[0].span.text)})`"
        return _report(c, rest[0], hint, name)
    options = read_options(c, rest, _OPTIONS)
    doc = text(c, options["doc"]) if "doc" in options else None
    default = options.get("default")
    is_optional = "required" in options and flag(c, options["required"]) is False
    if default is None and is_optional:
        default = Literal(None, span=form.span)
    plain: Form = name if default is None else ListForm((name, default), span=form.span)
    return [_ToolParameter(name, plain, options.get("type"), doc or "", is_optional)]


def _report(c: Lowering, form: Form, hint: str, *names: Name) -> list[_ToolParameter]:
    report_expected(c, form, "a parameter", hint)
    nil = Literal(None, span=form.span)
    plain = [(name, ListForm((name, nil), span=form.span)) for name in names]
    return [_ToolParameter(name, each, None, "", False) for name, each in plain]


def _with_type(c: Lowering, param: DraftParameter, written: _ToolParameter) -> DraftParameter:
    """Return a parameter with its type as a JSON Schema. Reports a literal default that is not of
    the type."""
    if written.type is None:
        return evolve(param, doc=written.doc)
    made = read_type(c, unquote(written.type), closed=False)
    schema = None if made is None else made.whole
    if schema and written.is_optional:
        schema = _or_nil(schema)
    default = param.default
    if schema and type(default) is Literal:
        from sexplang.schemas.values import misfit_of

        name = written.name.spelling
        wrong = misfit_of(default.value, schema, name)
        if wrong is not None:
            title = f"the default of `{name}` is not of its type: {wrong}"
            c.report("bad-default", default.span, title, hint="correct it, or the type")
    return evolve(param, doc=written.doc, schema=schema or None, type=written.type)


def _or_nil(schema: dict[str, object]) -> dict[str, object]:
    definitions = schema.get("$defs")
    part = {word: each for word, each in schema.items() if word != "$defs"}
    either: dict[str, object] = {"anyOf": [part, {"type": "null"}]}
    return either if definitions is None else {**either, "$defs": definitions}
