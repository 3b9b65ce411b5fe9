"""Programs that call tasks in every way there is, and models that make the most of it.

Law material: what `check` says of a program, held against how often a run of it asks a model.
"""

import json
from random import Random
from typing import Any

from attrs import define, field

from sexplang.machine import Limits, Suspended, start
from sexplang.pipeline.pipeline import tasks
from sexplang.terms.effect import Request
from sexplang.terms.program import Program
from sexplang.terms.task import error_record
from sexplang.terms.values.boundary import value_of

TASKS = """
(defatom say (params a) (instructions "say {{a}}"))
(defatom rate (params a) (instructions "rate {{a}}") (output_format type: json schema: object))
(defatom look (params a) (instructions "look {{a}}") (allowed_tools read_file lookup)
  (limits max_turns: 3))
(defatom ponder (params a) (instructions "ponder {{a}}") (limits max_turns: 2))
(define-input docs type: json)
(define-input n type: integer)
(define-input x type: number)
(define-effect (ask a))
(define-effect (ponder-on a))
(define (twice f x) (f (f x)))
(define (each f xs) (map (lambda (x) (str (f x))) xs))
(define (once-more f g) (str (f 1) (g 2)))
(define (compose f g) (lambda (x) (f (g x))))
"""

BOSS = """
(defatom boss (params a) (instructions "lead {{a}}") (allowed_tools spawn_subtask)
  (limits max_turns: 2))
"""

STATE = "(import std/state)\n"

MOST = 400
"""Model calls after which a run is left: enough to pass any bound that was promised."""


@define
class Making:
    """One program in the making. `names` are those that hold a function of one argument."""

    random: Random
    leads: bool = False
    """Whether there is a task that may ask for subtasks."""
    forms: Any = ()
    depth: int = 0
    fresh: int = 0
    names: list[str] = field(factory=list)

    def name(self) -> str:
        self.fresh += 1
        return f"v{self.fresh}"

    def expression(self) -> str:
        """Any expression; the deeper, the simpler."""
        self.depth += 1
        deep = self.depth > self.random.choice((3, 4, 5))
        make = self.random.choice(_LEAVES if deep else self.forms or _FORMS)
        text = make(self)
        self.depth -= 1
        return text

    def part(self) -> str:
        """Often no more than a call: then the bound is close."""
        return _call(self) if self.random.random() < 0.5 else self.expression()

    def pick(self, *texts: str) -> str:
        return self.random.choice(texts)

    def function(self) -> str:
        """Something that takes one argument."""
        known = self.pick("say", "rate", "look", "ponder", "say", *self.names[-3:])
        if self.random.random() < 0.5:
            return known
        name = self.name()
        return self.pick(
            f"(lambda ({name}) (str {name} {self.expression()}))",
            f"(compose {known} say)",
            f"(if (= n 2) {known} rate)",
            f"(first [{known} rate])",
            f"(get {{f: {known}}} 'f)",
        )

    def items(self) -> str:
        return self.pick(
            "docs",
            "docs",
            '["a" "b"]',
            "(take docs 2)",
            "(rest docs)",
            "(append docs [1])",
            "(reverse docs)",
            "(filter (lambda (d) (ask d)) docs)",
            "(range n)",
            "(range x)",
            "(range 0 (+ x 1))",
            "(range 1 4)",
            "(cons 1 docs)",
            "(map str docs)",
            "(zip docs [1 2])",
            '(json-parse "[1]")',
            '(string-split "a,b" ",")',
            '(string-split (str docs) " ")',
            '(if (= n 1) (error "x") docs)',
            "(try (raise 1) (catch (e) docs))",
            "(attempt docs)",
            '(attempt (if (= n 1) (raise "x") ["a" "b"]))',
            "(attempt (raise docs))",
            "(and (ask 1) docs)",
            "(race docs [1])",
            "(get-in {a: {b: docs}} ['a 'b])",
            '(get (merge {a: docs} {b: [1]}) "a")',
        )


def _call(m: Making) -> str:
    return f"({m.function()} {m.pick('1', 'n', 'docs')})"


