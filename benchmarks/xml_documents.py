"""Five schemas as tasks have them, and documents of them with the value that each stands for.

The values are made first, and the elements beside them.
"""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from attrs import field, frozen

from benchmarks.xml_texts import El, amount, day, flag, leaf, name, sentence, written

Make = Callable[[Random], tuple[dict[str, Any], El]]


@frozen
class Kind:
    """A schema, what makes a document of it, and what its names are used for.

    `sequences` are the elements whose children stand in an order that a model may confuse.
    """

    name: str
    root: str
    xsd: str
    make: Make
    sequences: frozenset[str] = field(converter=frozenset)
    enumerated: frozenset[str] = field(converter=frozenset, default=())
    typed: frozenset[str] = field(converter=frozenset, default=())
    """Elements whose text is a number, a date, a word of a list: space around it says nothing."""


def xsd(body: str) -> str:
    return f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">{body}</xs:schema>'


# --- a flat record

CONTACT = xsd(
    """
  <xs:element name="contact"><xs:complexType><xs:sequence>
    <xs:element name="full_name" type="xs:string"/>
    <xs:element name="company" type="xs:string" minOccurs="0"/>
    <xs:element name="age" type="xs:nonNegativeInteger"/>
    <xs:element name="balance" type="xs:decimal"/>
    <xs:element name="active" type="xs:boolean"/>
    <xs:element name="since" type="xs:date" minOccurs="0"/>
    <xs:element name="summary" type="xs:string"/>
  </xs:sequence></xs:complexType></xs:element>"""
)


def contact(random: Random) -> tuple[dict[str, Any], El]:
    value: dict[str, Any] = {"full_name": name(random)}
    inside = [leaf("full_name", value["full_name"])]
    if random.random() < 0.6:
        value["company"] = sentence(random, 1, 3)
        inside.append(leaf("company", value["company"]))
    value["age"] = random.randrange(0, 120)
    value["balance"], written = amount(random)
    value["active"] = random.random() < 0.5
    inside += [leaf("age", value["age"]), leaf("balance", written)]
    inside.append(leaf("active", flag(value["active"])))
    if random.random() < 0.6:
        value["since"] = day(random)
        inside.append(leaf("since", value["since"]))
    value["summary"] = sentence(random)
    inside.append(leaf("summary", value["summary"]))
    return value, El("contact", (), tuple(inside))


# --- lists in lists

PLAN = xsd(
    """
  <xs:element name="plan"><xs:complexType><xs:sequence>
    <xs:element name="goal" type="xs:string"/>
    <xs:element name="milestone" type="Milestone" maxOccurs="unbounded"/>
  </xs:sequence></xs:complexType></xs:element>
  <xs:complexType name="Milestone"><xs:sequence>
    <xs:element name="title" type="xs:string"/>
    <xs:element name="tasks"><xs:complexType><xs:sequence>
      <xs:element name="task" type="Task" maxOccurs="unbounded"/>
    </xs:sequence></xs:complexType></xs:element>
  </xs:sequence></xs:complexType>
  <xs:complexType name="Task"><xs:sequence>
    <xs:element name="what" type="xs:string"/>
    <xs:element name="owner" type="xs:string" minOccurs="0"/>
    <xs:element name="hours" type="xs:decimal"/>
  </xs:sequence></xs:complexType>"""
)


def plan(random: Random) -> tuple[dict[str, Any], El]:
    value: dict[str, Any] = {"goal": sentence(random), "milestone": []}
    inside = [leaf("goal", value["goal"])]
    for _ in range(random.randint(1, 3)):
        title = sentence(random, 2, 5)
        made = [_task(random) for _ in range(random.randint(1, 3))]
        tasks = {"task": tuple(each for each, _ in made)}
        value["milestone"].append({"title": title, "tasks": tasks})
        listed = El("tasks", (), tuple(each for _, each in made))
        inside.append(El("milestone", (), (leaf("title", title), listed)))
    value["milestone"] = tuple(value["milestone"])
    return value, El("plan", (), tuple(inside))


def _task(random: Random) -> tuple[dict[str, Any], El]:
    value: dict[str, Any] = {"what": sentence(random)}
    inside = [leaf("what", value["what"])]
    if random.random() < 0.5:
        value["owner"] = name(random)
        inside.append(leaf("owner", value["owner"]))
    value["hours"], written = amount(random)
    inside.append(leaf("hours", written))
    return value, El("task", (), tuple(inside))


# --- a choice

