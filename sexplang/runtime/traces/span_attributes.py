"""The names and attributes of spans for works, requests and replies.

They follow the conventions for generative AI if those have a name, else they are `sexplang.…`.
"""

from typing import Any

from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as genai
from opentelemetry.semconv._incubating.attributes.code_attributes import (
    CODE_FILE_PATH,
    CODE_LINE_NUMBER,
)
from opentelemetry.semconv.attributes.error_attributes import ERROR_TYPE
from opentelemetry.trace import SpanKind
from opentelemetry.util.types import AttributeValue

from sexplang.runtime.driver.events import model_name_of
from sexplang.runtime.journal.redaction import clean
from sexplang.runtime.journal.rows import CUT, Row
from sexplang.runtime.traces.content import describe_reply, describe_request, inputs_of, write_value
from sexplang.terms.effect import Request
from sexplang.terms.model.payload import is_embedding
from sexplang.terms.model.roles import Models, id_of, normalize_name
from sexplang.terms.values.value import Record
from sexplang.terms.work import Work

Facts = dict[str, AttributeValue]
Doing = genai.GenAiOperationNameValues


def of_run(name: str, run_id: str) -> tuple[str, Facts]:
    return _name_span(Doing.INVOKE_WORKFLOW, name, {"sexplang.run.id": run_id})


def of_work(work: Work, content: bool) -> tuple[str, Facts]:
    """Return the name and attributes of a piece of work. A conversation and a subagent are agents,
    a branch has its own name, and other work is a workflow. A subagent's instruction is content."""
    facts: Facts = {"sexplang.work": work.kind}
    if work.kind in ("branch", "race"):
        name = f"{work.kind} {work.name}"
        return name, {genai.GEN_AI_WORKFLOW_NAME: name, **facts}
    if content and work.kind == "subagent":
        facts[genai.GEN_AI_AGENT_DESCRIPTION] = clean(work.name)
    if work.kind == "compaction":
        facts["sexplang.compaction"] = clean(work.name)
    agent = work.kind in ("task", "subagent")
    name = work.kind if work.kind in ("subagent", "subagents", "compaction") else work.name
    return _name_span(Doing.INVOKE_AGENT if agent else Doing.INVOKE_WORKFLOW, name, facts)


def of_request(request: Request, models: Models, content: bool) -> tuple[str, SpanKind, Facts]:
    """Return the name and attributes of a request. `models` are the models that answer to names."""
    facts: Facts = {"sexplang.request.id": request.id, "sexplang.operation": request.operation}
    if request.context.conversations:
        facts[genai.GEN_AI_AGENT_NAME] = clean(request.context.conversations[-1].name)
    if request.span is not None:
        place = request.span.plain()
        facts |= {CODE_FILE_PATH: clean(place["source"]), CODE_LINE_NUMBER: place["line"]}
    first = request.arguments[0] if request.arguments else None
    if request.operation == "model":
        payload = first if isinstance(first, dict) else {}
        facts |= describe_request(payload) if content else {}
        return _chat(payload, model_name_of(request), models, facts)
    if request.operation == "search-memory":
        name, facts = _name_span(Doing.RETRIEVAL, "memory", facts)
    else:
        tool = first if request.operation == "tool" and isinstance(first, str) else None
        name, facts = _name_span(Doing.EXECUTE_TOOL, tool or request.operation, facts)
        facts |= {genai.GEN_AI_TOOL_CALL_ARGUMENTS: inputs_of(request)} if content else {}
    return name, SpanKind.INTERNAL, facts


def _chat(
    payload: dict[str, Any], named: str | None, models: Models, facts: Facts
) -> tuple[str, SpanKind, Facts]:
    wanted = models.answer(named).model or named
    if named and wanted != normalize_name(named):
        facts["sexplang.model.named"] = clean(named)
    if wanted:
        provider, name = _provider(clean(wanted))
        facts |= {genai.GEN_AI_PROVIDER_NAME: provider, genai.GEN_AI_REQUEST_MODEL: name}
        if provider == "replay":
            facts["sexplang.replayed"] = True
    for key, (name, kinds) in _SETTINGS.items():
        if type(payload.get(key)) in kinds:
            facts[name] = payload[key]
    doing = (Doing.EMBEDDINGS if is_embedding(payload) else Doing.CHAT).value
    facts[genai.GEN_AI_OPERATION_NAME] = doing
    shown = facts.get(genai.GEN_AI_REQUEST_MODEL)
    return f"{doing} {shown}" if shown else doing, SpanKind.CLIENT, facts


