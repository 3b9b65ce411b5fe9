"""The first request of a conversation: a new one, or one that continues.

Depth, inputs, cycles and context settings are checked first. Files are read before the model is
asked.
"""

from itertools import chain

from sexplang.tasks.failures import bad_input
from sexplang.tasks.prompt.context import (
    AUTOMATIC,
    ask_for_files,
    ask_memory,
    inherit_items,
    own_items,
    previous_text,
    sections,
    select_paths,
)
from sexplang.tasks.prompt.history import configure, flaw_of, select_messages
from sexplang.tasks.prompt.media import take_media, unique, value_text
from sexplang.tasks.prompt.window import check_fit, fill_window, tokens_in, tokens_of
from sexplang.tasks.requests.match import describe_substitute
from sexplang.tasks.session import (
    Block,
    Gathering,
    HandlerPayload,
    HandlerSession,
    Lookup,
    Rules,
    Setup,
)
from sexplang.tasks.start.call_settings import (
    MINIMAL,
    NO_MEMORY,
    NO_OVERRIDES,
    NOTHING_BEFORE,
    ContextSettings,
    Overrides,
    effective,
    values_of,
)
from sexplang.tasks.start.cycle_check import check_cycle, check_depth, sign_inputs
from sexplang.tasks.turns.tools import with_tools
from sexplang.tasks.turns.turns import ask_again, ask_for_compaction, start_session
from sexplang.terms.classes.node import evolve, node
from sexplang.terms.json.json_writer import json_text
from sexplang.terms.task import Ask, Conversation, Want, sign
from sexplang.terms.template import OutputFormat, Template, Text
from sexplang.terms.values.text import text
from sexplang.terms.values.value import Fault, Record, Value


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


def open_conversation(
    rules: Rules,
    prepared: Prepared,
    inputs: dict[str, Value],
    overrides: Overrides,
    conversations: tuple[Conversation, ...],
) -> tuple[Conversation, HandlerSession, Want]:
    """Return the conversation, its session and its first request. Raises Fault."""
    template = prepared.template
    depth = conversations[-1].depth + 1 if conversations else 0
    if depth >= prepared.max_depth or overrides.max_depth is not None:
        check_depth(prepared.max_depth, template.name, depth, overrides.max_depth)
    values = _bind(prepared, inputs)
    asked = sign_inputs(template.name, values, overrides.file_paths)
    if conversations:
        check_cycle(Conversation(template.name, asked, depth), conversations)
    settings = prepared.settings if overrides is NO_OVERRIDES else None
    if settings is None:
        settings = _settings(prepared, overrides)
    files = None
    if prepared.files:
        files = take_media(prepared.files, values)
        values = files.values
    prompt, body = execute_body(prepared, values)
    setup, payload, tokens = _request(rules, prepared, overrides, body, depth)
    warnings = prepared.warnings + settings.warnings
    if settings.asks_fresh and not (rules.memory or rules.has_own_memory):
        warnings += (NO_MEMORY,)
    gathering, own = None, ()
    if conversations or prepared.has_files or files or overrides is not NO_OVERRIDES:
        items = _items(settings, overrides, conversations)
        paths = _paths(rules, prepared, overrides, body)
        needed = () if files is None else unique(files.paths, rules.folder)
        paths = unique((*needed, *paths), rules.folder) if needed else paths
        room = setup.window - tokens - tokens_of(prompt)
        previous, left_out = _previous(settings, overrides, room)
        warnings += overrides.warnings + left_out
        if said := describe_substitute(overrides.asked_for, template.name):
            warnings += (said,)
        lookups = _lookups(rules, prepared, overrides, settings, prompt, body, values)
        if paths or lookups:
            warnings = tuple([each for each in warnings if each != MINIMAL])
        if paths or items or previous or lookups:
            wanted = prompt if settings.inherit_context == "subset" else ""
            gathering = _make_gathering(
                payload["system"], paths, items, previous, wanted, rules.folder
            )
            gathering = evolve(
                gathering,
                lookups=lookups,
                assembly=template.context_assembly,
                needed=needed,
            )
        own = own_items(items, paths)
    messages: tuple[Block, ...] = (
        {"role": "user", "content": ({"type": "text", "text": prompt},)},
    )
    tokens += tokens_of(prompt)
    if files is not None and files.blocks:
        (asking,) = messages
        messages = ({**asking, "content": (*files.blocks, *asking["content"])},)
        tokens += tokens_of(files.blocks)
    if overrides.history is not None:
        setup, earlier = _with_history(setup, prepared, overrides)
        tokens += sum([tokens_of(message["content"]) for message in earlier])
        messages = (*earlier, *messages)
    conversation = Conversation(template.name, asked, depth, own)
    if tokens > setup.window:
        if not setup.earlier:
            check_fit(0, tokens, setup.window, "the prompt")
        taken = tokens - tokens_of(messages[-1]["content"]), 0
        session = HandlerSession(setup, payload, messages, taken, warnings, gathering)
        return conversation, *ask_for_compaction(session)
    taken, warnings = fill_window((0, 0), warnings, tokens, setup.window)
    session = HandlerSession(setup, payload, messages, taken, warnings, gathering)
    return conversation, *start_session(session)


