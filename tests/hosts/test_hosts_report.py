"""`sexplang runs report`: a recorded run as one page, or as data."""

import json
import os
import re
import signal
import stat
import subprocess
from base64 import b64encode
from hashlib import sha256

import pytest
from support.command import sexplang
from support.killed_runs import in_child
from support.recorded import (
    diamond,
    example,
    page_of,
    put_lines,
    recorded,
    report_of,
    rows_in,
    rows_of,
)

import sexplang as api
from sexplang.hosts.report.entries import as_data, sum_entries
from sexplang.hosts.report.page import page
from sexplang.runs.exported_run import export_run
from sexplang.runtime.journal.recording_reader import read_recording
from sexplang.runtime.journal.run_store import open_store
from sexplang.runtime.models.adapters.replay import read_recorded_run as recorded_replies
from sexplang.runtime.refusal import Refusal

PROGRAMS = [
    ("continuation/default.sexp", "continuation/replies.json"),
    ("continuation/guarded.sexp", "continuation/replies.json"),
    ("many-documents/overview.sexp", "many-documents/replies.json"),
    ("plan/plan.sexp", "plan/replies.json"),
]

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&lt;\u202e\x07]]>--><!--"


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    return recorded(tmp_path_factory.mktemp("plan"), diamond())


@pytest.mark.parametrize(("program", "replies"), PROGRAMS)
def test_the_rows_of_the_page_are_those_of_the_journal(tmp_path, program, replies):
    """All of them, in their order; each says how long it took and when."""
    path = example(tmp_path, program, replies)
    _, page = page_of(path)
    rows = page.xpath("//details[@data-row]")

    assert [row["id"] for row in rows_of(path)] == rows_in(page)
    assert all(
        re.search(r"\d m?s$", row.xpath("string(summary//span[@class='num'])")) for row in rows
    )
    assert all(1 == len(row.xpath("summary//*[local-name()='rect']")) for row in rows)


def test_embeddings_are_texts_and_a_number_of_vectors(tmp_path):
    """Nobody reads vectors."""
    text = '(import std/vectors) (length (embed ["green tea" "a cup"]))'
    path = tmp_path / "run.jsonl"
    count = api.run(text, model=[{"embeddings": 7}], record=path)
    _, page = page_of(path)
    talk = page.xpath("string(//div[@class='talk'])")

    assert 2 == count
    assert "green tea" in talk and "a cup" in talk
    assert "2 vectors of 7 numbers" in talk and "0.0" not in talk


def test_a_plan_is_shown_whole(plan):
    """Its rows, and within what they stand: the plan, its nodes, their tasks."""
    _, page = page_of(plan)
    within = {row["id"]: row["within"] for row in report_of(plan)["rows"]}
    deepest = max(within.values(), key=len)

    assert [row["id"] for row in rows_of(plan)] == rows_in(page)
    assert ["run plan.sexp", "task report", "plan report"] == deepest[:3]
    assert [True, True, "task look-up"] == [
        deepest[3].startswith("branch "),
        deepest[4].startswith("plan-node report/sub-"),
        deepest[5],
    ]
    for row in page.xpath("//details[@data-row]"):
        around = row.xpath("ancestor::details[contains(@class, 'row')]")
        names = [
            each.xpath("string(summary//span[contains(@class, 'name')]/text())") for each in around
        ]
        said = [name.removeprefix("task ") for name in within[row.get("data-row")]]
        assert said == [name.strip() for name in names]


def test_parents_show_sums(plan):
    """Of tokens, calls and errors below them."""
    data = report_of(plan)
    _, page = page_of(plan)
    (root,) = page.xpath("//main/details")

    assert (6, 80, 20) == (data["calls"], data["tokens_in"], data["tokens_out"])
    assert sum(row["tokens_in"] for row in data["rows"]) == 80
    assert "80 + 20" in root.xpath("summary//span[@class='num']/text()")
    assert "100" == root.get("data-tokens")


def test_the_conversation_of_a_task_is_said_once(plan):
    """Its prompt, what it was given back, its last word; however often it was sent."""
    _, page = page_of(plan)
    (report,) = page.xpath("//main/details/details[summary[contains(., 'report')]]")
    (talk,) = report.xpath("div/div/details/div[@class='talk']")
    heads = talk.xpath("section/h4/text()")

    assert ["tools", "user", "reply", "user", "reply"] == heads
    assert 1 == talk.text_content().count("Write about tea.")
    assert "calls propose_subplan" in talk.text_content()


