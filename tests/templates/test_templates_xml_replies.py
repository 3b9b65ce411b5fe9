"""Replies under an XSD: what they mean, what was put right, what is refused; the corpus."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.sources import xsd

from benchmarks.xml_corpus import KINDS, LOST, MARKUP, SLIPS, SURE
from benchmarks.xml_replies import verdicts
from sexplang.templates import read_reply
from sexplang.terms.template import OutputFormat

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
        (GOOD.replace("true", " True "), "took True for true in <open>"),
        (GOOD.replace("true", " true "), None),
        (GOOD.replace("shop>", "Shop>"), "took Shop for shop"),
        (GOOD.replace("item", "x:item"), "left out the prefixes of names"),
        (GOOD.replace(" price", " Price"), "took Price for price"),
        (f"```xml\n{GOOD}\n```", "took the XML out of its code fence"),
        (f"Sure: {GOOD} Bye.", "left out the words around the XML"),
        (f"<answer>{GOOD}</answer>", "left out the words around the XML"),
        (f"<!DOCTYPE shop>{GOOD}", "left out the words around the XML"),
    ],
)
def test_every_repair_is_noted(text, repair):
    """And gives the value that was meant."""
    reading = read(text)

    assert (reading.value, reading.problem) == (VALUE, None)
    assert reading.repairs == (() if repair is None else (repair,))


@pytest.mark.parametrize(
    ("said", "meant", "repair"),
    [
        ("R&D & more", "R&D & more", "took a bare & as text"),
        ("&ampere", "&ampere", "took a bare & as text"),
        ("a < b", "a < b", "took a bare < as text"),
        ("i<3 and 4>2", "i<3 and 4>2", "took a bare < as text"),
        ("see <b>x</b>", "see <b>x</b>", "took a bare < as text"),
        ("caf&eacute;", "café", "took &eacute; for the character é"),
        ("<![CDATA[<name> & ]]>&", "<name> & &", "took a bare & as text"),
        ("\ud800", "\ufffd", "replaced half characters (lone surrogates)"),
    ],
)
def test_a_mark_that_begins_nothing_is_text(said, meant, repair):
    """In a text; between elements it is refused."""
    reading = read(GOOD.replace("Tea", said))

    assert (reading.value, reading.repairs) == ({**VALUE, "name": meant}, (repair,))
    assert read(GOOD.replace("<item", f"{said}<item")).problem


def test_the_texts_of_mixed_content_stay_in_their_places():
    """With marks in them that begin nothing."""
    mixed = xsd(
        """<xs:element name="p"><xs:complexType mixed="true">
        <xs:choice minOccurs="0" maxOccurs="unbounded"><xs:element name="b" type="xs:string"/>
        </xs:choice></xs:complexType></xs:element>"""
    )
    assert read("<p>a & 1 < 2 <b>c</b>< d <b/> &</p>", mixed).value == {
        "content": ("a & 1 < 2 ", {"b": "c"}, "< d ", {"b": ""}, " &")
    }
    assert read("<p>a & <b>c<b> d</p>", mixed).problem
    assert read("<p>a & <i>c</i> d</p>", mixed).problem


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
        (GOOD.replace("open>", "opne>"), "`<opne` is no tag of the schema"),
        (GOOD.replace("</name>", ""), "<item> may not stand here"),
        (GOOD.replace("</name>", "<name>"), "<name> may not stand here"),
        (GOOD.replace("</name>", "</nmae>"), "</nmae> ends nothing"),
        (GOOD.replace("</name>", "</item>"), "`</item` may not stand here"),
        (GOOD.replace("</name>", "</name></name>"), "`</name` may not stand here"),
        (GOOD.replace("<item", "see: <item"), "`see:` stands between elements"),
        (GOOD.replace("<item", "[note]x[/note]<item"), "stands between elements"),
        (GOOD.replace("<item", "<!-- x --><item"), "may be a part of its text or not"),
        (GOOD.replace("Tea", "Tea<!-- or"), "may be a part of its text or not"),
        (GOOD.replace("Tea", "Tea<!-- or -->"), "may be a part of its text or not"),
        (GOOD.replace("Tea", "Tea<?php 1 ?>"), "may be a part of its text or not"),
        (GOOD.replace("Tea", "<![CDATA[Tea"), "may be a part of its text or not"),
        (GOOD.replace("Tea", "a]]>b & c"), "`]]>` ends no CDATA section"),
        (GOOD.replace('"', ""), "the tag <item> is not written as"),
        (GOOD.replace('"2.50"', "“2.50”"), "the tag <item> is not written as"),
        (GOOD.replace("<shop>", '<shop town="A" Town="B">'), "two attributes town"),
        (GOOD.replace("<shop>", '<shop city="B">'), "has no attribute city (it has town)"),
        (GOOD.replace("<shop>", '<shop xsi:type="x">'), "has no attribute xsi:type"),
        (GOOD.replace("<shop>", '<shop town="A>'), "a quote of town in <shop> has no other half"),
        (GOOD + GOOD.replace("Tea", "Pot"), "a tag of the schema stands behind </shop>"),
        (f"<shop>{GOOD}</shop>", "<shop> may not stand here"),
        (f"<name>Tea</name>{GOOD}", "<name> stands outside of <shop>"),
        (GOOD.replace("</shop>", ""), "it ends before <shop> is closed"),
        (GOOD[:-3], "`</sh` is no tag of the schema"),
        (GOOD[: GOOD.index("</item>")], "it ends before <item> is closed"),
        (f"```\n{GOOD[: GOOD.index('<open>')]}<ope\n```", "`<ope` is no tag of the schema"),
        (GOOD.replace("Tea", "Te\0a"), "U+0000"),
        (f'<!DOCTYPE shop [<!ENTITY a "b">]>{GOOD}', "declares a document type"),
        (f"Not <!-- {GOOD.replace('Tea', '&')} -->", "may stand in a comment"),
        (f'{{"xml": "{GOOD.replace("Tea", chr(92) + "n")}"}}', "may be an escape or not"),
    ],
)
def test_what_is_not_certain_is_refused_with_a_sentence(text, words):
    """The last sentence says what to do."""
    reading = read(text)

    assert words in (reading.problem or "")
    assert (reading.problem or "").endswith("from <shop> to </shop>, and nothing else.")
    assert reading.details["expectedType"] == "xml <shop>"
    assert reading.value is None


def test_a_refusal_says_where_and_what_was_due():
    """In lines and columns of the reply."""
    told = {
        "Sure:\n<shop>\n<name>Tea\n<item": (
            "<item> may not stand here, at line 4, column 1: "
            "<name> of line 3 is open, and holds text alone (with &lt; for <)"
        ),
        "<shop>\n<nam>Tea": (
            "`<nam` is no tag of the schema, at line 2, column 1: "
            "<shop> of line 1 is open, and holds <name>, <item>, <open>, <note>"
        ),
        "<shop>\n<name>Tea</item>": (
            "`</item` may not stand here, at line 2, column 10: "
            "</name> is due for the element of line 2, or &lt; for < in a text"
        ),
    }
    for text, words in told.items():
        assert words in (read(text).problem or ""), text


@pytest.mark.parametrize(
    "cut", ["&lt b", "AT&amp T", "&quot hi&quot;", "&#65 b", "&#x41", "&LT.", "&nbsp 3", "&zork;"]
)
def test_a_reference_that_has_lost_its_end_may_be_text(cut):
    """Elsewhere it would be the character; so nobody knows."""
    words = "may be a character or text (then write its & as &amp;)"

    assert words in (read(GOOD.replace("Tea", cut)).problem or "")
    assert words in (read(GOOD.replace("<shop>", f"<shop town='{cut}'>")).problem or "")
    assert cut == read(GOOD.replace("Tea", f"<![CDATA[{cut}]]>")).value["name"]


def test_names_that_differ_in_case_alone_are_found_as_they_are_written():
    """A third spelling may be each of them."""
    schema = xsd(
        """<xs:element name="r"><xs:complexType><xs:sequence><xs:element name="id"
        type="xs:string"/><xs:element name="ID" type="xs:string"/></xs:sequence></xs:complexType>
        </xs:element>"""
    )
    assert read("<R><id>&</id><ID>b</ID></R>", schema).value == {"id": "&", "ID": "b"}
    assert read("<r><id>a</id><Id>b</Id></r>", schema).problem


@pytest.mark.parametrize("name", list(SURE))
def test_what_has_one_reading_is_read(name):
    """All of it."""
    found = [v for kind in KINDS for v in verdicts(name, SURE[name], kind, 8, 7)]

    assert found
    assert [verdict.text for verdict in found if verdict.what != "read"] == []


@pytest.mark.parametrize("name", list(SLIPS | LOST))
def test_what_may_mean_two_things_is_asked_or_read_as_it_was_meant(name):
    """Cut off, with tags lost or exchanged, with remarks between: never another value."""
    found = [v for kind in KINDS for v in verdicts(name, (SLIPS | LOST)[name], kind, 12, 7)]

    assert found
    assert [verdict.text for verdict in found if verdict.what == "wrong"] == []


@pytest.mark.parametrize("name", list(MARKUP))
def test_a_text_that_holds_markup_is_asked_about(name):
    """Whether a tag is meant or spoken of, only the model knows."""
    found = [v for kind in KINDS for v in verdicts(name, MARKUP[name], kind, 40, 7)]

    assert len(found) == 40 * len(KINDS)
    assert Counter(verdict.what for verdict in found) == {"asked": len(found)}


@pytest.mark.long
@pytest.mark.parametrize("name", list(SURE | SLIPS | LOST | MARKUP))
def test_a_hundred_documents_of_each_kind(name):
    """The same, with the numbers of the benchmark."""
    damage = (SURE | SLIPS | LOST | MARKUP)[name]
    found = [v for kind in KINDS for v in verdicts(name, damage, kind, 100, 11)]
    counts = Counter(verdict.what for verdict in found)

    assert counts["wrong"] == 0
    assert name not in SURE or counts["asked"] == 0


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
        "<name>if price<open then & so</name>",
    ],
)
def test_a_tag_that_may_be_a_word_of_a_text_is_asked_about(text):
    """Also where the tags would match if it were one."""
    assert read(GOOD.replace("<name>Tea</name>", text)).problem


def test_several_repairs_are_noted_together():
    """Each once, in the order in which they were made."""
    schema = xsd('<xs:element name="note" type="xs:string"/>')
    reading = read("Here:\n```xml\n<NOTE>a & b < c & d</note>\n```", schema)

    assert reading.value == "a & b < c & d"
    assert reading.repairs == (
        "took NOTE for note",
        "took a bare & as text",
        "took a bare < as text",
        "took the XML out of its code fence",
    )


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
