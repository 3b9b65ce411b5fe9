"""Laws of answers, on programs with tasks that answer with texts and with values of a type.

A call of a task is the answer of its result; and a program in which its answers are written out
gives the same value without asking.
"""

import json
from random import Random
from typing import Any

from attrs import evolve, field, frozen
from support.running import built

from sexplang.machine import Done, Failed, Limits, Suspended, start
from sexplang.pipeline.pipeline import tasks
from sexplang.terms.task import error_record
from sexplang.terms.values.boundary import value_of
from sexplang.terms.values.equality import equal
from sexplang.terms.values.text import to_source
from sexplang.terms.values.value import Value

ARGUMENTS = ("a", "b", "c", "d")

ANSWERS: dict[str, tuple[Any, ...]] = {
    "say": ("yes", "no", "tea", "Yes.", "12", "", "null"),
    "flag": (True, False),
    "count": (-2, 0, 1, 2, 7),
    "pick": ("bug", "idea"),
    "row": ({"n": 1, "tag": "x"}, {"n": 2, "tag": "y"}, {"n": 2, "tag": "x"}),
    "many": ([], [3, 1, 2], [1, 1]),
    "maybe": (None, "x", 1),
    "parsed": (None, False, 0, "tea", [1], {"n": 1}),
}
"""The tasks, and what each may answer."""

_HEAD = "\n".join(
    f'(defatom {name} (params (x string)) (instructions "{name} {{{{x}}}}") {clause})'
    for name, clause in {
        "say": "",
        "flag": "(returns boolean)",
        "count": "(returns integer)",
        "pick": '(returns (one-of "bug" "idea"))',
        "row": "(returns {n: integer tag: string})",
        "many": "(returns [integer])",
        "maybe": "(returns (or nil string integer))",
        "parsed": "(output_format type: json)",
    }.items()
)

FAILING = "failing"
"""What makes a task fail."""


@frozen
class Call:
    """A call of a task, or with no argument the task as a function."""

    task: str
    argument: str | None = None


Piece = str | Call


@frozen
class World:
    """What each task answers to what, and how its model writes it."""

    seed: int
    fails: bool = True

    def answer(self, task: str, argument: str) -> Any:
        return Random(f"{self.seed} {task} {argument}").choice(ANSWERS[task])

    def reply(self, task: str, argument: str) -> Any:
        """What the model says: the answer bare or in its wrapper, and in other letters."""
        found = self.answer(task, argument)
        if task == "say":
            return found
        how = Random(f"how {self.seed} {task} {argument}").randrange(3)
        if task == "pick" and how == 1:
            return f"{found.upper()}."
        if task == "flag" and how == 1:
            return "Yes" if found else "no"
        if task == "row":
            return json.dumps({**found, "more": 1} if how else found)
        is_wrapped = how == 2 and task != "parsed"
        return json.dumps({"answer": found} if is_wrapped else found)


def program(seed: int, size: int = 4) -> list[Piece]:
    """A program in pieces: text, and calls of tasks."""
    random = Random(seed)
    return _Writer(random).some(random.choice(KINDS), size)


KINDS = ("text", "number", "truth", "list", "table", "any")

_SHAPES: dict[str, tuple[str, ...]] = {
    "text": (
        '"tea"',
        "!say",
        "!pick",
        "(str {any} {text})",
        "(string-append {text} {text})",
        "(string-upcase {text})",
        "(if {truth} {text} {text})",
        '(get {table} "tag")',
        '(format "~a ~s" {any} {text})',
        '(case {text} (("yes" "bug") "1") (("tea") {text}) (else "3"))',
        '(match {any} ({n: n} (str n)) ("bug" "b") ((? string? s) s) ([a . _] "l") (_ "o"))',
        '(attempt (string-upcase (say "failing")) {text})',
    ),
    "number": (
        "3",
        "!count",
        "(+ {number} {number})",
        "(* 2 {number})",
        "(- {number} {number})",
        "(max {number} {number})",
        "(length {list})",
        "(string-length {text})",
        "(if {truth} {number} {number})",
        '(get {table} "n")',
        "(case {number} ((1 2) 10) ((-2 7) {number}) (else 0))",
        "(match {table} ({n: 1} 5) ({n: n} (+ n {number})))",
        "(fold + 0 (filter number? {list}))",
        "(let ((v {number})) (+ v v))",
        '(attempt (+ 1 (count "failing")) {number})',
    ),
    "truth": (
        "true",
        "!flag",
        "(equal? {any} {any})",
        "(equal? {text} {text})",
        "(< {number} {number})",
        "(not {any})",
        "(member? {any} {list})",
        "(and {truth} {truth})",
        "(or {truth} {truth})",
        "(nil? {any})",
        "(string? {any})",
        "(table? {any})",
        "(empty? {list})",
        "(string-contains? {text} {text})",
        "(any? *flag {arguments})",
    ),
    "list": (
        "[{any} {any}]",
        "!many",
        "(map (lambda (v) [v {any}]) {list})",
        "(map *any {arguments})",
        "(filter *flag {arguments})",
        "(group-by *any {arguments})",
        "(distinct (map *any {arguments}))",
        "(distinct {list})",
        "(sort (map *count {arguments}) <)",
        "(sort (filter number? {list}) <)",
        "(sort-by *count {arguments})",
        "(reverse {list})",
        "(append {list} {list})",
        "(par {any} {any})",
        "(cons {any} {list})",
    ),
    "table": (
        "{{n: {number} tag: {text}}}",
        "!row",
        '(put {table} "n" {number})',
        "(if {truth} {table} {table})",
    ),
    "any": (
        "{text}",
        "{number}",
        "{truth}",
        "{list}",
        "{table}",
        "!maybe",
        "!parsed",
        "(if {any} {any} {any})",
        "(or {any} {any})",
        "(begin (bind v {any}) [v v])",
        "(json-string {list})",
    ),
}
"""What is of a kind: `{kind}` stands for what is of one, `!task` for a call, `*task` for the task
as a function."""


