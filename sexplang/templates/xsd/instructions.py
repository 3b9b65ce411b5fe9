"""The instructions for a model by an XSD: a sample document with remarks."""

import re
from collections.abc import Iterator

from sexplang.templates.xsd.shapes import Attribute, Element, Group, Particle
from sexplang.templates.xsd.xsd_schema import compile_xsd

_MOST = 12_000
"""The most characters of the document."""


def xsd_words(xsd: str) -> str:
    """Return the instructions for the schema in a text. Raises BadXsd."""
    root = compile_xsd(xsd).root
    lines = "\n".join(_element(root, "", "", set()))
    if len(lines) > _MOST:
        lines = f"{lines[:_MOST]}…"
    return (
        f"Answer with one XML document and nothing else, from <{root.name}> to </{root.name}>. In "
        "its texts and attributes write & as &amp; and < as &lt;. It has this form, the elements "
        f"in this order; each value is described, and a remark says how often it stands:\n\n{lines}"
    )


def _element(element: Element, indent: str, often: str, told: set[int]) -> Iterator[str]:
    type_ = element.type
    tag = element.name + "".join(map(_attribute, type_.attributes.values()))
    remarks = [often, element.doc]
    if element.nillable:
        remarks.insert(1, 'xsi:nil="true" where there is none')
    known = id(type_) in told
    if known:
        remarks.append("holds what is said above")
    said = "; ".join(remark for remark in remarks if remark)
    remark = f" <!-- {_in_remark(said)} -->" if said else ""
    group = type_.content
    if type_.simple is not None:
        yield f"{indent}<{tag}>{_escape(type_.simple.words)}</{element.name}>{remark}"
    elif group is None or not group.parts:
        yield f"{indent}<{tag}/>{remark}"
    elif known:
        yield f"{indent}<{tag}>…</{element.name}>{remark}"
    else:
        told.add(id(type_))
        yield f"{indent}<{tag}>{'text, among it:' if type_.mixed else ''}{remark}"
        yield from _group(group, f"{indent}  ", told)
        yield f"{indent}</{element.name}>"


def _attribute(attribute: Attribute) -> str:
    words = attribute.simple.words
    if attribute.default is not None:
        words += f" (default {attribute.default})"
    elif not attribute.required:
        words += " (may be left out)"
    doc = f" ({attribute.doc})" if attribute.doc else ""
    said = _escape(f"{words}{doc}").replace('"', "&quot;")
    return f' {attribute.name}="{said}"'


def _escape(words: str) -> str:
    """Return words as they are written in a document."""
    return words.replace("&", "&amp;").replace("<", "&lt;")


def _in_remark(words: str) -> str:
    """Return words without double hyphens, which would end the remark."""
    return re.sub("-(?=-)", "- ", words)


_MODELS = {"choice": "one of these", "all": "these in any order"}


def _group(group: Group, indent: str, told: set[int]) -> Iterator[str]:
    if group.model != "sequence":
        yield f"{indent}<!-- {_MODELS[group.model]}: -->"
        indent += "  "
    for part in group.parts:
        yield from _part(part, indent, told, group.model)


def _part(part: Particle, indent: str, told: set[int], model: str) -> Iterator[str]:
    """Return the lines of a particle in a group of a model."""
    often = _describe_number(part)
    if isinstance(part.term, Element):
        yield from _element(part.term, indent, often, told)
        return
    whole = part.term.model == "sequence" and len(part.term.parts) > 1
    if whole and (often or model == "choice"):
        often = f"these together, {often}" if often else "these together"
    if often:
        yield f"{indent}<!-- {often}: -->"
        indent += "  "
    yield from _group(part.term, indent, told)


def _describe_number(part: Particle) -> str:
    least, most = part.least, part.most
    if (least, most) == (1, 1):
        return ""
    if most is None:
        return {0: "any number of times", 1: "one or more times"}.get(
            least, f"at least {least} times"
        )
    if least == most:
        return f"{least} times"
    if (least, most) == (0, 1):
        return "may be left out"
    return f"at most {most} times" if least == 0 else f"{least} to {most} times"
