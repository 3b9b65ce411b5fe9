"""The one document of a command with `--json`."""

import json
from typing import Any


def format_document(document: Any) -> str:
    """Return data as a line of JSON. A path may have bytes that are no UTF-8: they become escapes,
    which JSON has too."""
    return json.dumps(document, ensure_ascii=False).encode(errors="backslashreplace").decode()
