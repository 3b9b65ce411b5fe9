"""Generated programs for runs that are killed.

Each effect has a number of its own, so an effect that is performed twice stands twice in the log of
the effects. What a race or a deadline cuts sleeps longer than any test, so the value depends on no
time. A request that fails because it is in doubt makes a race wait for it: then the sleep is short.
"""

from math import prod
from random import Random

from sexplang.terms.classes.node import define, field

PREAMBLE = """
(define-input log)
(define-effect (flip))
(define-effect (keep value))
(defatom say (params n) (instructions "Say {{n}}") (model "gpt-4o-mini"))
(defatom dig (params n)
  (instructions "Dig {{n}}") (model "gpt-4o-mini") (allowed_tools spawn_subtask))
(define (echo n)
  (begin (run-script "sh" ["-c" "echo $0 >>$1" (str n) log]) n))
(define (ask-too-much)
  (let ((text (fold (lambda (text i) (str text text)) "0123456789" (range 0 17))))
    (model {model: "gpt-4o-mini" messages: [{role: "user" content: text}]})))
"""

Sizes = tuple[tuple[str, int], ...]
"""The variables of a scope that tell its repetitions apart, and how many values each has from 0
on."""


@define
class KillableProgram:
    """A program in the making. Its number of the next effect is `next`."""

    random: Random
    longest: float
    """Seconds of a sleep that a race or a deadline cuts."""
    kinds: set[str] = field(factory=set)
    next: int = 1
    names: int = 0

    def number(self, scope: Sizes) -> str:
        """Return an expression whose value is another number in each repetition of the scope."""
        base, stride, terms = self.next, 1, list[str]()
        for name, size in scope:
            terms.append(f"(* {stride} {name})")
            stride *= size
        self.next += prod(size for _, size in scope)
        return f"(+ {base} {' '.join(terms)})" if terms else str(base)

    def name(self) -> str:
        self.names += 1
        return f"v{self.names}"

    def expression(self, scope: Sizes, size: int) -> str:
        """Return an expression with about so many effects."""
        kinds = COMPOSED if size > 1 else SIMPLE
        if prod(count for _, count in scope) > MOST_REPETITIONS:
            kinds = SIMPLE
        kind = self.random.choices([*kinds], [*kinds.values()])[0]
        self.kinds.add(kind)
        made: str = getattr(self, f"make_{kind}")(scope, size)
        return made

    def parts(self, scope: Sizes, size: int, count: int) -> list[str]:
        return [self.expression(scope, max(1, size // count)) for _ in range(count)]

    def make_act(self, scope: Sizes, size: int) -> str:
        return f"(act {self.number(scope)})"

    def make_wait(self, scope: Sizes, size: int) -> str:
        return f"(wait {self.number(scope)})"

    def make_script(self, scope: Sizes, size: int) -> str:
        return f"(echo {self.number(scope)})"

    def make_task(self, scope: Sizes, size: int) -> str:
        return f"(str (say {self.number(scope)}))"

    def make_subtask(self, scope: Sizes, size: int) -> str:
        return f"(str (dig {self.number(scope)}))"

    def make_sleep(self, scope: Sizes, size: int) -> str:
        return f"(begin (sleep 0.004) (act {self.number(scope)}))"

    def make_failure(self, scope: Sizes, size: int) -> str:
        return f"(attempt (deny {self.number(scope)}) (act {self.number(scope)}))"

    def make_passed(self, scope: Sizes, size: int) -> str:
        return f"(attempt (with-timeout 0.01 (sleep {self.longest})) (wait {self.number(scope)}))"

    def make_list(self, scope: Sizes, size: int) -> str:
        return f"[{' '.join(self.parts(scope, size, self.random.randint(2, 4)))}]"

    def make_par(self, scope: Sizes, size: int) -> str:
        return f"(par {' '.join(self.parts(scope, size, self.random.randint(2, 4)))})"

    def make_map(self, scope: Sizes, size: int) -> str:
        return self.repeat("(par-map (lambda ({name}) {body}) (range 0 {count}))", scope, size)

    def make_fold(self, scope: Sizes, size: int) -> str:
        form = "(fold (lambda (sum {name}) (append sum [{body}])) [] (range 0 {count}))"
        return self.repeat(form, scope, size)

    def repeat(self, form: str, scope: Sizes, size: int) -> str:
        name, count = self.name(), self.random.randint(2, 4)
        body = self.expression((*scope, (name, count)), size // count)
        return form.format(name=name, count=count, body=body)

    def make_race(self, scope: Sizes, size: int) -> str:
        loser = f"(begin (sleep {self.longest}) (act {self.number(scope)}))"
        both = [self.expression(scope, size), loser]
        self.random.shuffle(both)
        return f"(race {' '.join(both)})"

    def make_deadline(self, scope: Sizes, size: int) -> str:
        return f"(with-timeout 90 {self.expression(scope, size)})"

    def make_unwind(self, scope: Sizes, size: int) -> str:
        body, last = self.parts(scope, size, 2)
        end = f"(deny {self.number(scope)})" if self.random.random() < 0.5 else "7"
        after = self.number(scope)
        return f"(attempt (try (begin {body} {end}) (finally {last})) (act {after}))"

    def make_twice(self, scope: Sizes, size: int) -> str:
        """Make a handler that resumes twice, what happened before both, and what happens in
        each."""
        before, first, second = self.name(), self.name(), self.name()
        inner = (*scope, (first, 2))
        if self.random.random() < 0.5:
            body = self.expression(inner, size // 2)
        else:
            done = self.expression(inner, 1)
            rest = self.expression((*inner, (second, 2)), size // 4)
            body = f"(let* ((done {done}) ({second} (flip))) [done {rest}])"
        return f"""(handle (let* (({before} {self.expression(scope, 1)}) ({first} (flip)))
            [{before} {body}])
          ((flip) k [(k 0) (k 1)]))"""


SIMPLE = {
    "act": 4,
    "wait": 5,
    "script": 2,
    "task": 4,
    "subtask": 2,
    "sleep": 1,
    "failure": 1,
    "passed": 1,
}
COMPOSED = {
    "list": 3,
    "par": 4,
    "map": 3,
    "fold": 3,
    "race": 2,
    "deadline": 2,
    "unwind": 2,
    "twice": 3,
}
"""The kinds of expressions with one effect and with several, and how often each is chosen."""

MOST_REPETITIONS = 12
"""An expression that is repeated more often has one effect."""


def generate_program(seed: int, size: int = 14, longest: float = 90) -> tuple[str, frozenset[str]]:
    """Return a program whose value has the tokens that its budget counted, and the kinds of
    expressions in it."""
    made = KillableProgram(Random(seed), longest)
    body = made.make_list((), size)
    whole = f"""(handle (with-budget {{tokens: 300000}} (begin (keep {body}) (ask-too-much)))
      ((keep value) k
        (try (k nil) (catch (problem tokens) [value problem.details.spent]))))"""
    return f"{PREAMBLE}{whole}\n", frozenset(made.kinds)
