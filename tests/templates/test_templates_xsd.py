"""Schemas of XML replies: which are taken, where they are found, what a model is told of them."""

import json
import os
import re

import pytest
from elementpath.regex import translate_pattern
from hypothesis import assume
from hypothesis import strategies as st
from support.examples import examples
from support.sources import xsd

from sexplang.machine import frozen_runs
from sexplang.pipeline.pipeline import build
from sexplang.runtime import Permissions
from sexplang.runtime.files.source_finder import make_finder
from sexplang.templates import read_reply, read_templates, xml_words
from sexplang.templates.xsd import BadXsd, compile_xsd
from sexplang.templates.xsd.xsd_patterns import Linear
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.source import Source
from sexplang.terms.template import OutputFormat

INT = '<xs:element name="a" type="xs:int"/>'


def holding(inside: str) -> str:
    return xsd(f'<xs:element name="r"><xs:complexType>{inside}</xs:complexType></xs:element>')


def asserting(test: str) -> str:
    return holding(f'<xs:sequence>{INT}</xs:sequence><xs:assert test="{test}"/>')


def chain(most: int, link: str, last: str) -> str:
    links = "".join(link.format(at=at, next=at + 1) for at in range(most))
    return xsd(f'<xs:element name="r" type="t0"/>{links}{last.format(at=most)}')


UNION = '<xs:simpleType name="t{at}"><xs:union memberTypes="t{next} t{next}"/></xs:simpleType>'
PLAIN = '<xs:simpleType name="t{at}"><xs:restriction base="xs:int"/></xs:simpleType>'
WIDER = '<xs:simpleType name="t{at}"><xs:restriction base="t{next}"/></xs:simpleType>'
PATTERN = (
    '<xs:element name="r"><xs:simpleType><xs:restriction base="xs:string">'
    '<xs:pattern value="{}"/></xs:restriction></xs:simpleType></xs:element>'
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<xs:schema", "this is not XML"),
        ("<!DOCTYPE a><a/>", "it has a document type"),
        ("<?php 1 ?><a/>", "processing instruction"),
        ("<a/>", "not with <xs:schema>"),
        (xsd(""), "it declares none"),
        (xsd(INT + INT.replace('"a"', '"b"')), "it has several: <a>, <b>"),
        (xsd('<xs:include schemaLocation="a.xsd"/>' + INT), "refers to another document"),
        (xsd('<xs:import namespace="urn:x"/>' + INT), "refers to another document"),
        (xsd('<xs:element name="a"/>'), "give it a type"),
        (holding("<xs:sequence><xs:any/></xs:sequence>"), "name those it may hold"),
        (holding("<xs:anyAttribute/>"), "name those it may have"),
        (holding(f'<xs:sequence>{INT}</xs:sequence><xs:attribute name="a"/>'), "both an attribute"),
        (xsd('<xs:element name="a" type="xs:int" abstract="true"/>'), "stand for others"),
        (xsd('<xs:element name="a" type="xs:number"/>'), "unknown type 'xs:number'"),
        (xsd(PATTERN.format("(a{1000}){1000}")), "too large"),
        (xsd(PATTERN.format("[a-z-[aeiou]]")), "a class in a class"),
        (asserting("every $x in a satisfies $x &gt; 1"), "uses `$`"),
        (asserting("count(1 to 999999999) &gt; 1"), "uses `to`"),
        (asserting("matches(a, '(x+)+y')"), "uses `matches`"),
        (asserting(".//a = 1"), "uses `//`"),
        (asserting(" or ".join(["a = 1"] * 30)), "comparisons"),
        (chain(300, UNION, PLAIN), "too deeply"),
        (chain(18, UNION, PLAIN), "more than 20 members"),
        (chain(100, WIDER, PLAIN), "too deeply"),
        (xsd(INT * 500), "declares more than"),
    ],
)
def test_what_leaves_open_what_a_reply_means_or_costs_is_refused(text, words):
    """With a sentence that says why."""
    with pytest.raises(BadXsd) as caught:
        compile_xsd(text)

    assert words in str(caught.value)


def test_an_assertion_is_a_part_of_the_contract():
    """Of XSD 1.1, and only for replies of a bounded size."""
    format_ = OutputFormat("xml", asserting("a &gt; 3"))

    assert read_reply("<r><a>4</a></r>", format_).value == {"a": 4}
    assert "assertion" in (read_reply("<r><a>3</a></r>", format_).problem or "")


def test_a_pattern_that_stalls_others_costs_nothing():
    """And means what it says."""
    format_ = OutputFormat("xml", xsd(PATTERN.format("(a+)+b")))

    assert read_reply("<r>aaab</r>", format_).value == "aaab"
    assert "(a+)+b" in (read_reply(f"<r>{'a' * 50_000}</r>", format_).problem or "")


