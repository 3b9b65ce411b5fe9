"""Replies under an XSD that may mean two things: in trees, in texts that hold markup, with parts
left out, in strings of JSON; and how much work a reply is worth."""

from time import process_time

import pytest

from benchmarks.xml_damage import DAMAGES, HOPELESS, UNSAID
from benchmarks.xml_documents import KINDS
from benchmarks.xml_replies import verdicts
from benchmarks.xml_trees import IN_TREES, TREE, TREES
from sexplang.templates import read_reply, xml_words
from sexplang.terms.template import OutputFormat


def xsd(inside: str) -> str:
    return (
        '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="l">'
        f"<xs:complexType>{inside}</xs:complexType></xs:element></xs:schema>"
    )


LIST = xsd(
    '<xs:sequence><xs:element name="i" type="xs:string" maxOccurs="unbounded"/>'
    '<xs:element name="n" type="xs:int" minOccurs="0"/></xs:sequence>'
)


def read(text: str, schema: str = LIST):
    return read_reply(text, OutputFormat("xml", schema))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<l><i>Ann<i/>\n<i>Bob<i/></l>", "several ways"),
        ("<l><i>Ann<i/></l>", "several ways"),
        ("<l><i>a</i>\n… (3 more)\n</l>", "`… (3 more)` in <l> may stand for elements"),
        ("<l><i>a</i>...<i>z</i></l>", "`...` in <l> may stand for elements"),
        ("<l><i>a</i>[truncated]</l>", "may stand for elements that are left out"),
        ("<l><i>a</i><!-- more items --></l>", "`more items` in <l> may stand for elements"),
        ("<l><i>a</i></l>\n[2 items omitted]", "something may be left out where <l> ends"),
        ("{'xml': '<l><i>a\\n</i></l>'}", "may be an escape of JSON or not"),
        ("<l><i>a</i></l> ...", "something may be left out where <l> ends"),
        ("<l><i>Ann</i><!-- <i>Bob</i></l>", "may be left of a tag"),
        ("<l><i>Ann</i><![CDATA[<i>Bob</i></l>", "may be left of a tag"),
        ("<l>\\n<i>a\\tb</i>\\n</l>", "`\\n` in <l> is an escape of JSON"),
        ('{"xml": "<l><i>a "b\\n</i></l>"}', "may be an escape of JSON or not"),
        ('say "<l><i>C:\\temp</i></l>"', "may be an escape of JSON or not"),
        ('{"xml": "<l><i>a\\b</i></l>"}', "U+0008"),
        ("```xml\n<l><i>a</i><i>b</i\n```", "it ends before <i> is closed"),
        ('{"xml": "Here: <l><i>a\\n</i></l>"}', "<l> may stand in a string"),
        ("['Here: <l><i>a\\n</i></l>']", "<l> may stand in a string"),
        ('"```xml\\n<l><i>\\u00e9</i></l>\\n```"', "<l> may stand in a string"),
        ('<l x=\\"\\"><i>a \\"b\\"</i></l>', "has attributes in quotes that are escaped"),
        ("<l><i>a</i><x</l>", "`<x` in <l> may be left of a tag"),
        ("<l><i>a</i><x<i>b</i></l>", "`<x` in <l> may be left of a tag"),
        ("```xml\n<l><i>a</i><x\n```", "it ends before <l> is closed"),
    ],
)
def test_what_may_be_more_than_it_is_is_refused(text, words):
    """An element that is written for an end tag, a remark for what is left out, a comment for what
    stands behind it."""
    assert words in (read(text).problem or "")


@pytest.mark.parametrize("mark", ["<!-- x -->", "<!---->", "<?php echo 1; ?>", "<!DOCTYPE html>"])
def test_markup_in_a_text_is_left_out_only_where_it_cannot_be_text(mark):
    """What is left out is noted; what may be a part of a text is refused."""
    kind = {"<!-": "a comment", "<?p": "a processing instruction", "<!D": "the document type"}
    note = f"left out {kind[mark[:3]]}"
    number = read(f"<l><i>a</i><n>5{mark}</n></l>")

    assert "may be a part of its text" in (read(f"<l><i><b>x</b>{mark}</i></l>").problem or "")
    assert "may be a part of its text" in (read(f"<l><i>{mark}</i></l>").problem or "")
    assert (number.value, number.repairs) == ({"i": ("a",), "n": 5}, (note,))
    assert read(f"<l><i>a</i>{mark}</l>").repairs == (note,)
    assert read(f"<l><i><![CDATA[{mark}]]></i></l>").value == {"i": (mark,)}


