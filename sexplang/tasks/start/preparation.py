"""The prepared template: the parsed texts, tools and payload that its calls share."""

from sexplang.tasks.prompt.context import sections
from sexplang.tasks.prompt.window import tokens_in
from sexplang.tasks.session import HandlerPayload, Rules, Setup
from sexplang.tasks.start.call_settings import ContextSettings, effective
from sexplang.tasks.turns.tools import missing_tools, offer_tools, own_tools
from sexplang.terms.classes.node import node
from sexplang.terms.json.json_writer import json_text
from sexplang.terms.template import FILES, OutputFormat, Template, Text, parse_text
from sexplang.terms.values.value import Fault, Value


@node
class Body:
    """The texts of a task beside its prompt, with every slot filled."""

    system: str
    paths: tuple[str, ...]
    files_text: str
    """The command or description that finds files."""
    description: str


@node(eq=False)
class Prepared:
    """A template that is ready to be called."""

    template: Template
    names: tuple[str, ...]
    """The names of the parameters."""
    usual: tuple[type, ...]
    """The usual types of the values. Values of these types need no further check."""
    instructions: Text | str
    system: Text | str
    description: Text | str
    criteria: Text | str
    """Not sent, but its slots must lead somewhere. Empty if it has no slots."""
    paths: tuple[str, ...]
    files_text: Text | str
    files: tuple[str, ...]
    """The parameters that are files."""
    still: Body | None
    """All texts but the prompt. None if an input changes one."""
    has_files: bool
    """Whether a call without overrides reads or looks up files."""
    max_depth: int
    """The depth that no call may reach."""
    setup: Setup
    """The setup of a call at the top level without overrides."""
    payload: HandlerPayload
    """The request, with the system prompt if no input changes it."""
    format_words: str
    settings: ContextSettings | None
    """The context settings of a call without overrides. None if the template contradicts itself."""
    tool_tokens: int
    """Tokens of the definitions of the tools."""
    tokens: int
    """Tokens of the tools and the payload's system prompt."""
    warnings: tuple[str, ...]


_USUAL = {"any": str, "string": str, "integer": int, "list": tuple}


def prepare(rules: Rules, template: Template) -> Prepared:
    """Do the work on a template that no input changes."""
    names, tools = offer_tools(template.allowed_tools, rules, template)
    format_ = template.output_format
    schema = rules.json_schema(format_) if format_.type == "json" else None
    has_instructions = template.instructions.strip() != ""
    description, criteria = parse_text(template.description), parse_text(template.criteria)
    source = template.file_paths.source
    literal = source == "literal"
    system, format_words = parse_text(template.system), _format_words(rules, template, schema)
    payload = _payload(rules, template, tools, schema)
    if isinstance(system, str):
        payload["system"] = sections(rules.base_prompt, system, format_words)
    named = template.file_paths.paths if literal else ()
    paths = tuple(dict.fromkeys([_unescape(path) for path in named]))
    looked_for = "" if literal else template.file_paths.text
    files_text = _unescape(looked_for) if source == "command" else parse_text(looked_for)
    criteria = "" if isinstance(criteria, str) else criteria
    tool_tokens = tokens_in(json_text(tools)) if tools else 0

    warnings: tuple[str, ...] = ()
    if not has_instructions:
        warnings += (f"task `{template.name}` has no instructions; its description is sent",)
    if rules.all_tools:
        unknown = missing_tools(
            template.allowed_tools, {*rules.tools, *own_tools(names.values(), rules)}
        )
        warnings += tuple([f"nobody here has the tool `{name}`" for name in unknown])
    return Prepared(
        template=template,
        names=tuple([param.name for param in template.params]),
        usual=tuple([_USUAL.get(param.type, object) for param in template.params]),
        instructions=parse_text(template.instructions) if has_instructions else description,
        system=system,
        description=description,
        criteria=criteria,
        paths=paths,
        files_text=files_text,
        files=tuple([param.name for param in template.params if param.type in FILES]),
        still=_still(system, paths, files_text, description, criteria),
        has_files=rules.memory
        or rules.has_own_memory
        or not literal
        or template.file_paths.paths != (),
        max_depth=min(rules.max_task_depth, template.limits.max_depth or rules.max_task_depth),
        setup=_setup(rules, template, names, payload),
        payload=payload,
        format_words=format_words,
        settings=_settings(template),
        tool_tokens=tool_tokens,
        tokens=tool_tokens + tokens_in(payload["system"]),
        warnings=warnings,
    )