def test_the_graph_of_a_plan_has_its_dependencies(plan):
    """As Mermaid text and as a drawing, which have the same nodes and edges."""
    _, page = page_of(plan)
    text = page.get_element_by_id("mermaid").text
    names = dict(re.findall(r'(n\d+)\["(.*)"\]', text))
    edges = {(names[one], names[other]) for one, other in re.findall(r"(n\d+) --> (n\d+)", text)}
    part = [f"report/sub-{at} › look-up" for at in range(4)]
    (drawing,) = page.xpath("//*[local-name()='svg' and @class='graph']")

    assert {
        ("run plan.sexp", "report"),
        ("report", "plan report"),
        ("plan report", part[0]),
        (part[0], part[1]),
        (part[0], part[2]),
        (part[1], part[3]),
        (part[2], part[3]),
    } == edges
    assert [7, 7] == [len(drawing.xpath(f"*[local-name()='{name}']")) for name in ("path", "g")]


def test_nothing_that_was_said_becomes_a_part_of_the_page(tmp_path):
    """Not in the rows, the graph, the conversation or the data within the page."""
    path = recorded(tmp_path, diamond(EVIL, says=EVIL), what=EVIL)
    text, page = page_of(path)
    shown = page.xpath("string(//main)")

    assert 2 == len(page.xpath("//script")) == text.count("<script")
    assert [] == page.xpath("//img | //iframe | //link | //a | //object | //comment()")
    assert [] == page.xpath("//@*[starts-with(name(), 'on')] | //@src | //@href | //@style")
    assert "<img src=x onerror=alert(2)>\"'&lt;<U+202E>␇]]>" in shown
    assert rows_of(path) == json.loads(page.get_element_by_id("rows").text)
    assert EVIL == report_of(path)["rows"][-1]["reply"]["content"][0]["text"]


def test_the_page_needs_nothing_else(plan):
    """Its policy lets in its own style and script alone, by their digests, and no network."""
    text, page = page_of(plan)
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    named = [
        f"'sha256-{b64encode(sha256(code.encode()).digest()).decode()}'"
        for code in re.findall(r"<style>(.*?)</style>|<script>(.*?)</script>", text, re.DOTALL)
        for code in code
        if code
    ]

    assert f"default-src 'none'; style-src {named[0]}; script-src {named[1]};" in policy
    assert "://" not in re.sub(r"<script type=.*?</script>", "", text, flags=re.DOTALL)


def test_what_failed_is_marked(tmp_path):
    """The request, with its error; and how many there are in what is around it."""
    path = recorded(tmp_path, [{"task": "report", "reply": {"error": "invalid_request_error"}}])
    _, page = page_of(path)
    failed = page.xpath("//details[contains(@class, 'failed')]")
    (row,) = [each for each in failed if each.get("data-row")]

    assert "failed" == report_of(path)["state"]
    assert row.xpath(".//div[@class='error']")
    assert "1 error" in page.xpath("string(//main/details/summary)")


def test_a_run_that_was_ended_is_reported_as_far_as_it_came(plan, tmp_path):
    """What was going on then is said to be so."""
    lines = plan.read_text().splitlines(keepends=True)
    (tmp_path / "cut.jsonl").write_text("".join(lines[: len(lines) // 2]))
    data = report_of(tmp_path / "cut.jsonl")
    _, page = page_of(tmp_path / "cut.jsonl")

    assert "not finished" == data["state"]
    assert [row["id"] for row in data["rows"]] == rows_in(page)
    assert "open" in page.xpath("//main/details/@class")[0]


def test_deep_work_is_a_page_that_browsers_take(tmp_path):
    """They stop at some hundred elements in each other; deeper rows stand beside their parents."""
    notes = [
        {"begins": at, "within": at - 1 if at else None, "kind": "task", "name": f"t{at}", "at": at}
        for at in range(1000)
    ]
    header = {"sexplang-journal": 2, "run": "deep"}
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in (header, *notes)))
    _, page = page_of(path)
    rows = page.xpath("//main//details[contains(@class, 'row')]")

    assert [1000, True] == [len(rows), len(list(rows[-1].iterancestors())) < 40]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is empty"),
        ("nonsense\n", "line 1 cannot be read"),
        ('{"sexplang-journal": 1, "run": "x"}\n', "made by an older version"),
        ('{"sexplang-journal": 99, "run": "x"}\n', "made by a newer version"),
        ('{"sexplang-journal": 2, "run": "x"}\n', "stops before the first request"),
        ('{"sexplang-journal": 2, "run": "x"}\n{"begins": 0, "wi', "stops before the first"),
        ('{"sexplang-journal": 2, "run": "x"}\n{"begins": 0, "wi\n', "line 2 cannot be read"),
        ('{"sexplang-journal": 2, "run": "x"}\n{"begins": 1, "within": 0}\n', "line 2 cannot"),
        ('{"sexplang-journal": 2, "run": "x"}\n{"ends": 0, "at": 1}\n', "line 2 cannot be read"),
    ],
)
def test_what_cannot_be_read_is_told(tmp_path, text, said):
    """With the line; nothing is made up, and no page is written."""
    (tmp_path / "run.jsonl").write_text(text)
    page = tmp_path / "page.html"
    done = sexplang("runs", "report", tmp_path / "run.jsonl", "-o", page)

    assert (1, "") == (done.returncode, done.stdout)
    assert "error[bad-recording]" in done.stderr and said in done.stderr
    assert not page.exists()


