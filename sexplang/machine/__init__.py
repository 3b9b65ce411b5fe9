"""The machine: core to an Outcome, the next requests or the end. It performs nothing.

**A step** is `fn, a, k, s = fn(a, k, s)`. `fn` is code, which takes an environment in `a`, or the
resume of the frame on top, which takes a value. `k` is the frames of the segment on top and `s` the
segments; both are linked from the top and never change, so continuations share them. `loop` takes
steps until one raises an `Exit`; then `scheduler` decides, and resumes a branch with a step.

**Segments** are `(kind, frames below, segments below, context, data)`. A value that reaches the
bottom of its frames leaves the segment as its kind says. To unwind segments, each is put back as
the `stripped` form of its kind, without frames and return clauses, and left in order. `then` says
what follows. An error is performed first, as an operation, while all segments still stand; they are
left only when a clause has taken the error, or when none has (`Uncaught`).

| kind | stands around | data | stripped |
|---|---|---|---|
| base | a branch, `stack` | None, or the `Parent` | is never unwound |
| boundary | a clause that may resume, `stack` | the continuation | the same |
| handle | the body of a handle expression, `unwind` | the environment | pending |
| pending | the segments that are unwound in one | (environment, `then`) | the same |
| finally | the body of a `try`, `unwind` | the environment | the same |
| cleaning | a `finally` body after a value | (the value,) | the same |
| unwinding | a `finally` body while its `try` is unwound | (the refusals met,) | pending |
| scope | a deadline, a budget or a plan's steps, `unwind` | its id | (id, `then`) |
| own | a clause that owns a continuation with cleanup | the continuation | the same |
| used | the same once the continuation was called | None | the same |
| job | `(with-permit f)`: a request in it needs a permit | None | the same |
| cross | a clause from beyond a branch's base, `handlers` | the branch's own stack | cut |
| conversation | a call of a task, `conversation` (a handle) | session, work, … | pending |
| attempt | `(attempt e)` and tools, `conversation` (a handle) | () | pending |
| loser | a branch of a race, `effects` (a handle) | () | pending |
| plan | a program from a model, `model_programs` (a handle) | (its operations,) | pending |
| work | a piece of traced work, `delegation` | None | passes the value on |
| module | the top level of an imported module, `link` | its name | the same |

**Exits** (`exits`), and what the scheduler does:

| exit | the branch | then |
|---|---|---|
| AskHost | asks the host | waits, for a permit first if it is in a job |
| Fork | starts branches | waits for their values |
| BranchEnd | has its value | the fork has it; the run ends with the root's |
| EnterScope, LeaveScope | opens a scope; is about to leave one | goes on, in time or not |
| AcquirePermit | begins a job | goes on with a permit, or waits for one |
| ClaimShared | asks for a shared value | has it, computes it, or waits for it |
| PutShared | has computed a shared value, or gives up | those that wait go on |
| BeginSpan, EndSpan | begins or ends a piece of traced work | goes on |
| RequestSubtask, JudgePlan | asks for a subtask; has a plan judged | goes on, or fails at a limit |
| ReadLimits | asks for the limits of a subagent | goes on |
| AbortHandler | ends a handle expression of a branch around it | that one cancels its branches |
| Uncaught | raised an error that no handler takes | the program unwinds and fails |
| StepInterrupt, SliceEnd | stopped between two steps | goes on with the next, now or later |
| LimitReached | reached a limit of the interpreter | its plan or the run ends at once |
"""

from sexplang.machine.library.roster import HIGHER
from sexplang.machine.limits import Limits
from sexplang.machine.link import Standing
from sexplang.machine.loop import COMPUTING, STOPPED, stop_turn
from sexplang.machine.outcome import (
    Done,
    Failed,
    Outcome,
    Suspended,
    advance,
    halt,
    hold_attempt,
    proceed,
    span_events_of,
    start,
    state_of,
)
from sexplang.machine.scopes.deadlines import Pause, Slice

__all__ = [
    "COMPUTING",
    "HIGHER",
    "STOPPED",
    "Done",
    "Failed",
    "Limits",
    "Outcome",
    "Pause",
    "Slice",
    "Standing",
    "Suspended",
    "advance",
    "halt",
    "hold_attempt",
    "proceed",
    "span_events_of",
    "start",
    "state_of",
    "stop_turn",
]
