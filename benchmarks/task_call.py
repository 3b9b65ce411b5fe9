"""What one call of an atomic task costs beside the model: processor time, canned replies.

The program calls a task in a loop. In the first row a host answers each request for `model` at
once, with everything on that a run has: context settings, substitution, accounts of turns, window
and budget, the journal in memory, and a watcher that is told of every request. The rows below take
that away. LangGraph's are graphs of nodes with the same stub in them, one node and a hundred in a
row; it is no dependency, and without it its rows are left out. The last row is Python alone: how
long this machine takes for a thousand calls of a function.

A call with all accounts on costs at most 40 µs; the status is 1 where it costs more.

    python benchmarks/task_call.py [--calls 2000] [--rounds 7]
"""

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.measure import Timed, interleaved
from sexplang.machine import Done, Suspended, start, state_of
from sexplang.pipeline.pipeline import build, tasks
from sexplang.runtime import Journal, drive
from sexplang.runtime.driver.events import Event
from sexplang.terms.program import Program
from sexplang.terms.source import Source
from sexplang.terms.values.boundary import value_of

TEMPLATE = """<task name="summarize">
  <description>Two sentences about a text.</description>
  <params><param name="text"/><param name="style"/></params>
  <system>You are terse.</system>
  <instructions>Summarize in a {{style}} style, in two sentences:

{{text}}</instructions>
</task>
"""

PROGRAM = """
(import "summarize.xml")
(define (call n) (if (= n 0) "done" (begin CALL (call (- n 1)))))
(call SIZE)
"""

TASK = '(summarize "Tea grows in wet hills, and in dry ones only with care." style: "dry")'
OPERATION = '(tool "lookup" {word: "tea"})'
NOTHING = '(str "Tea grows in wet hills, " "dry")'

COST = 40e-6
"""Seconds of a call with all accounts on, at most."""

REPLY: dict[str, Any] = {
    "content": [{"type": "text", "text": "Tea grows in wet hills. Dry ones take care."}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 40, "output_tokens": 12},
    "model": "stub",
}


def program(call: str, size: int) -> Program:
    """The program that does `call` `size` times."""
    text = PROGRAM.replace("CALL", call).replace("SIZE", str(size))
    source = Source("main.sexp", text)
    return build(source, lambda path, importer: (Source(path, TEMPLATE),))


def driven(call: str, size: int) -> Timed:
    """The program with a host that answers every request with the same reply."""
    built = program(call, size)
    system = tasks()

    def run() -> None:
        outcome = start(built, {}, system)
        while isinstance(outcome, Suspended):
            outcome = outcome.resume(state_of(outcome).opened[0].id, REPLY)
        assert isinstance(outcome, Done), outcome

    return run


def whole(size: int) -> Timed:
    """The program under a budget, driven by the runtime with journal and watcher."""
    built = program(TASK, size)
    system, reply = tasks(), value_of(REPLY)
    seen: list[Event] = []

    def run() -> None:
        seen.clear()
        outcome = start(built, {}, system, budget={"calls": size, "tokens": 10**12})
        journal = Journal()
        table = {"model": lambda request: reply}
        end = drive(outcome, table, journal=journal, on_event=seen.append)
        assert isinstance(end, Done) and len(journal.rows) == size, end

    return run


def peer(size: int, nodes: int) -> Timed | None:
    """A graph of so many nodes in a row in LangGraph, as often as makes `size` nodes; None if it is
    not installed."""
    try:
        from langgraph.graph import END, START, StateGraph
    except ModuleNotFoundError:
        return None
    prompt = "Summarize in a {style} style, in two sentences:\n\n{text}"

    def node(state: dict[str, Any]) -> dict[str, Any]:
        asked = prompt.format(**state)
        return {**state, "answer": REPLY["content"][0]["text"], "asked": asked}

    graph: Any = StateGraph(dict)
    before = START
    for at in range(nodes):
        graph.add_node(f"summarize {at}", node)
        graph.add_edge(before, f"summarize {at}")
        before = f"summarize {at}"
    graph.add_edge(before, END)
    compiled = graph.compile()
    given = {"text": "Tea grows in wet hills, and in dry ones only with care.", "style": "dry"}

    def run() -> None:
        for _ in range(size // nodes):
            compiled.invoke(given, {"recursion_limit": nodes + 1})

    return run


def plain_calls(size: int) -> None:
    """Calls of a function of Python, a thousand for each of `size`."""

    def called(value: int) -> int:
        return value + 1

    for _ in range(size):
        for value in range(1_000):
            called(value)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=2_000, help="calls in a run (default 2000)")
    parser.add_argument("--rounds", type=int, default=7, help="interleaved rounds (default 7)")
    options = parser.parse_args()

    rows = {
        "a call of a task, all accounts on": whole(options.calls),
        "a call of a task, nothing around it": driven(TASK, options.calls),
        "a bare request of the host": driven(OPERATION, options.calls),
        "a turn of the loop": driven(NOTHING, options.calls),
    }
    for name, nodes in (("a LangGraph run of one node", 1), ("a LangGraph node of 100", 100)):
        graph = peer(options.calls, nodes)
        if graph is not None:
            rows[name] = graph
    rows["a thousand calls of Python"] = lambda: plain_calls(options.calls)
    print(f"{'µs per':38}{'CPU µs':>9}{'× first':>9}")
    took = interleaved(list(rows.values()), options.rounds)
    found = [each / options.calls * 1e6 for each in took]
    for name, each in zip(rows, found, strict=True):
        print(f"{name:38}{each:9.2f}{each / found[0]:9.2f}")
    if graph is None:
        print("LangGraph: left out, langgraph is not installed")
    is_within = found[0] <= COST * 1e6
    print(f"bound: {COST * 1e6:.0f} µs for the first row; {'kept' if is_within else 'not kept'}")
    return 0 if is_within else 1


if __name__ == "__main__":
    sys.exit(main())
