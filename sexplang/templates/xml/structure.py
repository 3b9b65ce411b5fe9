"""A document and `grammar/template.xsd` to what breaches it, in our words.

lxml validates, and knows XSD 1.0 only; so the assertions of the schema are stripped and the rules
of their ids are checked here. Where a rule applies, and what may stand where, is read from the
schema. `tests/templates` holds this against xmlschema's verdict on the whole XSD 1.1.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from sexplang.package.package_data import read_shipped
from sexplang.templates.xml.structure_diagnostics import Explained
from sexplang.templates.xml.vocabulary import Vocabulary, normal
from sexplang.templates.xml.xml_parser import Document
from sexplang.terms.classes.node import frozen
from sexplang.terms.diagnostic import Diagnostic

if TYPE_CHECKING:
    from lxml.etree import _Element

_XS = "{http://www.w3.org/2001/XMLSchema}"
_HINTS = "{http://www.w3.org/2001/XMLSchema-instance}"
# An editor's pointer to the schema is welcome and ignored.
_WELCOME = {f"{_HINTS}schemaLocation", f"{_HINTS}noNamespaceSchemaLocation"}
# A hostile file can be wrong in a hundred thousand places; nobody reads more than some.
_MOST = 50


@frozen
class Rule:
    """An assertion of the schema in Python, and how to say that it does not hold."""

    holds: "Callable[[_Element], bool]"
    code: str
    title: str
    hint: str


def _text(element: "_Element", child: str) -> str:
    return normal("".join(element.itertext(child)) if element.find(child) is not None else "")


def _one_name(template: "_Element") -> bool:
    task = template.find("task")
    inner = None if task is None else task.get("name")
    return inner is None or normal(inner) == normal(template.get("name", ""))


def _files_of_their_source(files: "_Element") -> bool:
    source = normal(files.get("source", "literal"))
    tags = [child.tag for child in files]
    if source == "literal":
        return set(tags) <= {"path"}
    return tags == ["context_query" if source == "context_description" else source]


def _own_text(element: "_Element") -> str:
    """The text of an element without that of its children."""
    return normal("".join([element.text or "", *(child.tail or "" for child in element)]))


def _schemas(format_: "_Element") -> int:
    return ("schema" in format_.attrib) + len(format_) + bool(_own_text(format_))


RULES: dict[str, Rule] = {
    "one-name": Rule(
        _one_name,
        "xml-invalid",
        "the template and its task have different names",
        "leave the name out of the <task> inside",
    ),
    "returns-of-a-task": Rule(
        lambda template: template.find("task") is not None or "returns" not in template.attrib,
        "xml-invalid",
        "a template that calls returns what the call gives",
        "leave returns out",
    ),
    "one-argument": Rule(
        lambda argument: len(argument) + bool(_own_text(argument)) == 1,
        "bad-argument",
        "an argument is one value",
        'write <arg>"a text"</arg>, <arg>parameter</arg>, or one <call> inside',
    ),
    "something-to-do": Rule(
        lambda task: bool(_text(task, "instructions") or _text(task, "description")),
        "incomplete-template",
        "this task says nothing to the model",
        "write <instructions>…</instructions>, or at least a <description>",
    ),
    "one-schema": Rule(
        lambda format_: _schemas(format_) <= 1,
        "bad-schema",
        "this output format has two schemas",
        "keep the attribute, or the schema between the tags",
    ),
    "text-has-no-schema": Rule(
        lambda format_: normal(format_.get("type", "")) != "text" or not _schemas(format_),
        "bad-schema",
        "a text reply has no schema",
        'write type="json" or type="xml", or leave the schema out',
    ),
    "xml-has-a-schema": Rule(
        lambda format_: normal(format_.get("type", "")) != "xml" or _schemas(format_) > 0,
        "bad-schema",
        "an XML reply needs a schema",
        'write schema="reply.xsd", or the XSD between the tags',
    ),
    "elements-are-an-xsd": Rule(
        lambda format_: (
            len(format_) == 0
            or (normal(format_.get("type", "")) == "xml" and format_[0].tag == f"{_XS}schema")
        ),
        "bad-schema",
        "only the schema of an XML reply is written in elements",
        'write type="xml" and begin with <xs:schema>; or write a JSON Schema as text',
    ),
    "context-exclusive": Rule(
        lambda context: (
            not (
                _text(context, "fresh_context") == "enabled"
                and _text(context, "inherit_context") in ("full", "subset")
            )
        ),
        "context-exclusive",
        "fresh context cannot be enabled while context is inherited",
        "set <inherit_context>none</inherit_context> or <fresh_context>disabled</fresh_context>",
    ),
    "files-of-their-source": Rule(
        _files_of_their_source,
        "xml-invalid",
        "these files do not fit their source",
        "literal holds any number of <path>, command one <command>, description one "
        "<description>, context_description one <context_query>",
    ),
}


def breaches(document: Document) -> list[Diagnostic]:
    """What is wrong with the structure of `document`: nothing, or all that can be told."""
    from lxml import etree

    parser = etree.XMLParser(remove_comments=True)
    schema = etree.fromstring(read_shipped("grammar/template.xsd").encode(), parser)
    vocabulary = Vocabulary(schema)
    asserted = {id_: vocabulary.holders(id_) for id_ in RULES}
    for assertion in schema.findall(f".//{_XS}assert"):
        parent = assertion.getparent()
        assert parent is not None
        parent.remove(assertion)
    found = list(islice(_foreign(document), _MOST))
    if found:
        return found
    validator = etree.XMLSchema(schema)
    if not validator.validate(document.root.getroottree()):
        explained = Explained(document, vocabulary).all(islice(validator.error_log, _MOST))
        return list(islice(explained, _MOST))
    return list(islice(_check_rules(document, vocabulary, asserted), _MOST))


def _foreign(document: Document) -> Iterator[Diagnostic]:
    """Names of other vocabularies: the schema has none, and `xsi:type` would bend it. In an XSD
    there are its own, and nothing else."""
    for element in document.where:
        own = _XS if _in_schema(element) else ""
        foreign = [name for name in element.attrib if "{" in str(name) and name not in _WELCOME]
        if not str(element.tag).startswith(own) or "{" in str(element.tag)[len(own) :] or foreign:
            yield Diagnostic(
                "xml-invalid",
                "a template has names of its own only, none of another namespace",
                (document.label(element),),
                hint="remove the prefix, and xmlns",
            )


def _in_schema(element: "_Element") -> bool:
    """Whether an element is a part of the schema of an output format."""
    above = element.getparent()
    while above is not None and above.tag != "output_format":
        element, above = above, above.getparent()
    return above is not None


def _check_rules(
    document: Document, vocabulary: Vocabulary, asserted: dict[str, set[str]]
) -> Iterator[Diagnostic]:
    rules: dict[tuple[str, ...], list[Rule]] = {}
    for element in document.where:
        path = (str(element.tag), *(str(above.tag) for above in element.iterancestors()))
        if path not in rules:
            types = vocabulary.types(element)
            rules[path] = [RULES[id_] for id_, holders in asserted.items() if types & holders]
        for rule in rules[path]:
            if not rule.holds(element):
                place = document.label(element)
                yield Diagnostic(rule.code, rule.title, (place,), hint=rule.hint)
