"""What a worker tells of itself on loopback: `/health`, and `/metrics` as Prometheus' text."""

from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.classes.node import frozen


@frozen
class Figures:
    """The counters of a worker, and what is looked up in its store when it is asked."""

    counts: Counter[str]
    look: Callable[[], dict[str, dict[str, int]]]

    def write(self) -> str:
        """Return the figures as text. Raises Refusal if the store cannot be asked."""
        lines = ["# TYPE sexplang_runs_total counter"]
        for name, count in sorted(self.counts.items()):
            lines.append(f'sexplang_runs_total{{what="{name}"}} {count}')
        for name, found in self.look().items():
            lines.append(f"# TYPE {name} gauge")
            lines += [f'{name}{{what="{what}"}} {count}' for what, count in sorted(found.items())]
        return "\n".join(lines) + "\n"


def serve_figures(port: int, figures: Figures) -> int:
    """Serve figures on a port of 127.0.0.1 until the process ends; 0 is any. Return the port.
    Raises a Refusal `bad-input` if it is taken."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path not in ("/metrics", "/health"):
                self._reply(404, "there are /metrics and /health\n")
                return
            try:
                text = figures.write()
            except Refusal as refusal:
                self._reply(503, f"{refusal}\n")
            else:
                self._reply(200, text if self.path == "/metrics" else "ok\n")

        def _reply(self, status: int, text: str) -> None:
            data = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Requests are not told."""

    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    except OSError as error:
        raise refuse("bad-input", f"--metrics {port}: {error.strerror}") from None
    server.daemon_threads = True
    Thread(target=server.serve_forever, name="sexplang-metrics", daemon=True).start()
    return int(server.server_address[1])
