"""What models do to the XML that they write: each damage takes a good document and gives a reply.

Written from replies, on the text, without regard to what mends them. A damage that finds nothing
to work on gives None.
"""

import re
from collections.abc import Callable
from random import Random

from attrs import evolve, frozen

from benchmarks.xml_documents import El, Kind, written

_TAG = re.compile(r"<(/?)([\w:]+)((?:\s[^<>]*?)?)(/?)>")


@frozen
class Given:
    """A good document, as a tree and as text."""

    kind: Kind
    tree: El
    text: str
    pretty: bool


Damage = Callable[[Given, Random], "str | None"]


def _ends(text: str) -> list[re.Match[str]]:
    return [match for match in _TAG.finditer(text) if match[1]]


def _without(text: str, match: re.Match[str], instead: str = "") -> str:
    return text[: match.start()] + instead + text[match.end() :]


# --- characters


def bare_ampersand(given: Given, random: Random) -> str | None:
    """`Q&A` as it is said."""
    text = given.text
    return text.replace("&amp;", "&") if "&amp;" in text else None


def bare_less_than(given: Given, random: Random) -> str | None:
    text = given.text
    return text.replace("&lt;", "<").replace("&gt;", ">") if "&lt;" in text else None


_HTML = {"é": "&eacute;", "ï": "&iuml;", "—": "&mdash;", "€": "&euro;", "ü": "&uuml;"}
_HTML |= {"“": "&ldquo;", "”": "&rdquo;", "ë": "&euml;"}


def html_entities(given: Given, random: Random) -> str | None:
    text = given.text
    for character, entity in _HTML.items():
        text = text.replace(character, entity)
    return None if text == given.text else text


# --- around the document

_BEFORE = ["Here is the XML you asked for:", "Sure!", "I've filled in the document.\n\nResult:"]
_AFTER = ["Let me know if you need anything else.", "I hope this helps & good luck!", "(Done.)"]


def fence(given: Given, random: Random) -> str:
    before = random.choice(["", random.choice(_BEFORE) + "\n\n"])
    after = random.choice(["", "\n\n" + random.choice(_AFTER)])
    return f"{before}```{random.choice(['xml', '', 'XML'])}\n{given.text}\n```{after}"


def words_around(given: Given, random: Random) -> str:
    before, after = random.choice([(1, 0), (0, 1), (1, 1)])
    return (
        (random.choice(_BEFORE) + "\n") * before + given.text + f"\n{random.choice(_AFTER)}" * after
    )


def thoughts(given: Given, random: Random) -> str:
    """A part for thinking that should not be in the reply."""
    return f"<thinking>\nThe user wants XML & I will write it.\n</thinking>\n\n{given.text}"


def prolog(given: Given, random: Random) -> str:
    root = given.kind.root
    first = random.choice(['<?xml version="1.0" encoding="UTF-16"?>', "<?xml version='1.1'?>"])
    doctype = random.choice(
        ["", f"<!DOCTYPE {root}>\n", f'<!DOCTYPE {root} SYSTEM "{root}.dtd">\n']
    )
    return f"{random.choice(['', chr(10), 'Result:' + chr(10)])}{first}\n{doctype}{given.text}"


# --- end tags


def lost_end_tag(given: Given, random: Random) -> str | None:
    """One end tag is not there; that of the root has a damage of its own."""
    return _without(given.text, random.choice(_ends(given.text)[:-1]))


def lost_end_tags(given: Given, random: Random) -> str | None:
    text = given.text
    for _ in range(random.randint(2, 4)):
        text = _without(text, random.choice(_ends(text)[:-1])) if len(_ends(text)) > 2 else text
    return text


def misspelt_end_tag(given: Given, random: Random) -> str | None:
    match = random.choice(_ends(given.text))
    name = match[2]
    at = random.randrange(1, len(name))
    wrong = random.choice(
        [
            name[: at - 1] + name[at] + name[at - 1] + name[at + 1 :],
            name[:at] + name[at + 1 :],
            name[:at] + name[at - 1] + name[at:],
            name + "s",
        ]
    )
    return None if wrong == name else _without(given.text, match, f"</{wrong}>")


