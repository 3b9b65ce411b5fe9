"""A seed to a graph of work, and what becomes of it in the machine beside what has to: who begins
when, what each is given, and what ends with whoever ends the whole."""

from random import Random
from typing import Any

from support.running import begun, limits

from sexplang.machine import Done, Failed, Suspended
from sexplang.terms.task import error_record

PROGRAM = """
(define-effect (work node))
(define values
  (fork-graph (lambda (node before) (bind said (work node)) [(member? node %s) [said before]])
              %s
              %s))
(work "afterwards")
values
"""


def graphs(seed: int) -> str | None:
    """Under any schedule a node begins when all that it comes after are done, and not before, with
    their values in its own order; one that ends the whole leaves nobody at work, and nil for those
    that are not done; one that fails ends all."""
    random = Random(seed)
    after = _graph(random)
    nodes = range(len(after))
    ending = [at for at in nodes if random.random() < 0.15]
    failing = {at for at in nodes if random.random() < 0.05}
    text = PROGRAM % (_listed(ending), _listed(list(nodes)), _listed(after))
    outcome = begun(text, limits(1))
    done: dict[int, Any] = {}
    while True:
        ready: set[Any] = {
            at for at in nodes if at not in done and all(each in done for each in after[at])
        }
        if any(at in done for at in ending) or not ready:
            ready = {"afterwards"}
        if not isinstance(outcome, Suspended):
            return _found(text, done, f"has ended: {outcome}")
        open = {request.arguments[0]: request.id for request in outcome.requests}
        if {*open} != ready:
            return _found(text, done, f"{[*open]} are at work instead of {ready}")
        if "afterwards" in open:
            break
        node = random.choice(sorted(ready))
        others = {id for at, id in open.items() if at != node}
        if node in failing:
            outcome = outcome.fail(open[node], error_record("TASK_FAILURE", "busy", "no"))
            fails = isinstance(outcome, Failed) and {*outcome.withdrawn} == others
            return None if fails else _found(text, done, f"{node} failed, and then {outcome}")
        done[node] = (node * 3, tuple([done[each] for each in after[node]]))
        outcome = outcome.resume(open[node], node * 3)
        if node in ending and {*outcome.withdrawn} != others:
            return _found(text, done, f"{outcome.withdrawn} are withdrawn, not {others}")
    wanted = tuple([done.get(at) for at in nodes])
    outcome = outcome.resume(open["afterwards"], None)
    given = outcome.value if isinstance(outcome, Done) else outcome
    return None if given == wanted else _found(text, done, f"gives {given}, not {wanted}")


def _graph(random: Random) -> list[list[int]]:
    """For each node those that it comes after, in any order; in no circle."""
    count = random.randint(1, 7)
    order = random.sample(range(count), count)
    after: list[list[int]] = [[] for _ in range(count)]
    for place, node in enumerate(order):
        after[node] = random.sample(order[:place], random.randint(0, min(place, 3)))
    return after


def _listed(items: list[Any]) -> str:
    return (
        f"[{' '.join([_listed(each) if isinstance(each, list) else str(each) for each in items])}]"
    )


def _found(text: str, done: dict[int, Any], words: str) -> str:
    return f"after {list(done)}: {words}\n{text}"
