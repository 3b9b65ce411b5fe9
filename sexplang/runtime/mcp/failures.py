"""The refusals of calls of one server: what failed, and what to do."""

from typing import Any

from mcp import MCPError
from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

from sexplang.runtime.journal.redaction import shorten
from sexplang.runtime.mcp.messages import (
    CUT_OFF,
    MALFORMED,
    MOST_BYTES,
    NO_SESSION,
    NOT_SENT,
    TOO_LARGE,
    WORDS,
)
from sexplang.runtime.mcp.results import LONGEST, make_server_failure, problem
from sexplang.runtime.mcp.specs import Server
from sexplang.runtime.refusal import Refusal, make_task_failure, refuse
from sexplang.terms.classes.node import define, field
from sexplang.terms.texts.nearest import did_you_mean

_STATUSES = range(400, 600)
_CHECK_ADDRESS = "look whether it runs, and whether its address is right"

_EVENT_TOO_LARGE = f"exceeded the {MOST_BYTES} byte limit"
_EVENTS_ENDED = "SSE stream ended"
"""Beginnings and parts of the library's messages for an answer in events."""


@define(eq=False)
class Failures:
    """What is known of the failures of a server, and the refusals that say it."""

    server: Server
    said: bytearray = field(factory=bytearray)
    """The end of its error output, if it has a process."""
    end_reason: str = ""
    """What its process did when its connection was over."""

    def find_cause(self, error: MCPError, is_over: bool) -> int:
        """Return the code of a connection that was lost, or 0 for another error. `is_over` says
        whether nothing more is read from it."""
        if self.server.url is None:
            return CUT_OFF if is_over else 0
        if error.code in (NOT_SENT, NO_SESSION, CUT_OFF):
            return error.code
        is_cut = is_over or error.message.startswith(_EVENTS_ENDED)
        return CUT_OFF if error.code == CONNECTION_CLOSED and is_cut else 0

    def refuse_call(self, error: MCPError, cause: int, name: str) -> Refusal:
        """Return the refusal of a call. `cause` is the code of a connection that was lost, or 0."""
        message, code = shorten(error.message, LONGEST), error.code
        if code == REQUEST_TIMEOUT:
            return self.refuse_late(name)
        if code == TOO_LARGE or _EVENT_TOO_LARGE in error.message:
            return make_task_failure(
                "tool_execution_error",
                "answer-too-large",
                f"the tool `{name}` failed: {WORDS[TOO_LARGE]}",
                hint="ask for less at once; a server may send a text twice, once as structured",
                tool=name,
            )
        if cause == CUT_OFF:
            why = self.end_reason or f"went away ({message})"
            return self.make(
                f"{why} while `{name}` was at work",
                hint="look whether it was done before you call it again; the next call begins "
                "with a new connection",
            )
        if cause:
            return self.make(f"is not there for `{name}`: {message}")
        if code == MALFORMED:
            return self.make(f"answered `{name}` with no result: {message}")
        if code in _STATUSES:
            return self._refuse_status(code, message, "tool_execution_error")
        return make_task_failure(
            "tool_execution_error",
            "tool-failed",
            f"the tool `{name}` failed: {message}",
            hint="change the input as the message says; the server wrote it",
            tool=name,
        )

    def _refuse_status(self, status: int, message: str, reason: str) -> Refusal:
        server = self.server
        if status not in (401, 403):
            return self.make(f"answered {message}", reason)
        hint = (
            "check the credential in its `headers`: the server does not accept it"
            if server.headers
            else 'give it a credential: headers = {Authorization = "Bearer secret:NAME"}'
        )
        words = f"the MCP server `{server.name}` answered {status}: it does not let this run in"
        return make_task_failure(reason, "bad-key", words, hint=hint, server=server.name)

    def refuse_late(self, name: str, why: str = "") -> Refusal:
        """Return the refusal of a call that took too long. `why` may say what its server did."""
        after = f": the MCP server `{self.server.name}` {why}" if why else ""
        return make_task_failure(
            "tool_execution_error",
            "mcp-timeout",
            f"the tool `{name}` did not answer within {self.server.seconds:g} seconds{after}",
            hint="ask for less at once, or give the server a longer `timeout`",
            tool=name,
        )

    def make(
        self, why: str, reason: str = "tool_execution_error", hint: str | None = None
    ) -> Refusal:
        """Return the refusal that says what the server did."""
        default = None if self.server.url is None else _CHECK_ADDRESS
        return make_server_failure(self.server.name, why, bytes(self.said), reason, hint or default)

    def refuse_start(self, error: BaseException, seconds: float) -> Refusal:
        """Return the refusal of a server that was not there after so many seconds, or failed."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, Refusal):
            return error
        if isinstance(error, TimeoutError):
            return self.make(f"is not there after {seconds:g} seconds", "connection_error")
        if isinstance(error, MCPError) and error.code in _STATUSES:
            return self._refuse_status(error.code, problem(error), "connection_error")
        is_over = isinstance(error, MCPError) and error.code == CONNECTION_CLOSED
        why = f"it {self.end_reason}" if is_over and self.end_reason else problem(error)
        return self.make(f"cannot be used: {why}", "connection_error")


def refuse_unknown_tool(name: str, known: Any, server: str) -> Refusal:
    """There is no such tool."""
    listed = sorted(known)
    guess = did_you_mean(name.partition(":")[2], listed, shape=f"`{server}:{{}}`")
    return refuse(
        "unknown-tool",
        f"there is no tool `{name}`",
        hint=f"{guess} the server has {', '.join(listed) or 'none'}".lstrip(),
        tool=name,
    )
