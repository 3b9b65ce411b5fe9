"""The generator of the parser table: `grammar/sexplang.lark` in, the text of `_table.py` out.

The import of lark takes as long as the start of a short program, and building the table three times
as long, so the table is generated beforehand. After a change of the grammar, write the result of
`table_source()` to `_table.py`; a test fails until then.
"""

from typing import Any

from sexplang.package.package_data import read_shipped


def grammar(**options: Any) -> Any:
    """Return lark's own parser of the notation, the source of the table and the oracle of its
    tests."""
    from lark import Lark

    return Lark(read_shipped("grammar/sexplang.lark"), parser="lalr", **options)


def table_source() -> str:
    """Return the text of `_table.py`."""
    parser = grammar()
    states = parser.parser.parser._parse_table.states
    order = _list_reachable(states, parser.parser.parser._parse_table.start_states["start"])
    numbers = {state: number for number, state in enumerate(order)}
    rows = [_row(number, states[state], numbers) for state, number in numbers.items()]
    return _PAGE.format(
        tokens="\n".join(_tokens(parser.terminals)), states="\n".join(filter(None, rows))
    )


_PAGE = '''\
"""Made by lark from `grammar/sexplang.lark`; see `table_generator.py`. Not to be edited."""

# ruff: noqa: E501

# The tokens and their patterns, in the order in which they are tried.
TOKENS = r\'\'\'
{tokens}
\'\'\'

# A state, then either its way on, symbol by symbol, or what it reduces: the symbol that comes of
# it, how many values it takes, and the method of `Forms` that makes the new one.
STATES = """
{states}
"""
'''


def _list_reachable(states: Any, start: Any) -> list[Any]:
    """Return the states in the order of their discovery from the start. Lark's own order is
    arbitrary."""
    order = [start]
    for state in order:
        for _, (action, target) in sorted(states[state].items()):
            if action.name == "Shift" and target not in order:
                order.append(target)
    return order


def _row(number: int, actions: Any, numbers: dict[Any, int]) -> str:
    ways = {s: numbers[t] for s, (action, t) in actions.items() if action.name == "Shift"}
    rules = {rule for action, rule in actions.values() if action.name != "Shift"}
    # Rules that differ in their last item only are the same reduction. The rule of the whole text
    # is left out: it is the end.
    looks = {(r.origin.name, len(r.expansion), r.alias or r.origin.name) for r in rules}
    looks = {look for look in looks if look[0] != "start"}
    # Only the end needs lookahead (the grammar is LR(0)); the parser relies on that.
    assert len(looks) + any(symbol.isupper() for symbol in ways) <= 1
    parts = [f"{s}={t}" for s, t in sorted(ways.items()) if s != "start"]
    parts += [f"-> {symbol} {size} {method}" for symbol, size, method in looks]
    return f"{number}: {' '.join(parts)}" if parts else ""


def _tokens(terminals: Any) -> list[str]:
    ordered = sorted(terminals, key=lambda terminal: (-terminal.priority, terminal.name))
    return [
        f"{terminal.name} {terminal.pattern.raw[1:-1]}"
        if terminal.pattern.type == "re"
        else f"{terminal.name} {terminal.pattern.to_regexp()}"
        for terminal in ordered
    ]
