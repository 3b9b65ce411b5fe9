"""The text of a model's reply as it arrives, without credentials.

Law: the joined pieces are the text of the reply as it is delivered. So the end of the text that may
begin a credential is held back until more arrives.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sexplang.guards.secrets import find_begun
from sexplang.runtime.driver.events import Event, Said
from sexplang.runtime.driver.partial_json import read_partial
from sexplang.runtime.driver.requests import OutputLost
from sexplang.runtime.journal.redaction import clean
from sexplang.terms.classes.node import define, field
from sexplang.terms.model.payload import WRAPPER

if TYPE_CHECKING:
    from sexplang.terms.effect import Request


@define(eq=False)
class TextStream:
    """The text of one attempt at a call. Each piece becomes a Said."""

    request: "Request"
    on_event: Callable[[Event], None]
    pieces: list[str] = field(factory=list)
    """The text that was told."""
    characters: int = 0
    """The characters that have arrived: text, thinking and the inputs of tools."""
    _held: str = ""

    def take(self, kind: str, piece: str) -> None:
        """Add a piece of a block: of its `text`, its `thinking` or its `partial_json`."""
        if not piece:
            return
        self.characters += len(piece)
        text = ""
        if kind == "text":
            whole = clean(self._held + piece)
            begun = find_begun(whole)
            text, self._held = whole[:begun], whole[begun:]
        self._tell(text)

    def read_value(self, end: int) -> Any:
        """Return what is whole of a typed answer after `end` pieces, as plain data; None without a
        schema. An answer in a wrapper is taken out of it."""
        schema = self.request.arguments[0].get("output_schema")
        if schema is None:
            return None
        value = read_partial("".join(self.pieces[:end]))
        fields = schema.get("properties")
        is_wrapped = isinstance(fields, dict) and fields.keys() == {WRAPPER}
        return value.get(WRAPPER) if is_wrapped and isinstance(value, dict) else value

    def finish(self, reply: Any) -> None:
        """Tell what is missing of the text of the delivered reply."""
        text, told = text_of(reply), "".join(self.pieces)
        if len(text) > len(told) and text.startswith(told):
            self.characters = max(self.characters, len(text))
            self._tell(text[len(told) :])

    def _tell(self, text: str) -> None:
        start = len(self.pieces)
        if text:
            self.pieces.append(text)
        said = Said(self.request, self, (start, len(self.pieces)), self.characters)
        try:
            self.on_event(said)
        except Exception as error:  # it is none of the server, and no reason to try again
            raise OutputLost(error) from None


def text_of(reply: Any) -> str:
    """Return the text of a model's reply: its text blocks, joined. "" for what is no reply."""
    content = reply.get("content") if isinstance(reply, dict) else reply
    if isinstance(content, str):
        return content
    texts = [
        block.get("text")
        for block in (content if isinstance(content, (list, tuple)) else ())
        if isinstance(block, dict) and block.get("type") == "text"
    ]
    return "".join([text for text in texts if isinstance(text, str)])
