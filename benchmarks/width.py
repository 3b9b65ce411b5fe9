"""A thousand branches of one model call each, beside the SDK's own `gather` in the same run.

A server in a process of its own answers each call after 100 ms. The program is a `par-map` with
`--parallel 1000`; the peer is `asyncio.gather` over the SDK with its default client, once as it is
used most (`create`) and once streamed, as the program's calls are. Both protocols are measured.
The last rows are what a branch costs with a stub for a model, and how much memory calls take that
wait for their place.

    python benchmarks/width.py [--branches 1000] [--rounds 5] [--latency 0.1]
"""

import argparse
import asyncio
import sys
import tracemalloc
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import monotonic, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.wide_server import WideServer

from benchmarks.measure import seconds
from sexplang.machine import Done, start
from sexplang.pipeline.pipeline import build
from sexplang.runtime import Journal, Settings, drive, performers
from sexplang.runtime.driver.run import Run
from sexplang.terms.model.roles import read_models
from sexplang.terms.source import Source

PROGRAM = """
(define (ask n)
  (model {max_tokens: 50 messages: [{role: "user" content: (format "What is tea? ~a" n)}]}))
(length (par-map ask (range BRANCHES)))
"""

REPLY = {
    "content": ({"type": "text", "text": "It is tea."},),
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 7, "output_tokens": 3},
    "model": "stub",
}

LEAST = 3.0
"""So many times faster than the SDK's `gather` it has to be."""

Measured = tuple[float, float, float]
"""Seconds in all, the median of a call, and of the processor for all."""


def program(branches: int) -> Any:
    """The outcome of the program before anything is performed."""
    source = Source("width.sexp", PROGRAM.replace("BRANCHES", str(branches)))
    return start(build(source, lambda path, importer: ()))


def ours(prefix: str, url: str, branches: int) -> Measured:
    journal = Journal()
    table = performers(Settings(run_id="run", models=read_models(f"{prefix}{url}#m")))
    begun, cpu = monotonic(), process_time()
    outcome = drive(program(branches), table, journal=journal, parallel=branches)
    took = monotonic() - begun, process_time() - cpu
    assert outcome == Done(branches), outcome
    return took[0], median([row.ended - row.started for row in journal.rows]), took[1]


def theirs(prefix: str, stream: bool, url: str, branches: int) -> Measured:
    calls = openai_calls(url, stream) if prefix else anthropic_calls(url, stream)
    client, ask = calls

    async def call(at: int) -> float:
        begun = monotonic()
        await ask({"role": "user", "content": f"What is tea? {at}"})
        return monotonic() - begun

    async def all_calls() -> list[float]:
        async with client:
            return await asyncio.gather(*[call(at) for at in range(branches)])

    begun, cpu = monotonic(), process_time()
    took = asyncio.run(all_calls())
    return monotonic() - begun, median(took), process_time() - cpu


Ask = Callable[[dict[str, str]], Awaitable[Any]]


def anthropic_calls(url: str, stream: bool) -> tuple[Any, Ask]:
    import anthropic

    # A connection that waits for the others' is no failure here.
    client = anthropic.AsyncAnthropic(api_key="none", base_url=url, max_retries=0, timeout=120)

    async def ask(asked: Any) -> None:
        if not stream:
            await client.messages.create(model="m", max_tokens=50, messages=[asked])
            return
        async with client.messages.stream(model="m", max_tokens=50, messages=[asked]) as reply:
            await reply.get_final_message()

    return client, ask


def openai_calls(url: str, stream: bool) -> tuple[Any, Ask]:
    import openai

    client = openai.AsyncOpenAI(api_key="none", base_url=f"{url}/v1", max_retries=0, timeout=120)

    async def ask(asked: Any) -> None:
        chat: Any = client.chat.completions
        if not stream:
            await chat.create(model="m", max_tokens=50, messages=[asked])
            return
        async with chat.stream(model="m", max_tokens=50, messages=[asked]) as reply:
            await reply.get_final_completion()

    return client, ask


def stubbed(branches: int) -> float:
    """Microseconds of the processor for a branch whose model answers at once."""
    return (
        seconds(lambda: drive(program(branches), {"model": lambda request: REPLY})) / branches * 1e6
    )


def waiting(branches: int) -> float:
    """Bytes for each call that waits, most of them for a place: all that the run holds."""

    async def never() -> None:
        await asyncio.sleep(3600)

    tracemalloc.start()
    run = Run(program(branches), {"model": lambda request: never()}, Journal())
    while run.step():
        pass
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    run.abandon()
    return held / branches


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--branches", type=int, default=1_000, help="branches (default 1000)")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds (default 5)")
    parser.add_argument(
        "--latency", type=float, default=0.1, help="seconds of a call (default 0.1)"
    )
    options = parser.parse_args()

    is_met = True
    with WideServer(latency=options.latency) as server:
        for title, prefix in (("Messages protocol", ""), ("OpenAI protocol", "openai:")):
            print(f"{title}: {options.branches} calls of {options.latency * 1e3:.0f} ms")
            is_met = beside(server.url, prefix, options) and is_met
    cost = median([stubbed(options.branches) for _ in range(options.rounds)])
    print(f"a branch with a stub for a model: {cost:.1f} µs")
    many = 10_000
    held = waiting(many)
    print(
        f"{many} calls of which 16 are in flight: {held:.0f} bytes each, {held * many / 1e6:.1f} MB"
    )
    sys.exit(0 if is_met else 1)


def beside(url: str, prefix: str, options: Any) -> bool:
    """Print what the calls of one protocol take, beside its SDK. Whether the bound is kept."""
    rows: dict[str, Callable[[str, int], Measured]] = {
        "par-map": partial(ours, prefix),
        "the SDK's gather, create": partial(theirs, prefix, False),
        "the SDK's gather, stream": partial(theirs, prefix, True),
    }
    is_met = True
    found: dict[str, list[Measured]] = {name: [] for name in rows}
    for row in rows.values():  # what is loaded once is nobody's
        row(url, 10)
    for _ in range(options.rounds):
        for name, row in rows.items():
            found[name].append(row(url, options.branches))
    print(f"{'':28}{'wall s':>8}{'p50 s':>8}{'CPU µs/call':>13}{'× wall':>8}")
    ours_all = [measured[0] for measured in found["par-map"]]
    for name, measured in found.items():
        wall, p50, cpu = [median(column) for column in zip(*measured, strict=True)]
        ratio = median([one[0] / own for one, own in zip(measured, ours_all, strict=True)])
        each = cpu / options.branches * 1e6
        verdict = ""
        if name != "par-map":
            is_met = is_met and ratio >= LEAST
            verdict = f"   asked {LEAST}: {'met' if ratio >= LEAST else 'not met'}"
        print(f"{name:28}{wall:8.2f}{p50:8.2f}{each:13.0f}{ratio:8.2f}{verdict}")
    return is_met


if __name__ == "__main__":
    main()
