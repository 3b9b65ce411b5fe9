"""Failures of a server or of the connection as refusals, with their `again`."""

import json
import re
from typing import Any

from sexplang.runtime.journal.redaction import shorten
from sexplang.runtime.refusal import Refusal, make_task_failure
from sexplang.terms.task import error_record

AGAIN = frozenset((408, 409, 425, 429, 500, 502, 503, 504, 529))

GATEWAYS = frozenset((502, 504))
"""Statuses of a gateway, which does not know whether the server behind it has answered. With any
other status from 400 the server itself gives no reply."""

STATUS_OF_TYPE = {
    "rate_limit_error": 429,
    "overloaded_error": 529,
    "api_error": 500,
    "timeout_error": 504,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "invalid_request_error": 400,
}
"""Statuses of error types inside a stream."""

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
    "bad-key": "check ANTHROPIC_API_KEY: the server does not accept it",
    "model-not-found": "check the model's name and the server's address",
    "model-refused-request": "what was sent does not suit this model; the message says why",
    "model-busy": "try again later, or with a smaller --parallel",
    "model-failed": "try again later, or with another --model",
}

LONGEST = 500


def refusal_of(error: Exception, server: str) -> Refusal:
    """Return the refusal for an exception of a call."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, TimeoutError):
        raise error  # the deadline of the attempt; the caller knows its length
    if "Timeout" in type(error).__name__:
        return refuse_timeout(server, None, sent=_was_sent(error))
    if _is_transport(error):
        return _no_connection(error, server)
    if isinstance(error, ValueError):
        return refuse_bad_reply(server, "what it sent cannot be read as JSON")
    return refuse_bad_reply(server, "its events lack what the protocol wants, or come out of order")


def refuse_status(body: bytes, response: Any, server: str, name: str) -> Refusal:
    """Return the refusal for a status from 400."""
    try:
        event = json.loads(body)
    except (ValueError, RecursionError):
        event = None
    return _make_refusal(response.status_code, event, response.headers, server, name)


def refuse_stream_error(event: Any, response: Any, server: str, name: str) -> Refusal:
    """Return the refusal for an error event in a stream with status 200."""
    status = STATUS_OF_TYPE.get(str(_read_error(event).get("type")), 500)
    return _make_refusal(status, event, response.headers, server, name)


def _read_error(event: Any) -> dict[str, Any]:
    said = event.get("error") if isinstance(event, dict) else None
    return said if isinstance(said, dict) else {}


def _make_refusal(status: int, event: Any, headers: Any, server: str, name: str) -> Refusal:
    reason, code = CODES.get(status, ("llm_error", "model-failed"))
    said = _read_error(event)
    words = said.get("message") if isinstance(said.get("message"), str) else ""
    assert isinstance(words, str)
    long = _TOO_LONG.search(words) if status in (400, 413) else None
    if long is not None:
        return refuse_long_request(
            name, *[int(number) if number else None for number in long.groups()]
        )
    return make_task_failure(
        reason,
        code,
        f"{server} answered {status}{': ' + shorten(words, LONGEST) if words else ''}",
        hint=HINTS[code],
        again=status in AGAIN or status >= 500,
        sent=status in GATEWAYS,
        retry_after=retry_after(headers),
        status=status,
        type=said.get("type") if isinstance(said.get("type"), str) else None,
        request_id=headers.get("request-id"),
        model=name,
    )


_TOO_LONG = re.compile(r"prompt is too long(?:: (\d+) tokens > (\d+) maximum)?")


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


def refuse_redirect(response: Any, server: str) -> Refusal:
    """Return the refusal of a redirect: its target is not permitted and would receive the
    request."""
    to = shorten(str(response.headers.get("location") or "nowhere"), LONGEST)
    return make_task_failure(
        "configuration_error",
        "model-redirected",
        f"{server} answered {response.status_code}: it leads to {to}, which is not followed",
        hint="name the address of the server itself: --model http://HOST:PORT#NAME",
        status=response.status_code,
        server=server,
    )


def _is_transport(error: Exception) -> bool:
    """Whether an exception class is a connection failure. Each library has its own classes with
    these names."""
    return isinstance(error, OSError) or any(
        kind.__name__ in ("TransportError", "NetworkError", "StreamError")
        for kind in type(error).__mro__
    )


def _no_connection(error: Exception, server: str) -> Refusal:
    inner = error.__cause__ or error
    if "complete message body" in str(inner) or "payload is not completed" in str(inner):
        return refuse_cut_reply(server)
    return make_task_failure(
        "connection_error",
        "no-connection",
        f"the connection to {server} failed: {shorten(_words(inner), LONGEST) or 'it broke off'}",
        hint="check that the server runs and the address is right",
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


def _words(error: BaseException) -> str:
    """Return an exception's message. aiohttp says `ssl:default` even for an address without TLS."""
    return str(error).replace(" ssl:default", "")


def refuse_unsupported(problem: str, hint: str) -> Refusal:
    """Return the refusal of a payload feature that the local model lacks."""
    return make_task_failure(
        "llm_error", "model-refused-request", problem, hint=f"{hint}, or use another --model"
    )


def refuse_timeout(
    server: str, seconds: float | None, *, again: bool = True, sent: bool = True
) -> Refusal:
    """Return the refusal for a reply that did not arrive in time."""
    span = f" within {seconds:g} seconds" if seconds is not None else " for too long"
    return make_task_failure(
        "connection_error",
        "model-timeout",
        f"{server} did not answer{span}",
        hint="try again; if it happens often, ask for less at once",
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


def refuse_bad_reply(server: str, problem: str) -> Refusal:
    """Return the refusal for a reply with status 200 that violates the protocol."""
    return make_task_failure(
        "protocol_error",
        "bad-reply",
        f"{server} answered with something that is not a reply of the Messages protocol: "
        f"{shorten(problem, LONGEST)}",
        hint="check that the address is that of a Messages server, and what stands before it",
        sent=True,
        server=server,
    )
