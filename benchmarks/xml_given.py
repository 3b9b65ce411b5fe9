"""A good document, and where its tags are: what a damage works on."""

import re
from collections.abc import Callable
from random import Random

from attrs import frozen

from benchmarks.xml_documents import Kind
from benchmarks.xml_texts import El

TAG = re.compile(r"<(/?)([\w:]+)((?:\s[^<>]*?)?)(/?)>")


@frozen
class Given:
    """A good document, as a tree and as text."""

    kind: Kind
    tree: El
    text: str
    pretty: bool


Damage = Callable[[Given, Random], "str | None"]


def ends(text: str) -> list[re.Match[str]]:
    return [match for match in TAG.finditer(text) if match[1]]


def without(text: str, match: re.Match[str], instead: str = "") -> str:
    return text[: match.start()] + instead + text[match.end() :]
