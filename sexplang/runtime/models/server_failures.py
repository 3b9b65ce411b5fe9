"""Failures of a server or of the connection as refusals, with their `again`."""

import json
import re
import shlex
from collections.abc import Sequence
from typing import Any

from sexplang.runtime.journal.redaction import shorten
from sexplang.runtime.models.protocols import CHAT, MESSAGES, Target, address_of
from sexplang.runtime.refusal import Refusal, make_task_failure
from sexplang.terms.task import error_record

AGAIN = frozenset((408, 409, 425, 429, 500, 502, 503, 504, 529))

GATEWAYS = frozenset((502, 504))
"""Statuses of a gateway, which does not know whether the server behind it has answered. With any
other status from 400 the server itself gives no reply."""

STATUS_OF_TYPE = {
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "overloaded_error": 529,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "insufficient_quota": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "request_too_large": 413,
    "invalid_request_error": 400,
    "exceed_context_size_error": 400,
}
"""Statuses of error types inside a stream."""

TELLING_TYPES = ("insufficient_quota", "model_not_found", "invalid_api_key")
"""Error types that say more than the status that comes with them."""

CODES = {
    400: ("llm_error", "model-refused-request"),
    401: ("configuration_error", "bad-key"),
    402: ("configuration_error", "bad-key"),
    403: ("configuration_error", "bad-key"),
    404: ("configuration_error", "model-not-found"),
    413: ("llm_error", "model-refused-request"),
    422: ("llm_error", "model-refused-request"),
    429: ("llm_error", "model-busy"),
    529: ("llm_error", "model-busy"),
    503: ("llm_error", "model-busy"),
}

HINTS = {
    "model-not-found": "check the model's name and the server's address",
    "model-refused-request": "change the request as the message says, or use another --model",
    "model-busy": "try again later, or with a smaller --parallel",
    "model-failed": "try again later, or with another --model",
}

LONGEST = 500


class BadReply(Exception):
    """A reply violates its protocol; the message says how."""


def refusal_of(error: Exception, at: Target) -> Refusal:
    """Return the refusal for an exception of a call."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, TimeoutError):
        raise error  # the deadline of the attempt; the caller knows its length
    if "Timeout" in type(error).__name__:
        return refuse_timeout(at.display_name, None, sent=_was_sent(error))
    if _is_transport(error):
        return _no_connection(error, at)
    if isinstance(error, BadReply):
        return refuse_bad_reply(at, str(error))
    if isinstance(error, ValueError):
        return refuse_bad_reply(at, "what it sent cannot be read as JSON")
    return refuse_bad_reply(at, "its events lack what the protocol wants, or come out of order")


def refuse_status(body: bytes, response: Any, at: Target, known: Sequence[str] = ()) -> Refusal:
    """Return the refusal for a status from 400. `known` are the names of the server's models."""
    try:
        event = json.loads(body)
    except (ValueError, RecursionError):
        event = None
    said = _read_error(event)
    status = response.status_code
    meant = status
    types = [each for each in (said.get("code"), said.get("type")) if each in TELLING_TYPES]
    if types:
        meant = STATUS_OF_TYPE[types[0]]
    elif status == 400 and _NO_MODEL.search(_words_of(said)):
        meant = 404
    return _make_refusal(status, said, response.headers, at, known=known, meant=meant)


def refuse_stream_error(event: Any, headers: Any, at: Target, *, begun: bool = False) -> Refusal:
    """Return the refusal for an error event in a stream with status 200. `begun` says that a part
    of the reply precedes it, which is charged and was not counted."""
    said = _read_error(event)
    code = said.get("code")
    known = [STATUS_OF_TYPE.get(str(each)) for each in (code, said.get("type"))]
    status = next(filter(None, known), None)
    if status is None:
        status = code if type(code) is int and 400 <= code < 600 else 500
    refusal = _make_refusal(status, said, headers, at)
    refusal.sent = refusal.sent or begun
    return refusal


def _read_error(event: Any) -> dict[str, Any]:
    """Return the error of a response: most servers have a table, some a text."""
    if not isinstance(event, dict):
        return {}
    said = event.get("error") or event.get("detail") or event
    return said if isinstance(said, dict) else {"message": said}


def _words_of(said: dict[str, Any]) -> str:
    words = said.get("message")
    return words if isinstance(words, str) else ""


_NO_MODEL = re.compile(
    r"\bmodel\b.{0,200}\b(not found|does not exist|not available)\b|no such model|unknown model",
    re.I | re.S,
)


