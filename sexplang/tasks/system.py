"""The TaskSystem of the machine, made of a host's settings and three functions of the templates.

A template is prepared once: its calls share the parsed texts, tools and payload. Law: begin,
advance and match raise nothing. Each failure is a Broke or an error record.
"""

from collections.abc import Callable, Mapping
from functools import partial

from sexplang.tasks.plans.artifacts import outputs
from sexplang.tasks.plans.bids import bids, foresee
from sexplang.tasks.plans.judgement import judge
from sexplang.tasks.plans.proposal import Planning
from sexplang.tasks.prompt.compaction import compact
from sexplang.tasks.prompt.context import sections
from sexplang.tasks.prompt.window import FRACTION, WINDOWS, tokens_in, windows
from sexplang.tasks.requests.match import match, name_request
from sexplang.tasks.session import (
    Calls,
    Gathering,
    HandlerPayload,
    HandlerSession,
    LeftOut,
    Lookup,
    Reading,
    Rules,
    Setup,
)
from sexplang.tasks.start.call_settings import (
    NO_OVERRIDES,
    ContextSettings,
    effective,
    overrides_of,
)
from sexplang.tasks.start.opening_request import (
    Body,
    Prepared,
    continue_conversation,
    open_conversation,
)
from sexplang.tasks.turns.conversation_end import add_partial_notes, cut_short, in_task
from sexplang.tasks.turns.tools import missing_tools, offer_tools, own_tools
from sexplang.tasks.turns.turns import advance_session
from sexplang.terms.classes.node import evolve
from sexplang.terms.json.json_writer import json_text
from sexplang.terms.model.roles import Models
from sexplang.terms.program import Function
from sexplang.terms.task import Broke, Conversation, Session, TaskSystem, Want, error_of
from sexplang.terms.template import FILES, OutputFormat, Template, Text, parse_text
from sexplang.terms.values.value import Fault, Value


def task_system(
    read_reply: Callable[[str, OutputFormat], Reading],
    json_schema: Callable[[OutputFormat], Value],
    xml_words: Callable[[OutputFormat], str],
    *,
    max_task_depth: int = 5,
    max_turns: int = 20,
    max_repairs: int = 2,
    max_refused: int = 2,
    base_prompt: str = "",
    tools: Mapping[str, dict[str, Value]] | None = None,
    models: Models | None = None,
    max_context_window_fraction: float = FRACTION,
    context_windows: Mapping[str, int] | None = None,
    memory: bool = False,
    has_own_memory: bool = False,
    folder: str = "",
    all_tools: bool = False,
) -> TaskSystem:
    """Return the task system of a run.

    `max_turns` holds for templates that set none. A reply that does not fit its format is asked for
    again at most `max_repairs` times. `max_refused` bounds the turns of a conversation with a
    refused plan, or with a subtask request that is malformed, too deep or a cycle. `tools`
    describes registered tools by name: `{description input_schema}`.

    A conversation may take `max_context_window_fraction` of its model's window. `context_windows`
    gives tokens by the beginning of a model's name and overrides the known ones. `models` resolves
    the names of models. With `memory`, the host answers a search for fresh context; with
    `has_own_memory`, a handler of the program does. Relative paths are resolved against `folder`,
    so that two names of one file are read once. With `all_tools`, a task cannot begin if it allows
    a server's tool that `tools` lacks.
    """
    rules = Rules(
        read_reply=read_reply,
        json_schema=json_schema,
        xml_words=xml_words,
        max_task_depth=max_task_depth,
        max_turns=max_turns,
        max_repairs=max_repairs,
        max_refused=max_refused,
        base_prompt=base_prompt,
        tools=tools or {},
        window=windows(models, max_context_window_fraction, {**WINDOWS, **(context_windows or {})}),
        memory=memory,
        has_own_memory=has_own_memory,
        folder=folder,
        all_tools=all_tools,
    )
    return _of(rules)


def _of(rules: Rules) -> TaskSystem:
    """Return the task system with these rules."""
    # By identity, because templates may hold tables. Each entry keeps its template alive, so no
    # other template can have its identity.
    known: dict[int, Prepared] = {}

    def prepare_once(template: Template) -> Prepared:
        prepared = known.get(id(template))
        if prepared is None:
            prepared = known[id(template)] = prepare(rules, template)
        return prepared

    def knowing(
        templates: tuple[Template, ...], functions: Mapping[str, Function] | None = None
    ) -> TaskSystem:
        return _of(evolve(rules, tasks=templates, functions=functions or {}))

    def begin(
        template: Template,
        inputs: dict[str, Value],
        overrides: dict[str, Value],
        conversations: tuple[Conversation, ...],
    ) -> tuple[Conversation, Session, Want]:
        try:
            prepared = known.get(id(template)) or prepare_once(template)
            given = overrides_of(overrides) if overrides else NO_OVERRIDES
            return open_conversation(rules, prepared, inputs, given, conversations)
        except Fault as fault:
            depth = conversations[-1].depth + 1 if conversations else 0
            error = in_task(error_of(fault), template.name)
            error = name_request(error, overrides.get("asked_for"), template.name)
            return Conversation(template.name, "", depth), None, Broke(error)

    def go_on(
        before: Conversation,
        session: Session,
        words: Value,
        conversations: tuple[Conversation, ...],
    ) -> tuple[Conversation, Session, Want]:
        try:
            return continue_conversation(rules, before, session, words, conversations)
        except Fault as fault:
            return before, None, Broke(in_task(error_of(fault), before.name))

    def advance(session: Session, replies: tuple[Value, ...]) -> tuple[Session, Want]:
        assert isinstance(session, HandlerSession)
        try:
            return advance_session(rules, session, replies)
        except Fault as fault:
            return session, Broke(add_partial_notes(error_of(fault), session, replies))

    bid = partial(bids, prepare_once, rules.tasks)
    matched = partial(match, rules.tasks)
    return TaskSystem(
        begin,
        go_on,
        advance,
        compact,
        cut_short,
        knowing,
        matched,
        judge=partial(judge, partial(foresee, matched, bid, begin)),
        bids=bid,
        outputs=outputs,
        nouns=(HandlerSession, LeftOut, Setup, Gathering, Lookup, Calls, Planning),
    )


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
        warnings += tuple([f"there is no tool `{name}`" for name in unknown])
    return Prepared(
        template=template,
        names=tuple([param.name for param in template.params]),
        usual=tuple(
            [
                _USUAL.get(each.type, object) if not each.schema else object
                for each in template.params
            ]
        ),
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
        is_validated=template.validate is not None,
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
