"""Replies in XML: the instructions for a model by an XSD, and the plain value of its reply.

Law: any schema and any reply give a value, a problem or BadXsd in bounded time, and open nothing.
Loaded with the first template that has such a schema.
"""

from sexplang.templates.xsd.instructions import xsd_words
from sexplang.templates.xsd.xml_replies import read_xml
from sexplang.templates.xsd.xsd_patterns import BadXsd
from sexplang.templates.xsd.xsd_schema import compile_xsd

__all__ = ["BadXsd", "compile_xsd", "read_xml", "xsd_words"]
