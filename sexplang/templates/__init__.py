"""Templates and replies: XML becomes Template nodes; a reply's text becomes a value by the
template's output format.

Law: any text gives templates or Diagnostics, and any reply a Reading; no other exception leaves
this package. Only this package knows lxml and xmlschema. Each is imported when it is first needed.
"""

from sexplang.templates.output_schemas import json_schema, xml_words
from sexplang.templates.reply.reply import Reading, read_reply
from sexplang.templates.template_checks import check_template
from sexplang.templates.xml.template_reader import read_templates

__all__ = ["Reading", "check_template", "json_schema", "read_reply", "read_templates", "xml_words"]
