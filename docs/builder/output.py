"""The HTML that the generator made: what is mended in it, and whether its links lead somewhere."""

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from posixpath import dirname, normpath
from urllib.parse import unquote

from lxml import html

_LEFTOVERS = ("search.js", "search.json", "sitemap.xml", "404.html")

_MENDED: tuple[tuple[str, str], ...] = (
    # What the generator's templates write, and what a screen reader can work with.
    (r'(<nav class="md-nav"[^>]*?) aria-expanded="(?:true|false)"', r"\1"),
    (r'(<nav class="md-nav md-nav--primary[^>]*aria-label=)"[^"]*"', r'\1"Contents"'),
    (r'(<nav class="md-path" aria-label=)"[^"]*"', r'\1"Path"'),
    # A folder is no page where no server is.
    (r'href="((?:\.\./?|\./?)*\.)/?"', r'href="\1/index.html"'),
    (r'<link rel="canonical"[^>]*>', ""),
    (r'<meta name="generator"[^>]*>', ""),
)


def mend(folder: Path) -> None:
    """Take out what the pages do not need, and mend what the templates get wrong."""
    for name in _LEFTOVERS:
        (folder / name).unlink(missing_ok=True)
    for file in folder.rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        for pattern, instead in _MENDED:
            text = re.sub(pattern, instead, text)
        file.write_text(text, encoding="utf-8")


def share_contents(folder: Path, above: Mapping[str, str]) -> None:
    """Give each page that no table of contents lists that of a page beside it, by address."""
    for address, other in above.items():
        file = folder / address
        text = file.read_text(encoding="utf-8")
        shown = (folder / other).read_text(encoding="utf-8")
        for part in _CONTENTS:
            found, own = part.search(shown), part.search(text)
            if found and own:
                part_of_other = found[0].replace('href="#', f'href="{PurePosixPath(other).name}#')
                text = f"{text[: own.start()]}{part_of_other}{text[own.end() :]}"
        file.write_text(text, encoding="utf-8")


_CONTENTS = (
    re.compile(r'<nav class="md-tabs".*?</nav>', re.DOTALL),
    re.compile(
        r'<div class="md-sidebar md-sidebar--primary".*?(?=<div class="md-sidebar md-sidebar--sec)',
        re.DOTALL,
    ),
)


class Documents:
    """The pages of a folder of HTML, parsed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.parsed = {
            file.relative_to(folder).as_posix(): html.document_fromstring(file.read_bytes())
            for file in sorted(folder.rglob("*.html"))
        }
        self._ids = {
            path: frozenset(document.xpath("//@id | //a/@name"))
            for path, document in self.parsed.items()
        }
        self.checked = 0

    def find_broken(self) -> list[str]:
        """Return the links, scripts, styles and pictures that lead nowhere, or to another host."""
        return [
            f"{path}: {link}"
            for path, document in self.parsed.items()
            for link, loads in self._list_links(document)
            if not self._leads_somewhere(path, link, loads)
        ]

    def _list_links(self, document: html.HtmlElement) -> list[tuple[str, bool]]:
        """Return the links of a page, each with whether the page loads it by itself."""
        loaded = document.xpath("//@src | //link[not(@rel='canonical')]/@href")
        return [(link, True) for link in loaded] + [
            (link, False) for link in document.xpath("//a/@href")
        ]

    def _leads_somewhere(self, page: str, link: str, loads: bool) -> bool:
        self.checked += 1
        if re.match(r"[a-z][a-z+.-]*:|//", link):
            return not loads or link.startswith("data:")
        path, _, anchor = unquote(link).partition("#")
        target = normpath(f"{dirname(page)}/{path}".lstrip("/")) if path else page
        if not (self.folder / target).is_file():
            return False
        return not anchor or target not in self._ids or anchor in self._ids[target]
