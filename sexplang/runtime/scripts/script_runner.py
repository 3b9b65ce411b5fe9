"""The run of a script to `{exit_code stdout stderr truncated}` or a refusal."""

import codecs
import os
from typing import Any

import anyio

from sexplang.guards.secrets import longest, redact_bytes
from sexplang.runtime.refusal import Refusal, make_task_failure, refuse
from sexplang.runtime.scripts.process import Command, Process, supervise
from sexplang.terms.classes.node import define, field

DRAIN = 1.0
"""Seconds to read the pipes after the end of a script."""

TOLD = 10_000
"""Characters of the end of each output in an error."""


@define(eq=False)
class OutputBuffer:
    """The first `most` bytes of an output."""

    most: int
    data: bytearray = field(factory=bytearray)
    whole: anyio.Event = field(factory=anyio.Event)

    size: int = 0

    def take(self, piece: bytes) -> None:
        self.size += len(piece)
        self.data += piece[: self.most + longest() - len(self.data)]

    @property
    def cut(self) -> bool:
        """Whether bytes were dropped."""
        return self.size > self.most

    @property
    def text(self) -> str:
        """The text as UTF-8. Invalid bytes become U+FFFD; an incomplete character at the cut is
        dropped. Credentials are redacted before the cut."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        return decoder.decode(redact_bytes(bytes(self.data))[: self.most], not self.cut)


async def run_script(command: Command, given: str, most: int) -> dict[str, Any]:
    """Run a script to its end. Raises a Refusal if it does not start or takes too long."""
    out, err = OutputBuffer(most), OutputBuffer(most)
    name = command.words[0]
    try:
        async with supervise(command) as process, anyio.create_task_group() as group:
            group.start_soon(_feed, process, given)
            group.start_soon(_collect, process, out, False)
            group.start_soon(_collect, process, err, True)
            word, _, number = (await process.wait_for_end()).partition(" ")
            with anyio.move_on_after(DRAIN):
                await out.whole.wait()
                await err.whole.wait()
            group.cancel_scope.cancel()
    except OSError as error:
        raise _not_started(name, error.errno or 0) from None
    if word == "exit":
        made = {"exit_code": int(number), "stdout": out.text, "stderr": err.text}
        return {**made, "truncated": out.cut or err.cut}
    if word == "timeout":
        raise _too_long(name, command.seconds, out, err)
    if word == "error":
        raise _not_started(name, int(number))
    raise _refuse_lost(name, process.is_gone)


async def _feed(process: Process, given: str) -> None:
    try:
        await process.send(given.encode())
    except OSError:
        return  # the script has closed its input
    finally:
        process.close_input()


async def _collect(process: Process, kept: OutputBuffer, errors: bool) -> None:
    while piece := await process.receive(errors=errors):
        kept.take(piece)
    kept.whole.set()


def _too_long(name: str, seconds: float, out: OutputBuffer, err: OutputBuffer) -> Refusal:
    return make_task_failure(
        "execution_timeout",
        "script-timeout",
        f"`{name}` was ended: it takes longer than {seconds:g} seconds",
        hint="give it more with `timeout`, or less to do",
        script_stdout=out.text[-TOLD:],
        script_stderr=err.text[-TOLD:],
        limit=seconds,
    )


def _not_started(name: str, number: int) -> Refusal:
    return refuse(
        "script-failed",
        f"`{name}` cannot be started: {os.strerror(number)}",
        hint="try it outside the program; what is long goes to its input, not its arguments",
        command=name,
    )


def _refuse_lost(name: str, is_gone: bool) -> Refusal:
    ended = f"`{name}` was ended with all that it started"
    if not is_gone:
        ended = f"some of what `{name}` started may still be running"
    return make_task_failure(
        "tool_execution_error",
        "script-failed",
        f"{ended}: its supervisor process was killed or stopped",
        hint="run it again; the script may not kill or stop its parent processes",
        command=name,
    )