def _named(m: Making) -> str:
    return m.pick(
        "(call-atomic-task 'rate inputs: {a: 1})",
        '(subtask {name: "say" description: "x" inputs: {a: 1}})',
        '(subtask {description: "say it" inputs: {a: 1}})',
        "(model {messages: []})",
        "(boss n)" if m.leads else "(say n)",
        '(eval-plan "(model {messages: []})" allow: [\'model] budget: {calls: 2})',
    )


def _ask(m: Making) -> str:
    return m.pick("(ask 1)", "(ask n)", "(ponder-on 2)", '(read-file "x")', "(raise 1)")


def _plain(m: Making) -> str:
    return m.pick("1", "n", "docs", '"x"', "nil", "(length docs)")


def _begin(m: Making) -> str:
    return f"(begin {m.expression()} {m.expression()})"


def _if(m: Making) -> str:
    test = m.pick("(= n 1)", "(ask 1)", "(empty? docs)", m.expression())
    return f"(if {test} {m.expression()} {m.expression()})"


def _let(m: Making) -> str:
    name = m.name()
    if m.random.random() < 0.5:
        function = m.function()
        m.names.append(name)
        text = f"(let (({name} {function})) {m.expression()})"
        m.names.pop()
        return text
    return f"(let (({name} {m.expression()})) (str {name} {m.expression()}))"


def _map(m: Making) -> str:
    word = m.pick("map", "for-each", "filter", "each", "sort-by-text", "par-map", "any?")
    if word == "sort-by-text":
        return f"(sort-by (lambda (x) (str {m.expression()})) {m.items()})"
    if word == "each":
        return f"(each {m.function()} {m.items()})"
    limit = m.pick("", " limit: 2") if word == "par-map" else ""
    return f"({word} {m.function()} {m.items()}{limit})"


def _fold(m: Making) -> str:
    return f'(fold (lambda (acc x) (str acc {m.expression()})) "" {m.items()})'


def _repeat(m: Making) -> str:
    return f"(loop {m.pick('2', '0', 'n', '(max n 2)', '(length docs)')} {m.expression()})"


def _loop(m: Making) -> str:
    name = m.name()
    test = m.pick(
        f"(< {name} 3)",
        f"(< {name} n)",
        f"(not (>= {name} n))",
        f"(not (> {name} n))",
        f"(< {name} x)",
        f"(<= {name} x)",
        f"(and (ask 1) (<= {name} 2))",
        f"(<= {name} 2.5)",
        f"(!= {name} 2)",
        f"(< {name} (length docs))",
        f"(ask {name})",
    )
    before = m.part()
    if m.random.random() < 0.3:
        again = f"(recur (rest {name}))"
        more = m.pick(again, f"(if (ask {name}) {again} (begin {m.part()} {again}))")
        body = f"(if (empty? {name}) {m.part()} (begin {m.part()} {more}))"
        if m.random.random() < 0.4:
            more = m.pick(
                "(recur r)", f"(recur (drop {name} 1))", f"(if (ask 1) (recur r) {m.part()})"
            )
            body = f"(match {name} ([a . r] {m.part()} {more}) (_ {m.part()}))"
        return f"(loop (({name} {m.items()})) {before} {body})"
    more = m.pick("(recur (+ {0} 1))", "(if (ask {0}) (recur (+ {0} 1)) (recur (+ 2 {0})))")
    more = more.format(name)
    return (
        f"(loop (({name} {m.pick('0', '1', '0.5')})) {before} "
        f"(if {test} (begin {m.part()} {more}) {m.part()}))"
    )


def _repeated(m: Making) -> str:
    """What the library does as often as it is told."""
    count = m.pick("2", "n", "x")
    return m.pick(
        f"(retry (lambda () {m.part()}) times: {count})",
        f"(vote (lambda () {m.part()}) n: {count})",
        f"(iterative-loop max_iterations: {count} initial: 1 executor: (lambda (a i) {m.part()})"
        ' test_command: "true" controller: (lambda (e v a i) [\'continue a]))',
    )


