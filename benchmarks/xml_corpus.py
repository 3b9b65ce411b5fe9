"""Documents with the values that they stand for, and what models do to documents.

A damage works on the text of a good document, without regard to what mends it; one that finds
nothing to work on gives None.
"""

import json
import re
from collections.abc import Callable
from random import Random
from typing import Any
from xml.sax.saxutils import escape

from attrs import evolve, frozen


@frozen
class El:
    """An element as it is written: attributes, and children or a text."""

    name: str
    inside: "str | tuple[El, ...]" = ()
    attributes: tuple[tuple[str, str], ...] = ()


Made = tuple[dict[str, Any], El]


@frozen
class Kind:
    """A schema, and what makes a document of it with its value."""

    root: str
    xsd: str
    make: Callable[[Random], Made]


def xsd(body: str) -> str:
    return f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">{body}</xs:schema>'


def written(element: El, pretty: bool, indent: str = "") -> str:
    """The document, on one line or with an element a line."""
    quoted = [f' {key}="{escape(said, {chr(34): "&quot;"})}"' for key, said in element.attributes]
    start = f"{indent if pretty else ''}<{element.name}{''.join(quoted)}"
    if not element.inside:
        return f"{start}/>"
    if isinstance(element.inside, str):
        return f"{start}>{escape(element.inside)}</{element.name}>"
    parts = [written(each, pretty, indent + "  ") for each in element.inside]
    lines = "\n".join(["", *parts, indent]) if pretty else "".join(parts)
    return f"{start}>{lines}</{element.name}>"


_WORDS = [
    "a",
    "tea",
    "cup",
    "model",
    "reply",
    "table",
    "price",
    "of",
    "with",
    "users",
    "under",
    "or",
    "but",
    "old",
    "new",
    "fails",
    "works",
]
_SPICE = [
    *("R&D", "Q&A", "salt & pepper", "a < b", "x <= 3 && y > 2", "List<String>", "A&B&C", "<3"),
    *("use <b>bold</b> here", "café", "5 € — roughly", "“quoted” words", 'she said "no"', "it's"),
    *("https://example.com/?a=1&b=2", "Müller", "if (n<10) return;", "50 % of <unknown>"),
]


def sentence(random: Random, least: int = 3, most: int = 10) -> str:
    """Words, some of them such as XML has to escape."""
    words = [random.choice(_WORDS) for _ in range(random.randint(least, most))]
    for _ in range(random.choice((0, 0, 1, 1, 2))):
        words.insert(random.randint(0, len(words)), random.choice(_SPICE))
    return " ".join(words)


