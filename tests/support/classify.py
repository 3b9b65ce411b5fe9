"""A clause's text to its kind: what it does with its continuation (terms/core.py: ClauseKind).

Written against the documents, not against the compiler; the walk knows scopes, because an inner
`k` is not the outer one.
"""

from typing import Any

from sexplang.terms.form import Label, ListForm, Literal, Name, TableForm, VectorForm

Form = Any  # the shape of a form is known from its head
TAIL, CALLED, KEPT = "tail", "calls", "kept"


def head(form: Form) -> str | None:
    """The name at the head of a list form."""
    if isinstance(form, ListForm) and form.items and isinstance(form.items[0], Name):
        return form.items[0].text
    return None


def is_definition(form: Form) -> bool:
    return head(form) == "define"


def is_function_definition(form: Form) -> bool:
    return is_definition(form) and isinstance(form.items[1], ListForm)


def flat_body(forms: list[Form]) -> list[Form]:
    """A body with the `begin`s that stand in it dissolved."""
    flat: list[Form] = []
    for form in forms:
        if head(form) in ("begin", "progn") and len(form.items) > 1:
            flat.extend(flat_body(list(form.items[1:])))
        else:
            flat.append(form)
    return flat


def clause_kind(body: list[Form], k: str) -> str:
    if k == "_":
        return "never"
    uses = _body(body, k, "tail")
    if not uses:
        return "never"
    return KEPT if KEPT in uses else CALLED if CALLED in uses else TAIL


def _worse(uses: set[str], at: str) -> set[str]:
    """A use seen from outside: in `call` places a tail call is only a call; `kept` taints all."""
    if at == "kept":
        return {KEPT} if uses else set()
    return {CALLED if use == TAIL and at == "call" else use for use in uses}


def _body(forms: list[Form], k: str, at: str) -> set[str]:
    uses: set[str] = set()
    forms = flat_body(forms)
    for index, form in enumerate(forms):
        last = index == len(forms) - 1
        if head(form) in ("bind", "define"):
            target = form.items[1]
            if isinstance(target, ListForm):
                names = [item.text for item in target.items if isinstance(item, Name)]
                if names[0] == k:
                    return uses
                if k not in names:
                    uses |= _worse(_body(list(form.items[2:]), k, "call"), "kept")
                continue
            uses |= _uses(form.items[2], k, "call")
            if isinstance(target, Name) and target.text == k:
                return uses
        else:
            uses |= _uses(form, k, at if last else "call")
    return uses


def _all(forms: list[Form], k: str, at: str) -> set[str]:
    return set().union(*(_uses(form, k, at) for form in forms)) if forms else set()


def _uses(form: Form, k: str, at: str) -> set[str]:
    if isinstance(form, (Literal, Label)):
        return set()
    if isinstance(form, Name):
        return {KEPT} if form.text.split(".")[0] == k else set()
    if isinstance(form, (VectorForm, TableForm)):
        return _all(list(form.items), k, "call")
    items, name = list(form.items), head(form)
    if name == k or (name == "forward" and isinstance(items[1], Name) and items[1].text == k):
        arguments = items[1:] if name == k else items[3:]
        return {TAIL if at == "tail" else CALLED} | _all(arguments, k, "call")
    if name == "abandon" and isinstance(items[1], Name) and items[1].text == k:
        return {CALLED}
    if name == "quote":
        return set()
    if name == "if":
        return _uses(items[1], k, "call") | _all(items[2:], k, at)
    if name in ("and", "or"):
        return _all(items[1:-1], k, "call") | _uses(items[-1], k, at)
    if name in ("begin", "progn"):
        return _body(items[1:], k, at)
    if name in ("let", "let*"):
        return _let(items, name, k, at)
    if name == "loop":
        return _loop(items, k)
    if name in ("lambda", "fn"):
        params = [item.text for item in items[1].items if isinstance(item, Name)]
        return set() if k in params else _worse(_body(items[2:], k, "call"), "kept")
    if name == "handle":
        return _handle(items, k)
    if name == "try":
        return _try(items, k)
    if name in ("par", "race"):
        return _worse(_all(items[1:], k, "call"), "kept")
    if name in ("with-timeout", "with-budget"):
        return _uses(items[1], k, "call") | _body(items[2:], k, "call")
    return _all(items, k, "call")


def _let(items: list[Form], name: str, k: str, at: str) -> set[str]:
    uses: set[str] = set()
    hidden = False
    for binding in items[1].items:
        if not (hidden and name == "let*"):
            uses |= _uses(binding.items[1], k, "call")
        hidden = hidden or binding.items[0].text == k
    return uses if hidden else uses | _body(items[2:], k, at)


def _loop(items: list[Form], k: str) -> set[str]:
    if not isinstance(items[1], ListForm) or head(items[1]) is not None:
        return _all(items[1:], k, "call")
    bindings: Form = items[1]
    uses = _all([binding.items[1] for binding in bindings.items], k, "call")
    if any(binding.items[0].text == k for binding in bindings.items):
        return uses
    return uses | _body(items[2:], k, "call")


def _handle(items: list[Form], k: str) -> set[str]:
    keeps = False
    uses: set[str] = set()
    for clause in items[2:]:
        first, second, *body = clause.items
        if isinstance(first, Name):  # (return x e…)
            if second.text != k:
                uses |= _body(body, k, "call")
            continue
        params = [item.text for item in first.items[1:]]
        keeps = keeps or clause_kind(body, second.text) == KEPT
        if k not in params and second.text != k:
            uses |= _body(body, k, "call")
    inside = _uses(items[1], k, "call")
    return uses | (_worse(inside, "kept") if keeps else inside)


def _try(items: list[Form], k: str) -> set[str]:
    uses: set[str] = set()
    body = [item for item in items[1:] if head(item) not in ("catch", "finally")]
    for item in items[1:]:
        if head(item) == "catch":
            if item.items[1].items[0].text != k:
                uses |= _body(list(item.items[2:]), k, "call")
        elif head(item) == "finally":
            uses |= _body(list(item.items[1:]), k, "call")
    return uses | _body(body, k, "call")
