"""The checks of a Template node, made from XML or by `defatom`."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Literal

from sexplang.schemas.schema import WORDS, schema_problem
from sexplang.schemas.type_parts import fields_of, find_unknown_field
from sexplang.schemas.values import misfit_of
from sexplang.terms.classes.node import frozen
from sexplang.terms.diagnostic import Diagnostic, Label, Severity
from sexplang.terms.host.file_command import (
    KNOWN,
    Listing,
    find_shell_word,
    parse_listing,
    words_of,
)
from sexplang.terms.source import Span
from sexplang.terms.template import NAME, FilePaths, Param, Template, slots_of, tool_alias
from sexplang.terms.texts.nearest import did_you_mean


@frozen
class Finding:
    """A diagnostic without a place. `part` is the element that it is about (`instructions`, or
    `param:x`), `raw` the text to look for there."""

    code: str
    title: str
    hint: str | None = None
    part: str = ""
    raw: str = ""
    severity: Severity = "error"

    def at(self, span: Span | None) -> Diagnostic:
        labels = () if span is None else (Label(span),)
        return Diagnostic(self.code, self.title, labels, hint=self.hint, severity=self.severity)


Kind = Literal["name", "call", "unclosed", "bad"]


@frozen
class Placeholder:
    """A placeholder: `raw` as written; `name` is the parameter of a name, or the program's form of
    a call."""

    kind: Kind
    raw: str
    name: str = ""


SUBTYPES = (
    "standard",
    "subtask",
    "director",
    "evaluator",
    "associative_matching",
    "aider_interactive",
    "aider_automatic",
)

MOST = 50

_ESCAPE = "write {{{{ for the text {{"


Where = Callable[[str, str], Span | None]
"""The function from a finding's `part` and `raw` to a span."""


def check_template(template: Template, where: Where | None = None) -> list[Diagnostic]:
    """Return the findings as diagnostics, placed by `where`, else at the template's span. Empty for
    a good template."""
    return [
        finding.at(template.span if where is None else where(finding.part, finding.raw))
        for finding in findings(template)
    ]


def findings(template: Template) -> list[Finding]:
    """Return the findings, at most `MOST`."""
    return list(islice(_all(template), MOST))


def _all(template: Template) -> Iterator[Finding]:
    yield from _whole(template)
    yield from _params(template)
    yield from _context(template)
    yield from _schemas(template)
    yield from _command(template)
    yield from _check_fixed(template)
    yield from _provider(template)
    yield from check_tools(template.allowed_tools)
    yield from _subtasks(template)
    yield from _settings(template)
    for part, text in _texts(template):
        yield from _placeholders(template, part, text)
        yield from _fields(template, part, text)


def _whole(template: Template) -> Iterator[Finding]:
    if not template.name:
        yield Finding("incomplete-template", "this task has no name", "give it one")
    else:
        yield from check_name(template.name)
    if not template.instructions.strip() and not template.description.strip():
        yield Finding(
            "incomplete-template",
            f"`{template.name}` says nothing to the model",
            "give it instructions, or at least a description",
        )
    if template.subtype not in SUBTYPES:
        yield Finding(
            "unknown-subtype",
            f"the subtype `{template.subtype[:40]}` is not known; its settings are those of "
            "standard",
            _near(template.subtype, SUBTYPES) or f"known are {', '.join(SUBTYPES)}",
            part="subtype",
            severity="warning",
        )


def _params(template: Template) -> Iterator[Finding]:
    yield from check_params([param.name for param in template.params])
    for param in template.params:
        yield from _default(param, f"param:{param.name}")