@frozen
class _Writer:
    random: Random

    def some(self, kind: str, size: int) -> list[Piece]:
        shapes = _SHAPES[kind]
        if size <= 0:
            shapes = tuple([each for each in shapes if "{" not in each])
        if kind in ("table", "any") and size <= 0:
            shapes = ("!row",) if kind == "table" else ("!maybe", "!parsed", "nil")
        return self.filled(self.random.choice(shapes), size)

    def filled(self, shape: str, size: int) -> list[Piece]:
        """The shape with its holes filled."""
        pieces: list[Piece] = []
        while shape:
            at = min([i for i in map(shape.find, ("!", "*", "{")) if i >= 0], default=-1)
            if at < 0:
                return [*pieces, shape]
            pieces.append(shape[:at])
            mark, rest = shape[at], shape[at + 1 :]
            if mark == "{" and rest.partition("}")[0] in (*KINDS, "arguments"):
                kind, _, shape = rest.partition("}")
                pieces += self.hole(kind, size - 1)
                continue
            if mark == "{" and rest.startswith("{"):
                pieces.append("{")
                end = rest.rindex("}}")
                pieces += self.filled(rest[1:end], size)
                pieces.append("}")
                shape = rest[end + 2 :]
                continue
            name = rest[: _word(rest)]
            if mark == "{" or (mark == "*" and not name):
                pieces.append(mark)
                shape = rest
                continue
            shape = rest[len(name) :]
            task = self.random.choice([*ANSWERS]) if name == "any" else name
            given = self.random.choice(ARGUMENTS) if mark == "!" else None
            pieces.append(Call(task, given))
        return pieces

    def hole(self, kind: str, size: int) -> list[Piece]:
        if kind == "arguments":
            some = [self.random.choice(ARGUMENTS) for _ in range(self.random.randrange(4))]
            return [to_source(tuple(some))]
        return self.some(kind, size)


def _word(text: str) -> int:
    return next((at for at, sign in enumerate(text) if not sign.isalpha()), len(text))


def called(pieces: list[Piece]) -> str:
    """The program as one writes it."""
    return "".join([_called(each) for each in pieces])


def _called(piece: Piece) -> str:
    if isinstance(piece, str):
        return piece
    return piece.task if piece.argument is None else f'({piece.task} "{piece.argument}")'


def answered(pieces: list[Piece]) -> str:
    """The same with each call as the answer of its result."""
    return "".join([_answered(each) for each in pieces])


def _answered(piece: Piece) -> str:
    if isinstance(piece, str):
        return piece.replace('(say "failing")', '(answer (call-task say "failing"))').replace(
            '(count "failing")', '(answer (call-task count "failing"))'
        )
    if piece.argument is None:
        return f"(lambda (x) (answer (call-task {piece.task} x)))"
    return f'(answer (call-task {piece.task} "{piece.argument}"))'


def literal(pieces: list[Piece], world: World) -> str:
    """The same with the answers written out."""
    return "".join([_literal(each, world) for each in pieces])


def _literal(piece: Piece, world: World) -> str:
    if isinstance(piece, str):
        return piece.replace('(say "failing")', '(error "no")').replace(
            '(count "failing")', '(error "no")'
        )
    if piece.argument is not None:
        return _written(world.answer(piece.task, piece.argument))
    table = {each: world.answer(piece.task, each) for each in ARGUMENTS}
    return f"(lambda (x) (get {_written(table)} x))"


def _written(data: Any) -> str:
    return to_source(value_of(data))


@frozen
class Ran:
    """How a run ended, and what it asked for."""

    value: Value = None
    error: Any = None
    asked: list[Any] = field(factory=list)


def ran(text: str, world: World) -> Ran:
    """The program, with the world's replies."""
    outcome = start(built(f"{_HEAD}\n{text}"), {}, tasks(), Limits())
    asked: list[Any] = []
    while isinstance(outcome, Suspended):
        request = outcome.requests[0]
        (payload,) = request.arguments
        asked.append((request.id, request.operation, payload))
        argument = payload["messages"][0]["content"][0]["text"].rpartition(" ")[2]
        if argument == FAILING:
            error = error_record("TASK_FAILURE", "odd", "nobody knows")
            outcome = outcome.fail(request.id, error)
        else:
            outcome = outcome.resume(request.id, world.reply(payload["task"], argument))
    if isinstance(outcome, Failed):
        fields = outcome.error.fields
        return Ran(error=(fields["type"], fields["reason"]), asked=asked)
    assert isinstance(outcome, Done)
    return Ran(outcome.value, asked=asked)


def differ(one: Ran, other: Ran) -> bool:
    same = one.error == other.error and equal(one.value, other.value)
    return not same or to_source(one.value) != to_source(other.value)


def result_answers(seed: int) -> str | None:
    """`(f x)` is `(answer (call-task f x))`: the same value, and the same requests."""
    world, pieces = World(seed), program(seed)
    one, other = ran(called(pieces), world), ran(answered(pieces), world)
    if differ(one, other) or one.asked != other.asked:
        return f"{called(pieces)}\ncalled:   {one}\nanswered: {other}"
    return None


def answers_are_values(seed: int) -> str | None:
    """An answer is a value like any other: as if it were written out."""
    world, pieces = World(seed), program(seed)
    one, other = ran(called(pieces), world), ran(literal(pieces, world), world)
    if differ(one, evolve(other, asked=one.asked)) or other.asked:
        return f"{called(pieces)}\ncalled:  {one.value!r} {one.error}\nliteral: {other}"
    return None
