"""Pages of the names of the language, from the table of `sexplang doc`."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from math import fsum, log

from builder.markdown import PROSE, parts
from builder.pages import SPEC, Page, code, escape, fence, slug, table
from builder.written_pages import CHAPTERS
from sexplang.analysis.slips.deprecated_names import DEPRECATED
from sexplang.hosts.reference import name_entries
from sexplang.hosts.reference.language_names import INNER, list_members, list_modules
from sexplang.hosts.reference.name_entries import LANGUAGE, PRELUDE, Entry
from sexplang.terms.texts.words import roots

NAMES = "reference/names"
_NEAR, _CHAPTERS = 6, 3
_HOMES = {LANGUAGE: "The language", PRELUDE: "The prelude"}


def name_path(name: str) -> str:
    """Return the path of a name's page."""
    return f"{NAMES}/{slug(name)}.md"


def home_path(home: str) -> str:
    """Return the path of the list of a home's names."""
    return f"{NAMES}/in-{slug(home)}.md"


@cache
def entries() -> Mapping[str, Entry]:
    """Return the entries of all names."""
    return name_entries.table()


def name_pages() -> Iterator[Page]:
    """Yield a page for each name, a list for each home of names, and one of all."""
    homes: dict[str, list[Entry]] = {}
    for entry in entries().values():
        homes.setdefault(entry.home, []).append(entry)
        yield _page(entry)
    for home, members in homes.items():
        yield _home_page(home, members)
    yield _index(homes)


def title_of(home: str) -> str:
    """Return what a home of names is called."""
    return _HOMES.get(home, home)


def _page(entry: Entry) -> Page:
    pieces = [f"# {code(entry.name)}\n", _kind(entry), fence(entry.signature, "sexp")]
    if entry.doc:
        pieces.append(f"{_doc(entry)}\n")
    pieces += [*_remarks(entry), *_parameters(entry), *_examples(entry), *_chapters(entry)]
    near = [f"[{code(name)}](/{name_path(name)})" for name in nearest(entry.name)]
    if near:
        pieces.append(f"## See also\n\n{', '.join(near)}\n")
    trail = (
        ("Names", f"{NAMES}/index.md"),
        (title_of(entry.home), home_path(entry.home)),
    )
    kind = "inner name" if entry.name in INNER or entry.name in DEPRECATED else "name"
    return Page(name_path(entry.name), "\n".join(pieces), kind, trail=trail)


def _kind(entry: Entry) -> str:
    article = "An" if entry.kind[0] in "aeiou" else "A"
    if entry.home == LANGUAGE:
        return f"{article} {entry.kind} of the language.\n"
    if entry.home == PRELUDE:
        return f"{article} {entry.kind} that every program has.\n"
    return f"{article} {entry.kind} of {code(entry.home)}: `(import {entry.home})`.\n"


def _doc(entry: Entry) -> str:
    if entry.kind == "module":
        return "\n".join(f"- {code(each)}" for each in entry.doc.splitlines())
    return "\n\n".join(
        " ".join(escape(line) for line in part.splitlines()) for part in entry.doc.split("\n\n")
    )


def _remarks(entry: Entry) -> Iterator[str]:
    if entry.name in DEPRECATED:
        new, since = DEPRECATED[entry.name]
        yield f"The name is old: since {since} it is [{code(new)}](/{name_path(new)}).\n"
    if entry.name in INNER:
        yield "The standard library calls it; programs have no use for it.\n"


def _parameters(entry: Entry) -> Iterator[str]:
    rows = []
    for each in entry.parameters:
        facts = [each.get("type", "")]
        if "default" in each:
            facts.append(f"default {code(each['default'])}")
        elif each.get("optional"):
            facts.append("may be left out")
        if each.get("repeated"):
            facts.append("any number")
        said = escape(each.get("doc", ""))
        rows.append((code(each["name"]), ", ".join(filter(None, facts)), said))
    if any(facts or said for _, facts, said in rows):
        wide = any(said for *_, said in rows)
        head = ("parameter", "takes", "meaning") if wide else ("parameter", "takes")
        yield f"## Parameters\n\n{table(head, [row[: len(head)] for row in rows])}"


def _examples(entry: Entry) -> Iterator[str]:
    if entry.examples:
        text = "\n".join(
            each.text if each.value is None else f"{each.text}\n;=> {each.value}"
            for each in entry.examples
        )
        yield f"## Examples\n\n{fence(text, 'sexp')}"


