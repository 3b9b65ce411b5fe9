"""Embeddings by the OpenAI protocol: one request, and one whole reply."""

import json
from typing import Any

from sexplang.runtime.models import Endpoint
from sexplang.runtime.models.adapters.http_client import BoundedResponse, server_at
from sexplang.runtime.models.adapters.streamed_reply import bound_attempt
from sexplang.runtime.models.embeddings.embeddings_reply import make_embeddings_reply
from sexplang.runtime.models.payload_check import merge_setting
from sexplang.runtime.models.protocols import Target
from sexplang.runtime.models.server_failures import (
    BadReply,
    refusal_of,
    refuse_bad_reply,
    refuse_redirect,
    refuse_status,
)
from sexplang.terms.model.payload import BETAS

PATH = "/embeddings"


async def embed_at_server(
    payload: dict[str, Any], at: Target, endpoint: Endpoint
) -> dict[str, Any]:
    """Return the reply of a server to a request for embeddings. Raises a Refusal."""
    texts = payload["embed"]
    body: dict[str, Any] = {"model": at.model, "input": texts, "encoding_format": "float"}
    for key, value in (payload.get("provider") or {}).items():
        if key != BETAS:
            body[key] = merge_setting(key, body.get(key), value)
    said = await bound_attempt(_call(at, endpoint, body), at, endpoint)
    try:
        vectors, usage = _read_vectors(said), _read_usage(said.get("usage"))
    except BadReply as why:
        raise refuse_bad_reply(at, str(why)) from None
    name = said["model"] if isinstance(said.get("model"), str) else at.model
    return make_embeddings_reply(vectors, len(texts), usage, name, at.display_name)


async def _call(at: Target, endpoint: Endpoint, body: dict[str, Any]) -> Any:
    """Return the body of the response, as JSON."""
    try:
        server = server_at(at, endpoint.silence)
        async with server.send(body, path=PATH) as response:
            whole = await BoundedResponse(response, at, endpoint.most_bytes).whole()
            if 300 <= response.status_code < 400:
                raise refuse_redirect(response, at)
            if response.status_code >= 400:
                is_name_wrong = response.status_code in (400, 404)
                known = await server.read_names() if is_name_wrong else []
                raise refuse_status(whole, response, at, known)
            return json.loads(whole)
    # The SDK and its connections raise many kinds; `refusal_of` tells them apart.
    except Exception as error:
        raise refusal_of(error, at) from None


def _read_vectors(said: Any) -> list[Any]:
    """Return the vectors in the order of their texts. Raises BadReply."""
    data = said.get("data") if isinstance(said, dict) else None
    if not isinstance(data, list) or not all(isinstance(each, dict) for each in data):
        raise BadReply("it has no `data` with embeddings")
    places = [each.get("index", at) for at, each in enumerate(data)]
    if any(type(at) is not int for at in places) or sorted(places) != [*range(len(data))]:
        raise BadReply("the indexes of its embeddings are not those of the texts")
    found = dict(zip(places, data, strict=True))
    return [found[at].get("embedding") for at in range(len(data))]


def _read_usage(usage: Any) -> dict[str, int] | None:
    """Return the usage, or None if the server did not count. Then a budget keeps its
    reservation. Raises BadReply."""
    count = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    if count is None:
        return None
    if type(count) is not int or count < 0:
        raise BadReply("its usage is not counted in whole numbers")
    return {"input_tokens": count, "output_tokens": 0}