def _amount(random: Random) -> tuple[float | int, str]:
    cents = random.randrange(100_000)
    said = f"{cents // 100}.{cents % 100:02}" if cents % 100 else str(cents // 100)
    return (float(said) if "." in said else int(said)), said


CONTACT = xsd(
    """<xs:element name="contact"><xs:complexType><xs:sequence>
    <xs:element name="full_name" type="xs:string"/>
    <xs:element name="company" type="xs:string" minOccurs="0"/>
    <xs:element name="balance" type="xs:decimal"/>
    <xs:element name="active" type="xs:boolean"/>
    <xs:element name="since" type="xs:date" minOccurs="0"/>
    <xs:element name="summary" type="xs:string"/>
    </xs:sequence></xs:complexType></xs:element>"""
)


def contact(random: Random) -> Made:
    value: dict[str, Any] = {"full_name": random.choice(["Ann", "Zoë", "O'Neil", "Smith & Co"])}
    said = {"full_name": value["full_name"]}
    if random.random() < 0.6:
        value["company"] = said["company"] = sentence(random, 1, 3)
    value["balance"], said["balance"] = _amount(random)
    value["active"] = random.random() < 0.5
    said["active"] = str(value["active"]).lower()
    if random.random() < 0.6:
        value["since"] = said["since"] = f"20{random.randrange(10, 30)}-0{random.randint(1, 9)}-11"
    value["summary"] = said["summary"] = sentence(random)
    return value, El("contact", tuple([El(*each) for each in said.items()]))


QUOTES = xsd(
    """<xs:element name="quotes"><xs:complexType><xs:sequence>
    <xs:element name="quote" maxOccurs="unbounded"><xs:complexType><xs:simpleContent>
      <xs:extension base="xs:string">
        <xs:attribute name="author" type="xs:string" use="required"/>
        <xs:attribute name="year" type="xs:int"/>
      </xs:extension></xs:simpleContent></xs:complexType></xs:element>
    <xs:element name="source"><xs:complexType>
      <xs:attribute name="title" type="xs:string" use="required"/></xs:complexType></xs:element>
    </xs:sequence></xs:complexType></xs:element>"""
)


def quotes(random: Random) -> Made:
    found: list[dict[str, Any]] = []
    inside: list[El] = []
    for _ in range(random.randint(1, 4)):
        one: dict[str, Any] = {"author": sentence(random, 1, 2)}
        if random.random() < 0.6:
            one["year"] = random.randrange(1500, 2030)
        own = tuple([(key, str(said)) for key, said in one.items()])
        found.append({**one, "text": sentence(random)})
        inside.append(El("quote", found[-1]["text"], own))
    title = sentence(random, 2, 4)
    inside.append(El("source", (), (("title", title),)))
    return {"quote": tuple(found), "source": {"title": title}}, El("quotes", tuple(inside))


REVIEW = xsd(
    """<xs:element name="review"><xs:complexType><xs:sequence>
    <xs:element name="verdict" type="Verdict"/>
    <xs:element name="weights"><xs:simpleType><xs:list itemType="xs:decimal"/></xs:simpleType>
    </xs:element>
    <xs:element name="issue" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:sequence>
      <xs:element name="line" type="xs:positiveInteger"/>
      <xs:element name="message" type="xs:string"/>
      </xs:sequence><xs:attribute name="code" use="required"><xs:simpleType>
      <xs:restriction base="xs:string"><xs:pattern value="[A-Z]{2}-[0-9]{1,4}"/></xs:restriction>
      </xs:simpleType></xs:attribute></xs:complexType></xs:element>
    <xs:element name="reviewer" type="xs:string" nillable="true"/>
    </xs:sequence></xs:complexType></xs:element>
    <xs:simpleType name="Verdict"><xs:restriction base="xs:string">
    <xs:enumeration value="accept"/><xs:enumeration value="minor_revision"/></xs:restriction>
    </xs:simpleType>"""
)


def review(random: Random) -> Made:
    verdict = random.choice(("accept", "minor_revision"))
    weights = [_amount(random) for _ in range(random.randint(1, 4))]
    issues = [
        {"code": f"AB-{at}", "line": random.randint(1, 900), "message": sentence(random)}
        for at in range(random.randint(0, 3))
    ]
    reviewer = sentence(random, 1, 2) if random.random() < 0.7 else None
    value = {"verdict": verdict, "weights": tuple([number for number, _ in weights])}
    inside = [El("verdict", verdict), El("weights", " ".join([said for _, said in weights]))]
    for each in issues:
        parts = (El("line", str(each["line"])), El("message", str(each["message"])))
        inside.append(El("issue", parts, (("code", str(each["code"])),)))
    nil = () if reviewer else (("xsi:nil", "true"),)
    inside.append(El("reviewer", reviewer or (), nil))
    return {**value, "issue": tuple(issues), "reviewer": reviewer}, El("review", tuple(inside))


TREE = xsd(
    """<xs:element name="tree"><xs:complexType><xs:sequence>
    <xs:element name="node" type="Node" maxOccurs="unbounded"/>
    </xs:sequence></xs:complexType></xs:element>
    <xs:complexType name="Node"><xs:sequence>
    <xs:element name="label" type="xs:string"/>
    <xs:element name="node" type="Node" minOccurs="0" maxOccurs="unbounded"/>
    </xs:sequence><xs:attribute name="weight" type="xs:int"/></xs:complexType>"""
)


def tree(random: Random) -> Made:
    made = [_node(random, 0) for _ in range(random.choice((1, 1, 2)))]
    return {"node": tuple([value for value, _ in made])}, El("tree", tuple([e for _, e in made]))


def _node(random: Random, depth: int) -> Made:
    value = {"weight": random.randrange(100)} if random.random() < 0.5 else {}
    label = sentence(random, 1, 4)
    below = [_node(random, depth + 1) for _ in range(random.choice((0, 0, 1, 2)) * (depth < 3))]
    inside = (El("label", label), *[element for _, element in below])
    own = tuple([(key, str(number)) for key, number in value.items()])
    return {**value, "label": label, "node": tuple([v for v, _ in below])}, El("node", inside, own)


KINDS = (
    Kind("contact", CONTACT, contact),
    Kind("quotes", QUOTES, quotes),
    Kind("review", REVIEW, review),
    Kind("tree", TREE, tree),
)
TYPED = frozenset(("balance", "active", "since", "verdict", "weights", "line"))
"""Elements whose text is no free text."""


# --- what models do

TAG = re.compile(r"<(/?)([\w:]+)((?:\s[^<>]*?)?)(/?)>")


@frozen
class Given:
    """A good document, as a tree and as text."""

    kind: Kind
    tree: El
    text: str
    pretty: bool


Damage = Callable[[Given, Random], "str | None"]


def tags(text: str, end: bool) -> list[re.Match[str]]:
    """The end tags of a text, or the others."""
    return [tag for tag in TAG.finditer(text) if bool(tag[1]) is end]


def without(text: str, tag: re.Match[str], instead: str = "") -> str:
    return text[: tag.start()] + instead + text[tag.end() :]


def _at_an_end(instead: Callable[[str, Random], str], last: bool = False) -> Damage:
    """Something in the place of an end tag: of any one, or any but the last."""

    def damage(given: Given, random: Random) -> str:
        ends = tags(given.text, True)
        tag = random.choice(ends if last else ends[:-1] or ends)
        return without(given.text, tag, instead(tag[2], random))

    return damage


def _replaced(*pairs: tuple[str, str]) -> Damage:
    """Texts in the place of others."""

    def damage(given: Given, random: Random) -> str | None:
        text = given.text
        for one, other in pairs:
            text = re.sub(one, other, text)
        return None if text == given.text else text

    return damage


def _framed(frame: Callable[[Given, Random], str]) -> Damage:
    return lambda given, random: frame(given, random).replace("DOCUMENT", given.text)


_BEFORE = ["Here is the XML you asked for:", "Sure!", "I've filled in the document.\n\nResult:"]
_AFTER = ["Let me know if you need anything else.", "I hope this helps & good luck!", "(Done.)"]


def _words(given: Given, random: Random) -> str:
    before, after = random.choice([(1, 0), (0, 1), (1, 1)])
    return (
        f"{random.choice(_BEFORE)}\n" * before + "DOCUMENT" + f"\n{random.choice(_AFTER)}" * after
    )


def _fence(given: Given, random: Random) -> str:
    said = f"```{random.choice(['xml', '', 'XML'])}\nDOCUMENT\n```"
    return random.choice(["", random.choice(_BEFORE) + "\n\n"]) + said


def _prolog(given: Given, random: Random) -> str:
    first = random.choice(['<?xml version="1.0" encoding="UTF-16"?>', "<?xml version='1.1'?>"])
    return (
        f"{random.choice(['', 'Result:' + chr(10)])}{first}\n<!DOCTYPE {given.kind.root}>DOCUMENT"
    )


def _wrong_case(given: Given, random: Random) -> str | None:
    names = sorted({tag[2] for tag in TAG.finditer(given.text)})
    chosen = names if random.random() < 0.5 else [random.choice(names)]
    change = random.choice([str.capitalize, str.upper, lambda name: name.replace("_", "-")])

    def renamed(tag: re.Match[str]) -> str:
        name = change(tag[2]) if tag[2] in chosen else tag[2]
        return f"<{tag[1]}{name}{tag[3]}{tag[4]}>"

    text = TAG.sub(renamed, given.text)
    return None if text == given.text else text


def _misspelt(name: str, random: Random) -> str:
    at = random.randrange(1, len(name))
    letters = [name[: at - 1] + name[at] + name[at - 1] + name[at + 1 :]]
    wrong = random.choice([*letters, name[:at] + name[at + 1 :], name + "s"])
    return f"</{wrong if wrong != name else name + 's'}>"


def _crossed(given: Given, random: Random) -> str | None:
    """`<a><b>…</a></b>`, or two end tags anywhere in each other's place."""
    ends = tags(given.text, True)
    if len(ends) < 3:
        return None
    at = random.randrange(len(ends) - 1)
    other = ends[at + 1] if random.random() < 0.5 else random.choice(ends[at + 1 :])
    if ends[at][2] == other[2]:
        return None
    return without(without(given.text, other, ends[at][0]), ends[at], other[0])


def _rewritten(change: Callable[[El, Random], El]) -> Damage:
    """The document with another element in the place of each."""

    def mapped(element: El, random: Random) -> El:
        if isinstance(element.inside, tuple):
            inside = tuple([mapped(each, random) for each in element.inside])
            element = evolve(element, inside=inside)
        return change(element, random)

    def damage(given: Given, random: Random) -> str | None:
        made = mapped(given.tree, random)
        return None if made == given.tree else written(made, given.pretty)

    return damage


def _as_elements(element: El, random: Random) -> El:
    if isinstance(element.inside, str) or not element.attributes or ":" in element.attributes[0][0]:
        return element
    own = [El(key, said) for key, said in element.attributes]
    return El(element.name, (*own, *element.inside))


def _shuffled(element: El, random: Random) -> El:
    if isinstance(element.inside, str):
        return element
    names = list(dict.fromkeys([each.name for each in element.inside]))
    random.shuffle(names)
    inside = sorted(element.inside, key=lambda each: names.index(each.name))
    return evolve(element, inside=tuple(inside))


def _roomy(element: El, random: Random) -> El:
    if element.name not in TYPED:
        return element
    return evolve(element, inside=f"\n      {element.inside}\n    ")


def _shouted(element: El, random: Random) -> El:
    if element.name not in ("verdict", "active"):
        return element
    return evolve(element, inside=str(element.inside).replace("_", " ").capitalize())


_REMARKS = ["\nAnd here are the others:\n", "\n- next & last\n", "\n… (3 more)\n", "[truncated]"]
_MARKS = [
    "<!-- note -->",
    "<?php echo 1; ?>",
    "<!DOCTYPE html>",
    '<?xml version="1.0"?>',
    "<!---->",
]
_NOTATIONS = ["[{}]", "{{{}}}", "({})", "«{}»", "&lt;{}&gt;", "<\\{}>"]


def _elided(given: Given, random: Random) -> str | None:
    """`<a>…</a> … (3 more)`: the last element of its kind is not there."""
    twice = r"</(\w+)>(\s*<\1\b[^<>]*>(?:(?!<\1\b).)*</\1>)"
    found = list(re.finditer(twice, given.text, re.DOTALL))
    if not found:
        return None
    one = random.choice(found)
    said = random.choice(["...", "<!-- and so on -->", "(2 others omitted)", "etc."])
    return given.text[: one.start(2)] + said + given.text[one.end(2) :]


def _opened(given: Given, random: Random) -> str:
    """`<!-- <a>…</a>`: it does not end."""
    at = random.choice(tags(given.text, False)[1:]).start()
    return given.text[:at] + random.choice(["<!-- ", "<![CDATA["]) + given.text[at:]


def _texts(given: Given) -> list[re.Match[str]]:
    texts = re.finditer(r"<(\w+)(?: [^<>]*)?>([^<>]*[a-z] [^<>]*)</\1>", given.text)
    return [each for each in texts if each[1] not in TYPED]


def _marked(given: Given, random: Random) -> str | None:
    """`<code><!-- a --> b</code>`: whether it is a part of the text, only the model knows."""
    texts = _texts(given)
    if not texts:
        return None
    one = random.choice(texts)
    at = random.choice([one.start(2), one.end(2)])
    return given.text[:at] + random.choice(_MARKS) + given.text[at:]


def _speaking(given: Given, random: Random) -> str | None:
    """A text that speaks of tags of its own schema, without escaping them."""
    texts = _texts(given)
    if not texts:
        return None
    one, tag = random.choice(texts), random.choice(list(TAG.finditer(given.text)))[2]
    forms = ["the <{}> tag", "it ends with </{}>", "an empty <{}/>", "as in <{}>x</{}>, say"]
    said = random.choice([*forms, "`</{}>`", "<{}>", "</{}>"]).replace("{}", tag)
    at = random.choice([one.start(2), one.end(2), given.text.index(" ", one.start(2))])
    return f"{given.text[:at]} {said} {given.text[at:]}"


def _json(given: Given, random: Random) -> str:
    said = json.dumps(given.text, ensure_ascii=random.random() < 0.5)
    return random.choice(["{}", '{{"xml": {}}}', '```json\n{{"reply": {}}}\n```']).format(said)


_HTML = (("é", "&eacute;"), ("—", "&mdash;"), ("€", "&euro;"), ("ü", "&uuml;"), ("ë", "&euml;"))

SURE: dict[str, Damage] = {
    "none": lambda given, random: given.text,
    "fence": _framed(_fence),
    "words around": _framed(_words),
    "thoughts": _framed(lambda given, random: "<thinking>\nXML & so.\n</thinking>\n\nDOCUMENT"),
    "prolog": _framed(_prolog),
    "other root around": _framed(lambda given, random: "<answer>\nDOCUMENT\n</answer>"),
    "bare &": _replaced(("&amp;", "&")),
    "bare <": _replaced(("&lt;", "<"), ("&gt;", ">")),
    "entities of HTML": _replaced(*_HTML),
    "case of names": _wrong_case,
    "case of one end tag": _at_an_end(lambda name, random: f"</{name.capitalize()}>", last=True),
    "prefixes": _replaced((r"<(/?)(\w)", r"<\1ns0:\2")),
    "other namespace": _replaced((r"^<(\w+)", r'<\1 xmlns="http://example.com/reply"')),
    "space around values": _rewritten(_roomy),
    "case of values": _rewritten(_shouted),
}
"""What has one reading."""

SLIPS: dict[str, Damage] = {
    "end tag lost": _at_an_end(lambda name, random: ""),
    "end tag misspelt": _at_an_end(_misspelt, last=True),
    "end tag without /": _at_an_end(lambda name, random: f"<{name}>"),
    "end tag twice": _at_an_end(lambda name, random: f"</{name}></{name}>", last=True),
    "end tags crossed": _crossed,
    "last tag cut": lambda given, random: given.text[: -random.randrange(1, 4)],
    "quotes lost": _replaced((r'([\w:]+)="((?:(?!&quot;)[^"<>=])*)"(?=[\s/>])', r"\1=\2")),
    "quotes curly": _replaced((r'([\w:]+)="([^"<>]*)"', r"\1=“\2”")),
    "quotes inside": _replaced(("&quot;", '"')),
    "attributes as elements": _rewritten(_as_elements),
    "order": _rewritten(_shuffled),
    "text between": _at_an_end(lambda name, random: f"</{name}>{random.choice(_REMARKS)}"),
    "comments": _at_an_end(lambda name, random: f"</{name}><!-- checked -->"),
    "root twice": _framed(lambda given, random: f"<{given.kind.root}>DOCUMENT</{given.kind.root}>"),
    "string of JSON": _json,
}
"""What can mostly be guessed: to be asked again, or read as it was meant."""

LOST: dict[str, Damage] = {
    "cut anywhere": lambda given, random: given.text[: random.randrange(1, len(given.text))],
    "end tag in other notation": _at_an_end(
        lambda name, random: random.choice(_NOTATIONS).format(f"/{name}")
    ),
    "end tag as empty element": _at_an_end(lambda name, random: f"<{name}/>"),
    "elements left out": _elided,
    "comment without end": _opened,
}
"""What nobody knows: to be asked again, unless nothing was lost."""

MARKUP: dict[str, Damage] = {"markup in text": _marked, "own tags in text": _speaking}
"""What only the model knows: to be asked again in any case."""
