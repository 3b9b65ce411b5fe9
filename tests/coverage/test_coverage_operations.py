"""The page on security and the table of operations say the same."""

from pathlib import Path

from sexplang.primitives import OPERATIONS
from sexplang.runtime import Settings, performers
from sexplang.terms.host.host_operations import HOST_OPERATIONS, HOST_TOOLS

PAGE = Path("spec/08b-security.md").read_text(encoding="utf-8")


def rows(heading):
    """The cells of the table that begins with a heading."""
    lines = PAGE.split(f"| {heading} |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def words(param):
    return f"`{param.name}`" + (f": {param.use}" if param.use != "content" else "")


def test_the_page_has_each_row():
    """Parameters, effect, repetition and permission of each operation stand on the page."""
    assert rows("operation") == [
        [
            f"`{it.name}`",
            ", ".join(map(words, it.params)),
            it.effect,
            it.repeat,
            it.right or "",
        ]
        for it in HOST_OPERATIONS.values()
    ]
    assert rows("tool") == [[f"`{tool}`", f"`{name}`"] for tool, name in HOST_TOOLS.items()]


def test_every_operation_has_a_row():
    """What the host performs, and what a program may call, is in the table."""
    assert set(performers(Settings(run_id="0"))) <= set(HOST_OPERATIONS)
    assert set(OPERATIONS) | {"timer"} == set(HOST_OPERATIONS)
    assert set(HOST_TOOLS.values()) <= set(HOST_OPERATIONS)


def test_what_acts_is_never_repeated_by_itself():
    """An operation that changes the world is performed again only when a person says so."""
    assert [
        it.name for it in HOST_OPERATIONS.values() if it.effect == "acts" and it.repeat != "ask"
    ] == []