def lost_slash(given: Given, random: Random) -> str:
    """`<name>Ann<name>`"""
    match = random.choice(_ends(given.text)[:-1])
    return _without(given.text, match, f"<{match[2]}>")


def crossed_end_tags(given: Given, random: Random) -> str | None:
    """`<a><b>…</a></b>`"""
    pairs = [
        (one, other)
        for one, other in zip(_ends(given.text), _ends(given.text)[1:], strict=False)
        if not given.text[one.end() : other.start()].strip() and one[2] != other[2]
    ]
    if not pairs:
        return None
    one, other = random.choice(pairs)
    text = _without(given.text, other, one[0])
    return text[: one.start()] + other[0] + text[one.end() :]


def doubled_end_tag(given: Given, random: Random) -> str:
    match = random.choice(_ends(given.text))
    return _without(given.text, match, match[0] * 2)


def cut_in_last_tag(given: Given, random: Random) -> str:
    """The reply stops before its last tag is complete."""
    last = _ends(given.text)[-1]
    return given.text[: last.start() + random.randrange(2, len(last[0]))]


def last_tag_lost(given: Given, random: Random) -> str:
    """The reply stops before its last tag; the fence around it is closed."""
    return f"```xml\n{given.text[: _ends(given.text)[-1].start()].rstrip()}\n```"


def cut_anywhere(given: Given, random: Random) -> str:
    """What is left of a reply that was cut off: hardly ever the whole."""
    return given.text[: random.randrange(1, len(given.text))]


# --- names


def _renamed(given: Given, change: Callable[[str], str], names: set[str]) -> str:
    def changed(match: re.Match[str]) -> str:
        name = change(match[2]) if match[2] in names else match[2]
        return f"<{match[1]}{name}{match[3]}{match[4]}>"

    return _TAG.sub(changed, given.text)


def _names(given: Given) -> list[str]:
    return sorted({match[2] for match in _TAG.finditer(given.text)})


def wrong_case(given: Given, random: Random) -> str | None:
    names = _names(given)
    chosen = set(names) if random.random() < 0.5 else {random.choice(names)}
    change = random.choice([str.capitalize, str.upper, _camel, lambda name: name.replace("_", "-")])
    text = _renamed(given, change, chosen)
    return None if text == given.text else text


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def end_tag_in_other_case(given: Given, random: Random) -> str:
    match = random.choice(_ends(given.text))
    return _without(given.text, match, f"</{match[2].capitalize()}>")


def namespaces(given: Given, random: Random) -> str:
    root = given.kind.root
    text = given.text
    if random.random() < 0.5:
        names = set(_names(given))
        text = _renamed(given, lambda name: f"ns0:{name}", names)
        declared = random.choice(["", ' xmlns:ns0="urn:example"'])
        return text.replace(f"<ns0:{root}", f"<ns0:{root}{declared}", 1)
    noise = ' xmlns="http://example.com/reply" xsi:schemaLocation="http://example.com reply.xsd"'
    return text.replace(f"<{root}", f"<{root}{noise}", 1)


# --- attributes


def lost_quotes(given: Given, random: Random) -> str | None:
    """`year=1999`, `author=Li Wei`"""
    text = re.sub(r'([\w:]+)="((?:(?!&quot;)[^"<>=])*)"(?=[\s/>])', r"\1=\2", given.text)
    return None if text == given.text else text


def curly_quotes(given: Given, random: Random) -> str | None:
    text = re.sub(r'([\w:]+)="([^"<>]*)"', r"\1=“\2”", given.text)
    return None if text == given.text else text


def inner_quotes(given: Given, random: Random) -> str | None:
    text = given.text.replace("&quot;", '"')
    return None if text == given.text else text


def _mapped(element: El, change: Callable[[El], El]) -> El:
    if isinstance(element.inside, tuple):
        inside = tuple(_mapped(each, change) for each in element.inside)
        element = evolve(element, inside=inside)
    return change(element)


def _rewritten(given: Given, change: Callable[[El], El]) -> str | None:
    tree = _mapped(given.tree, change)
    return None if tree == given.tree else written(tree, given.pretty)


