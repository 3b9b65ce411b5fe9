"""What models do to the names, attributes and texts of the XML that they write."""

import re
from collections.abc import Callable
from random import Random

from attrs import evolve

from benchmarks.xml_given import TAG, Given, ends, without
from benchmarks.xml_texts import El, written

# --- names


def _renamed(given: Given, change: Callable[[str], str], names: set[str]) -> str:
    def changed(match: re.Match[str]) -> str:
        name = change(match[2]) if match[2] in names else match[2]
        return f"<{match[1]}{name}{match[3]}{match[4]}>"

    return TAG.sub(changed, given.text)


def _names(given: Given) -> list[str]:
    return sorted({match[2] for match in TAG.finditer(given.text)})


def wrong_case(given: Given, random: Random) -> str | None:
    names = _names(given)
    chosen = set(names) if random.random() < 0.5 else {random.choice(names)}
    change = random.choice([str.capitalize, str.upper, _camel, lambda name: name.replace("_", "-")])
    text = _renamed(given, change, chosen)
    return None if text == given.text else text


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def end_tag_in_other_case(given: Given, random: Random) -> str:
    match = random.choice(ends(given.text))
    return without(given.text, match, f"</{match[2].capitalize()}>")


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
        for match, after in zip(ends(given.text), ends(given.text)[1:], strict=False)
        if not given.text[match.end() : after.start()].split("<")[0].strip()
    ]
    if not places:
        return None
    remark = random.choice(["\nAnd here are the others:\n", "\n- next & last\n", "\n,\n"])
    at = random.choice(places)
    return given.text[:at] + remark + given.text[at:]


def comments(given: Given, random: Random) -> str:
    match = random.choice(ends(given.text)[:-1])
    return without(
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


def own_tags_in_text(given: Given, random: Random) -> str | None:
    """A text that speaks of tags of the schema, without escaping them."""
    spelled = "|".join(sorted({match[2] for match in TAG.finditer(given.text)}, reverse=True))
    text = re.sub(rf"&lt;(?=/?(?:{spelled})\b)(.*?)&gt;", r"<\1>", given.text)
    return None if text == given.text else text.replace("&quot;", '"')
