"""Replies under an XSD with one slip in their tags: the value that was meant, or none."""

import re
from random import Random

import pytest

from sexplang.templates import read_reply
from sexplang.terms.template import OutputFormat


def element(name: str, inside: str, often: str = "") -> str:
    """A declaration: `inside` is a simple type, or what a complex type holds."""
    if inside.startswith("xs:"):
        return f'<xs:element name="{name}" type="{inside}" {often}/>'
    return (
        f'<xs:element name="{name}" {often}><xs:complexType>{inside}</xs:complexType></xs:element>'
    )


def sequence(*parts: str) -> str:
    return f"<xs:sequence>{''.join(parts)}</xs:sequence>"


def xsd(root: str) -> str:
    return f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">{root}</xs:schema>'


MANY, MAYBE = 'minOccurs="0" maxOccurs="unbounded"', 'minOccurs="0"'
TAGS = element("tags", sequence(element("tag", "xs:string", MANY)), MAYBE)
CARD = xsd(
    element(
        "card",
        f"<xs:all>{element('name', 'xs:string')}{element('alias', 'xs:string', MAYBE)}"
        f"{element('age', 'xs:int', MAYBE)}{TAGS}</xs:all>",
    )
)
REF = (
    '<xs:simpleContent><xs:extension base="xs:string"><xs:attribute name="id" type="xs:int" '
    'use="required"/></xs:extension></xs:simpleContent>'
)
REPORT = xsd(
    element(
        "report",
        sequence(
            element("title", "xs:string"),
            element(
                "part",
                sequence(element("head", "xs:string", MAYBE), element("line", "xs:string", MANY))
                + '<xs:attribute name="k" type="xs:string"/>',
                MANY,
            ),
            element("refs", sequence(element("ref", REF, MANY)), MAYBE),
        ),
    )
)
EVENTS = xsd(
    element(
        "events",
        f"<xs:choice {MANY}>{element('add', 'xs:int')}{element('del', 'xs:int')}"
        f"{element('say', 'xs:string')}"
        f"{element('group', sequence(element('add', 'xs:int', MANY)))}</xs:choice>",
    )
)
GROUP = element("group", sequence(element("run", "xs:string", 'maxOccurs="3"')))
STEPS = xsd(
    element(
        "steps",
        sequence(
            element(
                "step",
                f"<xs:choice>{element('run', 'xs:string')}{element('wait', 'xs:int')}"
                f"{GROUP}"
                "</xs:choice>",
                'maxOccurs="unbounded"',
            ),
            element("risk", "xs:int", MAYBE),
        ),
    )
)

WORDS = ["beta", "a b", "7", "true", "See line 3."]


