"""A law of what was paid for: however a conversation ends, what it had been given is told.

Each way out of a conversation stands against each thing that it may have been given. A cell is one
program: its conversation `parent` is given the words, and then it ends in this way.
"""

import json
from typing import Any

from attrs import frozen
from support.running import built

from sexplang.machine import Failed, Limits, Suspended, start
from sexplang.machine.scheduler.branches import sort_key
from sexplang.pipeline.pipeline import meter, tasks
from sexplang.runtime.models.adapters.scripted import shape_reply
from sexplang.terms.task import error_record, make_failed_result
from sexplang.terms.values.boundary import plain, value_of
from sexplang.terms.values.value import Record

WORDS = "PAID-FOR"
"""What is said by each thing that is given, and by nothing else."""

TASKS = """
(define-effect (pause))
(defatom parent (params (goal string)) (instructions "Reach {{goal}}.")
  (allowed_tools spawn_subtask propose_subplan ask leaf) CLAUSES)
(defatom lead (params (what string)) (instructions "Lead {{what}}.")
  (allowed_tools spawn_subtask propose_subplan))
(defatom leaf (params (what string)) (instructions "Do {{what}}."))
"""


STEPS = ("sequence", "map-tasks", "reduce-tasks")
"""What a cell may need of `std/steps`, which takes longer to compile than the cell."""


class Never:
    """A reply that does not come."""


NEVER = Never()

Reply = Any
"""A text, a list of blocks, a table of the protocol, an error, or NEVER."""


def use(tool: str, **given: Any) -> list[dict[str, Any]]:
    """A reply that calls one tool."""
    return [{"type": "tool_use", "name": tool, "input": given}]


def spawn(what: str = "it", name: str = "leaf") -> list[dict[str, Any]]:
    """A reply that asks for a subtask."""
    return use("spawn_subtask", name=name, inputs={"what": what})


def propose(*names: str, **more: Any) -> list[dict[str, Any]]:
    """A reply that proposes a plan, a subtask for each of these."""
    listed = [{"name": name, "description": f"part {at}"} for at, name in enumerate(names)]
    return use("propose_subplan", subtasks=listed, **more)


def stopped(reason: str, text: str = "") -> dict[str, Any]:
    """A reply that ends for this reason."""
    blocks = [{"type": "text", "text": text}] if text else []
    return {"content": blocks, "stop_reason": reason}


def continued(notes: dict[str, Any]) -> str:
    """A reply whose text asks."""
    return json.dumps({"status": "CONTINUATION", "content": "", "notes": notes})


@frozen
class Given:
    """What a conversation is given: the replies of its tasks, in order, the last of them may be
    NEVER; what stands around the call and which clause."""

    name: str
    parent: tuple[Reply, ...] = ()
    leaf: tuple[Reply, ...] = ()
    lead: tuple[Reply, ...] = ()
    around: str = "CALL"
    handled: str = ""

    @property
    def is_at_work(self) -> bool:
        """Whether the parent waits for it when it ends."""
        return NEVER in (*self.leaf, *self.lead)

    @property
    def is_before(self) -> bool:
        """Whether it is given to the program, before the conversation begins."""
        return not self.parent

    @property
    def calls(self) -> int:
        """How many model calls are made for it."""
        return len([*self.parent, *self.leaf, *self.lead])


DELIVERED = [{"name": "half.md", "text": WORDS}]

