"""What to write for a type of another language. Imported for the first form that is no type."""

from collections.abc import Iterable

from sexplang.compiler.forms.shapes import word_of
from sexplang.terms.form import Form, ListForm, Literal
from sexplang.terms.texts.nearest import nearest

FORMS = (
    'a type is one of any nil string integer number boolean list table, (one-of "a" "b"), [T], '
    "{name: T  note?: T}, (or T …), (schema {…}) or the name of a define-type"
)

_WORDS = {
    "string": "str text char varchar symbol keyword email url uri uuid",
    "integer": "int long bigint int32 int64 uint natural positive-integer",
    "number": "float double decimal real num numeric float64 money",
    "boolean": "bool",
    "list": "tuple set vector sequence seq vec",
    "table": "dict map hash hashmap hash-map hash-table record struct alist mapping",
    "nil": "null none void undefined unit",
    '(schema {type: "string" format: "date"})': "date",
    '(schema {type: "string" format: "date-time"})': "datetime date-time timestamp",
}
_MEANT = {word: meant for meant, words in _WORDS.items() for word in words.split()}

_LISTS = frozenset(
    [
        "list",
        "list-of",
        "listof",
        "array",
        "array-of",
        "vector",
        "vectorof",
        "sequence",
        "seq",
        "set",
    ]
)
_OPTIONAL = frozenset(["optional", "maybe", "nullable", "option"])
_CHOICES = frozenset(["enum", "literal", "member", "choice", "choices", "oneof"])
_UNIONS = frozenset(["union", "either", "any-of"])
_TABLES = frozenset(["dict", "map", "record", "table", "struct", "hash", "hash-map", "object"])


def guess_word(word: str, known: Iterable[str]) -> tuple[str, str]:
    """Return a hint for a word that is no type, and what to write in its place, or nothing."""
    names = [*known]
    bare = word.removesuffix("?")
    if bare != word and (bare in names or bare.lower() in _MEANT):
        inner = bare if bare in names else _MEANT[bare.lower()]
        return f"write `(or {inner} nil)`; a field that may be absent is `name?: {inner}`", ""
    own = nearest(word, [name for name in names if name.lower() == word.lower()])
    meant = own or _MEANT.get(word.lower())
    if meant is not None:
        return f"write `{meant}`", meant
    near = nearest(word, names)
    return (f"did you mean `{near}`?", near) if near is not None else (FORMS, "")


def guess_form(form: Form, known: Iterable[str]) -> tuple[str, str]:
    """Return a hint for a form that is no type, and what to write in its place, or nothing."""
    word = (word_of(form) or "").lower()
    if not isinstance(form, ListForm) or not word:
        if isinstance(form, Literal):
            return f"a value is a type by `(one-of {form.span.text})`", ""
        return FORMS, ""
    own = {*known}
    texts = [each.span.text for each in form.items[1:]]
    operands = [each if each in own else _MEANT.get(each.lower(), each) for each in texts]
    rest = " ".join(operands if word not in _CHOICES else texts)
    written = ""
    if word in _LISTS and len(operands) == 1:
        written = f"[{rest}]"
    elif word in _OPTIONAL and len(operands) == 1:
        written = f"(or {rest} nil)"
    elif word in _CHOICES and operands:
        written = f"(one-of {rest})"
    elif word in _UNIONS and len(operands) > 1:
        written = f"(or {rest})"
    elif word in _TABLES:
        return "a table is written `{name: T  note?: T}`; one of any fields is `table`", ""
    return (f"write `{written}`", written) if written else (FORMS, "")
