"""AtomicTaskExecutor: a task's texts and the values of its parameters to what the model reads.

Only the parameters of this call can be named; text that comes from a value is never expanded.
"""

from sexplang.tasks.failures import bad_input
from sexplang.tasks.prompt.substitution import render
from sexplang.tasks.start.preparation import Body, Prepared
from sexplang.terms.values.value import Fault, Value


def execute_body(prepared: Prepared, values: dict[str, Value]) -> tuple[str, Body]:
    """The prompt and the other texts of a template with every slot filled; all slots that lead
    nowhere are one failure."""
    missing: list[str] = []
    prompt = render(prepared.instructions, values, missing)
    if (not prompt or prompt.isspace()) and not missing:
        raise _blank(prepared)
    if prepared.still is not None and not missing:
        return prompt, prepared.still
    system = render(prepared.system, values, missing)
    files_text = render(prepared.files_text, values, missing)
    description = render(prepared.description, values, missing)
    if prepared.criteria:
        render(prepared.criteria, values, missing)
    if missing:
        raise _missing(prepared, missing)
    return prompt, Body(system, prepared.paths, files_text, description)


def _blank(prepared: Prepared) -> Fault:
    """All that is put into the prompt is blank, and no provider takes a blank prompt."""
    source = prepared.instructions
    names = () if isinstance(source, str) else tuple([slot.written for _, slot in source.slots])
    listed = ", ".join([f"`{{{{{name}}}}}`" for name in dict.fromkeys(names)]) or "white space"
    return bad_input(
        f"task `{prepared.template.name}` would ask its model nothing: its prompt is only "
        f"{listed}, and that is empty",
        "give it a text there, or write words of your own into its <instructions>",
        blank=tuple(dict.fromkeys(names)),
    )


def _missing(prepared: Prepared, missing: list[str]) -> Fault:
    names = tuple(dict.fromkeys(missing))
    listed = ", ".join(f"`{{{{{name}}}}}`" for name in names)
    declared = " ".join(param.name for param in prepared.template.params) or "none"
    return bad_input(
        f"task `{prepared.template.name}` has placeholders that lead nowhere: {listed}",
        f"its parameters are {declared}; write {{{{{{{{ for two braces",
        missing=names,
    )
