"""The pages shipped with the package: one for each error code, the guide and its short form, and
the grammar of the notation."""

import json

from sexplang.package.package_data import names, read_shipped
from sexplang.terms.texts.nearest import nearest


def codes() -> list[str]:
    """Return every code that has a page, sorted."""
    return [name.removesuffix(".md") for name in names("errors") if name.endswith(".md")]


def has_page(code: str) -> bool:
    return code in codes()


def page(code: str) -> str | None:
    """Return the page of a code, or None."""
    return read_shipped(f"errors/{code}.md") if has_page(code) else None


def nearest_code(code: str) -> str | None:
    """Return the known code nearest to a mistyped one."""
    return nearest(code.lower().replace("_", "-"), codes(), 0.5)


def guide() -> str:
    """Return the guide of the language for a model, as Markdown. Its examples are run by the
    tests."""
    return read_shipped("stdlib/guide.md")


def short_guide() -> str:
    """Return the guide's short form, for a small model."""
    return read_shipped("stdlib/guide-short.md")


def grammar() -> str:
    """Return the GBNF grammar of the notation, for servers that constrain what a model writes."""
    return read_shipped("grammar/sexplang.gbnf")


def guide_as_json() -> str:
    """Return every name of the language as one line of JSON, with what names of other languages
    are here."""
    from sexplang.hosts.reference.habits import list_habits
    from sexplang.hosts.reference.name_entries import list_entries
    from sexplang.terms.run_terms import find_version

    document = {
        "version": find_version(),
        "names": [each.to_json() for each in list_entries()],
        "habits": [each.to_json() for each in list_habits()],
    }
    return json.dumps(document, ensure_ascii=False) + "\n"


_GUIDES = {
    "whole": guide,
    "short": short_guide,
    "json": guide_as_json,
    "grammar": grammar,
}


def write_guide(form: str) -> str:
    """Return the guide in a form: whole, short, as JSON, or as a grammar."""
    return _GUIDES[form]()
