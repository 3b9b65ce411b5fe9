"""The names that a template gives and takes, to what is wrong with them."""

import re
from collections.abc import Iterable, Iterator

from sexplang.templates.placeholders import is_name
from sexplang.templates.template_findings import Finding
from sexplang.terms.template import tool_alias

_TASK_NAME = re.compile(r"[\w:.*+!?<>=/-]+")
_DATA = re.compile(r"[+-]?\.?[0-9].*|true|false|nil|null", re.DOTALL)


def check_name(name: str) -> Iterator[Finding]:
    """What is wrong with the name of a template."""
    if _DATA.fullmatch(name):
        yield Finding(
            "bad-name",
            f"a task cannot be called `{name[:40]}`: in a program that is data or a bad number",
            "begin it with a letter, such as task-3",
            part="name",
        )
    elif not _TASK_NAME.fullmatch(name) or ":" in (name[0], name[-1]):
        yield Finding(
            "bad-name",
            f"a task cannot be called `{name[:40]}`",
            "letters, digits and - _ : . make a name, such as review-code; no colon at its ends",
            part="name",
        )


def check_params(names: Iterable[str]) -> Iterator[Finding]:
    """What is wrong with the names of parameters."""
    seen: set[str] = set()
    for name in names:
        part = f"param:{name}"
        if name in seen:
            yield Finding(
                "duplicate-param",
                f"there are two parameters called {name}",
                "give one of them another name",
                part,
            )
        seen.add(name)
        if not is_name(name) or _DATA.fullmatch(name):
            yield Finding(
                "bad-name",
                f"a parameter cannot be called `{name[:40]}`{': that is data' * is_name(name)}",
                "a letter or _, then letters, digits, - and _",
                part,
            )


def check_tools(names: tuple[str, ...]) -> Iterator[Finding]:
    """What is wrong with the names of tools; `part` is `tool:` and the number of one, from 0."""
    seen: dict[str, str] = {}
    for at, name in enumerate(names):
        part, other = f"tool:{at}", seen.setdefault(tool_alias(name), name)
        if not _TASK_NAME.fullmatch(name) or _DATA.fullmatch(name) or not name.strip(":"):
            title = f"a tool cannot be called `{name[:40]}`"
            hint = "name each tool by itself, in an element of its own: letters, digits and - _ : ."
            yield Finding("bad-name", title, hint, part)
        elif other == name and names.index(name) < at:
            title = f"the tool {name} is allowed twice"
            yield Finding("duplicate-tool", title, "name it once", part)
        elif other != name:
            yield Finding(
                "duplicate-tool",
                f"a model could not tell {name} from {other}: to it both are {tool_alias(name)}",
                "allow one of them, or give one another name where it is registered",
                part,
            )
