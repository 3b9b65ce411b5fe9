"""Replies under an XSD: what they mean, what was repaired, what is refused; the damaged corpus."""

import re
from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.xml_damage import DAMAGES, DOUBTFUL, HOPELESS
from benchmarks.xml_documents import KINDS
from benchmarks.xml_given import Given
from benchmarks.xml_replies import verdicts
from benchmarks.xml_texts import written
from sexplang.templates import read_reply
from sexplang.terms.template import OutputFormat


def xsd(body: str) -> str:
    return f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">{body}</xs:schema>'


SHOP = xsd(
    """
  <xs:element name="shop"><xs:complexType><xs:sequence>
    <xs:element name="name" type="xs:string"/>
    <xs:element name="item" type="Item" minOccurs="0" maxOccurs="unbounded"/>
    <xs:element name="open" type="xs:boolean"/>
    <xs:element name="note" type="xs:string" minOccurs="0" nillable="true"/>
  </xs:sequence><xs:attribute name="town" type="xs:string"/></xs:complexType></xs:element>
  <xs:complexType name="Item"><xs:simpleContent><xs:extension base="xs:string">
    <xs:attribute name="price" type="xs:decimal" use="required"/>
    <xs:attribute name="stock" type="xs:int" default="1"/>
  </xs:extension></xs:simpleContent></xs:complexType>"""
)
GOOD = '<shop><name>Tea</name><item price="2.50">Pot</item><open>true</open></shop>'
VALUE = {
    "name": "Tea",
    "item": ({"price": 2.5, "stock": 1, "text": "Pot"},),
    "open": True,
}


def read(text: str, schema: str = SHOP):
    return read_reply(text, OutputFormat("xml", schema))


def test_what_fits_is_taken_without_a_repair():
    """Attributes, defaults, lists and types are those of the schema."""
    reading = read(GOOD)

    assert (reading.value, reading.repairs, reading.problem) == (VALUE, (), None)


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        ("xs:int", " 12 ", 12),
        ("xs:decimal", "3.50", 3.5),
        ("xs:decimal", "3.0", 3),
        ("xs:double", "1e3", 1000.0),
        ("xs:boolean", "1", True),
        ("xs:string", " a\n", " a\n"),
        ("xs:token", " a  b ", "a b"),
        ("xs:date", "2026-01-31", "2026-01-31"),
        ("xs:NMTOKENS", "a b", ("a", "b")),
        ("xs:string", "", ""),
    ],
)
def test_a_text_is_what_its_type_says(type_, text, value):
    """Exactly: an integer is none by chance, and no float where it is an integer."""
    reading = read(f"<a>{text}</a>", xsd(f'<xs:element name="a" type="{type_}"/>'))

    assert (repr(reading.value), reading.repairs) == (repr(value), ())


@pytest.mark.parametrize("text", ["NaN", "INF", "1e999"])
def test_what_is_no_number_of_the_language_is_refused(text):
    """Though XSD has it."""
    assert read(f"<a>{text}</a>", xsd('<xs:element name="a" type="xs:double"/>')).problem


def test_a_decimal_that_no_float_holds_is_rounded_and_noted():
    """Not in silence."""
    reading = read("<a>0.12345678901234567891</a>", xsd('<xs:element name="a" type="xs:decimal"/>'))

    assert reading.value == 0.12345678901234568
    assert "rounded" in reading.repairs[0]


def test_nil_mixed_content_and_what_is_not_there():
    """nil is nil, an element left out has no key, and mixed content keeps its order."""
    mixed = xsd(
        """<xs:element name="p"><xs:complexType mixed="true">
        <xs:choice minOccurs="0" maxOccurs="unbounded"><xs:element name="b" type="xs:string"/>
        </xs:choice><xs:attribute name="id"/></xs:complexType></xs:element>"""
    )
    hint = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="true"'

    assert read(GOOD.replace("</shop>", f"<note {hint}/></shop>")).value == {**VALUE, "note": None}
    assert read(GOOD.replace("</shop>", '<note xsi:nil="true"/></shop>')).value["note"] is None
    assert read('<p id="1">a <b>c</b> d</p>', mixed).value == {
        "id": "1",
        "content": ("a ", {"b": "c"}, " d"),
    }


def test_a_target_namespace_is_found_however_it_is_written():
    """By default, by a prefix, or not at all."""
    schema = (
        '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns="urn:x" '
        'targetNamespace="urn:x" elementFormDefault="qualified"><xs:element name="r">'
        '<xs:complexType><xs:sequence><xs:element name="a" type="xs:int"/></xs:sequence>'
        "</xs:complexType></xs:element></xs:schema>"
    )
    for text in (
        '<r xmlns="urn:x"><a>1</a></r>',
        '<n:r xmlns:n="urn:x"><n:a>1</n:a></n:r>',
        "<r><a>1</a></r>",
        "<n:r><a>1</a></n:r>",
    ):
        assert read(text, schema).value == {"a": 1}, text