def _chapters(entry: Entry) -> Iterator[str]:
    found = _mentions().get(entry.name, ())[:_CHAPTERS]
    if found:
        links = [f"[{_chapter_title(file)}](/{CHAPTERS}/{file})" for file in found]
        yield f"## In the chapters\n\n{', '.join(links)}\n"


@cache
def _chapter_title(file: str) -> str:
    title = (SPEC / file).read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
    return f"{file.partition('-')[0].lstrip('0')} {title}"


@cache
def _mentions() -> Mapping[str, tuple[str, ...]]:
    """Return the chapters that say most of a name, by name: its uses in their sentences count more
    than those in their programs, and chapters on commands use all names."""
    weights: dict[str, dict[str, float]] = {}
    for file in sorted(SPEC.glob("[0-9]*.md")):
        factor = 0.1 if file.name.startswith(_TOOLS) else 1.0
        for part, line in parts(file.read_text(encoding="utf-8")):
            weight = factor * (4 if part == PROSE else 1)
            for found in _USE.finditer(line):
                row = weights.setdefault(found[0], {})
                row[file.name] = row.get(file.name, 0) + weight
    return {
        name: tuple(file for file, _ in sorted(row.items(), key=lambda pair: (-pair[1], pair[0])))
        for name, row in weights.items()
    }


_USE = re.compile(r"(?<=[(`])[^\s()\[\]{}`\"]+(?=[\s)`\]])")
_TOOLS = ("09", "14", "16")


@cache
def _words() -> Mapping[str, Mapping[str, float]]:
    """Return the words of each name and of what is said of it, each with its weight."""
    known = {name: (roots(name), roots(entry.doc)) for name, entry in entries().items()}
    counts = Counter(word for name, doc in known.values() for word in name | doc)
    return {
        name: {
            word: log(len(known) / counts[word]) * (2.0 if word in own else 1.0)
            for word in own | doc
        }
        for name, (own, doc) in known.items()
    }


def nearest(name: str) -> list[str]:
    """Return the names that are most like a name, by their words."""
    mine = _words()[name]
    # `fsum` does not depend on the order of a set, which another process changes.
    size = fsum(weight**2 for weight in mine.values()) ** 0.5 or 1.0
    rows = []
    for other, words in _words().items():
        shared = mine.keys() & words.keys()
        if other == name or not shared or other in INNER or other in DEPRECATED:
            continue
        likeness = fsum(mine[word] * words[word] for word in shared) / (
            size * fsum(weight**2 for weight in words.values()) ** 0.5
        )
        if likeness > 0.2:
            rows.append((-likeness, other))
    return [other for _, other in sorted(rows)[:_NEAR]]


def _home_page(home: str, members: list[Entry]) -> Page:
    said = {
        LANGUAGE: "Special forms, and the words inside them.",
        PRELUDE: "Names that every program has, without an import.",
    }.get(home, f"`(import {home})` brings these names.")
    shown = [each for each in members if each.name not in INNER]
    text = f"# {title_of(home)}\n\n{said}\n\n{_list(shown)}"
    inner = [each for each in members if each.name in INNER]
    if inner:
        text += f"\n## Names of the standard library itself\n\n{_list(inner)}"
    return Page(home_path(home), text, "index")


def _list(members: list[Entry]) -> str:
    rows = []
    for each in sorted(members, key=lambda entry: entry.name):
        said = re.split(r"(?<=[.?])\s", " ".join(each.doc.split()), maxsplit=1)[0]
        rows.append((f"[{code(each.name)}](/{name_path(each.name)})", escape(said)))
    return table(("name", "what it does"), rows)


def _index(homes: Mapping[str, list[Entry]]) -> Page:
    pieces = [
        "# Names",
        "Every name of the language, by the module that it is in. `sexplang doc NAME` prints the"
        " same in the terminal, and `sexplang doc WORDS` finds names by what they do.",
    ]
    for home, members in homes.items():
        links = [
            f"[{code(each.name)}](/{name_path(each.name)})"
            for each in sorted(members, key=lambda entry: entry.name)
            if each.name not in INNER
        ]
        title = title_of(home) if home in _HOMES else code(home)
        pieces.append(f"## {title}")
        pieces.append(f"[All with what they do](/{home_path(home)})")
        pieces.append(" · ".join(links))
    for module in list_modules():
        if f"std/{module}" not in homes:
            pieces.append(f"## {code(f'std/{module}')}")
            pieces.append(
                "Its names need no import: "
                + " · ".join(
                    f"[{code(name)}](/{name_path(name)})" for name in sorted(list_members(module))
                )
            )
    return Page(f"{NAMES}/index.md", "\n\n".join(pieces) + "\n", "index")
