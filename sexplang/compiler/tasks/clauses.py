"""The clauses of a `defatom`, as values of a template's fields.

The words, numbers and keys are those of `grammar/template.xsd`. Rules across fields are checked
together with XML templates.
"""

from collections.abc import Callable
from typing import Any

from sexplang.compiler.compilation import Lowering
from sexplang.compiler.forms.shapes import word_of
from sexplang.compiler.tasks.clause_data import (
    Read,
    count,
    data,
    flag,
    read_settings,
    report_expected,
    schema,
    seconds,
    text,
    type_,
    unquote,
    word,
)
from sexplang.terms.classes.node import frozen
from sexplang.terms.form import Form, ListForm, Literal, Name, VectorForm
from sexplang.terms.template import (
    ContextManagement,
    FilePaths,
    HistoryConfig,
    Limits,
    OutputFormat,
    Validator,
)
from sexplang.terms.texts.nearest import fewest_letters_off
from sexplang.terms.values.boundary import value_of


@frozen
class Clause:
    """The syntax of a clause, and the reader of its field."""

    syntax: str
    read: Callable[["Clause", Lowering, ListForm], Any]


def _one(read: Read) -> Callable[[Clause, Lowering, ListForm], Any]:
    """Return a reader for a clause with one value."""

    def reading(clause: Clause, c: Lowering, form: ListForm) -> Any:
        if len(form.items) == 2:
            return read(c, form.items[1])
        at = form.items[2] if len(form.items) > 2 else form
        words = "nothing more fits here" if len(form.items) > 2 else "something is missing here"
        c.report("malformed-form", at.span, f"it is written `{clause.syntax}`", words)
        return None

    return reading


def _several(make: Any, **readers: Read) -> Callable[[Clause, Lowering, ListForm], Any]:
    """Return a reader for a clause with settings."""
    return lambda clause, c, form: make(**read_settings(c, form, readers))


def _output_format(clause: Clause, c: Lowering, form: ListForm) -> OutputFormat | None:
    before = len(c.findings)
    found = read_settings(c, form, {"type": word("text", "json", "xml"), "schema": schema})
    if len(c.findings) > before:
        return None
    if "type" not in found:
        title = f"it is written `{clause.syntax}`"
        c.report("malformed-form", form.span, title, "I expected a `type`: text, json or xml")
        return None
    return OutputFormat(**found)


_ACCUMULATION = {"minimal": "notes_only", "full": "full_output"}
"""The older words of the documents."""


def _context(**found: Any) -> ContextManagement:
    if "accumulation_format" in found:
        written = found["accumulation_format"]
        found["accumulation_format"] = _ACCUMULATION.get(written, written)
    return ContextManagement(**found)


def list_items(forms: tuple[Form, ...]) -> tuple[Form, ...]:
    """Return the items of `a "b"`, `["a" "b"]` or `'(a b)`."""
    if len(forms) == 1:
        whole = unquote(forms[0])
        if type(whole) is VectorForm or (type(whole) is ListForm and whole is not forms[0]):
            return whole.items
    return forms


def _words(c: Lowering, forms: tuple[Form, ...]) -> tuple[str, ...]:
    read = word()
    found = [read(c, form) for form in list_items(forms)]
    return tuple([one for one in found if one is not None])


def tools_in(clause: ListForm) -> list[tuple[Form, bool]]:
    """Return the names of tools in a clause, each with whether it is in an `(in-order …)`."""
    found: list[tuple[Form, bool]] = []
    for form in list_items(clause.items[1:]):
        if type(form) is ListForm and word_of(form) == "in-order":
            found += [(name, True) for name in form.items[1:]]
        else:
            found.append((form, False))
    return found


def _tools(clause: Clause, c: Lowering, form: ListForm) -> tuple[str, ...]:
    read = word()
    for group in list_items(form.items[1:]):
        if type(group) is ListForm and len(group.items) == 1 and word_of(group) == "in-order":
            title = f"it is written `{clause.syntax}`"
            c.report("malformed-form", group.span, title, "name a tool here")
    found = [_tool(c, name, read) for name, _ in tools_in(form)]
    return tuple([one for one in found if one is not None])


def _tool(c: Lowering, form: Form, read: Read) -> Any:
    head = unquote(form)
    if type(head) is ListForm and head is form:
        near = fewest_letters_off(word_of(head), ("in-order",))
        hint = "did you mean `in-order`?" if near else "write a name, or `(in-order name …)`"
        return report_expected(c, form, "the name of a tool", hint)
    return read(c, form)


def _validate(clause: Clause, c: Lowering, form: ListForm) -> Validator | None:
    named = unquote(form.items[1]) if len(form.items) == 2 else form
    if type(named) is not Name:
        words = "name a function here: what it is given is the answer"
        c.report("malformed-form", named.span, f"it is written `{clause.syntax}`", words)
        return None
    return Validator(named.spelling, named.span)


