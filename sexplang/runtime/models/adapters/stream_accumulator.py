"""Events of a streamed reply, one after the other → the message that they make."""

import json
import re
from math import isinf
from typing import Any, NoReturn

from sexplang.terms.classes.node import define, field
from sexplang.terms.values.boundary import INTEGER_BITS

# What a delta adds to its block, and where: pieces that are joined at the end, or the last one.
_PIECES = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


@define(eq=False)
class StreamAccumulator:
    """A message that arrives. Raises KeyError, IndexError, TypeError, AttributeError or ValueError
    for events that lack what the protocol wants, or come out of order."""

    message: dict[str, Any] = field(factory=dict)
    over: bool = False
    """Whether the event that ends a message has come."""
    cut: bool = False
    """Whether the input of a tool is not whole."""
    _pieces: dict[tuple[int, str], list[str]] = field(factory=dict)

    @property
    def text(self) -> str:
        """What the model has said so far, of a block that is not whole too."""
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
        """What the server has counted so far."""
        said = self.message.get("usage")
        return {
            str(name): count
            for name, count in (said if isinstance(said, dict) else {}).items()
            if type(count) is int and count >= 0
        }

    def take(self, event: dict[str, Any]) -> str:
        """The next event. Gives what the model has written in it."""
        match event["type"]:
            case "message_start":
                self.message = dict(event["message"])
            case "content_block_start":
                self.message["content"].append(dict(event["content_block"]))
            case "content_block_delta":
                return self._grow(event["index"], event["delta"])
            case "content_block_stop":
                self._join(event["index"])
            case "message_delta":
                self._end(event["delta"], event.get("usage") or {})
            case "message_stop":
                self.message["content"]  # there was a beginning
                self.over = True
        return ""

    def _grow(self, at: int, delta: dict[str, Any]) -> str:
        kind = delta["type"]
        block = self.message["content"][at]
        if kind in _PIECES:
            piece = delta[_PIECES[kind]]
            self._pieces.setdefault((at, kind), []).append(piece)
            return str(piece)
        if kind == "citations_delta":
            block["citations"] = [*(block.get("citations") or ()), delta["citation"]]
        elif kind == "signature_delta":
            block["signature"] = delta["signature"]
        return ""

    def _join(self, at: int) -> None:
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
            block["input"] = _whole(text) if text else block.get("input")
        except ValueError:
            try:
                block["input"] = _loose(text)
            except RecursionError:
                block["input"] = text
            except ValueError:
                # Nobody may act on a part of it, so no part of it is kept.
                self.cut, block["input"] = True, {}

    def _end(self, delta: dict[str, Any], usage: dict[str, Any]) -> None:
        self.message.update({key: value for key, value in delta.items() if value is not None})
        counted = {key: value for key, value in usage.items() if value is not None}
        if counted:
            # Totals, not additions: what is said at the end replaces what was said before.
            self.message["usage"] = {**(self.message.get("usage") or {}), **counted}


def _whole(text: str) -> Any:
    """JSON, and nothing beside it. Raises ValueError, also for what `_loose` has to judge."""
    from jiter import from_json

    if _LARGE.search(text):
        raise ValueError
    return from_json(text.encode(), allow_inf_nan=False, catch_duplicate_keys=True)


_LARGE = re.compile(r"[0-9]{200}|[eE]\+?[0-9]{3}")
"""What may be an integer beyond the limit, or larger than any float."""

_CONVERTED = 4_300
"""Digits that CPython makes an integer of."""


def _loose(text: str) -> Any:
    """The same, half characters as `?`; the text itself where it is JSON that nobody can hold, with
    a key twice in one object or a number beyond the limit: whoever asked says so. Raises ValueError
    and, for what nests too deep to be looked at, RecursionError."""
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
