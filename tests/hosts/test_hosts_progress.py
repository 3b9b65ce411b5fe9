"""What a person sees on stderr while a run works."""

import io
import re
from threading import Lock

import pytest
from hypothesis import strategies as st
from support.examples import examples

from sexplang.hosts.terminal.progress import Progress
from sexplang.hosts.terminal.show import width_of
from sexplang.hosts.terminal.usage_totals import UsageTotals
from sexplang.hosts.terminal.work_tree import WorkTree
from sexplang.runtime.driver.events import (
    Finished,
    Progressed,
    Queued,
    Retrying,
    Started,
    Withdrawn,
)
from sexplang.runtime.driver.text_stream import TextStream
from sexplang.runtime.journal.rows import Row
from sexplang.terms.effect import Request
from sexplang.terms.task import Context, Conversation, error_record
from sexplang.terms.work import Work

USED = {"input_tokens": 30, "output_tokens": 12}


def asked(id, operation, task=None, turn=None):
    """A request, for a model's `turn`-th call of a task if it is that."""
    said = [{"role": "assistant", "content": []}] * ((turn or 1) - 1)
    around = (Conversation(task, "", 0),) if task else ()
    return Request(id, operation, ({"messages": said},) if turn else (), Context(around))


def started(*request):
    return Started(asked(*request))


def finished(id, operation, task, turn, seconds, model=None, usage=None, error=None):
    reply = error or {"model": model, "usage": usage}
    row = Row(id, operation, (), reply, error is not None, 1, 0.0, seconds)
    return Finished(asked(id, operation, task, turn), row)


def begun(live=False, quiet=False, size=(80, 24), **settings):
    """A progress whose clock goes on by a tenth of a second when somebody looks, and which draws
    when it is told to."""
    ticks = iter(range(1_000_000))
    return Progress(
        io.StringIO(),
        live,
        quiet,
        clock=lambda: next(ticks) / 10,
        size=lambda: size,
        every=3600,
        **settings,
    )


def watched(live=False, quiet=False):
    progress = begun(live, quiet)
    progress(started("1", "model", "summarize", 1))
    progress(finished("1", "model", "summarize", 1, 0.5, "tiny", USED))
    progress(Progressed(asked("p", "progress"), "half way", 0.5))
    progress.draw()
    progress.close()
    return progress.stream.getvalue()


def lines_of(progress):
    """What stands on the terminal after the last drawing."""
    progress.draw()
    return screen(progress.stream.getvalue())


def screen(text):
    """What a terminal that understands no more than rich writes shows in the end."""
    rows, at = [""], 0
    for part in re.split("(\x1b\\[[?0-9;]*[AKhlm]|\r|\n)", text):
        if found := re.fullmatch("\x1b\\[([0-9]*)A", part):
            at -= int(found[1])
        elif part == "\x1b[2K":
            rows[at] = ""
        elif part == "\n":
            at += 1
            rows += [""] * (at == len(rows))
        elif part not in ("", "\r") and not part.startswith("\x1b"):
            rows[at] += part
    while rows and not rows[-1]:
        rows.pop()
    return rows


@pytest.fixture(autouse=True)
def terminal(monkeypatch):
    """One that understands what moves the cursor."""
    monkeypatch.setenv("TERM", "xterm-256color")


def test_without_a_terminal_only_the_summary_is_written():
    """It names model, calls, tokens and seconds."""
    assert re.fullmatch(r"model tiny: 1 call, 30 tokens in, 12 out, 0\.\d seconds\n", watched())


def test_quiet_writes_nothing():
    """With --quiet not even the summary."""
    assert "" == watched(quiet=True) == watched(live=True, quiet=True)


def test_a_terminal_shows_what_is_at_work_and_clears_it():
    """A line per request under way and one that counts; taken away when the run has ended."""
    progress = begun(live=True)
    progress(started("1", "model", "summarize", 2))
    progress(Progressed(asked("p", "progress"), "half way", 0.5))
    first = lines_of(progress)
    progress(finished("1", "model", "summarize", 2, 0.5, "tiny", USED))
    second = lines_of(progress)
    progress.close()

    assert re.fullmatch(r"… summarize  turn 2  0\.\d s", first[0])
    assert "half way 50%" == first[1]
    assert re.fullmatch(r"1 running · 0\.\d s", first[2])
    assert re.fullmatch(r"0 running, 1 done · 30 tokens in, 12 out · \d\.\d s", second[1])
    assert [2, ["model"]] == [
        len(second),
        [line.split()[0] for line in screen(progress.stream.getvalue())],
    ]


