"""The language server as an editor meets it: a process of its own, spoken to by a real client."""

import asyncio
import os
import sys

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient
from support.markdown import ROOT

COMMAND = (sys.executable, "-m", "sexplang", "lsp")

LONGEST = 60
"""Seconds to wait for what the server sends by itself."""


class Editor:
    """A client with a server behind it. Texts are typed with `|` where the cursor is."""

    def __init__(self, folder, command=COMMAND, encodings=None, environment=None):
        self.folder = folder
        self.loop = asyncio.new_event_loop()
        self.client = LanguageClient("tests", "1")
        self.found = {}
        self.shown = []
        self.version = 0
        self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(
            lambda params: self._published(params)
        )
        self.client.feature(lsp.WINDOW_SHOW_MESSAGE)(lambda params: self.shown.append(params))
        given = os.environ | {"PYTHONPATH": str(ROOT)} | (environment or {})
        self.do(self.client.start_io(*command, env=given))
        self.registered = []
        self.client.feature(lsp.CLIENT_REGISTER_CAPABILITY)(
            lambda params: self.registered.extend(params.registrations)
        )
        watching = lsp.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
        workspace = lsp.WorkspaceClientCapabilities(did_change_watched_files=watching)
        general = lsp.GeneralClientCapabilities(position_encodings=encodings)
        self.server = self.do(
            self.client.initialize_async(
                lsp.InitializeParams(
                    capabilities=lsp.ClientCapabilities(workspace, general=general),
                    root_uri=folder.as_uri(),
                )
            )
        )
        self.client.initialized(lsp.InitializedParams())

    def do(self, coroutine):
        return self.loop.run_until_complete(asyncio.wait_for(coroutine, LONGEST))

    def _published(self, params):
        self.found[params.uri] = params

    # -- documents

    def address(self, name):
        return name if ":" in name else (self.folder / name).as_uri()

    def open(self, name, text):
        self.version += 1
        item = lsp.TextDocumentItem(self.address(name), "sexplang", self.version, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    def change(self, name, text):
        self.version += 1
        document = lsp.VersionedTextDocumentIdentifier(self.version, self.address(name))
        whole = lsp.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [whole]))

    def file_changed(self, name):
        event = lsp.FileEvent(self.address(name), lsp.FileChangeType.Changed)
        self.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([event]))

    def close(self, name):
        document = self.document(name)
        self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(document))

    def document(self, name):
        return lsp.TextDocumentIdentifier(self.address(name))

    def findings(self, name):
        """The diagnostics of the newest text of a document, once they have come."""
        address, version = self.address(name), self.version

        async def arrive():
            while address not in self.found or (self.found[address].version or 0) < version:
                await asyncio.sleep(0.01)
            return list(self.found[address].diagnostics)

        return self.do(arrive())

    def until(self, name, holds):
        """The diagnostics of a document, once they are as they should be."""
        address = self.address(name)

        async def arrive():
            while not holds(self.found[address].diagnostics):
                await asyncio.sleep(0.01)
            return self.found[address].diagnostics

        return list(self.do(arrive()))

    def messages(self, name, text):
        self.open(name, text)
        return [(each.code, each.message) for each in self.findings(name)]

    # -- requests

    def ask(self, request, name, position):
        params = {"hover": lsp.HoverParams, "definition": lsp.DefinitionParams}[request]
        call = getattr(self.client, f"text_document_{request}_async")
        return self.do(call(params(self.document(name), position)))

    def hover(self, name, text):
        """The words of the hover at the cursor in a text, and the text that they explain."""
        plain, position = cursor(text)
        self.open(name, plain)
        answer = self.ask("hover", name, position)
        return answer and (answer.contents.value, at(plain, answer.range))

    def definition(self, name, text):
        plain, position = cursor(text)
        self.open(name, plain)
        return self.ask("definition", name, position)

    def completion(self, name, text, position=None):
        plain, here = (text, position) if position else cursor(text)
        self.open(name, plain)
        params = lsp.CompletionParams(self.document(name), here)
        return self.do(self.client.text_document_completion_async(params)).items

    def offers(self, name, text):
        return [item.label for item in self.completion(name, text)]

    def signatures(self, name, text):
        """The signatures shown at the cursor in a text, each with the operand that is typed."""
        plain, here = cursor(text)
        self.open(name, plain)
        params = lsp.SignatureHelpParams(self.document(name), here)
        help = self.do(self.client.text_document_signature_help_async(params))
        return (
            [(each.label, part_of(each, each.active_parameter)) for each in help.signatures]
            if help
            else []
        )

    def symbols(self, name):
        params = lsp.DocumentSymbolParams(self.document(name))
        return self.do(self.client.text_document_document_symbol_async(params))

    def formatting(self, name):
        options = lsp.FormattingOptions(tab_size=2, insert_spaces=True)
        params = lsp.DocumentFormattingParams(self.document(name), options)
        return self.do(self.client.text_document_formatting_async(params))

    def quick_fixes(self, name, where):
        """The titles of the quick fixes at a range of the newest text, and their edits."""
        context = lsp.CodeActionContext([])
        params = lsp.CodeActionParams(self.document(name), where, context)
        actions = self.do(self.client.text_document_code_action_async(params))
        return [(each.title, each.edit.changes[self.address(name)]) for each in actions]

    def leave(self):
        """Ends the server as the protocol has it; its exit status."""
        self.do(self.client.shutdown_async(None))
        self.client.exit(None)
        return self._ended()

    def vanish(self):
        """Ends the client alone; the server's exit status."""
        self.client._server.stdin.close()
        return self._ended()

    def _ended(self):
        status = self.do(self.client._server.wait())
        self.do(self.client.stop())
        self.loop.close()
        return status


def part_of(signature, active):
    """The text of a parameter of a signature; None where it has no such parameter."""
    if active >= len(signature.parameters):
        return None
    start, end = signature.parameters[active].label
    return signature.label.encode("utf-16-le")[start * 2 : end * 2].decode("utf-16-le")


def cursor(text):
    """A text without its `|`, and where that stood, in UTF-16."""
    before, _, after = text.partition("|")
    lines = before.split("\n")
    column = len(lines[-1].encode("utf-16-le")) // 2
    return before + after, lsp.Position(len(lines) - 1, column)


def at(text, place):
    """The part of a text in a range of UTF-16 columns; on one line."""
    line = text.split("\n")[place.start.line].encode("utf-16-le")
    return line[place.start.character * 2 : place.end.character * 2].decode("utf-16-le")
