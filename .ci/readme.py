"""The README as the description of the package: relative links would lead nowhere there."""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface


class ReadmeHook(MetadataHookInterface):
    """Sets `readme`, which pyproject.toml declares to be dynamic."""

    def update(self, metadata: dict) -> None:
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": remove_links(text)}


def remove_links(text: str) -> str:
    """Return a text of Markdown without relative images, and with words for relative links."""
    text = re.sub(r"^!\[[^\]]*\]\((?!https?:)[^)]*\)\n+", "", text, flags=re.MULTILINE)
    return re.sub(r"(?<!\!)\[([^\]]+)\]\((?!https?:)[^)]*\)", r"\1", text)