def _make_refusal(
    status: int,
    said: dict[str, Any],
    headers: Any,
    at: Target,
    *,
    known: Sequence[str] = (),
    meant: int | None = None,
) -> Refusal:
    """Return the refusal for a status. `meant` is the one that fits the words of the server."""
    meant = meant or status
    reason, code = CODES.get(meant, ("llm_error", "model-failed"))
    words = _words_of(said)
    if status in (400, 413):
        for pattern in _TOO_LONG:
            long = pattern.search(words)
            if long is not None:
                numbers = [int(each) if each else None for each in long.group("used", "limit")]
                return refuse_long_request(at.name, *numbers)
    kind = said.get("type") or said.get("code")
    return make_task_failure(
        reason,
        code,
        f"{at.display_name} answered {status}{': ' + shorten(words, LONGEST) if words else ''}",
        hint=_hint(code, at, known),
        again=meant in AGAIN or meant >= 500,
        sent=status in GATEWAYS,
        retry_after=retry_after(headers),
        status=status,
        type=kind if isinstance(kind, str) else None,
        request_id=headers.get("request-id") or headers.get("x-request-id"),
        model=at.name,
    )


_TOO_LONG = tuple(
    map(
        re.compile,
        (
            r"prompt is too long(?:: (?P<used>\d+) tokens > (?P<limit>\d+) maximum)?",
            r"request \((?P<used>\d+) tokens\) exceeds the available context size "
            r"\((?P<limit>\d+) tokens\)",
            r"maximum context length is (?P<limit>\d+) tokens(?:\D+(?P<used>\d+))?",
        ),
    )
)
"""The words of Anthropic, of llama.cpp, and of OpenAI and vLLM."""


def _hint(code: str, at: Target, known: Sequence[str]) -> str:
    """Return what to type after an error of a server."""
    if code == "bad-key":
        return _key_hint(at)
    if code != "model-not-found":
        return HINTS[code]
    if known:
        names = [f"`{name}`" for name in known[:MOST_NAMES]]
        more = f", and {len(known) - MOST_NAMES} more" if len(known) > MOST_NAMES else ""
        example = f"--model {shlex.quote(_with_model(at, known[0]))}"
        return f"the server has {', '.join(names)}{more}; write {example}"
    other = _other_name(at)
    return HINTS[code] if other is None else f"{HINTS[code]}; {other}"


def _key_hint(at: Target) -> str:
    key = at.protocol.key
    if at.user:
        return "check the user and the password in the server's address: it does not accept them"
    if at.has_key:
        return f"check {key}: the server does not accept it"
    if at.has_secrets:
        return f"the server wants a key: export {key}=…"
    return f"the server wants a key, which only a person gives: --model {shlex.quote(at.name)}"


MOST_NAMES = 10
"""The models of a server that a hint lists."""


def _with_model(at: Target, model: str) -> str:
    """Return the name of another model at the same server."""
    head, hash, _ = at.name.partition("#")
    return f"{head}#{model}" if hash or address_of(at.name) else f"{at.protocol.scheme}:{model}"


def _other_name(at: Target) -> str | None:
    """Return how the same server is named in the other protocol; None for a provider's own."""
    address = address_of(at.name)
    if address is None:
        return None
    other = MESSAGES if at.protocol is CHAT else CHAT
    name = shlex.quote(f"{other.prefix}{address}")
    return f"if it speaks the {other.title} protocol, write --model {name}"


def refuse_long_request(name: str, used: Any, limit: Any) -> Refusal:
    """Return the refusal of a request that exceeds the model's context window. Numbers are tokens
    or None."""
    amounts = f"has {used} tokens, more than the {limit} that" if used and limit else "is more than"
    return Refusal(
        error_record(
            "RESOURCE_EXHAUSTION",
            "context",
            f"the request {amounts} {name} takes",
            details={
                "resource": "context",
                "metrics": {"used": used, "limit": limit},
                "model": name,
            },
            hint="send less text at once, or use another --model",
        )
    )


def retry_after(headers: Any) -> float | None:
    """Return the seconds that the server asks to wait, or None."""
    for header, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(header)) * unit
        except (TypeError, ValueError):
            continue
        if seconds >= 0:  # false for nan
            return seconds
    return None


