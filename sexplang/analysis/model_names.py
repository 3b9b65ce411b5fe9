"""The names of models in the text of a program."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from sexplang.analysis.own_nodes import own_nodes
from sexplang.terms import core
from sexplang.terms.model.roles import normalize_name
from sexplang.terms.program import Program

_KEY = "model"


def models_of(program: Program) -> tuple[str, ...]:
    """Return each name once: names of tasks first, then of calls, payloads and handlers."""
    found = [task.template.model_name for task in program.tasks]
    for node in own_nodes(program):
        found += _list_names(node)
    return tuple(dict.fromkeys([name for name in found if isinstance(name, str) and name]))


def find_unnamed(
    program: Program, names: Iterable[str], others: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """Yield the names of models that occur neither in a text of the program nor in `others`, each
    with a message that lists the known names."""
    texts = [each.text for each in program.sources if not each.name.startswith("std/")]
    texts += others
    found = models_of(program)
    known = ", ".join([f"`{name}`" for name in found])
    has = f"the models that it names are {known}" if known else "it names no model"
    for name in names:
        if name not in found and not any(_holds(text, name) for text in texts):
            yield f"nothing in this program names the model `{name}`", has


def _holds(text: str, name: str) -> bool:
    """Return whether a name occurs in a text as a whole word."""
    for each in {name, normalize_name(name), name.removeprefix("anthropic:")}:
        if re.search(rf"(?<![\w.-]){re.escape(each)}(?![\w-])", text):
            return True
    return False


def _list_names(node: Any) -> Iterator[Any]:
    if isinstance(node, core.Const) and isinstance(node.value, dict):
        yield from _of_table(tuple(node.value), node.value.get(_KEY))
    elif isinstance(node, core.MakeTable):
        values = dict(zip(node.keys, node.values, strict=True))
        yield from _of_table(node.keys, _text(values.get(_KEY)))
    elif isinstance(node, core.Call) and _KEY in node.labels:
        yield _text(node.arguments[node.labels.index(_KEY) - len(node.labels)])
    elif _is_put(node) and _text(node.arguments[1]) == _KEY:
        yield _text(node.arguments[2])


def _is_put(node: Any) -> bool:
    is_call = isinstance(node, core.CallPrimitive) and node.primitive.name == "put"
    return is_call and len(node.arguments) == 3


def _of_table(keys: tuple[str, ...], value: Any) -> Iterator[Any]:
    """Yield the models of a payload or of its overrides. Any other table may hold any value."""
    if "messages" in keys or "embed" in keys or keys == (_KEY,):
        yield value


def _text(node: Any) -> Any:
    return node.value if isinstance(node, core.Const) else None
