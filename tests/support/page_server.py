"""A small server of pages on the loopback, for tests of `fetch`.

    with PageServer({"/tea": page}) as server:
        … server.url, server.port, server.asked

A page is a text, bytes, or a function of the handler that writes the answer itself. `asked` has the
path and the headers of each request.
"""

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Page = str | bytes | Callable[[Any], None]


def answer(body=b"", status=200, **headers):
    """A page with headers: `content_type` is `content-type`."""

    def write(handler):
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return write


def leading(place, status=302):
    """A redirect."""
    return answer(status=status, location=place)


class PageServer:
    def __init__(self, pages: Mapping[str, Page], host: str = "127.0.0.1") -> None:
        self.pages, self.host = dict(pages), host
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.ended = threading.Event()

    def __enter__(self) -> "PageServer":
        pages = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                pages.asked.append((self.path, headers))
                page = pages.pages.get(self.path, answer(b"none", status=404))
                with suppress(OSError):
                    if isinstance(page, str):
                        page = answer(page.encode(), content_type="text/plain; charset=utf-8")
                    if isinstance(page, bytes):
                        page = answer(page, content_type="text/html")
                    page(self)
                self.close_connection = True

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer((self.host, 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.url = f"http://{self.host}:{self.port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()
