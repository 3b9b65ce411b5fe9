"""Hints for words that other languages begin with `#` or `:`, by what stands around them."""

import re

from sexplang.package import habits

_NEAR = 200
"""The length of the text before a word in which its call begins."""

_MAPPING = r"\((?:map|filter|find|any\?|all\?|(?:sort|group|max|min|index)-by) +$"
_KEYED = r"\((?:get|put|assoc|update|remove|dissoc|has-key\?|contains\?) [^()]*$"

COMMENT = "a comment begins with `;` and ends with its line"


def find_hint(text: str, start: int, end: int, opening: str, is_head: bool) -> str | None:
    """Return what to write for the word from `start` to `end` of a text, None if its mark is none
    of another language's. `opening` is the bracket around it, `is_head` if it stands first."""
    word = text[start:end]
    if word == "#":
        return _describe_hash(text, end)
    name = word.strip(":#")
    if not re.fullmatch(r"#?:[^:#]+", word) or opening == "{":
        return None
    meant = habits.find_label_hint(name)
    if meant is not None:
        return meant
    if is_head and opening == "(":
        return f'write `(get t "{name}")`, or `t.{name}`'
    before = text[max(0, start - _NEAR) : start]
    if re.search(_MAPPING, before):
        return f"a field is read by a function: write `(lambda (x) x.{name})`"
    is_last = text[end:].lstrip()[:1] in (")", "")
    is_label = opening == "(" and not is_last and not re.search(_KEYED, before)
    if is_label:
        return f'an argument with a label: write `{name}:`; a key is a text, `"{name}"`'
    return f'a key is a text: write `"{name}"`'


def _describe_hash(text: str, end: int) -> str:
    """Return what to write for `#` before what stands at `end`."""
    after = text[end : end + 1]
    if after == "(":
        return _describe_function(text, end)
    if after == "{":
        return "there are no sets: write a list, `[…]`, and `(distinct xs)`"
    if after == '"':
        return 'a pattern is a text: write `"[0-9]+"`, and each of its backslashes twice'
    if after == "[":
        return "write a vector as `[…]`; lists and vectors are one kind of value"
    return COMMENT


def _describe_function(text: str, start: int) -> str:
    """Return what to write for `#(* % 2)`; without a `%` it is a vector of Scheme."""
    whole = re.match(r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", text[start:])
    body = whole[0] if whole is not None else ""
    numbers = sorted(set(re.findall(r"%([1-3]?)(?=[\s()\[\]{}])", body)))
    if not numbers:
        return "write a vector as `[…]`; lists and vectors are one kind of value"
    names = {number: "xyz"[max(int(number or 1) - 1, 0)] for number in numbers}
    params = "xyz"[: max("xyz".index(each) for each in names.values()) + 1]
    written = re.sub(r"%([1-3]?)(?=[\s()\[\]{}])", lambda found: names[found[1]], body)
    shown = f"(lambda ({' '.join(params)}) {written})"
    is_short = len(shown) < 80 and "\n" not in shown
    return f"write `{shown}`" if is_short else "write `(lambda (x) …)`"