def _once(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


def _subtasks(clause: Clause, c: Lowering, form: ListForm) -> tuple[str, ...] | None:
    found = _once(_words(c, form.items[1:]))
    if len(form.items) < 2:
        c.report(
            "malformed-form",
            form.span,
            f"it is written `{clause.syntax}`",
            "name a task here, or leave the clause out for all that are public",
        )
    return found or None


_FILES = {
    "paths": "literal",
    "command": "command",
    "description": "description",
    "context_query": "context_description",
}
"""The setting for the source of files, and the kind of source it belongs to."""


def _file_paths(clause: Clause, c: Lowering, form: ListForm) -> FilePaths | None:
    first = unquote(form.items[1]) if len(form.items) > 1 else None
    if type(first) in (Literal, Name, VectorForm):
        return FilePaths(paths=_once(_words(c, form.items[1:])))
    readers: dict[str, Read] = dict.fromkeys(_FILES, word())
    readers["paths"] = lambda c, value: _words(c, (value,))
    before = len(c.findings)
    found = read_settings(c, form, {"source": word(*_FILES.values()), **readers})
    if len(c.findings) > before:
        return None
    given = [key for key in _FILES if key in found]
    if len(given) != 1 or found.get("source", _FILES[given[0]]) != _FILES[given[0]]:
        title = f"it is written `{clause.syntax}`"
        words = "each source has one setting: " + ", ".join(
            f"{source} has {key}" for key, source in _FILES.items()
        )
        c.report("malformed-form", form.span, title, words)
        return None
    source: Any = _FILES[given[0]]
    if source == "literal":
        return FilePaths(source, _once(found["paths"]))
    return FilePaths(source, text=found[given[0]])


def _options(clause: Clause, c: Lowering, form: ListForm) -> dict[str, Any]:
    from sexplang.terms.model.payload import OPTIONS

    return read_settings(c, form, {key: _option(key) for key in OPTIONS}, _other_option)


def _option(key: str) -> Read:
    from sexplang.terms.model.payload import OPTIONS, flaw, suggest_place

    def read(c: Lowering, form: Form) -> Any:
        before, value = len(c.findings), value_of(data(c, unquote(form)))
        why = flaw(key, value)
        if why is None or len(c.findings) > before:
            return value
        if OPTIONS[key].test(value):
            title, hint = f"`{key}` {why}", suggest_place(key, value)
            c.report("malformed-form", form.span, title, hint=hint)
            return None
        return report_expected(c, form, OPTIONS[key].words)

    return read


def _other_option(key: str) -> str:
    from sexplang.terms.model.payload import option_meant

    return option_meant(key)


CLAUSES: dict[str, Clause] = {
    "instructions": Clause('(instructions "…")', _one(text)),
    "system": Clause('(system "…")', _one(text)),
    "description": Clause('(description "…")', _one(text)),
    "criteria": Clause('(criteria "…")', _one(text)),
    "subtype": Clause("(subtype word)", _one(word())),
    "model": Clause('(model "…")', _one(word())),
    "provider": Clause('(provider "…")', _one(word())),
    "ref": Clause("(ref name)", _one(word())),
    "returns": Clause("(returns T)", _one(type_)),
    "output_format": Clause("(output_format type: json schema: object)", _output_format),
    "context_management": Clause(
        "(context_management inherit_context: none …)",
        _several(
            _context,
            inherit_context=word("full", "none", "subset"),
            accumulate_data=flag,
            accumulation_format=word("notes_only", "full_output", *_ACCUMULATION),
            fresh_context=word("enabled", "disabled"),
        ),
    ),
    "context_assembly": Clause(
        '(context_assembly primary_elements: "…" …)',
        _several(
            lambda **found: tuple(found.items()),
            primary_elements=text,
            secondary_elements=text,
            excluded_elements=text,
        ),
    ),
    "file_paths": Clause('(file_paths "path" …)` or `(file_paths command: "…")', _file_paths),
    "allowed_tools": Clause("(allowed_tools name … (in-order name …))", _tools),
    "subtasks": Clause("(subtasks task …)", _subtasks),
    "validate": Clause("(validate function)", _validate),
    "limits": Clause(
        "(limits max_turns: 3 …)",
        _several(
            Limits,
            max_turns=count,
            max_output_tokens=count,
            timeout=seconds,
            max_depth=count,
            max_subtasks=count,
            max_decompositions=count,
            max_plan_depth=count,
        ),
    ),
    "options": Clause("(options temperature: 0 …)", _options),
    "history_config": Clause(
        "(history_config use_session_history: true …)",
        _several(
            HistoryConfig,
            use_session_history=flag,
            history_turns_to_include=count,
            record_in_session_history=flag,
        ),
    ),
    "manual_xml": Clause("(manual_xml true)", _one(flag)),
    "disable_reparsing": Clause("(disable_reparsing true)", _one(flag)),
}
"""The clauses with the same name as the field."""