def attributes_as_elements(given: Given, random: Random) -> str | None:
    def change(element: El) -> El:
        own = [(key, value) for key, value in element.attributes if not key.startswith("xs:")]
        own = [(key, value) for key, value in own if ":" not in key]
        if not own or isinstance(element.inside, str):
            return element
        children = tuple(El(key, (), value) for key, value in own)
        kept = tuple(pair for pair in element.attributes if pair not in own)
        return El(element.name, kept, (*children, *element.inside))

    return _rewritten(given, change)


def elements_as_attributes(given: Given, random: Random) -> str | None:
    """The short ones, of which there is one."""

    def change(element: El) -> El:
        if not isinstance(element.inside, tuple):
            return element
        names = [each.name for each in element.inside]
        moved = [
            each
            for each in element.inside
            if isinstance(each.inside, str)
            and not each.attributes
            and names.count(each.name) == 1
            and each.name in given.kind.typed
        ]
        kept = tuple(each for each in element.inside if each not in moved)
        own = tuple((each.name, str(each.inside)) for each in moved)
        return El(element.name, (*element.attributes, *own), kept)

    return _rewritten(given, change)


# --- content


def wrong_order(given: Given, random: Random) -> str | None:
    """The elements of a sequence in another order; those of one name stay in theirs."""

    def change(element: El) -> El:
        if element.name not in given.kind.sequences or not isinstance(element.inside, tuple):
            return element
        names = list(dict.fromkeys(each.name for each in element.inside))
        random.shuffle(names)
        inside = tuple(sorted(element.inside, key=lambda each: names.index(each.name)))
        return evolve(element, inside=inside)

    return _rewritten(given, change)


def text_between(given: Given, random: Random) -> str | None:
    """Remarks where only elements may stand, after the first of them."""
    places = [
        match.end()
        for match, after in zip(_ends(given.text), _ends(given.text)[1:], strict=False)
        if not given.text[match.end() : after.start()].split("<")[0].strip()
    ]
    if not places:
        return None
    remark = random.choice(["\nAnd here are the others:\n", " ... ", "\n- next & last\n", "\n,\n"])
    at = random.choice(places)
    return given.text[:at] + remark + given.text[at:]


def comments(given: Given, random: Random) -> str:
    match = random.choice(_ends(given.text)[:-1])
    return _without(
        given.text, match, f"{match[0]}<!-- {random.choice(['checked', 'a <b> & c'])} -->"
    )


def space_in_values(given: Given, random: Random) -> str | None:
    """Numbers, dates and chosen words on lines of their own."""

    def change(element: El) -> El:
        if element.name not in given.kind.typed or not isinstance(element.inside, str):
            return element
        return evolve(element, inside=f"\n      {element.inside}\n    ")

    return _rewritten(given, change)


def chosen_words_in_other_case(given: Given, random: Random) -> str | None:
    def change(element: El) -> El:
        if element.name not in given.kind.enumerated or not isinstance(element.inside, str):
            return element
        return evolve(element, inside=element.inside.replace("_", " ").capitalize())

    return _rewritten(given, change)


def doubled_root(given: Given, random: Random) -> str:
    root = given.kind.root
    return f"<{root}>\n{given.text}\n</{root}>"


def wrapped(given: Given, random: Random) -> str:
    tag = random.choice(["answer", "output", "xml"])
    return f"<{tag}>\n{given.text}\n</{tag}>"


DAMAGES: dict[str, Damage] = {
    function.__name__.replace("_", " "): function
    for function in (
        bare_ampersand,
        bare_less_than,
        html_entities,
        fence,
        words_around,
        thoughts,
        prolog,
        lost_end_tag,
        lost_end_tags,
        misspelt_end_tag,
        lost_slash,
        crossed_end_tags,
        doubled_end_tag,
        cut_in_last_tag,
        last_tag_lost,
        wrong_case,
        end_tag_in_other_case,
        namespaces,
        lost_quotes,
        curly_quotes,
        inner_quotes,
        attributes_as_elements,
        elements_as_attributes,
        wrong_order,
        text_between,
        comments,
        space_in_values,
        chosen_words_in_other_case,
        doubled_root,
        wrapped,
    )
}
"""What a reader is to recover from."""

HOPELESS: dict[str, Damage] = {"cut anywhere": cut_anywhere}
"""What it is to refuse, unless nothing was lost."""
