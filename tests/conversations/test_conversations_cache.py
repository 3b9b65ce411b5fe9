"""What is marked for a provider's prompt cache, at the wire."""

import pytest
from support.messages_server import MessagesServer

import sexplang
from sexplang.terms.model.payload import LONG

MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
LONG_TEXT = "Be kind. " * (LONG // 9 + 1)


def look_up(order: int) -> str:
    """Looks an order up."""
    return "tea"


def talk(system="Be kind.", words="Tea?", tools="", cache=""):
    """A conversation of four turns."""
    return f"""
    (defatom say (params q) (system "{system}") (instructions "{{{{q}}}}") {tools} {cache})
    (define (go-on r n) (if (= n 0) "done" (go-on (continue r "And then?") (- n 1))))
    (go-on (call-task say "{words}") 3)"""


TOOLS = "(allowed_tools look_up)"


@pytest.mark.parametrize(
    ("program", "openings", "wholes"),
    [
        (talk(), [None] * 4, [None] * 4),
        (talk(system=LONG_TEXT), [MARK] * 4, [None, MARK, MARK, MARK]),
        (talk(words=LONG_TEXT), [None] * 4, [None, MARK, MARK, MARK]),
        (talk(words="Tea. " * 700), [None] * 4, [None, None, None, None]),
        (talk(tools=TOOLS), [MARK] * 4, [MARK] * 4),
        (talk(system=LONG_TEXT, tools=TOOLS), [MARK] * 4, [MARK] * 4),
        (talk(cache="(options cache: true)"), [MARK] * 4, [MARK] * 4),
        (talk(cache='(options cache: "1h")'), [HOUR] * 4, [HOUR] * 4),
        (talk(tools=TOOLS, cache='(options cache: "1h")'), [HOUR] * 4, [HOUR] * 4),
        (
            talk(system=LONG_TEXT, tools=TOOLS, cache="(options cache: false)"),
            [None] * 4,
            [None] * 4,
        ),
    ],
    ids=["short", "system", "words", "near", "tools", "both", "true", "1h", "tools-1h", "false"],
)
def test_a_prefix_is_marked_in_one_way_through_a_conversation(program, openings, wholes):
    """Ten conversations. What a request shares with the one before it is the same bytes."""
    with MessagesServer("Yes.") as server:
        sexplang.run(program, model=f"{server.url}#m", tools=[look_up])

    systems = [body["system"] for body in server.journal]
    marks = [each[0].get("cache_control") if isinstance(each, list) else None for each in systems]
    assert (openings, wholes) == (marks, [body.get("cache_control") for body in server.journal])
    assert all(system == systems[0] for system in systems)
    for before, after in zip(server.journal, server.journal[1:], strict=False):
        assert before["messages"] == after["messages"][: len(before["messages"])]
        assert "cache_control" not in str(after["messages"])
