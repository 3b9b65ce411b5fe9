"""A payload → how many tokens it is, as the model's own server counts them."""

from typing import Any


def counted(name: str, payload: dict[str, Any]) -> int | None:
    """Input tokens of a request, without asking the model; None where nobody counts exactly:
    another kind of model, no key, no answer within five seconds."""
    if not name.startswith(("anthropic:", "http://", "https://", "claude")):
        return None
    from sexplang.runtime.models.loading import wait
    from sexplang.runtime.models.messages import target, wire
    from sexplang.runtime.refusal import Refusal

    try:
        at = target(name if ":" in name else f"anthropic:{name}")
        wait()
    except Refusal:
        return None
    import anthropic

    body = wire(payload, at.model)
    asked = {key: body[key] for key in ("model", "messages", "system", "tools") if key in body}
    client = anthropic.Anthropic(
        api_key=at.api_key,
        auth_token=at.auth_token,
        base_url=at.base_url,
        timeout=5.0,
        max_retries=0,
    )
    try:
        with client:
            count = client.messages.count_tokens(**asked).input_tokens
    except (anthropic.AnthropicError, ValueError, TypeError):
        return None
    return count if type(count) is int and count >= 0 else None
