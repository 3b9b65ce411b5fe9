"""An editor's messages on standard input to answers on standard output: the language server.

It runs nothing: what it knows it has from reading texts and from the same checks as `check`.
"""

import gc


def serve() -> None:
    """Serves one editor until it leaves. Raises ModuleNotFoundError where pygls is missing."""
    from sexplang.hosts.language_server.server import server

    # A command that ends soon does without looking for garbage; this one stays.
    gc.enable()
    server().start_io()