_TYPES: dict[str, tuple[type, ...]] = {
    "any": (object,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "list": (tuple, list),
    "object": (dict,),
    "image": (str,),
    "file": (str,),
}


_PATHS = {"image": "the path of one, cup.png", "file": "the path of one, notes.md"}


def _default(param: Param, part: str) -> Iterator[Finding]:
    if param.default is None:
        return
    if param.required:
        yield Finding(
            "bad-default",
            f"`{param.name}` is required, so its default is never used",
            "leave out the default, or make it not required",
            part,
        )
    # To Python, true is an integer.
    right = isinstance(param.default, _TYPES[param.type])
    if not right or (isinstance(param.default, bool) and param.type in ("number", "integer")):
        yield Finding(
            "bad-default",
            f"the default of `{param.name}` is not of type {param.type}",
            "write it as JSON of that type, such as "
            + {"list": "[1, 2]", "object": '{"a": 1}', "boolean": "true", **_PATHS}.get(
                param.type, "3"
            ),
            part,
        )
    wrong = misfit_of(param.default, param.schema, param.name) if param.schema and right else None
    if wrong is not None:
        title = f"the default of `{param.name}` is not of its type: {wrong}"
        yield Finding("bad-default", title, "correct it, or the type", part)


def _context(template: Template) -> Iterator[Finding]:
    settings = template.context_management
    if settings.fresh_context == "enabled" and settings.inherit_context in ("full", "subset"):
        yield Finding(
            "context-exclusive",
            "fresh context cannot be enabled while context is inherited "
            f"(inherit_context {settings.inherit_context}, fresh_context enabled)",
            "set inherit_context to none or fresh_context to disabled",
            part="context_management",
        )
    nothing = settings.inherit_context == "none" and settings.fresh_context == "disabled"
    if nothing and not settings.accumulate_data and template.file_paths == FilePaths():
        yield Finding(
            "minimal-context",
            f"`{template.name}` will see nothing but its inputs",
            "if that is meant, leave it; else enable fresh_context or inherit something",
            part="context_management",
            severity="warning",
        )


def _schemas(template: Template) -> Iterator[Finding]:
    format_ = template.output_format
    if format_.type == "text" and format_.schema is not None:
        yield Finding(
            "bad-schema",
            "a text reply has no schema",
            "make the type json or xml, or leave the schema out",
            part="output_format",
        )
    json = format_.schema if format_.type == "json" else None
    if template.returns is not None and format_.schema is not None and not format_.typed:
        yield Finding(
            "duplicate-clause",
            "`returns` and the schema of the output format both say what the task returns",
            "keep one of them",
            "returns",
        )
    for part, schema in (("output_format", json), ("returns", template.returns)):
        problem = None if schema is None else schema_problem(schema)
        if problem:
            hint = f"write {WORDS}; or a JSON Schema" if isinstance(schema, str) else None
            if hint is None and "more than" in problem:
                hint = "nothing raises this: say less in the schema; `validate` checks the rest"
            yield Finding("bad-schema", problem, hint, part)
    if format_.type == "xml" and not format_.names_file:
        yield from _xsd(format_.schema)


def _xsd(schema: Any) -> Iterator[Finding]:
    if not isinstance(schema, str):
        hint = 'name a file, schema="reply.xsd", or write the XSD itself'
        yield Finding("bad-schema", "an XML reply needs an XSD", hint, "output_format")
    else:
        from sexplang.templates.xsd import BadXsd, compile_xsd

        try:
            compile_xsd(schema)
        except BadXsd as why:
            yield Finding("bad-schema", f"this XSD cannot be used: {why}", None, "output_format")


_ASKING = ("spawn_subtask", "propose_subplan")


def _subtasks(template: Template) -> Iterator[Finding]:
    if template.subtasks and not any(tool in template.allowed_tools for tool in _ASKING):
        yield Finding(
            "incomplete-template",
            f"the model of `{template.name}` has no tool to ask for its subtasks",
            f"allow it one of {' and '.join(_ASKING)}, or leave out the subtasks",
            part="subtasks",
        )


def _settings(template: Template) -> Iterator[Finding]:
    """Find settings that contradict each other. The faults of single settings are found where they
    are read."""
    if template.options:
        from sexplang.terms.model.payload import clash, flaw

        if any(flaw(key, value) for key, value in template.options.items()):
            return
        tools = [{"name": tool_alias(name)} for name in template.allowed_tools]
        most = template.limits.max_output_tokens
        found = clash({**template.options, "max_tokens": most, "tools": tools})
        if found is not None:
            key, why, hint = found
            yield Finding("bad-payload", f"`{key}` {why}", hint, f"options:{key}")


def _texts(template: Template) -> Iterator[tuple[str, str]]:
    """Return the texts with placeholders, each with its element."""
    for part in ("instructions", "system", "description", "criteria"):
        yield part, getattr(template, part)
    if template.file_paths.source != "command":
        yield "file_paths", template.file_paths.text


_INSTEAD = {
    "model": "pass the model in the call: (call-atomic-task 'name inputs: {…} model: …)",
    "provider": "write the name of a provider",
    "context_assembly": f"write a path, in which `*` matches any characters; {_ESCAPE}",
    "file_paths": f"pass the files in the call: (call-atomic-task 'name inputs: {{…}} "
    f"file_paths: […]), or find them with `context_query`; {_ESCAPE}",
}


def _provider(template: Template) -> Iterator[Finding]:
    if template.provider and template.model is None:
        yield Finding(
            "incomplete-template",
            f"`{template.name}` names the provider `{template.provider}` and no model of it, which "
            "has no effect",
            "name the model too, or leave the provider out",
            part="provider",
            severity="warning",
        )


def _check_fixed(template: Template) -> Iterator[Finding]:
    """Find placeholders in the settings that no parameter may change: the model, the files, the
    command."""
    files = template.file_paths
    command = files.text if files.source == "command" else ""
    fixed = [("model", template.model or ""), ("provider", template.provider or "")]
    fixed += [("context_assembly", text) for _, text in template.context_assembly]
    fixed += [("file_paths", text) for text in (*files.paths, command)]
    for part, text in fixed:
        for placeholder in placeholders(text):
            title = f"`{part}` may not hold a placeholder: {_show(placeholder)}"
            yield Finding("placeholder-misplaced", title, _INSTEAD[part], part, placeholder.raw)


def _command(template: Template) -> Iterator[Finding]:
    """Find commands that do not name files. A template is data, and its command does nothing
    else."""
    files = template.file_paths
    if files.source != "command":
        return
    words = words_of(files.text)
    if words is None:
        yield Finding(
            "bad-command",
            f"a quotation mark in the command `{files.text[:60]}` is never closed",
            'close it, or write \\" for one that is meant',
            part="file_paths",
        )
        return
    command = parse_listing(words)
    if isinstance(command, Listing):
        word = find_shell_word(command)
        if word is not None:
            yield Finding(
                "bad-command",
                f"no shell runs the command of `{template.name}`: `{word[:60]}` is taken as it is",
                "name the folder, or find files by a pattern: find src -name '*.py'",
                part="file_paths",
                severity="warning",
            )
    elif not any(placeholders(files.text)):
        yield Finding(
            "bad-command",
            f"{command}, so it cannot find the files of `{template.name}`",
            f"write one of {KNOWN}; or run a script in the program, which needs its permission, "
            'and give its files to the call: file_paths: ["a.md"]',
            part="file_paths",
        )


def _placeholders(template: Template, part: str, text: str) -> Iterator[Finding]:
    seen: set[str] = set()
    names = {param.name: None for param in template.params}
    for placeholder in placeholders(text):
        said = placeholder.name or placeholder.raw
        if said not in seen and (placeholder.kind != "name" or placeholder.name not in names):
            seen.add(said)
            yield _placeholder(placeholder, names, part)


def _placeholder(placeholder: Placeholder, names: dict[str, None], part: str) -> Finding:
    name, raw, shown = placeholder.name, placeholder.raw, _show(placeholder)
    match placeholder.kind:
        case "name":
            code, title = "undeclared-placeholder", f"{shown} names no parameter of this task"
            hint = _near(name, names) or f"declare the parameter {name}, or {_ESCAPE}"
        case "call":
            code, title = "placeholder-call", f"a template cannot call a function: {shown}"
            hint = f"call {name} in the program and pass its value as a parameter"
        case "unclosed":
            code, title = "unclosed-placeholder", f"this {{{{ is never closed: {shown}"
            hint = f"close it with }}}}, or {_ESCAPE}"
        case "bad":
            code, title = "bad-placeholder", f"{shown} is not a parameter or a path into one"
            hint = f"write {{{{name}}}} or {{{{name.field[0]}}}}; or {_ESCAPE}"
    return Finding(code, title, hint, part, raw)


def _fields(template: Template, part: str, text: str) -> Iterator[Finding]:
    """Find placeholders that name a field which the type of the parameter does not have."""
    for slot in {slot.raw: slot for slot in slots_of(text) if slot.steps}.values():
        param = template.param(slot.name)
        if param is None or param.schema is None:
            continue
        found = find_unknown_field(param.schema, slot.steps)
        if found is not None:
            index, pointer = found
            name = str(slot.steps[index])
            title = f"{slot.raw[:40]} leads nowhere: its type has no field `{name}`"
            hint = did_you_mean(name, fields_of(param.schema, pointer)) or None
            yield Finding("unknown-field", title, hint, part, slot.raw, "warning")


def _show(placeholder: Placeholder) -> str:
    raw = placeholder.raw
    return raw.strip() if len(raw) <= 40 else f"{raw[:37]}…"


def _near(word: str, known: Any) -> str | None:
    return did_you_mean(word, known, shape="{}") or None


_TASK_NAME = re.compile(r"[\w:.*+!?<>=/-]+")
_DATA = re.compile(r"[+-]?\.?[0-9].*|true|false|nil|null", re.DOTALL)


def check_name(name: str) -> Iterator[Finding]:
    """Return the faults of a template's name."""
    if _DATA.fullmatch(name):
        yield Finding(
            "bad-name",
            f"a task cannot be called `{name[:40]}`: in a program that is data or a bad number",
            "begin it with a letter, such as task-3",
            part="name",
        )
    elif not _TASK_NAME.fullmatch(name) or ":" in (name[0], name[-1]):
        yield Finding(
            "bad-name",
            f"a task cannot be called `{name[:40]}`",
            "letters, digits and - _ : . make a name, such as review-code; no colon at its ends",
            part="name",
        )


def names_in(params: str) -> list[str]:
    """Return the names of a `params` attribute, separated by commas or white space."""
    return params.replace(",", " ").split()


def gaps_in(params: str) -> Iterator[Finding]:
    """Find a comma without a name on one side: a missing name shifts the positions."""
    if "," in params and not all(map(str.strip, params.split(","))):
        title = "a parameter has no name: there is nothing before or after one of these commas"
        yield Finding("bad-name", title, 'name it, or remove the comma: params="a, b"', "params")


def check_params(names: Iterable[str]) -> Iterator[Finding]:
    """Return the faults of the names of parameters."""
    seen: set[str] = set()
    for name in names:
        part = f"param:{name}"
        if name in seen:
            yield Finding(
                "duplicate-param",
                f"there are two parameters called {name}",
                "give one of them another name",
                part,
            )
        seen.add(name)
        if not is_name(name) or _DATA.fullmatch(name):
            yield Finding(
                "bad-name",
                f"a parameter cannot be called `{name[:40]}`{': that is data' * is_name(name)}",
                "a letter or _, then letters, digits, - and _",
                part,
            )


def check_tools(names: tuple[str, ...]) -> Iterator[Finding]:
    """Return the faults of the names of tools. `part` is `tool:` and the index of a tool."""
    seen: dict[str, str] = {}
    for at, name in enumerate(names):
        part, other = f"tool:{at}", seen.setdefault(tool_alias(name), name)
        if not _TASK_NAME.fullmatch(name) or _DATA.fullmatch(name) or not name.strip(":"):
            title = f"a tool cannot be called `{name[:40]}`"
            hint = "name each tool by itself, in an element of its own: letters, digits and - _ : ."
            yield Finding("bad-name", title, hint, part)
        elif other == name and names.index(name) < at:
            title = f"the tool {name} is allowed twice"
            yield Finding("duplicate-tool", title, "name it once", part)
        elif other != name:
            yield Finding(
                "duplicate-tool",
                f"a model could not tell {name} from {other}: to it both are {tool_alias(name)}",
                "allow one of them, or give one another name where it is registered",
                part,
            )


_NAME = re.compile(NAME)
_CALL = re.compile(rf"\s*({NAME}(?:[.:]{NAME})*)\s*\((.*)\)\s*", re.DOTALL)
_ARGUMENT = re.compile(r"""\s*(?:(\w+)\s*=(?!=)\s*)?("[^"]*"|'[^']*'|[^,"']+)\s*(?:,|$)""")


def is_name(text: str) -> bool:
    """Return whether a text is the name of a parameter."""
    return _NAME.fullmatch(text) is not None


def placeholders(text: str) -> Iterator[Placeholder]:
    """Return the placeholders of a text, in order: parameters, calls, and malformed ones."""
    for slot in slots_of(text):
        if slot.inside is None:
            yield Placeholder("unclosed", slot.raw.split("\n", 1)[0])
        elif slot.name:
            yield Placeholder("name", slot.raw, slot.name)
        elif call := _CALL.fullmatch(slot.inside):
            yield Placeholder("call", slot.raw, _form(call[1], call[2]))
        else:
            yield Placeholder("bad", slot.raw)


def _form(name: str, arguments: str) -> str:
    """Return `f(x, k='v')` as the language writes it: `(f x k: "v")`."""
    words = [name]
    for match in _ARGUMENT.finditer(arguments):
        label, value = match[1], match[2].strip()
        if value.startswith("'"):
            value = f'"{value[1:-1]}"'
        words.append(f"{label}: {value}" if label else value)
    return f"({' '.join(words)})"
