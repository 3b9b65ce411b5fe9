"""Parameters of tasks that the model never sees."""

import re
from collections.abc import Iterator

from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.program import Program
from sexplang.terms.template import FILES, Param, Template


def find_unused_params(program: Program) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each parameter that is in no prompt and determines no files."""
    for task in program.tasks:
        template = task.template
        span = template.span
        if span is None or span.source.name.startswith("std/") or _shows_inputs(template):
            continue
        text = "\n".join(_texts(template))
        for param in template.params:
            if param.type not in FILES and not re.search(
                r"\{\{\s*" + re.escape(param.name) + r"(?![\w-])", text
            ):
                yield _finding(template, param, text)


def _texts(template: Template) -> list[str]:
    return [
        template.instructions,
        template.system,
        template.description,
        template.criteria,
        template.file_paths.text,
    ]


def _shows_inputs(template: Template) -> bool:
    """Return whether a template uses its inputs without a placeholder, to find files."""
    context = template.context_management.fresh_context == "enabled"
    return context or template.file_paths.source in ("description", "context_description")


def _finding(template: Template, param: Param, text: str) -> Diagnostic:
    name = param.name
    hint = f"write `{{{{{name}}}}}` in the instructions, or leave the parameter out"
    if re.search(r"\{\s*" + re.escape(name) + r"\s*\}", text):
        hint = f"write `{{{{{name}}}}}`: in single braces it is a text like any other"
    assert template.span is not None
    return Diagnostic(
        "unused-param",
        f"no prompt of `{template.name}` has its parameter `{name}`",
        (Label(template.span, "the model never sees it"),),
        hint=hint,
        severity="warning",
    )