def _bind(prepared: Prepared, given: dict[str, Value]) -> dict[str, Value]:
    """Return the value of every declared parameter, in order. Nil for an optional parameter means
    its default."""
    if tuple(given) == prepared.names and tuple(map(type, given.values())) == prepared.usual:
        return given
    return values_of(prepared.template, given)


def _request(
    rules: Rules, prepared: Prepared, overrides: Overrides, body: Body, depth: int
) -> tuple[Setup, HandlerPayload, int]:
    """Return the setup of the conversation, its request without messages, and the tokens of that
    request."""
    setup = prepared.setup
    if overrides is NO_OVERRIDES:
        if depth:
            setup = evolve(setup, depth=depth)
        if isinstance(prepared.system, str):
            return setup, prepared.payload, prepared.tokens
    payload = prepared.payload.copy()
    format_words = prepared.format_words
    if overrides.expected_words:
        # The request overrides the template's form of the answer.
        format_words = overrides.expected_words
        payload.pop("output_schema", None)
    payload["system"] = system = sections(rules.base_prompt, body.system, format_words)
    if overrides.model is not None:
        payload["model"] = overrides.model
    if overrides.options:
        payload.update(overrides.options)
    tokens = prepared.tool_tokens
    if overrides is not NO_OVERRIDES:
        setup = _override(rules, setup, payload, overrides, depth)
    if overrides.tools is not None:
        setup, payload["tools"] = with_tools(rules, setup, overrides.tools, prepared.template)
        tokens = tokens_in(json_text(payload["tools"]))
    return setup, payload, tokens + tokens_in(system)


def _paths(rules: Rules, prepared: Prepared, overrides: Overrides, body: Body) -> tuple[str, ...]:
    """Return the named files, each once."""
    paths = body.paths if overrides.file_paths is None else overrides.file_paths
    assembly = prepared.template.context_assembly
    return unique(select_paths(paths, assembly, rules.folder), rules.folder)


def _override(
    rules: Rules, setup: Setup, payload: HandlerPayload, overrides: Overrides, depth: int
) -> Setup:
    notes = setup.notes
    if overrides.asked_for not in (None, setup.task):
        notes = {**notes, "asked_for": overrides.asked_for}
    if overrides.matched is not None:
        notes = {**notes, "matched": overrides.matched}
    if overrides.file_paths is not None:
        notes = {**notes, "context_source": "explicit_request"}
    return evolve(
        setup,
        format=OutputFormat() if overrides.expected_words else setup.format,
        depth=depth,
        max_depth=_lower(setup.max_depth, overrides.max_depth),
        max_turns=min(setup.max_turns, overrides.max_turns or setup.max_turns),
        window=rules.window(payload.get("model")),
        notes=notes,
    )


