"""Lowering of `defatom` to a task. Each clause is a field of the template."""

from typing import Any

from sexplang.compiler.compilation import CheckTemplate, LoadSchema, Lowering
from sexplang.compiler.forms.patterns import REST
from sexplang.compiler.forms.shapes import word_of
from sexplang.compiler.parameters import OPTIONAL
from sexplang.compiler.tasks.clause_data import (
    data,
    flag,
    report_expected,
    report_twice,
    report_unknown,
    settings,
    text,
    unquote,
    word,
)
from sexplang.compiler.tasks.clauses import CLAUSES, tools_in
from sexplang.compiler.tasks.typed_parameters import read_options
from sexplang.compiler.types.inputs import read_parameter_type
from sexplang.terms.classes.node import define, evolve, field
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.form import Form, ListForm, Name, source_name
from sexplang.terms.source import Span
from sexplang.terms.template import Param, Template, usual_description, with_answer_format
from sexplang.terms.values.boundary import value_of
from sexplang.terms.values.value import Task


@define(eq=False)
class DefatomForm:
    """A `defatom` as written: the values of its fields, its clauses and parameters."""

    name: Name
    fields: dict[str, Any] = field(factory=dict)
    clauses: dict[str, ListForm] = field(factory=dict)
    params: dict[str, Form] = field(factory=dict)

    def where(self, part: str, raw: str) -> Span:
        """Return the span of a part: of its value, or of the raw text in the value if it is there
        verbatim."""
        kind, _, name = part.partition(":")
        if kind == "param":
            return self.params[name].span
        if kind == "tool":
            return tools_in(self.clauses["allowed_tools"])[int(name)][0].span
        clause = self.clauses.get(kind)
        if clause is None:
            return self.name.span
        span = clause.items[1].span if len(clause.items) == 2 else clause.span
        at = span.text.find(raw) if raw else -1
        return span if at < 0 else Span(span.source, span.start + at, span.start + at + len(raw))


def declare_task(
    c: Lowering, form: ListForm, check: CheckTemplate
) -> tuple[Name, Task | None] | None:
    """Read a `defatom`. Return its name, and the task if it has no errors."""
    name = form.items[1]
    if not c.is_bindable(name, "I expected the name of the task here"):
        return None
    assert isinstance(name, Name)
    written = DefatomForm(name)
    before = len(c.findings)
    for clause in form.items[2:]:
        _clause(c, clause, written)
    _relevance(c, written)
    _order(written)
    if _is_sound(c, before):
        _check_instructions(c, written)
    fields = {"description": usual_description(name.spelling), **written.fields}
    template = Template(name.spelling, span=form.span, **fields)
    if c.load_schema is not None and template.output_format.names_file:
        template = _with_schema(c, template, written, c.load_schema)
    if _is_sound(c, before):
        c.findings.extend(check(template, written.where))
    template = with_answer_format(template)
    return name, Task(template) if _is_sound(c, before) else None


def _with_schema(
    c: Lowering, template: Template, written: DefatomForm, load: LoadSchema
) -> Template:
    """Return the template with the text of its schema."""
    format_ = template.output_format
    try:
        text = load(str(format_.schema), written.where("output_format", str(format_.schema)))
    except Diagnostics as found:
        c.findings.extend(found.diagnostics)
        return template
    return evolve(template, output_format=evolve(format_, schema=text))


def _is_sound(c: Lowering, before: int) -> bool:
    return all(finding.severity != "error" for finding in c.findings[before:])


def _clause(c: Lowering, clause: Form, written: DefatomForm) -> None:
    key = source_name(word_of(clause))
    if type(clause) is not ListForm or not key:
        report_expected(c, clause, "a clause", 'a clause is written `(instructions "…")`')
        return
    if key in written.clauses:
        report_twice(c, clause, written.clauses[key], f"the clause `{key}`")
        return
    written.clauses[key] = clause
    if key == "params":
        written.fields["params"] = _params(c, clause, written)
    elif key in CLAUSES:
        value = CLAUSES[key].read(CLAUSES[key], c, clause)
        if value is not None:
            written.fields[key] = value
    elif key != "context_relevance":
        known = ("params", *CLAUSES, "context_relevance")
        hint = _MEANT.get(key)
        if hint is None and len(clause.items) == 1 and written.clauses.keys() == {key}:
            hint = f"parameters are written `(params ({key} string))`"
        report_unknown(
            c,
            clause.items[0],
            f"a task has no clause `{key}`",
            key,
            known,
            (lambda _: hint) if hint else None,
        )


