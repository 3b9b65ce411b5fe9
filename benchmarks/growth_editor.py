"""The worst shapes of a program in an editor: what is said of it, its outline, and what fits."""

from collections.abc import Callable

from benchmarks.growth import Routine
from benchmarks.measure import opcodes
from sexplang.hosts.language_server.completion import offers
from sexplang.hosts.language_server.editor import symbols
from sexplang.hosts.language_server.findings import check_document, to_protocol
from sexplang.hosts.language_server.hover import hover
from sexplang.hosts.language_server.library import Library
from sexplang.hosts.language_server.positions import Places
from sexplang.hosts.language_server.signature_help import find_calls
from sexplang.hosts.language_server.tolerant_tree import forms_of
from sexplang.hosts.reference.name_entries import table
from sexplang.hosts.tokens import tokens
from sexplang.terms.source import Source

Make = Callable[[int], str]

NAME = "/program.sexp"
table()  # read once for all, and not counted


def _names(n: int, word: str) -> str:
    return " ".join(f"{word}{at}" for at in range(n))


SHAPES: dict[str, Make] = {
    "one definition again and again": lambda n: "(define x 1)\n" * n,
    "the same in one line": lambda n: '(define x "ä🫖")' * n,
    "brackets that do not fit": lambda n: "(" * n + "]" * n,
    "brackets of three kinds": lambda n: "([{" * n + ")" * n,
    "labels of one call": lambda n: (
        f"(define (f {_names(n, 'a')}) 1)\n(f {' '.join(f'a{at}: 1' for at in range(n))})"
    ),
    "bound one after the other": lambda n: (
        f"(define (f) {' '.join(f'(bind x{at} {at})' for at in range(n))} x0)"
    ),
    "scopes in scopes": lambda n: "(let ((a 1)) " * n + "a" + ")" * n,
    "definitions in definitions": lambda n: "(define (f) " * n + "1" + ")" * n,
    "names that are not there": lambda n: f"(list {_names(n, 'ä')})",
    "imported again and again": lambda n: "(import std/loops)\n" * n,
    "comments": lambda n: "; a comment\n" * n + "(define (f) 1)\n(f)",
    "sequences in sequences": lambda n: "(begin " * n + "1" + ")" * n,
    "quoted": lambda n: "'" * n + "x",
    "operations of one handler": lambda n: (
        f"(handle 1 {' '.join(f'((read-file p{at}) resume p{at})' for at in range(n))})"
    ),
    "calls of nothing known": lambda n: "(x " * n + "1" + ")" * n,
    "calls of values": lambda n: f"(define x [{_names(n, 'a')}])\n" + "(x " * n + "1" + ")" * n,
    "defaults": lambda n: "(define (f (a " * n + "1" + ")) 1)" * n,
}


def _library(text: str) -> Library:
    return Library({NAME: text})


def _shown(text: str) -> int:
    library = _library(text)
    found = check_document(library, NAME).findings
    return opcodes(lambda: to_protocol(found, library, NAME, "utf-16"))


def _checked(text: str) -> None:
    check_document(_library(text), NAME)


def _outlined(text: str) -> int:
    def work() -> None:
        outline = _library(text).outline(NAME)
        symbols(outline, Places(text))
        hover(outline, len(text) // 2, ())

    return opcodes(work)


def _offered(text: str) -> int:
    library = _library(text)
    outline = library.outline(NAME)
    return opcodes(lambda: offers(library, outline, len(text) - 1))


def _signed(text: str) -> int:
    outline = _library(text).outline(NAME)
    places = (len(text) // 2, len(text) - 1)
    return opcodes(lambda: [find_calls(outline, place) for place in places])


def _grown(text: str) -> int:
    found = list(tokens(text))
    return opcodes(lambda: forms_of(Source(NAME, text), found))


ROUTINES = (
    *(Routine(f"editor, findings: {name}", make, _shown, 250) for name, make in SHAPES.items()),
    *(Routine(f"editor, outline: {name}", make, _outlined, 250) for name, make in SHAPES.items()),
    *(Routine(f"editor, offers: {name}", make, _offered, 250) for name, make in SHAPES.items()),
    *(Routine(f"editor, signature: {name}", make, _signed, 250) for name, make in SHAPES.items()),
    *(
        Routine(f"editor, brackets: {name}", SHAPES[name], _grown, 1_000)
        for name in ("brackets that do not fit", "brackets of three kinds", "quoted")
    ),
    *(Routine(f"editor, check: {name}", make, _checked, 1_000) for name, make in SHAPES.items()),
)
