"""The protocol of the language server, robust against malformed messages.

Every request gets a response. An unreadable notification is logged at the editor and changes
nothing. No response holds a traceback. No message of enormous size is read.
"""

import logging
from typing import Any, BinaryIO

from lsprotocol import types as lsp
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcParseError,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.json_rpc import JsonRPCNotification, JsonRPCRequestMessage

from sexplang.guards.secrets import silent

UNTOLD = -1
"""The version of a text whose editor sends none."""

_LARGEST = 2**31 - 1

MOST = 64_000_000
"""The most bytes of a message."""

_LONGEST = 4096
"""The most bytes of a header line that are read at once."""

UNREADABLE = (ValueError, RecursionError)
"""Errors for a text that is no JSON or is nested too deeply."""


class TooLarge(Exception):
    """A message announces more bytes than are read."""


class LimitedInput:
    """Standard input, with a limit on the size of messages."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readline(self) -> bytes:
        return self._stream.readline(_LONGEST)

    def read(self, size: int) -> bytes:
        """Raises TooLarge."""
        if size > MOST:
            raise TooLarge(f"a message of {size} bytes is too large, at most {MOST} are read")
        return self._stream.read(size)


class Protocol(LanguageServerProtocol):
    """The protocol of this server."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Leave a message as plain data until it is handled as a whole."""
        return data

    def unreadable(self) -> None:
        """Answer a message that is no JSON."""
        self._send_response(None, error=JsonRpcParseError().to_response_error())

    def handle_message(self, message: Any) -> None:
        """Handle a message, which may be any JSON."""
        refusal = self._refusal(message)
        if refusal is None:
            self._deal(
                self._response(message) if _is_response(message) else self._dispatch(message)
            )
        elif isinstance(message, dict) and _is_note(message):
            if not self._shutdown:
                self._tell(f"{message['method']}: {refusal.message}")
        else:
            id = message.get("id") if isinstance(message, dict) else None
            known = id if isinstance(id, (int, str)) else None
            self._send_response(known, error=refusal.to_response_error())

    def _refusal(self, message: Any) -> JsonRpcException | None:
        """Return the reason why a message is not handled at all, or None."""
        if not isinstance(message, dict):
            return JsonRpcInvalidRequest("a message is an object")
        if message.get("jsonrpc") != self.VERSION:
            return JsonRpcInvalidRequest(f"`jsonrpc` of a message is {self.VERSION!r}")
        if _is_response(message):
            return None
        method = message.get("method")
        if not isinstance(method, str):
            return JsonRpcInvalidRequest("the method of a message is a text")
        if method == lsp.EXIT:
            return None
        if self._shutdown:
            return JsonRpcInvalidRequest("the server has been shut down")
        if method == lsp.INITIALIZE:
            again = JsonRpcInvalidRequest("the server is initialized already")
            return None if self._workspace is None else again
        if self._workspace is None:
            return JsonRpcServerNotInitialized("the server is not initialized")
        return None

    def _dispatch(self, data: dict[str, Any]) -> Any:
        """Return the structured request or notification; None for one that is answered as
        malformed."""
        method = data["method"]
        if method in (lsp.TEXT_DOCUMENT_DID_OPEN, lsp.TEXT_DOCUMENT_DID_CHANGE):
            _complete(data.get("params"))
        is_request = isinstance(data.get("id"), (int, str))
        usual = JsonRPCRequestMessage if is_request else JsonRPCNotification
        data.setdefault("params", None)
        try:
            if "id" in data and not is_request:
                raise ValueError("the id of a request is a number or a text")
            return self._converter.structure(data, self.get_message_type(method) or usual)
        except Exception as error:  # the library's converters raise any kind
            words = f"malformed parameters: {_first(error)}"
        if is_request:
            self._send_response(data["id"], error=JsonRpcInvalidParams(words).to_response_error())
        else:
            self._tell(f"{method}: {words}")
        return None

    def _response(self, data: dict[str, Any]) -> Any:
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            self._tell(f"a malformed response: {error}")
            return None

    def _deal(self, message: Any) -> None:
        if getattr(message, "method", None) == lsp.TEXT_DOCUMENT_DID_CHANGE:
            address = message.params.text_document.uri
            if self._workspace is None or address not in self._workspace.text_documents:
                self._tell(f"{address} is not open: what changes in it is not known here")
                return
        if message is not None:
            super().handle_message(message)

    def _send_response(self, msg_id: Any, result: Any = None, error: Any = None) -> None:
        if error is not None:
            error.data = None  # for an internal fault it is a traceback
        super()._send_response(msg_id, result=result, error=error)

    def _serialize_message(self, data: Any) -> dict[str, Any]:
        """Return the plain data of a message, without credentials: all output passes here."""
        message = super()._serialize_message(data)
        if isinstance(message, dict):
            message = mask_message(message)
        if isinstance(data, lsp.ResponseErrorMessage):
            message.setdefault("id", None)  # the request of a parse error is not known
        return message

    def _tell(self, words: str) -> None:
        self.notify(
            lsp.WINDOW_LOG_MESSAGE, lsp.LogMessageParams(lsp.MessageType.Warning, words[:500])
        )


def _is_response(message: dict[str, Any]) -> bool:
    return "method" not in message and ("result" in message or "error" in message)


def _is_note(message: dict[str, Any]) -> bool:
    return "id" not in message and isinstance(message.get("method"), str)


def is_logged(record: logging.LogRecord) -> bool:
    """Return whether a record of the library's log is not sent as a response anyway."""
    return record.exc_info is None or not isinstance(record.exc_info[1], UNREADABLE)


def _complete(params: Any) -> None:
    """Fill in the version that an editor may leave out."""
    document = params.get("textDocument") if isinstance(params, dict) else None
    if not isinstance(document, dict):
        return
    document.setdefault("languageId", "")
    version = document.get("version")
    if type(version) is not int or not 0 <= version <= _LARGEST:
        document["version"] = UNTOLD


def _first(error: BaseException) -> str:
    """Return the innermost cause of an error."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error)


_UNREDACTED = frozenset(["newText", "uri"])
"""The person's own text and the names of documents are not redacted."""


def mask_message(message: dict[str, Any]) -> dict[str, Any]:
    """Redact the credentials in a message, in place, and return it."""
    work: list[Any] = [message]
    while work:
        place = work.pop()
        for key, item in list(place.items() if isinstance(place, dict) else enumerate(place)):
            if isinstance(item, str) and key not in _UNREDACTED:
                place[key] = silent(item)
            elif isinstance(item, (dict, list)):
                work.append(item)
    return message
