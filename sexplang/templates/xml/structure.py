"""The structure of a template file: what `grammar/template.xsd` admits, and diagnostics for its
breaches.

lxml validates, and knows XSD 1.0 only. So the assertions of the schema are stripped, and the rules
of their ids are checked here. The schema says where a rule applies and what may stand where.
`tests/templates` compares this with xmlschema's verdict by the whole XSD 1.1.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from sexplang.package.package_data import read_shipped
from sexplang.templates.xml.xml_parser import Document
from sexplang.terms.classes.node import frozen
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.texts.nearest import did_you_mean

if TYPE_CHECKING:
    from lxml.etree import _Element, _LogEntry


_XS = "{http://www.w3.org/2001/XMLSchema}"


_SPACE = re.compile("[ \t\r\n]+")


def normal(text: str) -> str:
    """Return XPath's normalize-space of a text: only XML's own four white space characters
    count."""
    return _SPACE.sub(" ", text).strip(" ")


@frozen(eq=False)
class Vocabulary:
    """The declared children, attributes and values of elements. `schema` is an XSD whose types are
    global or stand in their element."""

    schema: "_Element"

    def holders(self, assertion: str) -> set[str]:
        """Return the names of the types that hold the assertion with this id."""
        found = self.schema.iterfind(f"{_XS}complexType")
        return {
            type_.get("name", "")
            for type_ in found
            if any(item.get("id") == assertion for item in type_.iter(f"{_XS}assert"))
        }

    def types(self, element: "_Element") -> set[str]:
        """Return the names of an element's type and of the types that it extends."""
        return {part.get("name", "") for part in self._parts(element)}

    def children(self, element: "_Element") -> set[str]:
        return {child.get("name", "") for child in self._inside(element, "element")}

    def children_of(self, element: "_Element", child: str) -> set[str]:
        """Return the children that a child of an element may have."""
        found = (each for each in self._inside(element, "element") if each.get("name") == child)
        return {
            inner.get("name", "")
            for each in found
            for inner in self._type_elements(each)
            if inner.tag == f"{_XS}element"
        }

    def attributes(self, element: "_Element") -> set[str]:
        return {attribute.get("name", "") for attribute in self._inside(element, "attribute")}

    def repeats(self, element: "_Element") -> bool:
        """Return whether a child may occur more than once in `element`."""
        for part in self._parts(element):
            for item in _here(part):
                if item.get("maxOccurs") == "unbounded":
                    return True
        return False

    def has_text(self, element: "_Element") -> bool:
        declaration = self._declaration(element)
        if declaration is None or declaration.get("type", "").startswith("xs:"):
            return True
        return any(
            part.tag == f"{_XS}simpleType"
            or part.find(f"{_XS}simpleContent") is not None
            or part.get("mixed") == "true"
            for part in self._parts(element)
        )

    def values(self, element: "_Element", attribute: str | None = None) -> list[str]:
        """Return the words of an attribute's, or of an element's text's, enumeration."""
        type_ = self._value_type(element, attribute)
        found = () if type_ is None else type_.iter(f"{_XS}enumeration")
        return [item.get("value", "") for item in found]

    def documentation(self, element: "_Element", attribute: str | None = None) -> str | None:
        type_ = self._value_type(element, attribute)
        return None if type_ is None else type_.findtext(f".//{_XS}documentation")

    def _value_type(self, element: "_Element", attribute: str | None) -> "_Element | None":
        if attribute is None:
            holder = self._declaration(element)
        else:
            found = self._inside(element, "attribute")
            holder = next((item for item in found if item.get("name") == attribute), None)
        return None if holder is None else self._find_named(holder.get("type", ""))

    def _declaration(self, element: "_Element") -> "_Element | None":
        names = [str(ancestor.tag) for ancestor in element.iterancestors()]
        found: _Element | None = self.schema
        for name in [*reversed(names), str(element.tag)]:
            inside = list(found) if found is self.schema else self._type_elements(found)
            found = next(
                (i for i in inside if i.tag == f"{_XS}element" and i.get("name") == name), None
            )
        return found

    def _type_elements(self, declaration: "_Element | None") -> "list[_Element]":
        if declaration is None:
            return []
        return [item for part in self._type(declaration) for item in _here(part)]

    def _parts(self, element: "_Element") -> "list[_Element]":
        declaration = self._declaration(element)
        return [] if declaration is None else self._type(declaration)

    def _inside(self, element: "_Element", kind: str) -> "Iterator[_Element]":
        for part in self._parts(element):
            for item in _here(part):
                if item.tag == f"{_XS}{kind}":
                    yield item

    def _type(self, declaration: "_Element") -> "list[_Element]":
        """Return the type of a declaration and the types that it extends."""
        inline = declaration.find(f"{_XS}complexType")
        found = self._find_named(declaration.get("type", "")) if inline is None else inline
        parts: list[_Element] = []
        while found is not None:
            parts.append(found)
            extension = found.find(f"{_XS}complexContent/{_XS}extension")
            found = None if extension is None else self._find_named(extension.get("base", ""))
        return parts

    def _find_named(self, name: str) -> "_Element | None":
        types = (
            *self.schema.iterfind(f"{_XS}complexType"),
            *self.schema.iterfind(f"{_XS}simpleType"),
        )
        return next((type_ for type_ in types if type_.get("name") == name), None)


