"""What models do to the XML that they write: each damage takes a good document and gives a reply.

Written from replies, on the text, without regard to what mends them. A damage that finds nothing
to work on gives None.
"""

import json
import re
from random import Random

from benchmarks.xml_damage_inside import (
    attributes_as_elements,
    chosen_words_in_other_case,
    comments,
    curly_quotes,
    doubled_root,
    elements_as_attributes,
    end_tag_in_other_case,
    inner_quotes,
    lost_quotes,
    namespaces,
    own_tags_in_text,
    space_in_values,
    text_between,
    wrapped,
    wrong_case,
    wrong_order,
)
from benchmarks.xml_given import TAG, Damage, Given, ends, without

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
    return without(given.text, random.choice(ends(given.text)[:-1]))


def lost_end_tags(given: Given, random: Random) -> str | None:
    text = given.text
    for _ in range(random.randint(2, 4)):
        text = without(text, random.choice(ends(text)[:-1])) if len(ends(text)) > 2 else text
    return text


def misspelt_end_tag(given: Given, random: Random) -> str | None:
    match = random.choice(ends(given.text))
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
    return None if wrong == name else without(given.text, match, f"</{wrong}>")


def lost_slash(given: Given, random: Random) -> str:
    """`<name>Ann<name>`"""
    match = random.choice(ends(given.text)[:-1])
    return without(given.text, match, f"<{match[2]}>")


def crossed_end_tags(given: Given, random: Random) -> str | None:
    """`<a><b>…</a></b>`"""
    pairs = [
        (one, other)
        for one, other in zip(ends(given.text), ends(given.text)[1:], strict=False)
        if not given.text[one.end() : other.start()].strip() and one[2] != other[2]
    ]
    if not pairs:
        return None
    one, other = random.choice(pairs)
    text = without(given.text, other, one[0])
    return text[: one.start()] + other[0] + text[one.end() :]


def doubled_end_tag(given: Given, random: Random) -> str:
    match = random.choice(ends(given.text))
    return without(given.text, match, match[0] * 2)


def cut_in_last_tag(given: Given, random: Random) -> str:
    """The reply stops before its last tag is complete."""
    last = ends(given.text)[-1]
    return given.text[: last.start() + random.randrange(2, len(last[0]))]


def last_tag_lost(given: Given, random: Random) -> str:
    """The reply stops before its last tag; the fence around it is closed."""
    return f"```xml\n{given.text[: ends(given.text)[-1].start()].rstrip()}\n```"


def cut_anywhere(given: Given, random: Random) -> str:
    """What is left of a reply that was cut off: hardly ever the whole."""
    return given.text[: random.randrange(1, len(given.text))]


_NOTATIONS = ["[{}]", "{{{}}}", "({})", "«{}»", "&lt;{}&gt;", "<\\{}>"]


def end_tag_in_other_notation(given: Given, random: Random) -> str:
    """`x[/code]`"""
    match = random.choice(ends(given.text))
    return without(given.text, match, random.choice(_NOTATIONS).format(f"/{match[2]}"))


def tags_in_other_notation(given: Given, random: Random) -> str | None:
    """`[code]x[/code]`, `code: x`"""
    found = re.findall(r"<(\w+)>([^<>]*)</\1>", given.text)
    if not found:
        return None
    name, text = random.choice(found)
    notation = random.choice([*_NOTATIONS[:5], ""])
    begin, end = notation.format(name), notation.format(f"/{name}")
    return given.text.replace(f"<{name}>{text}</{name}>", f"{begin or f'{name}: '}{text}{end}", 1)


def json_string(given: Given, random: Random) -> str:
    """`{"xml": "<a b=\\"1\\">…"}`"""
    string = json.dumps(given.text, ensure_ascii=random.random() < 0.5)
    return random.choice(["{}", '{{"xml": {}}}', '```json\n{{"reply": {}}}\n```']).format(string)


# --- what says something else, or nothing for certain


def end_tag_as_empty_element(given: Given, random: Random) -> str:
    """`<name>Ann<name/>`"""
    match = random.choice(ends(given.text)[:-1])
    return without(given.text, match, f"<{match[2]}/>")


_ELISIONS = ["...", "… (3 more)", "[truncated]", "<!-- and so on -->", "(2 others omitted)", "etc."]


def elision(given: Given, random: Random) -> str | None:
    """`<a>…</a> … (3 more)`: the last element of its kind is not there."""
    found = list(
        re.finditer(r"</(\w+)>(\s*<\1\b[^<>]*>(?:(?!<\1\b).)*</\1>)", given.text, re.DOTALL)
    )
    if not found:
        return None
    match = random.choice(found)
    return given.text[: match.start(2)] + random.choice(_ELISIONS) + given.text[match.end(2) :]


def open_comment(given: Given, random: Random) -> str:
    """`<!-- <a>…</a>`: it does not end."""
    tags = [tag for tag in TAG.finditer(given.text) if not tag[1]][1:]
    at = random.choice(tags).start()
    return given.text[:at] + random.choice(["<!-- ", "<![CDATA["]) + given.text[at:]


_MARKS = [
    "<!-- note -->",
    "<?php echo 1; ?>",
    "<!DOCTYPE html>",
    '<?xml version="1.0"?>',
    "<!---->",
]


def markup_in_text(given: Given, random: Random) -> str | None:
    """`<code><!-- a --> b</code>`: whether it is a part of the text, only the model knows."""
    texts = list(re.finditer(r"<(\w+)>([^<>]*[a-z] [^<>]*)</\1>", given.text))
    texts = [each for each in texts if each[1] not in given.kind.typed | given.kind.enumerated]
    if not texts:
        return None
    match = random.choice(texts)
    at = random.choice([match.start(2), match.end(2)])
    return given.text[:at] + random.choice(_MARKS) + given.text[at:]


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
        json_string,
    )
}
"""What a reader is to recover from."""

DOUBTFUL: dict[str, Damage] = {"own tags in text": own_tags_in_text}
"""What may be read in several ways: better asked again than wrong."""

HOPELESS: dict[str, Damage] = {
    "cut anywhere": cut_anywhere,
    "end tag in other notation": end_tag_in_other_notation,
    "tags in other notation": tags_in_other_notation,
    "end tag as empty element": end_tag_as_empty_element,
    "elision": elision,
    "open comment": open_comment,
}
"""What it is to refuse, unless nothing was lost."""

UNSAID: dict[str, Damage] = {"markup in text": markup_in_text}
"""What it is to refuse in any case."""
