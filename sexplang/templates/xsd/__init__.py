"""Replies that are XML: what a model is told of an XSD, and its reply to a plain value.

Law: whatever the schema and whatever the reply, the answer comes in bounded time, without opening
anything, as a value, a problem or BadXsd. Loaded with the first template that has such a schema.
"""

from sexplang.templates.xsd.instructions import xsd_words
from sexplang.templates.xsd.xml_replies import read_xml
from sexplang.templates.xsd.xsd_patterns import BadXsd
from sexplang.templates.xsd.xsd_schema import compile_xsd

__all__ = ["BadXsd", "compile_xsd", "read_xml", "xsd_words"]
