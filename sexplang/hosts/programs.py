"""Sources and what they may import to programs, and programs to their first outcome."""

from math import inf
from typing import Any

from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.program import Program
from sexplang.terms.source import Source
from sexplang.terms.value import Fault, Value


def built(source: Source, folder: str | None, allowed: tuple[str, ...] = ()) -> Program:
    """The program. Raises Diagnostics.

    It imports what lies below its own folder or is allowed; text that is no file of its own
    (`folder` is None) imports only what is allowed.
    """
    from sexplang.pipeline import build

    def find(path: str, importer: str) -> tuple[Source, ...]:
        # Most short programs import nothing and start without the runtime.
        from sexplang.runtime import Permissions
        from sexplang.runtime.sources import finding

        try:
            return finding(Permissions(read=allowed, folder=folder))(path, importer)
        except Fault as fault:
            if fault.code != "import-not-found" or path.endswith((".sexp", ".xml")):
                raise
            # Such a file may well be there; it would not be imported if it were.
            title = f"`{path}` is no folder, and no .sexp or .xml file"
            raise Fault(fault.code, title, hint=fault.hint) from None

    return build(source, find)


def budget_of(text: str) -> dict[str, Value]:
    """`calls=20,usd=0.5` as the table of a budget. Raises Diagnostics."""
    budget: dict[str, Value] = {}
    for part in text.split(","):
        name, _, amount = part.partition("=")
        try:
            value = float(amount) if name in ("usd", "seconds") else int(amount)
        except ValueError:
            value = -1
        if name not in ("calls", "tokens", "usd", "seconds") or not 0 <= value < inf:
            raise Diagnostics(
                [
                    Diagnostic(
                        "bad-input",
                        f"`{part}` is no bound of a budget",
                        hint="for example --budget calls=20,tokens=50000,usd=0.5,seconds=60",
                    )
                ]
            )
        budget[name] = value
    return budget


def outcome_of(
    program: Program, inputs: dict[str, Value], budget: dict[str, Value] | None = None
) -> Any:
    """Done, Failed or Suspended: the program has run until it ended or waits."""
    from sexplang.machine import Limits, start
    from sexplang.pipeline import tasks
    from sexplang.process import growth

    system = tasks() if program.tasks else None
    return start(program, inputs, system, Limits(held=growth()), budget)