def _handle(m: Making) -> str:
    e = m.part
    body = m.pick(
        *("", "(begin (ask 1) {})", "(begin {} (ask 2) {})", "(map ask (cons {} docs))"),
        *("(try (ask 1) (finally {}))", "(with-budget {calls: 1} (begin (ask 1) {} {}))"),
    )
    body = body.replace("{}", m.part(), 1).replace("{}", m.part()) or m.expression()
    clause = m.random.choice(
        (
            lambda: '((model p) k (k "mock"))',
            lambda: "((model p) k (forward k model p))",
            lambda: "((model p) k (begin " + e() + " (forward k model p)))",
            lambda: "((ask p) k (k " + m.pick("true", "1", e()) + "))",
            lambda: "((ask p) k [(k 1) (k nil)])",
            lambda: "((ask p) k (k 1) (k " + e() + "))",
            lambda: "((ask p) _ " + e() + ")",
            lambda: "((ask p) k (forward k ponder-on p))",
            lambda: "((ponder-on p) k (k " + e() + "))",
            lambda: "((subtask p) k (k " + m.pick('"no"', e()) + "))",
            lambda: "((subtask p) k (forward k subtask p))",
            lambda: "((error p) k (k " + m.pick("1", e()) + "))",
            lambda: "((read-file p) k (k " + e() + "))",
            lambda: "((tool a b) k (k " + e() + "))",
            lambda: "((ask p) k (let ((r (k 1))) (if (= n 1) (k 2) r)))",
            lambda: "((ask p) k (map k [1 2]))",
            lambda: "((ask p) k (abandon k) (k " + e() + "))",
            lambda: "((ask p) k (let ((r k)) (r " + e() + ")))",
            lambda: "((ask p) k (begin (bind r k) (if (r 1) (r " + e() + ") (k 2))))",
            lambda: "((ask p) k (twice k " + e() + "))",
            lambda: "((ask p) k (each k " + m.items() + "))",
            lambda: "((ask p) k (once-more k " + m.pick("say", "str", "k") + "))",
            lambda: "((ask p) k (let ((f (lambda (x) (k " + e() + ")))) (f 1)))",
            lambda: "((ask p) k (fold (lambda (a x) (k x)) 0 " + m.items() + "))",
            lambda: "((ask p) k (let ((t {f: " + m.pick("k", "say") + "})) (t.f 1)))",
            lambda: "((ask p) k (par (k 1) " + e() + "))",
            lambda: "((ask p) k (with-budget {calls: 2} (twice k 1)))",
            lambda: "((ask p) k (let ((r k)) (try (r 1) (finally " + e() + "))))",
            lambda: "((ask p) k (handle (str (ponder-on k)) ((ponder-on c) j (j (c 1)))))",
            lambda: "((ask p) k (k " + m.pick("k", "(lambda (x) (k x))", "[k]") + "))",
            lambda: "((ask p) k (try (raise k) (catch (e) (e.details.value 1))))",
            lambda: "((error p) k (let ((r k)) (r " + e() + ")))",
            lambda: "((ask p) k (loop 2 (abandon k)) " + e() + ")",
            lambda: "((ask p) k (handle (k 1) ((ponder-on q) j (j " + e() + "))))",
            lambda: "((ponder-on p) k (handle (k 1) ((ask q) j (j " + e() + "))))",
        )
    )()
    returns = m.pick("", "", f" (return r (str r {m.expression()}))")
    return f"(handle {body} {clause}{returns})"


def _try(m: Making) -> str:
    return m.pick(
        f"(try {m.part()} (catch (e) {m.part()}))",
        f"(try {m.part()} (catch (e turns) {m.part()}))",
        f"(try {m.part()} (finally {m.part()}))",
        f"(attempt {m.part()})",
    )


def _par(m: Making) -> str:
    return f"(par {m.expression()} {m.expression()})"


def _budget(m: Making) -> str:
    return f"(with-budget {{calls: {m.random.randrange(4)}}} {m.part()})"


def _recursion(m: Making) -> str:
    name, x = m.name(), m.name()
    again = f"({name} (- {x} 1))"
    body = m.pick(f"(str {m.expression()} {again})", again, f"(map {name} [])")
    return f"(begin (define ({name} {x}) (if (> {x} 0) {body} {m.expression()})) ({name} 2))"