def _here(type_: "_Element") -> "Iterator[_Element]":
    """Return the items of a type itself, without those of its elements' types."""
    work = list(type_)
    while work:
        item = work.pop(0)
        yield item
        if item.tag != f"{_XS}element":
            work[:0] = list(item)


_HINTS = "{http://www.w3.org/2001/XMLSchema-instance}"
# An editor's pointer to the schema is ignored.
_WELCOME = {f"{_HINTS}schemaLocation", f"{_HINTS}noNamespaceSchemaLocation"}
# A hostile file can have a hundred thousand errors.
_MOST = 50


@frozen
class Rule:
    """An assertion of the schema in Python, and its diagnostic."""

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
    """Return the text of an element without that of its children."""
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
    """Return the diagnostics of the structure of a document. Empty for a good one."""
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
        explained = ErrorExplainer(document, vocabulary).all(islice(validator.error_log, _MOST))
        return list(islice(explained, _MOST))
    return list(islice(_check_rules(document, vocabulary, asserted), _MOST))


def _foreign(document: Document) -> Iterator[Diagnostic]:
    """Report names of other namespaces: the schema has none, and `xsi:type` would bend it. An XSD
    may only have its own."""
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
    """Return whether an element is a part of an output format's schema."""
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


_ATTRIBUTE = re.compile(r"attribute '([^']+)'")


