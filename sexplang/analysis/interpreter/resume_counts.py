"""The number of times that a clause may resume or abandon its continuation, or None for any number.
An `abandon` leaves the scopes once more."""

from typing import Any

from sexplang.analysis.interpreter.interpreter import children
from sexplang.terms.core import Call, Clause, Const, Forward, Handle, If, Local, Loop, Par, Repeat

_KIND = {"never": 0, "tail": 1}


def count_resumes(clause: Clause, slot: int) -> int | None:
    """Return how often one activation of the clause resumes; `slot` is the continuation's slot."""
    known = _KIND.get(clause.kind)
    if known is not None or clause.kind == "kept":
        return known
    return _ResumeCounter(slot).count(clause.body)


MANY = 1_000


class _ResumeCounter:
    """A count from the leaves up, on an explicit stack."""

    def __init__(self, slot: int) -> None:
        self.slot = slot

    def count(self, body: Any) -> int | None:
        done: dict[int, int] = {}
        work: list[tuple[Any, int, bool]] = [(body, 0, False)]
        while work:
            node, depth, is_ready = work.pop()
            inside = children(node)
            deeper = depth + 1 if type(node) is Loop else depth
            if not is_ready:
                work.append((node, depth, True))
                for one in inside:
                    own = deeper if type(node) is Loop and one is node.body else depth
                    work.append((one, own, False))
                continue
            done[id(node)] = min(MANY, self._of(node, depth, [done[id(one)] for one in inside]))
        found = done[id(body)]
        return None if found >= MANY else found

    def _of(self, node: Any, depth: int, inside: list[int]) -> int:
        total = sum(inside)
        if type(node) is If:
            return inside[0] + max(inside[1:])
        if type(node) is Repeat:
            count = node.count.value if type(node.count) is Const else None
            return inside[0] + inside[1] * (count if type(count) is int else MANY)
        if type(node) is Loop or type(node) is Par:
            return total * MANY
        if type(node) is Handle:
            return inside[0] + sum(inside[1:]) * MANY
        if type(node) is Forward or (
            type(node) is Call
            and any(self._is_resume(one, depth) for one in (node.callee, *node.arguments))
        ):
            return total + 1
        return total

    def _is_resume(self, callee: Any, depth: int) -> bool:
        return type(callee) is Local and (callee.depth, callee.index) == (depth, self.slot)
