"""A program behind a web server, which sends its events as they happen, and its value."""

import asyncio
import json
from pathlib import Path

from aiohttp import web

import sexplang

PROGRAM = sexplang.build(Path(__file__).with_name("reduce.sexp"))
MODEL = web.AppKey("model")


async def stream(request):
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    events = asyncio.Queue()
    run = asyncio.create_task(
        sexplang.arun(PROGRAM, model=request.app[MODEL], on_event=events.put_nowait)
    )
    run.add_done_callback(lambda _: events.put_nowait(None))
    try:
        while event := await events.get():
            await send(response, type(event).__name__, [event.operation, event.task])
        failed = run.exception()
        name, said = ("Failed", str(failed)) if failed else ("Done", run.result())
        await send(response, name, said)
    finally:
        run.cancel()
    return response


async def send(response, name, data):
    await response.write(f"event: {name}\ndata: {json.dumps(data)}\n\n".encode())


def application(model):
    app = web.Application()
    app[MODEL] = model
    app.router.add_get("/digest", stream)
    return app
