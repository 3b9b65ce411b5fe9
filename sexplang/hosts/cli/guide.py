"""The language on one page, for a model that is to write programs."""

from sexplang.package.package_data import read_shipped


def guide() -> str:
    """The guide, as Markdown; its examples are run by the tests."""
    return read_shipped("stdlib/guide.md")
