"""What a run asks of a worker, and what the worker grants."""

import os
from shlex import quote

from sexplang.hosts.settings.run_arguments import Settings
from sexplang.runtime.models import check_key, choose_model
from sexplang.runtime.permissions import Permissions
from sexplang.runtime.refusal import Refusal
from sexplang.terms.classes.node import evolve
from sexplang.terms.program import Program


def find_lack(
    asked: Settings, granted: Settings, program: Program, left: frozenset[str]
) -> str | None:
    """Return why a worker cannot go on with a run: the first thing that the run asks for and the
    worker does not grant; None if there is none. `left` are the queues of what it leaves to
    others."""
    return _find_denied(asked, granted) or _find_missing_model(granted, program, left)


def take_grants(asked: Settings, granted: Settings, run_id: str) -> Settings:
    """Return the settings of a run: the permissions that it asked for, and the models, servers and
    Python files of the worker."""
    return evolve(
        granted,
        inputs=asked.inputs,
        budget=asked.budget,
        limit=asked.limit,
        allow_read=asked.allow_read,
        allow_write=asked.allow_write,
        allow_run=asked.allow_run,
        allow_net=asked.allow_net,
        pause=asked.pause,
        parallel=asked.parallel or granted.parallel,
        single_flight=asked.single_flight or granted.single_flight,
        run_id=run_id,
        file="-",
        quiet=True,
    )


def _find_denied(asked: Settings, granted: Settings) -> str | None:
    given = Permissions(
        read=granted.allow_read,
        write=granted.allow_write,
        run=granted.allow_run,
        net=granted.allow_net,
    )
    for option, wanted, has in (
        ("read", asked.allow_read, given.read),
        ("write", asked.allow_write, given.write),
    ):
        for path in wanted:
            if not any(_is_below(path, each) for each in has):
                return _describe(option, path)
    for name in asked.allow_run:
        if name not in given.run:
            return _describe("run", name)
    for host in asked.allow_net:
        if host.lower() not in given.net and host.lower().rpartition(":")[0] not in given.net:
            return _describe("net", host)
    return None


def _is_below(path: str, place: str) -> bool:
    whole, top = os.path.realpath(path), os.path.realpath(place)
    return whole == top or whole.startswith(top.rstrip("/") + "/")


def _describe(option: str, value: str) -> str:
    return f"it asks for --allow-{option} {quote(value)}, which no worker has granted so far"


def _find_missing_model(granted: Settings, program: Program, left: frozenset[str]) -> str | None:
    for task in program.tasks:
        name = task.template.model_name
        try:
            answer = choose_model(granted.models, name)
        except Refusal:
            named = "" if name is None else f"{name}="
            return f"no worker so far has a model for its task {task.name}: --model {named}MODEL"
        if answer.fallbacks or f"model:{answer.model}" in left:
            continue  # another model answers, or another worker
        try:
            check_key(answer, granted.models)
        except Refusal as refusal:
            fields = refusal.error.fields
            return f"for its task {task.name}, {fields['message']}: {fields['hint']}"
    return None
