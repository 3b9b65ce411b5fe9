"""Bugs planted on purpose: what is replaced in which file, and the law that must notice.

A row is real code made subtly wrong. `old` occurs exactly once in its file; when a change of the
code moves it, the row moves along.
"""

# ruff: noqa: E501  # what is replaced is as long as it is

from attrs import frozen


@frozen
class Bug:
    name: str
    law: str
    file: str
    changes: tuple[tuple[str, str], ...]
    within: int = 1_000
    """Within how many programs the law finds it."""
    seed: int = 0
    """The one of them with which it was found last: it is looked at first."""


BUGS = [
    Bug(
        "a function that is evaluated where it is called is no step",
        "steps",
        "machine/code/calls.py",
        (
            (
                "            inner = env[0], only(env)\n            try:\n                next(account().ticks)",
                "            inner = env[0], only(env)\n            try:\n                account()",
            ),
        ),
        seed=2,
    ),
    Bug(
        "code that is too tall for Python's stack takes a step more",
        "steps",
        "machine/code/maker.py",
        (("        return back, env, (back, k), s", "        return code, env, k, s"),),
    ),
    Bug(
        "of the elements that are gone through at once the first counts twice",
        "steps",
        "machine/loop.py",
        (("            self.work(done - known)", "            self.work(done)"),),
        seed=5,
    ),
    Bug(
        "a branch that goes on after a slice is taken up anew",
        "steps",
        "machine/scheduler/scheduler.py",
        (("before + _STRETCH if rest is None else before", "before + _STRETCH"),),
        seed=5,  # under others it never ends
    ),
    Bug(
        "the return clause also runs for the value of another clause",
        "agrees",
        "machine/handlers.py",
        (
            (
                "        return finish(then, environment(node), node[1], node[2])",
                "        return finish(then, environment(node), BOTTOM, node)",
            ),
        ),
    ),
    Bug(
        "handlers are shallow: a resumption stands outside its handler",
        "agrees",
        "machine/handlers.py",
        (
            (
                "    for kind, frames, context, data in rebase_segments(continuation, _around(k, s)):\n",
                "    outermost = continuation.segments[-1][0]\n"
                "    for kind, frames, context, data in rebase_segments(continuation, _around(k, s)):\n"
                "        if kind is outermost:\n"
                "            kind = type(BOUNDARY)('shallow', kind.leave)\n",
            ),
        ),
        seed=3,
    ),
    Bug(
        "a finally in the body of a try runs after the catch instead of before it",
        "agrees",
        "machine/handlers.py",
        (
            (
                "            return abandon(continuation, node[1], node[2], then)",
                "            late = (OWN, node[1], node[2], s[3], continuation)\n"
                "            return clause.body, (*environment(node), *values, None), BOTTOM, late",
            ),
        ),
        seed=37,
    ),
    Bug(
        "a try's own finally runs before its catch",
        "agrees",
        "compiler/forms/effects.py",
        (
            (
                "    return Finally(inner, cleanup, span=form.span)",
                "    if type(inner) is Handle:\n"
                "        guarded = Finally(inner.body, cleanup, span=form.span)\n"
                "        return Handle(guarded, inner.clauses, span=form.span)\n"
                "    return Finally(inner, cleanup, span=form.span)",
            ),
        ),
        seed=35,
    ),
    Bug(
        "a clause that ends without calling its continuation forgets it",
        "agrees",
        "machine/unwind.py",
        (
            (
                '    return abandon(s[4], s[1], s[2], ("value", value))',
                "    return give(value, s)",
            ),
        ),
        seed=12,
    ),
    Bug(
        "the second call of a continuation goes on where the first one stood",
        "agrees",
        "machine/handlers.py",
        (
            (
                "    k, s = _push(continuation, k, s)\n    if any(",
                "    stood = resume.__dict__\n"
                "    k, s = stood.setdefault(continuation, _push(continuation, k, s))\n"
                "    if any(",
            ),
        ),
        seed=103,
    ),
    Bug(
        "a fork takes no ordinal of its branch, so identities come again",
        "agrees",
        "machine/scheduler/branches.py",
        (
            (
                "        branch.ordinal + 1,\n",
                "        branch.ordinal,\n",
            ),
        ),
        seed=9,
    ),
    Bug(
        "the values of a par come in the order in which its branches end",
        "any_order",
        "machine/scheduler/scheduler.py",
        (
            (
                "forked.values.set(branch.path[-1], value)",
                "forked.values.set(len(forked.values), value)",
            ),
        ),
        seed=5,
    ),
    Bug(
        "branches begin with the last",
        "agrees",
        "machine/scheduler/scheduler.py",
        (("for index in reversed(indexes):", "for index in indexes:"),),
        seed=18,
    ),
    Bug(
        "forward searches from the innermost handler again",
        "agrees",
        "machine/handlers.py",
        (("    start = None if fails else s\n", "    start = None\n"),),
        seed=14,
    ),
    Bug(
        "the WORD of a catch is looked at when everything has been left",
        "agrees",
        "machine/unwind.py",
        (
            ("        if not self.words:\n            return True\n", "        return True\n"),
            (
                "    return clause.body, (*env, *values, None), k, s",
                "    fields = values[0].fields if clause.words else {}\n"
                "    if clause.words and not {fields['type'], fields['reason']} & {*clause.words}:\n"
                "        from sexplang.machine.handlers import fail\n"
                "        return fail(values[0], k, s)\n"
                "    return clause.body, (*env, *values, None), k, s",
            ),
        ),
        seed=11,
    ),
    Bug(
        "the bindings of a let see each other",
        "agrees",
        "compiler/forms/control.py",
        (
            (
                "    pairs = bindings_of(c, form, form.items[1], unique=True)\n    values",
                "    return (yield from let_star(c, form, position))\n"
                "    pairs = bindings_of(c, form, form.items[1], unique=True)\n    values",
            ),
        ),
        seed=352,
    ),
    Bug(
        "recur sets one variable after another",
        "agrees",
        "machine/code/loops.py",
        (
            (
                "    return lambda env, k, s: (\n        code.body,\n"
                "        (env[0], *[simple(env) for simple in simples]),\n",
                "    def in_turn(env):\n"
                "        for at, simple in enumerate(simples, 1):\n"
                "            env = (*env[:at], simple(env), *env[at + 1 :])\n"
                "        return env[: len(simples) + 1]\n\n"
                "    return lambda env, k, s: (\n        code.body,\n"
                "        in_turn(env),\n",
            ),
        ),
        seed=19,
    ),
    Bug(
        "an error inside a primitive can be resumed",
        "agrees",
        "machine/loop.py",
        (
            (
                "failure.fn), k, s, resumable=False)",
                "failure.fn), k, s)",
            ),
        ),
        seed=13,
    ),
    Bug(
        "a clause in a branch that ends without resuming gives its value to the branch",
        "agrees",
        "machine/handlers.py",
        (
            (
                '    raise AbortHandler(data.level, data.node, ("value", value), data.k, data.s)',
                "    return data.k[0], value, data.k, data.s",
            ),
        ),
        seed=93,
    ),
    Bug(
        "a branch that is cancelled is dropped without leaving its scopes",
        "cancelled",
        "machine/scheduler/cancellation.py",
        (
            (
                "        return branch, abandon_all(k, s, around, met)",
                "        from sexplang.machine.stack import BOTTOM\n"
                "        return branch, (BOTTOM[0], None, BOTTOM, base_of(s))",
            ),
        ),
        seed=44,
    ),
    Bug(
        "a branch whose error nobody takes is left where it began",
        "agrees",
        "machine/scheduler/cancellation.py",
        (
            (
                "        scheduler.park(branch, left)\n        root = ",
                "        root = ",
            ),
        ),
        within=3_000,
        seed=16,
    ),
    Bug(
        "a race is decided by a branch that fails",
        "agrees",
        "machine/scheduler/scheduler.py",
        (
            (
                "    elif parent.race and not isinstance(value, exits.Lost):",
                "    elif parent.race:",
            ),
        ),
        seed=13,
    ),
    Bug(
        "a deadline that broke breaks the cleaning up too",
        "agrees",
        "machine/scheduler/cancellation.py",
        (
            (
                "        around = around.with_expired(broken)",
                "        around = around.replace()",
            ),
        ),
    ),
    Bug(
        "an outer deadline waits for what cleans up already",
        "agrees",
        "machine/scheduler/cancellation.py",
        (
            (
                "        if child is None or (child.leaving and scope is None):",
                "        if child is None or child.leaving:",
            ),
        ),
        seed=276,
    ),
    Bug(
        "what is resumed is not under the deadlines and budgets around the call",
        "agrees",
        "machine/unwind.py",
        (
            (
                "    if origin is around or _bounds(origin) == _bounds(around):",
                "    if origin is around or len(origin.scopes) <= len(around.scopes):",
            ),
        ),
    ),
    Bug(
        "a budget that is spent is an error of the request, not of its form",
        "agrees",
        "machine/scheduler/cancellation.py",
        (
            (
                "        break_scope(scheduler, branch, left, scope, refused.error)",
                "        scheduler.table.schedule(branch, (raise_error, refused.error, left.k, left.s))",
            ),
        ),
        seed=13,
    ),
    Bug(
        "a deadline that passes ends only the first branch that waits under it",
        "agrees",
        "machine/scheduler/scheduler.py",
        (
            (
                "        self._expired[:0] = [(branch, id, error) for branch in found]",
                "        self._expired[:0] = [(branch, id, error) for branch in found[:1]]",
            ),
        ),
        seed=70,
    ),
    Bug(
        "a time of grace is named after how many there were before",
        "replayed",
        "machine/scheduler/cancellation.py",
        (
            (
                "        id = request_id(branch.path, branch.ordinal)\n",
                "        _unwind.graces = getattr(_unwind, 'graces', 1_000) + 1\n"
                "        id = request_id(branch.path, _unwind.graces)\n",
            ),
        ),
    ),
    Bug(
        "a job keeps its permit when nobody works in it any more",
        "agrees_with_permits",
        "machine/scheduler/permits.py",
        (("            if waiting:\n", "            if waiting or len(job) == 1:\n"),),
    ),
    Bug(
        "who came last has the next permit",
        "agrees_with_permits",
        "machine/scheduler/permits.py",
        (("    return line[0], (job, line[1])", "    return (job, line[0]), line[1]"),),
        seed=3,
    ),
    Bug(
        "a child never works with the permit of its parent",
        "agrees_with_permits",
        "machine/scheduler/permits.py",
        (("        more = not held or self._active[held][1] > 0", "        more = True"),),
    ),
    Bug(
        "what cleans up while others go on needs a permit",
        "agrees_with_permits",
        "machine/scheduler/cancellation.py",
        (
            (
                "        around = around.with_scope(id).replace(jobs=None)",
                "        around = around.with_scope(id)",
            ),
        ),
        seed=11,
    ),
    Bug(
        "a node of a plan begins before all that it comes after are done",
        "graphs",
        "machine/scheduler/plan_graphs.py",
        (
            (
                "        and all(each in branch.values for each in before)",
                "        and all(each in branch.values for each in before[:1])",
            ),
            (
                "    return fn, (*a, tuple([branch.values[each].value for each in branch.after[index]]))",
                "    known = [each for each in branch.after[index] if each in branch.values]\n"
                "    return fn, (*a, tuple([branch.values[each].value for each in known]))",
            ),
        ),
        seed=2,
    ),
    Bug(
        "a first success does not end its siblings",
        "graphs",
        "machine/scheduler/plan_graphs.py",
        (
            (
                "    return below[0], Settled(value[1], value[0] not in (False, None)), below, s",
                "    return below[0], Settled(value[1], False), below, s",
            ),
        ),
    ),
    Bug(
        "a node is given what it comes after in the order of the plan, not in its own",
        "graphs",
        "machine/scheduler/plan_graphs.py",
        (
            (
                "[branch.values[each].value for each in branch.after[index]]",
                "[branch.values[each].value for each in sorted(branch.after[index])]",
            ),
        ),
        seed=2,
    ),
    Bug(
        "whoever ends a plan leaves its siblings as if they had not begun",
        "graphs",
        "machine/scheduler/scheduler.py",
        (
            (
                "        results = values_so_far(parent, errors_of_nodes(scheduler, parent))\n"
                "        end_fork(scheduler, parent, (parent.k[0], results, parent.k, parent.s))",
                "        results = values_so_far(parent, {})\n"
                "        table.schedule(parent, (parent.k[0], results, parent.k, parent.s))",
            ),
        ),
    ),
    Bug(
        "a task that fails is said to be where somebody waits for it",
        "located",
        "machine/code/calls.py",
        (
            (
                "            below = k if is_library else (return_value, k, span, env)",
                "            below = k",
            ),
        ),
        seed=2,
    ),
    Bug(
        "what the body of a task's call has bound is not looked for",
        "bound_before",
        "machine/code/calls.py",
        (("(return_value, k, span, env)", "(return_value, k, span, ())"),),
    ),
    Bug(
        "the answer is guessed from what was read, so null is the text",
        "answers_are_values",
        "terms/values/value.py",
        (
            (
                '    return value.fields["content"] if value.answer is None else value.answer[0]',
                '    read = value.fields["parsed_content"]\n'
                '    return value.fields["content"] if read is None else read',
            ),
        ),
        seed=11,
    ),
    Bug(
        "a known task that is called by its name gives its result",
        "result_answers",
        "machine/code/calls.py",
        (
            (
                "            return call_task(task, inputs, {}, below, s, wants)",
                "            return call_task(task, inputs, {}, below, s, 'result')",
            ),
        ),
    ),
    Bug(
        "a choice in other letters is no choice",
        "answers_are_values",
        "templates/reply/answers.py",
        (("    return _bare_word(text).casefold()", "    return _bare_word(text)"),),
        seed=4,
    ),
    Bug(
        "a clause that gives the body up works for whoever performed",
        "working_for",
        "machine/handlers.py",
        (
            (
                "        return finish(then, environment(node), node[1], node[2])",
                "        around = (BOUNDARY, node[1], node[2], s[3], None)\n"
                "        return finish(then, environment(node), BOTTOM, around)",
            ),
        ),
        seed=7,
    ),
    Bug(
        "a conversation performs the error that it fails with",
        "working_for",
        "machine/tasks/conversation.py",
        (
            (
                'CONVERSATION = HandlerKind({"error": (ClauseCode(_fail, 1, "never", ()),)}, None)',
                "CONVERSATION = HandlerKind({}, None)",
            ),
        ),
        seed=44,
    ),
    Bug(
        "a context loses a field where another is made of it",
        "working_for",
        "machine/stack.py",
        (
            (
                "            self.conversations if conversations is _SAME else conversations,",
                "            () if conversations is _SAME else conversations,",
            ),
        ),
        seed=66,
    ),
    Bug(
        "a table keeps its keys sorted",
        "json_is_itself",
        "compiler/forms/quotation.py",
        (
            (
                "    return Const(fields, span=span)",
                "    return Const(dict(sorted(fields.items())), span=span)",
            ),
        ),
        seed=11,
    ),
    Bug(
        "two appends to one list share the chunk that grows",
        "shapes",
        "machine/code/lists.py",
        (
            (
                "                made = Long()\n                made.head = items.head\n",
                "                made = items\n",
            ),
        ),
        seed=62,
    ),
    Bug(
        "a list that goes on in a block loses what stood after the block",
        "shapes",
        "terms/values/sequences.py",
        (
            (
                "                body, backs = backs[0], backs[1:]",
                "                body, backs = backs[0], ()",
            ),
        ),
        seed=2,
    ),
    Bug(
        "a text that grows at its end also grows for whoever held it before",
        "shapes",
        "terms/values/rope.py",
        (
            (
                "        return Rope((left, right + more), size)",
                "        text.parts, text.size = (left, right + more), size\n        return text",
            ),
        ),
        seed=172,
    ),
]
