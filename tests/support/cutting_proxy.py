"""A proxy in front of a PostgreSQL server that delays bytes, and cuts connections.

A connection is cut when the server has answered a given statement, outside of any transaction, and
before the client hears it: so what was said is committed, and nobody was told.
"""

import re
import socket
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from time import sleep
from urllib.parse import parse_qs, urlsplit

IDLE = b"Z\x00\x00\x00\x05I"
"""What ends an answer after which no transaction is open."""


class CuttingProxy:
    """Forwards connections to the socket of the server of a URL until the block ends. `text` is
    that of the statement whose answer may be lost."""

    def __init__(self, url: str, text: str = "") -> None:
        (folder,) = parse_qs(urlsplit(url).query)["host"]
        self._server = str(Path(folder) / ".s.PGSQL.5432")
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lock, self._left, self._text = Lock(), 0, text.encode()
        self.seconds = 0.0
        """The delay of each direction."""
        self.cuts = 0
        """The connections that were cut."""

    def address(self, url: str) -> str:
        """Return the URL of the same database by way of this proxy."""
        port, parts = self._listener.getsockname()[1], urlsplit(url)
        return f"postgresql://{parts.username}@127.0.0.1:{port}{parts.path}?sslmode=disable"

    def cut(self, times: int) -> None:
        """Cut so many connections, each at the answer to a statement with the text."""
        with self._lock:
            self._left = times

    def __enter__(self) -> "CuttingProxy":
        Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._left = 0
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                pair = _Pair(self, client)
                for target in (pair.ask, pair.answer):
                    Thread(target=target, daemon=True).start()

    def takes(self, data: bytes, names: set[bytes]) -> bool:
        """Whether this connection is to be cut; `names` are its prepared statements."""
        with self._lock:
            if self._text:
                prepared = rb"(_pg3_[0-9]+\x00)[^\x00]*" + re.escape(self._text)
                names.update(re.findall(prepared, data))
            has = self._left > 0 and (self._text in data or any(each in data for each in names))
            self._left -= has
            return has


class _Pair:
    """A connection of a client, and the one to the server."""

    def __init__(self, proxy: CuttingProxy, client: socket.socket) -> None:
        self.proxy, self.client = proxy, client
        self.server = socket.socket(socket.AF_UNIX)
        self.is_cut = False
        with suppress(OSError):
            self.server.connect(proxy._server)

    def ask(self) -> None:
        names: set[bytes] = set()
        with suppress(OSError):
            while data := self.client.recv(1 << 20):
                self.is_cut = self.is_cut or self.proxy.takes(data, names)
                sleep(self.proxy.seconds)
                self.server.sendall(data)
        self.close()

    def answer(self) -> None:
        with suppress(OSError):
            while data := self.server.recv(1 << 20):
                if self.is_cut and IDLE in data:
                    self.proxy.cuts += 1
                    break
                sleep(self.proxy.seconds)
                self.client.sendall(data)
        self.close()

    def close(self) -> None:
        for each in (self.client, self.server):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
