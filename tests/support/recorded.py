"""Recorded runs, and the pages of their reports as trees of elements."""

import json
import re

from lxml import html
from support.command import sexplang
from support.markdown import ROOT

from sexplang.runtime.journal.checksum_chain import add_checksum
from sexplang.runtime.journal.json_lines import VERSION
from sexplang.runtime.journal.rows import CUT

PLAN = {
    "plan.sexp": '(import "report.xml") (import "look-up.xml") (str (report (read-file "what")))',
    "report.xml": """<task name="report" type="atomic">
  <description>Report on something.</description>
  <params><param name="about" type="string">What.</param></params>
  <instructions>Write about {{about}}.</instructions>
  <allowed_tools><tool>propose_subplan</tool></allowed_tools>
</task>""",
    "look-up.xml": """<task name="look-up" type="atomic">
  <description>Look something up.</description>
  <params><param name="what" type="string">What.</param></params>
  <instructions>Look up {{what}}.</instructions>
</task>""",
}
"""A program whose model takes its task apart."""


def diamond(*subjects, says="It is so.", named="look-up"):
    """Replies: a plan of four, of which the last comes after the two before it, and those after
    the first."""
    about = dict(enumerate(subjects))
    subtasks = [
        {"name": named, "description": about.get(at, f"part {at}"), "depends_on_subtasks": after}
        for at, after in enumerate([[], [0], [0], [1, 2]])
    ]
    plan = {"reason": "TooLarge", "subtasks": subtasks}
    used = {"input_tokens": 20, "output_tokens": 5}
    return [
        {
            "task": "report",
            "times": 1,
            "reply": {"tool_use": {"name": "propose_subplan", "input": plan}},
        },
        {"task": "report", "reply": says},
        {"task": "look-up", "reply": says, "usage": used},
    ]


def recorded(folder, replies, what="tea", **environment):
    """The recording of the plan's run with these replies."""
    for name, text in PLAN.items():
        (folder / name).write_text(text)
    (folder / "what").write_text(what)
    (folder / "replies.json").write_text(json.dumps(replies))
    words = ["plan.sexp", "--model", "scripted:replies.json", "--record", "run.jsonl"]
    sexplang("run", *words, cwd=folder, **environment)
    return folder / "run.jsonl"


def put_lines(path, lines, version=VERSION):
    """A recording of these lines of JSON as one of this version has them: with the checksums that
    they should have, or without."""
    written, before = b"", b""
    for at, line in enumerate(lines):
        line = re.sub(r', "checksum": "[0-9a-f]*"}$', "}", line.rstrip("\n"))
        if at == 0:
            line = json.dumps({**json.loads(line), "sexplang-journal": version})
        said = line.encode()
        if version == VERSION:
            said, before = add_checksum(said, before)
        written += said + b"\n"
    path.write_bytes(written)


def example(folder, program, replies):
    """The recording of an example's run."""
    path = folder / "run.jsonl"
    model = f"scripted:examples/{replies}"
    done = sexplang("run", f"examples/{program}", "--model", model, "--record", path, cwd=ROOT)
    assert 0 == done.returncode, done.stderr
    return path


def rows_of(path):
    """The rows of a recording that have a reply, as it says them."""
    lines = [json.loads(line) for line in path.read_text().splitlines()[1:]]
    return [line for line in lines if "digest" in line and line["operation"] != CUT]


def report_of(path):
    """The report as data."""
    return json.loads(sexplang("runs", "report", path, "--json").stdout)


def page_of(path, **environment):
    """The report's page as text, and as elements."""
    done = sexplang("runs", "report", path, **environment)
    assert 0 == done.returncode, done.stderr
    return done.stdout, html.document_fromstring(done.stdout)


def rows_in(page):
    """The ids of the rows in a page, in the order of the replies."""
    found = page.xpath("//details[@data-row]")
    return [
        each.get("data-row") for each in sorted(found, key=lambda row: int(row.get("data-place")))
    ]
