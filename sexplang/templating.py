"""Template files to tasks, and the schemas beside them to their text: found as modules are."""

from collections.abc import Callable, Iterable
from typing import Any

from attrs import define, field

from sexplang.compiler import RESERVED
from sexplang.terms.diagnostic import Diagnostic, Diagnostics, Label
from sexplang.terms.source import Source, Span
from sexplang.terms.template import Template
from sexplang.terms.value import Fault, Task


@define
class Beside:
    """The texts of schemas, by the name of a file and the place that names it. `sources` are those
    that were found."""

    find: Callable[[str, str], tuple[Source, ...]]
    sources: list[Source] = field(factory=list)

    def __call__(self, path: str, span: Span) -> str:
        """Raises Diagnostics."""
        if not path.endswith(".xsd"):
            hint = "write the schema itself, or the name of a file such as reply.xsd"
            raise _refused("bad-schema", f"`{path}` is no .xsd file", span, hint)
        try:
            (source,) = self.find(path, span.source.name)
        except Fault as fault:
            hint = "the path is that from the file that names it"
            title = f"there is no `{path}` here"
            if fault.code != "import-not-found":
                title, hint = fault.message, fault.hint or hint
            raise _refused(fault.code, title, span, hint) from None
        except ValueError:
            raise _refused("bad-schema", f"`{path}` is a folder", span) from None
        if source not in self.sources:
            self.sources.append(source)
        return source.text


def templates_of(
    source: Source, report: Callable[[Diagnostic], None], beside: Beside
) -> tuple[Task, ...]:
    """The tasks of a template file; `report` receives warnings, `beside` gives the schemas that
    the file names. Raises Diagnostics."""
    from sexplang.templates import read_templates

    templates = read_templates(source, report, beside)
    for template in templates:
        if template.name in RESERVED:
            raise _refused(
                "reserved-name",
                f"`{template.name}` is a word of the language and cannot be the name of a task",
                template.span,
                f"choose another name, such as `{template.name.strip('!*')}-1`",
            )
    return tuple([Task(template) for template in templates])


def check_template(template: Template, where: Any = None) -> Iterable[Diagnostic]:
    """What is wrong with a `defatom`."""
    from sexplang.templates import check_template as check

    return check(template, where)


def _refused(code: str, title: str, span: Span | None, hint: str | None = None) -> Diagnostics:
    labels = (Label(span),) if span is not None else ()
    return Diagnostics([Diagnostic(code, title, labels, hint=hint)])
