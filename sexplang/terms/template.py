"""Templates: atomic tasks as written in XML or `defatom`, and calls of templates in XML.

Fields and defaults follow inventory 2.1 to 2.5 and decisions.md. Immutable.
"""

import re
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from sexplang.terms.classes.node import evolve, field, frozen, node
from sexplang.terms.source import Span

ParamType = Literal[
    "any", "string", "number", "integer", "boolean", "list", "object", "image", "file"
]

FILES = ("image", "file")
"""The types of parameters that a model sees as blocks, or as a file. Their values are paths or
content blocks."""


NAME = r"[^\W\d][\w-]*"
"""The syntax of a parameter's name."""

# `re` compiles these at their first use: a program without templates starts without them.
# `{{{x}}}` is a brace, a slot and a brace: hence the look-ahead of the last branch.
_MARK = r"\{\{\{\{|\{\{([^{}]*)\}\}|\{\{(?!\{)"
_PATH = rf"\s*({NAME})((?:\.[\w-]+|\[\d+\])*)\s*"
_STEP = r"[\w-]+"
_UNCLOSED = 40


@node
class Slot:
    """`{{a[0].b}}`: a parameter and a path into its value.

    `raw` is the text as written; of a slot that is not closed, its first characters. `inside` is
    the text between the braces, or None if the slot is not closed. `name` is empty if that text is
    no path.
    """

    raw: str
    inside: str | None
    name: str = ""
    steps: tuple[str | int, ...] = ()

    @property
    def written(self) -> str:
        """The text between the braces, or after the opening ones of a slot that is not closed."""
        return self.raw[:20] if self.inside is None else self.inside.strip()


@node
class Text:
    """A text with slots: its literal parts, empty at a slot, and the slots by index."""

    literal: tuple[str, ...]
    slots: tuple[tuple[int, Slot], ...]


@lru_cache(maxsize=256)  # a check and a preparation take the same texts apart
def parse_text(source: str) -> Text | str:
    """Parse a text. Return its plain text if it has no slots: `{{{{` writes `{{`; any other `{{`
    opens a slot."""
    if "{{" not in source:
        return source
    found: list[str | Slot] = []
    at = 0
    for mark in re.finditer(_MARK, source):
        found.append(source[at : mark.start()])
        at = mark.end()
        found.append("{{" if mark[0] == "{{{{" else _slot(source, mark))
    found.append(source[at:])
    literal = tuple(["" if isinstance(part, Slot) else part for part in found])
    slots = tuple([(at, part) for at, part in enumerate(found) if isinstance(part, Slot)])
    return Text(literal, slots) if slots else "".join(literal)


def slots_of(source: str) -> tuple[Slot, ...]:
    """Return all slots of a text, in order."""
    text = parse_text(source)
    return () if isinstance(text, str) else tuple([slot for _, slot in text.slots])


def _slot(source: str, mark: re.Match[str]) -> Slot:
    inside = mark[1]
    if inside is None:
        return Slot(source[mark.start() : mark.start() + _UNCLOSED], None)
    path = re.fullmatch(_PATH, inside)
    if path is None:
        return Slot(mark[0], inside)
    steps = [int(step) if step.isdecimal() else step for step in re.findall(_STEP, path[2])]
    return Slot(mark[0], inside, path[1], tuple(steps))


@frozen
class Param:
    """A declared parameter, the target of `{{name}}`."""

    name: str
    type: ParamType = "any"
    doc: str = ""
    required: bool = True
    default: Any = None
    source: str | None = None
    """`from`: the dotted source of an input, as in the documents."""
    relevant: bool = True
    """Whether context search sees this input (`context_relevance`)."""
    schema: dict[str, Any] | None = None
    """The type as a JSON Schema, if it is more than the word `type`."""


@frozen
class OutputFormat:
    """`text` (as it is), `json` or `xml` (parsed and checked).

    The schema of json is the mini-language (`object`, `string[]` …), an inline JSON Schema as a
    dict, or None. The schema of xml is the text of an XSD, or the name of its file before it is
    loaded.
    """

    type: Literal["text", "json", "xml"] = "text"
    schema: str | dict[str, Any] | None = None
    typed: bool = False
    """Whether the schema is that of `returns`: a reply is converted to the type."""

    @property
    def names_file(self) -> bool:
        """Whether the schema is the name of a file that is not loaded."""
        if not isinstance(self.schema, str) or self.schema.lstrip().startswith(("<", "{")):
            return False
        return self.type == "xml" or (self.type == "json" and self.schema.endswith(".json"))


@frozen
class ContextManagement:
    """The three dimensions of context; None is unset, so that a default or a request determines
    it."""

    inherit_context: Literal["full", "none", "subset"] | None = None
    accumulate_data: bool | None = None
    accumulation_format: Literal["notes_only", "full_output"] | None = None
    fresh_context: Literal["enabled", "disabled"] | None = None


