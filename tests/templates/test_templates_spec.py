"""Every ```xml block of the chapter on templates, and of the pages of their errors, is true.

A block loads without a warning; with a first line `<!--! code "words" -->` it is refused with that
code and those words, with `<!-- warns code "words" -->` it loads with that warning.
"""

import re
from pathlib import Path

import pytest
from support.sources import no_files

from sexplang.pipeline.pipeline import build
from sexplang.templates import read_templates
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.source import Source

SPEC = Path(__file__).resolve().parents[2] / "spec"
FILES = [SPEC / "05a-templates.md", *sorted((SPEC / "errors").glob("*.md"))]

BLOCK = re.compile(r"^```xml\n(.*?)^```$", re.DOTALL | re.MULTILINE)
MARK = re.compile(r'<!--\s*(!|warns)\s*([a-z-]+)((?:\s+"[^"]*")*)\s*-->')


def blocks():
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        for match in BLOCK.finditer(text):
            line = text.count("\n", 0, match.start()) + 2
            # Padded, so that a diagnostic names the line of the Markdown.
            yield pytest.param(file.name, "\n" * (line - 1) + match[1], id=f"{file.name}:{line}")


def found_in(name: str, text: str) -> tuple[int, list[Diagnostic]]:
    warnings: list[Diagnostic] = []
    try:
        count = len(read_templates(Source(name, text), warnings.append))
        if "<call" in text:  # what it names is known when the program is
            build(Source(f"{name}.xml", text), no_files)
        return count, warnings
    except Diagnostics as refused:
        return 0, list(refused.diagnostics)


@pytest.mark.parametrize(("name", "text"), list(blocks()))
def test_a_block_of_xml_does_what_it_says(name, text):
    """The marks are those of the module's docstring."""
    count, found = found_in(name, text)
    mark = MARK.match(text.lstrip())
    if mark is None:
        assert (count > 0, list(map(str, found))) == (True, [])
        return
    words = re.findall(r'"([^"]*)"', mark[3])
    fitting = [str(diagnostic) for diagnostic in found if diagnostic.code == mark[2]]

    assert (count > 0) == (mark[1] == "warns")
    assert fitting, list(map(str, found))
    assert any(all(word in text for word in words) for text in fitting), fitting


CODES = re.compile(r'(?:_one\(|Finding\(|Diagnostic\(|code, title =|Rule\(\s*\w+,|,)\s*"([a-z-]+)"')


def test_every_code_of_the_room_has_its_page():
    """Each page shows its own code, or says in text what no small file can show."""
    room = SPEC.parent / "sexplang" / "templates"
    text = "".join(file.read_text() for file in room.rglob("*.py"))
    found = CODES.findall(re.sub(r"getattr\([^)]*\)", "", text))
    pages = {file.stem: file.read_text() for file in (SPEC / "errors").glob("*.md")}
    codes = [code for code in set(found) if code in pages]

    for code in codes:
        assert re.search(rf"<!--\s*(?:!|warns) {code}", pages[code]) or "```text" in pages[code]
    assert len(codes) >= 20
