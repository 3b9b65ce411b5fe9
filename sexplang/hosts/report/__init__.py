"""`sexplang runs report`: the report of a recorded run, as HTML or JSON."""

import os
import sys
import tempfile

from sexplang.hosts.cli.guard import DONE, FAILED, MISUSE, say
from sexplang.terms.diagnostic import Diagnostic


def report(path: str, to: str | None, *, as_json: bool) -> int:
    """Write the report of a recording to a file, or to standard output for None and `-`; return the
    exit status."""
    from sexplang.guards.secrets import redact_text
    from sexplang.hosts.report.entries import as_data, sum_entries
    from sexplang.hosts.report.page import page
    from sexplang.runtime.journal.json_lines import CHECKED
    from sexplang.runtime.journal.recording_reader import OLD, TORN, read_recording
    from sexplang.runtime.refusal import Refusal

    if to is None and not as_json and sys.stdout.isatty():
        say("a page is no text for a terminal; name a file: -o report.html")
        return MISUSE
    to = None if to == "-" else to
    if (
        to is not None
        and os.path.exists(to)
        and os.path.exists(path)
        and os.path.samefile(to, path)
    ):
        say("the report would take the place of the recording; name another file with -o")
        return MISUSE
    try:
        run = sum_entries(read_recording(path))
    except Refusal as refusal:
        fields = refusal.error.fields
        code = str((fields["details"] or {}).get("code") or fields["reason"])
        hint = str(fields["hint"])
        return _report(Diagnostic(code, str(fields["message"]), hint=hint))
    told = [TORN] * run.recording.is_torn + [OLD] * (run.recording.version < CHECKED)
    for words in told:
        print(f"{path}: {words}", file=sys.stderr)
    text = redact_text(as_data(run) if as_json else page(run))
    if to is None:
        sys.stdout.write(text)
        return DONE
    try:
        _put(to, text)
    except OSError as error:
        hint = "give the path of a file in a folder that may be written"
        return _report(
            Diagnostic("file-failed", f"cannot write `{to}`: {error.strerror}", hint=hint)
        )
    count = len(run.recording.rows)
    print(f"{to}: {count:,} {'row' if count == 1 else 'rows'}", file=sys.stderr)
    return DONE


def _put(path: str, text: str) -> None:
    """Write a file atomically. Only its owner may read it: it holds what models were told."""
    path = os.path.realpath(path)
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe or a device stays one
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return
    folder, name = os.path.split(path)
    handle, written = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(written, path)
    finally:
        if os.path.exists(written):
            os.unlink(written)


def _report(diagnostic: Diagnostic) -> int:
    from sexplang.hosts.terminal.show import diagnostics_text

    print(diagnostics_text((diagnostic,), sys.stderr), file=sys.stderr)
    return FAILED
