"""The `params` attribute of a `<template>` to names, in the order of their positions."""

from collections.abc import Iterator

from sexplang.templates.template_findings import Finding


def names_in(params: str) -> list[str]:
    """The names, which commas or white space stand between."""
    return params.replace(",", " ").split()


def gaps_in(params: str) -> Iterator[Finding]:
    """A comma with no name before or after it: one was forgotten, and the positions are others."""
    if "," in params and not all(map(str.strip, params.split(","))):
        title = "a parameter has no name: nothing stands before or after one of these commas"
        yield Finding("bad-name", title, 'name it, or remove the comma: params="a, b"', "params")
