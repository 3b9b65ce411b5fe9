"""The text of a reply, under an XSD, to the value it means, or to why it means none.

What fits as it stands is taken so; else the text is read as it may have been meant.
"""

import re

from sexplang.templates.parse import parse
from sexplang.templates.reading import Reading
from sexplang.templates.xsd.compiled import Schema, compiled
from sexplang.templates.xsd.documents import Failed, Found, valued
from sexplang.templates.xsd.fitting import INSTANCE, NIL
from sexplang.templates.xsd.meaning import as_meant
from sexplang.templates.xsd.patterns import BadXsd
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.source import Source
from sexplang.terms.value import Value

_MOST_REPAIRS = 30
_MARK = re.compile(r"<!--|<\?(?!xml\s)")


def read_xml(text: str, xsd: str) -> Reading:
    """What a reply says under the schema of a text."""
    try:
        schema = compiled(xsd)
    except BadXsd as why:
        return _refused(Failed(f"what it should fit is no schema ({why})"), "document")
    try:
        found = _as_it_stands(schema, text) or as_meant(schema, text)
    except Failed as why:
        return _refused(why, schema.root.name)
    return Reading(found.value, _shortened(found.repairs))


def _as_it_stands(schema: Schema, text: str) -> Found | None:
    if _MARK.search(text):
        return None  # what is left out is to be noted
    try:
        root = parse(Source("reply", text.strip())).root
    except Diagnostics as refused:
        if refused.diagnostics[0].code == "xml-too-large":
            hint = refused.diagnostics[0].hint
            raise Failed(f"it is more XML than a reply may hold: {hint}") from None
        return None
    # `xsi:type` would bend the schema.
    names = {str(name) for element in root.iter() for name in element.attrib}
    if any(name.startswith(f"{{{INSTANCE}}}") and name != NIL for name in names):
        return None
    try:
        return valued(schema, root, [])
    except Failed:
        return None


def _shortened(repairs: tuple[str, ...]) -> tuple[str, ...]:
    kept = repairs[:_MOST_REPAIRS]
    rest = len(repairs) - len(kept)
    return (*kept, f"and {rest} more") if rest else kept


def _refused(why: Failed, root: str) -> Reading:
    details: dict[str, Value] = {"expectedType": f"xml <{root}>", "actualType": "text"}
    if why.violations:
        details |= {"actualType": "xml", "violations": why.violations}
        problem = f"The reply is XML, but it does not fit the schema: {why.reason}"
    else:
        details["parseError"] = why.reason
        problem = f"The reply is not the XML that is asked for: {why.reason}"
    again = f"Reply again with the whole document, from <{root}> to </{root}>, and nothing else."
    return Reading(None, (), f"{problem.rstrip('.')}. {again}", details)