@pytest.mark.parametrize(
    ("text", "repair"),
    [
        (GOOD.replace("</name>", ""), "supplied </name>"),
        (GOOD.replace("</item>", "<item>"), "took <item> for </item>"),
        (GOOD.replace("</name>", "</nmae>"), "took </nmae> for </name>"),
        (GOOD.replace("</name>", "</name></name>"), "left out </name>"),
        (GOOD.replace("<open>", ""), "supplied <open>"),
        (GOOD.replace('"', ""), "wrote quotes around price"),
        (GOOD.replace('"2.50"', "“2.50”"), "wrote straight quotes around price"),
        (GOOD.replace("true", " True "), "took True for true in <open>"),
        (GOOD.replace("<item", "see: <item"), "left out the text `see:` in <shop>"),
        (GOOD.replace("shop>", "Shop>"), "took Shop for shop"),
        (f"<shop>{GOOD}</shop>", "took two <shop> for one"),
        (f"```xml\n{GOOD}\n```", "took the XML out of its code fence"),
        (f"Sure: {GOOD} Bye.", "left out the words around the XML"),
        (f"<!DOCTYPE shop>{GOOD}", "left out the document type"),
        (GOOD[:-3], "completed the tag </shop>"),
    ],
)
def test_every_repair_is_noted(text, repair):
    """And gives the value that was meant."""
    reading = read(text)

    assert (reading.value, reading.problem) == (VALUE, None)
    assert repair in reading.repairs


def test_white_space_at_a_tag_that_is_not_there_is_layout_or_refused():
    """Layout is one line break behind a text that stands on one line with its tag, with no more
    indentation than this line has. Behind an end tag that stands, every space is of the text."""
    left = "left out the white space around the text of <name>"
    pretty = GOOD.replace("<name>", "\n  <name>").replace("<item", "\n  <item")

    assert read(pretty.replace("</name>", "")).repairs == ("supplied </name>", left)
    assert read(pretty.replace("</name>", "")).value == VALUE
    assert read(pretty.replace("Tea</name>", "")).value == {**VALUE, "name": ""}
    assert read(GOOD.replace("<name>Tea", "Tea ")).value == {**VALUE, "name": "Tea "}
    assert read(GOOD.replace("</open>", " ")).value == VALUE
    crossed = GOOD.replace("</shop>", "<note>x\n</shop></note>")
    assert read(crossed).value == {**VALUE, "note": "x\n"}
    for uncertain in (
        GOOD.replace("</name>", "\n "),
        GOOD.replace("Tea</name>", " "),
        pretty.replace("Tea</name>", "Tea "),
        pretty.replace("Tea</name>", "Tea\n"),
        pretty.replace("Tea</name>\n", "Tea\n  "),
        pretty.replace("Tea</name>", "\n  Tea"),
        pretty.replace("Tea</name>", "Earl\nGrey"),
    ):
        assert "may belong to it" in (read(uncertain).problem or ""), uncertain
    assert read(GOOD.replace("<name>", "\n ")).problem is not None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"<think>So: {GOOD}", "<think> has no other half"),
        (f"So: {GOOD}</think>", "</think> has no other half"),
        (f"<think>{GOOD}</think>", "there is no <shop> in it"),
    ],
)
def test_what_is_thought_is_no_answer(text, words):
    """Thoughts that are whole are left out, and what stands behind them is taken."""
    assert words in (read(text).problem or "")
    assert read(f"<think>{GOOD.replace('Tea', 'Pot')}</think>{GOOD}").value == VALUE


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I cannot do that.", "there is no <shop> in it"),
        (GOOD.replace("2.50", "cheap"), "shop/item: attribute price"),
        (GOOD.replace("<open>true</open>", ""), "Tag 'open' expected"),
        (GOOD.replace("open>", "opne>"), "did you mean <open>?"),
        (GOOD + GOOD.replace("Tea", "Pot"), "several documents"),
        (GOOD.replace("</name>", "").replace("Tea", "Tea <nam"), "may be left of a tag"),
        (GOOD.replace("Tea", "<![CDATA[Tea"), "may be left of a tag"),
        (GOOD.replace("Tea", "<![cdata[Tea]]>"), "may be left of a tag"),
        (GOOD.replace("Tea", "Tea<!-- or"), "may be left of a tag"),
        (GOOD.replace("Tea</name>", "Tea "), "</name> is not there, and the white space around"),
        (GOOD.replace("<name>", " "), "`Tea` in <shop> may be an element without its tags"),
        (GOOD.replace("</shop>", ""), "it ends before <shop> is closed"),
        (GOOD[: GOOD.index("</item>")], "it ends before <item> is closed"),
        (f"```\n{GOOD[: GOOD.index('<open>')]}<ope\n```", "it ends before <shop> is closed"),
        (f"<name>Tea</name>{GOOD}", "<name> stands outside of <shop>"),
        (GOOD.replace("<shop>", '<shop town="A" town="B">'), "two attributes town"),
        (GOOD.replace("<shop>", '<shop xsi:type="x">'), "xsi:type is not taken"),
        (GOOD.replace("<shop>", '<shop town="A>'), "do not match"),
        (GOOD.replace("Tea", "Te\0a"), "U+0000"),
        (f'<!DOCTYPE shop [<!ENTITY a "b">]>{GOOD}', "declares a document type"),
    ],
)
def test_what_is_not_certain_is_refused_with_a_sentence(text, words):
    """The last sentence says what to do."""
    reading = read(text)

    assert words in (reading.problem or "")
    assert (reading.problem or "").endswith("from <shop> to </shop>, and nothing else.")
    assert reading.details["expectedType"] == "xml <shop>"
    assert reading.value is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            GOOD.replace("</name>", "[/name]"),
            "</name> is not there, and `[/name]` may stand for it",
        ),
        (GOOD.replace("</name>", "[/code]"), "`[/code]` may stand for it"),
        (GOOD.replace("</name>", "&lt;/name&gt;"), "`</name>` may stand for it"),
        (GOOD.replace("</name>", "«name»\n"), "`«name»` may stand for it"),
        (GOOD.replace("<name>", "[name]"), "`[name]` in <shop> may be an element"),
        (GOOD.replace("<item", "[note]x[/note]<item"), "`[note]` in <shop> may be an element"),
        (GOOD.replace("<item", "Note: x<item"), "`Note: x` in <shop> may be an element"),
    ],
)
def test_a_tag_in_another_notation_is_neither_text_nor_a_tag_for_certain(text, words):
    """Where the tag that is asked for is not there; where it is, the text is text."""
    assert words in (read(text).problem or "")
    assert "x[/b]" == read(GOOD.replace("Tea", "x[/b]")).value["name"]
    assert VALUE == read(GOOD.replace("<item", "and a note (short)<item")).value


