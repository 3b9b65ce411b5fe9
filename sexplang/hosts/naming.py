"""What `--model` was given → who answers to which name; and names that a program does not have."""

import re
from typing import TYPE_CHECKING

from sexplang.terms.models import ALL, Models, shown, spelled, worded

if TYPE_CHECKING:
    from sexplang.terms.diagnostic import Diagnostic
    from sexplang.terms.program import Program

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
        name, model = pair(shown(word, {}))
        if name == "":
            return f"`={model}` names nobody before `=`; write NAME={model or 'MODEL'}"
        if not model:
            return f"`{word}` says no model; write {name or 'NAME'}=local or another model"
        if name in seen and name is None:
            return "it is given twice; give it once, and others with a name: NAME=MODEL"
        if name in seen:
            return f"`{name}` is given twice, `{seen[name]}` and `{shown(word, {})}`; give it once"
        seen[name] = shown(word, {})
    return None


def typed(words: tuple[str, ...]) -> Models:
    """Who answers, as words that fit say."""
    pairs = [pair(word) for word in words]
    default = next((model for name, model in pairs if name is None), None)
    return worded(default, {name: model for name, model in pairs if name is not None})


def unused(
    words: tuple[str, ...], program: "Program", inputs: tuple[str, ...]
) -> "tuple[Diagnostic, ...]":
    """A warning for each name that neither the texts of a program nor its inputs hold."""
    names = [name for name, _ in map(pair, words) if name not in (None, ALL)]
    if not names:
        return ()
    from sexplang.analysis.naming import models_of
    from sexplang.terms.diagnostic import Diagnostic

    texts = [each.text for each in program.sources if not each.name.startswith("std/")]
    found = models_of(program)
    known = [f"`{name}`" for name in found]
    leading = [model for _, model in map(pair, words)]  # a role may stand for another
    has = f"the models that it names are {', '.join(known)}" if known else "it names no model"
    return tuple(
        Diagnostic(
            "unused-model",
            f"nothing in this program names the model `{name}`",
            severity="warning",
            hint=f"{has}; --model M answers where it names none",
        )
        for name in names
        if name is not None
        and name not in found
        and not any(_holds(text, name) for text in (*texts, *leading, *inputs))
    )


def _holds(text: str, name: str) -> bool:
    """Whether a name stands in a text as a whole word."""
    for each in {name, spelled(name), name.removeprefix("anthropic:")}:
        if re.search(rf"(?<![\w.-]){re.escape(each)}(?![\w-])", text):
            return True
    return False
