"""Control forms to core: conditions (`if`, `cond`, `case`, `and`, `or`), threading (`->`), local
names (`lambda`, `let` and its variants) and loops.
"""

from collections.abc import Callable, Generator
from typing import Any

from sexplang.compiler.compilation import (
    IN_CLAUSE,
    IN_LOOP,
    Lowered,
    Lowering,
    NamedFunction,
    Place,
    Steps,
)
from sexplang.compiler.forms.bindings import bindings_of, plain_bindings_of
from sexplang.compiler.forms.patterns import PatternBinding, bind_pattern, enclose
from sexplang.compiler.forms.quotation import datum
from sexplang.compiler.forms.shapes import RESERVED, word_of
from sexplang.compiler.functions import Definition, body, nest, shape_of, statements
from sexplang.compiler.macros import expand_head
from sexplang.compiler.parameters import Draft, DraftParameter, draft, finish, is_lambda
from sexplang.terms.core import (
    And,
    Call,
    CallKnown,
    CallPrimitive,
    Const,
    Core,
    If,
    Lambda,
    Let,
    Local,
    Loop,
    Or,
    Recur,
    Repeat,
)
from sexplang.terms.diagnostic import Edit
from sexplang.terms.form import (
    Form,
    Label,
    ListForm,
    Literal,
    Name,
    TableForm,
    VectorForm,
    source_name,
)
from sexplang.terms.source import Span

Wrap = Callable[[Core], Core]
"""The core of a clause, as a function of the core of the clauses after it."""


