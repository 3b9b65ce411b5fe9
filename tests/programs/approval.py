"""Approvals over the web: between a question and its answer a run is a file, and no process."""

import json
from pathlib import Path

import sexplang

PROGRAM = sexplang.build(Path(__file__).with_suffix(".sexp"))


def begin(order, path, model):
    """Run until a person is asked; return the question and its choices, or the end."""
    return _go_on(sexplang.start(PROGRAM, inputs={"order": order}), path, model)


def answer(reply, path, model):
    """Answer the question of a run in a file, and run until the next one, or to the end."""
    run = sexplang.thaw(PROGRAM, json.loads(path.read_text()))
    return _go_on(run.resume(run.requests[0].id, reply), path, model)


def _go_on(run, path, model):
    answers = {"model": model, "send-letter": print}
    while isinstance(run, sexplang.Suspended):
        request = run.requests[0]
        if request.operation == "ask-user":
            path.write_text(json.dumps(sexplang.freeze(run)))
            return request.arguments
        run = run.resume(request.id, answers[request.operation](*request.arguments))
    return sexplang.result(run)