def test_a_byte_order_mark_is_skipped_or_said(plan, tmp_path):
    """An editor may have put one there; in UTF-16 a recording is none."""
    path, text = tmp_path / "run.jsonl", plan.read_text()
    path.write_bytes(("\ufeff" + text).encode())
    read, marked = read_recording(str(plan)), read_recording(str(path))
    assert (read.run, len(read.rows)) == (marked.run, len(marked.rows))

    path.write_bytes(text.encode("utf-16"))
    with pytest.raises(Refusal, match="not UTF-8 text: line 1") as raised:
        read_recording(str(path))
    assert "save it as UTF-8" in raised.value.error.fields["hint"]


NUMBERS = ["1" + "0" * 400, "1e400", "NaN", "-Infinity", "1e17", "-1", "true", '"soon"', "[]"]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda text: text[:9])
@pytest.mark.parametrize("name", ["at", "begins", "started", "ended", "attempts"])
def test_a_number_that_is_none_is_no_recording(plan, tmp_path, name, number):
    """Neither a time nor a count: the line is named."""
    lines = plan.read_text().splitlines()
    at = next(at for at, line in enumerate(lines) if name in json.loads(line))
    lines[at] = json.dumps({**json.loads(lines[at]), name: "HERE"}).replace('"HERE"', number)
    path = tmp_path / "run.jsonl"
    put_lines(path, lines)

    with pytest.raises(Refusal, match=f"line {at + 1} cannot be read"):
        read_recording(str(path))


@pytest.mark.parametrize("number", ["-5", "1e400", "3.5", "true", "10000000000000", '"7"'])
@pytest.mark.parametrize("name", ["input_tokens", "output_tokens"])
def test_what_is_no_number_of_tokens_is_no_recording(plan, tmp_path, name, number):
    """It is not taken for 0, neither in a report nor in a replay: line and count are named."""
    lines = plan.read_text().splitlines()
    at = next(at for at, line in enumerate(lines) if f'"{name}": ' in line and "reply" in line)
    lines[at] = re.sub(f'"{name}": [0-9]+', f'"{name}": {number}', lines[at])
    path = tmp_path / "run.jsonl"
    put_lines(path, lines)

    for read in (read_recording, recorded_replies):
        with pytest.raises(Refusal, match=f"line {at + 1} cannot be read") as raised:
            read(str(path))
        assert number == "1e400" or f"its `{name}` is" in raised.value.error.fields["message"]


def test_what_is_no_json_is_in_no_report(plan, tmp_path):
    """NaN in what a row gave."""
    path = tmp_path / "run.jsonl"
    text = plan.read_text().replace('"input_tokens": 20', '"input_tokens": NaN', 1)
    put_lines(path, text.splitlines())
    done = sexplang("runs", "report", path, "--json")

    assert (1, "", True) == (done.returncode, done.stdout, "bad-recording" in done.stderr)


def test_a_torn_line_is_left_out(plan, tmp_path):
    """Wherever it was torn, also within a character: what stands before it is shown."""
    lines = plan.read_bytes().splitlines(keepends=True)
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(lines[:-1]) + lines[-1][:9] + "é".encode()[:1])
    torn = report_of(path)
    path.write_bytes(b"".join(lines[:-1]))

    assert ("not finished", report_of(path)) == (torn["state"], torn)