def if_(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(if test then else)`"""
    _, test, then, otherwise = form.items
    return If(
        (yield c.lower(test)),
        (yield c.lower(then, position)),
        (yield c.lower(otherwise, position)),
        span=form.span,
    )


def when(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(when test body…)`"""
    test = yield c.lower(form.items[1])
    then = yield body(c, form.items[2:], position, form.span)
    return If(test, then, Const(None, span=form.span), span=form.span)


def unless(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(unless test body…)`"""
    test = yield c.lower(form.items[1])
    otherwise = yield body(c, form.items[2:], position, form.span)
    return If(test, Const(None, span=form.span), otherwise, span=form.span)


def and_(c: Lowering, form: ListForm, position: int) -> Lowered:
    """`(and e…)`"""
    return _chain(c, form, position, True, And)


def or_(c: Lowering, form: ListForm, position: int) -> Lowered:
    """`(or e…)`"""
    return _chain(c, form, position, False, Or)


def _chain(c: Lowering, form: ListForm, position: int, empty: bool, node: Any) -> Lowered:
    if len(form.items) == 1:
        return Const(empty, span=form.span)
    if len(form.items) == 2:
        return c.lower_later(form.items[1], position)
    return _items(c, form, position, node)


def _items(c: Lowering, form: ListForm, position: int, node: Any) -> Steps:
    before = yield c.each(form.items[1:-1])
    last = yield c.lower(form.items[-1], position)
    return node((*before, last), span=form.span)  # type: ignore[no-any-return]


def _is_word(form: Form, word: str) -> bool:
    return type(form) is Name and form.text == word


def cond(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(cond (test body…) (test => function) (test) (else body…))`"""
    place = c.save_scope()
    wraps: list[Wrap] = []
    end: Core = Const(None, span=form.span)
    flat = _find_flat(form.items[1:])
    if flat is not None:
        return _refuse_flat(c, form, flat)
    for clause in form.items[1:]:
        if type(clause) is not ListForm or not clause.items:
            c.report_malformed(form, clause, "I expected a clause `(test body…)` here")
            continue
        first, *rest = clause.items
        if _is_word(first, "else"):
            end = yield _else(c, form, clause, position)
            break
        if _is_true(first) and rest and clause is form.items[-1]:
            end = yield body(c, tuple(rest), position, clause.span)
            break
        if rest and clause is form.items[-1] and _is_other_else(c, first):
            edits = (Edit(first.span, "else"),)
            c.report_malformed(
                form, first, "this is no test", hint="write `else` for all others", edits=edits
            )
            break
        test = yield c.lower(first)
        if not rest:
            wraps.append(_or(test, clause.span))
        elif _is_word(rest[0], "=>"):
            wraps.append((yield _arrow(c, form, clause, test)))
        else:
            then = yield body(c, tuple(rest), position, clause.span)
            wraps.append(_choose(test, then, clause.span))
    c.restore_scope(place)
    for wrap in reversed(wraps):
        end = wrap(end)
    return end


def _find_flat(clauses: tuple[Form, ...]) -> Form | None:
    """Return the first clause that is a name or a literal: tests and values without parentheses of
    their own."""
    return next((each for each in clauses if type(each) is Name or type(each) is Literal), None)


def _refuse_flat(c: Lowering, form: ListForm, at: Form) -> Core:
    from sexplang.compiler.forms.foreign_shapes import pair_clauses

    hint, edits = pair_clauses(form)
    return c.report_malformed(form, at, "I expected a clause here", hint=hint, edits=edits)


def _is_other_else(c: Lowering, form: Form) -> bool:
    """Return whether a test is another language's word for `else`, and no name of the program."""
    is_word = type(form) is Name and source_name(form.text) in _FOREIGN_ELSE
    return is_word and c.names.find(form.text) is None  # type: ignore[union-attr]


def _is_true(form: Form) -> bool:
    """Return whether a form is another Lisp's word for `else`."""
    return type(form) is Literal and form.value is True


def _else(c: Lowering, form: ListForm, clause: ListForm, position: int) -> Any:
    if clause is not form.items[-1]:
        c.report_malformed(form, clause, "`else` must be the last clause")
    if len(clause.items) == 1:
        return c.report_malformed(form, clause, "I expected a body after `else`")
    return body(c, clause.items[1:], position, clause.span)


def _or(test: Core, span: Span) -> Wrap:
    return lambda rest: Or((test, rest), span=span)


def _choose(test: Core, then: Core, span: Span) -> Wrap:
    return lambda rest: If(test, then, rest, span=span)


def _arrow(c: Lowering, form: ListForm, clause: ListForm, test: Core) -> Any:
    """Lower a clause with `=>`. The slot of the test's value stays for the clauses after it."""
    if len(clause.items) != 3:
        c.report_malformed(form, clause, "I expected `(test => function)` here")
        return _choose(test, Const(None, span=clause.span), clause.span)
    return _arrow_to(c, clause, test)


def _arrow_to(c: Lowering, clause: ListForm, test: Core) -> Any:
    span = clause.span
    value = Local(0, c.place("_").index, "_", span=span)
    function = yield c.lower(clause.items[2])
    call = Call(function, (value,), span=span)
    return lambda rest: Let((test,), If(value, call, rest, span=span), span=span)


def case(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(case key ((datum …) body…) (literal body…) (else body…))`"""
    place = c.save_scope()
    key: Core = yield c.lower(form.items[1])
    slot: Place | None = None
    value = key
    if not isinstance(key, (Const, Local)):
        slot = c.place("_")
        value = Local(0, slot.index, "_", span=form.items[1].span)
    wraps: list[Wrap] = []
    end: Core = Const(None, span=form.span)
    flat = _find_flat(form.items[2:])
    if flat is not None:
        return _refuse_flat(c, form, flat)
    for clause in form.items[2:]:
        if type(clause) is not ListForm or not clause.items:
            c.report_malformed(form, clause, "I expected a clause `((datum …) body…)` here")
        elif _is_word(clause.items[0], "else"):
            end = yield _else(c, form, clause, position)
            break
        elif len(clause.items) == 1:
            c.report_malformed(form, clause, "I expected a body after the data")
        elif clause is form.items[-1] and _is_foreign_else(form, clause.items[0]):
            word = clause.items[0].span.text
            kind = "symbol" if type(clause.items[0]) is Name else "value"
            hint = f"write `else` for all others; `(({word}) …)` is the {kind} `{word}`"
            c.report_malformed(
                form,
                clause.items[0],
                f"this is one {kind}",
                hint=hint,
                edits=(Edit(clause.items[0].span, "else"),),
            )
        else:
            then = yield body(c, clause.items[1:], position, clause.span)
            wraps.append(_choose(_fits(c, value, clause.items[0]), then, clause.span))
    c.restore_scope(place)
    for wrap in reversed(wraps):
        end = wrap(end)
    return end if slot is None else Let((key,), end, span=form.span)


_FOREIGN_ELSE = frozenset(["_", "default", "otherwise", "t"])
"""Words of other languages for `else` in a `case`."""


def _is_foreign_else(form: ListForm, datum: Form) -> bool:
    """Return whether the last datum of a `case` is another language's word for `else`; `true` is,
    unless there is a clause for `false`."""
    if type(datum) is Name:
        return source_name(datum.text) in _FOREIGN_ELSE
    others = [each.items[0] for each in form.items[2:-1] if type(each) is ListForm and each.items]
    return _is_true(datum) and all(type(each) is not Literal or each.value for each in others)


def _fits(c: Lowering, value: Core, data: Form) -> Core:
    """Return the test that a key equals one of the data. `'a` counts as the symbol a."""
    items: tuple[Form, ...] = (data,)
    if type(data) is ListForm:
        quoted = len(data.items) == 2 and _is_word(data.items[0], "quote")
        items = data.items[1:] if quoted else data.items
    equal = c.primitive("equal?")
    tests: list[Core] = [
        CallPrimitive(equal, (value, Const(datum(c, item), span=item.span)), span=item.span)
        for item in items
    ]
    if not tests:
        return Const(False, span=data.span)
    return tests[0] if len(tests) == 1 else Or(tuple(tests), span=data.span)


def thread(c: Lowering, form: ListForm, position: int) -> Lowered:
    """`(-> e (function e…) name …)`: each step has the steps before it as its first operand.

    The rewriting works on forms, so a step may be a special form.
    """
    whole = form.items[1]
    for step in form.items[2:]:
        if type(step) is Name:
            whole = ListForm((step, whole), span=step.span)
        elif type(step) is ListForm and step.items and word_of(step) not in _NO_STEP:
            whole = ListForm((step.items[0], whole, *step.items[1:]), span=step.span)
        else:
            return _report_no_step(c, form, step)
    return c.lower_later(whole, position)


_NO_STEP = ("lambda", "fn")


def _report_no_step(c: Lowering, form: ListForm, step: Form) -> Lowered:
    hint = None
    if word_of(step) in _NO_STEP:
        hint = f"a function that is called needs parentheses: `(({word_of(step)} (x) …))`"
    return c.report_malformed(
        form, step, "I expected a call or the name of a function here", hint=hint
    )


def lambda_(c: Lowering, form: ListForm, position: int, name: str = "lambda") -> Steps:
    """`(lambda (a (b default) . rest) body…)`"""
    if len(form.items) > 2 and type(form.items[1]) is not VectorForm:
        meant = _find_bare_lambda(form)
        if meant is not None:
            hint, edits = meant
            return c.report_malformed(
                form, form.items[1], "I expected a list of parameters here", hint=hint, edits=edits
            )
    made = draft(c, name, form.items[1], form.items[2:], form.span)
    yield finish(c, made, body)
    return Lambda(made.index, span=form.span)


def _find_bare_lambda(form: ListForm) -> "tuple[str, tuple[Edit, ...]] | None":
    """Return the advice for `(lambda x: body)` or `(lambda x => body)`; None for any other."""
    words = {each.text for each in form.items[2:] if type(each) is Name}
    if Label not in map(type, form.items) and not words & _ARROWS:
        return None
    from sexplang.compiler.forms.foreign_shapes import wrap_parameters

    return wrap_parameters(form)


_ARROWS = frozenset(("=>", "->"))


def begin(c: Lowering, form: ListForm, position: int) -> Any:
    """`(begin e…)` outside a body: a body of its own."""
    return body(c, form.items[1:], position, form.span)


def outside_body(c: Lowering, form: ListForm, position: int) -> Core:
    """Report `(define …)` or `(bind …)` that is not directly in a body."""
    word = form.items[0].text  # type: ignore[union-attr]
    return c.report(
        "bind-outside-body",
        form.span,
        f"`{word}` is not directly in a body",
        "no form after it can use the name",
        hint="write `(let ((name e)) …)` around the forms that use it, or `(begin …)` for a body",
    )


def _name_lambda(c: Lowering, target: Form, value: Form) -> Lowered:
    """Lower a value that is bound to a name. A lambda gets that name."""
    if type(target) is Name and is_lambda(value):
        return lambda_(c, value, 0, target.text)  # type: ignore[arg-type]
    return c.lower(value)


def let(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(let ((name e) …) body…)`: each value is in the outer scope."""
    if type(form.items[1]) is Name:
        named: Core = yield _lower_named_let(c, form, form.items[1])
        return named
    pairs = bindings_of(c, form, form.items[1], unique=True)
    values: list[Core] = []
    before = len(c.findings)
    for target, value in pairs:
        values.append((yield _name_lambda(c, target, value)))
    if len(c.findings) > before:
        from sexplang.compiler.forms.foreign_shapes import advise_let_star

        advise_let_star(c, form, before, [target for target, _ in pairs])
    place = c.save_scope()
    wrap = yield _bind(c, [target for target, _ in pairs], values, form.span)
    inner = yield body(c, form.items[2:], position, form.span)
    c.restore_scope(place)
    whole: Core = wrap(inner)
    return whole


def _bind(
    c: Lowering, targets: list[Form], values: list[Core], span: Span
) -> Generator[Any, Any, Wrap]:
    """Bind names and patterns to values. The predicates of the patterns see none of the names."""
    kept: list[Core] = []
    names: list[tuple[str, Place]] = []
    matched: list[tuple[Form, Core]] = []
    for target, core in zip(targets, values, strict=True):
        name = _name_of(target)
        if type(target) is Name or type(core) is not Local:
            slot = c.slot(name, shape_of(c, core))
            names.append((name, slot))
            kept.append(core)
            core = Local(0, slot.index, name, span=core.span)
        if type(target) is not Name:
            matched.append((target, core))
    bindings: list[PatternBinding] = []
    for target, core in matched:
        bindings.append((yield bind_pattern(c, target, core)))
    for name, slot in names:
        if name != "_":
            c.names.bind(name, slot)
    for each in bindings:
        each.fit.bind(c)
    shown = tuple([name for name, _ in names])

    def wrap(inner: Core) -> Core:
        inner = enclose(bindings, inner)
        return Let(tuple(kept), inner, shown, span=span) if kept else inner

    return wrap


def _name_of(target: Form) -> str:
    """Return the text of a name, or `_` for a pattern."""
    return target.text if type(target) is Name else "_"


def let_star(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(let* ((name e) …) body…)`: each value sees the names before it."""
    place = c.save_scope()
    wraps: list[Wrap] = []
    for target, value in bindings_of(c, form, form.items[1], unique=False):
        core = yield _name_lambda(c, target, value)
        wraps.append((yield _bind(c, [target], [core], form.span)))
    inner: Core = yield body(c, form.items[2:], position, form.span)
    c.restore_scope(place)
    for wrap in reversed(wraps):
        inner = wrap(inner)
    return inner


def letrec(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(letrec ((name e) …) body…)`: a body that begins with these definitions."""
    definitions: list[Any] = []
    for name, written in plain_bindings_of(c, form, form.items[1]):
        value = expand_head(c, written)
        if is_lambda(value):
            params, inside = value.items[1], value.items[2:]  # type: ignore[union-attr]
            made = Definition(form, (name,), False, params=params, body=inside)
        else:
            made = Definition(form, (name,), False, value=value)
        definitions.append(made)
    place = c.save_scope()
    items = yield statements(c, definitions, 0, form.span)
    # The nil that ends a list of definitions is not the value here.
    items = items[:-1] if definitions else []
    items.append((yield body(c, form.items[2:], position, form.span)))
    c.restore_scope(place)
    return nest(items, form.span)


def _lower_named_let(c: Lowering, form: ListForm, name: Name) -> Steps:
    """`(let name ((x e) …) body…)`: a function of that name, called at once."""
    if len(form.items) < 4:
        hint = None
        if len(form.items) == 3 and type(form.items[2]) is not ListForm:
            written = f"{name.span.text} {form.items[2].span.text}"
            hint = f"a name for what follows is `(define {written})`, in a body `(bind {written})`"
        words = "I expected `(let name ((x e) …) body…)`"
        return c.report_malformed(form, form, words, hint=hint)
    pairs = bindings_of(c, form, form.items[2], unique=True)
    inits = yield c.each(value for _, value in pairs)
    if not c.is_bindable(name):
        return Const(None, span=form.span)
    made: Draft = draft(c, name.text, (), form.items[3:], form.span)
    made.params = [DraftParameter(target) for target, _ in pairs]
    place = c.save_scope()
    c.names.bind(name.text, NamedFunction(c.level, made.index, made.signature))
    yield finish(c, made, body)
    c.restore_scope(place)
    return CallKnown(0, made.index, inits, span=form.span)


def loop(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(loop count body…)` or `(loop ((name e) …) body…)`"""
    first = form.items[1]
    if type(first) is Name and first.text in _LOOP_WORDS and c.names.find(first.text) is None:
        return _report_foreign_loop(c, form)
    if not _is_bindings(c, first):
        turns = yield c.lower(first)
        inner = yield body(c, form.items[2:], 0, form.span)
        return Repeat(turns, inner, span=form.span)
    findings = len(c.findings)
    pairs = bindings_of(c, form, first, unique=True)
    count = len(pairs) if len(c.findings) == findings else _UNKNOWN
    inits = yield c.each(value for _, value in pairs)
    place = c.save_scope()
    c.activate()
    slots = [c.place(_name_of(target)) for target, _ in pairs]
    bindings: list[PatternBinding] = []
    for (target, _), slot in zip(pairs, slots, strict=True):
        if type(target) is not Name:
            value = Local(0, slot.index, "_", span=target.span)
            made: PatternBinding = yield bind_pattern(c, target, value)
            made.fit.bind(c)
            bindings.append(made)
    c.loops.append(count)
    # A tail call of a clause's continuation may leave the loop; the clause's tail continues.
    inner = yield body(c, form.items[2:], IN_LOOP | (position & IN_CLAUSE), form.span)
    c.loops.pop()
    c.restore_scope(place)
    return Loop(inits, enclose(bindings, inner), span=form.span)


_LOOP_WORDS = frozenset(("for", "repeat", "while", "until", "with"))
"""Words that begin a loop in Common Lisp."""


def _report_foreign_loop(c: Lowering, form: ListForm) -> Core:
    from sexplang.compiler.habit_hints import find_call

    meant = find_call(c, "loop", form)
    return c.report_malformed(
        form,
        form.items[1],
        "I expected a count or bindings here",
        hint=meant.hint if meant is not None else None,
        edits=meant.edits if meant is not None else (),
    )


_UNKNOWN = -1
"""The number of the variables of a loop whose bindings are malformed."""


def _is_bindings(c: Lowering, form: Form) -> bool:
    """Return whether a form is `((i 0) …)` and not a count. The head of a call is hardly ever a
    list of two. Pairs of an unbound name and a value, `(i 0)` or `[i 0 n 1]`, are refused as
    bindings.
    """
    if type(form) not in (ListForm, VectorForm) or not form.items:  # type: ignore[union-attr]
        return type(form) is ListForm
    head = form.items[0]  # type: ignore[union-attr]
    if type(head) is Name:
        is_new = c.names.find(head.text) is None and c.names.find_in_module(head.text) is None
        is_flat = len(form.items) % 2 == 0  # type: ignore[union-attr]
        is_named = all(type(each) is Name for each in form.items[::2])  # type: ignore[union-attr]
        return is_flat and is_named and is_new and head.text not in RESERVED
    is_pattern = type(head) in (VectorForm, TableForm)
    return is_pattern or (type(head) is ListForm and type(form) is ListForm)


def recur(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(recur e…)`"""
    arguments = yield c.each(form.items[1:])
    if not c.loops or not position & IN_LOOP:
        return _report_misplaced(c, form)
    wanted = c.loops[-1]
    if wanted not in (len(arguments), _UNKNOWN):
        return c.report(
            "recur-arity",
            form.span,
            f"this loop has {wanted} variable{'s' * (wanted != 1)}, `recur` gives {len(arguments)}",
            hint="give one value for each variable of the loop, in their order",
        )
    return Recur(arguments, span=form.span)


def _report_misplaced(c: Lowering, form: ListForm) -> Core:
    if c.loops:
        return c.report(
            "recur-outside-loop",
            form.span,
            "`recur` is not the last thing that its loop does",
            "not in tail position of the loop",
            hint="compute first and recur with the results; inside lambda, try, handle and par "
            "there is no `recur`: write a named let, `(let next ((x e)) … (next …))`",
        )
    return c.report(
        "recur-outside-loop",
        form.span,
        "`recur` stands in no loop",
        hint="write `(loop ((x e) …) … (recur …))`; `(loop count …)` goes on by itself",
    )
