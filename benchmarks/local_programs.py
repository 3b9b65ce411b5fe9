"""Ten one-line programs by the local model, under the grammar of the notation.

It is told the short form of the guide. How many of its programs are read, how many pass `check`,
and how many give the value that was asked for; with `--free` the same without the grammar. Ends
with 1 where a program under the grammar is not read.

    python benchmarks/local_programs.py [--free] [--weights FILE.gguf]
"""

import argparse
import re
import sys
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from sexplang import Limits
from sexplang.hosts.cli.shipped_pages import grammar, short_guide
from sexplang.machine import Done, start
from sexplang.pipeline.pipeline import build
from sexplang.reader import read
from sexplang.runtime.models.adapters import local
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.source import Source
from sexplang.terms.values.equality import equal

TASKS = (
    ("the sum of 4, 5 and 6", "15"),
    ("the list [1 2 3] in reverse order", "[3 2 1]"),
    ('the text "rice" in upper case', '"RICE"'),
    ("each number of [1 2 3] times ten", "[10 20 30]"),
    ("the even numbers of [1 2 3 4 5 6]", "[2 4 6]"),
    ('the length of the text "kettle"', "6"),
    ('the text "a-b-c" split at "-"', '["a" "b" "c"]'),
    ('"big" if 7 is greater than 5, else "small"', '"big"'),
    ("the largest of 3, 9 and 4", "9"),
    ("the value of n in the table {m: 1 n: 8}", "8"),
)
SHOWN = (
    ("the product of 2 and 3", "(* 2 3)"),
    ("the numbers [3 1 2] sorted", "(sort [3 1 2] <)"),
    ('the texts ["x" "y"] joined with "+"', '(string-join ["x" "y"] "+")'),
)
"""Questions and answers that the model sees before its own question."""

LONGEST = 4_000
"""The most tokens of a reply: a line of the grammar has at most as many characters."""


def ask(server, question, rules):
    """The model's reply. It is the same each time."""
    messages = [{"role": "system", "content": short_guide()}]
    for asked, program in SHOWN:
        messages.append({"role": "user", "content": prompt(asked)})
        messages.append({"role": "assistant", "content": program})
    messages.append({"role": "user", "content": prompt(question)})
    request = {"messages": messages, "max_tokens": LONGEST, "temperature": 0, "seed": 1}
    pieces = []
    whole = server.handle_chat_completions(request | rules, pieces.append)
    (reply,) = [whole] if isinstance(whole, dict) else pieces
    return reply["choices"][0]["message"]["content"].strip()


def prompt(question):
    return f"Write one line of sexplang whose value is {question}."


def judge(text, wanted):
    """Whether a program is read, is accepted by the compiler, and gives a value; what it gives."""
    try:
        read(Source("reply", text))
    except Diagnostics as found:
        return False, False, False, found.diagnostics[0].code
    try:
        program = build(Source("reply", text), lambda path, importer: ())
    except Diagnostics as found:
        return True, False, False, found.diagnostics[0].code
    outcome = start(program, limits=Limits(steps=100_000))
    if not isinstance(outcome, Done):
        return True, True, False, type(outcome).__name__.lower()
    goal = start(build(Source("value", wanted), lambda path, importer: ()))
    return True, True, bool(equal(outcome.value, goal.value)), ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--free", action="store_true", help="without the grammar")
    parser.add_argument("--weights", default="", help="a GGUF file")
    given = parser.parse_args()
    server = local._server(local._weights(given.weights))
    line = re.sub(r"(?m)^root .*$", "root ::= line", grammar())
    rules = {} if given.free else {"grammar": line}
    began = perf_counter()
    rows = []
    for question, wanted in TASKS:
        text = ask(server, question, rules)
        *found, why = judge(text, wanted)
        rows.append(found)
        mark = (
            ("right" if found[2] else "wrong") if found[1] else "refused" if found[0] else "unread"
        )
        print(f"{mark:8}{question}: {text[:120]!r}{f'  ({why})' if why else ''}")
    were_read, accepted, right = (sum(column) for column in zip(*rows, strict=True))
    seconds = perf_counter() - began
    print(f"{were_read} of {len(rows)} read, {accepted} accepted, {right} right; {seconds:.1f} s")
    return 0 if given.free or were_read == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
