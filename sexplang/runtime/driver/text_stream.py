"""The text of a model's reply as it arrives, without credentials.

Law: the joined pieces are the text of the reply as it is delivered. So the end of the text that may
begin a credential is held back until more arrives.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sexplang.guards.secrets import find_begun
from sexplang.runtime.driver.events import Event, Said
from sexplang.runtime.driver.requests import OutputLost
from sexplang.runtime.journal.redaction import clean
from sexplang.terms.classes.node import define, field

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
        said = Said(self.request, self.pieces, start, len(self.pieces), self.characters)
        try:
            self.on_event(said)
        except Exception as error:  # it is none of the server, and no reason to try again
            raise OutputLost(error) from None


def tell_whole(request: "Request", reply: Any, on_event: Callable[[Event], None]) -> None:
    """Tell the text of a reply that came at once, if it has any."""
    text = text_of(reply)
    if text:
        on_event(Said(request, (text,), 0, 1, len(text)))


def text_of(reply: Any) -> str:
    """Return the text of a model's reply: its text blocks, joined. "" for what is no reply."""
    content = reply.get("content") if isinstance(reply, dict) else reply
    if isinstance(content, str):
        return content
    texts = []
    for block in content if isinstance(content, (list, tuple)) else ():
        if isinstance(block, dict) and block.get("type") == "text":
            text = block.get("text")
            if isinstance(text, str):
                texts.append(text)
    return texts[0] if len(texts) == 1 else "".join(texts)
