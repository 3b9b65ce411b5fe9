"""What one call of an atomic task costs beside the model: processor time, canned replies.

The program calls a task in a loop; this script plays the host and resumes each request for
`model` at once. A figure holds rendering, the conversation, suspending and resuming, the reply
and the result; neither journal nor network.

    python benchmarks/task_call.py [--calls 2000] [--rounds 7]
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.measure import Timed, interleaved
from sexplang.machine import Done, Suspended, start
from sexplang.pipeline import build, tasks
from sexplang.terms.program import Program
from sexplang.terms.source import Source

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

REPLY = {
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
            outcome = outcome.resume(outcome.opened[0].id, REPLY)
        assert isinstance(outcome, Done), outcome

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=2_000, help="calls in a run (default 2000)")
    parser.add_argument("--rounds", type=int, default=7, help="interleaved rounds (default 7)")
    options = parser.parse_args()

    rows = {
        "a call of a task": TASK,
        "a bare request of the host": OPERATION,
        "a turn of the loop": NOTHING,
    }
    runs = [driven(call, options.calls) for call in rows.values()]
    print(f"{'µs per':30}{'CPU µs':>9}{'× request':>11}")
    found = [took / options.calls * 1e6 for took in interleaved(runs, options.rounds)]
    for name, took in zip(rows, found, strict=True):
        print(f"{name:30}{took:9.2f}{took / found[1]:11.2f}")


if __name__ == "__main__":
    main()
