"""Deadlines of programs that compute: how late they pass, and whether a recording ends alike.

Each program would go on for ever, and stands under a deadline of 0.2 to 2 seconds. How late that
passed is told in seconds and in looks at the clock, as many as fit into that time. It is no more
than the processor time since the look before: what else the machine does makes no deadline late.
Each program is recorded and repeated in processes with other hash seeds, which must come to the
same end at the same step. `--primitives` tells for how long nobody can look: the longest calls of
primitives on values as large as the limits admit.

Ends with 1 where a deadline is later than twenty looks, or a repetition ends otherwise.

    python benchmarks/deadlines.py [--programs 300] [--seeds 5] [--shortest 0.2] [--longest 2]
    python benchmarks/deadlines.py --primitives
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import monotonic, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import sexplang
from sexplang.machine import Done, Limits, Slice, Suspended, advance, start
from sexplang.runtime.driver.deadlines import CLOCK_INTERVAL, Deadlines

TWENTY = 20
"""Looks that a deadline may be late."""

_KNOWN = """
(define-effect (yield x))
(define (twice x) (* 2 x))
(define (count n) (if (= n 0) 0 (count (- n 1))))
(define (deep n) (if (= n 0) 0 (+ 1 (deep (- n 1)))))
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
"""

_WORKS = (
    "(count {n})",
    "(deep {n})",
    "(fib 15)",
    "(map (lambda (x) (twice (+ x i))) (range {n}))",
    "(fold (lambda (a x) (+ a (twice x))) 0 (range {n}))",
    "(sort (range {n}) (lambda (a b) (> a b)))",
    "(sort-by (lambda (x) (modulo (* x 7919) 10007)) (range {n}))",
    "(loop ((x 3) (j 0)) (if (= j 99) x (recur (modulo (* x (+ x j)) (expt 10 2000)) (+ j 1))))",
    '(string-length (string-join (map (lambda (x) (str x)) (range {n})) ","))',
    "(json-parse (json-string (range {n})))",
    "(distinct (map (lambda (x) (modulo x 100)) (range {n})))",
    "(equal? (range {n}) (range {n}))",
    "(try (nth [] i) (catch (e) (count {n})))",
    "(handle (loop 99 (yield i)) ((yield x) k (k (twice x))))",
    "(par (count {n}) (count {n}) (map twice (range {n})))",
    "(group-by (lambda (x) (modulo x 10)) (range {n}))",
    "(fold (lambda (t x) (put t (str x) x)) {{}} (range 200))",
    '(string-split (string-join (map (lambda (x) "ab") (range {n})) " ") " ")',
)
"""What is done again and again; `i` counts."""

_AROUND = (
    "{}",
    "(par {} (sleep 60))",
    "(par (sleep 60) (begin (sleep 0.001) {}))",
    "(race {} (begin (sleep 60) 1))",
    "(try {} (catch (e bad-arity) 1) (finally (count 10)))",
    "(handle {} ((yield x) k (k x)))",
)


def text_of(seed: int, shortest: float, longest: float) -> str:
    """A program that computes until its deadline passes, and says why it ended and where."""
    random = Random(seed)
    works = [
        random.choice(_WORKS).format(n=random.choice((10, 100, 1_000, 10_000, 50_000)))
        for _ in range(random.randint(1, 4))
    ]
    body = f"(loop ((i 0)) (begin {' '.join(works)} (recur (+ i 1))))"
    around = random.choice(_AROUND).replace("{}", body)
    seconds = round(random.uniform(shortest, longest), 3)
    return f"""{_KNOWN}
(try (with-timeout {seconds} {around})
  (catch (e) [e.reason e.message e.details]))"""


def recorded(text: str, path: str) -> tuple[Any, float]:
    """The end of a program, and how late its deadline passed."""
    late: list[float] = []
    look, before = Deadlines.find_passed, process_time()

    def passed(self: Deadlines, pause: Any) -> str | None:
        nonlocal before
        scope = look(self, pause)
        worked, before = process_time() - before, process_time()
        if scope is not None:
            late.append(min(monotonic() - self._due[scope], worked))
        return scope

    Deadlines.find_passed = passed  # type: ignore[method-assign]
    try:
        end = sexplang.run(text, record=path)
    finally:
        Deadlines.find_passed = look  # type: ignore[method-assign]
    return end, late[0] if late else 0.0


def repeated(text: str, path: str, seed: int) -> Any:
    """The end of a repetition, in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--repeat", path],
        input=text,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
    )
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr


