"""Documents in which elements stand in elements of their own kind, and what models do to them.

Where an end tag is lost there, or one of the parts, more than one tree may be meant: better asked
again than wrong.
"""

import re
from random import Random
from typing import Any

from benchmarks.xml_documents import Kind, xsd
from benchmarks.xml_given import TAG, Damage, Given, ends, without
from benchmarks.xml_texts import El, leaf, sentence

TREE = xsd(
    """
  <xs:element name="tree"><xs:complexType><xs:sequence>
    <xs:element name="node" type="Node" maxOccurs="unbounded"/>
  </xs:sequence></xs:complexType></xs:element>
  <xs:complexType name="Node"><xs:sequence>
    <xs:element name="label" type="xs:string"/>
    <xs:element name="node" type="Node" minOccurs="0" maxOccurs="unbounded"/>
  </xs:sequence><xs:attribute name="weight" type="xs:int"/></xs:complexType>"""
)


def tree(random: Random) -> tuple[dict[str, Any], El]:
    made = [_node(random, 0) for _ in range(random.choice((1, 1, 2)))]
    return {"node": tuple(each for each, _ in made)}, El("tree", (), tuple(e for _, e in made))


def _node(random: Random, depth: int) -> tuple[dict[str, Any], El]:
    value: dict[str, Any] = {}
    if random.random() < 0.5:
        value["weight"] = random.randrange(100)
    attributes = tuple((key, str(number)) for key, number in value.items())
    value["label"] = sentence(random, 1, 4)
    below = random.choice((0, 0, 1, 2)) if depth < 3 else 0
    made = [_node(random, depth + 1) for _ in range(below)]
    value["node"] = tuple(each for each, _ in made)
    inside = (leaf("label", value["label"]), *[element for _, element in made])
    return value, El("node", attributes, inside)


TREES = Kind("tree", "tree", TREE, tree, ["node"])


def lost_part(given: Given, random: Random) -> str | None:
    """A document whose tags match, and of which one part is not there."""
    found = random.choice(list(re.finditer(r"\s*<label>[^<]*</label>", given.text)))
    return without(given.text, found)


def other_end_tag(given: Given, random: Random) -> str | None:
    """`<label>x</node>`"""
    found = random.choice(ends(given.text)[:-1])
    return without(given.text, found, "</node>" if found[2] == "label" else "</label>")


def swapped_end_tags(given: Given, random: Random) -> str | None:
    """Two end tags stand in each other's place, wherever."""
    if len(ends(given.text)) < 4:
        return None
    one, other = sorted(random.sample(ends(given.text)[:-1], 2), key=lambda each: each.start())
    text = without(given.text, other, one[0])
    return None if one[0] == other[0] else text[: one.start()] + other[0] + text[one.end() :]


def cut_in_a_tag(given: Given, random: Random) -> str:
    """The reply stops in a start tag, or behind it."""
    found = random.choice([tag for tag in TAG.finditer(given.text) if not tag[1]][1:])
    return given.text[: random.randrange(found.start() + 1, found.end() + 1)]


IN_TREES: dict[str, Damage] = {
    "lost part": lost_part,
    "other end tag": other_end_tag,
    "swapped end tags": swapped_end_tags,
    "cut in a tag": cut_in_a_tag,
}
"""Beside all other damages."""
