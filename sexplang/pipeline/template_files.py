"""Template files as tasks and calls, with the schemas beside them."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from sexplang.compiler import RESERVED
from sexplang.terms.classes.node import define, field, frozen
from sexplang.terms.diagnostic import Diagnostic, Diagnostics, Label
from sexplang.terms.form import Literal
from sexplang.terms.source import Source, Span
from sexplang.terms.template import FunctionCallNode, Template, TemplateNode
from sexplang.terms.values.value import Fault, Task


@define
class Beside:
    """The texts of schemas, by path and place; `sources` collects those that were found."""

    find: Callable[[str, str], tuple[Source, ...]]
    sources: list[Source] = field(factory=list)

    def __call__(self, path: str, span: Span) -> str:
        """Return the text of a schema. Raises Diagnostics."""
        if not path.endswith(".xsd"):
            hint = "write the schema itself, or the name of a file such as reply.xsd"
            raise diagnose("bad-schema", f"`{path}` is no .xsd file", span, hint)
        try:
            (source,) = self.find(path, span.source.name)
        except Fault as fault:
            hint = "the path is that from the file that names it"
            title = f"there is no `{path}` here"
            if fault.code != "import-not-found":
                title, hint = fault.message, fault.hint or hint
            raise diagnose(fault.code, title, span, hint) from None
        except ValueError:
            raise diagnose("bad-schema", f"`{path}` is a folder", span) from None
        if source not in self.sources:
            self.sources.append(source)
        return source.text


@frozen
class Library:
    """The content of a template file: atomic tasks, templates that call, calls to run."""

    tasks: tuple[Task, ...]
    functions: tuple[TemplateNode, ...]
    calls: tuple[FunctionCallNode, ...]


def library_of(
    source: Source, report: Callable[[Diagnostic], None], beside: Beside, *, main: bool
) -> Library:
    """Return the content of a template file.

    `report` receives warnings, `beside` returns the schemas that the file names. Raises
    Diagnostics, also for calls in a file that is not the `main` program.
    """
    from sexplang.templates import read_templates

    parts = read_templates(source, report, beside, type_in)
    for part in parts:
        if not isinstance(part, FunctionCallNode) and part.name in RESERVED:
            raise diagnose(
                "reserved-name",
                f"`{part.name}` is a word of the language and cannot be the name of a task",
                part.span,
                f"choose another name, such as `{part.name.strip('!*')}-1`",
            )
        if not isinstance(part, FunctionCallNode):
            for name in (part.name, *_names(part)):
                _check_symbol(name, part.span)
        if isinstance(part, FunctionCallNode) and not main:
            raise diagnose(
                "effect-at-import",
                f"this file calls `{part.template}` while it is imported",
                part.span,
                "an import binds names: put the call into a <template>, or run the file",
            )
    return Library(
        tuple([Task(part) for part in parts if isinstance(part, Template)]),
        tuple([part for part in parts if isinstance(part, TemplateNode)]),
        tuple([part for part in parts if isinstance(part, FunctionCallNode)]),
    )


def type_in(written: str, span: Span) -> dict[str, Any]:
    """Return the JSON Schema of a type in XML. Raises Diagnostics."""
    from sexplang.compiler.tasks.type_schemas import schema_of
    from sexplang.reader import read

    if re.fullmatch(r"\w*(\[\])*", written.strip()):
        return schema_of(Literal(written.strip(), span))
    try:
        forms = read(Source("<returns>", written))
        if len(forms) == 1:
            return schema_of(forms[0])
    except Diagnostics as found:
        first = found.diagnostics[0]
        raise diagnose("bad-schema", first.title, span, first.hint) from None
    hint = "write one, such as integer or {name: string}"
    raise diagnose("bad-schema", "this is not a type", span, hint)


def _names(part: Template | TemplateNode) -> Iterable[str]:
    return [each.name for each in part.params] if isinstance(part, Template) else part.params


def _check_symbol(name: str, span: Span | None) -> None:
    """Raise Diagnostics for a name that is no symbol of the language."""
    if name.isascii():
        return
    from sexplang.reader import read

    try:
        read(Source(name, name))
    except Diagnostics as found:
        first = found.diagnostics[0]
        title = f"nothing can be called `{name[:40]}`: {first.title}"
        raise diagnose("bad-name", title, span, first.hint) from None


def check_template(template: Template, where: Any = None) -> Iterable[Diagnostic]:
    """Return the diagnostics of a `defatom`."""
    from sexplang.templates import check_template as check

    return check(template, where)


def diagnose(
    code: str,
    title: str,
    span: Span | None,
    hint: str | None = None,
    notes: tuple[str, ...] = (),
) -> Diagnostics:
    """Return Diagnostics with one finding."""
    labels = (Label(span),) if span is not None else ()
    return Diagnostics([Diagnostic(code, title, labels, notes, hint)])
