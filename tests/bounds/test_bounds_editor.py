"""A program in an editor that somebody else wrote: what is said of it takes time in its length."""

import pytest
from lsprotocol.types import Position

from benchmarks.growth_editor import NAME, ROUTINES, SHAPES
from sexplang.hosts.language_server.editor import symbols
from sexplang.hosts.language_server.findings import check_document, to_protocol
from sexplang.hosts.language_server.library import Library
from sexplang.hosts.language_server.positions import UNITS, Places

COUNTED = [each for each in ROUTINES if not each.name.startswith("editor, check")]


@pytest.mark.parametrize("routine", COUNTED, ids=[each.name for each in COUNTED])
def test_work_grows_as_the_text_does(routine):
    """Counted in opcodes: four times the text is four times the work, and a tenth."""
    few, many = (routine.work(routine.make(each)) for each in (40, 160))

    assert many <= 4.4 * few


def test_definitions_may_stand_in_each_other_however_deep():
    """As deep as brackets may."""
    library = Library({NAME: SHAPES["definitions in definitions"](5_000)})
    outline = library.outline(NAME)

    assert 5_000 == len(outline.scopes.defined)
    assert 1 == len(symbols(outline, Places(outline.source.text)))


def test_each_definition_again_is_told_with_the_first():
    """The places of one text are found once for all that is said of it."""
    library = Library({NAME: SHAPES["one definition again and again"](500)})
    found = to_protocol(check_document(library, NAME).findings, library, NAME, "utf-16")

    assert 499 == len(found)
    assert {0} == {each.related_information[0].location.range.start.line for each in found}


@pytest.mark.parametrize("encoding", UNITS)
def test_a_place_is_found_in_a_line_of_any_characters(encoding):
    """There and back, also from the middle of a character, and beyond the end."""
    text = "aä🫖\r\n🫖🫖b\n"
    places = Places(text, encoding)
    units = UNITS[encoding]
    for offset in (*range(4), *range(5, 9)):
        place = places.position(offset)
        start = 0 if offset < 5 else 5
        assert (start > 0, units(text[start:offset])) == (place.line > 0, place.character)
        assert offset == places.offset(place)

    assert (3, 8, 9) == tuple(places.offset(Position(line, 99)) for line in range(3))
    inside = {"utf-8": (1, 2, 2, 3), "utf-16": (1, 2, 3, 3), "utf-32": (1, 2, 3, 3)}[encoding]
    assert inside == tuple(places.offset(Position(0, each)) for each in range(1, 5))
