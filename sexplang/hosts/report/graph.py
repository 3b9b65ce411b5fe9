"""The graph of a run's work, as Mermaid text and as SVG.

A node of a plan follows the nodes that it comes after; any other work follows its parent. A branch
with one work in it is drawn as that work. Of many alike some are shown and the rest are counted.
"""

from sexplang.hosts.report.markup import Html, tag
from sexplang.runtime.journal.recording_reader import Entry
from sexplang.terms.classes.node import define, field

SIBLINGS = 12
"""The most children of one work that are shown."""

DEEPEST, MOST = 12, 300
"""The most levels and nodes of the graph that are shown."""

WIDE, HIGH, GAP, LONGEST = 190, 30, 40, 26
"""Pixels of a node and between columns, and the characters of its name."""


@define(eq=False)
class Node:
    """A node of the graph.

    `before` are the nodes with an edge to it; `column` and `line` are its place.
    """

    name: str
    state: str
    before: list["Node"] = field(factory=list)
    column: int = 0
    line: float = 0.0


def graph(root: Entry) -> list[Node]:
    """Return the nodes in topological order."""
    top = Node(_name([root]), _state(root))
    found = [top]
    work = [(root, top, 0)]
    while work:
        entry, node, depth = work.pop()
        below = _works(entry)
        made: dict[int, tuple[Entry, Node]] = {}
        for each in below[:SIBLINGS] if depth < DEEPEST and len(found) < MOST else []:
            before = [made[one.number][1] for one in each.after if one.number in made]
            chain = _chain(each)
            shown = Node(_name(chain), _state(chain[-1]), before or [node])
            made[each.number] = chain[-1], shown
        found += [each for _, each in made.values()]
        if len(below) > len(made):
            found.append(Node(f"{len(below) - len(made):,} more", "more", [node]))
        work += [(last, each, depth + 1) for last, each in reversed(made.values())]
    return _arrange(found)


def mermaid(nodes: list[Node]) -> str:
    """Return the graph as Mermaid text."""
    names = {id(node): f"n{at}" for at, node in enumerate(nodes)}
    lines = ["flowchart LR"]
    for node in nodes:
        lines.append(f'  {names[id(node)]}["{_quote(node.name)}"]:::{node.state}')
        lines += [f"  {names[id(before)]} --> {names[id(node)]}" for before in node.before]
    return "\n".join([*lines, "  classDef failed stroke:#c00,color:#c00", ""])


def draw(nodes: list[Node]) -> Html:
    """Return the graph as SVG."""
    width = max([node.column for node in nodes]) * (WIDE + GAP) + WIDE + 2
    height = max([node.line for node in nodes]) * (HIGH + 10) + HIGH + 2
    edges = [_edge(before, node) for node in nodes for before in node.before]
    boxes = [_box(node) for node in nodes]
    return tag(
        "svg",
        *edges,
        *boxes,
        class_="graph",
        width=width,
        height=round(height),
        viewBox=f"0 0 {width} {round(height)}",
    )


def _chain(entry: Entry) -> list[Entry]:
    """Return the works of one node, the outermost first.

    Each but the last is a branch with one work in it, or holds only the last one.
    """
    found = [entry]
    while len(below := _works(found[-1])) == 1:
        if found[-1].kind not in ("branch", "race") and _works(below[0]):
            break
        found.append(below[0])
    return found


def _works(entry: Entry) -> list[Entry]:
    return [each for each in entry.below if each.kind != "request"]


def _name(chain: list[Entry]) -> str:
    """Return the name of a node; a branch is left out if there is something in it."""
    said = [each for each in chain if each.kind not in ("branch", "race")] or chain[-1:]
    named = ("task", "subagent", "plan-node")
    return " › ".join(
        each.name if each.kind in named else f"{each.kind} {each.name}" for each in said
    )


def _state(entry: Entry) -> str:
    if entry.error is not None:
        return "failed"
    return "cut" if entry.cut else "open" if entry.ended is None else "done"


def _arrange(nodes: list[Node]) -> list[Node]:
    """Assign columns by the longest path, and lines so that no nodes overlap and each stands at the
    middle of its successors."""
    behind: dict[int, list[Node]] = {}
    for node in nodes:
        node.column = 1 + max([before.column for before in node.before], default=-1)
        if node.before:
            behind.setdefault(id(node.before[0]), []).append(node)
    free = 0.0
    stack = [(nodes[0], False)]
    while stack:
        node, is_done = stack.pop()
        below = behind.get(id(node), [])
        if below and not is_done:
            stack.append((node, True))
            stack += [(each, False) for each in reversed(below)]
        elif below:
            node.line = (below[0].line + below[-1].line) / 2
        else:
            node.line, free = free, free + 1
    return sorted(nodes, key=lambda node: node.column)


def _edge(before: Node, node: Node) -> Html:
    x, y = before.column * (WIDE + GAP) + WIDE + 1, before.line * (HIGH + 10) + HIGH / 2 + 1
    to_x, to_y = node.column * (WIDE + GAP) + 1, node.line * (HIGH + 10) + HIGH / 2 + 1
    bend = (x + to_x) / 2
    return tag("path", d=f"M{x} {y:g} C{bend:g} {y:g} {bend:g} {to_y:g} {to_x} {to_y:g}")


def _box(node: Node) -> Html:
    x, y = node.column * (WIDE + GAP) + 1, node.line * (HIGH + 10) + 1
    short = node.name if len(node.name) <= LONGEST else f"{node.name[: LONGEST - 1]}…"
    box = tag("rect", x=x, y=f"{y:g}", width=WIDE, height=HIGH, rx=5)
    words = tag("text", short, x=x + 8, y=f"{y + HIGH / 2 + 4:g}")
    return tag("g", tag("title", node.name), box, words, class_=node.state)


def _quote(name: str) -> str:
    """Return a name quoted for Mermaid, with some characters as numbers."""
    return "".join(
        char if char.isalnum() or char in " .,:;/_-+=()›" else f"#{ord(char)};" for char in name
    )
