"""A model that no person has named → whether it may be asked.

Law: a program, a template, data and the configuration of a project reach with a model what they may
reach without one. The host of an address is permitted as it is for any other, and a file too.
"""

import os
import re
import shlex

from sexplang.guards.secrets import credentials_of, learn
from sexplang.runtime.files.file_reader import resolve_path
from sexplang.runtime.models import GrantScope
from sexplang.runtime.models.adapters.messages import no_address
from sexplang.runtime.permissions import Permissions, host_of
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.classes.node import evolve
from sexplang.terms.model.roles import Models, normalize_name
from sexplang.terms.texts.address import split_credentials

_HOST = re.compile(
    r"https?://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]+)?(/[^\\]*)?(#.*)?", re.I | re.S
)
"""An address that no two libraries take for different ones: nothing stands before its host."""


def authorize(name: str, held: GrantScope) -> str:
    """The name, with the place of a file that it stands for. Raises a Refusal `net-denied`,
    `path-denied` or of a file that is not there."""
    scheme, _, rest = name.partition(":")
    if scheme in ("http", "https"):
        _check_host(name, name, held.permissions)
    elif scheme == "anthropic" and not _is_anthropic_granted(held.models):
        _check_host(name, "https://api.anthropic.com", held.permissions)
    elif scheme in ("scripted", "replay"):
        return f"{scheme}:{resolve_path(rest, held.permissions)}"
    elif scheme == "local" and rest:
        # Its engine is told to read it, and trusts it: lying in the program's folder is not enough.
        given = evolve(held.permissions, folder=None)
        path = os.path.normpath(os.path.join(held.permissions.base, rest))
        places = [place for each in given.read for place in (each, os.path.realpath(each))]
        if not any(f"{path}/".startswith(f"{place.rstrip('/')}/") for place in places):
            raise _weights(name, path)
        return f"{scheme}:{resolve_path(path, given)}"
    return name


def _weights(name: str, path: str) -> Refusal:
    """A file of weights that nobody has permitted by its name."""
    return refuse(
        "path-denied",
        f"the model `{name}` is in a file that may not be read: what a program names is read as "
        "weights only where --allow-read permits it",
        hint=f"allow it with --allow-read {shlex.quote(path)}, or name the model yourself: "
        f"--model {shlex.quote(name)}",
        path=path,
    )


def _is_anthropic_granted(models: Models) -> bool:
    """Whether Anthropic's models may be asked: a key alone permits nothing where the default is
    another's. The address of the environment is a person's word."""
    if models.default is None or os.environ.get("ANTHROPIC_BASE_URL"):
        return True
    said = (models.default, *models.models())
    return any(normalize_name(each).startswith("anthropic:") for each in said)


def _check_host(name: str, address: str, permissions: Permissions) -> None:
    shown, user, found = split_credentials(name)
    if user or found:
        learn(credentials_of(name))  # it is in what is recorded of this call
        raise refuse(
            "net-denied",
            f"the address {shown} is named with a credential, which only a person gives",
            hint=f"name the model by a word, and give that the address: --model NAME={shown}",
        )
    if address is name and not _HOST.fullmatch(name):
        raise no_address(name)
    hosts = host_of(address)
    if not set(hosts) & set(permissions.net):
        raise refuse(
            "net-denied",
            f"{hosts[0]} may not be reached, where the model `{name}` is that no person has named",
            hint=f"allow it with --allow-net {shlex.quote(hosts[0])}, or name the model yourself: "
            f"--model {shlex.quote(name)}",
            host=hosts[0],
        )
