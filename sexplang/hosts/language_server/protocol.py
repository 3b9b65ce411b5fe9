"""What an editor sends to requests that are answered, also those that are malformed."""

from typing import Any

from pygls.exceptions import JsonRpcInvalidParams
from pygls.protocol.json_rpc import JsonRPCRequestMessage

from sexplang.hosts.language_server.silence import Silent


class Protocol(Silent):
    """The protocol, where every request gets its response: nobody waits for one in vain."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """A message from its data; None for a request that was answered as malformed."""
        if not {"jsonrpc", "id", "method"} <= data.keys():
            return super().structure_message(data)
        kind = self.get_message_type(data["method"]) or JsonRPCRequestMessage
        try:
            return self._converter.structure(data, kind)
        except Exception as error:  # of whatever kind the library's converters raise
            reason = JsonRpcInvalidParams(f"malformed parameters: {_first(error)}")
            self._send_response(data["id"], error=reason.to_response_error())
            return None

    def handle_message(self, message: Any) -> None:
        if message is not None:
            super().handle_message(message)


def _first(error: BaseException) -> str:
    """What went wrong innermost."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error)
