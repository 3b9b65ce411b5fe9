"""MCP servers as tools of a run: `server:name` → what the server answers.

The library is loaded, and a server started or called up, when one of its tools is first wanted: by
a template that names it, before the program begins, or by a call.
"""

from sexplang.runtime.mcp.servers import Servers
from sexplang.runtime.mcp.specs import Server, servers_of

__all__ = ["Server", "Servers", "servers_of"]