def test_the_progress_of_a_tool_is_shown_beside_it():
    """What its server reports; that of the program has a line of its own."""
    progress = begun(live=True)
    progress(started("1", "tool"))
    progress(Progressed(asked("1", "tool"), "page 3", 0.25))
    first, second = lines_of(progress)
    progress.close()

    assert re.fullmatch(r"… tool  0\.\d s  page 3 25%", first)
    assert second.startswith("1 running")


def test_what_runs_is_shown_however_much_waits():
    """A call that has waited is shown among the others once it is made."""
    progress = begun(live=True)
    for at in range(200):
        progress(Queued(asked(str(at), "model", "ask")))
    for at in range(20):
        progress(started(str(at), "model", "ask", 1))
    for at in range(10):
        progress(finished(str(at), "model", "ask", 1, 0.1, "tiny", USED))
    shown = lines_of(progress)
    progress.close()

    assert 8 == sum(line.startswith("… ask") for line in shown)
    assert shown[-2] == "  2 more"
    assert shown[-1].startswith("10 running, 180 waiting, 10 done")


@pytest.mark.parametrize(
    ("height", "asked", "read", "expected"),
    [
        (24, 20, 9, [*["ask"] * 8, "12 more", *["read-file"] * 8, "1 more"]),
        (24, 8, 2, [*["ask"] * 8, *["read-file"] * 2]),
        (12, 9, 9, [*["ask"] * 8, "1 more", "9 more"]),
        (10, 8, 2, [*["ask"] * 8]),
        (6, 20, 2, [*["ask"] * 3, "17 more"]),
        (3, 20, 2, ["20 more"]),
        (2, 20, 2, []),
    ],
)
def test_of_what_is_alike_eight_are_shown_and_the_rest_are_counted(height, asked, read, expected):
    """Also where nobody tells of the tree of work; never more lines than there is room for."""
    progress = begun(live=True, size=(80, height))
    for at in range(20):
        if at < asked:
            progress(started(f"a{at}", "model", "ask", 1))
        if at < read:
            progress(started(f"r{at}", "read-file"))
    shown = lines_of(progress)
    progress.close()

    assert shown[-1].startswith(f"{asked + read} running")
    assert expected == [line.strip("… ").split("  ")[0] for line in shown[:-1]]


def test_what_waits_is_counted():
    """Calls for which there is no place yet, and those that are tried again."""
    progress = begun(live=True, usage=UsageTotals(lambda *_: 0.25))
    for id in ("1", "2", "3"):
        progress(Queued(asked(id, "model", "ask")))
    progress(started("1", "model", "ask", 1))
    progress(started("2", "model", "ask", 1))
    progress(Withdrawn(asked("3", "model")))
    progress(Queued(asked("4", "model", "ask")))
    busy = error_record("TASK_FAILURE", "llm_error", "busy")
    progress(Retrying(asked("1", "model", "ask"), 1, 90.0, busy))
    TextStream(asked("2", "model", "ask"), progress).take("text", 20 * "a")
    progress(started("5", "run-script"))
    progress(finished("5", "run-script", None, None, 0.1, error=busy))
    progress(started("6", "model", "ask", 1))
    progress(finished("6", "model", "ask", 1, 0.1, "tiny", USED))
    shown = lines_of(progress)
    progress.close()

    assert shown[0].startswith("· ask") and shown[0].endswith("again in 90.0 s (attempt 1)")
    assert shown[1].startswith("… ask") and "20 characters so far" in shown[1]
    assert shown[2].startswith(
        "2 running, 1 waiting, 2 done, 1 failed · 30 tokens in, 12 out · $0.2500 · "
    )


def test_nothing_that_is_said_steers_the_terminal():
    """Not the name of a task, the words of a program, nor those of a plan."""
    progress = begun(live=True)
    root = progress.work_tree.run(0.0)
    task = progress.work_tree.work(Work("w0", "task", "\x1b[2J\rx\u202e"), root, 0.0)
    progress.work_tree.request(Request("1", "model", ()), task, 0.0)
    progress(started("1", "model", "\x1b[2J", 1))
    progress(Progressed(asked("p", "progress"), "\x1b]0;title\x07\nmore", None))
    progress.draw()
    text = progress.stream.getvalue()
    progress.close()

    assert "␛[2J␍x<U+202E>" in text and "␛]0;title␇ more" in text
    assert [] == re.findall("\x1b[^\\[]|\x1b\\[2J|\x07", text)


