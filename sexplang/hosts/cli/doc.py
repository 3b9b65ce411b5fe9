"""`sexplang doc`: a name of the language, or the names that fit words."""

import json
import re
from typing import Any

from sexplang.hosts.cli.guard import DONE, FAILED, say
from sexplang.hosts.cli.shipped_pages import has_page
from sexplang.hosts.reference.habits import Habit, describe_habit, find_habit, headline_of
from sexplang.hosts.reference.name_entries import Entry, describe, list_entries, summarize, table
from sexplang.hosts.reference.search import search
from sexplang.hosts.reference.task_clauses import clauses
from sexplang.hosts.terminal.show import draw_hidden
from sexplang.terms.classes.node import evolve, frozen
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.texts.nearest import find_misspelled


@frozen
class Answer:
    """What was found: one name, which a clause may have too, the names of a module, of a Python
    file or those that fit, a habit, an error code, or nothing.

    `said` is what a person reads before the entries; of nothing, what to type instead.
    """

    found: str
    entries: tuple[Entry, ...] = ()
    said: str = ""
    habit: Habit | None = None

    def to_json(self, query: str) -> dict[str, Any]:
        row: dict[str, Any] = {"query": query, "found": self.found}
        if self.said:
            row["message"] = self.said
        if self.habit is not None:
            row["habit"] = self.habit.to_json()
        return row | {"entries": [each.to_json() for each in self.entries]}


def doc(words: tuple[str, ...], *, as_json: bool) -> int:
    """Write what is known of a name, or the names that fit words; return the exit status."""
    query = " ".join(words)
    if query.endswith(".py"):
        return _describe_file(query, as_json)
    answer = look_up(query)
    if as_json:
        print(json.dumps(answer.to_json(query), ensure_ascii=False))
    elif answer.found == "nothing":
        say(answer.said)
    else:
        print(show(answer))
    return FAILED if answer.found == "nothing" else DONE


def _describe_file(path: str, as_json: bool) -> int:
    """Write what a Python file gives to programs; return the exit status. Nothing of it is run."""
    from sexplang.hosts.cli.output import say_all
    from sexplang.hosts.reference.name_entries import find_entry
    from sexplang.hosts.reference.python_names import make_meaning
    from sexplang.hosts.settings.path_arguments import source_at, status_of
    from sexplang.pipeline.python_imports import read_python

    try:
        file = read_python(source_at(path))
    except Diagnostics as found:
        return say_all(found.diagnostics, status_of(found.diagnostics))
    entries = tuple([find_entry(make_meaning(each)) for each in file.functions])
    if as_json:
        print(json.dumps(Answer("file", entries).to_json(path), ensure_ascii=False))
    else:
        print(draw_hidden("\n\n".join(map(describe, entries)), keep="\n"))
    return DONE


def look_up(query: str) -> Answer:
    """Return what is known of a name, or of words."""
    name = query.strip()
    known = table()
    named = tuple([each[name] for each in (known, clauses()) if name in each])
    if named:
        return Answer("name", named)
    members = tuple([each for each in known.values() if each.home == name])
    if members:
        return Answer("module", members, f"(import {name})")
    if has_page(name):
        return Answer("code", said=f"`{name}` is an error code; type: sexplang explain {name}")
    habit = find_habit(name)
    if habit is not None:
        return Answer("habit", tuple(_list_mentioned(habit)), headline_of(habit), habit)
    like = find_misspelled(name, [*known, *clauses()]) if " " not in name else None
    fitting = () if like else tuple(search(name, [*list_entries(), *clauses().values()]))
    if fitting:
        return Answer("words", fitting)
    typed = f"sexplang doc {like or 'split text, with words of what it does'}"
    return Answer("nothing", said=f"nothing is called `{name}`; type: {typed}")


def _list_mentioned(habit: Habit) -> list[Entry]:
    """Return the entries of the names that a habit's hint mentions, in its order."""
    names = re.findall(r"[^\s()\[\]{}`',;:…]+", " ".join(re.findall(r"`[^`]*`", habit.hint)))
    known = table()
    return [known[each] for each in dict.fromkeys(names) if each in known]


def show(answer: Answer) -> str:
    """Return an answer as text."""
    if answer.found == "name":
        return "\n\n".join(map(describe, answer.entries))
    lines = [answer.said] if answer.said else []
    if answer.habit is not None:
        lines = [describe_habit(answer.habit)]
    is_module = answer.found == "module"
    rows = [summarize(evolve(each, home="") if is_module else each) for each in answer.entries]
    return "\n".join([*lines, *rows])