DECISION = xsd(
    """
  <xs:element name="decision"><xs:complexType><xs:sequence>
    <xs:element name="subject" type="xs:string"/>
    <xs:choice>
      <xs:element name="approve"><xs:complexType/></xs:element>
      <xs:element name="reject"><xs:complexType><xs:sequence>
        <xs:element name="reason" type="xs:string" maxOccurs="3"/>
        <xs:element name="severity" type="xs:int"/>
      </xs:sequence></xs:complexType></xs:element>
      <xs:element name="defer_until" type="xs:date"/>
    </xs:choice>
    <xs:element name="comment" type="xs:string"/>
  </xs:sequence></xs:complexType></xs:element>"""
)


def decision(random: Random) -> tuple[dict[str, Any], El]:
    value: dict[str, Any] = {"subject": sentence(random, 2, 6)}
    inside = [leaf("subject", value["subject"])]
    match random.choice(("approve", "reject", "defer")):
        case "approve":
            value["approve"] = {}
            inside.append(El("approve"))
        case "defer":
            value["defer_until"] = day(random)
            inside.append(leaf("defer_until", value["defer_until"]))
        case _:
            reasons = tuple(sentence(random) for _ in range(random.randint(1, 3)))
            value["reject"] = {"reason": reasons, "severity": random.randrange(1, 9)}
            severity = leaf("severity", value["reject"]["severity"])
            parts = (*(leaf("reason", reason) for reason in reasons), severity)
            inside.append(El("reject", (), parts))
    value["comment"] = sentence(random)
    inside.append(leaf("comment", value["comment"]))
    return value, El("decision", (), tuple(inside))


# --- attributes and text

QUOTES = xsd(
    """
  <xs:element name="quotes"><xs:complexType><xs:sequence>
    <xs:element name="quote" maxOccurs="unbounded"><xs:complexType><xs:simpleContent>
      <xs:extension base="xs:string">
        <xs:attribute name="author" type="xs:string" use="required"/>
        <xs:attribute name="year" type="xs:int"/>
        <xs:attribute name="verified" type="xs:boolean" use="required"/>
      </xs:extension></xs:simpleContent></xs:complexType></xs:element>
    <xs:element name="source"><xs:complexType>
      <xs:attribute name="title" type="xs:string" use="required"/>
      <xs:attribute name="url" type="xs:anyURI"/>
    </xs:complexType></xs:element>
  </xs:sequence><xs:attribute name="topic" type="xs:string" use="required"/>
  </xs:complexType></xs:element>"""
)


def quotes(random: Random) -> tuple[dict[str, Any], El]:
    value: dict[str, Any] = {"topic": sentence(random, 1, 3), "quote": []}
    inside: list[El] = []
    for _ in range(random.randint(1, 4)):
        one: dict[str, Any] = {"author": name(random)}
        attributes = [("author", one["author"])]
        if random.random() < 0.6:
            one["year"] = random.randrange(1500, 2030)
            attributes.append(("year", str(one["year"])))
        one["verified"] = random.random() < 0.5
        attributes.append(("verified", flag(one["verified"])))
        one["text"] = sentence(random)
        value["quote"].append(one)
        inside.append(El("quote", tuple(attributes), one["text"]))
    value["quote"] = tuple(value["quote"])
    source: dict[str, Any] = {"title": sentence(random, 2, 4)}
    attributes = [("title", source["title"])]
    if random.random() < 0.5:
        source["url"] = f"https://example.com/{random.randrange(999)}?a=1&b=2"
        attributes.append(("url", source["url"]))
    value["source"] = source
    inside.append(El("source", tuple(attributes)))
    return value, El("quotes", (("topic", value["topic"]),), tuple(inside))


# --- enumerations, bounds, patterns, keys

REVIEW = xsd(
    """
  <xs:element name="review"><xs:complexType><xs:sequence>
    <xs:element name="verdict" type="Verdict"/>
    <xs:element name="score"><xs:simpleType><xs:restriction base="xs:int">
      <xs:minInclusive value="1"/><xs:maxInclusive value="10"/></xs:restriction></xs:simpleType>
    </xs:element>
    <xs:element name="weights"><xs:simpleType><xs:list itemType="xs:decimal"/></xs:simpleType>
    </xs:element>
    <xs:element name="issue" type="Issue" minOccurs="0" maxOccurs="unbounded"/>
    <xs:element name="reviewer" type="xs:string" nillable="true"/>
    <xs:element name="conclusion" type="xs:string"/>
  </xs:sequence><xs:assert test="not(verdict = 'accept') or score &gt;= 5"/></xs:complexType>
    <xs:unique name="codes"><xs:selector xpath="issue"/><xs:field xpath="@code"/></xs:unique>
  </xs:element>
  <xs:simpleType name="Verdict"><xs:restriction base="xs:string">
    <xs:enumeration value="accept"/><xs:enumeration value="minor_revision"/>
    <xs:enumeration value="reject"/></xs:restriction></xs:simpleType>
  <xs:complexType name="Issue"><xs:sequence>
    <xs:element name="severity"><xs:simpleType><xs:restriction base="xs:string">
      <xs:enumeration value="low"/><xs:enumeration value="high"/></xs:restriction></xs:simpleType>
    </xs:element>
    <xs:element name="line" type="xs:positiveInteger"/>
    <xs:element name="message" type="xs:string"/>
  </xs:sequence><xs:attribute name="code" use="required"><xs:simpleType>
    <xs:restriction base="xs:string"><xs:pattern value="[A-Z]{2}-[0-9]{1,4}"/></xs:restriction>
  </xs:simpleType></xs:attribute></xs:complexType>"""
)


