"""An MCP server as others write them, with the protocol's own library: on standard input and
output or, with the number of a port, over HTTP.

    python mcp_server.py [PORT]
"""

import os
import sys
from pathlib import Path

import anyio
from mcp.server import MCPServer
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

PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9"
    "awAAAABJRU5ErkJggg=="
)
PAPER = "JVBERi0xLjQK"

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


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
