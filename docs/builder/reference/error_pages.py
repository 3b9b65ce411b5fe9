"""Pages of the error codes, from `spec/errors/`."""

import re
from collections.abc import Iterator

from builder.markdown import link_chapters
from builder.pages import SPEC, Page, code, table
from builder.written_pages import chapter_addresses

ERRORS = "reference/errors"


def error_pages() -> Iterator[Page]:
    """Yield a page for each code, and a list of all."""
    rows = []
    for file in sorted((SPEC / "errors").glob("*.md")):
        page = _page(file.stem, file.read_text(encoding="utf-8"))
        rows.append((f"[{code(file.stem)}](/{page.path})", _summary(page.text)))
        yield page
    text = (
        "# Error codes\n\nEvery error has a code. `sexplang explain CODE` prints its page in the"
        f" terminal.\n\n{table(('code', 'what it says'), rows)}"
    )
    yield Page(f"{ERRORS}/index.md", text, "index")


def _page(name: str, text: str) -> Page:
    body = link_chapters(text.partition("\n")[2], chapter_addresses().get)
    said = f"`sexplang explain {name}` prints this page in the terminal.\n"
    return Page(
        f"{ERRORS}/{name}.md",
        f"# {code(name)}\n{body.rstrip()}\n\n{said}",
        "error",
        trail=(("Error codes", f"{ERRORS}/index.md"),),
    )


def _summary(text: str) -> str:
    """Return the first sentence below the title."""
    first = text.partition("\n\n")[2].partition("\n\n")[0]
    return re.split(r"(?<=\.)\s", " ".join(first.split()), maxsplit=1)[0]
