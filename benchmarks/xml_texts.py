"""What documents are made of: words, numbers and days, elements, and how they are written as XML.

Nothing here reads.
"""

from random import Random
from xml.sax.saxutils import escape

from attrs import frozen


@frozen
class El:
    """An element as it is written: attributes, and children or a text."""

    name: str
    attributes: tuple[tuple[str, str], ...] = ()
    inside: "str | tuple[El, ...]" = ()


_WORDS = " ".join(
    [
        "the a tea cup model reply table prices of with without and",
        "or but service users can under over between results strong weak hot",
        "cold daily new old version report team because after before fails works",
        "slow fast again data request error cause fix night morning",
    ]
).split()
_SPICE = [
    "R&D",
    "Q&A",
    "AT&T",
    "salt & pepper",
    "a < b",
    "x <= 3 && y > 2",
    "List<String>",
    "use <b>bold</b> here",
    "café",
    "naïve",
    "5 € — roughly",
    "“quoted” words",
    'she said "no"',
    "it's",
    "https://example.com/?a=1&b=2",
    "Müller",
    "if (n<10) return;",
    "<3",
    "A&B&C",
    "50 % of <unknown>",
]


def sentence(random: Random, least: int = 3, most: int = 12) -> str:
    """Words, some of them such as XML has to escape."""
    words = [random.choice(_WORDS) for _ in range(random.randint(least, most))]
    for _ in range(random.choice((0, 0, 1, 1, 2))):
        words.insert(random.randint(0, len(words)), random.choice(_SPICE))
    return " ".join(words).capitalize() if random.random() < 0.5 else " ".join(words)


def name(random: Random) -> str:
    return random.choice(
        ["Ann", "Bob", "Zoë", "Li Wei", "José", "O'Neil", "Mary-Jane", "Smith & Co"]
    )


def amount(random: Random) -> tuple[float | int, str]:
    """A number with at most two decimals, and how it is written."""
    cents = random.randrange(0, 100_000)
    if cents % 100 == 0:
        return cents // 100, str(cents // 100)
    return float(f"{cents // 100}.{cents % 100:02}"), f"{cents // 100}.{cents % 100:02}"


def day(random: Random) -> str:
    return f"20{random.randrange(10, 30)}-{random.randrange(1, 13):02}-{random.randrange(1, 29):02}"


def leaf(tag: str, text: object) -> El:
    return El(tag, (), str(text))


def flag(value: bool) -> str:
    return "true" if value else "false"


def written(element: El, pretty: bool, indent: str = "") -> str:
    """The document, on one line or with an element a line."""
    attributes = "".join(f' {key}="{quoted(value)}"' for key, value in element.attributes)
    start = f"{indent if pretty else ''}<{element.name}{attributes}"
    end = f"</{element.name}>"
    if not element.inside:
        return f"{start}/>"
    if isinstance(element.inside, str):
        return f"{start}>{escape(element.inside)}{end}"
    parts = [written(each, pretty, indent + "  ") for each in element.inside]
    if not pretty:
        return f"{start}>{''.join(parts)}{end}"
    lines = "\n".join(parts)
    return f"{start}>\n{lines}\n{indent}{end}"


def quoted(value: str) -> str:
    return escape(value, {'"': "&quot;"})
