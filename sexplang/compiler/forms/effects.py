"""Effect forms to core: `perform`, `forward`, `handle`, `try`, `attempt`, branches, deadlines and
budgets.
"""

from collections.abc import Generator
from typing import Any

from sexplang.compiler.calls import check_count, plain_arguments
from sexplang.compiler.compilation import (
    CALLS,
    IN_CLAUSE,
    KEPT,
    KINDS,
    TAIL,
    Continuation,
    Lowered,
    Lowering,
    Steps,
)
from sexplang.compiler.forms.patterns import report_duplicate
from sexplang.compiler.forms.shapes import word_of
from sexplang.compiler.functions import body
from sexplang.compiler.names import mention
from sexplang.terms.core import (
    Attempt,
    Budgeted,
    Call,
    Clause,
    Const,
    Core,
    Finally,
    Forward,
    Handle,
    Par,
    PerformOp,
    Race,
    Timed,
)
from sexplang.terms.diagnostic import Edit, Label
from sexplang.terms.form import Form, ListForm, Literal, Name
from sexplang.terms.source import Span


def perform(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(perform operation e…)`"""
    operation = form.items[1]
    arguments = yield plain_arguments(c, form, form.items[2:])
    if type(operation) is not Name:
        return c.report_malformed(form, operation, "I expected the name of an operation here")
    name = _check_operation(c, form, operation, len(arguments))
    return PerformOp(name, arguments, span=form.span)


def _name_of(c: Lowering, form: Name) -> str:
    """Return the operation's own name, for a name such as `u.op`."""
    known = c.operation(form.text)
    return form.spelling if known is None else known.name


def _check_operation(c: Lowering, form: ListForm, operation: Name, count: int) -> str:
    name = _name_of(c, operation)
    c.performed.append((name, operation.span))
    known = c.operation(operation.text)
    if known is not None:
        most = None if known.rest else len(known.params)
        check_count(c, form, known.name, count, known.least, most, known.params)
    return name


def forward(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(forward resume operation e…)`"""
    arguments = yield plain_arguments(c, form, form.items[3:])
    target, operation = form.items[1], form.items[2]
    if type(operation) is not Name:
        return c.report_malformed(form, operation, "I expected the name of an operation here")
    binding = c.names.find(target.text) if type(target) is Name else None
    if type(binding) is not Continuation:
        return c.report_malformed(form, target, "I expected the continuation of the clause here")
    if binding is not c.clause or not position & IN_CLAUSE or c.fence > binding.fence:
        return c.report(
            "forward-misplaced",
            form.span,
            "`forward` is not the last thing that its clause does",
            "here something is still to be done afterwards, or the continuation is another's",
            hint="put `forward` last in the clause, with the clause's own continuation; to go on "
            f"with the answer write `(resume (perform {operation.text} …))`",
        )
    assert isinstance(target, Name)
    name = _check_operation(c, form, operation, len(arguments))
    c.note_use(binding, TAIL, position)
    continuation = _local(c, binding, target)
    fails = name == "error" and binding.operation != "error"
    return Forward(continuation, name, arguments, fails, span=form.span)


def _local(c: Lowering, binding: Continuation, form: Name) -> Core:
    # `mention` would count this as a use as a value.
    use = binding.use
    core = mention(c, form, 0)
    binding.use = use
    return core


def resume(c: Lowering, form: ListForm, binding: Continuation, position: int) -> Steps:
    """`(resume e)` or `(resume)`: a clause's continuation at the head of a call."""
    head = form.items[0]
    assert isinstance(head, Name)
    arguments = yield plain_arguments(c, form, form.items[1:])
    c.note_use(binding, TAIL, position)
    if not check_count(c, form, head.text, len(arguments), 0, 1, ("value",)):
        return Const(None, span=form.span)
    if not arguments:
        arguments = (Const(None, span=form.span),)
    return Call(_local(c, binding, head), arguments, span=form.span)


def abandon(c: Lowering, form: ListForm, callee: Core) -> Core:
    """`(abandon resume)` ends a continuation. This use does not keep it."""
    target = form.items[1]
    assert isinstance(target, Name)
    binding = c.names.find(target.text)
    assert isinstance(binding, Continuation)
    c.note_use(binding, CALLS)
    return Call(callee, (_local(c, binding, target),), span=form.span)


def handle(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(handle body ((operation param…) resume body…) … (return name body…))`"""
    mark, scopes = len(c.mentions), c.scopes
    if _is_clause_first(c, form):
        hint = "the body comes first: `(handle body ((operation param…) resume body…) …)`"
        return c.report_malformed(form, form.items[1], "this is a clause", hint=hint)
    inner = yield c.lower(form.items[1])
    has_scope = c.scopes > scopes
    clauses: list[Clause] = []
    seen: dict[str, Span] = {}
    returns: Core | None = None
    return_span: Span | None = None
    for item in form.items[2:]:
        if word_of(item) == "return":
            if return_span is not None:
                _report_twice(c, "return", item.span, return_span)
            return_span = item.span
            returns = yield _returns(c, form, item)  # type: ignore[arg-type]
            continue
        operation = _operation(c, form, item)
        if operation is None:
            continue
        name = _name_of(c, operation)
        if name in seen:
            _report_twice(c, name, operation.span, seen[name])
        seen.setdefault(name, operation.span)
        clause = yield _clause(c, form, item, operation, has_scope)  # type: ignore[arg-type]
        if clause is not None:
            clauses.append(clause)
    if any(clause.kind == "kept" for clause in clauses):
        _keep(c, mark)
    return Handle(inner, tuple(clauses), returns, span=form.span)


def _is_clause_first(c: Lowering, form: ListForm) -> bool:
    """Return whether a clause stands where the body belongs, and the body is the last form."""
    first, last = form.items[1], form.items[-1]
    if type(first) is not ListForm or len(first.items) < 3 or type(first.items[0]) is not ListForm:
        return False
    target = first.items[1]
    is_new = type(target) is Name and c.names.find(target.text) is None
    return is_new and word_of(first.items[0]) != "lambda" and not _is_clause(last)


def _is_clause(form: Form) -> bool:
    return type(form) is ListForm and bool(form.items) and type(form.items[0]) is ListForm


def _keep(c: Lowering, mark: int) -> None:
    """Mark every continuation that is mentioned in a kept body as kept."""
    for continuation in c.mentions[mark:]:
        continuation.use = KEPT
    del c.mentions[mark:]


def _report_twice(c: Lowering, operation: str, span: Span, first: Span) -> None:
    c.report(
        "duplicate-name",
        span,
        f"`{operation}` has two clauses in this handle",
        "again here",
        also=(Label(first, "first here"),),
        hint="make one clause of them, and choose inside it",
    )


def _operation(c: Lowering, form: ListForm, item: Form) -> Name | None:
    """Return the operation of a clause, if the clause is well formed."""
    wanted = "I expected a clause `((operation param…) resume body…)` here"
    if type(item) is not ListForm or not item.items or type(item.items[0]) is not ListForm:
        c.report_malformed(form, item, wanted)
    elif not item.items[0].items or type(item.items[0].items[0]) is not Name:
        c.report_malformed(form, item.items[0], "I expected `(operation param…)` here")
    elif len(item.items) < 3:
        hint = "after the operation come the continuation (a name or `_`) and a body"
        c.report_malformed(form, item, wanted, hint=hint)
    else:
        return item.items[0].items[0]
    return None


def _clause(
    c: Lowering, form: ListForm, item: ListForm, operation: Name, has_scope: bool
) -> Generator[Any, Any, Clause | None]:
    pattern, target, *forms = item.items
    assert isinstance(pattern, ListForm)
    names = [*pattern.items[1:], target]
    if not all(c.is_bindable(name) for name in names) or not _are_new(c, names):
        return None
    params = tuple(name.text for name in pattern.items[1:])  # type: ignore[union-attr]
    known = c.operation(operation.text)
    if operation.spelling == "error":
        check_count(c, pattern, "error", len(params), 1, 1, ("err",), is_call=False)
    elif known is not None:
        most = None if known.rest else len(known.params)
        count = len(params)
        check_count(c, pattern, known.name, count, known.least, most, known.params, is_call=False)
    name = _name_of(c, operation)
    c.handled.add(name)
    place = c.save_scope()
    for param in params:
        c.place(param)
    assert isinstance(target, Name)
    k = Continuation(c.level, c.size, target.text, operation=name, fence=c.fence)
    c.size += 1
    if target.text != "_":
        c.names.bind(target.text, k)
    c.clause = k
    inner = yield body(c, tuple(forms), IN_CLAUSE, item.span)
    c.restore_scope(place)
    kind = KINDS[k.use]
    if kind == "kept" and has_scope:
        _check_scope(c, target)
    return Clause(name, params, inner, kind, span=item.span)


def _are_new(c: Lowering, names: list[Form]) -> bool:
    seen: dict[str, Span] = {}
    for name in names:
        assert isinstance(name, Name)
        if name.text in seen and name.text != "_":
            report_duplicate(c, name, seen[name.text])
            return False
        seen[name.text] = name.span
    return True


def _check_scope(c: Lowering, target: Name) -> None:
    c.report(
        "kept-scope",
        target.span,
        f"`{target.text}` may outlive this clause while a `finally` or `par` is suspended in it",
        "kept here",
        hint=f"only call `{target.text}`, or end it with `(abandon {target.text})`",
        severity="warning",
    )


def _returns(c: Lowering, form: ListForm, item: ListForm) -> Lowered:
    if len(item.items) < 3:
        return c.report_malformed(form, item, "I expected `(return name body…)` here")
    name = item.items[1]
    if type(name) is ListForm and len(name.items) == 1:
        hint = f"write `(return {name.items[0].span.text} …)`"
        edits = (Edit(name.span, name.items[0].span.text),)
        return c.report_malformed(form, name, "I expected a name here", hint=hint, edits=edits)
    if not c.is_bindable(name):
        return Const(None, span=item.span)
    return _return_body(c, item)


def _return_body(c: Lowering, item: ListForm) -> Steps:
    place = c.save_scope()
    c.place(item.items[1].text)  # type: ignore[union-attr]
    inner: Core = yield body(c, item.items[2:], 0, item.span)
    c.restore_scope(place)
    return inner


def attempt(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(attempt e)`, or `(attempt e default)`, which is a `try` that takes every error."""
    inner: Core = yield c.lower(form.items[1])
    if len(form.items) == 2:
        return Attempt(inner, span=form.span)
    place = c.save_scope()
    c.place("_")
    c.place("_")
    default: Core = yield c.lower(form.items[2])
    c.restore_scope(place)
    c.handled.add("error")
    clause = Clause("error", ("_",), default, "never", (), span=form.items[2].span)
    return Handle(inner, (clause,), span=form.span)


def try_(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(try e… (catch (name word…) body…) … (finally body…))`"""
    forms = list(form.items[1:])
    last: ListForm | None = None
    if word_of(forms[-1]) == "finally":
        last = forms.pop()  # type: ignore[assignment]
        c.scopes += 1
    catches: list[ListForm] = []
    while forms and word_of(forms[-1]) == "catch":
        catches.append(forms.pop())  # type: ignore[arg-type]
    if not catches and last is None:
        words = "I expected a `catch` or a `finally` at the end"
        if word_of(forms[-1]) in _CATCHING:
            head = forms[-1].items[0]  # type: ignore[union-attr]
            hint, edits = "write `(catch (e) body…)`", (Edit(head.span, "catch"),)
            return c.report_malformed(form, head, words, hint=hint, edits=edits)
        from sexplang.compiler.forms.foreign_shapes import close_try

        advice = close_try(form) or (None, ())
        return c.report_malformed(form, form, words, hint=advice[0], edits=advice[1])
    if not forms:
        return c.report_malformed(
            form, form, "I expected a body before the first `catch` or `finally`"
        )
    for item in forms:
        if word_of(item) == "catch" or word_of(item) == "finally":
            hint = "after the body come the catches, then at most one `finally`"
            return c.report_malformed(form, item, "this is too early", hint=hint)
    inner: Core = yield body(c, tuple(forms), 0, form.span)
    clauses: list[Clause] = []
    for item in reversed(catches):
        clause = yield _catch(c, form, item)
        if clause is not None:
            clauses.append(clause)
    if clauses:
        c.handled.add("error")
        inner = Handle(inner, tuple(clauses), span=form.span)
    if last is None:
        return inner
    if len(last.items) == 1:
        return c.report_malformed(form, last, "I expected a body here")
    cleanup = yield body(c, last.items[1:], 0, last.span)
    return Finally(inner, cleanup, span=form.span)


_CATCHING = frozenset(("except", "rescue", "on-error", "error", "handler", "else"))
"""Words of other languages for `catch`."""


def _parenthesize(item: ListForm) -> tuple[str | None, tuple[Edit, ...]]:
    """Return the hint and the edit for a `catch` whose name stands without parentheses, maybe
    behind a class or a reason."""
    names = [one for one in item.items[1:3] if type(one) is Name]
    if not names or type(item.items[1]) is not Name:
        return None, ()
    if len(names) == 1 or len(item.items) == 3:
        name = item.items[1].span
        return f"write `(catch ({name.text}) …)`", (Edit(name, f"({name.text})"),)
    reason, name = names[0].span, names[1].span
    is_class = reason.text[:1].isupper() or reason.text.startswith(":")
    head = f"({name.text})" if is_class else f"({name.text} {reason.text})"
    return f"write `(catch {head} …)`", (Edit(Span(name.source, reason.start, name.end), head),)


def _catch(c: Lowering, form: ListForm, item: ListForm) -> Generator[Any, Any, Clause | None]:
    head = item.items[1] if len(item.items) > 1 else item
    if type(head) is not ListForm or not head.items or len(item.items) < 3 or head is item:
        hint, edits = _parenthesize(item)
        expected = "I expected `(catch (name word…) body…)` here"
        c.report_malformed(form, head, expected, hint=hint, edits=edits)
        return None
    name, *rest = head.items
    words = []
    for word in rest:
        if type(word) is Name:
            words.append(word.spelling)
        elif type(word) is Literal and isinstance(word.value, str):
            words.append(word.value)
        else:
            c.report_malformed(form, word, "I expected an error's type or reason here")
    if not c.is_bindable(name):
        return None
    place = c.save_scope()
    c.place(name.text)  # type: ignore[union-attr]
    # The continuation has its slot, though a catch cannot name it.
    c.place("_")
    c.catches.append(head)
    inner = yield body(c, item.items[2:], 0, item.span)
    c.catches.pop()
    c.restore_scope(place)
    params = (name.spelling,)  # type: ignore[union-attr]
    return Clause("error", params, inner, "never", tuple(words), span=item.span)


def par(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(par e…)`"""
    branches = yield from _branches(c, form)
    return Par(branches, span=form.span) if branches else Const((), span=form.span)


def race(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(race e…)`"""
    return Race((yield from _branches(c, form)), span=form.span)


def _branches(c: Lowering, form: ListForm) -> Generator[Any, Any, tuple[Core, ...]]:
    c.scopes += 1
    c.fence += 1
    branches: tuple[Core, ...] = yield c.each(form.items[1:])
    c.fence -= 1
    return branches


def with_timeout(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(with-timeout seconds e…)`"""
    seconds, inner = yield from _scope(c, form)
    return Timed(seconds, inner, span=form.span)


def with_budget(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(with-budget {calls: n tokens: n usd: x seconds: s} e…)`"""
    limits, inner = yield from _scope(c, form)
    return Budgeted(limits, inner, span=form.span)


def _scope(c: Lowering, form: ListForm) -> Generator[Any, Any, tuple[Core, Core]]:
    c.scopes += 1
    bound = yield c.lower(form.items[1])
    inner = yield body(c, form.items[2:], 0, form.span)
    return bound, inner
