"""The site: all pages, their links, and the HTML that a generator makes of them."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from builder.example_pages import example_pages
from builder.links import Links
from builder.markdown import translate
from builder.navigation import generator_settings, reference_page
from builder.output import Documents, mend, share_contents
from builder.pages import ROOT, File, Page, relative
from builder.reference.command_pages import command_pages
from builder.reference.error_pages import error_pages
from builder.reference.name_pages import name_pages
from builder.reference.python_pages import python_pages
from builder.search_index import make_index, read_sections
from builder.written_pages import written_pages

THEME = Path(__file__).parent / "theme"
_MOST = 50
"""The broken links that are shown."""


@dataclass(frozen=True)
class Content:
    """What the site is made of: pages whose links are those of the site, and files to copy."""

    pages: tuple[Page, ...]
    files: tuple[File, ...]
    broken: tuple[str, ...]
    links: int


def all_pages() -> Iterator[Page]:
    """Yield every page but those of files that are only linked."""
    yield from written_pages()
    yield from name_pages()
    yield from error_pages()
    yield from command_pages()
    yield from python_pages()
    yield from example_pages()
    yield reference_page()


def gather() -> Content:
    """Return the pages with their links resolved."""
    pages = list(all_pages())
    if not any(page.path == "index.md" for page in pages):
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        pages.append(Page("index.md", text, "start", "README.md"))
    links = Links(pages)
    resolved = [links.resolve(page) for page in links.pages.values()]
    resolved += [each for each in links.added.values() if isinstance(each, Page)]
    files = [each for each in links.added.values() if isinstance(each, File)]
    return Content(tuple(resolved), tuple(files), tuple(links.broken), links.checked)


def write_sources(content: Content, folder: Path) -> None:
    """Write what the generator reads: pages, files, settings."""
    for page in content.pages:
        target = folder / "pages" / page.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_front(page) + translate(_with_trail(page)), encoding="utf-8")
    for file in content.files:
        target = folder / "pages" / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / file.source, target)
    for name in ("site.css", "search.js", "page.js", "favicon.svg"):
        target = folder / "pages" / "assets" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(THEME / name, target)
    settings = generator_settings(content.pages, THEME / "templates")
    (folder / "mkdocs.yml").write_text(json.dumps(settings, indent=1), encoding="utf-8")


def _front(page: Page) -> str:
    return f"---\ntitle: {json.dumps(page.title, ensure_ascii=False)}\n---\n\n"


def _with_trail(page: Page) -> str:
    """Return the text of a page with the pages above it in a line over the title."""
    if not page.trail:
        return page.text
    links = " › ".join(f"[{title}]({relative(path, page.path)})" for title, path in page.trail)
    return f"{links}\n{{ .trail }}\n\n{page.text}"


def generate(folder: Path) -> Path:
    """Make the HTML of what is in a folder; return where it is."""
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--clean", "-f", "mkdocs.yml"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    said = [line for line in done.stdout.splitlines() if re.search(r"warning|error", line, re.I)]
    print("\n".join(said), end="\n" if said else "", file=sys.stderr)
    return folder / "html"


def build(target: Path, anyway: bool = False) -> int:
    """Build the site in a folder; return the status of the command. Nothing is written where a link
    leads nowhere, unless `anyway`."""
    begun = time.monotonic()
    content = gather()
    if content.broken:
        _complain("links that lead nowhere", content.broken)
        if not anyway:
            return 1
    with TemporaryDirectory() as place:
        folder = Path(place)
        write_sources(content, folder)
        made = generate(folder)
        mend(made)
        share_contents(made, _list_above(content))
        documents = Documents(made)
        broken = documents.find_broken()
        if broken:
            _complain("links of the HTML that lead nowhere", broken)
            if not anyway:
                return 1
        index = make_index(
            (page, read_sections(documents.parsed[page.address])) for page in content.pages
        )
        (made / "assets" / "search-index.js").write_text(index, encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(made, target)
    size = sum(file.stat().st_size for file in target.rglob("*") if file.is_file())
    print(
        f"{target}: {len(content.pages)} pages, {documents.checked} links,"
        f" {size / 1e6:.1f} MB, {time.monotonic() - begun:.0f} s"
    )
    return 1 if content.broken or broken else 0


def _list_above(content: Content) -> dict[str, str]:
    """Return the address of the page above, for each page that has one in its folder."""
    return {
        page.address: f"{path.removesuffix('.md')}.html"
        for page in content.pages
        for _, path in page.trail[-1:]
        if PurePosixPath(path).parent == PurePosixPath(page.path).parent
    }


def _complain(what: str, rows: Sequence[str]) -> None:
    shown = [*rows[:_MOST], "…"] if len(rows) > _MOST else rows
    print(f"{len(rows)} {what}:", *shown, sep="\n  ", file=sys.stderr)
