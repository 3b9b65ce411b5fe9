"""The accumulation of a streamed reply's events into a message."""

import json
import re
from collections.abc import Callable
from math import isinf
from typing import Any, NoReturn

from sexplang.runtime.files.surrogates import join_surrogates
from sexplang.terms.classes.node import define, field
from sexplang.terms.values.boundary import INTEGER_BITS

# The field that each kind of delta extends: pieces are joined at the end, or the last one counts.
_PIECES = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


@define(eq=False)
class StreamAccumulator:
    """A partial message. Raises KeyError, IndexError, TypeError, AttributeError or ValueError for
    events that violate the protocol."""

    message: dict[str, Any] = field(factory=dict)
    is_complete: bool = False
    """Whether the final event has arrived."""
    has_cut_input: bool = False
    """Whether the input of a tool call is incomplete."""
    watch: Callable[[str, str], object] | None = None
    """Called with each piece of a block: `text`, `thinking` or `partial_json`, and the piece."""
    _pieces: dict[tuple[int, str], list[str]] = field(factory=dict)
    _halves: dict[int, str] = field(factory=dict)
    """The first half of a character whose other half is in a block's next piece of text."""

    @property
    def text(self) -> str:
        """The text received so far, including the current block."""
        blocks = self.message.get("content")
        said = []
        for at, block in enumerate(blocks if isinstance(blocks, list) else ()):
            whole = block.get("text") if isinstance(block, dict) else None
            said += [whole] if isinstance(whole, str) else []
            pieces = self._pieces.get((at, "text_delta"), ())
            said += [piece for piece in pieces if isinstance(piece, str)]
        return "".join(said)

    @property
    def usage(self) -> dict[str, int]:
        """The counts received so far."""
        said = self.message.get("usage")
        return {
            str(name): count
            for name, count in (said if isinstance(said, dict) else {}).items()
            if type(count) is int and count >= 0
        }

    def take(self, event: dict[str, Any]) -> None:
        """Add an event."""
        match event["type"]:
            case "message_start":
                self.message = dict(event["message"])
            case "content_block_start":
                self.message["content"].append(dict(event["content_block"]))
            case "content_block_delta":
                self._grow(event["index"], event["delta"])
            case "content_block_stop":
                self._join(event["index"])
            case "message_delta":
                self._end(event["delta"], event.get("usage") or {})
            case "message_stop":
                self.message["content"]  # the message has begun
                self.is_complete = True

    def _grow(self, at: int, delta: dict[str, Any]) -> None:
        kind = delta["type"]
        block = self.message["content"][at]
        if kind in _PIECES:
            self._add(at, kind, delta[_PIECES[kind]])
        elif kind == "citations_delta":
            block["citations"] = [*(block.get("citations") or ()), delta["citation"]]
        elif kind == "signature_delta":
            block["signature"] = delta["signature"]

    def _add(self, at: int, kind: str, piece: str) -> None:
        """Add a piece of a block. A character that two pieces share comes with the second."""
        piece = self._halves.pop(at, "") + piece
        if not piece.isascii():
            if "\ud800" <= piece[-1] <= "\udbff":
                piece, self._halves[at] = piece[:-1], piece[-1]
            piece = join_surrogates(piece)
        self._append(at, kind, piece)

    def _append(self, at: int, kind: str, piece: str) -> None:
        self._pieces.setdefault((at, kind), []).append(piece)
        if self.watch is not None:
            self.watch(_PIECES[kind], piece)

    def _join(self, at: int) -> None:
        if at in self._halves:
            kind = [kind for place, kind in self._pieces if place == at][-1]
            self._append(at, kind, self._halves.pop(at))
        block = self.message["content"][at]
        for kind, key in _PIECES.items():
            pieces = self._pieces.pop((at, kind), None)
            if pieces is None:
                continue
            if kind == "input_json_delta":
                self._input(block, "".join(pieces))
            else:
                block[key] = str(block.get(key) or "") + "".join(pieces)

    def _input(self, block: dict[str, Any], text: str) -> None:
        try:
            block["input"] = _parse_strict(text) if text else block.get("input")
        except ValueError:
            try:
                block["input"] = _parse_lenient(text)
            except RecursionError:
                block["input"] = text
            except ValueError:
                # An incomplete input must not be used, so it is dropped.
                self.has_cut_input, block["input"] = True, {}

    def _end(self, delta: dict[str, Any], usage: dict[str, Any]) -> None:
        self.message.update({key: value for key, value in delta.items() if value is not None})
        counted = {key: value for key, value in usage.items() if value is not None}
        if counted:
            # Totals, not increments: later counts replace earlier ones.
            self.message["usage"] = {**(self.message.get("usage") or {}), **counted}


def _parse_strict(text: str) -> Any:
    """Parse JSON. Raises ValueError, also for values that `_parse_lenient` must check."""
    from jiter import from_json

    if _LARGE.search(text):
        raise ValueError
    return from_json(text.encode(), allow_inf_nan=False, catch_duplicate_keys=True)


_LARGE = re.compile(r"[0-9]{200}|[eE]\+?[0-9]{3}")
"""A number that may be an integer beyond the digit limit, or larger than any float."""

_CONVERTED = 4_300
"""Maximum digits of an integer that CPython converts."""


def _parse_lenient(text: str) -> Any:
    """Parse JSON with surrogate halves as `?`. Return the text itself for JSON with a duplicate key
    or a number beyond the limit; the caller reports it. Raises ValueError, or RecursionError for
    too deep nesting."""
    unfit: list[str] = []

    def table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        unfit.extend(["twice"] * (len(pairs) - len(made)))
        return made

    def integer(digits: str) -> int:
        number = int(digits) if len(digits) <= _CONVERTED else 1 << INTEGER_BITS
        if number.bit_length() > INTEGER_BITS:
            unfit.append("long")
        return number

    def fraction(digits: str) -> float:
        number = float(digits)
        if isinf(number):
            unfit.append("large")
        return number

    def constant(name: str) -> NoReturn:
        raise ValueError(name)

    read = json.loads(
        text,
        object_pairs_hook=table,
        parse_float=fraction,
        parse_int=integer,
        parse_constant=constant,
    )
    whole = json.dumps(read, ensure_ascii=False).encode("utf-8", "replace")
    return text if unfit else json.loads(whole)
