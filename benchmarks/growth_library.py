"""The worst shapes of patterns, CSV and dates: the texts that programs read with the library."""

from collections.abc import Callable
from contextlib import suppress

from benchmarks.growth import Routine
from sexplang.primitives import PRIMITIVES
from sexplang.terms.values.value import Fault

PATTERNS: dict[str, tuple[str, Callable[[int], str]]] = {
    "two repetitions side by side": ("(x+x+)+y", lambda n: "x" * n),
    "a choice of the same": ("(a|a)*b", lambda n: "a" * n),
    "a choice of parts": ("(a|aa)+$", lambda n: "a" * n + "!"),
    "repetitions in repetitions": ("(a{1,60}){1,16}$", lambda n: "a" * n + "b"),
    "many states": ("a[ab]{300}c", lambda n: "ab" * (n // 2)),
    "anything, often": (".*.*.*=.*", lambda n: "x" * n),
    "optional parts": ("(a?){30}a{30}$", lambda n: "a" * n + "b"),
    "an address": (r"^([a-zA-Z0-9])(([\-.]|[_]+)?([a-zA-Z0-9]+))*(@)$", lambda n: "a" * n + "!"),
    "white space to trim": (r"^\s+|\s+$", lambda n: " " * (n // 2) + "x" + " " * (n // 2) + "x"),
    "groups without a part": ("(a*)*(b*)*c", lambda n: "ab" * (n // 2)),
}

CSV: dict[str, Callable[[int], str]] = {
    "one column": lambda n: "a\n" * n,
    "one line": lambda n: "a," * n,
    "one field": lambda n: '"' + "a" * n + '"',
    "double quotes": lambda n: '"' + '""' * n + '"',
    "an open quote": lambda n: "a\n" * n + '"' + "b\n" * n,
    "empty lines": lambda n: "a\n" + "\n" * n,
}


def _call(name: str, *before: str) -> Callable[[str], None]:
    def work(text: str) -> None:
        with suppress(Fault):
            PRIMITIVES[name].function(*before, text)

    return work


ROUTINES = (
    *(
        Routine(f"{name}, {shape}", make, _call(name, pattern), 200_000)
        for shape, (pattern, make) in PATTERNS.items()
        for name in ("re-find", "re-seq")
    ),
    *(
        Routine(f"{name}, {shape}", make, _call(name), 20_000)
        for shape, make in CSV.items()
        for name in ("csv-parse", "csv-rows")
    ),
    Routine("base64-decode, padding", lambda n: "=" * n, _call("base64-decode"), 200_000),
    Routine("url-decode, percent signs", lambda n: "%41" * n, _call("url-decode"), 20_000),
    Routine("parse-date, digits", lambda n: "2024-05-01T" + "0" * n, _call("parse-date"), 200_000),
    Routine("parse-duration, digits", lambda n: "1" * n, _call("parse-duration"), 200_000),
    Routine("string-lines, line breaks", lambda n: "\r\n" * n, _call("string-lines"), 200_000),
)
