"""The adapters that the rows of the conformance suite are tried with."""

import json

import pytest
from attrs import define, field
from runtime_support import begun, drive, perform, table
from support.chat_server import chat_server
from support.engine_server import KEY, engine_url
from support.messages_server import MessagesServer

from sexplang.machine import Done
from sexplang.runtime import Endpoint
from sexplang.runtime.journal.json_lines import record_to
from sexplang.runtime.models.adapters import local
from sexplang.runtime.models.adapters.chat_request import build_chat_body
from sexplang.runtime.models.adapters.local_request import build_request
from sexplang.runtime.models.adapters.messages import build_body


@define
class Adapter:
    """One kind of model. `ask` says what a call gives; `heard` is what reached the model, as text,
    for each call. Only a real model is not told what to reply."""

    folder: object
    heard: list[str] = field(factory=list)

    def ask(self, payload, *says, **settings):
        return self.run(lambda: begun(perform("model", payload)), payload, *says, **settings)


class Messages(Adapter):
    """A server that speaks the Messages protocol."""

    prefix = ""

    def serve(self, *says):
        return MessagesServer(*says)

    def body(self, payload):
        return build_body(plain(payload), "m")

    def run(self, program, payload, *says, journal=None, **settings):
        with self.serve(*says) as server:
            settings = {"endpoint": Endpoint(), **settings}
            model = f"{self.prefix}{server.url}#m"
            outcome = drive(program(), table(model=model, **settings), journal=journal)
            assert not getattr(outcome, "withdrawn", ()) or server.left.wait(60)
        self.heard += [json.dumps(body, ensure_ascii=False) for body in server.journal]
        return outcome


class Chat(Messages):
    """A server that speaks the OpenAI protocol."""

    prefix = "openai:"

    def serve(self, *says):
        return chat_server(*says)

    def body(self, payload):
        return build_chat_body(plain(payload), "m", is_provider=False)


class Engine(Adapter):
    """A real model behind a real server of the OpenAI protocol."""

    def ask(self, payload, *says, **settings):
        if isinstance(payload, dict) and "provider" not in payload:
            # What was asked before is nothing to the reply.
            steady = {"temperature": 0, "seed": 1, "provider": {"cache_prompt": False}}
            payload = {**steady, **payload}
        return super().ask(payload, *says, **settings)

    def body(self, payload):
        return build_chat_body(plain(payload), "m", is_provider=False)

    def run(self, program, payload, *says, journal=None, **settings):
        settings = {"endpoint": Endpoint(), **settings}
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("OPENAI_API_KEY", KEY)
            model = f"openai:{engine_url()}#m"
            outcome = drive(program(), table(model=model, **settings), journal=journal)
        if isinstance(outcome, Done):
            self.heard.append(json.dumps(self.body(payload), ensure_ascii=False))
        return outcome


class Local(Adapter):
    """A real model in this process."""

    def body(self, payload):
        return build_request(plain(payload))

    def run(self, program, payload, *says, journal=None, **settings):
        outcome = drive(program(), table(model="local", **settings), journal=journal)
        if isinstance(outcome, Done):
            self.heard.append(json.dumps(self.body(payload), ensure_ascii=False))
        return outcome


class Scripted(Adapter):
    """Replies from a file."""

    def run(self, program, payload, *says, journal=None, **settings):
        (self.folder / "script.json").write_text(json.dumps(says or ["ok"]))
        model = f"scripted:{self.folder}/script.json"
        return drive(program(), table(model=model, **settings), journal=journal)


class Replay(Scripted):
    """The same replies from a recording of them."""

    def run(self, program, payload, *says, journal=None, **settings):
        record = self.folder / f"{len(list(self.folder.iterdir()))}.jsonl"
        first = record_to(record)
        super().run(program, payload, *says, journal=first, **settings)
        first.close()
        return drive(program(), table(model=f"replay:{record}", **settings), journal=journal)


def plain(data):
    """As a performer gets it: lists are Python's."""
    return json.loads(json.dumps(data))


here = pytest.mark.skipif(not local.is_installed(), reason="engine or weights not installed")
SERVERS = [Messages, Chat]
REAL = [pytest.param(Engine, marks=here), pytest.param(Local, marks=here)]


def with_each(adapters):
    return pytest.mark.parametrize("adapter", adapters, indirect=True)


every = with_each([*SERVERS, *REAL, Scripted, Replay])
asking = with_each([*SERVERS, *REAL])
"""Those that take a request to a model."""
asking_once = with_each([*SERVERS, REAL[1]])
"""One of each kind: where the real server adds nothing to that of the test."""
telling = with_each([*SERVERS, Scripted, Replay])
"""Those whose replies a test can choose."""
serving = with_each(SERVERS)
"""Those with a server that may fail."""
