"""The pages of `docs/` do what they say, and the links of every Markdown file lead somewhere.

A named block is a file beside the page's commands; the chapters of the tutorial share one folder,
in their order. The commands of a `console` block give the output below them. Those of a `console
local` block ask the real local model: they are run by name (`-m long`), and only have to succeed.
"""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
from support.chunks import check, chunks
from support.command import run_line, sexplang
from support.markdown import ROOT, fences
from support.pages import execute, files, statements

DOCS = ROOT / "docs"
SECTIONS = ("start", "tutorial", "how-to", "explanation")
PAGES = [page for section in SECTIONS for page in sorted((DOCS / section).glob("*.md"))]
LINKED = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *(
        page
        for place in ("docs", "spec", "examples")
        for page in sorted(ROOT.glob(f"{place}/**/*.md"))
    ),
]


def _name(page):
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("chunk", [each for page in PAGES for each in chunks(_name(page))], ids=str)
def test_block(chunk, request):
    """The marks of a block are true; a named block is a file, for the commands below it."""
    check(chunk, update=request.config.getoption("--update"))


def _lay_out(page, place):
    """Write the files of a page, and of the chapters before it where it is one of the tutorial."""
    shutil.copytree(ROOT / "examples", place / "examples", dirs_exist_ok=True)
    before = sorted(page.parent.glob("*.md")) if page.parent.name == "tutorial" else [page]
    for each in before[: before.index(page) + 1]:
        for name, text in files(each).items():
            if name not in ("local", "fleet"):  # kinds of commands
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                (place / name).write_text(text, encoding="utf-8")


def _commands(page, kind):
    """The commands of the `console` blocks of a page, each with the output below it."""
    for fence in fences(page.read_text(encoding="utf-8")):
        if fence.kind == "console" and (fence.name or "") == kind:
            for part in re.split(r"^\$ ", fence.text, flags=re.MULTILINE)[1:]:
                line, _, output = part.partition("\n")
                yield line, output


def _store_of(page, place):
    """Where the runs of a page are kept: nowhere, unless its commands look at them."""
    if not any(line.startswith("sexplang runs ") for line, _ in _commands(page, "")):
        return ""
    folder = place / ".kept"
    folder.mkdir(mode=0o700)
    return folder / "runs.db"


def _run(line, place, store=""):
    if line.startswith("sexplang "):
        return run_line(line, place, SEXPLANG_STORE=str(store))
    program, *words = shlex.split(line)
    known = {"python": sys.executable, "cat": "cat", "ls": "ls"}
    done = subprocess.run(
        [known[program], *words], cwd=place, capture_output=True, encoding="utf-8", timeout=60
    )
    return done.stdout + done.stderr


def _timeless(output):
    """An output without the seconds that it names: `3 passed in 0.1 s`."""
    return re.sub(r"\bin \d+\.\d s$", "in … s", output, flags=re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_the_commands_of_a_page_are_true(page, tmp_path):
    _lay_out(page, tmp_path)
    store = _store_of(page, tmp_path)
    for line, output in _commands(page, ""):
        assert _timeless(output) == _timeless(_run(line, tmp_path, store)), line


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_the_local_model_does_what_a_page_asks(page, tmp_path):
    _lay_out(page, tmp_path)
    for line, _ in _commands(page, "local"):
        _, *words = shlex.split(line)
        done = sexplang(*words, cwd=tmp_path)
        assert 0 == done.returncode, (line, done.stderr)


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_the_python_of_a_page_is_true(page, tmp_path, monkeypatch):
    _lay_out(page, tmp_path)
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    for statement in statements(page):
        execute(statement, names, page.name)


_LINK = re.compile(r"(?<!\\)\]\(([^)\s]+)\)")


def _prose(text):
    """A document without its fenced blocks and the code in its lines."""
    lines = text.split("\n")
    for fence in fences(text):
        for at in range(fence.line, fence.line + fence.text.count("\n")):
            lines[at] = ""
    return re.sub(r"`[^`\n]*`", "", "\n".join(lines))


def _anchors(path):
    """The anchors of a document's headings, as they are made of their words."""
    headings = re.findall(r"^#{1,6} (.+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).strip().replace(" ", "-") for each in headings}


@pytest.mark.parametrize("page", LINKED, ids=_name)
def test_links_lead_somewhere(page):
    """A relative link names a file of the repository, and a heading that is in it."""
    for link in _LINK.findall(_prose(page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = unquote(link).partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists() and target.is_relative_to(ROOT), link
        if anchor and target.suffix == ".md":
            assert anchor in _anchors(target), link


def test_chapters_are_in_the_table_of_contents():
    """`spec/README.md` lists every chapter once."""
    text = (ROOT / "spec/README.md").read_text(encoding="utf-8")
    listed = re.findall(r"\]\((\d\d[a-z]?-[\w-]+\.md)\)", text)

    chapters = [path.name for path in (ROOT / "spec").glob("[0-9]*.md")]
    assert sorted(chapters) == sorted(listed)


def test_a_chapter_that_is_named_is_linked():
    """In the chapters, `chapter 8` is a link."""
    for page in sorted((ROOT / "spec").glob("*.md")):
        bare = re.findall(r"(?<!\[)\bchapter \d+[a-z]?", _prose(page.read_text(encoding="utf-8")))
        assert bare == [], (Path(page).name, bare)
