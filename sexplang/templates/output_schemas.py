"""The JSON Schema and the words that tell a model the output format."""

from typing import Any

from sexplang.schemas.schema import as_json, resolve, schema_of_word
from sexplang.terms.template import OutputFormat


def json_schema(output_format: OutputFormat) -> dict[str, Any] | None:
    """Return the JSON Schema of an output format. None if it admits anything."""
    schema = resolve(output_format.schema)
    if output_format.type != "json" or schema is None:
        return None
    if isinstance(schema, dict) and output_format.typed:
        from sexplang.templates.reply.answers import wrap_schema

        return wrap_schema(as_json(schema))
    if isinstance(schema, dict):
        return as_json(schema)
    return schema_of_word(schema) or None


def xml_words(output_format: OutputFormat) -> str:
    """Return the words that tell a model the form of an XML reply."""
    from sexplang.templates.xsd import BadXsd, xsd_words

    try:
        return xsd_words(str(output_format.schema))
    except BadXsd:
        # The check of the template has reported it.
        return "Answer with one XML document and nothing else."
