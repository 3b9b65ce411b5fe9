"""The pages that people wrote: `docs/`, the chapters, the glossary, the decisions, the changes."""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from builder.pages import DOCS, ROOT, SPEC, Page

SECTIONS = {
    "start": "Start",
    "tutorial": "Tutorial",
    "how-to": "How-to",
    "explanation": "Explanation",
}
"""The folders of `docs/`, and what the site calls them."""

CHAPTERS = "reference/chapters"


@cache
def settings() -> dict[str, Any]:
    """Return `docs/search.toml`: words for the search."""
    return tomllib.loads((DOCS / "search.toml").read_text(encoding="utf-8"))


def _read(source: str, path: str, kind: str, **more: Any) -> Page:
    text = (ROOT / source).read_text(encoding="utf-8")
    return Page(path, text, kind, source, **more)


def section_pages() -> Iterator[Page]:
    """Yield the pages of `docs/`; the index of *Start* is that of the site."""
    for section in SECTIONS:
        for file in sorted((DOCS / section).glob("*.md")):
            path = f"{section}/{file.name}"
            if section == "start" and file.name == "index.md":
                path = "index.md"
            kind = "index" if path == f"{section}/index.md" else section
            yield _read(f"docs/{section}/{file.name}", path, kind)


def chapter_pages() -> Iterator[Page]:
    """Yield the chapters, their table of contents, and the glossary."""
    yield _read("spec/README.md", f"{CHAPTERS}/index.md", "index")
    for file in sorted(SPEC.glob("[0-9]*.md")):
        yield _read(f"spec/{file.name}", f"{CHAPTERS}/{file.name}", "chapter")
    yield _read("spec/glossary.md", "reference/glossary.md", "glossary")


def decision_pages() -> Iterator[Page]:
    """Yield the decisions, and a list of them."""
    files = sorted((SPEC / "decisions").glob("*.md"))
    above = (("Decisions", "reference/decisions/index.md"),)
    pages = [
        _read(
            f"spec/decisions/{file.name}",
            f"reference/decisions/{file.name}",
            "decision",
            trail=above,
        )
        for file in files
    ]
    rows = "".join(f"- [{page.title}](/{page.path})\n" for page in pages)
    text = f"# Decisions\n\nWhy some things are as they are.\n\n{rows}"
    yield Page("reference/decisions/index.md", text, "index")
    yield from pages


def project_pages() -> Iterator[Page]:
    """Yield what the project says of itself: how to contribute, what has changed."""
    yield _read("CONTRIBUTING.md", "project/contributing.md", "project")
    yield _read("CHANGELOG.md", "project/changes.md", "project")


def written_pages() -> Iterator[Page]:
    """Yield all of them."""
    yield from section_pages()
    yield from chapter_pages()
    yield from decision_pages()
    yield from project_pages()


Groups = tuple[tuple[str, tuple[str, ...]], ...]


@cache
def list_groups(index: Path) -> Groups:
    """Return the headings of a list of pages, each with the files beside it that it lists."""
    if not index.is_file():
        return ()
    found: list[tuple[str, tuple[str, ...]]] = []
    text = index.read_text(encoding="utf-8")
    for title, body in re.findall(r"^## (.+)\n((?:(?!^## ).*\n?)*)", text, flags=re.MULTILINE):
        rows = re.findall(r"^(?:[-*|]|\d+\.) .*", body, flags=re.MULTILINE)
        files = [file for row in rows for file in re.findall(r"\]\(([\w/-]+\.md)\)", row)]
        found.append((title, tuple(dict.fromkeys(files))))
    return tuple(found)


def chapter_groups() -> Groups:
    """Return the groups of `spec/README.md`, in reading order."""
    return list_groups(SPEC / "README.md")


@cache
def chapter_addresses() -> dict[str, str]:
    """Return the path of each chapter in the site, by its number as texts write it: `8`, `10a`."""
    return {
        file.name.partition("-")[0].lstrip("0"): f"/{CHAPTERS}/{file.name}"
        for file in SPEC.glob("[0-9]*.md")
    }