def _unescape(source: str) -> str:
    """Return a text without slots as it is read: `{{{{` writes `{{`."""
    return source.replace("{{{{", "{{")


def _still(
    system: Text | str,
    paths: tuple[str, ...],
    files_text: Text | str,
    description: Text | str,
    criteria: Text | str,
) -> Body | None:
    if (
        isinstance(system, str)
        and isinstance(files_text, str)
        and isinstance(description, str)
        and criteria == ""
    ):
        return Body(system, paths, files_text, description)
    return None


def _setup(
    rules: Rules, template: Template, names: dict[str, str], payload: HandlerPayload
) -> Setup:
    format_ = template.output_format
    if format_.type == "xml" and template.manual_xml:
        format_ = OutputFormat()
    return Setup(
        template.name,
        format_,
        names,
        depth=0,
        max_depth=template.limits.max_depth,
        max_turns=_first(template.limits.max_turns, _turns(rules, template)),
        window=rules.window(payload.get("model")),
        notes=_notes(template),
        takes_text=format_.type == "xml" and template.disable_reparsing,
        seconds=template.limits.timeout,
        in_order=template.in_order,
        guards=_guards(template),
        own=own_tools(names.values(), rules),
    )


def _guards(template: Template) -> dict[str, Value]:
    limits = template.limits
    found = {
        "subtasks": limits.max_subtasks,
        "decompositions": limits.max_decompositions,
        "depth": limits.max_plan_depth,
    }
    return {name: most for name, most in found.items() if most is not None}


def _settings(template: Template) -> ContextSettings | None:
    try:
        return effective(template.subtype, template.context_management, {})
    except Fault:
        # The call raises it, with its own overrides.
        return None


def _payload(
    rules: Rules, template: Template, tools: tuple[Value, ...], schema: Value
) -> HandlerPayload:
    payload: HandlerPayload = {}
    if template.model_name is not None:
        payload["model"] = template.model_name
    payload["system"] = ""
    payload["messages"] = ()
    payload["tools"] = tools
    if template.limits.max_output_tokens is not None:
        payload["max_tokens"] = template.limits.max_output_tokens
    if template.limits.timeout is not None:
        payload["timeout"] = template.limits.timeout
    if schema is not None:
        payload["output_schema"] = schema
    payload.update(template.options)
    payload["task"] = template.name
    return payload


def _turns(rules: Rules, template: Template) -> int:
    """Return the default number of turns. A task without tools needs one turn and its repairs.
    `check` relies on it."""
    if template.allowed_tools:
        return rules.max_turns
    return 1 + (rules.max_repairs if template.asks_again else 0)


def _first(own: int | None, default: int) -> int:
    return default if own is None else own


def _format_words(rules: Rules, template: Template, schema: Value) -> str:
    """Return the answer's form in words, because not every server enforces a schema."""
    if template.output_format.type == "xml":
        return rules.xml_words(template.output_format)
    if template.output_format.type == "text":
        return ""
    if schema is None:
        return "Answer with one JSON value and nothing else."
    return f"Answer with one JSON value that fits this schema and nothing else: {json_text(schema)}"


def _notes(template: Template) -> dict[str, Value]:
    return {
        "template_used": template.name,
        "context_source": "template_literal" if template.file_paths.paths else "none",
        "context_files_count": 0,
    }
