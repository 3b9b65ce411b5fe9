"""XML text to the verdict of the whole XSD 1.1 on it: the oracle for `templates/xml/structure.py`.

Slow: xmlschema takes a third of a second to import.
"""

from functools import cache
from typing import Any

from sexplang.package.package_data import read_shipped


def first_breach(text: str) -> str | None:
    """The first breach of the schema in a well-formed `text`; None when there is none."""
    breach = next(_schema().iter_errors(text, use_location_hints=False), None)
    return None if breach is None else str(breach.reason)


@cache
def _schema() -> Any:
    import xmlschema

    # Neither the schema nor a document makes it open anything else.
    return xmlschema.XMLSchema11(
        read_shipped("grammar/template.xsd"), allow="none", defuse="always"
    )
