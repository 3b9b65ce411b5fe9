"""A seed to a program over lists and texts, and whether it is one program in all their shapes.

A long list or text has several shapes, and from which length on is a number (`sequences`, `rope`).
With that at 0 everything is long, with a chunk of two items everything has many chunks; with a
number that nothing reaches, lists are tuples and texts strs.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from random import Random
from typing import Any

from support.running import answer, built, delivered

from sexplang.machine import Failed, Limits, Suspended, frozen_runs, start
from sexplang.machine.code import lists as steps
from sexplang.machine.frozen_runs import freeze, thaw
from sexplang.primitives import lists, strings
from sexplang.terms.program import Program
from sexplang.terms.values import rope, sequences
from sexplang.terms.values.boundary import LARGEST, plain

LISTS = """
(range ~)
[@ @ @]
(if (null? $) $ (rest $))
(cons @ $)
(append $ [@])
(append $ $)
(append [@ @] $ [@])
(append $ () $)
(drop $ ~)
(take $ ~)
(reverse $)
(map (lambda (x) [x]) $)
(distinct $)
(flatten [$ [$]])
(zip $ $)
(sort (filter integer? $) <)
(string-split & "")
(values {a: $ b: &})
(loop ((i 0) (q $)) (if (= i ~) q (recur (+ i 1) (append (if (null? q) q (rest q)) [i @]))))
(loop ((i 0) (q $)) (if (= i ~) q (recur (+ i 1) (cons i (cons @ q)))))
(loop ((q $) (r $)) (if (null? q) r (recur (rest q) (append r [(first q)]))))
(fold (lambda (acc x) (cons x acc)) $ $)
(match $ ([p q . more] more) (_ $))
(handle (append $ [(random 6)]) ((random n) k [(k @) (k 2) (k $)]))
(handle (cons (random 6) $) ((random n) k (append (k 1) (k @))))
(par $ (append $ [@]) $)
(json-parse (json-string (filter integer? $)))
(group-by str $)
(try (error & $) (catch (e) e.details.values))
(sort-by str $)
(apply append [$ $])
(quasiquote [(unquote-splicing $) 1 (unquote-splicing (if (null? $) $ (rest $)))])
(loop ((i 0) (q $)) (if (= i ~) q (recur (+ i 1) (match q ([a . r] (append r [a @])) (_ [@])))))
""".strip().splitlines()

ITEMS = """
1
2.5
nil
(length $)
(string-length &)
(if (null? $) 0 (first $))
&
$
(if (null? $) 0 (last $))
(nth (append $ [1]) (length $))
(equal? $ $)
(equal? & &)
(member? @ $)
(index-of $ @)
(any? list? $)
(all? string? $)
(empty? $)
{a: $}
(assoc @ [$ [@ @]])
(get $ ~)
(put {} & $)
(list? $)
(string? &)
'odd
(try (nth $ ~) (catch (e) e.message))
(try (+ 1 &) (catch (e) [e.message e.hint]))
(try (first @) (catch (e) e.message))
(try (append $ @) (catch (e) e.message))
(begin (ask-user & $) @)
(begin (print $ &) 1)
(string=? & &)
(string-contains? & &)
""".strip().splitlines()

TEXTS = """
"tea"
""
(string-append & &)
(str @ & $)
(string-append & "é")
(str & &)
(string-upcase &)
(string-join (map str $) ",")
(substring & (quotient (string-length &) 2))
(loop ((i 0) (s &)) (if (= i ~) s (recur (+ i 1) (string-append s "ab"))))
(loop ((i 0) (s &)) (if (= i ~) s (recur (+ i 1) (str "cd" s i))))
(json-string $)
(format "~a ~s" & $)
(string-replace & "a" "bb")
(string-trim &)
""".strip().splitlines()

WRONG = """
(first &)
(rest 5)
(get & {a: 1})
(put & 'a 1)
(take 2 $)
(string-append $ &)
(nth $ 1000)
(raise {reason: 'r x: $})
(+ & 1)
""".strip().splitlines()

HOLES = {"$": LISTS, "@": ITEMS, "&": TEXTS}


def listed(random: Random) -> str:
    """A program of definitions, each of lists and texts before it."""
    names: dict[str, list[str]] = {"$": [], "&": []}
    lines = []
    for at in range(random.randrange(2, 9)):
        kind = random.choice("$$$&")
        lines.append(f"(define v{at} {_filled(random, random.choice(HOLES[kind]), names, 3)})")
        names[kind].append(f"v{at}")
    if random.random() < 0.2:
        lines.append(_filled(random, random.choice(WRONG), names, 2))
    return "\n".join([*lines, f"[{' '.join(names['$'] + names['&'])}]"])


def _filled(random: Random, row: str, names: dict[str, list[str]], depth: int) -> str:
    made = []
    parts = row.replace("~a", "\0").replace("~s", "\1")
    for char in parts:
        if char == "~":
            made.append(str(random.choice((0, 1, 2, 3, 5, 9, 40))))
        elif char not in HOLES:
            made.append(char)
        elif names.get(char) and (depth == 0 or random.random() < 0.5):
            made.append(random.choice(names[char]))
        elif depth == 0:
            made.append({"$": "[1 2]", "@": "7", "&": '"x"'}[char])
        else:
            made.append(_filled(random, random.choice(HOLES[char]), names, depth - 1))
    return "".join(made).replace("\0", "~a").replace("\1", "~s")


# -- In every shape ------------------------------------------------------------------------------

ALL = ((100, 1_000, 32), (LARGEST, LARGEST, 32), (0, 0, 2), (1, 3, 2), (2, 0, 3), (7, 20, 2))
"""The numbers of items and of code points that are not long yet, and the items of a chunk."""


def one_program(seed: int) -> str | None:
    """Value, requests, errors and frozen runs do not depend on the shapes of lists and texts; a
    frozen run that is thawed freezes to the same bytes."""
    text = listed(Random(seed))
    program = built(text)
    ordinary = None
    for numbers in ALL:
        with shaped(*numbers):
            found = _seen(program)
        if isinstance(found, str):
            return f"{text}\n{numbers}: {found}"
        if ordinary is None:
            ordinary = found
        if found != ordinary:
            return f"{text}\n{ALL[0]}: {ordinary}\n{numbers}: {found}"
    return None


@contextmanager
def shaped(items: int, points: int, chunk: int) -> Iterator[None]:
    """Lists of more items, and texts of more code points, are long ones."""
    put = [
        *[(module, "PLAIN", items) for module in (sequences, lists, steps)],
        *[(module, "PLAIN", points) for module in (rope, strings, frozen_runs)],
        *[(sequences, "CHUNK", chunk), (lists, "CHUNK", chunk), (steps, "CHUNK", chunk)],
        (sequences, "_BLOCK", chunk * chunk),
    ]
    before = [(module, name, getattr(module, name)) for module, name, _ in put]
    try:
        for module, name, number in put:
            setattr(module, name, number)
        yield
    finally:
        for module, name, number in before:
            setattr(module, name, number)


def _seen(program: Program) -> Any:
    """What a run shows: its requests, what it would go on from, and how it ends."""
    outcome: Any = start(program, limits=Limits(steps=300_000))
    told: list[Any] = []
    while isinstance(outcome, Suspended):
        frozen = freeze(outcome)
        if freeze(thaw(program, frozen)) != frozen:
            return f"after {len(told)} answers it freezes to something else once it is thawed"
        request = outcome.requests[0]
        told.append((request.operation, request.arguments, expanded(frozen["nodes"])))
        reply = answer(request.operation, ())
        outcome = delivered(outcome, request.id, reply)
    if isinstance(outcome, Failed):
        if outcome.reason.startswith("limit-"):
            return [outcome.reason]
        return [told, repr(outcome.error)]
    return [told, repr(outcome.value), type(plain(outcome.value)).__name__]


def expanded(nodes: list[Any]) -> str:
    """The digest of a frozen run with the same node for the same list and text."""
    made: dict[int, str] = {}
    work = [0]
    while work:
        at = work[-1]
        waiting = [] if at in made else [n for n in _references(nodes[at]) if n not in made]
        if waiting:
            work += waiting
            continue
        work.pop()
        if at not in made:
            word, *parts = nodes[at]
            if word in ("text", "rope"):
                made[at] = _digest(["text", _text(nodes, [at])])
            else:
                is_list = word in ("tuple", "view", "long")
                parts = _items(nodes, [at]) if is_list else parts
                held = [made[p[0]] if type(p) is list else _scalar(p) for p in parts]
                made[at] = _digest(["list" if is_list else word, *held])
    return made[0]


def _scalar(part: Any) -> Any:
    return _digest(["text", part]) if type(part) is str else part


def _digest(parts: list[Any]) -> str:
    return sha256(repr(parts).encode()).hexdigest()


def _references(node: list[Any]) -> list[int]:
    return [part[0] for part in node[1:] if type(part) is list]


def _items(nodes: list[Any], reference: Any) -> list[Any]:
    word, *parts = nodes[reference[0]]
    if word == "tuple":
        return parts
    if word == "view":
        return _items(nodes, parts[0])[parts[1] :]
    head, middle, tail = parts
    fronts, before, body, first, after, backs, _ = nodes[middle[0]][1:]
    found = _items(nodes, head)
    for chunks in (reversed(_items(nodes, before)), reversed(_items(nodes, fronts))):
        found = found + [item for chunk in chunks for item in _items(nodes, chunk)]
    found = found + _items(nodes, body)[first:]
    for chunks in (_items(nodes, backs), _items(nodes, after)):
        found = found + [item for chunk in chunks for item in _items(nodes, chunk)]
    return found + _items(nodes, tail)


def _text(nodes: list[Any], part: Any) -> str:
    if type(part) is str:
        return part
    word, first, *_ = nodes[part[0]]
    if word == "text":
        return str(first)
    if word == "tuple":
        return "".join([_text(nodes, each) for each in nodes[part[0]][1:]])
    return _text(nodes, first)
