"""Texts of which every space counts, whichever tag beside them is damaged: whole, or refused."""

from xml.sax.saxutils import escape

from hypothesis import given, settings
from hypothesis import strategies as st

from sexplang.templates import read_reply
from sexplang.terms.template import OutputFormat

LETTER = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
    <xs:element name="letter"><xs:complexType><xs:sequence>
    <xs:element name="to" type="xs:string"/>
    <xs:element name="cc" type="xs:string" minOccurs="0" maxOccurs="3"/>
    <xs:element name="line" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:simpleContent>
      <xs:extension base="xs:string"><xs:attribute name="no" type="xs:int"/></xs:extension>
    </xs:simpleContent></xs:complexType></xs:element>
    <xs:element name="sign" type="xs:string" minOccurs="0"/>
    </xs:sequence></xs:complexType></xs:element></xs:schema>"""


def read(text):
    return read_reply(text, OutputFormat("xml", LETTER))


PARTS = [
    "tea",
    "x ",
    " ",
    "\n",
    "\n  ",
    "<b>y</b>",
    "<cc>y</cc>",
    "<line>",
    "<sign>y</sign>",
    "<to/>",
    "&",
]
SAID = st.lists(st.sampled_from(PARTS), max_size=4).map("".join)
LINE = st.fixed_dictionaries({"text": SAID}, optional={"no": st.integers(1, 9)})
LETTERS = st.fixed_dictionaries(
    {"to": SAID, "cc": st.lists(SAID, max_size=3), "line": st.lists(LINE, max_size=3)},
    optional={"sign": SAID},
)


def letter(value, indented: bool, damaged: int, damage: str) -> str:
    """The document of a letter, with one damage at one of its elements."""
    told = [("to", "", value["to"])]
    told += [("cc", "", text) for text in value["cc"]]
    told += [
        ("line", f' no="{line["no"]}"' if "no" in line else "", line["text"])
        for line in value["line"]
    ]
    told += [("sign", "", value["sign"])] if "sign" in value else []
    said = []
    for at, (name, attributes, text) in enumerate(told):
        start, end = f"<{name}{attributes}>", f"</{name}>"
        text = escape(text)
        if at == damaged % len(told):
            start, text, end = {
                "none": (start, text, end),
                "lost end": (start, text, ""),
                "lost start": ("", text, end),
                "lost slash": (start, text, f"<{name}>"),
                "wrong end": (start, text, "</b>"),
                "doubled end": (start, text, end * 2),
                "doubled start": (f"<{name}>{start}", text, end),
                "closed start": (f"<{name}{attributes}/>", text, end),
                "crossed": (start, text, f"</letter>{end}"),
            }[damage]
            if damage == "crossed" and at == len(told) - 1:
                return f"<letter>{''.join(said)}{start}{text}{end}"
            end = end.removeprefix("</letter>")
        said.append(f"\n  {start}{text}{end}" if indented else f"{start}{text}{end}")
    return f"<letter>{''.join(said)}{chr(10) * indented}</letter>"


HARM = ["none", "lost end", "lost start", "lost slash", "wrong end", "doubled end"]
HARM += ["doubled start", "closed start", "crossed"]


@given(LETTERS, st.booleans(), st.integers(0, 9), st.sampled_from(HARM))
@settings(max_examples=200)
def test_a_text_of_which_every_space_counts_is_whole_or_refused(value, indented, at, damage):
    """Whatever it holds, and whichever of its tags is damaged."""
    reading = read(letter(value, indented, at, damage))
    value = {**value, "cc": tuple(value["cc"]), "line": tuple(value["line"])}
    first = {key: value[key] for key in ("to", "cc", "line", "sign") if key in value}

    assert reading.problem is not None or reading.value == first
    assert reading.problem is None or damage != "none"
