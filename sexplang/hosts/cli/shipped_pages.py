"""The pages shipped with the package: one for each error code, and the guide."""

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
