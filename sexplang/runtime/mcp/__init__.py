"""MCP servers as tools of a run, called `server:name`.

The library is loaded, and a server started, when the first of its tools is needed: for a template
that names it, before the program begins, or for a call.
"""

from sexplang.runtime.mcp.servers import Servers
from sexplang.runtime.mcp.specs import Server, servers_of

__all__ = ["Server", "Servers", "servers_of"]
