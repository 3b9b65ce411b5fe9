"""Forms to computations, arguments from left to right.

The oracle: small, slow and recursive, with environments of its own. Control is in
`computation.py`; what happens around a computation, in `schedule.py`.
"""

from collections.abc import Callable
from typing import Any

from attrs import frozen
from support.classify import clause_kind, flat_body, head, is_function_definition
from support.computation import (
    Clause,
    Computation,
    Continuation,
    Fork,
    Job,
    Open,
    Pure,
    Scope,
    ask,
    asked_for,
    bind,
    guard,
    handle,
    later,
    race,
    refuse,
    scoped,
    settled,
    with_permit,
)
from support.conversing import WHOM, Task, called

from sexplang.terms.form import Label, ListForm, Literal, Name, TableForm, VectorForm
from sexplang.terms.task import error_record, make_failed_result
from sexplang.terms.values.text import text
from sexplang.terms.values.value import Record, symbol

Env = dict[str, Any]
Whom = tuple[Any, ...]
Form = Any  # the shape of a form is known from its head
STEPS = 20_000


class TooLong(Exception):
    """The program takes more steps than a law wants to pay for."""


@frozen(eq=False)
class Closure:
    params: list[str]
    body: list[Form]
    env: Env


@frozen(eq=False)
class Performer:
    """A declared operation as a function."""

    operation: str


def pairs(form: Form) -> list[tuple[str, Form]]:
    """`((x e) …)`"""
    return [(binding.items[0].text, binding.items[1]) for binding in form.items]


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def truth(value: Any) -> bool:
    return value is not None and value is not False


def numeric(function: Callable[..., Any]) -> Callable[..., Computation]:
    def checked(*arguments: Any) -> Computation:
        if not all(map(is_number, arguments)):
            return refuse("wrong-type")
        return Pure(function(*arguments))

    return checked


def total(function: Callable[..., Any]) -> Callable[..., Computation]:
    return lambda *arguments: Pure(function(*arguments))


def first(xs: Any) -> Computation:
    return Pure(xs[0]) if isinstance(xs, tuple) and xs else refuse("first")


def raised(value: Any) -> Computation:
    """`(raise x)`: an error as it is, a FAILED TaskResult's, a table with a reason, else x."""
    if isinstance(value, Record):
        error = value if value.kind == "error" else value.fields["notes"]["error"]
    elif isinstance(value, dict) and "reason" in value:
        error = error_record("USER_ERROR", value["reason"], "")
    else:
        error = error_record("USER_ERROR", "raised", text(value), details={"value": value})
    return ask("error", error)


def procedure(value: Any) -> bool:
    return callable(value) or isinstance(value, (Closure, Continuation, Performer))


PRIMITIVES: dict[str, Callable[..., Computation]] = {
    "+": numeric(lambda *xs: sum(xs)),
    "-": numeric(lambda x, *xs: x - sum(xs) if xs else -x),
    "*": numeric(lambda a, b: a * b),
    "<": numeric(lambda a, b: a < b),
    "=": numeric(lambda a, b: a == b),
    "not": total(lambda x: not truth(x)),
    "list": total(lambda *xs: xs),
    "length": total(len),
    "first": first,
    "nil?": total(lambda x: x is None),
    "number?": total(is_number),
    "procedure?": total(procedure),
    "string?": total(lambda x: isinstance(x, str)),
    "string->number": total(int),
    "raise": raised,
    "error": lambda message: ask("error", error_record("USER_ERROR", "error", message)),
    "model": lambda payload: ask("model", payload),
}


