"""XML to Template nodes; the text of a reply, under a template's output format, to a value.

Law: whatever the text, the outcome is templates or Diagnostics, a Reading with or without a
problem; never another exception. The only room that knows lxml, xmlschema and
jsonschema_rs, each imported when it is first needed.
"""

from sexplang.templates.json_schema.schema import json_schema, xml_words
from sexplang.templates.reply.reply import Reading, read_reply
from sexplang.templates.template_checks import check_template
from sexplang.templates.xml.template_reader import read_templates

__all__ = ["Reading", "check_template", "json_schema", "read_reply", "read_templates", "xml_words"]
