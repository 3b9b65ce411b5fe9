"""The models that have a name here: who is asked, and whether they are ready."""

import os
from typing import Any

from sexplang.hosts.projects.folder_settings import FolderSettings, name_path
from sexplang.hosts.settings.configuration import read_section
from sexplang.runtime.models import (
    Endpoint,
    GrantScope,
    choose_model,
    is_granted,
    open_model,
    refuse_unknown_model,
)
from sexplang.runtime.models.protocols import CHAT, MESSAGES, protocol_of, read_target
from sexplang.runtime.models.server_probe import ask_server
from sexplang.runtime.permissions import Permissions
from sexplang.runtime.refusal import Refusal
from sexplang.terms.classes.node import evolve, frozen
from sexplang.terms.model.roles import ALL, Answer, Models, is_id, normalize_name
from sexplang.terms.texts.address import split_credentials

DEFAULT, LOCAL = "default", "local"

_OK, _UNAUTHORIZED = 200, (401, 403)
"""Statuses of HTTP."""

_PROBE = '(with-timeout 60 (model {max_tokens: 1 messages: [{role: "user" content: "Hi"}]}))'


@frozen
class ModelState:
    """A model with a name. `answers` is None where it was not asked."""

    name: str
    model: str | None
    source: str
    """Who says that this model has the name."""
    is_ready: bool
    answers: bool | None = None
    words: str = ""
    """What is missing, or what it said."""
    hint: str = ""

    @property
    def is_usable(self) -> bool:
        return self.is_ready and self.answers is not False


def list_models(here: FolderSettings, folder: str, *, asks: bool) -> list[ModelState]:
    """Return the default model, each name of the configurations, and the local model. With `asks`
    those that are ready are asked whether they answer."""
    permissions = Permissions(folder=folder)
    models = here.models
    found = _list_default(here, permissions)
    for name in dict.fromkeys((*models.own, *models.project)):
        if name != ALL:
            source = _find_source(name, here)
            found += _list_answers(name, models.answer(name), source, models, permissions)
    if all(each.model != LOCAL for each in found):
        found.append(_judge(LOCAL, Answer(LOCAL, True), "ships apart", models, permissions))
    if not asks:
        return found
    asked: dict[str | None, ModelState] = {}
    for each in found:
        if each.is_ready and each.model not in asked:
            asked[each.model] = _ask(each, models)
    said = [asked.get(each.model, each) if each.is_ready else each for each in found]
    return [
        evolve(each, answers=told.answers, words=told.words)
        for each, told in zip(found, said, strict=True)
    ]


def _list_default(here: FolderSettings, permissions: Permissions) -> list[ModelState]:
    models = here.models
    if models.default is not None:
        source = _find_source(DEFAULT, here)
        return _list_answers(DEFAULT, choose_model(models), source, models, permissions)
    try:
        answer = choose_model(models)
    except Refusal:
        words = "there is no model to ask"
        return [ModelState(DEFAULT, None, "", False, words=words)]
    source = "a key in the environment" if answer.model != LOCAL else "it is installed"
    return _list_answers(DEFAULT, answer, source, models, permissions)


def _list_answers(
    name: str, answer: Answer, source: str, models: Models, permissions: Permissions
) -> list[ModelState]:
    several = (answer, *answer.fallbacks)
    return [_judge(name, each, source, models, permissions) for each in several]


def _find_source(name: str, here: FolderSettings) -> str:
    """Return the configuration that a name has its model from."""
    names = (name, ALL) if name == DEFAULT else (name,)
    usable = [each for each in here.configurations if not each.problem]
    for each in usable if name == DEFAULT else sorted(usable, key=lambda one: not one.is_own):
        said = map(normalize_name, read_section("models", each.path))
        if not set(names).isdisjoint(said):
            return name_path(each.path)
    return ""


def _judge(
    name: str, answer: Answer, source: str, models: Models, permissions: Permissions
) -> ModelState:
    """Return whether a model could be asked, as a run finds out."""
    model = answer.model or ""
    try:
        if not is_id(model):
            raise refuse_unknown_model(model, [*models.own, *models.project])
        held = None if is_granted(answer, models) else GrantScope(models, permissions)
        address = models.with_credentials(model) if held is None else model
        open_model(model, Endpoint(), held, None, address)
    except Refusal as refusal:
        fields = refusal.error.fields
        return ModelState(
            name, model, source, False, words=str(fields["message"]), hint=str(fields["hint"] or "")
        )
    return ModelState(name, model, source, True)


def _ask(state: ModelState, models: Models) -> ModelState:
    """Return the state of a model that is ready, when it was asked."""
    model = state.model or ""
    if model.partition(":")[0] == LOCAL:
        return _ask_local(state, model)
    if protocol_of(model) is None:
        return state  # a script or a recording: it was read
    at = read_target(model, address=models.with_credentials(model))
    said = ask_server(at)
    if said.problem:
        return evolve(state, answers=False, words=f"{at.display_name}: {said.problem}")
    words = f"{at.display_name} answers"
    if said.status in _UNAUTHORIZED:
        words += "; the key was not tried"
    elif said.status != _OK:
        words += f" with the status {said.status}"
    if said.names and at.model not in said.names:
        some = ", ".join(said.names[:5])
        words += f", and lists no `{at.model}`; it lists {some}"
    return evolve(state, answers=True, words=words)


def _ask_local(state: ModelState, model: str) -> ModelState:
    """Have the model in this process write one token."""
    from time import perf_counter

    from sexplang.api import Failed, run

    since = perf_counter()
    try:
        run(_PROBE, model=model)
    except Failed as failed:
        return evolve(state, answers=False, words=str(failed.error.fields["message"]))
    return evolve(state, answers=True, words=f"answers after {perf_counter() - since:.1f} s")


def list_keys() -> list[dict[str, Any]]:
    """Return the variables of the environment that models are asked with, without their values but
    for addresses."""
    rows: list[dict[str, Any]] = []
    for protocol in (MESSAGES, CHAT):
        for name in filter(None, (protocol.key, protocol.token)):
            rows.append({"name": name, "is_set": bool(os.environ.get(name))})
        address = os.environ.get(protocol.base_url)
        row: dict[str, Any] = {"name": protocol.base_url, "is_set": bool(address)}
        rows.append(row | {"address": split_credentials(address)[0]} if address else row)
    return rows