def test_the_page_goes_where_it_should(plan, tmp_path):
    """To a file that nobody else may read, or to standard output; never over the recording, and not
    nowhere."""
    page = tmp_path / "page.html"
    done = sexplang("runs", "report", plan, "-o", page)
    over = sexplang("runs", "report", plan, "-o", plan)
    nowhere = sexplang("runs", "report", plan, "-o", tmp_path / "none" / "page.html")
    missing = sexplang("runs", "report", tmp_path / "none.jsonl")
    dash = sexplang("runs", "report", plan, "-o", "-")

    assert (0, "", 0o600) == (done.returncode, done.stdout, stat.S_IMODE(page.stat().st_mode))
    assert page.read_text() == page_of(plan)[0] == dash.stdout
    assert (2, True) == (over.returncode, "take the place of the recording" in over.stderr)
    assert (1, True) == (nowhere.returncode, "error[file-failed]" in nowhere.stderr)
    assert (1, True) == (missing.returncode, "error[bad-recording]" in missing.stderr)


def test_a_pipe_gets_the_page_and_stays_one(plan, tmp_path):
    """What is no file is not replaced by one."""
    pipe = tmp_path / "page"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
        done = sexplang("runs", "report", str(plan), "-o", str(pipe))
        text, _ = reader.communicate(timeout=60)

    assert (0, True, True) == (done.returncode, b"<html" in text, pipe.is_fifo())


def test_a_key_is_in_no_page(tmp_path):
    """Whoever said it."""
    key = "sk-ant-0123456789abcdef"
    path = recorded(tmp_path, diamond(key, says=key), what=key, ANTHROPIC_API_KEY=key)
    text, _ = page_of(path, ANTHROPIC_API_KEY=key)
    plain, _ = page_of(path)

    assert key not in path.read_text() and key not in text and key not in plain
    assert "[redacted]" in text


def test_what_a_cut_call_had_said_is_shown(tmp_path):
    """In its own row and in the conversation of its task, marked."""
    path = tmp_path / "cut.jsonl"
    usage = {"input_tokens": 5, "output_tokens": 1}
    part = {"usage": usage, "text": "Half <b> of", "model": "m"}
    cut = {"id": "1", "operation": "cut", "digest": "d", "arguments": ["a"], "attempts": 1}
    lines = [
        {"sexplang-journal": 4, "run": "a"},
        {"begins": 0, "within": None, "kind": "run", "name": "x", "model": "m", "at": 1.0},
        {"begins": 1, "within": 0, "kind": "task", "name": "slow", "at": 2.0},
        {"begins": 2, "within": 1, "request": "1", "operation": "model", "task": "slow", "at": 3.0},
        {**cut, "reply": part, "usage": usage, "started": 4.0, "ended": 4.0},
        *[{"ends": number, "cut": True, "at": 5.0} for number in (2, 1, 0)],
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    _, page = page_of(path)

    shown = page.xpath("//section[@class='said reply'][h4='reply, cut off here']")
    assert [each.xpath("string(pre)") for each in shown] == ["Half <b> of"] * 2


@pytest.mark.parametrize(
    ("is_answered", "bill", "words"),
    [
        (True, (1, 900, 100, pytest.approx(1.95e-4)), "tokens 900, 100, US dollars 0.0002"),
        (False, (1, 0, 0, None), "tokens 0, 0, US dollars not known"),
    ],
)
def test_what_a_call_in_doubt_may_have_cost_is_beside_the_bill(tmp_path, is_answered, bill, words):
    """The process died in the second call. It is made again, and may have been paid before."""
    say = '(defatom say (params n) (instructions "Say {{n}}") (model "gpt-4o-mini"))'
    text = f'{say} [(str (say 1)) (attempt (str (say 2)) "none")]'
    store, target = tmp_path / "runs.db", tmp_path / "run.jsonl"

    def reply(payload):
        is_second = "2" in payload["messages"][0]["content"][0]["text"]
        if is_second and not (tmp_path / "died").exists():
            (tmp_path / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if is_second and not is_answered:
            raise api.error("no-route", "the server is away")
        return {
            "content": [{"type": "text", "text": "Tea."}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 900, "output_tokens": 100},
            "model": "gpt-4o-mini",
        }

    assert not in_child(lambda: api.run(text, model=reply, store=store, run_id="r"))
    api.resume(text, "r", model=reply, store=store)
    kept = open_store(str(store))
    export_run(kept, kept.find("r"), api.build(text), str(target), has_tasks=True)
    kept.close()
    run = sum_entries(read_recording(str(target)))
    told = json.loads(as_data(run))
    assert ("calls", "tokens_in", "tokens_out", "usd") == tuple(told["doubtful"])
    assert bill == tuple(told["doubtful"].values())
    assert told["tokens_in"] == 900 * (1 + is_answered)
    assert f"1 call of a model, {words}" in page(run)
