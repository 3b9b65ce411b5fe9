"""The language on one page, for a model that is to write programs."""

from sexplang.data import shipped


def guide() -> str:
    """The guide, as Markdown; its examples are run by the tests."""
    return shipped("stdlib/guide.md")
