"""Compilation of `(syntax-rules (literal…) (pattern template) …)`, with all its flaws."""

from sexplang.expander.macro_diagnostics import flaw
from sexplang.expander.rule_nodes import MacroContext, Rule
from sexplang.expander.rule_patterns import read_pattern
from sexplang.expander.rule_templates import read_template
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.form import Form, ListForm, Name
from sexplang.terms.macro import Rules
from sexplang.terms.source import Made, Span

SYNTAX = "(syntax-rules (literal…) (pattern template) …)"
KEPT = frozenset(["_", ".", "...", "?"])
"""The punctuation of parameters, patterns and templates."""

OTHERS = {
    "lambda": "a macro is not a function of forms",
    "fn": "a macro is not a function of forms",
    "er-macro-transformer": "`syntax-rules` alone makes macros",
    "syntax-case": "`syntax-rules` alone makes macros",
}


def read_rules(form: Form, words: frozenset[str]) -> Rules:
    """Return the rules of a form. Raises Diagnostics."""
    if not isinstance(form, ListForm) or not _is_rules(form):
        raise Diagnostics([_no_rules(form)])
    items = form.items[1:]
    ellipsis = "..."
    if items and type(items[0]) is Name:
        ellipsis = items[0].text
        items = items[1:]
    flaws: list[Diagnostic] = []
    literals = _literals(form, items, flaws)
    reading = MacroContext(ellipsis, literals, words, words | KEPT | {ellipsis}, flaws)
    if len(items) < 2 and not flaws:
        flaws.append(_bad(form, "a macro needs a rule", f"I expected `{SYNTAX}`"))
    names: set[str] = set(literals)
    rules = [_rule(reading, item, names) for item in items[1:]]
    if flaws:
        raise Diagnostics(flaws)
    return Rules(frozenset(names), tuple(rules))


def _is_rules(form: ListForm) -> bool:
    head = form.items[0] if form.items else None
    return type(head) is Name and head.text == "syntax-rules"


def _bad(at: Form, title: str, words: str = "", hint: str | None = None) -> Diagnostic:
    return flaw("bad-syntax-rules", at.span, title, words, hint)


def _no_rules(form: Form) -> Diagnostic:
    head = form.items[0] if isinstance(form, ListForm) and form.items else form
    why = OTHERS.get(head.text) if type(head) is Name else None
    return _bad(form, "a macro is defined by `syntax-rules`", f"I expected `{SYNTAX}` here", why)


def _literals(form: ListForm, items: tuple[Form, ...], flaws: list[Diagnostic]) -> frozenset[str]:
    given = items[0].items if items and type(items[0]) is ListForm else None
    if given is not None:
        names = [item.text for item in given if type(item) is Name and item.text != "."]
        if len(names) == len(given):
            return frozenset(names)
    at = items[0] if items else form
    hint = f"write `{SYNTAX}`; without literals `()`"
    flaws.append(_bad(at, "the literals come first", "I expected a list of names here", hint))
    return frozenset()


def _rule(reading: MacroContext, item: Form, names: set[str]) -> Rule | None:
    if type(item) is not ListForm or len(item.items) != 2:
        hint = None
        if type(item) is ListForm and len(item.items) > 2:
            hint = "several forms: `(pattern (begin e…))`"
        words = "I expected `(pattern template)` here"
        reading.flaws.append(_bad(item, "a rule is a pattern and a template", words, hint))
        return None
    pattern, template = item.items
    if type(pattern) is not ListForm or not pattern.items or type(pattern.items[0]) is not Name:
        title = "a pattern is written as the macro is used: `(_ part…)`"
        reading.flaws.append(_bad(pattern, title, "I expected a list that begins with a name here"))
        return None
    sequence, paths = read_pattern(reading, pattern.items[1:])
    made, brought = read_template(reading, template, paths)
    names |= brought
    return Rule(sequence, made, _pattern_text(pattern.span))


def _pattern_text(span: Span) -> str:
    """Return a pattern as written, on one line."""
    if isinstance(span, Made):
        span = span.template
    text = " ".join(span.text.split())
    return text if len(text) <= 80 else text[:79] + "…"
