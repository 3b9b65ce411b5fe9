"""Laws of size: depth is limited by memory, turns by patience; never by Python's stack."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def alone(body: str) -> list[str]:
    """What a fresh Python, with its default recursion limit, prints."""
    program = textwrap.dedent("""
        import resource, sys
        from sexplang.machine import start, Limits
        from sexplang.pipeline.pipeline import build
        from sexplang.terms.source import Source

        def value(text):
            limits = Limits(steps=10**9, frames=2_000_000)
            return start(build(Source("deep", text), None), {}, limits=limits).value

        def peak():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

        assert sys.getrecursionlimit() == 1000
        """) + textwrap.dedent(body)
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)

    assert "" == done.stderr
    return done.stdout.split()


DOWN = "(define (down n) (if (< n 1) 0 (+ 1 (down (- n 1)))))"


def test_a_million_calls_deep():
    """A call that is not a tail call may be a million deep."""
    assert ["1000000"] == alone(f"print(value('{DOWN} (down 1000000)'))")


def test_a_million_calls_deep_through_handlers():
    """Nor do handlers, branches and finally bodies between the calls change that."""
    assert ["20000", "20000"] == alone("""
        print(value("(define (down n) (if (< n 1) 0"
                    " (handle (+ 1 (down (- n 1))) ((a x) k (k x))))) (down 20000)"))
        print(value("(define (down n) (if (< n 1) 0"
                    " (try (+ 1 (down (- n 1))) (finally nil)))) (down 20000)"))
        """)


def test_a_loop_takes_no_memory():
    """A loop of a million turns needs no more memory than one of a thousand."""
    assert _loop(1_000_000) < 8


@pytest.mark.long
def test_a_long_loop_takes_no_memory():
    """Nor does one of ten million, whether `loop` or a tail call turns it."""
    assert _loop(10_000_000) < 8


def _loop(turns: int) -> int:
    """By how many MB the peak grows from a short loop to a long one."""
    before, after = alone(f"""
        text = "(loop ((n 0)) (if (< n %d) (recur (+ n 1)) n))"
        called = "(define (turn n m) (if (< n m) (turn (+ n 1) m) n)) (turn 0 %d)"
        value(text % 1000), value(called % 1000)
        print(peak())
        assert {turns} == value(text % {turns})
        assert {turns} // 10 == value(called % ({turns} // 10))
        print(peak())
        """)
    return int(after) - int(before)