def test_the_programs_own_output_is_not_drawn_over():
    """What is drawn goes before a program writes or a person is asked, and nothing is drawn until
    that is over."""
    progress = begun(live=True)
    progress(started("1", "model", "ask", 1))
    drawn = lines_of(progress)
    progress(started("2", "ask-user"))
    progress(started("3", "print"))
    progress(finished("3", "print", None, None, 0.0))
    between = lines_of(progress)
    progress(Withdrawn(asked("2", "ask-user")))
    after = lines_of(progress)
    progress.close()

    assert [2, 0, 2] == [len(drawn), len(between), len(after)]


def test_a_run_without_models_has_no_summary():
    """Nothing was spent, so nothing is said."""
    stream = io.StringIO()
    progress = Progress(stream, live=False)
    progress(started("1", "now"))
    progress(finished("1", "now", None, None, 0.0))
    progress.close()

    assert stream.getvalue() == ""


def grown(progress, moves):
    """A tree of work, and the events of its requests, as drawn numbers say."""
    working = progress.work_tree
    open_works, requests = [working.run(0.0)], []
    for at, (move, pick) in enumerate(moves):
        parent = open_works[pick % len(open_works)]
        if move == "request":
            id = f"{at}"
            requests.append((id, working.request(Request(id, "model", ()), parent, at)))
            progress(started(id, "model", "a task", 1))
        elif move == "answer" and requests:
            id, node = requests.pop(pick % len(requests))
            working.end(node, at, None, cut=False)
            progress(finished(id, "model", "a task", 1, 1.0, "tiny", USED))
        elif move == "end" and len(open_works) > 1:
            node = open_works.pop(1 + pick % (len(open_works) - 1))
            working.end(node, at, None, cut=pick % 2 == 0)
        elif move in ("branch", "task", "plan", "plan-node"):
            name = str(pick) if move == "branch" else f"{move} {pick} 茶" * (1 + pick % 9)
            open_works.append(working.work(Work(f"w{at}", move, name), parent, at))


KINDS = ("branch", "task", "plan", "plan-node", "request", "request", "answer", "end")
MOVES = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 40)), max_size=80)


@examples(40, 200, MOVES, st.integers(1, 120), st.integers(1, 40))
def test_what_is_drawn_fits_the_terminal(moves, width, height):
    """However much work there is: a line stays free below, and so does a column."""
    progress = begun(live=True, size=(width, height))
    for part in (moves[: len(moves) // 2], moves[len(moves) // 2 :]):
        grown(progress, part)
        shown = lines_of(progress)
        assert len(shown) < height
        assert all(width_of(line) < width for line in shown)
    progress.close()


def test_a_thousand_branches_are_a_few_lines():
    """Those at work come first; the rest are counted."""
    working = WorkTree(Lock(), clock=lambda: 0.0)
    root = working.run(0.0)
    branches = [
        working.work(Work(f"b{at}", "branch", str(at)), root, 0.0) for at in reversed(range(1000))
    ][::-1]
    for at in range(700, 720):
        working.request(Request(f"{at}", "model", ()), branches[at], 0.0)
    for each in branches[:40]:
        working.end(each, 0.0, None, cut=False)
    lines = working.lines(20, lambda id: ("runs", f"call {id}"))

    assert [f"branch {at}" for at in range(700, 708)] == [line.name for line in lines[:8]]
    assert ["952 more", "40 done"] == [lines[8].name, lines[8].words]
    assert 9 == len(lines)


def test_a_plan_is_shown_as_it_grows():
    """What is done stays, behind what it is a part of; a chain of one part each is one line."""
    working = WorkTree(Lock(), clock=lambda: 5.0)
    plan = working.work(Work("w0", "plan", "report"), working.run(0.0), 0.0)
    for at, state in enumerate(("done", "failed", "runs", "waits")):
        branch = working.work(Work(f"b{at}", "branch", str(at)), plan, 1.0)
        if state == "waits":
            continue
        node = working.work(Work(f"n{at}", "plan-node", f"report/sub-{at}"), branch, 1.0)
        if state == "runs":
            task = working.work(Work(f"t{at}", "task", "look-up"), node, 1.0)
            working.request(Request("7", "model", ()), task, 1.0)
        else:
            error = error_record("TASK_FAILURE", "x", "y") if state == "failed" else None
            working.end(node, 2.0, error, cut=False)
            working.end(branch, 2.0, None, cut=False)
    lines = working.lines(20, lambda id: ("runs", "2.0 s"))

    assert [
        (0, "plan report", "runs", "2 done  5.0 s"),
        (1, "report/sub-0", "done", "1.0 s"),
        (1, "report/sub-1", "failed", "1.0 s"),
        (1, "branch 2 › report/sub-2 › look-up", "runs", "2.0 s"),
        (1, "branch 3", "waits", "4.0 s"),
    ] == [(line.depth, line.name, line.state, line.words) for line in lines]