@pytest.mark.parametrize(
    "said",
    [
        "other lines",
        "and the others",
        "12 items in total",
        "3 rows",
        "same as above",
        "und so weiter",
        "usw.",
        "les autres",
        "ainsi de suite",
        "otros",
        "и т. д.",
        "省略",
        "以下同様",
        "其他",
        "나머지",
    ],
)
def test_a_remark_that_something_is_left_out_is_known_in_many_words(said):
    """In a comment or an instruction, between elements and at the edge of a list."""
    schema = xsd(
        '<xs:sequence><xs:element name="n" maxOccurs="9"><xs:simpleType><xs:list '
        'itemType="xs:int"/></xs:simpleType></xs:element></xs:sequence>'
    )
    for mark in (f"<!-- {said} -->", f"<?{said}?>"):
        assert f"`{said}` in <l> may" in (read(f"<l><i>a</i>{mark}</l>").problem or "")
        assert f"`{mark}` in <n> may" in (read(f"<l><n>1 2 {mark}</n></l>", schema).problem or "")


@pytest.mark.parametrize("mark", ["<!-- x -->", "<!---->", "<?x?>"])
def test_a_comment_between_two_pieces_of_a_value_is_refused(mark):
    """They may be one number or two, or the comment one between them."""
    for value in (f"1{mark}2", f"1 {mark} 2", f"{mark}1{mark}2"):
        problem = read(f"<l><i>a</i><n>{value}</n></l>").problem or ""
        assert "in <n> parts its text in two" in problem or "does not fit" in problem
    assert read(f"<l><i>a</i><n>{mark} 1{mark}</n></l>").value == {"i": ("a",), "n": 1}


def test_what_is_said_to_be_left_out_behind_a_document_is_asked_for():
    """Other words behind it are left out."""
    said = "something may be left out where <l> ends"

    assert said in (read("<l><i>a</i></l>\nI left out the other lines.").problem or "")
    assert said in (read("<l><i>a</i></l>\nDone.\n\nSome items are omitted.").problem or "")
    assert read("<l><i>a</i></l>\nIs there anything more?").value == {"i": ("a",)}


MIXED = xsd(
    '<xs:sequence><xs:element name="p" maxOccurs="unbounded"><xs:complexType mixed="true">'
    '<xs:choice minOccurs="0" maxOccurs="unbounded"><xs:element name="b" type="xs:string"/>'
    '<xs:element name="i" type="xs:string"/></xs:choice></xs:complexType></xs:element>'
    "</xs:sequence>"
)


@pytest.mark.parametrize(
    "inside", ["a <b>c and d", "a <b>c<b> d", "a <b>c<b/> d", "a <b>c</i> d", "a<b>c <i>d</i> e"]
)
def test_in_mixed_content_no_end_is_guessed(inside):
    """The text behind may be of the one or of the other."""
    assert "ends in the text of <p> is not sure" in (read(f"<l><p>{inside}</p></l>", MIXED).problem)
    assert read("<l><p>a<p>b <b>c</B></p></l>", MIXED).value == {
        "p": ({"content": ("a",)}, {"content": ("b ", {"b": "c"})})
    }


def test_an_end_tag_of_a_sibling_is_taken_for_another_only_where_the_order_fits():
    """Else the start tag may be the wrong one."""
    text = "<l><i>a</i>{}</l>"

    assert "that tag the right one" in (read(text.format("<n>1</n><i>2</n>")).problem or "")
    assert read(text.format("<i>2</n><n>1</n>")).value == {"i": ("a", "2"), "n": 1}
    assert read(text.format("<n>1</n><i>2</i>")).value == {"i": ("a", "2"), "n": 1}


@pytest.mark.parametrize("other", ['ID="8"', 'x:ID="8"', "Id=8"])
def test_an_attribute_that_stands_twice_in_another_case_is_refused(other):
    """As it is in one; where both say the same, it is taken once."""
    schema = xsd('<xs:attribute name="id" type="xs:int"/>')

    assert "<l> has two attributes id" in (read(f'<l id="7" {other}/>', schema).problem or "")
    assert "<l> has two attributes id" in (read(f'<l {other} id="7"/>', schema).problem or "")
    assert read('<l id="7" ID="7"/>', schema).value == {"id": 7}


def test_a_document_in_a_string_of_json_is_decoded():
    """Its quotes, line breaks and characters are those of the document."""
    reading = read('Sure:\n{"xml": "<l><i>a \\"b\\"</i>\\n<i>\\u00e9</i></l>"}')

    assert reading.value == {"i": ('a "b"', "é")}
    assert reading.repairs[0] == "took the XML out of a string of JSON"
    assert read('"<l><i>C:\\\\new</i></l>"').value == {"i": ("C:\\new",)}
    assert read("<l><i>C:\\new</i></l>").value == {"i": ("C:\\new",)}


A, B = "<label>a</label>", "<label>b</label>"


