"""Resources and prompts of a server: methods of the protocol that are called as its tools are.

Their names have a `/`, which no name of a tool may have.
"""

import json
from collections.abc import Callable
from typing import Any

from mcp import MCPError
from mcp_types import (
    EmbeddedResource,
    GetPromptRequest,
    GetPromptResult,
    ListPromptsRequest,
    ListPromptsResult,
    ListResourcesRequest,
    ListResourcesResult,
    ListResourceTemplatesRequest,
    ListResourceTemplatesResult,
    ReadResourceRequest,
    ReadResourceResult,
    TextContent,
    TextResourceContents,
)
from pydantic import ValidationError

from sexplang.runtime.journal.redaction import clean_data
from sexplang.runtime.mcp.messages import MOST_BYTES, TOO_LARGE, WORDS
from sexplang.runtime.mcp.results import bad_inputs, problem, value_of_blocks
from sexplang.runtime.refusal import Refusal
from sexplang.terms.classes.node import frozen
from sexplang.terms.values.boundary import value_of
from sexplang.terms.values.value import Value

MOST_LISTED = 1000
"""Maximum items of a list."""


@frozen
class Method:
    """A method of the protocol."""

    capability: str
    """What a server that has it says it offers."""
    description: str
    properties: dict[str, Any]
    required: list[str]
    request: Any
    result: Any
    convert: Callable[[Any], Any]

    @property
    def definition(self) -> dict[str, Value]:
        """Return `{description input_schema}` as that of a tool."""
        schema = {"type": "object", "properties": self.properties, "required": self.required}
        made: dict[str, Value] = value_of({"description": self.description, "input_schema": schema})
        return made

    async def perform(self, session: Any, inputs: dict[str, Any], name: str) -> Any:
        """Send the request, for a list once for each page. Return the value. Raises Refusal for
        inputs that do not fit, and MCPError."""
        unknown = inputs.keys() - self.properties.keys()
        if unknown:
            raise self._refuse(name, f"there is no `{min(unknown)}`")
        found: list[Any] = []
        size, cursor = 0, None
        while True:
            params = {**inputs, "cursor": cursor} if cursor else inputs
            try:
                asked = self.request(params=params if params or self.required else None)
            except ValidationError as error:
                raise self._refuse(name, problem(error)) from None
            result = await session.send_request(asked, self.result)
            value = self.convert(result)
            if self.required:
                return value
            found += value
            size += len(json.dumps(value))
            if size > MOST_BYTES:
                raise MCPError(TOO_LARGE, WORDS[TOO_LARGE])
            cursor = result.next_cursor
            if not cursor or len(found) >= MOST_LISTED:
                return clean_data(found[:MOST_LISTED])

    def _refuse(self, name: str, why: str) -> Refusal:
        hint = f"it takes {', '.join(self.properties) or 'an empty table'}"
        return bad_inputs("bad-tool-input", f"the inputs of `{name}` do not fit: {why}", hint, name)


def _list_of(key: str) -> Callable[[Any], Any]:
    def convert(result: Any) -> Any:
        items = getattr(result, key)
        return [item.model_dump(mode="json", by_alias=True, exclude_none=True) for item in items]

    return convert


def _convert_contents(result: Any) -> Any:
    blocks = [
        TextContent(text=each.text)
        if isinstance(each, TextResourceContents)
        else EmbeddedResource(resource=each)
        for each in result.contents
    ]
    return value_of_blocks(blocks)


def _convert_messages(result: Any) -> Any:
    return [
        {"role": each.role, "content": value_of_blocks([each.content])} for each in result.messages
    ]


_TEXT = {"type": "string"}

METHODS = {
    "resources/list": Method(
        "resources",
        "Lists the resources of the server: their uri, name and description.",
        {},
        [],
        ListResourcesRequest,
        ListResourcesResult,
        _list_of("resources"),
    ),
    "resources/templates/list": Method(
        "resources",
        "Lists the templates of uris that the server can read.",
        {},
        [],
        ListResourceTemplatesRequest,
        ListResourceTemplatesResult,
        _list_of("resource_templates"),
    ),
    "resources/read": Method(
        "resources",
        "Reads a resource of the server.",
        {"uri": {**_TEXT, "description": "The uri, from resources/list."}},
        ["uri"],
        ReadResourceRequest,
        ReadResourceResult,
        _convert_contents,
    ),
    "prompts/list": Method(
        "prompts",
        "Lists the prompts of the server: their name, description and arguments.",
        {},
        [],
        ListPromptsRequest,
        ListPromptsResult,
        _list_of("prompts"),
    ),
    "prompts/get": Method(
        "prompts",
        "Gives the messages of a prompt of the server.",
        {
            "name": {**_TEXT, "description": "The name, from prompts/list."},
            "arguments": {"type": "object", "additionalProperties": _TEXT},
        },
        ["name"],
        GetPromptRequest,
        GetPromptResult,
        _convert_messages,
    ),
}
