"""The TaskSystem of the machine, made of a host's settings and three functions of the templates.

Law: begin, advance and match raise nothing. Each failure is a Broke or an error record.
"""

from collections.abc import Callable, Mapping
from functools import partial

from sexplang.tasks.plans.artifacts import outputs
from sexplang.tasks.plans.bids import bids, foreseen
from sexplang.tasks.plans.judgement import judge
from sexplang.tasks.plans.proposal import Planning
from sexplang.tasks.prompt.compaction import compact
from sexplang.tasks.prompt.window import FRACTION, WINDOWS, windows
from sexplang.tasks.requests.match import match, name_request
from sexplang.tasks.session import (
    Calls,
    Gathering,
    HandlerSession,
    LeftOut,
    Lookup,
    Reading,
    Rules,
    Setup,
)
from sexplang.tasks.start.call_settings import NO_OVERRIDES, overrides_of
from sexplang.tasks.start.opening_request import continue_conversation, open_conversation
from sexplang.tasks.start.preparation import Prepared, prepare
from sexplang.tasks.turns.conversation_end import add_partial_notes, cut_short, in_task
from sexplang.tasks.turns.turns import advance_session
from sexplang.terms.classes.node import evolve
from sexplang.terms.model.roles import Models
from sexplang.terms.program import Function
from sexplang.terms.task import Broke, Conversation, Session, TaskSystem, Want, error_of
from sexplang.terms.template import OutputFormat, Template
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
        judge=partial(judge, partial(foreseen, matched, bid, begin)),
        bids=bid,
        outputs=outputs,
        nouns=(HandlerSession, LeftOut, Setup, Gathering, Lookup, Calls, Planning),
    )
