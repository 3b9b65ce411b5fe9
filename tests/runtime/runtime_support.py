"""What the tests of this room share: small programs in core, and shortcuts to drive them."""

from sexplang.machine import start
from sexplang.runtime import Endpoint, Retries, Settings, drive, performers
from sexplang.terms.core import Const, Finally, Par, PerformOp, Repeat, Seq
from sexplang.terms.effect import Request
from sexplang.terms.model.roles import read_models
from sexplang.terms.program import Program, Unit
from sexplang.terms.source import Source, Span
from sexplang.terms.task import Context, Conversation

HERE = Span(Source("test", ""), 0, 0)
QUICK = Retries(attempts=3, first=0.01, most=0.05, total=20)
SHORT = Endpoint(silence=1, total=2)

ASK = {"messages": ({"role": "user", "content": "Hello?"},), "max_tokens": 50}


def const(value):
    return Const(value, span=HERE)


def perform(operation, *arguments):
    return PerformOp(operation, tuple(map(const, arguments)), span=HERE)


def seq(*items):
    return Seq(items, span=HERE)


def par(*branches):
    return Par(branches, span=HERE)


def repeat(count, body):
    return Repeat(const(count), body, span=HERE)


def finally_(body, cleanup):
    return Finally(body, cleanup, span=HERE)


def begun(core):
    """The outcome of a program of one form, before anything is performed."""
    unit = Unit("test", (core,), (), {}, 1, main=True)
    return start(Program((unit,), (), (), {}), {})


def request(operation, *arguments, id="0.0", task=None):
    """A request, for performers that are called on their own."""
    around = (Conversation(task, "signature", 0),) if task else ()
    return Request(id, operation, arguments, Context(around))


def table(model=None, **settings):
    if model is not None:
        settings["models"] = read_models(model)
    return performers(
        Settings(**({"run_id": "run", "retries": QUICK, "endpoint": SHORT} | settings))
    )


def asked(model, payload=ASK, **settings):
    """What one model call gives: a Done or a Failed."""
    return drive(begun(perform("model", payload)), table(model=model, **settings))