_MEANT = {
    **dict.fromkeys(
        ("prompt", "template", "user", "message", "task", "text", "body"), "instructions"
    ),
    **dict.fromkeys(("inputs", "input", "args", "parameters", "arguments", "param"), "params"),
    **dict.fromkeys(("output", "schema", "return", "result", "type", "response"), "returns"),
    **dict.fromkeys(("tools", "tool"), "allowed_tools"),
    **dict.fromkeys(("doc", "docstring", "about"), "description"),
    **dict.fromkeys(("role", "persona", "system_prompt"), "system"),
    **dict.fromkeys(("validator", "check", "verify", "validation", "retry"), "validate"),
    **dict.fromkeys(("temperature", "settings", "max_tokens"), "options"),
}
_MEANT = {word: f"did you mean `{clause}`?" for word, clause in _MEANT.items()}
"""Clauses of other libraries, and the question for the clause here."""


def _check_instructions(c: Lowering, written: DefatomForm) -> None:
    name, clause = written.name, written.clauses.get("instructions")
    if clause is None:
        hint = 'add `(instructions "…")`'
        c.report(
            "incomplete-template", name.span, f"`{name.spelling}` has no instructions", hint=hint
        )
    elif not written.fields.get("instructions", "?").strip():
        title = f"`{name.spelling}` says nothing to the model"
        c.report("incomplete-template", clause.span, title, hint="say what is to be done")


# -- parameters

_TYPES = (
    *("any", "string", "number", "integer", "boolean", "list", "table", "object"),
    *("image", "file"),
)

_OPTIONS = ("type", "default", "required", "doc", "from")


def _params(c: Lowering, clause: ListForm, written: DefatomForm) -> tuple[Param, ...]:
    found: list[Param] = []
    is_optional = False
    for at, item in enumerate(clause.items[1:], 2):
        name = item.items[0] if type(item) is ListForm and item.items else item
        if item is name and type(name) is Name and name.spelling in (*OPTIONAL, *REST):
            _report_foreign_word(c, name, clause.items[at : at + 1])
            is_optional = True  # arguments may be omitted, so no call is reported
            continue
        if type(name) is not Name:
            hint = "write `name`, `(name type)` or `(name type default: value)`"
            report_expected(c, item, "a parameter", hint)
            continue
        written.params[name.spelling] = item
        rest = item.items[1:] if type(item) is ListForm else ()
        param = _make(c, name.spelling, read_options(c, rest, _OPTIONS))
        found.append(evolve(param, required=False) if is_optional else param)
    return tuple(found)


def _report_foreign_word(c: Lowering, word: Name, following: tuple[Form, ...]) -> None:
    """Report a word of other Lisps between parameters."""
    written = following[0] if following else word
    parts = written.items if type(written) is ListForm else (written,)
    name = parts[0].spelling if parts and type(parts[0]) is Name and following else "name"
    if word.spelling in OPTIONAL:
        type_ = parts[1].spelling if len(parts) > 1 and type(parts[1]) is Name else "string"
        hint = f"a parameter that may be left out has a default: `({name} {type_} default: value)`"
    else:
        hint = f"a task takes no further arguments: let it take a list, `({name} list)`"
    report_expected(c, word, "a parameter", hint)


def _make(c: Lowering, name: str, options: dict[str, Form]) -> Param:
    said: dict[str, Any] = {"required": "default" not in options}
    if "type" in options:
        said |= _read_type(c, options["type"])
    if "default" in options:
        said["default"] = value_of(data(c, unquote(options["default"])))
    if "required" in options:
        said["required"] = bool(flag(c, options["required"]))
    if "doc" in options:
        said["doc"] = text(c, options["doc"]) or ""
    if "from" in options:
        said["source"] = word()(c, options["from"])
    return Param(name, **said)


def _read_type(c: Lowering, form: Form) -> dict[str, Any]:
    """Read the type of a parameter: a word, or a type as in `returns`."""
    form = unquote(form)
    written = form.spelling if type(form) is Name else getattr(form, "value", None)
    if written in _TYPES:
        return {"type": "object" if written == "table" else written}
    type_, schema = read_parameter_type(c, form, _TYPES)
    return {"type": type_, "schema": schema}


def _order(written: DefatomForm) -> None:
    """Read `(allowed_tools a (in-order b c))`: the tools that are called one after the other."""
    clause = written.clauses.get("allowed_tools")
    names, told = written.fields.get("allowed_tools", ()), tools_in(clause) if clause else []
    if any(in_order for _, in_order in told) and len(names) == len(told):
        pairs = zip(names, told, strict=True)
        written.fields["in_order"] = tuple([name for name, (_, in_order) in pairs if in_order])


def _relevance(c: Lowering, written: DefatomForm) -> None:
    """Read `(context_relevance name: false …)`: the inputs that a search for context sees."""
    clause = written.clauses.get("context_relevance")
    if clause is None:
        return
    seen: dict[str, bool] = {}
    for key, at, value in settings(c, clause):
        if key not in written.params:
            c.report(
                "unknown-param",
                at.span,
                f"context_relevance names `{key}`, which is no parameter of this task",
                hint="declare it in `params`, or remove it here",
            )
        seen[key] = bool(flag(c, value))
    params = written.fields.get("params", ())
    written.fields["params"] = tuple(
        evolve(param, relevant=seen.get(param.name, True)) for param in params
    )
