"""The nine programs of the language benchmark, and the same in plain Python.

Each workload is a program text, a call with a size, how many units of work that size means, and
the Python that a Python programmer would write. The naive walker has no tail calls, so it gets
smaller sizes; all figures are per unit.

`dict_mut` needs assignment, which the language does not have: it puts into a table of 64 keys,
and the naive walker copies its dict in the same way; CPython changes one dict.
"""

from collections.abc import Callable
from functools import reduce
from typing import Any

from attrs import frozen


@frozen
class Workload:
    """A program, how to call it, and the plain Python that gives the same value."""

    name: str
    unit: str
    text: str
    call: str
    python: Callable[[int], Any]
    sizes: tuple[int, int]
    """For machine and Python, and for the naive walker."""
    units: Callable[[int], int] = lambda size: size

    def program(self, size: int) -> str:
        """The program that does `size` worth of work."""
        return f"{self.text}\n{self.call.format(size)}\n"


def fib(n: int) -> int:
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def fib_calls(n: int) -> int:
    return 1 if n < 2 else 1 + fib_calls(n - 1) + fib_calls(n - 2)


def tail(n: int) -> int:
    total = 0
    while n:
        total += n
        n -= 1
    return total


def tak(x: int, y: int, z: int) -> int:
    if not y < x:
        return z
    return tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y))


def tak_calls(x: int, y: int, z: int) -> tuple[int, int]:
    """The value, and how many calls it takes."""
    if not y < x:
        return z, 1
    inner = (tak_calls(x - 1, y, z), tak_calls(y - 1, z, x), tak_calls(z - 1, x, y))
    value, count = tak_calls(*(value for value, _ in inner))
    return value, 1 + count + sum(calls for _, calls in inner)


def ack(m: int, n: int) -> int:
    if m == 0:
        return n + 1
    if n == 0:
        return ack(m - 1, 1)
    return ack(m - 1, ack(m, n - 1))


def ack_calls(n: int) -> int:
    """The calls of (ack 2 n)."""
    return (2 * n + 5) * (n + 1)


def hof(n: int) -> int:
    kept = filter(lambda x: x % 3 > 0, range(n))
    return reduce(lambda a, b: a + b, map(lambda x: x * x, kept), 0)  # noqa: C417


def closures(n: int) -> int:
    def make_adder(k: int) -> Callable[[int], int]:
        return lambda x: x + k

    total = 0
    for i in range(n):
        total = make_adder(i)(total)
    return total


def strings(n: int) -> int:
    return len(",".join(("item-" + str(i)).upper() for i in range(n)))


def dict_mut(n: int) -> int:
    keys = ["k" + str(i) for i in range(64)]
    table = {}
    for i in range(n):
        table[keys[i % 64]] = i
    return sum(table.values())


def workflow(times: int) -> int:
    documents = [f"doc {i}: tea grows in {'dry' if i % 3 == 0 else 'wet'} hills" for i in range(20)]
    total = 0
    for _ in range(times):
        total += len(one_workflow(documents))
    return total


def summarize(text: str) -> dict[str, Any]:
    words = text.split(" ")
    return {"content": words[0] + " " + words[1], "words": len(words), "status": "COMPLETE"}


def entry(document: str) -> dict[str, Any]:
    result = summarize(document)
    return {
        "title": result["content"].upper(),
        "kind": "wet" if "wet" in document else "dry",
        "size": result["words"] if result["status"] == "COMPLETE" else 0,
    }


def one_workflow(documents: list[str]) -> str:
    entries = [entry(document) for document in documents]
    wet = [item for item in entries if item["kind"] == "wet"]
    size = sum(item["size"] for item in entries)
    lines = [item["title"] + " is " + item["kind"] for item in entries]
    return "\n".join(lines) + "\n" + str(len(wet)) + " of " + str(size)