def _with_history(
    setup: Setup, prepared: Prepared, overrides: Overrides
) -> tuple[Setup, tuple[Block, ...]]:
    """Return the setup with the earlier turns, and the turns that are shown."""
    history = overrides.history or ()
    settings = configure(prepared.template.history_config, overrides.history_config)
    earlier = select_messages(history, settings)
    unseen = history[: len(history) - len(earlier)] if settings.record_in_session_history else None
    return evolve(setup, unseen=unseen, earlier=len(earlier)), earlier


def _lookups(
    rules: Rules,
    prepared: Prepared,
    overrides: Overrides,
    settings: ContextSettings,
    prompt: str,
    body: Body,
    values: dict[str, Value],
) -> tuple[Lookup, ...]:
    """Return the lookups of files: the template's own, and fresh context."""
    template = prepared.template
    source = template.file_paths.source
    lookups: tuple[Lookup, ...] = ()
    if overrides.file_paths is None and source != "literal":
        asked = ask_for_files if source == "command" else _about
        lookups = (Lookup(f"template_{source}", asked(body.files_text)),)
        if source != "command":
            # The template's description replaces the automatic lookup.
            return lookups
    if settings.fresh_context == "enabled" and (rules.memory or rules.has_own_memory):
        relevant = {param.name: values[param.name] for param in template.params if param.relevant}
        query: dict[str, Value] = {
            "query": "" if body.description else prompt,
            "template_description": body.description,
            "template_subtype": overrides.subtype or template.subtype,
            "inputs": relevant,
        }
        ask = evolve(ask_memory(query), handled=not rules.memory)
        lookups += (Lookup(AUTOMATIC, ask, NO_MEMORY if settings.asks_fresh else ""),)
    return lookups


def _about(words: str) -> Ask:
    return ask_memory({"query": words})


def _lower(one: int | None, other: int | None) -> int | None:
    return min([each for each in (one, other) if each is not None], default=None)


def _settings(prepared: Prepared, overrides: Overrides) -> ContextSettings:
    template = prepared.template
    subtype = overrides.subtype or template.subtype
    settings = effective(subtype, template.context_management, overrides.context_management)
    if overrides.previous_outputs is None or settings.keeps_out:
        return settings
    return evolve(settings, warnings=tuple([each for each in settings.warnings if each != MINIMAL]))


def _items(
    settings: ContextSettings, overrides: Overrides, conversations: tuple[Conversation, ...]
) -> tuple[Value, ...]:
    """Return the inherited items. Explicit files replace a subset."""
    if settings.inherit_context == "subset" and overrides.file_paths:
        return ()
    return inherit_items(conversations, settings.inherit_context)


def _previous(
    settings: ContextSettings, overrides: Overrides, room: int
) -> tuple[str, tuple[str, ...]]:
    if overrides.previous_outputs is None:
        asked = overrides.context_management.get("accumulate_data")
        return "", (NOTHING_BEFORE,) if asked else ()
    if settings.keeps_out:
        return "", ("previous_outputs were left out because accumulate_data is false",)
    return previous_text(overrides.previous_outputs, settings.accumulation_format, room), ()


def _make_gathering(
    system: str,
    paths: tuple[str, ...],
    items: tuple[Value, ...],
    previous: str,
    wanted: str,
    folder: str,
) -> Gathering:
    sources = [text(item["source"]) for item in items if item["text"] is None]
    every = unique((*paths, *sources), folder)
    unread = every[len(paths) :]
    return Gathering(
        paths=every,
        folder=folder,
        system=system,
        items=tuple(item for item in items if item["text"] is not None),
        inherited=unread,
        wanted=wanted,
        previous=previous,
    )


def execute_body(prepared: Prepared, values: dict[str, Value]) -> tuple[str, Body]:
    """Return the prompt and the other texts of a template with every slot filled. Raises one Fault
    for all slots that lead nowhere."""
    missing: list[str] = []
    prompt = _render(prepared.instructions, values, missing)
    if (not prompt or prompt.isspace()) and not missing:
        raise _blank(prepared)
    if prepared.still is not None and not missing:
        return prompt, prepared.still
    system = _render(prepared.system, values, missing)
    files_text = _render(prepared.files_text, values, missing)
    description = _render(prepared.description, values, missing)
    if prepared.criteria:
        _render(prepared.criteria, values, missing)
    if missing:
        raise _fail_placeholders(prepared, missing)
    return prompt, Body(system, prepared.paths, files_text, description)