class Writer:
    """Documents of the schemas, on one line or on several."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.is_pretty = random.random() < 0.5

    def leaf(self, name: str, text: object = None, attributes: str = "") -> str:
        said = self.random.choice(WORDS) if text is None else text
        return f"<{name}{attributes}>{said}</{name}>"

    def number(self, name: str) -> str:
        return self.leaf(name, self.random.randint(0, 9))

    def some(self, name: str, least: int = 0, attributes: str = "") -> list[str]:
        return [self.leaf(name, None, attributes) for _ in range(self.random.randint(least, 3))]

    def maybe(self, part: str) -> list[str]:
        return [part] * self.random.randint(0, 1)

    def holding(self, name: str, parts: list[str], depth: int = 0, attributes: str = "") -> str:
        lead = "\n" + "  " * depth if self.is_pretty and parts else ""
        inside = "".join(f"{lead}  {part}" if lead else part for part in parts)
        return f"<{name}{attributes}>{inside}{lead}</{name}>"


def card(to: Writer) -> str:
    parts = [to.leaf("name"), *to.maybe(to.leaf("alias")), *to.maybe(to.number("age"))]
    parts += to.maybe(to.holding("tags", to.some("tag"), 1))
    to.random.shuffle(parts)
    return to.holding("card", parts)


def report(to: Writer) -> str:
    parts = [to.leaf("title")]
    for _ in range(to.random.randint(0, 3)):
        inside = [*to.maybe(to.leaf("head")), *to.some("line")]
        parts.append(to.holding("part", inside, 1, to.random.choice(["", ' k="q"'])))
    refs = to.some("ref", 1, f' id="{to.random.randint(1, 9)}"')
    return to.holding("report", [*parts, *to.maybe(to.holding("refs", refs, 1))])


def events(to: Writer) -> str:
    def one() -> str:
        adds = [to.number("add") for _ in range(to.random.randint(0, 3))]
        simple = [to.number("add"), to.number("del"), to.leaf("say")]
        return to.random.choice([*simple, to.holding("group", adds, 1)])

    return to.holding("events", [one() for _ in range(to.random.randint(1, 5))])


def steps(to: Writer) -> str:
    def one() -> str:
        inside = to.random.choice(
            [to.leaf("run"), to.number("wait"), to.holding("group", to.some("run", 1), 2)]
        )
        return to.holding("step", [inside], 1)

    made = [one() for _ in range(to.random.randint(1, 3))]
    return to.holding("steps", [*made, *to.maybe(to.number("risk"))])


def slipped(text: str, random: Random) -> str:
    """The text with one tag lost, twice, another one, exchanged, turned, or closed at once."""
    pieces = re.findall(r"<[^>]*>|[^<]+", text)
    tags = [at for at, piece in enumerate(pieces) if piece[0] == "<"]
    at, other = random.choice(tags), random.choice(tags)
    tag = pieces[at]
    match random.randrange(6):
        case 0:
            pieces[at] = ""
        case 1:
            pieces[at] = tag * 2
        case 2:
            pieces[at] = pieces[other]
        case 3:
            pieces[at], pieces[other] = pieces[other], tag
        case 4:
            pieces[at] = f"<{tag[2:]}" if tag[1] == "/" else f"</{tag[1:]}"
        case _:
            pieces[at] = f"{tag[:-1]}/>"
    return "".join(pieces)


@pytest.mark.parametrize(
    ("schema", "make"), [(CARD, card), (REPORT, report), (EVENTS, events), (STEPS, steps)]
)
def test_a_reply_with_one_slip_is_read_as_it_was_meant_or_refused(schema, make):
    """Or fits as it stands: then it says what it says. More than one of four is read."""
    random = Random(f"{make.__name__} 1")
    recovered = 0
    for _ in range(200):
        text = make(Writer(random))
        reply = slipped(text, random)
        meant = read_reply(text, OutputFormat("xml", schema))
        assert (meant.problem, meant.repairs) == (None, ())
        reading = read_reply(reply, OutputFormat("xml", schema))
        if reading.problem is None and reading.repairs:
            assert repr(reading.value) == repr(meant.value), (text, reply, reading)
            recovered += 1

    assert recovered > 200 / 4


LIST = xsd(element("tags", sequence(element("tag", "xs:string", MANY))))
COUNTS = xsd(element("issues", sequence(element("issue", "xs:int", MANY))))
REFS = xsd(element("refs", sequence(element("ref", REF, MANY))))
ITEM = xsd(
    element(
        "item",
        sequence(
            element("sku", "xs:token"),
            element("qty", "xs:int", MAYBE),
            element("remark", "xs:string", MAYBE),
        ),
    )
)
FILE = '<xs:attribute name="name" type="xs:string" use="required"/>'
FILES = xsd(element("root", sequence(element("file", FILE, MANY))))
TWICE = "it can be read in several ways"


@pytest.mark.parametrize(
    ("schema", "text", "words"),
    [
        (LIST, "<tags><tag>x</tag>y</tag></tags>", "`y` in <tags> may be an element"),
        (COUNTS, "<issues><issue>1</issue>2</issue></issues>", "`2` in <issues> may be"),
        (REFS, '<refs><ref id="1">x</ref>y</ref></refs>', "the start tag of <ref> is lost"),
        (REFS, '<refs><ref id="1">a<ref id="1"></refs>', TWICE),
        (FILES, '<root>file name="x"/><file name="y"/></root>', "may be left of a tag"),
        (FILES, '<root>«file name="x"/»<file name="y"/></root>', "may be left of a tag"),
        (FILES, '<root>file/><file name="y"/></root>', "may be left of a tag"),
        (FILES, '<root>file(x)<file name="y"/></root>', "may be left of a tag"),
        (FILES, "<root><file name=x'/></root>", "the quotes around name"),
        (FILES, "<root><file name=x&quot;/></root>", "the quotes around name"),
        (FILES, "<root><file name=`x`/></root>", "the quotes around name"),
        (FILES, '<root><file name=""x""/></root>', "the quotes around name"),
        (LIST, "<tags><tag>x</tag>y</tags>", "`y` in <tags> may be an element without its tags"),
        (CARD, "<card><name>a</name></tags></card>", TWICE),
        (CARD, "<card></tags></tags><name>a</name></card>", TWICE),
        (CARD, "<card><alias>a</name><age>1</age><name>b</alias></card>", TWICE),
        (STEPS, "<steps><step></group><run>a</run></group></step></steps>", TWICE),
        (STEPS, "<steps><step><run>a</run></group></step></steps>", TWICE),
        (EVENTS, "<events><add>6</del></events>", TWICE),
        (EVENTS, "<events><group/><add>6</add></group></events>", TWICE),
        (REPORT, "<report><title>a</title><part><line>7</line><line></report>", TWICE),
        (ITEM, "<item><sku>a</sku>6<remark>z</remark></item>", "`6` in <item> may be an element"),
        (EVENTS, "<events><group>a</group></events>", "<group> holds elements (<add>), and no"),
    ],
)
def test_a_second_reading_is_found(schema, text, words):
    """Where an element may be lost, another, or without its tags."""
    assert words in (read_reply(text, OutputFormat("xml", schema)).problem or "")


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        (LIST, "<tags>\n  <tag>x</tag>\n  y</tag>\n</tags>", {"tag": ("x", "y")}),
        (LIST, "<tags><tag>x</tag>,<tag>y</tag></tags>", {"tag": ("x", "y")}),
        (FILES, "<root><file name=O'Brien/></root>", {"file": ({"name": "O'Brien"},)}),
        (FILES, '<root><file name="a "b" c"/></root>', {"file": ({"name": 'a "b" c'},)}),
        (CARD, "<card><name>a</card>", {"name": "a"}),
        (EVENTS, "<events>Here:<say>a</say></events>", None),
        (COUNTS, "<issues>Here:<issue>1</issue></issues>", {"issue": (1,)}),
        (ITEM, "<item><sku>a</sku>or so<remark>z</remark></item>", {"sku": "a", "remark": "z"}),
        (ITEM, "<item><sku>a</sku>6</qty></item>", {"sku": "a", "qty": 6}),
        (REFS, '<refs>Here:<ref id="1">x</ref></refs>', {"ref": ({"id": 1, "text": "x"},)}),
    ],
)
def test_what_cannot_be_another_document_is_read(schema, text, value):
    """Text that no element could say is left out."""
    reading = read_reply(text, OutputFormat("xml", schema))

    assert reading.value == value
    assert (reading.problem is None) == (value is not None)