def lateness(programs: int, seeds: int, shortest: float, longest: float) -> bool:
    """Whether all deadlines kept their promise."""
    late, wrong = [], 0
    with TemporaryDirectory() as folder:
        for seed in range(programs):
            text, path = text_of(seed, shortest, longest), f"{folder}/{seed}.jsonl"
            end, seconds = recorded(text, path)
            end = json.loads(json.dumps(end))
            late.append(seconds)
            ends = [repeated(text, path, each) for each in range(seeds)]
            if end[0] != "seconds" or any(each != end for each in ends):
                wrong += 1
                print(f"program {seed} ends otherwise: {end}, and repeated {ends}\n{text}")
            if seconds > TWENTY * CLOCK_INTERVAL:
                print(f"program {seed} is {seconds / CLOCK_INTERVAL:.1f} looks late\n{text}")
    looks = [each / CLOCK_INTERVAL for each in late]
    print(f"{programs} programs, each repeated under {seeds} hash seeds; {wrong} ended otherwise")
    print(f"a look at the clock about every {CLOCK_INTERVAL * 1000:g} ms")
    for name, each in (("median", median), ("99th percentile", _last), ("worst", max)):
        print(f"  {name:16} {each(late) * 1000:8.1f} ms  {each(looks):6.2f} looks late")
    return not wrong and max(looks) <= TWENTY


def _last(values: list[float]) -> float:
    return quantiles(values, n=100, method="inclusive")[-1] if len(values) > 1 else values[0]


_LARGE = """
(define numbers (range 1000000))
(define half (range 500000))
(define texts (map (lambda (i) (str "k" i)) (range 300000)))
(define words (string-join (map (lambda (i) "ab,c ") (range 1000000)) ""))
(define longest (string-append words words))
(define pairs (map (lambda (i) [i i]) (range 300000)))
(define listed (json-string numbers))
(define n (- (expt 2 13990) 1))
(define m (- (expt 3 8000) 1))
"""

_PRIMITIVES = (
    "(reverse numbers)",
    "(range 1000000)",
    "(append half half)",
    "(sort-by (lambda (x) (modulo (* x 7919) 1000003)) numbers)",
    "(sort-by (lambda (x) x) texts)",
    "(sort numbers >)",
    "(distinct numbers)",
    "(distinct texts)",
    "(group-by (lambda (x) (modulo x 1000)) numbers)",
    "(filter (lambda (x) true) numbers)",
    "(equal? pairs (map (lambda (x) [(nth x 0) (nth x 0)]) pairs))",
    "(member? -1 numbers)",
    "(flatten pairs)",
    "(zip numbers numbers)",
    "(take numbers 900000)",
    '(string-join texts ",")',
    '(string-split longest ",")',
    '(string-replace words "," ";;")',
    '(string-replace longest "a" "b")',
    "(string-trim longest)",
    "(string-upcase longest)",
    '(string-contains? longest "zzz")',
    "(string-append words words)",
    "(str numbers)",
    "(json-string numbers)",
    "(json-parse (json-string numbers))",
    "(json-parse (json-string pairs))",
    '(attempt (json-parse (string-append listed "x")) 0)',
    '(json-parse (string-append "[" listed "," (str (expt 10 300)) "]"))',
    "(json-string words)",
    '(format "~a" numbers)',
    "(str n)",
    "(string->number (str n))",
    "(expt 3 8000)",
    "(* (quotient n m) m)",
    "(modulo n m)",
    "(apply + numbers)",
    "(apply max numbers)",
    "(map list numbers numbers)",
    "(deep 1500000)",
)


def primitives() -> None:
    """The longest that nothing can look at the clock, by processor time, in looks."""
    bounds = Limits(steps=10**9, allocation=10**10)
    found = []
    for call in _PRIMITIVES:
        program = sexplang.build(f"{_KNOWN}{_LARGE}(with-timeout 1000000 (begin {call} 1))")
        outcome, longest = start(program, limits=bounds, slice=Slice(1_000)), 0.0
        while isinstance(outcome, Suspended):
            before = process_time()
            outcome = advance(outcome, Slice(1_000))
            longest = max(longest, process_time() - before)
        if not isinstance(outcome, Done):
            print(f"{call}: {outcome}")
        found.append((longest, call))
    for seconds, call in sorted(found, reverse=True):
        print(f"{seconds / CLOCK_INTERVAL:7.2f} looks  {seconds * 1000:7.1f} ms  {call}")


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--shortest", type=float, default=0.2)
    parser.add_argument("--longest", type=float, default=2.0)
    parser.add_argument("--primitives", action="store_true")
    parser.add_argument("--repeat", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.repeat:
        print(json.dumps(sexplang.run(sys.stdin.read(), model=f"replay:{asked.repeat}")))
        return 0
    if asked.primitives:
        primitives()
        return 0
    return 0 if lateness(asked.programs, asked.seeds, asked.shortest, asked.longest) else 1


if __name__ == "__main__":
    sys.exit(main())
