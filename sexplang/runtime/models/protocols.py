"""The protocols of model servers, and the server, the model and the credentials of a name."""

import os
import re
from urllib.parse import unquote, urlsplit, urlunsplit

from sexplang.runtime.refusal import Refusal, make_task_failure
from sexplang.terms.classes.node import field, frozen

PLACEHOLDER = "none"
"""The API key for an own server, which needs none."""


@frozen
class Protocol:
    """A protocol, and the provider that it comes from."""

    title: str
    scheme: str
    """The provider's scheme in the names of models."""
    host: str
    """The provider's own server."""
    key: str
    """The variable with the provider's key."""
    token: str
    """The variable with a token in place of a key; empty if there is none."""
    base_url: str
    """The variable with another address of the provider."""
    path: str
    """The path of requests, which an address may end with."""
    version: str
    """The path before that of requests, where an address has none."""
    prefix: str
    """The text before an address in the name of a model."""
    example: str
    packages: tuple[str, ...]
    """The packages for a call."""


MESSAGES = Protocol(
    title="Messages",
    scheme="anthropic",
    host="api.anthropic.com",
    key="ANTHROPIC_API_KEY",
    token="ANTHROPIC_AUTH_TOKEN",
    base_url="ANTHROPIC_BASE_URL",
    path="/v1/messages",
    version="",
    prefix="",
    example="http://127.0.0.1:8080#model-name",
    packages=("anthropic", "aiohttp"),
)
CHAT = Protocol(
    title="OpenAI",
    scheme="openai",
    host="api.openai.com",
    key="OPENAI_API_KEY",
    token="",
    base_url="OPENAI_BASE_URL",
    path="/chat/completions",
    version="/v1",
    prefix="openai:",
    example="openai:http://127.0.0.1:11434/v1#llama3.2",
    packages=("anthropic", "aiohttp", "openai"),
)


@frozen
class Target:
    """The server of a model, the model's name there, and the client settings."""

    name: str
    model: str
    base_url: str | None = field(repr=False)
    user: str = field(repr=False)
    """`user:password` of the address."""
    api_key: str | None = field(repr=False)
    auth_token: str | None = field(repr=False)
    has_secrets: bool = True
    """Whether the environment's key and headers are sent to this server."""
    protocol: Protocol = MESSAGES

    @property
    def display_name(self) -> str:
        """The server's name in errors."""
        if self.base_url is None:
            return self.protocol.host
        parts = urlsplit(self.base_url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)

    @property
    def is_provider(self) -> bool:
        """Whether the server is the provider's own."""
        return self.base_url is None or urlsplit(self.base_url).hostname == self.protocol.host

    @property
    def has_key(self) -> bool:
        return self.auth_token is not None or self.api_key not in (None, PLACEHOLDER)


def protocol_of(name: str) -> Protocol | None:
    """Return the protocol of a model on a server, or None for another model."""
    scheme, _, rest = name.partition(":")
    if not rest:
        return None
    if scheme == "openai":
        return CHAT
    return MESSAGES if scheme in ("http", "https", "anthropic") else None


def address_of(name: str) -> str | None:
    """Return the address in the name of a model on a server; None for a provider's model."""
    address = name.removeprefix(CHAT.prefix)
    return address if address.startswith(("http:", "https:")) else None


def refuse_address(name: str) -> Refusal:
    """Return the refusal of a malformed address."""
    meant = suggest_address(name.removeprefix(CHAT.prefix))
    example = meant or (protocol_of(name) or MESSAGES).example
    return make_task_failure(
        "configuration_error",
        "unknown-model",
        f"`{name}` is not an address",
        hint=f"write it like {example}",
        model=name,
    )


_HOST = re.compile(
    r"localhost(:\d+)?(?=[/#]|\Z)|[\w-]+(\.[\w-]+)+:\d{2,5}(?=[/#]|\Z)|[\w-]+:\d{2,5}/"
)
"""The host at the beginning of an address, as no provider names a model."""


def suggest_address(text: str) -> str | None:
    """Return the name of a model at the address that a text without `http://` is; None if it is no
    address."""
    scheme, found, rest = text.partition("://")
    if found and scheme.lower() in ("http", "https"):
        return None
    address = rest if found else text
    if not found and _HOST.match(text) is None:
        return None
    return f"{CHAT.prefix}http://{address}" + ("" if "#" in address else "#NAME")


def read_target(name: str, *, with_key: bool = True, address: str | None = None) -> Target:
    """Return the target of a model name, at `address` if that has credentials. Without `with_key`,
    the environment's key is not used. Raises a Refusal if a required key is missing."""
    protocol = protocol_of(name) or MESSAGES
    if suggest_address(name.removeprefix(CHAT.prefix)) or " " in name.partition("#")[0]:
        raise refuse_address(name)  # it would be taken for a provider's model, which gets the key
    key = (with_key and os.environ.get(protocol.key)) or None
    token = None if key or not with_key else os.environ.get(protocol.token) or None
    opens = key or (None if token else PLACEHOLDER)
    given = address_of(address or name)
    if given is None:
        base = os.environ.get(protocol.base_url) or None
        if base is None and key is None and token is None:
            raise _refuse_without_key(name, protocol)
        base, user = _without_user(base)
        if base is not None and protocol.version and not urlsplit(base).path.strip("/"):
            base = urlunsplit(urlsplit(base)._replace(path=protocol.version))
        return Target(name, name.partition(":")[2], base, user, opens, token, protocol=protocol)
    try:
        parts = urlsplit(given)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host:
        raise refuse_address(name)
    path = _path(parts.path, protocol)
    base, user = _without_user(urlunsplit(parts._replace(path=path, fragment="")))
    return Target(name, parts.fragment or "default", base, user, opens, token, with_key, protocol)


def _path(given: str, protocol: Protocol) -> str:
    """Return the path of an address without that of requests."""
    path = given.rstrip("/")
    if protocol.version:
        return path.removesuffix(protocol.path) or protocol.version
    return path.removesuffix("/messages").removesuffix("/v1")


def _refuse_without_key(name: str, protocol: Protocol) -> Refusal:
    own = protocol.example.partition("#")[0]
    return make_task_failure(
        "configuration_error",
        "missing-key",
        f"{name} needs a key, and {protocol.key} is not set",
        hint=f"export {protocol.key}=…; a server of your own is --model {own}#NAME, and "
        "--model local needs no server",
        model=name,
    )


def _without_user(address: str | None) -> tuple[str | None, str]:
    """Split an address into the address without credentials and the credentials. HTTP clients
    reject credentials beside an authorization header."""
    if address is None:
        return None, ""
    parts = urlsplit(address)
    user, _, host = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=host)), unquote(user)
