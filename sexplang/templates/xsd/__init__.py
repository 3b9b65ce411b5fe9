"""Replies that are XML: what a model is told of an XSD, and its reply to a plain value.

Law: whatever the schema and whatever the reply, the answer comes in bounded time, without opening
anything, as a value, a problem or BadXsd. Loaded with the first template that has such a schema.
"""

from sexplang.templates.xsd.compiled import compiled
from sexplang.templates.xsd.patterns import BadXsd
from sexplang.templates.xsd.replies import read_xml
from sexplang.templates.xsd.words import xsd_words

__all__ = ["BadXsd", "compiled", "read_xml", "xsd_words"]