def review(random: Random) -> tuple[dict[str, Any], El]:
    verdict = random.choice(("accept", "minor_revision", "reject"))
    score = random.randrange(5, 11) if verdict == "accept" else random.randrange(1, 11)
    weights = [amount(random) for _ in range(random.randint(1, 4))]
    value: dict[str, Any] = {"verdict": verdict, "score": score}
    value["weights"] = tuple(number for number, _ in weights)
    inside = [leaf("verdict", verdict), leaf("score", score)]
    inside.append(leaf("weights", " ".join(written for _, written in weights)))
    issues: list[dict[str, Any]] = []
    for number in range(random.randint(0, 3)):
        issue = {
            "code": f"AB-{number}{random.randrange(99)}",
            "severity": random.choice(("low", "high")),
            "line": random.randrange(1, 900),
            "message": sentence(random),
        }
        issues.append(issue)
        parts = tuple(leaf(key, issue[key]) for key in ("severity", "line", "message"))
        inside.append(El("issue", (("code", str(issue["code"])),), parts))
    value["issue"] = tuple(issues)
    value["reviewer"] = name(random) if random.random() < 0.7 else None
    if value["reviewer"] is None:
        inside.append(El("reviewer", (("xsi:nil", "true"),)))
    else:
        inside.append(leaf("reviewer", value["reviewer"]))
    value["conclusion"] = sentence(random)
    inside.append(leaf("conclusion", value["conclusion"]))
    hint = ("xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance")
    return value, El("review", (hint,), tuple(inside))


KINDS = (
    Kind("flat record", "contact", CONTACT, contact, ["contact"], [], ["age", "balance", "active"]),
    Kind("lists in lists", "plan", PLAN, plan, ["plan", "milestone", "task"], [], ["hours"]),
    Kind("choice", "decision", DECISION, decision, ["decision"], [], ["severity", "defer_until"]),
    Kind("attributes and text", "quotes", QUOTES, quotes, ["quotes"]),
    Kind(
        "constraints",
        "review",
        REVIEW,
        review,
        ["review", "issue"],
        ["verdict", "severity"],
        ["verdict", "score", "weights", "severity", "line"],
    ),
)


# --- texts that speak of tags


def speaking(kind: Kind, random: Random) -> tuple[Any, El]:
    """A document in which one text speaks of tags of its own schema: of one, or of a whole
    element."""
    value, tree = kind.make(random)
    elements = list(_all(tree))
    texts = sorted(
        {
            each.inside
            for each in elements
            if isinstance(each.inside, str)
            and each.name not in kind.typed | kind.enumerated
            and " " in each.inside
        }
    )
    if not texts:
        return value, tree
    text, one = random.choice(texts), random.choice(elements)
    said = random.choice(
        [
            f"the <{one.name}> tag",
            f"it ends with </{one.name}>",
            f"an empty <{one.name}/>",
            f"as in {written(one, pretty=False)}, for example",
            f"(see <{one.name}>)",
            f"before “</{one.name}>”",
            f"`</{one.name}>`",
            f"<{one.name}>",
            f"</{one.name}>",
        ]
    )
    words = text.split(" ")
    words.insert(random.randint(0, len(words)), said)
    longer = " ".join(words)
    return _said(value, text, longer), _told(tree, text, longer)


def _all(element: El) -> Iterator[El]:
    yield element
    for each in element.inside if isinstance(element.inside, tuple) else ():
        yield from _all(each)


def _said(value: Any, text: str, longer: str) -> Any:
    """The value with one text in the place of another."""
    if isinstance(value, dict):
        return {key: _said(each, text, longer) for key, each in value.items()}
    if isinstance(value, tuple):
        return tuple(_said(each, text, longer) for each in value)
    return longer if value == text else value


def _told(element: El, text: str, longer: str) -> El:
    attributes = tuple((key, _said(value, text, longer)) for key, value in element.attributes)
    inside = element.inside
    if isinstance(inside, tuple):
        return El(element.name, attributes, tuple(_told(each, text, longer) for each in inside))
    return El(element.name, attributes, _said(inside, text, longer))
