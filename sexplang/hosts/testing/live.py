"""Live models for a test: replies to requests that its script does not answer."""

from collections.abc import Callable
from typing import Any

from sexplang.hosts.settings.run_arguments import parse_models
from sexplang.runtime.driver.events import model_name_of
from sexplang.runtime.refusal import Refusal
from sexplang.terms.classes.node import evolve
from sexplang.terms.effect import Request
from sexplang.terms.source import Source
from sexplang.terms.values.boundary import value_of
from sexplang.terms.values.value import Value

Live = Callable[[Request], Value | None]
"""A function of a model's request to the reply or the error; None if no model has its name."""


def live(words: tuple[str, ...]) -> Live | None:
    """Return the function for the values of `--model`; None if there are none.

    No configuration and no key in the environment names a model for a test.
    """
    if not words:
        return None
    from sexplang.runtime import Settings, performers

    models = parse_models(words)
    perform = performers(Settings(run_id="test", models=models))["model"]

    def answer(request: Request) -> Value | None:
        said = models.answer(model_name_of(request))
        if said.model is None or not said.is_own:
            return None
        try:
            return _perform(perform, request)
        except Refusal as refusal:
            return refusal.error

    return answer


def _perform(perform: Callable[[Request], Any], request: Request) -> Value:
    reply = perform(request)
    if not hasattr(reply, "__await__"):
        return value_of(reply)
    reply.close()
    # A model of a server needs a run that waits for it and closes its connections.
    from sexplang.machine import Failed, Suspended, start
    from sexplang.pipeline.pipeline import build
    from sexplang.runtime import drive

    asking = build(Source("<model>", "(model {})"), lambda path, importer: ())
    done = drive(start(asking, {}), {"model": lambda own: perform(evolve(request, id=own.id))})
    assert not isinstance(done, Suspended)
    return done.error if isinstance(done, Failed) else done.value
