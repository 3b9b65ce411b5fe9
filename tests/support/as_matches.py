"""A program with patterns in the place of names, as one with `match` alone."""

from itertools import count
from typing import Any

from support.classify import flat_body, head

from sexplang.reader import read
from sexplang.terms.form import Form, Label, ListForm, Name, TableForm, VectorForm
from sexplang.terms.source import Source


def as_matches(text: str) -> str:
    """Each pattern matched by a `match` around what sees its names."""
    return "\n".join(_Rewriting().forms(list(read(Source("program", text)))))


class _Rewriting:
    def __init__(self) -> None:
        self.fresh = (f"value-{n}" for n in count())

    def forms(self, forms: list[Form]) -> list[str]:
        """A body: what follows `(bind P e)` is in the match."""
        out: list[str] = []
        forms = flat_body(forms)
        for at, form in enumerate(forms):
            if head(form) in ("bind", "define") and _is_pattern(form.items[1]):  # type: ignore[union-attr]
                word, pattern, value = form.items  # type: ignore[union-attr]
                rest = self.forms(forms[at + 1 :])
                if not rest:
                    name = next(self.fresh)
                    last = name if word.text == "bind" else "nil"  # type: ignore[union-attr]
                    matched = f"(match {name} ({self.form(pattern)} {last}))"
                    return [*out, f"(let (({name} {self.form(value)})) {matched})"]
                match = f"(match {self.form(value)} ({self.form(pattern)} {' '.join(rest)}))"
                return [*out, match]
            out.append(self.form(form))
        return out

    def form(self, form: Form) -> str:
        if isinstance(form, VectorForm):
            return f"[{self.each(form.items)}]"
        if isinstance(form, TableForm):
            return "{" + self.each(form.items) + "}"
        if isinstance(form, Label):
            return form.span.text
        if not isinstance(form, ListForm):
            return form.span.text
        items, word = list(form.items), head(form)
        if word in ("lambda", "fn"):
            return f"({word} {self.function(items[1], items[2:])})"
        if word == "let" and isinstance(items[1], Name):
            targets = [binding.items[0] for binding in _pairs(items[2])]
            values = self.each([binding.items[1] for binding in _pairs(items[2])])
            name = items[1].text
            made = f"(define ({name} {self.function(_Params(targets), items[3:])[1:]})"
            return f"((let () {made} {name}) {values})".replace("  ", " ")
        if word in ("let", "let*", "loop") and _is_bindings(items[1]):
            return self.bindings(word, _pairs(items[1]), items[2:])
        if word in ("bind", "define") and isinstance(items[1], ListForm):
            name, *params = items[1].items
            made = self.function(_Params(params), items[2:])
            return f"({word} ({self.form(name)} {made[1:]})"
        if word in ("begin", "progn"):
            return f"(begin {' '.join(self.forms(items[1:]))})"
        return f"({' '.join(self.forms_in(form))})"

    def forms_in(self, form: ListForm) -> list[str]:
        """The parts of a form: a body where it may have one."""
        items, word = list(form.items), head(form)
        start = {"when": 2, "with-timeout": 2, "with-budget": 2, "try": 1, "finally": 1, "catch": 2}
        first = start.get(word or "", len(items))
        if isinstance(items[0], ListForm) and len(items) > 2:  # a clause of `handle`
            first = 2
        if word == "return":
            first = 2
        parts = [item for item in items[first:] if head(item) in ("catch", "finally")]
        body = items[first : len(items) - len(parts)]
        return [*map(self.form, items[:first]), *self.forms(body), *map(self.form, parts)]

    def each(self, forms: Any) -> str:
        return " ".join(map(self.form, forms))

    def function(self, params: Any, body: list[Form]) -> str:
        """`(param…) body…`"""
        if isinstance(params, Name):
            return f"{params.text} {' '.join(self.forms(body))}"
        names, patterns = [], []
        for param in params.items:
            target, default = param, None
            if isinstance(param, ListForm) and len(param.items) == 2:
                target, default = param.items
            name = self.form(target)
            if _is_pattern(target):
                name = next(self.fresh)
            if default is None:
                names.append(name)
            else:
                names.append(f"({name} {self.around(patterns, self.form(default))})")
            if _is_pattern(target):
                patterns.append((name, target))
        whole = " ".join(self.forms(body))
        return f"({' '.join(names)}) {self.around(patterns, whole)}"

    def around(self, patterns: list[tuple[str, Form]], body: str) -> str:
        for name, pattern in reversed(patterns):
            body = f"(match {name} ({self.form(pattern)} {body}))"
        return body

    def bindings(self, word: str, pairs: list[Any], body: list[Form]) -> str:
        if word == "let*":
            if not pairs:
                return f"(let () {' '.join(self.forms(body))})"
            inner = self.bindings(word, pairs[1:], body)
            target, value = pairs[0].items
            if _is_pattern(target):
                return f"(match {self.form(value)} ({self.form(target)} {inner}))"
            return f"(let (({self.form(target)} {self.form(value)})) {inner})"
        listed, patterns = [], []
        for pair in pairs:
            target, value = pair.items
            name = next(self.fresh) if _is_pattern(target) else self.form(target)
            listed.append(f"({name} {self.form(value)})")
            if _is_pattern(target):
                patterns.append((name, target))
        inner = self.around(patterns, " ".join(self.forms(body)))
        return f"({word} ({' '.join(listed)}) {inner})"


class _Params:
    def __init__(self, items: Any) -> None:
        self.items = items


def _pairs(listing: Any) -> list[Any]:
    return list(listing.items)


def _is_pattern(form: Form) -> bool:
    return isinstance(form, (VectorForm, TableForm)) or head(form) == "?"


def _is_bindings(form: Form) -> bool:
    return isinstance(form, ListForm) and all(
        isinstance(pair, ListForm) and len(pair.items) == 2 and head(form) is None
        for pair in form.items
    )