GIVEN = (
    Given("a subtask", (spawn(),), (WORDS,)),
    Given(
        "a subtask, asked for in a text",
        (continued({"subtask_request": {"name": "leaf", "inputs": {"what": "it"}}}),),
        (WORDS,),
    ),
    Given("a task that is a tool", (use("leaf", what="it"),), (WORDS,)),
    Given("a subtask, and one after it", ([*spawn("a"), *spawn("b")],), (WORDS, "Other.")),
    Given("a subtask that failed", (spawn(),), (stopped("max_tokens", WORDS),)),
    Given(
        "what a subtask was given that failed",
        (spawn(name="lead"),),
        (WORDS,),
        (spawn(), stopped("refusal")),
    ),
    Given(
        "what a handler says to a request",
        (spawn(),),
        handled=f"""((subtask request) resume
          (if (equal? request.inputs.what "it")
              (resume "{WORDS}")
              (forward resume subtask request)))""",
    ),
    Given(
        "a task that is behind a tool",
        (use("ask", what="it"),),
        (WORDS,),
        handled="""((tool name given) resume
          (if (equal? given.what "it")
              (resume (call-task leaf given.what))
              (forward resume tool name given)))""",
    ),
    Given("an artifact", (propose("leaf", artifacts=DELIVERED),), ("Done.",)),
    Given(
        "an artifact, beside a plan in a text",
        (
            continued(
                {"subplan": {"name": "leaf", "description": "it"}, "artifacts": DELIVERED},
            ),
        ),
        ("Done.",),
    ),
    Given("an artifact of a refused plan", (propose(*["leaf"] * 11, artifacts=DELIVERED),)),
    Given(
        "an artifact of a malformed plan",
        (use("propose_subplan", subtasks="none", artifacts=DELIVERED),),
    ),
    Given("a plan", (propose("leaf", "leaf"),), ("Other.", WORDS)),
    Given(
        "an artifact of a plan's subtask",
        (propose("leaf"),),
        (json.dumps({"content": "Done.", "artifacts": DELIVERED}),),
    ),
    Given("its own words", ([{"type": "text", "text": WORDS}, *spawn()],), ("Done.",)),
    Given("a plan at work", (propose("leaf", "leaf"),), (WORDS, NEVER)),
    Given("a subtask at work", (spawn(name="lead"),), (WORDS,), (spawn(), NEVER)),
    Given(
        "the plan of a subtask at work",
        (spawn(name="lead"),),
        (WORDS, NEVER),
        (propose("leaf", "leaf"),),
    ),
    Given(
        "the subtask of a plan at work",
        (propose("lead", "leaf"),),
        ("Other.", WORDS),
        (spawn(), NEVER),
    ),
    Given("an earlier step", (), (WORDS,), around='(sequence [leaf (lambda (x) CALL)] "it")'),
    Given(
        "an earlier input",
        leaf=(WORDS,),
        around='(map-tasks (lambda (x) (if (= x 1) (leaf "it") CALL)) [1 2])',
    ),
    Given(
        "an earlier input of a reduction",
        leaf=(WORDS,),
        around='(reduce-tasks (lambda (x) (if (= x 1) (leaf "it") CALL)) '
        "(lambda (one all x) (append all [one])) [] [1 2])",
    ),
    Given(
        "what let* has bound",
        leaf=(WORDS,),
        around='(let* ((a (leaf "it")) (b CALL)) (list a b))',
    ),
    Given(
        "what bind has bound",
        leaf=(WORDS,),
        around='(begin (bind a (leaf "it")) (bind b CALL) (list a b))',
    ),
    Given(
        "what a map has made",
        leaf=(WORDS,),
        around='(map (lambda (x) (if (= x 1) (leaf "it") CALL)) [1 2])',
    ),
    Given(
        "what a fold has made",
        leaf=(WORDS,),
        around='(fold (lambda (all x) (append all [(if (= x 1) (leaf "it") CALL)])) [] [1 2])',
    ),
    Given("an argument before it", leaf=(WORDS,), around='(list (leaf "it") 3 CALL)'),
    Given("a part of a table", leaf=(WORDS,), around='{a: (leaf "it") b: CALL}'),
    Given("a subtask of a step", (spawn(),), (WORDS,), around="(sequence [(lambda (x) CALL)] 1)"),
    Given(
        "a subtask of an input", (spawn(),), (WORDS,), around="(map-tasks (lambda (x) CALL) [1])"
    ),
)


