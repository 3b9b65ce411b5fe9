"""The links of the pages: from files of the repository to pages of the site, and whether they
lead somewhere."""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePosixPath
from posixpath import normpath
from urllib.parse import unquote

from builder.example_pages import example_folders, example_path, list_files, source_page
from builder.markdown import anchors, change_links
from builder.pages import ROOT, File, Page, relative
from builder.written_pages import SECTIONS

_ELSEWHERE = re.compile(r"[a-z][a-z+.-]*:")


class Links:
    """The targets of links, and those that lead nowhere.

    A file that is no page and that a page links to becomes one, in `added`.
    """

    def __init__(self, pages: Iterable[Page]) -> None:
        self.pages: dict[str, Page] = {}
        self.broken: list[str] = []
        for page in pages:
            if page.path in self.pages:
                self.broken.append(f"{page.source or page.title}: {page.path} is there twice")
            self.pages[page.path] = page
        self.checked = 0
        self.added: dict[str, Page | File] = {}
        self._targets = self._list_targets()
        self._anchors: dict[str, frozenset[str]] = {}

    def _list_targets(self) -> dict[str, str]:
        """Return the path in the site of each file and folder that has a page."""
        found = {page.source: page.path for page in self.pages.values() if page.source}
        for section in SECTIONS:
            first = [path for path in self.pages if path.startswith(f"{section}/")]
            found[f"docs/{section}"] = min(first, default="index.md")
        if "index.md" in self.pages:
            found.setdefault("README.md", "index.md")
            found["docs/start"] = found["docs"] = "index.md"
        for place, index in _INDEXES.items():
            if index in self.pages:
                found[place] = index
        for file in (ROOT / "spec/errors").glob("*.md"):
            found[f"spec/errors/{file.name}"] = f"reference/errors/{file.name}"
        for folder in example_folders():
            name = folder.relative_to(ROOT).as_posix()
            found[name] = example_path(folder)
            for each in list_files(folder):
                inner = each.relative_to(folder).as_posix()
                anchor = next(anchors(f"# {inner}"))
                found[f"{name}/{inner}"] = f"{example_path(folder)}#{anchor}"
        return found

    def resolve(self, page: Page) -> Page:
        """Return a page whose links are those of the site. What is broken is noted."""
        return replace(page, text=change_links(page.text, lambda link: self._change(link, page)))

    def _change(self, link: str, page: Page) -> str:
        if _ELSEWHERE.match(link):
            return link
        self.checked += 1
        path, _, anchor = unquote(link).partition("#")
        if not path:
            target = page.path
        elif path.startswith("/"):
            target = normpath(path[1:])
        else:
            target = self._find(path, page)
        target, _, inner = target.partition("#")
        if not self._exists(target, anchor):
            self.broken.append(f"{page.source or page.path}: {link}")
            return link
        place = f"#{anchor or inner}" if anchor or inner else ""
        return place if not path else relative(target, page.path) + place

    def _find(self, path: str, page: Page) -> str:
        """Return the path in the site of a file that a link names from beside the page's source."""
        if page.source is None:
            return path
        source = normpath(str(PurePosixPath(page.source).parent / path))
        if source in self._targets:
            return self._targets[source]
        if source.startswith("..") or not (ROOT / source).exists():
            return path
        if source not in self.added:
            self.added[source] = source_page(source)
        return self.added[source].path

    def _exists(self, target: str, anchor: str) -> bool:
        if target in self.pages:
            return not anchor or anchor in self._list_anchors(target)
        return any(each.path == target for each in self.added.values())

    def _list_anchors(self, path: str) -> frozenset[str]:
        if path not in self._anchors:
            self._anchors[path] = frozenset(anchors(self.pages[path].text))
        return self._anchors[path]


_INDEXES = {
    "spec": "reference/chapters/index.md",
    "spec/errors": "reference/errors/index.md",
    "spec/decisions": "reference/decisions/index.md",
    "examples": "examples/index.md",
}
"""Folders that have a page."""
