"""What `--model` was given → who answers to which name; and which names a program has."""

import re

from sexplang.terms.models import Models, worded

_WHOLE = re.compile(r"(scripted|replay|local):|([a-z]+:)?https?://", re.IGNORECASE)
"""How a model begins whose name may hold a `=` itself."""


def pair(word: str) -> tuple[str | None, str]:
    """`NAME=M` as both, and `M` with no name, which is `default=M`."""
    name, equals, model = word.partition("=")
    if not equals or _WHOLE.match(word):
        return None, word
    return None if name == "default" else name, model


def misfit(words: tuple[str, ...]) -> str | None:
    """What is wrong with all that `--model` was given; None if nothing is."""
    seen: dict[str | None, str] = {}
    for word in words:
        name, model = pair(word)
        if name == "":
            return f"`{word}` names nobody before `=`; write NAME={model or 'MODEL'}"
        if not model:
            return f"`{word}` says no model; write {name or 'NAME'}=local or another model"
        if name in seen and name is None:
            return "it is given twice; give it once, and others with a name: NAME=MODEL"
        if name in seen:
            return f"`{name}` is given twice, `{seen[name]}` and `{word}`; give it once"
        seen[name] = word
    return None


def typed(words: tuple[str, ...]) -> Models:
    """Who answers, as words that fit say."""
    pairs = [pair(word) for word in words]
    default = next((model for name, model in pairs if name is None), None)
    return worded(default, {name: model for name, model in pairs if name is not None})