@frozen
class Way:
    """A way out of a conversation: what the parent says after it was given something, and with
    which reason it ends. Where all wait, `then` says what happens: `fire`, `pause` or `cancel`."""

    name: str
    reason: str
    says: tuple[Reply, ...] = (NEVER,)
    around: str = "CALL"
    clauses: str = ""
    handled: str = ""
    then: str = ""
    turns: int | None = None
    """How many turns are left for the parent."""
    usage: Any = None
    """What the last reply took that gave something."""
    bounded: bool = False
    """Whether the run has no model call left then."""
    is_of_others: bool = False
    """Whether the error is not that of the conversation, which stands beside it."""


SPENT = {"input_tokens": 0, "output_tokens": 60_000}


def failed(reason: str, content: str | None = None) -> Record:
    """How a model call ends without a reply."""
    return error_record("TASK_FAILURE", reason, "as the law wants it", content=content)


WAYS = (
    Way("the model refuses", "llm_error", (stopped("refusal"),)),
    Way("no turn is left", "turns", (spawn("more"),), turns=1),
    Way("no room for its output", "output", (stopped("max_tokens"),)),
    Way("no room in the window", "context", (stopped("model_context_window_exceeded"),)),
    Way(
        "no room for what it asked for",
        "context",
        ({"content": spawn("more"), "usage": {"input_tokens": 200_000, "output_tokens": 1}},),
    ),
    Way("a reply of no protocol", "protocol_error", (stopped("odd"),)),
    Way("no reply fits", "output_format_failure", (WORDS,) * 3, clauses="(returns integer)"),
    Way(
        "malformed requests",
        "input_validation_failure",
        (use("spawn_subtask", inputs=[1]),) * 3,
    ),
    Way("malformed plans", "input_validation_failure", (use("propose_subplan", subtasks=1),) * 3),
    Way("refused plans", "execution_halted", (propose(*["leaf"] * 11),) * 3),
    Way(
        "cycles",
        "execution_halted",
        (use("spawn_subtask", name="parent", inputs={"goal": "it"}),) * 3,
    ),
    Way("the provider is overloaded", "model-overloaded", (failed("model-overloaded"),)),
    Way("the connection is lost", "network", (failed("network", WORDS),)),
    Way("the host has no model", "no-model", (failed("no-model"),)),
    Way("its own timeout", "seconds", clauses="(limits timeout: 5)", then="fire"),
    Way("a deadline", "seconds", around="(with-timeout 5 CALL)", then="fire"),
    Way(
        "a deadline around branches",
        "seconds",
        around="(with-timeout 5 (par (pause) CALL))",
        then="fire",
        is_of_others=True,
    ),
    Way("a budget of seconds", "seconds", around="(with-budget {seconds: 5} CALL)", then="fire"),
    Way("a budget of calls", "calls", around="(with-budget {calls: MADE} CALL)"),
    Way("a budget of tokens", "tokens", around="(with-budget {tokens: 50000} CALL)", usage=SPENT),
    Way("a budget of money", "usd", around="(with-budget {usd: 0.5} CALL)", usage=SPENT),
    Way(
        "an error in a handler of model",
        "odd",
        ("Now.",),
        handled="""((model payload) resume
          (begin
            (bind reply (perform model payload))
            (if (member? "Now." (map (lambda (block) block.text) reply.content))
                (raise {reason: "odd"})
                (resume reply))))""",
        is_of_others=True,
    ),
    Way(
        "an error in a handler of subtask",
        "odd",
        (spawn("bad"),),
        handled="""((subtask request) resume
          (if (equal? request.inputs.what "bad")
              (raise {reason: "odd"})
              (forward resume subtask request)))""",
        is_of_others=True,
    ),
    Way(
        "an error in a handler of subplan",
        "odd",
        (propose("leaf", reason="Ambiguity"),),
        handled="""((subplan plan) resume
          (if (equal? plan.reason "Ambiguity")
              (raise {reason: "odd"})
              (forward resume subplan plan)))""",
        is_of_others=True,
    ),
    Way(
        "an error in a handler of tool",
        "odd",
        (use("ask", what="bad"),),
        handled="""((tool name given) resume
          (if (equal? given.what "bad")
              (raise {reason: "odd"})
              (forward resume tool name given)))""",
        is_of_others=True,
    ),
    Way(
        "an error beside it",
        "odd",
        around='(par CALL (begin (pause) (raise {reason: "odd"})))',
        then="pause",
        is_of_others=True,
    ),
    Way("the run is cancelled", "cancelled", then="cancel", is_of_others=True),
    Way("the run has no model call left", "limit-model-calls", bounded=True, is_of_others=True),
)

