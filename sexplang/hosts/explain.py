"""A code to the page that explains it."""

from sexplang.data import names, shipped
from sexplang.terms.nearest import nearest


def codes() -> list[str]:
    """Every code that has a page, sorted."""
    return [name.removesuffix(".md") for name in names("errors") if name.endswith(".md")]


def has_page(code: str) -> bool:
    return code in codes()


def page(code: str) -> str | None:
    """The page of a code, or None."""
    return shipped(f"errors/{code}.md") if has_page(code) else None


def nearest_code(code: str) -> str | None:
    """The known code that a mistyped one most resembles."""
    return nearest(code.lower().replace("_", "-"), codes(), 0.5)
