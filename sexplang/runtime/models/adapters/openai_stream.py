"""The accumulation of an OpenAI-shaped stream."""

from collections.abc import Callable
from typing import Any

from sexplang.terms.classes.node import define, field


@define(eq=False)
class OpenAIStream:
    """The parts received so far. `stop` ends the reply at its next part. `is_complete` is set when
    no more parts will come."""

    stop: bool = False
    is_complete: bool = False
    problem: dict[str, Any] | None = None
    finish_reason: str | None = None
    usage: dict[str, int] = field(factory=dict)
    tell: Callable[[str], object] | None = None
    """Called with each piece of text."""
    _texts: list[str] = field(factory=list)

    def take(self, piece: Any) -> bool:
        """Add a part. Return whether to stop."""
        for part in piece if isinstance(piece, list) else [piece]:
            self._add(part)
        return self.stop

    def _add(self, part: dict[str, Any]) -> None:
        if "error" in part:
            self.problem = part["error"]
        usage = part.get("usage")
        if isinstance(usage, dict):
            self.usage = usage
        for choice in part.get("choices", ()):
            said = choice.get("delta") or choice.get("message") or {}
            if said.get("content"):
                self._texts.append(said["content"])
                if self.tell is not None:
                    self.tell(said["content"])
            self.finish_reason = choice.get("finish_reason") or self.finish_reason

    @property
    def text(self) -> str:
        return "".join(self._texts)