@frozen
class ErrorExplainer:
    """lxml's errors as diagnostics: lxml gives the place, the vocabulary the alternatives."""

    document: Document
    vocabulary: Vocabulary

    def all(self, entries: "Iterable[_LogEntry]") -> Iterator[Diagnostic]:
        seen: set[Label] = set()
        for entry in entries:
            for diagnostic in self._one(entry):
                # lxml reports a value once by its facet and once by its type.
                if diagnostic.labels[0] not in seen:
                    seen.add(diagnostic.labels[0])
                    yield diagnostic

    def _one(self, entry: "_LogEntry") -> Iterator[Diagnostic]:
        element = self._element(entry.path)
        attribute = _ATTRIBUTE.search(entry.message)
        name = attribute[1] if attribute else None
        match entry.type_name:
            case "SCHEMAV_CVC_ELT_1":
                yield self._root(element)
            case "SCHEMAV_ELEMENT_CONTENT" if "not expected" in entry.message:
                yield from self._children(element)
            case "SCHEMAV_ELEMENT_CONTENT":
                yield self._missing(element)
            case "SCHEMAV_CVC_COMPLEX_TYPE_3_2_1" | "SCHEMAV_CVC_TYPE_3_1_1":
                yield self._unknown_attribute(element, name or "")
            case "SCHEMAV_CVC_COMPLEX_TYPE_4":
                yield self._missing_attribute(element, entry)
            case "SCHEMAV_CVC_IDC":
                if normal(element.get("name", "")):  # an empty name has its own diagnostic
                    yield self._twice(element)
            case _ if "content" in entry.message and "not allowed" in entry.message:
                yield self._content(element)
            case _:
                yield self._value(element, name)

    def _element(self, path: str | None) -> "_Element":
        found = self.document.root.getroottree().xpath(path) if path else None
        known = isinstance(found, list) and found and found[0] in self.document.where
        return found[0] if known else self.document.root  # type: ignore[index]

    def _root(self, element: "_Element") -> Diagnostic:
        title = f"a template file does not begin with <{_tag(element)}>"
        return self._invalid(element, title, 'begin with <task name="…">, or <templates>')

    def _children(self, first: "_Element") -> Iterator[Diagnostic]:
        """Report the children that do not belong. lxml stops at the first."""
        parent = first.getparent()
        assert parent is not None
        allowed = self.vocabulary.children(parent)
        if not allowed:
            yield self._content(parent)
            return
        once: set[str] = set()
        known = True
        for child in parent:
            tag = _tag(child)
            if tag not in allowed:
                known = False
                title = f"<{_tag(parent)}> has no element <{tag}>"
                yield self._invalid(child, title, _nearest(tag, allowed, "<{}>"))
            elif tag in once and not self.vocabulary.repeats(parent):
                known = False
                yield self._invalid(child, f"<{tag}> stands here twice", "keep one of the two")
            once.add(tag)
        if known:
            title = f"<{_tag(first)}> cannot stand here beside the others"
            hint = f"<{_tag(parent)}> holds one of {_words(sorted(allowed), '<{}>')}"
            yield self._invalid(first, title, hint)

    def _missing(self, element: "_Element") -> Diagnostic:
        allowed = sorted(self.vocabulary.children(element))
        title = f"<{_tag(element)}> is empty"
        return self._invalid(element, title, f"it needs {_words(allowed, '<{}>')}")

    def _unknown_attribute(self, element: "_Element", name: str) -> Diagnostic:
        children = self.vocabulary.children(element)
        title = f"<{_tag(element)}> has no attribute {name}"
        if name in children:
            hint = f"write it as an element: {_as_element(name, element.get(name, ''))}"
        elif holder := self._holder(element, name):
            inside = _as_element(name, element.get(name, ""))
            hint = f"write it as an element: <{holder}>{inside}</{holder}>"
        elif allowed := self.vocabulary.attributes(element):
            hint = _nearest(name, allowed, "{}")
        elif children:
            hint = f"it has no attributes; it holds {_words(sorted(children), '<{}>')}"
        else:
            hint = "it has no attributes; it holds text"
        return self._invalid(element, title, hint, name)

    def _holder(self, element: "_Element", name: str) -> str | None:
        """Return the child that holds the element that was written as an attribute. Else None."""
        for child in sorted(self.vocabulary.children(element)):
            if name in self.vocabulary.children_of(element, child):
                return child
        return None

    def _missing_attribute(self, element: "_Element", entry: "_LogEntry") -> Diagnostic:
        name = re.findall(r"attribute '([^']+)' is required", entry.message)[0]
        code = "incomplete-template" if element.tag in ("task", "template") else "xml-invalid"
        values = self.vocabulary.values(element, name)
        hint = f'write <{_tag(element)} {name}="{values[0] if values else "…"}">'
        title = f"this <{_tag(element)}> has no {name}"
        return Diagnostic(code, title, (self.document.label(element),), hint=hint)

    def _twice(self, element: "_Element") -> Diagnostic:
        task = element.tag in ("task", "template")
        return Diagnostic(
            "duplicate-template" if task else "duplicate-param",
            f"there are two {'templates' if task else 'parameters'} "
            f"called {normal(element.get('name', ''))}",
            (self.document.label(element, "name", "this is the second"),),
            hint="give one of them another name",
        )

    def _content(self, element: "_Element") -> Diagnostic:
        allowed = self.vocabulary.children(element)
        if allowed:
            title = f"<{_tag(element)}> holds elements, and no text of its own"
            return self._invalid(element, title, f"it holds {_words(sorted(allowed), '<{}>')}")
        if self.vocabulary.has_text(element):
            hint = "write < as &lt;, or put the text inside <![CDATA[ … ]]>"
            return self._invalid(element, f"<{_tag(element)}> holds text, and no elements", hint)
        attributes = _words(sorted(self.vocabulary.attributes(element)), "{}")
        title = f"<{_tag(element)}> holds nothing"
        return self._invalid(element, title, f"it has the attributes {attributes}")

    def _value(self, element: "_Element", attribute: str | None) -> Diagnostic:
        given = normal(element.get(attribute, "") if attribute else element.text or "")
        allowed = self.vocabulary.values(element, attribute)
        what = attribute or f"<{_tag(element)}>"
        title = f"`{_short(given)}` is not a value of {what}" if given else f"{what} is empty"
        hint = _nearest(given, allowed, "{}") if len(allowed) > 1 else None
        if hint is None:
            doc = self.vocabulary.documentation(element, attribute)
            hint = f"write {doc or (allowed[0] if allowed else 'something there')}"
        return self._invalid(element, title, hint, attribute)

    def _invalid(
        self, element: "_Element", title: str, hint: str, attribute: str | None = None
    ) -> Diagnostic:
        return Diagnostic(
            "xml-invalid", title, (self.document.label(element, attribute),), hint=hint
        )


