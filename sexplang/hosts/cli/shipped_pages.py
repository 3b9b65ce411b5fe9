"""A code to the page that explains it."""

from sexplang.package.package_data import names, read_shipped
from sexplang.terms.texts.nearest import nearest


def codes() -> list[str]:
    """Every code that has a page, sorted."""
    return [name.removesuffix(".md") for name in names("errors") if name.endswith(".md")]


def has_page(code: str) -> bool:
    return code in codes()


def page(code: str) -> str | None:
    """The page of a code, or None."""
    return read_shipped(f"errors/{code}.md") if has_page(code) else None


def nearest_code(code: str) -> str | None:
    """The known code that a mistyped one most resembles."""
    return nearest(code.lower().replace("_", "-"), codes(), 0.5)


def guide() -> str:
    """The guide, as Markdown; its examples are run by the tests."""
    return read_shipped("stdlib/guide.md")