@frozen
class FilePaths:
    """The source of a task's files: literal paths, a command, or a description to match."""

    source: Literal["literal", "command", "description", "context_description"] = "literal"
    paths: tuple[str, ...] = ()
    text: str = ""


def usual_description(name: str) -> str:
    """Return the documents' description of a task without one."""
    return f"Dynamically defined task: {name}"


def tool_alias(name: str) -> str:
    """Return the name of a tool for models, in the letters that providers accept."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:60] or "tool"


@frozen
class Limits:
    """Bounds of one conversation; None means the default of `tasks`."""

    max_turns: int | None = None
    max_output_tokens: int | None = None
    timeout: float | None = None
    """Seconds."""
    max_depth: int | None = None
    """The greatest depth of the chain of conversations, the outermost task counted."""
    max_subtasks: int | None = None
    """Subtasks of one plan."""
    max_decompositions: int | None = None
    """Accepted plans."""
    max_plan_depth: int | None = None
    """The greatest depth of plans within plans."""


@frozen
class HistoryConfig:
    use_session_history: bool = True
    history_turns_to_include: int | None = None
    record_in_session_history: bool = True


@frozen
class Validator:
    """The function that judges a task's answer, as it is named where the task stands."""

    name: str
    span: Span | None = None


@frozen
class Template:
    """An atomic task template."""

    name: str
    params: tuple[Param, ...] = ()
    instructions: str = ""
    description: str = ""
    system: str = ""
    subtype: str = "standard"
    provider: str | None = None
    model: str | None = None
    ref: str | None = None
    # The defaults are made for a template, not at import: each class then writes its `__init__`.
    output_format: OutputFormat = field(factory=OutputFormat)
    context_management: ContextManagement = field(factory=ContextManagement)
    file_paths: FilePaths = field(factory=FilePaths)
    allowed_tools: tuple[str, ...] = ()
    limits: Limits = field(factory=Limits)
    options: dict[str, Any] = field(factory=dict)
    """Settings of its model calls, by the keys of `terms/model/payload.py`."""
    history_config: HistoryConfig = field(factory=HistoryConfig)
    context_assembly: tuple[tuple[str, str], ...] = ()
    """Pairs of `primary_elements` / `secondary_elements` / `excluded_elements` and text."""
    criteria: str = ""
    manual_xml: bool = False
    """Whether the program parses an XML reply itself: the reply stays text."""
    disable_reparsing: bool = False
    """Whether an XML reply that cannot be parsed is taken as text, instead of a repair."""
    returns: dict[str, Any] | None = None
    """The type of the answer, as a JSON Schema; None if it is not declared."""
    span: Span | None = None
    in_order: tuple[str, ...] = ()
    """The allowed tools whose calls are made one after the other, in the conversation's branch."""
    subtasks: tuple[str, ...] = ()
    """The tasks that its model may ask for; empty for all public ones."""
    validate: Validator | None = None

    @property
    def model_name(self) -> str | None:
        """The name of the model that it asks: with a provider, an id."""
        if not self.model or not self.provider:
            return self.model
        return f"{self.provider}:{self.model}"

    @property
    def asks_again(self) -> bool:
        """Whether a reply that does not fit its format, or is not valid, is repaired by another
        request."""
        if self.validate is not None:
            return True
        if self.output_format.type == "xml":
            return not (self.manual_xml or self.disable_reparsing)
        return self.output_format.type == "json"

    @property
    def is_public(self) -> bool:
        """Whether other tasks may ask for it: it is not private, and not of the standard
        library."""
        in_library = self.span is not None and self.span.source.is_library
        return not self.name.startswith("_") and not in_library

    @property
    def own_description(self) -> str:
        """The author's description; empty if there is none."""
        said = self.description
        return "" if said == usual_description(self.name) else said

    def param(self, name: str) -> Param | None:
        """Return the declared parameter called `name`, or None."""
        return next((param for param in self.params if param.name == name), None)


def with_answer_format(template: Template) -> Template:
    """Return the template with the output format that its `returns` determines: a text is the reply
    itself."""
    returns, given = template.returns, template.output_format
    if returns is None or (returns == {"type": "string"} and given.type == "text"):
        return template
    return evolve(template, output_format=OutputFormat("json", returns, typed=True))


@frozen
class ParameterPath:
    """A parameter, with fields that lead into its value."""

    name: str
    fields: tuple[str, ...] = ()


@frozen
class ArgumentNode:
    """An `<arg>`: plain data, a parameter or a path into one, or another call."""

    value: "Any | ParameterPath | FunctionCallNode"
    span: Span


@frozen
class FunctionCallNode:
    """A `<call>`: the name of a template, and its arguments in their order."""

    template: str
    arguments: tuple[ArgumentNode, ...]
    span: Span


@frozen
class TemplateNode:
    """A `<template>` that calls: a function of its parameters alone."""

    name: str
    params: tuple[str, ...]
    body: FunctionCallNode
    span: Span


Part: TypeAlias = Template | TemplateNode | FunctionCallNode
"""The content of a template file."""
