"""The pages of the site, before they are HTML: what there is to look up has one, links lead on."""

from collections import Counter
from dataclasses import replace

import pytest
from builder.example_pages import example_folders, example_path
from builder.links import Links
from builder.markdown import anchors, link_chapters, translate
from builder.navigation import contents
from builder.pages import ROOT, SPEC, Page, cell, slug
from builder.reference.command_pages import all_commands, command_path
from builder.reference.name_pages import entries, name_path, nearest
from builder.reference.python_pages import public_names, python_path
from builder.search_words import divide, root
from builder.site import gather
from builder.written_pages import CHAPTERS, SECTIONS, chapter_groups

import sexplang
import sexplang.testing
from sexplang.hosts.cli.shipped_pages import codes


@pytest.fixture(scope="module")
def content():
    return gather()


@pytest.fixture(scope="module")
def pages(content):
    return {page.path: page for page in content.pages}


def test_every_link_of_the_sources_leads_to_a_page(content):
    assert () == content.broken
    assert content.links > 3000


def test_every_name_has_a_page_with_what_is_known_of_it(pages):
    for name, entry in entries().items():
        text = pages[name_path(name)].text

        assert name == pages[name_path(name)].title
        assert entry.signature in text
        assert all(each.text in text for each in entry.examples)


def test_every_code_has_a_page_that_leads_to_the_chapters_it_names(pages):
    for code in codes():
        page = pages[f"reference/errors/{code}.md"]

        assert page.text.startswith(f"# `{code}`\n")
    assert "[chapter 8](../chapters/08-runtime.md)" in "".join(
        page.text for page in pages.values() if page.kind == "error"
    )


def test_every_command_has_a_page_with_its_options(pages):
    found = list(all_commands())
    for words, command, context in found:
        page = pages[command_path(words)]

        assert page.title == " ".join(("sexplang", *words))
        for each in command.get_params(context):
            record = each.get_help_record(context)
            assert not (record and record[1]) or cell(f"`{record[0]}`") in page.text
    assert {("run",), ("runs", "answer")} <= {words for words, *_ in found}


def test_every_public_name_of_python_has_a_page(pages):
    found = {(module, name) for module, name, _ in public_names()}
    for module, name in found:
        assert pages[python_path(module, name)].title == f"{module}.{name}"
    assert len(found) == len(sexplang.__all__) + len(sexplang.testing.__all__)
    assert "inputs: Mapping[str, Any] | None = None," in pages["reference/python/run.md"].text


def test_every_chapter_and_every_written_page_is_in_the_site(pages):
    sources = {page.source for page in pages.values()}
    files = [*SPEC.glob("[0-9]*.md"), *SPEC.glob("decisions/*.md"), SPEC / "glossary.md"]
    for section in SECTIONS:
        files += (ROOT / "docs" / section).glob("*.md")
    files += [folder / "README.md" for folder in example_folders()]

    assert {file.relative_to(ROOT).as_posix() for file in files} <= sources


def test_an_example_shows_its_files(pages):
    text = pages[example_path(ROOT / "examples" / "one-task")].text

    assert "### summary.sexp" in text and "(import" in text


def test_no_two_pages_have_one_address(content):
    """Nor would they on a disk that does not tell capitals apart."""
    counts = Counter(page.address.lower() for page in content.pages)

    assert [path for path, count in counts.items() if count > 1] == []


def test_every_page_is_in_the_table_of_contents_or_has_a_page_above_it(content, pages):
    listed = set(_flatten(contents(pages)))
    lost = [
        page.path
        for page in content.pages
        if page.path not in listed and not page.trail and page.kind != "file"
    ]

    assert lost == []
    assert all(path in pages for page in content.pages for _, path in page.trail)


def _flatten(rows):
    for row in rows:
        if isinstance(row, dict):
            for inner in row.values():
                yield from _flatten(inner if isinstance(inner, list) else [inner])
        else:
            yield row


def test_chapters_stand_in_reading_order(pages):
    listed = [path for path in _flatten(contents(pages)) if path.startswith(f"{CHAPTERS}/")]
    files = [file for _, group in chapter_groups() for file in group]

    assert [f"{CHAPTERS}/{name}" for name in ("index.md", *files)] == listed
    assert len(files) == len(list(SPEC.glob("[0-9]*.md")))


@pytest.mark.parametrize(
    ("link", "is_broken"),
    [
        ("05-tasks.md", False),
        ("05-tasks.md#calling-a-task", False),
        ("05-tasks.md#nowhere", True),
        ("99-nothing.md", True),
        ("../examples/one-task/note.txt", False),
        ("../pyproject.toml", False),
        ("../../outside.md", True),
        ("https://example.org/page", False),
    ],
)
def test_a_link_that_leads_nowhere_is_found(pages, link, is_broken):
    links = Links(pages.values())
    chapter = pages[f"{CHAPTERS}/04-effects.md"]
    links.resolve(replace(chapter, text=f"# Effects\n\n[see]({link}) and `[no link](x.md)`\n"))

    assert bool(links.broken) == is_broken


def test_a_name_is_a_part_of_an_address():
    names = ("->", "-", "+", "let*", "string->list", "empty?", "std/state", "get_context")

    assert [
        *("thread-first", "minus", "plus", "let-star", "string-to-list", "empty-p"),
        *("std-state", "get_context"),
    ] == [slug(each) for each in names]


def test_near_names_are_alike():
    assert "filter-map" in nearest("map") and "string-trim" in nearest("string-split")


def test_markdown_of_the_repository_is_that_of_the_site():
    given = "Text:\n- one\n  - two\n    more\n- three\n\n```sexp a.sexp\n- (f)\n```\n\n```\nx\n```"
    made = (
        "Text:\n\n- one\n    - two\n        more\n- three\n\n"
        '``` { .sexp title="a.sexp" }\n- (f)\n```\n\n``` { .text }\nx\n```'
    )

    assert made == translate(given)


def test_anchors_are_those_that_links_are_written_with():
    text = "# The `map` of it\n\n## A task: in a program\n\n```sexp\n# none\n```\n\n## A b\n## A b"

    assert ["the-map-of-it", "a-task-in-a-program", "a-b", "a-b_1"] == list(anchors(text))


def test_chapters_that_are_named_are_linked():
    known = {"8": "/c/08.md"}
    text = "See chapter 8, `chapter 8`, [chapter 8](x.md) and chapter 99."

    assert "See [chapter 8](/c/08.md), `chapter 8`, [chapter 8](x.md) and chapter 99." == (
        link_chapters(text, known.get)
    )


def test_the_title_of_a_page_is_its_first_line():
    assert "The map of x" == Page("a.md", "# The `map` of x\n\nText", "name").title


@pytest.mark.parametrize(
    "alike",
    [
        ("retry", "retries", "retried", "retrying"),
        ("cache", "cached", "caching", "caches"),
        ("validate", "validates", "validation"),
        ("stop", "stopped", "stopping", "stops"),
        ("approve", "approval", "approved"),
        ("file", "files"),
    ],
)
def test_forms_of_a_word_have_one_root(alike):
    assert 1 == len({root(each) for each in alike}), [root(each) for each in alike]


def test_a_text_is_divided_into_roots_and_names():
    assert [*("str", "split", "model"), *("string-split", "--model")] == list(
        divide("string-split --model")
    )