def test_two_readings_of_one_cost_are_none():
    """A section that has lost its end tag holds the next one, or stands before it."""
    schema = xsd(
        """<xs:element name="doc" type="S"/><xs:complexType name="S"><xs:sequence>
        <xs:element name="t" type="xs:string" minOccurs="0"/>
        <xs:element name="s" type="S" minOccurs="0" maxOccurs="unbounded"/>
        </xs:sequence></xs:complexType>"""
    )
    lost = "<doc><s><t>a</t><s><t>b</t></s></doc>"

    assert "read in several ways" in (read(lost, schema).problem or "")
    assert read(lost.replace("</doc>", "</s></doc>"), schema).problem is None


@pytest.mark.parametrize("cut", ["&lt b", "AT&amp T", "&quot hi&quot;", "&#65 b", "&#x41", "&LT."])
def test_a_reference_that_has_lost_its_end_may_be_text(cut):
    """Elsewhere it would be the character; so nobody knows."""
    text = GOOD.replace("Tea", cut)

    assert "lost its ;" in (read(text).problem or "")
    assert "lost its ;" in (read(GOOD.replace("<shop>", f"<shop town='{cut}'>")).problem or "")
    assert cut == read(GOOD.replace("Tea", f"<![CDATA[{cut}]]>")).value["name"]
    assert "R&D &ampere" == read(GOOD.replace("Tea", "R&D &ampere")).value["name"]


@pytest.mark.parametrize("name", list(DAMAGES))
def test_a_damaged_reply_is_read_as_it_was_meant_or_refused(name):
    """Nineteen of twenty are read, and none is read wrongly."""
    found = [v for kind in KINDS for v in verdicts(name, DAMAGES[name], kind, 8, 7)]
    counts = Counter(verdict.what for verdict in found)

    assert [verdict.text for verdict in found if verdict.what == "wrong"] == []
    assert counts["recovered"] >= 0.95 * len(found) > 0


@pytest.mark.parametrize("name", list(DOUBTFUL))
def test_a_text_that_speaks_of_tags_is_never_read_as_another(name):
    """Whether a tag is meant or spoken of, only the model knows: it is asked again."""
    found = [v for kind in KINDS for v in verdicts(name, DOUBTFUL[name], kind, 40, 7)]

    assert len(found) == 40 * len(KINDS)
    assert [verdict.text for verdict in found if verdict.what == "wrong"] == []


