"""An MCP server as others write them, with the protocol's own library: on standard input and
output or, with the number of a port, over HTTP. It answers in events at /mcp, in JSON at /json.

    python mcp_server.py [PORT]
"""

import base64
import json
import os
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from pictures import PAPER, PICTURE  # beside this script

server = MCPServer("a test", log_level="CRITICAL")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two whole numbers."""
    return a + b


@server.tool()
def describe(path: str) -> dict[str, object]:
    """Says what it is told and where it runs."""
    return {"path": path, "folder": os.getcwd(), "environment": sorted(os.environ)}


@server.tool(structured_output=False)
def greet(name: str) -> str:
    """Says hello."""
    return f"Hello, {name}."


@server.tool()
def show() -> CallToolResult:
    """Shows a picture, with words and without a structure."""
    picture = ImageContent(data=PICTURE, mime_type="image/png")
    return CallToolResult(content=[TextContent(text="a picture"), picture])


@server.tool()
def hand_over() -> CallToolResult:
    """Gives a document, and what models cannot see."""
    paper = BlobResourceContents(uri="file:///a.pdf", blob=PAPER, mime_type="application/pdf")
    words = TextResourceContents(uri="file:///a.txt", text="Tea.", mime_type="text/plain")
    packed = BlobResourceContents(uri="file:///c.zip", blob="AAAA", mime_type="application/zip")
    return CallToolResult(
        content=[
            EmbeddedResource(resource=paper),
            EmbeddedResource(resource=words),
            AudioContent(data="AAAA", mime_type="audio/wav"),
            ResourceLink(name="a page", uri="file:///b.html"),
            EmbeddedResource(resource=packed),
        ]
    )


@server.tool()
def refuse(why: str) -> CallToolResult:
    """Fails, and says why."""
    return CallToolResult(content=[TextContent(text=why)], is_error=True)


@server.tool()
async def wait(seconds: float, mark: str) -> str:
    """Waits; says in a file that it began, that it was cancelled."""
    Path(mark).write_text("began")
    try:
        await anyio.sleep(seconds)
    except BaseException:
        Path(mark).write_text("cancelled")
        raise
    return "done"


@server.tool(structured_output=False)
def flood(size: int) -> str:
    """Says a lot."""
    return "x" * size


@server.tool()
def die() -> str:
    """Ends the server in the midst of a call."""
    print("no more", file=sys.stderr, flush=True)
    os._exit(3)


@server.tool()
async def report(steps: list[list[float | str | None]], mark: str, context: Context) -> str:
    """Reports each step: how much is done, how much there is, and words. With a mark, it waits
    until a file of that name has a letter for each."""
    for at, (done, total, words) in enumerate(steps, 1):
        await context.report_progress(done, total, words)
        while mark and len(Path(mark).read_text()) < at:
            await anyio.sleep(0.01)
    return "reported"


@server.tool()
def hear(context: Context) -> dict[str, str]:
    """Says which headers and metadata it was sent, and its environment."""
    request, meta = context.request_context.request, context.request_context.meta
    headers = dict(request.headers) if request is not None else {}
    return {**os.environ, **headers, "_meta": json.dumps(meta, default=str)}


@server.resource("file:///tea.txt", mime_type="text/plain")
def tea() -> str:
    """How tea is made."""
    return "Boil water."


@server.resource("file:///dot.png", mime_type="image/png")
def dot() -> bytes:
    """A dot."""
    return base64.b64decode(PICTURE)


@server.resource("cups://{number}")
def cup(number: int) -> str:
    """One of the cups."""
    return f"cup {number}"


@server.prompt()
def brew(leaves: str) -> str:
    """Asks for tea."""
    return f"Brew {leaves}."


def serve(port: int) -> None:
    """Serve both ways of answering on one port."""
    import uvicorn
    from starlette.applications import Starlette

    json = server.streamable_http_app(streamable_http_path="/json", json_response=True)
    apps = [server.streamable_http_app(), json]

    @asynccontextmanager
    async def lifespan(_):
        async with AsyncExitStack() as stack:
            for each in apps:
                await stack.enter_async_context(each.router.lifespan_context(each))
            yield

    whole = Starlette(routes=[route for each in apps for route in each.routes], lifespan=lifespan)
    uvicorn.run(whole, port=port, log_level="critical")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        serve(int(sys.argv[1]))
    else:
        server.run("stdio")
