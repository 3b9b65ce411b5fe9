"""The sources that a program of a test finds."""

from sexplang.terms.source import Source
from sexplang.terms.values.value import Fault


def no_files(path: str, importer: str) -> tuple[Source, ...]:
    """A `find` for programs that import nothing."""
    raise Fault("import-not-found", f"there is no file `{path}`")


def xsd(body: str) -> str:
    """A schema of XSD with these declarations."""
    return f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">{body}</xs:schema>'
