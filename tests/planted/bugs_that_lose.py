"""Bugs planted on purpose: each forgets something that a conversation had been given."""

# ruff: noqa: E501  # what is replaced is as long as it is

from planted.bugs import Bug

LOSING = [
    Bug(
        "a conversation forgets the results of its subtasks",
        "nothing_lost",
        "tasks/turns/conversation_end.py",
        (('{"subtasks": planning.subtasks, "artifacts"', '{"artifacts"'),),
    ),
    Bug(
        "a conversation forgets what it has delivered",
        "nothing_lost",
        "tasks/turns/conversation_end.py",
        (("merge(planning.artifacts, more)", "merge((), more)"),),
        seed=8,
    ),
    Bug(
        "a conversation forgets what answered its plans",
        "nothing_lost",
        "tasks/turns/conversation_end.py",
        ((', "subplans": planning.accepted}', "}"),),
        seed=12,
    ),
    Bug(
        "a malformed plan delivers nothing",
        "nothing_lost",
        "tasks/turns/tools.py",
        (
            (
                "                planning = with_artifacts(planning, asked.malformed)",
                "                pass",
            ),
        ),
        seed=11,
    ),
    Bug(
        "a result that no task gave is no subtask's",
        "nothing_lost",
        "tasks/turns/conversation_end.py",
        (("if is_asked or _is_result(each)]", "if _is_result(each)]"),),
        seed=6,
    ),
    Bug(
        "a task behind a tool is none",
        "nothing_lost",
        "tasks/turns/conversation_end.py",
        (("if is_asked or _is_result(each)]", "if is_asked]"),),
        seed=7,
    ),
    Bug(
        "what a conversation waited for is forgotten with it",
        "nothing_lost",
        "tasks/turns/conversation_end.py",
        (('            notes = {"unfinished": _about(inner, notes)}', "            notes = {}"),),
        seed=380,
    ),
    Bug(
        "a plan at work is forgotten",
        "nothing_lost",
        "machine/scheduler/partial_results.py",
        (("tuple(cuts), tuple(values), is_graph(branch))", "tuple(cuts), (), is_graph(branch))"),),
        seed=379,
    ),
    Bug(
        "what stands in branches is forgotten",
        "nothing_lost",
        "machine/scheduler/partial_results.py",
        (("        cuts += (had.cut,) if had.cut.sessions else had.cut.inside\n", ""),),
        seed=424,
    ),
    Bug(
        "a clause forgets the conversations that it holds",
        "nothing_lost",
        "machine/scheduler/partial_results.py",
        (("elif data.__class__ is Continuation:", "elif data is found:"),),
        seed=553,
    ),
    Bug(
        "an error tells nothing of what it ends in other branches",
        "nothing_lost",
        "machine/scheduler/cancellation.py",
        (("error = add_partial_results(scheduler, error, target, left.node)", "pass"),),
        seed=604,
    ),
    Bug(
        "a run that is cancelled tells nothing",
        "nothing_lost",
        "machine/scheduler/cancellation.py",
        (("return add_all_partial_results(scheduler, error)", "return error"),),
        seed=642,
    ),
    Bug(
        "a run that reaches a limit tells nothing",
        "nothing_lost",
        "machine/scheduler/cancellation.py",
        (
            (
                "scheduler.broken = add_all_partial_results(scheduler, error)",
                "scheduler.broken = error",
            ),
        ),
        seed=672,
    ),
    Bug(
        "a result has no notes of what its task was given",
        "nothing_lost",
        "terms/task.py",
        (('{"error": error, **_partial_notes(partial_of(error))}', '{"error": error}'),),
    ),
    Bug(
        "a sequence forgets what its last step was given",
        "nothing_lost",
        "../stdlib/steps.sexp",
        (
            (
                '(append (_partial so-far)\n                                      (_cut err "step_index" so-far.index "output"))',
                "(_partial so-far)",
            ),
        ),
        seed=24,
    ),
]
