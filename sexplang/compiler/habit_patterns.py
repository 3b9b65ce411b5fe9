"""Patterns of calls in the manner of another language, and the calls to write for them.

`stdlib/habits.txt` tells the notation.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from sexplang.compiler.forms.shapes import word_of
from sexplang.package.habits import to_directives
from sexplang.terms.classes.node import define, field
from sexplang.terms.form import Form, Label, ListForm, Literal, Name, TableForm, VectorForm


class _List(list["_Pattern"]):
    """The pattern of a list. `opening` is its bracket; parentheses stand for brackets, too.
    `repeats` if it stands for one or more of them."""

    opening = "("
    repeats = False


_Pattern = str | _List


@define(eq=False)
class Bound:
    """The texts that the words of a pattern stand for; a word of a repeated list has several."""

    words: dict[str, str] = field(factory=dict)
    repeated: dict[str, list[str]] = field(factory=dict)


def match(pattern: str, forms: Sequence[Form], is_form: bool) -> Bound | None:
    """Return what the words of a pattern in parentheses stand for; None if it does not fit the
    operands."""
    bound = Bound()
    return bound if _match(_read(pattern), forms, is_form, bound) else None


@cache
def _read(text: str) -> _List:
    """Return the operands of a pattern in parentheses."""
    stack = [_List()]
    for token in re.findall(r"[(\[{]|[)\]}]…?|\"[^\"]*\"|[^\s()\[\]{}\"]+", text):
        if token in "([{":
            stack.append(_List())
            stack[-1].opening = token
        elif token[0] in ")]}":
            done = stack.pop()
            done.repeats = token.endswith("…")
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    (whole,) = stack[0]
    assert isinstance(whole, _List)
    return whole


def _match(pattern: _List, forms: Sequence[Form], is_form: bool, bound: Bound) -> bool:
    """Return whether a pattern fits; `body…` is at least one form."""
    at = 0
    for index, part in enumerate(pattern):
        if isinstance(part, str) and part.endswith("…"):
            end = len(forms) - (len(pattern) - index - 1)
            if end < at or (end == at and part == "body…"):
                return False
            bound.words[part] = " ".join([each.span.text for each in forms[at:end]])
            at = end
            continue
        if isinstance(part, _List) and part.repeats:
            end = len(forms) - (len(pattern) - index - 1)
            if end <= at or not _match_all(part, forms[at:end], is_form, bound):
                return False
            at = end
            continue
        if at >= len(forms) or not _match_one(part, forms[at], is_form, bound):
            return False
        at += 1
    return at == len(forms)


def _match_all(part: _List, forms: Sequence[Form], is_form: bool, bound: Bound) -> bool:
    for form in forms:
        each = Bound()
        if not _match_one(part, form, is_form, each):
            return False
        for word, text in each.words.items():
            bound.repeated.setdefault(word, []).append(text)
    return True


def _match_one(part: _Pattern, form: Form, is_form: bool, bound: Bound) -> bool:
    if isinstance(part, _List):
        items = form.items if isinstance(form, _CLASSES[part.opening]) else None
        return items is not None and _match(part, items, is_form, bound)
    text = form.span.text
    if part.startswith('"'):
        bound.words[part.strip('"')] = text
        return _is_text(form) and (part != '"c"' or len(_inner(text)) == 1)
    if part.startswith("-") and part[1:].isalpha():
        bound.words[part[1:]] = text.removeprefix("-")
        return isinstance(form, Literal) and text.startswith("-")
    if _stands_for_itself(part) or (is_form and part in _LOOP_WORDS):
        return text == part
    if part in _KINDS:
        bound.words[part] = text
        return _is_of(part, form)
    if isinstance(form, Label) or (is_form and part in _NAMED and not isinstance(form, Name)):
        return False
    if not is_form and not may_be(part, form):
        return False
    bound.words[part] = _sequence(form) if is_form and part in ("xs", "ys") else text
    return True


_CLASSES = {"(": (ListForm, VectorForm), "[": (VectorForm,), "{": (TableForm,)}


def _is_text(form: Form) -> bool:
    return isinstance(form, Literal) and isinstance(form.value, str)


def _is_number(form: Form) -> bool:
    return isinstance(form, Literal) and type(form.value) in (int, float)


_KINDS = ("number", "literal", "total")
"""Words of a pattern that stand for forms of a kind."""


def _is_of(kind: str, form: Form) -> bool:
    if kind == "total":
        return isinstance(form, Name) and form.text in ("acc", "accum", "accumulator")
    return _is_number(form) if kind == "number" else isinstance(form, Literal)


def may_be(param: str, form: Form) -> bool:
    """Return whether a form, as it is written, may be the argument of a parameter."""
    if param in ("f", "p", "less?", "keep?"):
        return not isinstance(form, (Literal, VectorForm, TableForm))
    if word_of(form) in ("lambda", "fn"):
        return param not in _PLAIN
    if param in ("xs", "ys", "pairs", "rows"):
        return not isinstance(form, (Literal, TableForm))
    if param in ("t", "u"):
        return not isinstance(form, (Literal, VectorForm))
    if param in ("s", "part", "separator", "pattern"):
        return _is_text(form) or not isinstance(form, (Literal, VectorForm, TableForm))
    if param in ("n", "m", "width", "index", "start", "end"):
        return _is_number(form) or not isinstance(form, (Literal, VectorForm, TableForm))
    return True


_PLAIN = frozenset(("xs", "ys", "pairs", "rows", "t", "u", "s", "part", "separator", "n", "m"))
"""Parameters that are no functions."""


def _sequence(form: Form) -> str:
    """Return the text of a list for a sequence of Racket: a number, or `(in-range n)`."""
    word = word_of(form)
    if isinstance(form, Literal) and isinstance(form.value, int):
        return f"(range {form.span.text})"
    if word in ("in-list", "in-vector", "in-sequence") and isinstance(form, ListForm):
        return " ".join([each.span.text for each in form.items[1:]])
    return form.span.text.replace("(in-range ", "(range ").replace("(in-string ", "(string->list ")


_FIXED = frozenset(
    [
        *("error", "else", "lambda", "values", "default", "otherwise", "in", "of", "list", "floor"),
        *("truncate", "new", "int", "float", "str", "bool", "dict", "tuple", "true", "false"),
        *("nil", "cons"),
    ]
)


_LOOP_WORDS = frozenset(
    ("for", "from", "to", "upto", "below", "collect", "do", "sum", "when", "repeat", "across")
)
"""Words of a loop in Common Lisp, which stand for themselves in the pattern of a form."""


def _stands_for_itself(part: str) -> bool:
    """Return whether a word of a pattern is no place: a fixed one, a label, a number, a quoted
    word, or one with a capital."""
    return part in _FIXED or part.endswith(":") or not part[0].islower()


_NAMED = frozenset(("name", "x", "y", "i", "acc", "a", "b"))
"""Words of the pattern of a form that stand for a name alone."""


def fill(template: str, bound: Bound) -> str:
    """Return a template with the texts of the words; `x.message` is a field of what x stands for,
    and `{x}` in a text the letters of the text, or number, that x stands for."""
    filled = _fill_words(_repeat(template, bound), bound.words)
    return re.sub(rf"({_TEXT})| +(?=[ )\]])", lambda found: found[1] or "", filled)


def _repeat(template: str, bound: Bound) -> str:
    """Return a template with each `(…)…` and `word…` of a repeated list written out."""
    while (end := _find_repeated(template)) >= 0:
        start = _opening(template, end)
        part = template[start : end + 1]
        used = {word: each for word, each in bound.repeated.items() if word in _words_in(part)}
        times = max(map(len, used.values()), default=0)
        each = [
            _fill_words(part, {w: texts[at] for w, texts in used.items()}) for at in range(times)
        ]
        template = template[:start] + " ".join(each) + template[end + 2 :]
    texts = {f"{word}…": " ".join(each) for word, each in bound.repeated.items()}
    return _fill_words(template, texts)


def _find_repeated(template: str) -> int:
    found = re.search(r"[)\]}]…", template)
    return found.start() if found is not None else -1


def _opening(template: str, end: int) -> int:
    """Return the place of the bracket that the one at `end` closes."""
    depth = 0
    for at in range(end, -1, -1):
        depth += (template[at] in ")]}") - (template[at] in "([{")
        if depth == 0:
            return at
    raise AssertionError(f"no bracket opens: {template}")


_WORD = r"[^\s()\[\]{}\"]+"
_TEXT = r'"(?:[^"\\]|\\.)*"'


def _words_in(part: str) -> list[str]:
    return re.findall(_WORD, part)


def _fill_words(template: str, words: Mapping[str, str]) -> str:
    def text_of(found: re.Match[str]) -> str:
        if found[0].startswith('"'):
            return re.sub(r"\{(\w+)\}", inside, found[0])
        head, dot, key = found[0].partition(".")
        return words.get(found[0], words.get(head, head) + dot + key)

    def inside(found: re.Match[str]) -> str:
        text = words.get(found[1])
        if text is None:
            return found[0]
        return _INSIDE.get(found[1], str)(_inner(text))

    return re.sub(rf"{_TEXT}|{_WORD}", text_of, template)


def _inner(text: str) -> str:
    """Return the letters of a text as it is written, without its quotes."""
    return text[1:-1] if text[:1] == text[-1:] == '"' else text


def _class_of(letters: str) -> str:
    """Return the letters as they are written in a character class of a pattern."""
    return re.sub(r"\\\\|[\]\[^-]", lambda found: f"\\\\{found[0]}", letters)


def _flags_of(letters: str) -> str:
    """Return the flags of another language as a pattern has them. All matches, Unicode and the
    last place are no flags here."""
    kept = "".join([each for each in letters if each in "ims"])
    return f"(?{kept})" if kept else ""


def _lines(text: str) -> str:
    """Return a template as `format` has it, without the break that `print` writes at its end."""
    return re.sub(r"(\\n|~%|~n)$", "", to_directives(text))


_INSIDE = {
    "chars": _class_of,
    "c": _class_of,
    "printf": to_directives,
    "lines": _lines,
    "flags": _flags_of,
}
"""What becomes of the letters of some words in a text."""
