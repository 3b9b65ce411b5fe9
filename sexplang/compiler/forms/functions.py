"""Lowering of parameters and bodies to functions of the program's table."""

from collections import Counter
from collections.abc import Callable, Generator
from typing import Any

from sexplang.compiler.compilation import Lowering
from sexplang.compiler.names.bindings import Signature
from sexplang.terms.classes.node import define, field
from sexplang.terms.core import Core
from sexplang.terms.diagnostic import Label
from sexplang.terms.form import MARK, Form, ListForm, Literal, Name, VectorForm, source_name
from sexplang.terms.program import Function, Parameter
from sexplang.terms.source import Span

Body = Callable[[Lowering, tuple[Form, ...], int, Span], Any]


@define(eq=False)
class Draft:
    """A function whose place in the table is reserved and whose body is not lowered yet."""

    index: int
    name: str
    span: Span
    body: tuple[Form, ...]
    params: list[tuple[str, Form | None]] = field(factory=list)
    rest: str | None = None
    doc: str = ""

    @property
    def signature(self) -> Signature:
        labels = self.labels
        optional = frozenset(
            [
                label
                for label, (_, default) in zip(labels, self.params, strict=True)
                if default is not None
            ]
        )
        return Signature(self.name, labels, optional, self.rest)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the parameters for calls: the names as written, without macro marks, unless
        that is another parameter's name."""
        texts = [name for name, _ in self.params]
        if not any(MARK in text for text in texts):
            return tuple(texts)
        taken = Counter(map(source_name, texts))
        return tuple(
            [source_name(text) if taken[source_name(text)] == 1 else text for text in texts]
        )


def is_lambda(form: Form) -> bool:
    """Return whether a form is `(lambda params body…)`."""
    return (
        type(form) is ListForm
        and len(form.items) > 2
        and type(form.items[0]) is Name
        and form.items[0].text in ("lambda", "fn")
    )


def draft(
    c: Lowering,
    name: str,
    params: Form | tuple[Form, ...],
    body: tuple[Form, ...],
    span: Span,
) -> Draft:
    """Reserve the function's place in the table and read its parameters.

    A string before the last form of the body is the documentation.
    """
    made = Draft(c.first_function + len(c.functions), source_name(name), span, body)
    c.functions.append(None)
    if len(body) > 1 and type(body[0]) is Literal and isinstance(body[0].value, str):
        made.doc = body[0].value
        made.body = body[1:]
    if isinstance(params, Name):
        if c.is_bindable(params):
            made.rest = params.text
    elif isinstance(params, (tuple, ListForm)):
        _read_params(c, made, params if isinstance(params, tuple) else params.items)
    else:
        hint = "use parentheses" if type(params) is VectorForm else None
        _report_malformed(c, params, "I expected a list of parameters here", hint)
    return made


def _report_malformed(c: Lowering, at: Form, words: str, hint: str | None = None) -> None:
    title = "parameters are written `(a (b default) . rest)`"
    c.report("malformed-form", at.span, title, words, hint=hint)


OPTIONAL = frozenset(("&optional", "&key", "&opt"))
REST = frozenset(("&", "&rest", "&body", "&args"))
"""Words of other Lisps between parameters."""


def _read_params(c: Lowering, made: Draft, forms: tuple[Form, ...]) -> None:
    seen: dict[str, Span] = {}
    missing: Span | None = None
    for at, form in enumerate(forms):
        default: Form | None = None if missing is None else Literal(None, missing)
        name = form
        word = form.text if type(form) is Name else ""
        if word in OPTIONAL or word in REST:
            _foreign(c, form, word, forms[at + 1 : at + 2])
            missing = form.span  # arguments may be omitted, so no call is reported
        if word in OPTIONAL:
            continue
        if word == "." or word in REST:
            if at == len(forms) - 2 and _is_new(c, forms[-1], seen):
                made.rest = forms[-1].text  # type: ignore[union-attr]
            elif at != len(forms) - 2:
                _report_malformed(c, form, "I expected one name after this dot, the last parameter")
            return
        if type(form) is ListForm:
            if len(form.items) != 2:
                _report_malformed(c, form, "I expected a parameter here")
                continue
            name, default = form.items
        if _is_new(c, name, seen):
            assert isinstance(name, Name)
            made.params.append((name.text, default))


def _foreign(c: Lowering, form: Form, word: str, following: tuple[Form, ...]) -> None:
    name = following[0].text if following and type(following[0]) is Name else "more"
    if word in OPTIONAL:
        hint = f"a parameter that may be left out is written with its default: `({name} default)`"
    else:
        hint = f"all further arguments are one list, the last parameter: write `. {name}`"
    _report_malformed(c, form, f"`{word}` is a name like any other", hint)


def _is_new(c: Lowering, form: Form, seen: dict[str, Span]) -> bool:
    if not c.is_bindable(form, "I expected a parameter here"):
        return False
    assert isinstance(form, Name)
    if form.text in seen and form.text != "_":
        duplicate(c, form, seen[form.text])
    seen.setdefault(form.text, form.span)
    return True


def duplicate(c: Lowering, name: Name, first: Span) -> None:
    """Report a name that is bound twice at once."""
    c.report(
        "duplicate-name",
        name.span,
        f"`{name.text}` stands twice here",
        "again here",
        also=(Label(first, "first here"),),
        hint="give one of them another name, or `_` if it is not used",
    )


def finish(c: Lowering, made: Draft, body: Body) -> Generator[Any, Any, Function]:
    """Lower the defaults and the body in a new activation."""
    place = c.save_scope()
    c.activate(fence=1)
    params: list[Parameter] = []
    for label, (name, default) in zip(made.labels, made.params, strict=True):
        core: Core | None = None
        if default is not None:
            core = yield c.lower(default)
        params.append(Parameter(label, core))
        c.place(name)
    if made.rest is not None:
        c.place(made.rest)
    inner = yield body(c, made.body, 0, made.span)
    c.restore_scope(place)
    function = Function(
        made.index, made.name, tuple(params), made.rest, inner, made.span, made.doc, c.size
    )
    c.functions[made.index - c.first_function] = function
    return function
