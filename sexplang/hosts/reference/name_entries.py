"""The entries of the reference: what a name is, how it is called, what it does, with examples."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from sexplang.hosts.reference.documentation import headline, read_documentation
from sexplang.hosts.reference.examples import EXAMPLES
from sexplang.hosts.reference.language_names import (
    INNER,
    is_deprecated,
    list_members,
    list_modules,
    prelude,
    special,
    syntax_of,
)
from sexplang.hosts.reference.meanings import Meaning
from sexplang.hosts.reference.sentences import SENTENCES
from sexplang.hosts.reference.signatures import Operand, operands
from sexplang.terms.classes.node import frozen
from sexplang.terms.values.value import Operation, Primitive

LANGUAGE = "language"
PRELUDE = "prelude"
PROGRAM = "program"


@frozen
class Example:
    """A text, and the value that it gives; None where a model or the world would answer."""

    text: str
    value: str | None

    def __str__(self) -> str:
        return self.text if self.value is None else f"{self.text}  ;=> {self.value}"


@frozen
class Entry:
    """What is known of a name.

    `home` is the language for a special form, the prelude, a module such as `std/state`, or a
    program for a name that is not of the language. `signature` has a line for each way to write it.
    """

    name: str
    kind: str
    home: str
    signature: str
    doc: str
    examples: tuple[Example, ...]
    parameters: tuple[Mapping[str, Any], ...]

    @property
    def statement(self) -> str | None:
        """Return the import that the name needs, or None."""
        return f"(import {self.home})" if self.home.startswith("std/") else None

    def to_json(self) -> dict[str, Any]:
        """Return the entry as data. A key that does not apply is absent."""
        found: dict[str, Any] = {"name": self.name, "kind": self.kind, "home": self.home}
        if self.statement is not None:
            found["import"] = self.statement
        return found | {
            "signature": self.signature,
            "parameters": list(self.parameters),
            "doc": self.doc,
            "examples": [
                {"text": each.text}
                if each.value is None
                else {"text": each.text, "value": each.value}
                for each in self.examples
            ],
        }


_KINDS = {"primitive": "function", "syntax": "macro"}


def make_entry(meaning: Meaning) -> Entry:
    """Return what is known of a name, by its meaning."""
    name, home = meaning.name, _find_home(meaning)
    kind = _KINDS.get(meaning.kind, meaning.kind)
    if meaning.kind == "special form" and not syntax_of(name):
        kind = "word"
    signature = headline(meaning)
    remark, shown = _divide(meaning)
    doc = remark if home == PROGRAM else SENTENCES.get(name, remark)
    more = EXAMPLES.get(name, ()) if home != PROGRAM else ()
    examples = tuple([_read_example(each) for each in (*more, *shown)])
    described = {each.name: each for each in meaning.params or ()}
    parameters = tuple(
        _describe_operand(at, each, meaning, described.get(each.name))
        for at, each in enumerate(operands(signature) if _has_parameters(meaning) else ())
    )
    return Entry(name, kind, home, signature, doc, examples, parameters)


def _has_parameters(meaning: Meaning) -> bool:
    return meaning.params is not None or meaning.kind in ("primitive", "operation")


def _find_home(meaning: Meaning) -> str:
    name = meaning.name
    if meaning.kind == "parameter":  # also one of a function of the library
        return PROGRAM
    if special().get(name) is meaning:
        return LANGUAGE
    if prelude().get(name) is meaning:
        return PRELUDE
    source = meaning.name_span.source.name if meaning.name_span is not None else ""
    return source if source.startswith("std/") else PROGRAM


def _read_example(text: str) -> Example:
    call, _, value = text.partition(";=>")
    return Example(call.strip(), value.strip() or None)


def _divide(meaning: Meaning) -> tuple[str, list[str]]:
    """Return the sentence of a documentation and its examples."""
    if meaning.kind == "module":
        return "\n".join(sorted(meaning.members)), []
    doc = read_documentation(meaning)
    if isinstance(meaning.shape, (Primitive, Operation)):
        said, bracket, rest = doc.partition(f"({meaning.name}")
        if bracket:
            said = said.strip()
            calls = re.split(r" or (?=\()", (bracket + rest).removesuffix("."))
            return f"{said[:-1]}." if said.endswith(":") else said, calls
    return doc, []


def _describe_operand(at: int, operand: Operand, meaning: Meaning, param: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"name": operand.name}
    type_ = _find_type(at, operand, meaning) or (param.type if param is not None else "")
    if type_:
        found["type"] = type_
    if operand.optional:
        found["optional"] = True
    if operand.default:
        found["default"] = operand.default
    if operand.repeated:
        found["repeated"] = True
    if param is not None and param.doc:
        found["doc"] = " ".join(param.doc.split())
    return found


def _find_type(at: int, operand: Operand, meaning: Meaning) -> str:
    """Return the kinds that `check` knows a function of the language to take, in words."""
    from sexplang.analysis.slips.kinds import ANY_KIND, LIBRARY, TAKES, WORDS

    if _find_home(meaning) == PROGRAM:
        return ""
    taken = TAKES.get(meaning.name, ())
    kinds = taken[at] if at < len(taken) else LIBRARY.get(meaning.name, {}).get(operand.name)
    if kinds is None:
        return ""
    words = WORDS.get(kinds, "")
    return "any" if kinds == ANY_KIND else re.sub(r"\ban? ", "", words)


@cache
def table() -> Mapping[str, Entry]:
    """Return the entries of all names of the language, by name."""
    found = {name: make_entry(each) for name, each in {**prelude(), **special()}.items()}
    for module in list_modules():
        for name, meaning in list_members(module).items():
            if name not in found:
                found[name] = make_entry(meaning)
    return found


def find_entry(meaning: Meaning) -> Entry:
    """Return what is known of a name by its meaning, which may be one of the language."""
    known = None if _find_home(meaning) == PROGRAM else table().get(meaning.name)
    return known or make_entry(meaning)


def list_entries() -> Iterator[Entry]:
    """Yield the entries of the names that a program may use."""
    for name, entry in table().items():
        if name not in INNER and (name not in prelude() or not is_deprecated(prelude()[name])):
            yield entry


def describe(entry: Entry) -> str:
    """Return an entry as lines of text, as `doc` shows it."""
    lines = [_describe_kind(entry), entry.signature, entry.doc]
    lines += [f"  {each['name']}: {each['doc']}" for each in entry.parameters if "doc" in each]
    if entry.kind in ("operation", "function") and entry.home == PROGRAM:
        lines += [
            f"  {each['name']}: {each['type']}" for each in entry.parameters if "type" in each
        ]
    lines += [f"  {each}" for each in entry.examples]
    return "\n".join(line for line in lines if line)


def _describe_kind(entry: Entry) -> str:
    if entry.kind == "word":
        return "a word of a special form"
    if entry.kind == "clause":
        return "a clause of `defatom`"
    if entry.home == PROGRAM and entry.kind != "macro":
        return ""
    article = "an" if entry.kind[0] in "aeiou" else "a"
    kind = f"{article} {entry.kind}"
    if entry.home == PRELUDE:
        return f"{kind} of the prelude"
    return f"{kind} of {entry.home}: {entry.statement}" if entry.statement else kind


def summarize(entry: Entry) -> str:
    """Return an entry in one line: how it is called, what it does, and the import it needs."""
    call = entry.signature.partition("\n")[0]
    if len(call) > _LONGEST_CALL:
        call = f"({entry.name} …)"
    said = re.split(r"(?<=\.)\s", " ".join(entry.doc.split()), maxsplit=1)[0]
    if len(said) > _LONGEST_SENTENCE and "; " in said:
        said = f"{said.partition('; ')[0]}."
    return "  ".join(filter(None, [call, said, entry.statement]))


_LONGEST_CALL, _LONGEST_SENTENCE = 50, 90
