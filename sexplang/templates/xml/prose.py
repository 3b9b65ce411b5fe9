"""The text between two tags to a prompt: as a text block, without the file's indentation."""


def prose(text: str) -> str:
    """`text` without the break after the opening tag, the blank rest before the closing one,
    and the white space that all its lines have in common.

    What stands on the line of the opening tag has no indentation that anybody could see, so it
    takes no part in what is common.
    """
    lines = text.split("\n")
    if len(lines) == 1:
        return text.strip()
    first, *rest = lines
    common = _common([line for line in rest if line.strip()])
    kept = [line[common:] if line.strip() else line[common:].strip() for line in rest]
    if first.strip():
        kept.insert(0, first.lstrip())
    if kept and not kept[-1].strip():
        kept.pop()
    return "\n".join(kept)


def _common(lines: list[str]) -> int:
    """How many characters of white space all `lines` begin with."""
    if not lines:
        return 0
    # What the first and the last in order have in common, all have.
    low, high = min(lines), max(lines)
    indent = low[: len(low) - len(low.lstrip())]
    return next((at for at, char in enumerate(indent) if high[at : at + 1] != char), len(indent))