@pytest.mark.parametrize(
    "text",
    [
        "<name><name> is a tag</name>",
        "<name><name></name>",
        "<name>it ends with </name></name>",
        "<name></name></name>",
        "<name>as in (</name>)</name>",
        "<name>the tag <open></name>",
        "<name>such as <open>false</open></name>",
    ],
)
def test_a_tag_that_may_be_a_word_of_a_text_is_asked_about(text):
    """Also where the tags would match if it were one."""
    assert read(GOOD.replace("<name>Tea</name>", text)).problem


@pytest.mark.parametrize("text", ["tea </a></a>", "", "see </r></a>"])
def test_the_end_of_the_document_may_be_a_word_of_its_last_text(text):
    """`</r>` in the middle closes nothing for certain."""
    schema = xsd(
        """<xs:element name="r"><xs:complexType><xs:sequence>
        <xs:element name="a" type="xs:string"/></xs:sequence></xs:complexType></xs:element>"""
    )
    assert read(f"<r><a>{text or '</a></a>'}</r>", schema).problem
    assert read("<r><a>tea</a></a></r>", schema).value == {"a": "tea"}
    assert read("<r><a>tea</r></a>", schema).value == {"a": "tea"}


@pytest.mark.parametrize("name", list(HOPELESS))
def test_what_is_lost_is_never_made_up(name):
    """A reply that was cut off anywhere is refused, or was whole."""
    found = [v for kind in KINDS for v in verdicts(name, HOPELESS[name], kind, 20, 7)]

    assert [verdict.text for verdict in found if verdict.what == "wrong"] == []


@pytest.mark.long
@pytest.mark.parametrize("name", list(DAMAGES | DOUBTFUL | HOPELESS))
def test_a_hundred_documents_of_each_kind(name):
    """The same, with the numbers of the benchmark."""
    damage = (DAMAGES | DOUBTFUL | HOPELESS)[name]
    found = [v for kind in KINDS for v in verdicts(name, damage, kind, 100, 11)]
    counts = Counter(verdict.what for verdict in found)

    assert counts["wrong"] == 0
    assert name not in DAMAGES or counts["recovered"] >= 0.95 * len(found)


@given(st.sampled_from(KINDS), st.data(), st.randoms(use_true_random=False))
@settings(max_examples=150)
def test_several_kinds_of_damage_at_once_give_a_reading(kind, data, chance):
    """In any order, and where texts became blank; what they meant nobody can say any more."""
    text = written(kind.make(chance)[1], pretty=True)
    for name in data.draw(st.lists(st.sampled_from(sorted(DAMAGES)), max_size=3)):
        with suppress(IndexError):  # it finds nothing more to work on
            tree = kind.make(chance)[1]
            text = DAMAGES[name](Given(kind, tree, text, True), chance) or text
    blank = re.sub(r">[^<>]+<", lambda found: chance.choice([found[0], "> <", ">\n<"]), text)

    for reply in (text, blank):
        reading = read(reply, kind.xsd)
        assert reading.problem is None or reading.problem.endswith(".")


PIECES = [
    "<shop>",
    "</shop>",
    "<name>",
    "</name>",
    "<item",
    ' price="1"',
    ">",
    "<open>true",
    "</",
    "<",
]
PIECES += [
    "&",
    "&amp;",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?x?>",
    "```",
    "“",
    "\0",
    "\ud800",
    "x",
]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text())
@settings(max_examples=150)
def test_any_text_gives_a_reading(text):
    """A value or a problem; never an exception."""
    reading = read(text)

    assert reading.problem is None or reading.problem.endswith(".")
    assert all(isinstance(repair, str) for repair in reading.repairs)


LAUGHS = "".join(f'<!ENTITY a{at} "{f"&a{at - 1};" * 10}">' for at in range(1, 12))
HOSTILE = {
    "deep": "<shop>" * 100_000,
    "laughs": f'<!DOCTYPE shop [<!ENTITY a0 "ha">{LAUGHS}]><shop><name>&a11;</name></shop>',
    "many attributes": f"<shop {'a=1 ' * 60_000}>",
    "a huge attribute": f'<shop town="{"x" * 3_000_000}">',
    "quotes": "<shop town=" + '"' * 190_000,
    "bare signs": "<shop><name>" + "<" * 190_000,
    "comments": "<!--" * 45_000,
    "end tags": "<shop>" + "</name>" * 25_000,
    "roots": "<shop/>" * 25_000,
    "wide": "<shop>" + '<item price="1"/>' * 50_000,
    "lost ends": "<shop>" + '<item price="1">x' * 9_000,
    "fences": "".join("`" * size + "a\n" for size in range(3, 600)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_reply_is_refused(name):
    """Bounded in depth, number, length and ways to read it: no test may take as long as these
    would."""
    assert read(HOSTILE[name]).problem is not None