_MISSING = object()
"""The value of a slot that leads nowhere."""


def _render(source: Text | str, values: dict[str, Value], missing: list[str]) -> str:
    """Return the text with its slots filled. Slots that lead nowhere are added to `missing`."""
    if isinstance(source, str):
        return source
    out = list(source.literal)
    for at, slot in source.slots:
        value = values.get(slot.name, _MISSING)
        if slot.steps:
            value = _follow(value, slot.steps)
        if type(value) is str:
            out[at] = value
        elif value is _MISSING:
            missing.append(slot.written)
        else:
            out[at] = value_text(value)
    return "".join(out)


def _follow(value: Value, steps: tuple[str | int, ...]) -> Value:
    for step in steps:
        if isinstance(value, (dict, Record)):
            fields = value if isinstance(value, dict) else value.fields
            value = fields.get(str(step), _MISSING)
        elif isinstance(value, tuple) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return _MISSING
    return value


def _blank(prepared: Prepared) -> Fault:
    """Return the failure of a blank prompt. No provider takes one."""
    source = prepared.instructions
    names = () if isinstance(source, str) else tuple([slot.written for _, slot in source.slots])
    listed = ", ".join([f"`{{{{{name}}}}}`" for name in dict.fromkeys(names)]) or "white space"
    return bad_input(
        f"task `{prepared.template.name}` would ask its model nothing: its prompt is only "
        f"{listed}, and that is empty",
        "give it a text there, or write words of your own into its <instructions>",
        blank=tuple(dict.fromkeys(names)),
    )


def _fail_placeholders(prepared: Prepared, missing: list[str]) -> Fault:
    names = tuple(dict.fromkeys(missing))
    listed = ", ".join(f"`{{{{{name}}}}}`" for name in names)
    declared = " ".join(param.name for param in prepared.template.params) or "none"
    return bad_input(
        f"task `{prepared.template.name}` has placeholders that lead nowhere: {listed}",
        f"its parameters are {declared}; write {{{{{{{{ for two braces",
        missing=names,
    )


def continue_conversation(
    rules: Rules,
    before: Conversation,
    session: HandlerSession,
    words: Value,
    conversations: tuple[Conversation, ...],
) -> tuple[Conversation, HandlerSession, Want]:
    """Continue an ended conversation with a new user message. Return the conversation, its session
    and its first request. Raises Fault."""
    setup = session.setup
    depth = conversations[-1].depth + 1 if conversations else 0
    if depth >= rules.max_task_depth or setup.max_depth is not None:
        check_depth(rules.max_task_depth, setup.task, depth, setup.max_depth)
    content = _content(words)
    past, messages = session, _messages_of(session)
    count = len(messages)
    asked = sign(f"{setup.task}\0{count}\0{json_text(content, canonical=True)}")
    session = HandlerSession(
        evolve(setup, depth=depth, earlier=count, past=past),
        session.payload,
        messages,
        session.taken,
    )
    return evolve(before, asked=asked, depth=depth), *ask_again(session, content)


def _messages_of(session: HandlerSession) -> tuple[Block, ...]:
    """Return all messages of an ended conversation."""
    parts = []
    over: HandlerSession | None = session
    while over is not None:
        parts.append(over.messages)
        over = over.setup.past
    return tuple(chain.from_iterable(reversed(parts)))


def _content(words: Value) -> tuple[Block, ...]:
    """Return the content blocks of a message. A text is one block. Raises Fault."""
    content = ({"type": "text", "text": words},) if isinstance(words, str) else words
    flaw = flaw_of(({"role": "user", "content": content},))
    if flaw is not None:
        raise bad_input(
            f"the words with which a conversation goes on do not fit: {flaw}",
            'write (continue result "words"); a list of content blocks may stand for the words',
        )
    made: tuple[Block, ...] = content
    return made
