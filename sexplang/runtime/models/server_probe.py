"""A server of models, asked whether it answers and which models it has.

Law: no credential is sent, no redirect is followed, and it takes a bounded time.
"""

import json
import os
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ssl import SSLError
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from sexplang.runtime.models.protocols import CHAT, Target
from sexplang.terms.classes.node import frozen

SECONDS = 5.0
"""Seconds that a server has in all."""

_MOST = 1_000_000
"""The bytes of a list of models that are read."""


@frozen
class ServerAnswer:
    """What a server said: the status of HTTP and the names of its models, or why there is none."""

    status: int | None = None
    names: tuple[str, ...] = ()
    """Empty where it does not tell them without a key."""
    problem: str = ""


def ask_server(at: Target, seconds: float = SECONDS) -> ServerAnswer:
    """Return what the server of a model says when it is asked for its models."""
    found: list[ServerAnswer] = []

    def ask() -> None:
        try:
            found.append(_ask(at, seconds))
        except (OSError, HTTPException, ValueError) as error:
            found.append(ServerAnswer(problem=_describe(error)))

    # A server may send a byte now and then: the time of each byte bounds nothing.
    thread = Thread(target=ask, name="sexplang-probe", daemon=True)
    thread.start()
    thread.join(seconds)
    return found[0] if found else ServerAnswer(problem=f"no answer within {seconds:g} seconds")


def _ask(at: Target, seconds: float) -> ServerAnswer:
    base = at.base_url or f"https://{at.protocol.host}{at.protocol.version}"
    parts = urlsplit(base)
    version = "" if at.protocol is CHAT else "/v1"
    path = f"{parts.path.rstrip('/')}{version}/models"
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=seconds)
    try:
        connection.request("GET", path, headers={"accept": "application/json"})
        response = connection.getresponse()
        text = response.read(_MOST) if response.status == 200 else b""
        return ServerAnswer(response.status, _read_names(text))
    finally:
        connection.close()


def _read_names(text: bytes) -> tuple[str, ...]:
    try:
        listed: Any = json.loads(text)["data"]
        return tuple([each["id"] for each in listed if isinstance(each["id"], str)])
    except (ValueError, TypeError, KeyError, RecursionError):
        return ()


def _describe(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, SSLError):
        return f"no secure connection: {error.reason}".lower().replace("_", " ")
    number = getattr(error, "errno", None)
    if isinstance(number, int) and number > 0:
        return os.strerror(number).lower()
    return str(getattr(error, "strerror", None) or error or type(error).__name__).lower()