def _passing(m: Making) -> str:
    """Recursion that is given another function, or a longer list, each time."""
    go, f, x = m.name(), m.name(), m.name()
    if m.random.random() < 0.5:
        more = m.pick(f"(cons 1 {f})", f"(rest {f})", f)
        body = f"(if (> {x} 0) ({go} {more} (- {x} 1)) (map {m.function()} {f}))"
        return f"(begin (define ({go} {f} {x}) {body}) ({go} {m.items()} {m.pick('2', '7')}))"
    other = m.pick(f"(lambda (z) ({f} z))", m.function(), "str", f)
    body = f"(if (> {x} 0) ({go} {other} (- {x} 1)) ({f} 1))"
    first, turns = m.pick("str", m.function()), m.pick("2", "7")
    return f"(begin (define ({go} {f} {x}) {body}) ({go} {first} {turns}))"


def _shifted(m: Making) -> str:
    """A function that arrives after some turns."""
    a, b, x = m.name(), m.name(), m.name()
    test = m.pick(f"(> {x} 0)", f"(ask {x})")
    return (
        f"(loop (({a} str) ({b} str) ({x} {m.pick('1', '3')})) ({a} 1) "
        f"(if {test} (recur {b} {m.function()} (- {x} 1)) {m.part()}))"
    )


def _thrown(m: Making) -> str:
    attempted = f"(attempt (begin {m.part()} (raise {m.function()})))"
    return m.pick(
        f"(try (raise {m.function()}) (catch (e) (e.details.value 1)))",
        f"((get-in {attempted} ['notes 'error 'details 'value]) 1)",
    )


def _defaulted(m: Making) -> str:
    """A function that asks for what it is not given, called with nobody knows how much."""
    f, x, y, z = m.name(), m.name(), m.name(), m.name()
    params = m.pick(
        f"({x} {m.part()}) ({y} {m.part()})", f"{x} ({y} {m.part()})", f"{x} ({y} {m.part()}) . {z}"
    )
    made = f"(lambda ({params}) {m.pick('1', m.part())})"
    call = m.pick(
        f"(apply {f} {m.items()})",
        f"(apply {f} 1 {m.items()})",
        f"(map (lambda ({z}) (apply {f} {z})) (list {m.items()} {m.items()}))",
        f"((lambda {z} (apply {f} (append [1] {z}))) {m.pick('', '1', '1 2')})",
        f"(apply (lambda {z} (apply {f} {z})) {m.items()})",
        f"(apply map {f} (take [docs docs docs] n))",
        f"(apply (if (ask 1) {f} say) {m.items()})",
    )
    return f"(let (({f} {made})) {call})"


def _state(m: Making) -> str:
    return f"(with-state 1 (lambda () (put-state {m.expression()}) {m.expression()} (get-state)))"


def _matched(m: Making) -> str:
    return m.pick(
        f"(match {m.items()} ([a . b] {m.expression()}) (_ {m.expression()}))",
        f"(match {m.function()} ((? procedure? f) (f 1)) (_ 1))",
        f"(cond ({m.expression()} => {m.function()}) (else {m.expression()}))",
        f"(race {m.expression()} {m.expression()})",
        f"(with-timeout 9 {m.expression()})",
        f"(apply {m.function()} [1])",
        f"(update {{a: 1}} 'a {m.function()})",
        f"(sort {m.items()} (lambda (a b) (= 1 (length (list {m.expression()})))))",
        f"(group-by {m.function()} {m.items()})",
    )


def _late(m: Making) -> str:
    """A continuation that is called after its handle expression."""
    name = m.name()
    kept = m.pick("{k: k}", "{k: (lambda (x) (k x))}")
    body = m.pick("(begin (ask 1) {})", "(try (ask 1) (finally {}))", "(begin (ask 1) {} (say 1))")
    made = f"(handle {body.replace('{}', m.expression())} ((ask p) k {kept}))"
    made = m.pick(made, f"(with-budget {{calls: {m.random.randrange(3)}}} {made})")
    use = m.pick(f"({name}.k 1)", f"({name}.k 1)", f"(abandon {name}.k)")
    use = m.pick(use, f"(handle {use} ((ponder-on p) j (begin {m.part()} (j 1))))")
    return f"(let (({name} {made})) (try {use} (catch (e) {m.expression()})))"


def _handed(m: Making) -> str:
    """A continuation that leaves a budget by way of a clause around it."""
    inner = f"(handle (begin (ask 1) {m.part()} {m.part()}) ((ask p) k (ponder-on k)))"
    use = m.pick("(c 1)", "(str (c 1))", "(j c)", "(abandon c)", "(if (= n 9) (j 1) (c 1))")
    budget = f"{{calls: {m.random.randrange(3)}}}"
    return f"(handle (with-budget {budget} {inner}) ((ponder-on c) j {use}))"


