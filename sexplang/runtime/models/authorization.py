"""The authorization of models that no person has named.

Law: a program, a template, data or a project's configuration reaches through a model only what it
may reach without one. Hosts and files of models need the usual permissions.
"""

import os
import re
import shlex

from sexplang.guards.secrets import credentials_of, learn
from sexplang.runtime.files.file_reader import resolve_path
from sexplang.runtime.models import GrantScope
from sexplang.runtime.models.protocols import Protocol, address_of, protocol_of, refuse_address
from sexplang.runtime.permissions import Permissions, host_of
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.classes.node import evolve
from sexplang.terms.model.roles import Models, normalize_name
from sexplang.terms.texts.address import split_credentials

_HOST = re.compile(
    r"https?://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]+)?(/[^\\]*)?(#.*)?", re.I | re.S
)
"""Addresses that all libraries parse in the same way: nothing precedes the host."""


def authorize(name: str, held: GrantScope) -> str:
    """Return the name with the real path of a file in it. Raises a Refusal `net-denied`,
    `path-denied`, or one for a missing file."""
    scheme, _, rest = name.partition(":")
    address, protocol = address_of(name), protocol_of(name)
    if address is not None:
        _check_host(name, address, held.permissions)
    elif protocol is not None:
        if not _is_provider_granted(protocol, held.models):
            _check_host(name, None, held.permissions, f"https://{protocol.host}")
    elif scheme in ("scripted", "replay"):
        return f"{scheme}:{resolve_path(rest, held.permissions)}"
    elif scheme == "local" and rest:
        # The engine trusts the file, so a place in the program's folder does not suffice.
        given = evolve(held.permissions, folder=None)
        path = os.path.normpath(os.path.join(held.permissions.base, rest))
        places = [place for each in given.read for place in (each, os.path.realpath(each))]
        if not any(f"{path}/".startswith(f"{place.rstrip('/')}/") for place in places):
            raise _refuse_weights(name, path)
        return f"{scheme}:{resolve_path(path, given)}"
    return name


def _refuse_weights(name: str, path: str) -> Refusal:
    """Return the refusal of a weights file that is not granted by name."""
    return refuse(
        "path-denied",
        f"the model `{name}` is in a file that may not be read: what a program names is read as "
        "weights only where --allow-read permits it",
        hint=f"allow it with --allow-read {shlex.quote(path)}, or name the model yourself: "
        f"--model {shlex.quote(name)}",
        path=path,
    )


def _is_provider_granted(protocol: Protocol, models: Models) -> bool:
    """Whether the models of a protocol's provider may be asked. A key alone is no grant if the
    default is another provider's model. An address in the environment is a grant."""
    if models.default is None or os.environ.get(protocol.base_url):
        return True
    said = [normalize_name(each) for each in (models.default, *models.models())]
    return any(protocol_of(each) is protocol and address_of(each) is None for each in said)


def _check_host(
    name: str, address: str | None, permissions: Permissions, provider: str = ""
) -> None:
    """Check that the host of an address, or of a provider, is permitted."""
    shown, user, found = split_credentials(name)
    if user or found:
        learn(credentials_of(name))  # the recording of this call contains it
        raise refuse(
            "net-denied",
            f"the address {shown} is named with a credential, which only a person gives",
            hint=f"name the model by a word, and give that the address: --model NAME={shown}",
        )
    if address is not None and not _HOST.fullmatch(address):
        raise refuse_address(name)
    hosts = host_of(address or provider)
    if not set(hosts) & set(permissions.net):
        raise refuse(
            "net-denied",
            f"{hosts[0]} may not be reached, where the model `{name}` is that no person has named",
            hint=f"allow it with --allow-net {shlex.quote(hosts[0])}, or name the model yourself: "
            f"--model {shlex.quote(name)}",
            host=hosts[0],
        )