_SETTINGS = {
    "max_tokens": (genai.GEN_AI_REQUEST_MAX_TOKENS, (int,)),
    "temperature": (genai.GEN_AI_REQUEST_TEMPERATURE, (int, float)),
    "top_p": (genai.GEN_AI_REQUEST_TOP_P, (int, float)),
    "top_k": (genai.GEN_AI_REQUEST_TOP_K, (int,)),
    "seed": (genai.GEN_AI_REQUEST_SEED, (int,)),
}
"""Numeric settings of a payload that become attributes."""


def _provider(model: str) -> tuple[str, str]:
    """Return the provider and the model name of `anthropic:ID`, a bare `claude-…`, `openai:ID`,
    `openai:http://HOST#NAME`, `http://HOST#NAME`, `local`, `scripted:FILE` or `replay:FILE`."""
    scheme, colon, rest = model.partition(":")
    if scheme == "openai":
        return scheme, id_of(model)
    if not colon:
        return ("anthropic" if model.startswith("claude") else model), model
    if scheme in ("http", "https"):
        return "http", rest.partition("#")[2] or model.partition("#")[0]
    return scheme, rest or model


USAGE = (
    ("cache_read_input_tokens", genai.GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS),
    ("cache_creation_input_tokens", genai.GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS),
)


def of_reply(row: Row, content: bool) -> Facts:
    """Return the attributes of a request's reply."""
    facts: Facts = {"sexplang.attempts": row.attempts} if row.attempts > 1 else {}
    if row.operation not in ("model", CUT):
        told = content and not row.failed
        return facts | ({genai.GEN_AI_TOOL_CALL_RESULT: write_value(row.reply)} if told else {})
    reply = row.reply if isinstance(row.reply, dict) else {}
    if row.model is not None:
        facts[genai.GEN_AI_RESPONSE_MODEL] = clean(_provider(row.model)[1])
    if isinstance(reply.get("stop_reason"), str):
        facts[genai.GEN_AI_RESPONSE_FINISH_REASONS] = [clean(reply["stop_reason"])]
    cached = {name: row.usage.get(key) for key, name in USAGE}
    known = {name: count for name, count in cached.items() if type(count) is int}
    taken, given = row.usage.get("input_tokens"), row.usage.get("output_tokens")
    if type(taken) is int:  # in the conventions it includes cached tokens
        facts[genai.GEN_AI_USAGE_INPUT_TOKENS] = taken + sum(known.values())
    if type(given) is int:
        facts[genai.GEN_AI_USAGE_OUTPUT_TOKENS] = given
    if reply.get("embeddings"):
        return facts | known | {genai.GEN_AI_EMBEDDINGS_DIMENSION_COUNT: _dimensions(reply)}
    return facts | known | (describe_reply(reply) if content and not row.failed else {})


def _dimensions(reply: dict[str, Any]) -> int:
    """Return the length of the vectors in a reply; 0 if it has none."""
    vectors = reply["embeddings"]
    first = vectors[0] if isinstance(vectors, (tuple, list)) else ()
    return len(first) if isinstance(first, (tuple, list)) else 0


def of_error(error: Record, content: bool) -> tuple[str, Facts]:
    """Return a description and attributes of an error. Its message may hold anything, so it is
    content."""
    reason, kind = str(error.fields["reason"]), str(error.fields["type"])
    words = f": {error.fields['message']}" if content else ""
    return clean(f"{kind} {reason}{words}"), {ERROR_TYPE: clean(reason)}


def _name_span(doing: Doing, name: str, facts: Facts) -> tuple[str, Facts]:
    """Return a span name `OPERATION NAME`, as in the conventions."""
    name = clean(name)
    return f"{doing.value} {name}", {
        genai.GEN_AI_OPERATION_NAME: doing.value,
        _KEYS[doing]: name,
        **facts,
    }


_KEYS = {
    Doing.INVOKE_WORKFLOW: genai.GEN_AI_WORKFLOW_NAME,
    Doing.INVOKE_AGENT: genai.GEN_AI_AGENT_NAME,
    Doing.EXECUTE_TOOL: genai.GEN_AI_TOOL_NAME,
    Doing.RETRIEVAL: genai.GEN_AI_DATA_SOURCE_ID,
}