PIECES = (
    r"a é _ [a-c] [^a] [\d_] [\w-] [\S] (a|b) \p{L} \P{Lu} \. ^ $ [$^] [&&] [a~~] [\\] [^\w] [\i]"
)
MANY = ["", "", "*", "+", "?", "{2}", "{1,3}"]
quantified = st.tuples(st.sampled_from(PIECES.split()), st.sampled_from(MANY)).map("".join)


@examples(
    120,
    600,
    st.lists(quantified, min_size=1, max_size=4).map("".join),
    st.text(st.sampled_from("aabcé_- \t\n9٣$^/.&~A\\\u00a0€"), max_size=5),
)
def test_patterns_match_what_the_library_matches(pattern, text):
    """Python's engine and the linear one say the same."""
    try:
        theirs = translate_pattern(
            pattern, back_references=False, lazy_quantifiers=False, anchors=False
        )
        python = re.compile(theirs)
    except (ValueError, re.error):
        assume(False)

    assert bool(Linear(pattern).match(text)) == bool(python.match(text))


def test_a_model_is_told_a_document_with_remarks():
    """Every element in order, its type, how often it stands, and its documentation."""
    schema = xsd(
        """<xs:element name="plan"><xs:complexType><xs:sequence>
        <xs:element name="goal" type="xs:string"><xs:annotation><xs:documentation>
          One sentence.</xs:documentation></xs:annotation></xs:element>
        <xs:element name="step" type="Step" maxOccurs="unbounded"/>
        <xs:choice minOccurs="0"><xs:element name="done"><xs:complexType/></xs:element>
          <xs:element name="left" type="xs:int"/></xs:choice>
        </xs:sequence></xs:complexType></xs:element>
        <xs:complexType name="Step"><xs:sequence>
        <xs:element name="hours"><xs:simpleType><xs:restriction base="xs:decimal">
          <xs:minExclusive value="0"/></xs:restriction></xs:simpleType></xs:element>
        <xs:element name="step" type="Step" minOccurs="0"/>
        </xs:sequence><xs:attribute name="risk"><xs:simpleType><xs:restriction base="xs:string">
          <xs:enumeration value="low"/><xs:enumeration value="high"/></xs:restriction>
        </xs:simpleType></xs:attribute></xs:complexType>"""
    )
    told = xml_words(OutputFormat("xml", schema))

    assert "from <plan> to </plan>" in told
    assert told.split("\n\n", 1)[1] == (
        "<plan>\n"
        "  <goal>text</goal> <!-- One sentence. -->\n"
        '  <step risk="low | high (may be left out)"> <!-- one or more times -->\n'
        "    <hours>decimal number above 0</hours>\n"
        '    <step risk="low | high (may be left out)">…</step>'
        " <!-- may be left out; holds what is said above -->\n"
        "  </step>\n"
        "  <!-- may be left out: -->\n"
        "    <!-- one of these: -->\n"
        "      <done/>\n"
        "      <left>whole number</left>\n"
        "</plan>"
    )


PAIR = f'{INT}<xs:element name="b" type="xs:boolean"/>'
MANY = 'minOccurs="0" maxOccurs="unbounded"'


@pytest.mark.parametrize("model", ["sequence", "choice"])
@pytest.mark.parametrize("named", [False, True])
def test_a_group_that_is_all_of_a_type_may_stand_many_times(model, named):
    """Written there or by its name; nothing of a reply is lost, and the model is told."""
    group = f"<xs:{model} {MANY}>{PAIR}</xs:{model}>"
    if named:
        group = f'<xs:group ref="g" {MANY}/>'
    schema = holding(group).replace(
        "</xs:schema>", f'<xs:group name="g"><xs:{model}>{PAIR}</xs:{model}></xs:group></xs:schema>'
    )
    form = OutputFormat(type="xml", schema=schema)
    reading = read_reply("<r><a>1</a><b>true</b><a>2</a><b>false</b></r>", form)

    assert reading.value == {"a": (1, 2), "b": (True, False)}
    assert read_reply("<r/>", form).value == {"a": (), "b": ()}
    often = "these together, any number of times" if model == "sequence" else "any number of times"
    assert f"<!-- {often}: -->" in xml_words(form)


def test_a_schema_between_the_tags_keeps_what_it_needs():
    """As elements with the namespaces from outside, as text, and in the attribute."""
    schema = xsd(INT).replace('"', "'")
    escaped = schema.replace("<", "&lt;")
    task = '<task name="t" type="atomic"><instructions>x</instructions>{}</task>'
    inside = xsd(INT).replace(' xmlns:xs="http://www.w3.org/2001/XMLSchema"', "")
    outside = task.format(f'<output_format type="xml">{inside}</output_format>').replace(
        "<task", '<task xmlns:xs="http://www.w3.org/2001/XMLSchema"', 1
    )
    for text in (
        outside,
        task.format(f'<output_format type="xml">{escaped}</output_format>'),
        task.format(f'<output_format type="xml" schema="{escaped}"/>'),
    ):
        (template,) = read_templates(Source("t.xml", text))

        assert read_reply("<a>1</a>", template.output_format).value == 1