def _on_behalf(m: Making) -> str:
    """A handle expression in a clause, which works for who performed inside a budget."""
    clause = m.pick(
        *("(j 1)", "(str (j 1))", "(forward j ponder-on p)"),
        *("(begin (abandon j) 1)", "(begin (j 1) (j 2))"),
    )
    inner = f"(handle (begin (ponder-on 1) {m.part()} {m.part()}) ((ponder-on p) j {clause}))"
    inner = m.pick(inner, f"(k {inner})")
    body = f"(with-budget {{calls: {m.random.randrange(3)}}} (begin (ask 1) {m.part()}))"
    return f"(handle {body} ((ask p) k (if (= n 2) (k 1) {inner})))"


def _twice(m: Making) -> str:
    return f"(twice {m.function()} {m.expression()})"


_LEAVES: Any = (_call, _call, _named, _ask, _plain)
_FORMS: Any = (
    *(_call, _named, _ask, _begin, _begin, _if, _let, _map, _map, _fold, _repeat, _loop),
    *(_handle, _handle, _handle, _try, _try, _par, _budget, _twice, _matched, _matched, _state),
    *(_shifted, _repeated, _defaulted),
)


_RARE: Any = (_recursion, _passing, _thrown, _late, _handed, _on_behalf)
"""What hardly ever has a bound: one of it in a program is enough."""


def program(random: Random) -> str:
    """A program that calls tasks."""
    m = Making(random, leads=random.random() < 0.2)
    if random.random() < 0.3:
        m.forms = (*_FORMS, random.choice(_RARE))
    forms = [m.expression() for _ in range(random.choice((1, 1, 2)))]
    return STATE + TASKS + (BOSS if m.leads else "") + "\n".join(forms)


def inputs(random: Random) -> dict[str, Any]:
    """What it is given."""
    return {
        "docs": tuple(range(random.randrange(4))),
        "n": random.choice((-10, -1, 0, 1, 2, 3)),
        "x": random.choice((-10, -1.5, -0.5, 0, 0.5, 1.5, 2, 3.25)),
    }


def asked(program: Program, given: dict[str, Any], random: Random) -> int:
    """How often a run asks the model, which answers what makes it be asked again if it can."""
    outcome = start(program, given, tasks(), Limits(steps=100_000))
    count = 0
    # Half of the runs meet no failure and get to their end.
    mean, failing = random.choice(((0.0, 0.0), (0.3, 0.0), (random.random(), 0.04)))
    for _ in range(3 * MOST):
        if not isinstance(outcome, Suspended) or count > MOST:
            break
        request = random.choice(outcome.requests)
        count += request.operation == "model"
        reply = _reply(request, random, mean, failing)
        if reply is None and request.operation != "timer":
            error = error_record("TASK_FAILURE", "odd", "nobody knows")
            outcome = outcome.fail(request.id, error)
        else:
            outcome = outcome.resume(request.id, value_of(reply))
    return count


def _reply(request: Request, random: Random, mean: float, failing: float) -> Any:
    if random.random() < failing:
        return None
    if request.operation != "model":
        return random.choice((True, 1, "x", False))
    if random.random() > mean:
        return random.choice(("x", '{"a": 1}', "[1]"))
    return random.choice(_MEAN)


def _uses(name: str, given: Any) -> Any:
    use = {"type": "tool_use", "id": "a", "name": name, "input": given}
    return {"content": [use], "stop_reason": "tool_use"}


_REQUEST = {"name": "say", "description": "say it", "inputs": {"a": 2}}
_CONTINUATION = json.dumps({"status": "CONTINUATION", "notes": {"subtask_request": _REQUEST}})
_MEAN = (
    "{not json",
    _CONTINUATION,
    {"content": [{"type": "text", "text": "hm"}], "stop_reason": "pause_turn"},
    {"content": [], "stop_reason": "refusal"},
    _uses("read_file", {"path": "x"}),
    _uses("lookup", {"word": "x"}),
    _uses("nothing", {}),
    _uses("spawn_subtask", _REQUEST),
    _uses("spawn_subtask", {**_REQUEST, "name": "boss"}),
)