class Evaluator:
    """Forms to computations."""

    def __init__(self) -> None:
        self.steps = 0

    def body(self, forms: list[Form], env: Env) -> Computation:
        """Forms in order, each `bind` and `define` seen by those that follow."""
        forms = flat_body(forms)
        env = dict(env)
        if not forms:
            return Pure(())
        return self._from(forms, 0, env)

    def _from(self, forms: list[Form], at: int, env: Env) -> Computation:
        while at < len(forms) and is_function_definition(forms[at]):
            env = dict(env)
            group = at
            while at < len(forms) and is_function_definition(forms[at]):
                at += 1
            for definition in forms[group:at]:
                name, *params = definition.items[1].items
                names = [param.text for param in params]
                env[name.text] = Closure(names, list(definition.items[2:]), env)
        if at == len(forms):
            return Pure(None)
        form, last = forms[at], at == len(forms) - 1
        if head(form) == "define-effect":
            name = form.items[1].items[0].text
            return self._from(forms, at + 1, {**env, name: Performer(name)})
        if head(form) == "defatom":
            name = form.items[1].text
            return self._from(forms, at + 1, {**env, name: Task(name)})
        if head(form) not in ("bind", "define"):
            if last:
                return self.value(form, env)
            return bind(self.value(form, env), lambda _: self._from(forms, at + 1, env))
        name = form.items[1].text

        def bound(value: Any) -> Computation:
            if last:
                return Pure(value if head(form) == "bind" else None)
            return self._from(forms, at + 1, {**env, name: value})

        return bind(self.value(form.items[2], env), bound)

    def value(self, form: Form, env: Env) -> Computation:
        self.steps += 1
        if self.steps > STEPS:
            raise TooLong
        if isinstance(form, Literal):
            return Pure(form.value)
        if isinstance(form, Name):
            return self.name(form.text, env)
        if isinstance(form, VectorForm):
            return self.values(list(form.items), env, Pure)
        if isinstance(form, TableForm):
            entries = list(form.entries())
            names = [label.text for label, _ in entries]
            made = lambda vs: Pure(dict(zip(names, vs, strict=True)))  # noqa: E731
            return self.values([value for _, value in entries], env, made)
        assert isinstance(form, ListForm)
        name = head(form)
        special = SPECIAL.get(name or "") if name not in env else None
        if special is not None:
            return special(self, list(form.items), env)
        applied = lambda vs: self.apply(vs[0], vs[1:], env.get(WHOM, ()))  # noqa: E731
        given = [item for item in form.items if not isinstance(item, Label)]
        return self.values(given, env, applied)

    def name(self, name: str, env: Env) -> Computation:
        if name in env:
            return Pure(env[name])
        if name in PRIMITIVES or name in HIGHER:
            return Pure(PRIMITIVES.get(name) or HIGHER[name])
        found, *fields = name.split(".")
        value = env[found]
        for part in fields:
            entries = value.fields if isinstance(value, Record) else value
            value = entries.get(part) if isinstance(entries, dict) else None
        return Pure(value)

    def values(
        self, forms: list[Form], env: Env, then: Callable[[tuple[Any, ...]], Computation]
    ) -> Computation:
        """Left to right, then all of them to `then`."""

        def more(at: int, done: tuple[Any, ...]) -> Computation:
            if at == len(forms):
                return then(done)
            return bind(self.value(forms[at], env), lambda v: more(at + 1, (*done, v)))

        return more(0, ())

    def apply(self, function: Any, arguments: tuple[Any, ...], whom: Whom) -> Computation:
        """Calls a function in some conversations."""
        self.steps += 1
        if isinstance(function, Closure) and len(arguments) == len(function.params):
            bound = dict(zip(function.params, arguments, strict=True))
            return self.body(function.body, {**function.env, **bound, WHOM: whom})
        if isinstance(function, Continuation) and function.request.resumable:
            value = Pure(arguments[0] if arguments else None)
            return function.call(lambda: function.request.plug(value))
        if isinstance(function, Task):
            return called(function, arguments[0], whom)
        if function in HIGHER.values():
            return function(self, whom, *arguments)
        asked = self.asked(function, arguments)
        return asked_for(asked, whom) if isinstance(asked, Open) else asked

    def asked(self, function: Any, arguments: tuple[Any, ...]) -> Computation:
        """What gives a value or asks for something, at once."""
        if isinstance(function, Closure):
            return refuse("wrong-arity")
        if isinstance(function, Continuation):
            return refuse("not-resumable")
        if isinstance(function, Performer):
            return ask(function.operation, *arguments)
        if callable(function):
            return function(*arguments)
        return refuse("not-a-function")

    def map(self, whom: Whom, function: Any, xs: tuple[Any, ...]) -> Computation:
        def more(at: int, done: tuple[Any, ...]) -> Computation:
            if at == len(xs):
                return Pure(done)
            return bind(self.apply(function, (xs[at],), whom), lambda v: more(at + 1, (*done, v)))

        return more(0, ())

    def fold(self, whom: Whom, function: Any, value: Any, xs: tuple[Any, ...]) -> Computation:
        if not xs:
            return Pure(value)
        turned = self.apply(function, (value, xs[0]), whom)
        return bind(turned, lambda v: self.fold(whom, function, v, xs[1:]))

    def abandon(self, whom: Whom, k: Continuation) -> Computation:
        return k.call(lambda: k.give_up(lambda met: settled(None, met)))

    def with_permit(self, whom: Whom, function: Any) -> Computation:
        begun = bind(ask("permit!"), lambda _: self.apply(function, (), whom))
        return with_permit(begun, Job())

    def par_map(
        self, whom: Whom, function: Any, xs: tuple[Any, ...], limit: Any = None
    ) -> Computation:
        branches = [later(lambda x=x: self.apply(function, (x,), whom)) for x in xs]
        return Fork(limit or len(xs)).of(branches)

    # (if c t e) (and e…) (or e…)
    def if_(self, items: list[Form], env: Env) -> Computation:
        return bind(
            self.value(items[1], env),
            lambda test: self.value(items[2 if truth(test) else 3], env),
        )

    def and_(self, items: list[Form], env: Env) -> Computation:
        return self.until(items[1:], env, lambda v: not truth(v), True)

    def or_(self, items: list[Form], env: Env) -> Computation:
        return self.until(items[1:], env, truth, False)

    def until(self, forms: list[Form], env: Env, decides: Any, empty: bool) -> Computation:
        if len(forms) < 2:
            return self.value(forms[0], env) if forms else Pure(empty)
        rest = lambda v: Pure(v) if decides(v) else self.until(forms[1:], env, decides, empty)  # noqa: E731
        return bind(self.value(forms[0], env), rest)

    # (begin e…)
    def begin(self, items: list[Form], env: Env) -> Computation:
        return self.body(items[1:], env)

    # (let ((x e)…) body…) (let* …)
    def let(self, items: list[Form], env: Env) -> Computation:
        bindings = pairs(items[1])
        names = [name for name, _ in bindings]
        inner = lambda vs: self.body(items[2:], {**env, **dict(zip(names, vs, strict=True))})  # noqa: E731
        return self.values([value for _, value in bindings], env, inner)

    def let_star(self, items: list[Form], env: Env) -> Computation:
        def more(at: int, env: Env) -> Computation:
            bindings = items[1].items
            if at == len(bindings):
                return self.body(items[2:], env)
            name, value = bindings[at].items
            return bind(self.value(value, env), lambda v: more(at + 1, {**env, name.text: v}))

        return more(0, env)

    def lambda_(self, items: list[Form], env: Env) -> Computation:
        params = [param.text for param in items[1].items]
        return Pure(Closure(params, items[2:], env))

    # (loop n body…) (loop ((x e)…) body…) (recur e…)
    def loop(self, items: list[Form], env: Env) -> Computation:
        if not isinstance(items[1], ListForm) or head(items[1]) is not None:
            return bind(self.value(items[1], env), lambda n: self.turns(n, (), items[2:], env))
        bindings = pairs(items[1])
        names = [name for name, _ in bindings]

        def turn(values: tuple[Any, ...]) -> Computation:
            inner = {**env, **dict(zip(names, values, strict=True))}
            return bind(self.body(items[2:], inner), again, last=True)

        def again(value: Any) -> Computation:
            return turn(value.values) if isinstance(value, Turn) else Pure(value)

        return self.values([value for _, value in bindings], env, turn)

    def turns(self, count: int, last: Any, body: list[Form], env: Env) -> Computation:
        if count == 0:
            return Pure(last)
        return bind(self.body(body, env), lambda v: self.turns(count - 1, v, body, env))

    def recur(self, items: list[Form], env: Env) -> Computation:
        return self.values(items[1:], env, lambda values: Pure(Turn(values)))

    # (perform op e…) (forward k op e…)
    def perform(self, items: list[Form], env: Env) -> Computation:
        name = items[1].text
        return self.values(items[2:], env, lambda vs: ask(name, *vs, whom=env.get(WHOM, ())))

    def forward(self, items: list[Form], env: Env) -> Computation:
        name, k = items[2].text, env[items[1].text]

        def on(arguments: tuple[Any, ...]) -> Computation:
            fails = name == "error" and k.request.operation != "error"
            skip = None if fails else k.beyond
            request = k.request.but(operation=name, arguments=arguments, skip=skip)
            return k.call(lambda: Open((request,), lambda hard: k.give_up(None, hard)))

        return self.values(items[3:], env, on)

    # (handle body ((op p…) k b…)… (return x b…))
    def handle(self, items: list[Form], env: Env) -> Computation:
        clauses: list[Clause] = []
        returns: Any = None
        for item in items[2:]:
            first, second, *body = item.items
            if isinstance(first, Name):
                returns = self._return(second.text, body, env)
                continue
            operation, *params = (part.text for part in first.items)
            run = self._clause([*params, second.text], body, env)
            kind = clause_kind(body, second.text)
            clauses.append(Clause(operation, kind, run))
        return handle(self.value(items[1], env), clauses, returns)

    def _clause(self, names: list[str], body: list[Form], env: Env) -> Callable[..., Computation]:
        """Code of the parameters' values and the continuation: of whoever performed, or where
        nobody goes on there, of those around."""

        def run(values: tuple[Any, ...], k: Continuation | None) -> Computation:
            whom = k.request.whom if k else env.get(WHOM, ())
            bound = dict(zip(names, (*values, k), strict=True))
            return self.body(body, {**env, **bound, WHOM: whom})

        return run

    def _return(self, name: str, body: list[Form], env: Env) -> Callable[..., Computation]:
        return lambda value: self.body(body, {**env, name: value})

    def _cleanup(self, body: list[Form], env: Env) -> Callable[[], Computation]:
        return lambda: self.body(body, env)

    # (try b… (catch (e WORD…) b…)… (finally b…))
    def try_(self, items: list[Form], env: Env) -> Computation:
        parts: dict[str | None, list[Form]] = {"catch": [], "finally": [], None: []}
        for item in items[1:]:
            parts[name if (name := head(item)) in parts else None].append(item)
        clauses = [self.catch(item, env) for item in parts["catch"]]
        c = handle(self.body(parts[None], env), clauses, None)
        for item in parts["finally"]:
            c = guard(c, self._cleanup(list(item.items[1:]), env))
        return c

    def catch(self, item: Any, env: Env) -> Clause:
        name, *words = (part.text for part in item.items[1].items)
        run = self._clause([name, "_"], list(item.items[2:]), env)
        return Clause("error", "never", run, tuple(words))

    def attempt(self, items: list[Form], env: Env) -> Computation:
        failed = Clause("error", "never", lambda vs, _: Pure(make_failed_result(vs[0])))
        return handle(self.value(items[1], env), [failed], None)

    # (par e…) (race e…)
    def par(self, items: list[Form], env: Env) -> Computation:
        return Fork(len(items)).of(self.branches(items, env))

    def race(self, items: list[Form], env: Env) -> Computation:
        return race(self.branches(items, env), env.get(WHOM, ()))

    def branches(self, items: list[Form], env: Env) -> list[Computation]:
        return [later(lambda form=form: self.value(form, env)) for form in items[1:]]

    # (with-timeout n b…) (with-budget {calls: n seconds: n} b…)
    def with_timeout(self, items: list[Form], env: Env) -> Computation:
        whom = env.get(WHOM, ())
        entered = lambda n: scoped(self.body(items[2:], env), Scope(seconds=n, whom=whom))  # noqa: E731
        return bind(self.value(items[1], env), entered)

    def with_budget(self, items: list[Form], env: Env) -> Computation:
        whom = env.get(WHOM, ())
        entered = lambda limits: scoped(self.body(items[2:], env), Scope(**limits, whom=whom))  # noqa: E731
        return bind(self.value(items[1], env), entered)

    def quote(self, items: list[Form], env: Env) -> Computation:
        return Pure(symbol(items[1].text))


@frozen(eq=False)
class Turn:
    values: tuple[Any, ...]


SPECIAL: dict[str, Callable[[Evaluator, list[Form], Env], Computation]] = {
    "if": Evaluator.if_,
    "and": Evaluator.and_,
    "or": Evaluator.or_,
    "begin": Evaluator.begin,
    "let": Evaluator.let,
    "let*": Evaluator.let_star,
    "lambda": Evaluator.lambda_,
    "loop": Evaluator.loop,
    "recur": Evaluator.recur,
    "perform": Evaluator.perform,
    "forward": Evaluator.forward,
    "handle": Evaluator.handle,
    "try": Evaluator.try_,
    "attempt": Evaluator.attempt,
    "par": Evaluator.par,
    "race": Evaluator.race,
    "with-timeout": Evaluator.with_timeout,
    "with-budget": Evaluator.with_budget,
    "quote": Evaluator.quote,
}

HIGHER: dict[str, Callable[..., Computation]] = {
    "map": Evaluator.map,
    "fold": Evaluator.fold,
    "abandon": Evaluator.abandon,
    "with-permit": Evaluator.with_permit,
    "par-map": Evaluator.par_map,
    "apply": lambda self, whom, function, xs: self.apply(function, xs, whom),
}
