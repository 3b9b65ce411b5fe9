"""The arguments of `sexplang runs`, by click."""

import click

_EXAMPLES = """\b
Examples:
  sexplang run plan.sexp --model local --model judge=anthropic:ID --record run.jsonl
  sexplang run plan.sexp --model replay:run.jsonl
  sexplang runs report run.jsonl -o run.html
  sexplang runs report run.jsonl --json"""


@click.group("runs", short_help="Look at recorded runs.")
def RUNS() -> None:
    """Look at runs that `run --record FILE` recorded."""


@RUNS.command("report", epilog=_EXAMPLES, short_help="Make a page of a recorded run.")
@click.argument("recording", metavar="RECORDING")
@click.option("-o", "--output", "to", metavar="FILE.html", help="Where the page goes.")
@click.option("--json", "as_json", is_flag=True, help="Write the rows as one JSON document.")
def _report(recording: str, to: str | None, as_json: bool) -> int:
    """Make one page of HTML of a recorded run: what it did and when, what was said to models and
    what they replied, what it cost and what went wrong. The page needs no network and no other
    file.
    """
    from sexplang.hosts.report import report

    return report(recording, to, as_json=as_json)
