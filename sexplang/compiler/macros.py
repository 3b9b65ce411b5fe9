"""`define-syntax` and uses of macros.

A name from a template gets a mark, one for each use of the macro. A marked name meets only its
like. If nothing binds it, it has its meaning at the macro's definition. The expander rewrites the
forms (`spec/decisions/hygiene.md`).
"""

from typing import Any

from sexplang.compiler.compilation import (
    Binding,
    Keyword,
    LaterDefinition,
    Lowered,
    Lowering,
    NamedFunction,
    Namespace,
    Place,
)
from sexplang.compiler.forms.shapes import RESERVED
from sexplang.compiler.names import report_early_use
from sexplang.terms.classes.node import frozen
from sexplang.terms.core import Const, Core, Known, Local
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.form import MARK, Form, ListForm, Literal, Name, source_name
from sexplang.terms.macro import Macro, Rules
from sexplang.terms.program import Export


@frozen(eq=False)
class Syntax:
    """A `define-syntax` in a body."""

    form: ListForm
    name: Name
    keyword: Keyword


def macro_named(c: Lowering, head: Form, binding: Binding | None) -> Keyword | Macro | None:
    """Return the macro that `head` with this binding names, if any."""
    if binding is None and type(head) is Name and "." in head.text:
        binding = c.names.find_in_module(head.text)
    if type(binding) is Keyword:
        return binding
    if type(binding) is Export and type(binding.shape) is Macro:
        return binding.shape
    return None


def macro_of(c: Lowering, form: Form) -> Keyword | Macro | None:
    """Return the macro that a form is a use of, if any."""
    head = form.items[0] if type(form) is ListForm and form.items else None
    if type(head) is not Name or head.text in RESERVED:
        return None
    return macro_named(c, head, c.names.find(head.text))


def define_syntax(c: Lowering, form: ListForm) -> Syntax | None:
    """`(define-syntax name (syntax-rules …))`: bind the name from here on.

    A macro with flawed rules is bound too, so that its uses are not reported.
    """
    items = form.items
    if len(items) != 3:
        c.report_malformed(form, form, "a name and the rules belong here")
    if len(items) < 2 or not c.is_bindable(items[1]):
        return None
    name = items[1]
    assert isinstance(name, Name)
    rules: Rules | None = None
    if len(items) == 3:
        try:
            rules = c.expander.rules(items[2])
        except Diagnostics as failed:
            _keep(c, failed)
    keyword = Keyword(Macro(name.spelling, rules, name.span))
    c.names.bind(name.text, keyword)
    c.new_macros.add(keyword)
    return Syntax(form, name, keyword)


def report_misplaced(c: Lowering, form: ListForm, position: int) -> Core:
    """Report a `define-syntax` that is not directly in a body."""
    return c.report(
        "syntax-misplaced",
        form.span,
        "`define-syntax` is not directly in a body",
        "no form after it can use the macro",
        hint="move it to the top level, or to the beginning of the body",
    )


def use(c: Lowering, form: ListForm, owner: Keyword | Macro, position: int) -> Lowered:
    """Lower a use of a macro."""
    return c.lower_later(expand(c, form, owner), position)


def expand(c: Lowering, form: ListForm, owner: Keyword | Macro) -> Form:
    """Return the expansion of a use; nil if an error was reported."""
    nothing = Literal(None, span=form.span)
    if type(owner) is Keyword and owner.mark is None and owner not in c.new_macros:
        later = LaterDefinition(owner.macro.span, False)
        report_early_use(c, form.items[0], later)  # type: ignore[arg-type]
        return nothing
    macro = owner if type(owner) is Macro else owner.macro  # type: ignore[union-attr]
    if macro.rules is None or c.is_exhausted:
        return nothing
    marks: dict[str, str] = {}

    def rename(text: str) -> str:
        spelling = source_name(text)
        rest = text[len(spelling) :]
        if rest not in marks:
            marks[rest] = f"{MARK}{len(c.names.marks)}"
            c.names.marks.append((rest, owner))
        return spelling + marks[rest]

    def same(text: str, literal: str) -> bool:
        if text in RESERVED or literal in RESERVED:
            return text == literal
        here, there = c.names.find(text), c.names.resolve(literal, owner)
        if here is None or there is None:
            return here is there and source_name(text) == source_name(literal)
        return bool(_identity(here) == _identity(there))

    try:
        return c.expander.expand(form, macro, rename, same)
    except Diagnostics as failed:
        _keep(c, failed)
        # Later uses would only report the same limit again.
        c.is_exhausted = failed.diagnostics[0].code == "limit-expansion"
        return nothing


def _keep(c: Lowering, failed: Diagnostics) -> None:
    for finding in failed.diagnostics:
        c.keep(finding)


def expand_head(c: Lowering, form: Form, used: dict[str, Name] | None = None) -> Form:
    """Return the form, or its expansion if it is a use of a macro. Record its name in `used`."""
    owner = macro_of(c, form)
    while owner is not None:
        if used is not None:
            head = form.items[0]  # type: ignore[union-attr]
            used.setdefault(head.text, head)  # type: ignore[union-attr, arg-type]
        form = expand(c, form, owner)  # type: ignore[arg-type]
        owner = macro_of(c, form)
    return form


def _identity(binding: Binding) -> Any:
    """Return a key that is equal for names of the same binding, also across modules."""
    core = binding.core if type(binding) is Export else None
    if type(binding) is Export and type(binding.shape) is Macro:
        return binding.shape
    if type(core) is Const:
        return "value", id(core.value)
    if type(core) is Local:
        return "slot", 0, core.index
    if type(core) is Known:
        return "function", core.function
    if isinstance(binding, Place):
        return "slot", binding.level, binding.index
    if type(binding) is NamedFunction:
        return "function", binding.function
    if type(binding) is Keyword:
        return binding.macro
    return ("module", binding.path) if type(binding) is Namespace else binding
