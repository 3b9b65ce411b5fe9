"""What the language promises and what its specification shows: nothing is promised unseen.

The names are those of the language's contract, section by section. Each has a form in an executed
block of `spec/` that works, and one that is refused; each code has a form that is refused with it.
"""

import re
from collections.abc import Iterator

import pytest
from support.chunks import chunks
from support.markdown import ROOT, Chunk, fences
from support.promised import CALLING, FORMS, OPERATIONS, PRIMITIVES
from support.sources import no_files

from sexplang import primitives
from sexplang.pipeline.pipeline import build
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.source import Source

ALL = [*FORMS, *OPERATIONS, *PRIMITIVES, *CALLING]
# Some of these mean something only inside others.
WORDS = {*FORMS, *OPERATIONS}

# Codes that no block of program text can show, by the reason; their pages have the words as text.
UNSHOWN = {
    "said by the command about its arguments": """
        bad-input missing-input unknown-input bad-pattern bad-test test-failed unscripted-request
        bad-recording bad-configuration bad-server recording-too-old unused-model""",
    "stands in the details of an error whose reason is shown": """
        script-status script-timeout tool-failed mcp-failed mcp-timeout
        answer-too-large""",
    "a model's server, or what stands for it, is at fault": """
        bad-key bad-model-file bad-reply bad-script broken-install
        configuration_error missing-key missing-model model-busy model-failed
        model-not-found model-overloaded model-redirected
        model-refused-request model-timeout no-connection no-model reply-cut-short
        script-mismatch scripted-error unknown-model""",
    "the files of the machine and the journal of a run": """
        bad-index cancelled file-exists frozen-mismatch import-denied index-busy index-failed
        index-too-new journal-mismatch newer-run not-available record-failed
        answered-already bad-answer bad-store in-doubt no-question no-row not-agreed not-kept
        program-changed run-busy run-ended run-exists store-failed
        unknown-run""",
    "a collector of traces is at fault": "trace-failed",
    "what a Python caller registers": """
        bad-function bad-tool-input performer-failed primitive-failed""",
    "a Python file that a program imports": "bad-python python-denied python-failed",
    "takes more text or time than a page has; tests/hostile shows each": """
        limit-allocation limit-branches limit-depth limit-frames limit-memory limit-model-calls
        limit-size limit-steps xml-too-large""",
    "a value that the page shows, not an error": "plan-denied skipped subtask_failure",
}

_STRING = re.compile(r'"""[\s\S]*?"""|"(?:\\.|[^"\\])*"|;.*')
_XML_WARNING = re.compile(r"<!-- warns ([a-z-]+)")  # the chapter's own runner holds it to that
_MARGIN = re.compile(r"^[^\s;)\]}]", re.MULTILINE)


def pieces(chunk: Chunk) -> Iterator[tuple[str, bool]]:
    """The forms of a block as text without strings and comments, and whether each is refused."""
    starts = [found.start() for found in _MARGIN.finditer(chunk.text)]
    ends = {mark.offset: mark.kind for mark in chunk.marks if mark.kind in "!=>"}
    for at, start in enumerate(starts):
        stop = starts[at + 1] if at + 1 < len(starts) else len(chunk.text) + 1
        inside = [kind for offset, kind in sorted(ends.items()) if start < offset <= stop]
        yield _STRING.sub('""', chunk.text[start:stop]), inside[:1] == ["!"]


def words(text: str) -> set[str]:
    """The words of a text; a dotted path is its head."""
    return {part.rstrip(":") for part in re.split(r"[\s()\[\]{}'`,]+|~@?", text) if part}


def shown() -> tuple[set[str], set[str], set[str]]:
    """Words that stand in forms that work, in forms that are refused, and the codes of those."""
    good: set[str] = set()
    bad: set[str] = set()
    codes: set[str] = set()
    for page in ROOT.glob("spec/**/*.md"):
        codes.update(_XML_WARNING.findall(page.read_text("utf-8")))
    for chunk in chunks("spec", "README.md"):
        codes.update(mark.text.partition(" ")[0] for mark in chunk.marks if mark.kind == "!")
        for text, refused in pieces(chunk):
            (bad if refused else good).update(words(text))
    return good, bad, codes


def is_built(name: str) -> bool:
    """Whether the name means anything yet."""
    if name in WORDS:
        return True
    try:
        build(Source("name", name), no_files)
    except Diagnostics as found:
        return all(each.code != "unbound-name" for each in found.diagnostics)
    return True


@pytest.fixture(scope="module")
def seen():
    return shown()


def test_every_promised_name_is_shown_at_work(seen):
    """Each form, effect and function stands in a block that runs."""
    good, _, _ = seen
    built = [name for name in ALL if is_built(name)]

    assert [name for name in built if name not in good] == []


def test_every_promised_name_is_shown_refused(seen):
    """Each form, effect and function stands in a form that is refused, statically or at run
    time."""
    _, bad, _ = seen
    built = [name for name in ALL if is_built(name)]

    assert [name for name in built if name not in bad] == []


def test_what_exists_is_promised_or_shown(seen):
    """Every primitive and host operation is in the lists above, or shown all the same."""
    good, bad, _ = seen
    unlisted = {*primitives.PRIMITIVES, *primitives.OPERATIONS} - {*ALL}

    assert sorted(name for name in unlisted if name not in good & bad) == []


def test_every_code_is_shown(seen):
    """Each page's code refuses a form in some block, or is on the list of what no block can
    show, and then its page has the words as text."""
    _, _, codes = seen
    pages = {page.stem: page for page in ROOT.glob("spec/errors/*.md")}

    unshown = {code: reason for reason, listed in UNSHOWN.items() for code in listed.split()}

    assert sorted({*pages} - codes - {*unshown}) == []
    assert sorted(code for code in unshown if code in codes or code not in pages) == []
    for code, reason in unshown.items():
        kinds = {fence.kind for fence in fences(pages[code].read_text("utf-8"))}
        assert kinds & {"text", "console"}, f"{code}: {reason}, but no text shows it"
