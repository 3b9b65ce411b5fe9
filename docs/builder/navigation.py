"""The table of contents of the site, and what the generator is told."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from builder.example_pages import example_path
from builder.pages import DOCS, ROOT, Page
from builder.reference.command_pages import COMMANDS, all_commands, command_path
from builder.reference.error_pages import ERRORS
from builder.reference.name_pages import NAMES
from builder.reference.python_pages import PYTHON
from builder.written_pages import CHAPTERS, SECTIONS, chapter_groups, list_groups
from sexplang.terms.run_terms import find_version

REFERENCE = "reference/index.md"
EXAMPLES = "explanation/how-examples-are-written.md"

Nav = list[Any]


def reference_page() -> Page:
    """Return the first page of *Reference*."""
    rows = [
        ("Chapters", f"{CHAPTERS}/index.md", "what the language does, subject by subject"),
        ("Names", f"{NAMES}/index.md", "every function, form and operation, with examples"),
        ("Commands", f"{COMMANDS}/index.md", "`sexplang run` and the others, with their options"),
        ("Python", f"{PYTHON}/index.md", "the package, for programs in Python"),
        ("Error codes", f"{ERRORS}/index.md", "what each error means and what to do"),
        ("Glossary", "reference/glossary.md", "the words of the specification"),
        ("How examples are written", EXAMPLES, "what `;=>` and the other marks say"),
        ("Decisions", "reference/decisions/index.md", "why some things are as they are"),
        ("Changes", "project/changes.md", "what is new in each version"),
        ("Contributing", "project/contributing.md", "how the project is built and kept"),
    ]
    listed = "".join(f"- [{title}](/{path}): {said}.\n" for title, path, said in rows)
    return Page(REFERENCE, f"# Reference\n\nTo look things up.\n\n{listed}", "index")


def contents(pages: Mapping[str, Page]) -> Nav:
    """Return the table of contents: titles with paths, or with tables."""
    sections = {title: _section(name, pages) for name, title in SECTIONS.items()}
    found = [
        ("Start", ["index.md", *sections["Start"]]),
        ("Tutorial", sections["Tutorial"]),
        ("How-to", sections["How-to"]),
        ("Reference", _reference(pages)),
        ("Explanation", sections["Explanation"]),
        ("Examples", _examples(pages)),
    ]
    return [{title: rows} for title, rows in found if rows]


def _section(name: str, pages: Mapping[str, Page]) -> Nav:
    """Return the pages of a folder: its index, the groups that this lists, then the others."""
    paths = [path for path in sorted(pages) if path.startswith(f"{name}/")]
    index = [path for path in paths if path == f"{name}/index.md"]
    groups = {
        title: [
            {_shorten_title(pages[path]): path}
            for each in files
            if (path := f"{name}/{each}") in pages
        ]
        for title, files in list_groups(DOCS / name / "index.md")
    }
    grouped = {path for group in groups.values() for row in group for path in row.values()}
    listed = {title: group for title, group in groups.items() if group}
    rows: Nav = [{title: group} for title, group in listed.items()]
    if len(rows) == 1:  # a list of one group is no group
        (rows,) = listed.values()
    others: Nav = [
        {_shorten_title(pages[path]): path}
        for path in paths
        if path not in grouped and path not in index
    ]
    if len(listed) > 1 and others:
        others = [{"More": [*others]}]
    return [*index, *rows, *others]


def _shorten_title(page: Page) -> str:
    """Return the part of a title before the colon."""
    return page.title.partition(": ")[0]


def _examples(pages: Mapping[str, Page]) -> Nav:
    """Return the examples in the groups of their README; the starters are the last group."""
    first = "examples/index.md"
    paths = [path for path in sorted(pages) if path.startswith("examples/") and path != first]
    folder = ROOT / "examples"
    groups = {
        title: [path for each in files if (path := example_path((folder / each).parent)) in pages]
        for title, files in list_groups(folder / "README.md")
    }
    grouped = {path for group in groups.values() for path in group}
    starters = [path for path in paths if path.startswith("examples/starters-")]
    groups["More"] = [path for path in paths if path not in {*grouped, *starters}]
    groups["What sexplang init copies"] = [path for path in starters if path not in grouped]
    return [first, *({title: group} for title, group in groups.items() if group)]


def _reference(pages: Mapping[str, Page]) -> Nav:
    chapters: Nav = [f"{CHAPTERS}/index.md"]
    for title, files in chapter_groups():
        rows = [
            {f"{file.partition('-')[0].lstrip('0')} {pages[path].title}": path}
            for file in files
            if (path := f"{CHAPTERS}/{file}") in pages
        ]
        chapters.append({title: rows})
    homes = [
        path
        for path, page in pages.items()
        if path.startswith(f"{NAMES}/in-") and page.kind == "index"
    ]
    names: Nav = [f"{NAMES}/index.md", *({pages[path].title: path} for path in homes)]
    commands: Nav = [
        f"{COMMANDS}/index.md",
        *({" ".join(words): command_path(words)} for words, *_ in all_commands()),
    ]
    return [
        REFERENCE,
        {"Chapters": chapters},
        {"Names": names},
        {"Commands": commands},
        {"Python": f"{PYTHON}/index.md"},
        {"Error codes": f"{ERRORS}/index.md"},
        {"Glossary": "reference/glossary.md"},
        {"Decisions": "reference/decisions/index.md"},
        {"Project": ["project/changes.md", "project/contributing.md"]},
    ]


_FEATURES = (
    "content.code.copy",
    "navigation.footer",
    "navigation.indexes",
    "navigation.path",
    "navigation.prune",
    "navigation.tabs",
    "navigation.top",
    "navigation.tracking",
)


def generator_settings(pages: Iterable[Page], theme: Path) -> dict[str, Any]:
    """Return the settings of the generator, whose pages are in `pages` and go to `html`."""

    def palette(scheme: str, icon: str, other: str) -> dict[str, Any]:
        return {
            "media": f"(prefers-color-scheme: {'light' if scheme == 'default' else 'dark'})",
            "scheme": scheme,
            "primary": "custom",
            "accent": "custom",
            "toggle": {"icon": icon, "name": f"Switch to {other}"},
        }

    return {
        "site_name": "sexplang",
        "site_description": "A small Lisp for work that language models do",
        "docs_dir": "pages",
        "site_dir": "html",
        "use_directory_urls": False,
        "nav": contents({page.path: page for page in pages}),
        "theme": {
            "name": "material",
            "variant": "modern",
            "custom_dir": str(theme),
            "language": "en",
            "font": False,
            "favicon": "assets/favicon.svg",
            "features": list(_FEATURES),
            "palette": [
                palette("default", "lucide/sun", "dark"),
                palette("slate", "lucide/moon", "light"),
            ],
            "icon": {"logo": "lucide/parentheses"},
        },
        "extra": {"version_text": find_version()},
        "extra_css": ["assets/site.css"],
        "extra_javascript": ["assets/page.js", "assets/search.js"],
        "plugins": [{"search": {"enabled": False}}],
        "markdown_extensions": [
            "attr_list",
            "tables",
            "sane_lists",
            "md_in_html",
            {"toc": {"permalink": True, "slugify": _slugify(), "toc_depth": 3}},
            {"pymdownx.highlight": {"pygments_lang_class": True, "guess_lang": False}},
            "pymdownx.superfences",
            "admonition",
        ],
    }


def _slugify() -> dict[str, Any]:
    return {"object": "pymdownx.slugs.slugify", "kwds": {"case": "lower"}}
