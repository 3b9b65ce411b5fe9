"""What a person sees on stderr while a run works."""

import io

from sexplang.hosts.progress import Progress
from sexplang.runtime.events import Finished, Progressed, Started


def watched(live=False, quiet=False):
    stream = io.StringIO()
    ticks = iter(range(1000))
    progress = Progress(stream, live, quiet, clock=lambda: next(ticks) / 10)
    progress(Started("1", "model", "summarize", 1))
    usage = {"input_tokens": 30, "output_tokens": 12}
    progress(Finished("1", "model", "summarize", 1, 0.5, "tiny", usage))
    progress(Progressed("half way", 0.5))
    progress.close()
    return stream.getvalue()


def test_without_a_terminal_only_the_summary_is_written():
    """It names model, calls, tokens and seconds."""
    assert watched() == "model tiny: 1 call, 30 tokens in, 12 out, 0.2 seconds\n"


def test_quiet_writes_nothing():
    """With --quiet not even the summary."""
    assert "" == watched(quiet=True) == watched(live=True, quiet=True)


def test_a_terminal_shows_the_task_at_work_and_clears_it():
    """A line per running task, taken away when it has ended."""
    shown = watched(live=True)

    assert "… summarize  turn 1  0 tokens  0.1 s\n" in shown
    assert "half way 50%\n" in shown
    assert shown.endswith("\x1b[1A\x1b[Jmodel tiny: 1 call, 30 tokens in, 12 out, " + shown[-12:])


def test_a_run_without_models_has_no_summary():
    """Nothing was spent, so nothing is said."""
    stream = io.StringIO()
    progress = Progress(stream, live=False)
    progress(Started("1", "now"))
    progress(Finished("1", "now", None, None, 0.0))
    progress.close()

    assert stream.getvalue() == ""