def _tag(element: "_Element") -> str:
    return str(element.tag)


def _as_element(name: str, text: str) -> str:
    return f"<{name}>{normal(text)}</{name}>"


def _nearest(word: str, known: "list[str] | set[str]", shape: str) -> str:
    choice = [each for each in word.split("|") if each in known]
    if len(choice) > 1:  # copied from a list of choices
        return f"write one of them: {_words(choice, shape)}"
    expected = f"expected {_words(sorted(known), shape)} here"
    return did_you_mean(word.lower(), sorted(known), expected, shape)


def _words(words: list[str], shape: str) -> str:
    shown = [shape.format(word) for word in words]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}…"


# Former XML task types, as programs.
FORMS = {
    "sequential": "(let* ((plan (make-plan goal)) (code (write-code plan))) code)",
    "reduce": "(fold (lambda (total item) (combine total (work item))) start items)",
    "script": '(system:run_script "cmd" args: ["a"] input: text)',
    "director_evaluator_loop": "(director-evaluator-loop max_iterations: 5 initial: goal "
    "director: draft executor: run evaluator: judge controller: decide)",
}


def legacy(document: Document) -> list[Diagnostic]:
    """Report tasks of a former type. This comes before the check of the structure, because their
    elements are obsolete too."""
    return list(_find(document))


def _find(document: Document) -> Iterator[Diagnostic]:
    for task in _outermost(document.root):
        type_ = normal(task.get("type", ""))
        if type_ in FORMS:
            yield Diagnostic(
                "legacy-task-type",
                f"the task type {type_} is obsolete: a program does its work",
                (document.label(task, "type"),),
                notes=("a template is one atomic task: one conversation with a model",),
                hint=f"write {FORMS[type_]}",
            )


def _outermost(root: "_Element") -> "Iterator[_Element]":
    if root.tag == "task":
        yield root
        return
    yield from root.iterfind("task")
    yield from root.iterfind("template/task")