CELLS = [
    (way, given)
    for way in WAYS
    for given in GIVEN
    if (way.then or not given.is_at_work)
    and (not given.is_before or not way.is_of_others or way.then == "cancel" or way.bounded)
]
"""Nothing from inside ends a conversation that waits for others. Where the error is not that of
the conversation, and not that of the run, it does not say what the program had done before in the
same place."""


def nothing_lost(seed: int) -> str | None:
    """What was given is in the error and in the notes of the FAILED result."""
    way, given = CELLS[seed % len(CELLS)]
    text = program(way, given)
    error = end(text, way, given)
    fields = error.fields
    where = f"{way.name} x {given.name}: {text}"
    if fields["reason"] != way.reason:
        return f"{where}\nit ended with {fields['reason']}, {fields['message']}"
    result = make_failed_result(error)
    told = fields["details"].get("partial_results")
    notes = result.fields["notes"]
    noted = {name: item for name, item in notes.items() if name != "error"}
    if given.name == "its own words" and not way.is_of_others:
        told, noted = fields["content"], result.fields["content"]
    if WORDS not in str(plain(told)):
        return f"{where}\nthe error does not tell it: {plain(error)}"
    if WORDS not in str(plain(noted)):
        return f"{where}\nthe notes do not tell it: {plain(noted)}"
    return None


def program(way: Way, given: Given) -> str:
    """The program of a cell: its value is the FAILED result."""
    turns = "" if way.turns is None else f" max_turns: {len(given.parent) + way.turns}"
    call = f'(call-atomic-task \'parent inputs: {{goal: "it"}}{turns})'
    body = way.around.replace("CALL", given.around.replace("CALL", call))
    for clause in (given.handled, way.handled):
        body = f"(handle {body} {clause})" if clause else body
    body = body.replace("MADE", str(given.calls))
    steps = "(import std/steps)" if any(name in body for name in STEPS) else ""
    return f"{steps}{TASKS.replace('CLAUSES', way.clauses)}(attempt {body})"


def end(text: str, way: Way, given: Given) -> Record:
    """The error that a program comes to."""
    left = {
        "parent": [*given.parent, *way.says],
        "lead": [*given.lead],
        "leaf": [*given.leaf],
    }
    limits = Limits(model_calls=max(1, given.calls)) if way.bounded else Limits()
    costs = meter(lambda: lambda model, taken, given, *cached: 0.00001 * (taken + given))
    outcome: Any = start(built(text), {}, tasks(), limits, None, costs)
    while isinstance(outcome, Suspended):
        outcome = _next(outcome, way, left)
    if isinstance(outcome, Failed):
        return outcome.error
    error: Record = outcome.value.fields["notes"]["error"]
    return error


def _next(outcome: Suspended, way: Way, left: dict[str, list[Reply]]) -> Any:
    """One more answer, of what can be answered; else what ends it all."""
    for request in outcome.requests:
        if request.operation == "progress":
            return outcome.resume(request.id, None)
        if request.operation == "model":
            task = request.arguments[0]["task"]
            reply = left[task][0] if left[task] else "More."
            if reply is NEVER:
                continue
            del left[task][:1]
            if isinstance(reply, Record):
                return outcome.fail(request.id, reply)
            said = shape_reply(reply, "law", request)
            if way.usage and len(left["parent"]) == len(way.says) and not left["leaf"]:
                said = {**said, "usage": way.usage}
            return outcome.resume(request.id, value_of(said))
    if way.then == "cancel":
        return outcome.cancel()
    wanted = ("timer", (5,)) if way.then == "fire" else ("pause", ())
    found = [each for each in outcome.requests if (each.operation, each.arguments) == wanted]
    outermost = min(found, key=lambda each: sort_key(each.id))
    return outcome.resume(outermost.id, None)
