"""A law of failures: whatever stands around the call of a task that fails, its error has the place
of that call and the name of the task.
"""

from collections.abc import Callable
from random import Random
from typing import Any

from support.running import built

from sexplang.machine import Failed, Suspended, start
from sexplang.pipeline.pipeline import tasks
from sexplang.terms.source import Source, Span
from sexplang.terms.task import error_record

TASK = '(defatom w (params (topic string)) (instructions "Write about {{topic}}."))\n'

CALLS = (
    *('(w "bad")', '(w topic: "bad")', '((if (= 1 1) w str) "bad")'),
    *('(w (str "b" "ad"))', '(apply w ["bad"])', '(map w ["fine" "bad"])'),
    *('(call-atomic-task \'w inputs: {topic: "bad"})', '(w (json-parse "5"))'),
    *('(call-task w "bad")', '((if (= 1 1) call-task str) w topic: "bad")'),
    *('(map call-task [w] ["bad"])', '(sequence [w] "bad")'),
)
"""Each fails, one of them before it asks a model."""

AROUND = (
    "(begin (bind x {}) (str x))",
    "(begin (define x {}) (str x))",
    '(begin (bind x (w "fine")) (bind y {}) (str x y))',
    "(let ((a 1) (b {})) (str a b))",
    '(let ((a (w "fine")) (b {})) (str a b))',
    '(let* ((a (w "fine")) (b {})) (str a b))',
    "(let* ((a {}) (b 2)) (str a b))",
    "(str 1 {} 2)",
    '(list (w "fine") {})',
    "[1 {}]",
    "{{a: 1 b: {}}}",
    "(if (nil? {}) 1 2)",
    "(if (= 1 1) {} 2)",
    "(cond ((= 1 2) 1) ((nil? {}) 2) (else 3))",
    '(case (str {}) ("a" 1) (else 2))',
    "(match {} ([a b] a) (other other))",
    "(and 1 {} 2)",
    "(or {} 2)",
    "(when (= 1 1) {})",
    "(begin {} 1)",
    "((lambda (x) {}) 1)",
    "((lambda (x) (str x {})) 1)",
    "(map (lambda (x) {}) [1 2])",
    "(for-each (lambda (x) (str {})) [1 2])",
    "(fold (lambda (all x) {}) 0 [1 2])",
    "(any? (lambda (x) {}) [1 2])",
    "(sort-by (lambda (x) (str {})) [1 2])",
    "(sort [1 2] (lambda (a b) (nil? {})))",
    '(update {{a: 1}} "a" (lambda (x) {}))',
    "(apply (lambda (x) {}) [1])",
    "(loop ((i 0)) (if (= i 2) i (begin {} (recur (+ i 1)))))",
    "(par 1 {})",
    '(par {} (w "fine"))',
    "(par-map (lambda (x) {}) [1])",
    "(try {} (finally 1))",
    "(try {} (catch (e not-this) 1))",
    "(handle {} ((unused a) k 1))",
    "(handle {} ((error e) k (forward k error e)))",
    "(handle (+ 1 (perform op 1)) ((op a) k (k {})))",
    "(handle (begin (perform op 1) {}) ((op a) k (k 1)))",
    "(with-budget {{calls: 100}} {})",
    "(with-timeout 100 {})",
    "(sequence [(lambda (x) {})] 1)",
    "(retry (lambda () {}) times: 2)",
)
"""What may stand around an expression."""

DEFINED = (
    "(define ({name} x) {inner})\n",
    "(define ({name} x) (str x {inner}))\n",
    "(define ({name} x (y {inner})) (str x y))\n",
    "(define ({name} x) (let* ((a x) (b {inner})) (str a b)))\n",
)

DEEP = 5


def located(seed: int) -> str | None:
    """The error of a task has the place of its call, and its name."""
    text, call = failing(Random(seed))
    source = Source("program", text)
    at = text.index(call)
    expected = Span(source, at, at + len(call)).plain()
    error = error_of(text)
    task = error.fields["details"].get("task")
    if error.fields["span"] != expected or task != "w":
        return f"{text}\n{call} of `w` stands at {expected}, and the error says `{task}`: {error}"
    return None


def failing(random: Random) -> tuple[str, str]:
    """A program in which one call fails, and that call."""
    call = random.choice(CALLS)
    inner, defined = call, ""
    for level in range(random.randrange(DEEP)):
        if random.random() < 0.25:
            name = f"f{level}"
            defined += random.choice(DEFINED).format(name=name, inner=inner)
            inner = f"({name} {level})"
        else:
            inner = random.choice(AROUND).format(inner)
    return TASK + defined + random.choice(TOPMOST).format(inner), call


BINDING = (
    "(begin (bind {name} {value}) {inner})",
    "(begin (define {name} {value}) {inner})",
    "(str (begin (bind {name} {value}) {inner}))",
    "(let* (({name} {value}) (last {inner})) last)",
    "(let (({name} {value})) {inner})",
    "(let (({name} {value}) (other {inner})) other)",
    "(map (lambda (x) (bind {name} {value}) {inner}) [1])",
    "(par 1 (begin (bind {name} {value}) {inner}))",
    "(try (begin (bind {name} {value}) {inner}) (finally 1))",
    "(with-budget {{calls: 100}} (bind {name} {value}) {inner})",
    "(begin (bind {name} {value}) (str {inner}))",
    "(begin (bind {name} {value}) (if (= 1 1) {inner} 2))",
    "(handle (begin (bind {name} {value}) {inner}) ((error e) k (forward k error e)))",
)
"""What may bind a name before something fails."""


def bound_before(seed: int) -> str | None:
    """The error of a task keeps what is bound in the bodies that it leaves, what a list had before
    it or branches gave beside it, and nothing else."""
    random = Random(seed)
    inner, defined = random.choice(CALLS[:6]), ""
    expected: dict[str, Any] = {"top": 7}
    finished: tuple[int, ...] = ()
    if "fine" in inner:
        expected["map"] = ("Fine.",)
    for level in range(random.randrange(DEEP)):
        name, value = f"v{level}", level
        around = random.choice(BINDING)
        inner = around.format(name=name, value=value, inner=inner)
        expected[name] = value
        finished += (1,) if around.startswith("(par 1 ") else ()
        if random.random() < 0.3:
            defined += f"(define (f{level} x y) {inner})\n"
            inner = f"(str (f{level} {level} 0))"
    text = f"{TASK}{defined}(bind top 7)\n{inner}\n"
    found = error_of(text).fields["details"].get("partial_results")
    if finished:  # the branches beside what failed
        expected["finished"] = finished
    if found != expected:
        return f"{text}\nexpected {expected}, and the error keeps {found}"
    return None


TOPMOST = ("{}\n", "(bind out {})\nout\n", "(define out {})\nout\n", "(bind a 1)\n{}\n")


def error_of(text: str, answer: Callable[[str], Any] = lambda prompt: "Fine.") -> Any:
    """The error that ends a program whose model fails where a prompt has the word `bad`."""
    outcome: Any = start(built(text), {}, tasks())
    while isinstance(outcome, Suspended):
        request = next(each for each in outcome.requests if each.operation == "model")
        prompt = str(request.arguments[0]["messages"][-1])
        if "bad" in prompt:
            outcome = outcome.fail(request.id, error_record("TASK_FAILURE", "llm_error", "busy"))
        else:
            outcome = outcome.resume(request.id, answer(prompt))
    assert isinstance(outcome, Failed), f"{text}\n{outcome}"
    return outcome.error
