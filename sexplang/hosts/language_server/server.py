"""The features of the language server."""

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from lsprotocol import types as lsp
from pygls.capabilities import get_capability
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from sexplang.hosts.language_server.editor import PAUSE, Editor
from sexplang.hosts.language_server.positions import name_of
from sexplang.hosts.language_server.protocol import UNREADABLE, Protocol, is_logged

LARGEST = 1_000_000
"""The most characters of a text about which questions are answered; any text is checked."""


class Server(LanguageServer):
    """The server, with an answer for input that is no message."""

    protocol: Protocol

    def report_server_error(self, error: Exception, source: Any) -> None:
        if source is JsonRpcException and isinstance(error, UNREADABLE):
            self.protocol.unreadable()
        else:
            super().report_server_error(error, source)


def server() -> tuple[LanguageServer, Editor]:
    """Return a server for this language, and its Editor."""
    # Whole texts cannot go out of step over the ends of lines.
    made = Server(
        "sexplang",
        _version(),
        text_document_sync_kind=lsp.TextDocumentSyncKind.Full,
        protocol_cls=Protocol,
    )
    logging.getLogger("pygls.server").addFilter(is_logged)
    editor = Editor(made)

    @made.feature(lsp.INITIALIZED)
    async def begin(params: lsp.InitializedParams) -> None:
        asked = get_capability(
            made.client_capabilities, "workspace.did_change_watched_files.dynamic_registration"
        )
        if asked:
            await made.client_register_capability_async(lsp.RegistrationParams([_WATCH]))

    @made.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def open_document(params: lsp.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        editor.take(document.uri, document.version, document.text, pause=0)

    @made.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def change_document(params: lsp.DidChangeTextDocumentParams) -> None:
        document = params.text_document
        text = made.workspace.get_text_document(document.uri).source
        editor.take(document.uri, document.version, text, pause=PAUSE)

    @made.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def close_document(params: lsp.DidCloseTextDocumentParams) -> None:
        editor.drop(params.text_document.uri)

    @made.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(params: lsp.DidChangeWatchedFilesParams) -> None:
        editor.check_soon(PAUSE)

    @made.feature(lsp.SHUTDOWN)
    def end(params: None) -> None:
        editor.has_ended = True

    for feature, (answer, options) in _REQUESTS.items():
        made.feature(feature, options)(partial(_answer, answer, editor))
    return made, editor


_WATCH = lsp.Registration(
    "files",
    lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES,
    lsp.DidChangeWatchedFilesRegistrationOptions([lsp.FileSystemWatcher("**/*.{sexp,xml}")]),
)
"""Files that documents may import: the editor reports changes of them."""


def _answer(answer: "Answer", editor: Editor, params: Any) -> Any:
    """Return the answer about a program; None for a template, which editors know as XML."""
    source = editor.library.source(name_of(params.text_document.uri))
    is_program = not source.name.endswith(".xml") and len(source.text) <= LARGEST
    return answer(editor, params) if is_program else None


Answer = Callable[[Editor, Any], Any]


_REQUESTS: dict[str, tuple[Answer, Any]] = {
    lsp.TEXT_DOCUMENT_HOVER: (Editor.hover, None),
    lsp.TEXT_DOCUMENT_DEFINITION: (Editor.definition, None),
    lsp.TEXT_DOCUMENT_COMPLETION: (
        Editor.completion,
        lsp.CompletionOptions(trigger_characters=list('("/.')),
    ),
    lsp.TEXT_DOCUMENT_SIGNATURE_HELP: (
        Editor.signature_help,
        lsp.SignatureHelpOptions(trigger_characters=list("( "), retrigger_characters=[":"]),
    ),
    lsp.TEXT_DOCUMENT_FORMATTING: (Editor.formatting, None),
    lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL: (Editor.symbols, None),
    lsp.TEXT_DOCUMENT_CODE_ACTION: (
        Editor.code_actions,
        lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix]),
    ),
}


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("sexplang")
    except PackageNotFoundError:
        return "checkout"
