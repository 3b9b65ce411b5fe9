"""The models of a run from `--model`, and warnings of names that the program does not have."""

import re
from typing import TYPE_CHECKING

from sexplang.terms.model.roles import ALL, Models, read_models, without_credentials

if TYPE_CHECKING:
    from sexplang.terms.diagnostic import Diagnostic
    from sexplang.terms.program import Program

_WHOLE = r"(?i:(scripted|replay|local):|([a-z]+:)?https?://)"
"""The beginnings of models whose names may contain `=`."""


def pair(word: str) -> tuple[str | None, str]:
    """Return name and model of `NAME=M`; `M` alone is `default=M` with no name."""
    name, equals, model = word.partition("=")
    if not equals or re.match(_WHOLE, word):
        return None, word
    return None if name == "default" else name, model


def misfit(words: tuple[str, ...]) -> str | None:
    """Return the error in the values of `--model`; None if there is none."""
    seen: dict[str | None, str] = {}
    for word in words:
        name, model = pair(without_credentials(word, {}))
        if name == "":
            return f"`={model}` names nobody before `=`; write NAME={model or 'MODEL'}"
        if not model:
            return f"`{word}` says no model; write {name or 'NAME'}=local or another model"
        if name in seen and name is None:
            return "it is given twice; give it once, and others with a name: NAME=MODEL"
        if name in seen:
            other = without_credentials(word, {})
            return f"`{name}` is given twice, `{seen[name]}` and `{other}`; give it once"
        seen[name] = without_credentials(word, {})
    return None


def parse_models(words: tuple[str, ...]) -> Models:
    """Return the Models of values without error."""
    pairs = [pair(word) for word in words]
    default = next((model for name, model in pairs if name is None), None)
    return read_models(default, {name: model for name, model in pairs if name is not None})


def find_unused(
    words: tuple[str, ...], program: "Program", inputs: tuple[str, ...]
) -> "tuple[Diagnostic, ...]":
    """Return a warning for each name that neither the texts of a program nor its inputs contain."""
    names = [name for name, _ in map(pair, words) if name is not None and name != ALL]
    if not names:
        return ()
    from sexplang.analysis.model_names import find_unnamed
    from sexplang.terms.diagnostic import Diagnostic

    leading = [model for _, model in map(pair, words)]  # a role may stand for another
    return tuple(
        [
            Diagnostic(
                "unused-model",
                message,
                severity="warning",
                hint=f"{has}; --model M answers where it names none",
            )
            for message, has in find_unnamed(program, names, (*leading, *inputs))
        ]
    )