@pytest.mark.parametrize(
    "text",
    [
        f"<tree><node>{A}<node><lab",
        f"<tree><node>{A}</node><node",
        f"<tree><node>{A}<node>",
        f'<tree><node weight="1"><node>{B}</node></node></tree>',
        f"<tree><node><node>{B}</node></tree>",
        f"<tree><node>{A}<node></node></node></tree>",
        f"<tree><node>{A}<node/></node></tree>",
        f"<tree><node>{A}</node></node></tree>",
        f"<tree><node>{A}</label><node><label>b</node></node></tree>",
        f"<tree><node>{A}<node>{B}</label></node></tree>",
    ],
)
def test_in_a_tree_no_element_vanishes_or_becomes_another(text):
    """A part that is missing, a second start tag and an end tag too many may each be of another
    element."""
    assert read(text, TREE).problem


def test_in_a_tree_a_tag_with_one_meaning_is_put_right():
    """As elsewhere."""
    value = {"node": ({"label": "a", "node": ({"label": "b", "node": ()},)},)}
    for lost in ("<label>b", "<label>b</labl>", "<label>b</node>"):
        text = f"<tree><node>{A}<node>{lost}</node></node></tree>"
        assert read(text, TREE).value == value


EVERY = {**DAMAGES, **HOPELESS, **IN_TREES}


@pytest.mark.parametrize("name", list(EVERY))
def test_no_damaged_tree_is_read_as_another(name):
    """Whatever else becomes of it."""
    found = list(verdicts(name, EVERY[name], TREES, 15, 7))

    assert [verdict.text for verdict in found if verdict.what == "wrong"] == []


@pytest.mark.parametrize("name", list(UNSAID))
def test_what_only_the_model_knows_is_asked(name):
    """In every kind of document."""
    found = [v for kind in KINDS for v in verdicts(name, UNSAID[name], kind, 10, 7)]

    assert {verdict.what for verdict in found} == {"refused"}


DENSE = {
    "tags of two kinds": "<node></label>",
    "ends of another kind": "<node><label>x</node>",
    "deep": "<node><label>a</label>" * 30 + "</label>" * 30,
    "lost parts": "<node><label></node>",
    "crossed": "<node><label>x</node></label>",
}


@pytest.mark.parametrize("name", DENSE)
def test_the_work_for_a_reply_is_bounded_by_its_length(name):
    """In steps, not in time, which is here only so long that the search without a bound took more
    than ten times as much."""
    text = f"<tree>{DENSE[name] * (8_000 // len(DENSE[name]))}</tree>"
    begun = process_time()

    assert "too many of its tags do not match" in (read(text, TREE).problem or "")
    assert process_time() - begun < 3


def test_a_model_is_told_what_stands_together_in_a_choice():
    """Else it would choose one part of a sequence."""
    schema = xsd(
        '<xs:choice><xs:element name="box" type="xs:int"/><xs:sequence>'
        '<xs:element name="street" type="xs:string"/><xs:element name="city" type="xs:string"/>'
        "</xs:sequence></xs:choice>"
    )
    lines = ["<!-- one of these: -->", "  <box>whole number</box>", "  <!-- these together: -->"]

    assert "\n".join(f"  {line}" for line in lines) in xml_words(OutputFormat("xml", schema))
    assert read("<l><street>a</street><city>b</city></l>", schema).value == {
        "street": "a",
        "city": "b",
    }


def test_what_is_told_of_a_number_is_not_about_python():
    """Nor are its places those of a part of the reply."""
    json = OutputFormat("json", "string[]")

    decimal = LIST.replace("xs:int", "xs:decimal")
    for schema, digits in ((LIST, 5000), (decimal, 1000), (decimal, 5000)):
        problem = read(f"<l><i/><n>{'9' * digits}</n></l>", schema).problem or ""
        assert "a number has too many digits" in problem or "value has to be lesser" in problem
    assert "control character in a string, at line 2, column 1" in (
        read_reply('[\n"a\x01"]', json).problem or ""
    )
    assert "starting at line 1" in (read_reply('"a', OutputFormat("json", "string")).problem or "")


def test_what_a_model_is_told_is_xml_whatever_the_schema_says():
    """A remark does not end in its middle, and values are written as the model is to write them."""
    schema = xsd(
        '<xs:sequence><xs:element name="v"><xs:annotation><xs:documentation>so: --&gt; ---'
        "</xs:documentation></xs:annotation><xs:simpleType><xs:restriction "
        'base="xs:string"><xs:enumeration value="&lt;c&gt;"/><xs:enumeration value="a&amp;b"/>'
        "</xs:restriction></xs:simpleType></xs:element></xs:sequence>"
    )
    line = "  <v>&lt;c> | a&amp;b</v> <!-- so: - -> - - - -->"

    assert line in xml_words(OutputFormat("xml", schema))
    assert read("<l><v>&lt;c></v></l>", schema).value == {"v": "<c>"}