def refuse_redirect(response: Any, at: Target) -> Refusal:
    """Return the refusal of a redirect: its target is not permitted and would receive the
    request."""
    to = shorten(str(response.headers.get("location") or "nowhere"), LONGEST)
    return make_task_failure(
        "configuration_error",
        "model-redirected",
        f"{at.display_name} answered {response.status_code}: it leads to {to}, which is not "
        "followed",
        hint=f"name the address of the server itself: --model {at.protocol.prefix}"
        "http://HOST:PORT#NAME",
        status=response.status_code,
        server=at.display_name,
    )


def is_broken(error: Exception) -> bool:
    """Whether a connection that was made has broken."""
    return _is_transport(error) and "Timeout" not in type(error).__name__ and _was_sent(error)


def _is_transport(error: Exception) -> bool:
    """Whether an exception class is a connection failure. Each library has its own classes with
    these names."""
    return isinstance(error, OSError) or any(
        kind.__name__ in ("TransportError", "NetworkError", "StreamError")
        for kind in type(error).__mro__
    )


def _no_connection(error: Exception, at: Target) -> Refusal:
    server = at.display_name
    inner = error.__cause__ or error
    if "complete message body" in str(inner) or "payload is not completed" in str(inner):
        return refuse_cut_reply(server)
    return make_task_failure(
        "connection_error",
        "no-connection",
        f"the connection to {server} failed: {shorten(_words(inner), LONGEST) or 'it broke off'}",
        hint=_connection_hint(at),
        again=True,
        sent=_was_sent(error),
        server=server,
    )


def _was_sent(error: Exception) -> bool:
    """Whether the server may have read the request; not if no connection was made."""
    kinds = {kind.__name__ for kind in type(error.__cause__ or error).__mro__}
    return not kinds & _UNCONNECTED


_UNCONNECTED = {
    *("ClientConnectorError", "ConnectionTimeoutError", "ClientHttpProxyError", "InvalidURL"),
    *("ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol"),
}
"""Exceptions of aiohttp and httpx before anything is sent."""


def _connection_hint(at: Target) -> str:
    if at.is_provider:
        return "check that the server runs and the address is right"
    address = address_of(at.name) or ""
    if address.startswith("https:"):
        other = at.name.replace("https:", "http:", 1)
        return f"check the address; a server without encryption is --model {shlex.quote(other)}"
    return (
        f"check that the server runs and the address is right, as in --model {at.protocol.example}"
    )


def _words(error: BaseException) -> str:
    """Return an exception's message. aiohttp says `ssl:default` even for an address without TLS."""
    return str(error).replace(" ssl:default", "").replace(" [None]", "")


def refuse_unsupported(problem: str, hint: str) -> Refusal:
    """Return the refusal of a payload feature that the local model lacks."""
    return make_task_failure(
        "llm_error", "model-refused-request", problem, hint=f"{hint}, or use another --model"
    )


def refuse_timeout(
    server: str, seconds: float | None, *, again: bool = True, sent: bool = True
) -> Refusal:
    """Return the refusal for a reply that did not arrive in time. `seconds` are those of a whole
    attempt; None if nothing arrived for too long."""
    if seconds is None:
        words, hint = "did not answer for too long", "try again; if it happens often, ask for less"
    else:
        words = f"did not finish its reply within {seconds:g} seconds"
        hint = "ask for less at once: in a task, (limits max_output_tokens: 500)"
    return make_task_failure(
        "connection_error",
        "model-timeout",
        f"{server} {words}",
        hint=hint,
        again=again,
        sent=sent,
        server=server,
    )


def refuse_cut_reply(server: str) -> Refusal:
    """Return the refusal for a reply that ended early."""
    return make_task_failure(
        "connection_error",
        "reply-cut-short",
        f"the reply of {server} ended in the middle",
        hint="try again; if it happens often, look at what lies between you and the server",
        again=True,
        sent=True,
        server=server,
    )


def refuse_bad_reply(at: Target, problem: str, hint: str = "") -> Refusal:
    """Return the refusal for a reply with status 200 that violates the protocol."""
    title = at.protocol.title
    article = "an" if title == "OpenAI" else "a"
    return make_task_failure(
        "protocol_error",
        "bad-reply",
        f"{at.display_name} answered with something that is not a reply of the {title} protocol: "
        f"{shorten(problem, LONGEST)}",
        hint=hint
        or f"check the address: it is that of another server, or of a proxy, and not of {article} "
        f"{title} server",
        sent=True,
        server=at.display_name,
    )


def refuse_other_protocol(at: Target) -> Refusal:
    """Return the refusal for a reply in the other protocol."""
    other = MESSAGES if at.protocol is CHAT else CHAT
    return refuse_bad_reply(at, f"it is one of the {other.title} protocol", _other_name(at) or "")