WORKFLOW = """
(define documents
  (map (lambda (i) (str "doc " i ": tea grows in " (if (= (modulo i 3) 0) "dry" "wet") " hills"))
       (range 20)))
(define (summarize text)
  (let ((words (string-split text " ")))
    {content: (string-append (nth words 0) " " (nth words 1))
     words: (length words)
     status: "COMPLETE"}))
(define (entry document)
  (let ((result (summarize document)))
    {title: (string-upcase (get result "content"))
     kind: (if (string-contains? document "wet") "wet" "dry")
     size: (if (string=? (get result "status") "COMPLETE") (get result "words") 0)}))
(define (one-workflow documents)
  (let ((entries (map entry documents)))
    (let ((wet (filter (lambda (item) (string=? (get item "kind") "wet")) entries))
          (size (fold (lambda (sum item) (+ sum (get item "size"))) 0 entries))
          (lines (map (lambda (item) (string-append (get item "title") " is " (get item "kind")))
                      entries)))
      (str (string-join lines "\\n") "\\n" (length wet) " of " size))))
(define (run times total)
  (if (= times 0)
      total
      (run (- times 1) (+ total (string-length (one-workflow documents))))))
"""

WORKLOADS = (
    Workload(
        "fib",
        "call",
        "(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))",
        "(fib {})",
        fib,
        (21, 17),
        fib_calls,
    ),
    Workload(
        "tail",
        "turn",
        "(define (tail n total) (if (= n 0) total (tail (- n 1) (+ total n))))",
        "(tail {} 0)",
        tail,
        (50_000, 1_000),
    ),
    Workload(
        "tak",
        "call",
        "(define (tak x y z)\n"
        "  (if (< y x)\n"
        "      (tak (tak (- x 1) y z) (tak (- y 1) z x) (tak (- z 1) x y))\n"
        "      z))",
        "(tak {} 12 6)",
        lambda size: tak(size, 12, 6),
        (18, 16),
        lambda size: tak_calls(size, 12, 6)[1],
    ),
    Workload(
        "ack",
        "call",
        "(define (ack m n)\n"
        "  (if (= m 0)\n"
        "      (+ n 1)\n"
        "      (if (= n 0) (ack (- m 1) 1) (ack (- m 1) (ack m (- n 1))))))",
        "(ack 2 {})",
        lambda size: ack(2, size),
        (100, 40),
        ack_calls,
    ),
    Workload(
        "hof",
        "element",
        "(define (hof n)\n"
        "  (fold (lambda (a b) (+ a b)) 0\n"
        "        (map (lambda (x) (* x x)) (filter (lambda (x) (> (modulo x 3) 0)) (range n)))))",
        "(hof {})",
        hof,
        (20_000, 2_000),
    ),
    Workload(
        "closures",
        "turn",
        "(define (make-adder k) (lambda (x) (+ x k)))\n"
        "(define (closures i n total)\n"
        "  (if (= i n) total (closures (+ i 1) n ((make-adder i) total))))",
        "(closures 0 {} 0)",
        closures,
        (20_000, 1_000),
    ),
    Workload(
        "strings",
        "string",
        "(define (strings n)\n"
        "  (string-length\n"
        "    (string-join\n"
        '      (map (lambda (i) (string-upcase (string-append "item-" (number->string i))))\n'
        "           (range n))\n"
        '      ",")))',
        "(strings {})",
        strings,
        (20_000, 2_000),
    ),
    Workload(
        "dict_mut",
        "update",
        '(define keys64 (map (lambda (i) (str "k" i)) (range 64)))\n'
        "(define (fill i n table)\n"
        "  (if (= i n) table (fill (+ i 1) n (put table (nth keys64 (modulo i 64)) i))))",
        "(fold + 0 (values (fill 0 {} {{}})))",
        dict_mut,
        (20_000, 1_000),
    ),
    Workload("workflow", "run", WORKFLOW, "(run {} 0)", workflow, (100, 10)),
)
