"""Pages of the examples: what a README says, then the files; and pages of other linked files."""

from collections.abc import Iterator
from pathlib import Path

from builder.pages import ROOT, File, Page, fence

EXAMPLES = "examples"
FILES = "files"
_MOST_LINES = 400
_KINDS = {
    ".sexp": "sexp",
    ".xml": "xml",
    ".json": "json",
    ".jsonl": "json",
    ".py": "python",
    ".sh": "sh",
    ".toml": "toml",
    ".yml": "yaml",
    ".css": "css",
    ".js": "js",
    ".gbnf": "gbnf",
}
_PICTURES = frozenset((".png", ".svg", ".jpg", ".gif", ".webp"))
_IDLE = frozenset(("__pycache__", ".sexplang", ".pytest_cache"))


def example_folders() -> list[Path]:
    """Return the folders of the examples: those that have a README."""
    found = [path.parent for path in (ROOT / "examples").glob("**/README.md")]
    return sorted(path for path in found if path != ROOT / "examples")


def example_path(folder: Path) -> str:
    """Return the path of an example's page."""
    name = "-".join(folder.relative_to(ROOT / "examples").parts)
    return f"{EXAMPLES}/{name}.md"


def example_pages() -> Iterator[Page]:
    """Yield a page for each example, and a list of all."""
    rows = []
    for folder in example_folders():
        page = _page(folder)
        name = folder.relative_to(ROOT / "examples")
        rows.append(f"- [{page.title}](/{page.path}): `examples/{name}`\n")
        yield page
    readme = ROOT / "examples" / "README.md"
    if readme.is_file():
        text = readme.read_text(encoding="utf-8")
        yield Page(f"{EXAMPLES}/index.md", text, "index", "examples/README.md")
    else:
        text = f"# Examples\n\nEach is a small project with a test.\n\n{''.join(rows)}"
        yield Page(f"{EXAMPLES}/index.md", text, "index", "examples/README.md")


def _page(folder: Path) -> Page:
    source = (folder / "README.md").relative_to(ROOT).as_posix()
    text = (folder / "README.md").read_text(encoding="utf-8").rstrip()
    shown = "\n".join(_show(file, folder) for file in list_files(folder))
    return Page(example_path(folder), f"{text}\n\n## The files\n\n{shown}", "example", source)


def list_files(folder: Path) -> list[Path]:
    """Return the files of an example, its README left out."""
    return sorted(
        file
        for file in folder.rglob("*")
        if file.is_file()
        and file != folder / "README.md"
        and not _IDLE & set(file.relative_to(folder).parts)
        and not any(
            other in file.parents
            for other in example_folders()
            if other != folder and folder in other.parents
        )
    )


def _show(file: Path, folder: Path) -> str:
    name = file.relative_to(folder).as_posix()
    title = f"### {name}\n\n"
    if is_picture(file):
        return f"{title}![{name}](/{file_path(file.relative_to(ROOT).as_posix())})\n"
    text = read_text(file)
    if text is None:
        return f"{title}A file of {file.stat().st_size} bytes.\n"
    lines = text.splitlines()
    if len(lines) > _MOST_LINES:
        text = "\n".join([*lines[:_MOST_LINES], "…"])
    return f"{title}{fence(text, _KINDS.get(file.suffix, 'text'))}"


def is_picture(file: Path) -> bool:
    """Return whether a browser shows a file as a picture."""
    return file.suffix in _PICTURES


def read_text(file: Path) -> str | None:
    """Return the text of a file, None if it is no text."""
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def file_path(source: str) -> str:
    """Return the path in the site of a file that is copied."""
    return f"{FILES}/{source}"


def source_page(source: str) -> Page | File:
    """Return a page that shows a file or a folder of the repository, or the file to copy."""
    file = ROOT / source
    if file.is_dir():
        names = sorted(
            f"{each.name}/" if each.is_dir() else each.name
            for each in file.iterdir()
            if each.name not in _IDLE and not each.name.startswith(".")
        )
        listed = "".join(f"- `{name}`\n" for name in names)
        return Page(f"{FILES}/{source}/index.md", f"# {source}/\n\n{listed}", "file", source)
    text = None if is_picture(file) else read_text(file)
    if text is None:
        return File(file_path(source), source)
    shown = fence(text, _KINDS.get(file.suffix, "text"))
    return Page(f"{file_path(source)}.md", f"# {source}\n\n{shown}", "file", source)