TASK = """<task name="t" type="atomic"><instructions>x</instructions>
<output_format type="xml" schema="{}"/></task>"""


def test_a_schemas_file_is_found_and_confined_as_imports_are(tmp_path):
    """Beside the file that names it, below the folder of the program; its text is the program's."""
    below = tmp_path / "program" / "tasks"
    below.mkdir(parents=True)
    (below / "a.xsd").write_text(xsd(INT))
    (tmp_path / "outside.xsd").write_text(xsd(INT))
    os.symlink(tmp_path / "outside.xsd", below / "link.xsd")
    main = Source(str(below.parent / "main.sexp"), '(import "tasks/t.xml")')
    find = make_finder(Permissions(folder=str(below.parent)))

    def program(schema):
        (below / "t.xml").write_text(TASK.format(schema))
        return build(main, find)

    first = frozen_runs.digest(program("a.xsd"))
    (below / "a.xsd").write_text(xsd(INT + "<!-- the same -->"))
    assert first != frozen_runs.digest(program("a.xsd"))
    for schema, code in (
        ("../../outside.xsd", "import-denied"),
        ("link.xsd", "import-denied"),
        ("b.xsd", "import-not-found"),
        ("t.xml", "bad-schema"),
    ):
        with pytest.raises(Diagnostics) as caught:
            program(schema)
        (found,) = caught.value.diagnostics
        assert (found.code, found.span.text) == (code, f'schema="{schema}"')
    with pytest.raises(Diagnostics, match="a schema is no module"):
        build(Source(main.name, '(import "tasks/a.xsd")'), find)


def test_the_command_checks_a_template_with_its_schema(tmp_path):
    """`check` finds the file, and what is wrong in it."""
    from support.command import sexplang

    (tmp_path / "t.xml").write_text(TASK.format("a.xsd"))
    (tmp_path / "a.xsd").write_text(xsd('<xs:element name="a" type="xs:number"/>'))
    bad = sexplang("check", "--json", str(tmp_path / "t.xml"))
    (tmp_path / "a.xsd").write_text(xsd(INT))

    assert "bad-schema" in json.dumps(json.loads(bad.stdout))
    assert sexplang("check", str(tmp_path / "t.xml")).returncode == 0


LIST = holding(
    '<xs:sequence><xs:element name="i" type="xs:string" maxOccurs="unbounded"/>'
    '<xs:element name="n" type="xs:int" minOccurs="0"/></xs:sequence>'
)


def read(text: str, schema: str = LIST):
    return read_reply(text, OutputFormat("xml", schema))


def test_a_model_is_told_what_stands_together_in_a_choice():
    """Else it would choose one part of a sequence."""
    schema = holding(
        '<xs:choice><xs:element name="box" type="xs:int"/><xs:sequence>'
        '<xs:element name="street" type="xs:string"/><xs:element name="city" type="xs:string"/>'
        "</xs:sequence></xs:choice>"
    )
    lines = ["<!-- one of these: -->", "  <box>whole number</box>", "  <!-- these together: -->"]

    assert "\n".join(f"  {line}" for line in lines) in xml_words(OutputFormat("xml", schema))
    assert read("<r><street>a</street><city>b</city></r>", schema).value == {
        "street": "a",
        "city": "b",
    }


def test_what_is_told_of_a_number_is_not_about_python():
    """Nor are its places those of a part of the reply."""
    json = OutputFormat("json", "string[]")

    decimal = LIST.replace("xs:int", "xs:decimal")
    for schema, digits in ((LIST, 5000), (decimal, 1000), (decimal, 5000)):
        problem = read(f"<r><i/><n>{'9' * digits}</n></r>", schema).problem or ""
        assert "a number has too many digits" in problem or "value has to be lesser" in problem
    assert "control character in a string, at line 2, column 1" in (
        read_reply('[\n"a\x01"]', json).problem or ""
    )
    assert "starting at line 1" in (read_reply('"a', OutputFormat("json", "string")).problem or "")


def test_what_a_model_is_told_is_xml_whatever_the_schema_says():
    """A remark does not end in its middle, and values are written as the model is to write them."""
    schema = holding(
        '<xs:sequence><xs:element name="v"><xs:annotation><xs:documentation>so: --&gt; ---'
        "</xs:documentation></xs:annotation><xs:simpleType><xs:restriction "
        'base="xs:string"><xs:enumeration value="&lt;c&gt;"/><xs:enumeration value="a&amp;b"/>'
        "</xs:restriction></xs:simpleType></xs:element></xs:sequence>"
    )
    line = "  <v>&lt;c> | a&amp;b</v> <!-- so: - -> - - - -->"

    assert line in xml_words(OutputFormat("xml", schema))
    assert read("<r><v>&lt;c></v></r>", schema).value == {"v": "<c>"}
