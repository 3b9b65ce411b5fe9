"""A code to the page that explains it."""

from difflib import get_close_matches

from sexplang.data import names, shipped


def codes() -> list[str]:
    """Every code that has a page, sorted."""
    return [name.removesuffix(".md") for name in names("errors") if name.endswith(".md")]


def has_page(code: str) -> bool:
    return code in codes()


def page(code: str) -> str | None:
    """The page of a code, or None."""
    return shipped(f"errors/{code}.md") if has_page(code) else None


def nearest(code: str) -> str | None:
    """The known code that a mistyped one most resembles."""
    found = get_close_matches(code.lower().replace("_", "-"), codes(), n=1, cutoff=0.5)
    return found[0] if found else None
