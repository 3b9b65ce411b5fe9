"""The misfits of data: each place at which they do not fit a JSON Schema.

Law: only parts that do not fit are visited, each once. The library is only asked whether a part
fits. Its own list of errors would be built whole, and again for each union in a union.
"""

import json
import string
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sexplang.schemas.applicable_parts import Part
from sexplang.schemas.checker import Account, Check, TooMuch, is_of
from sexplang.schemas.linear_patterns import pattern
from sexplang.terms.classes.node import define, evolve, frozen

Schema = dict[str, Any]
Fits = Callable[[Any, Schema], bool]
"""Whether data are of a branch's kind."""


@frozen(eq=False)
class At:
    """A part of a schema at a value. `reference` leads to the part, `place` to the value."""

    part: Any
    value: Any
    place: str = ""
    reference: str = "#"

    def beside(self, *keys: str | int) -> "At":
        """Return a subpart that applies to the same value."""
        return evolve(self, part=_under(self.part, keys), reference=self.reference + _step(keys))

    def inside(self, key: str | int, *keys: str | int) -> "At":
        """Return a subpart that applies to the value at a key."""
        place = f"[{key}]" if isinstance(key, int) else f".{key}"
        return evolve(self.beside(*keys), value=self.value[key], place=self.place + place)


@frozen(eq=False)
class Misfit:
    """The reason why a value does not fit."""

    place: str
    words: str

    def __str__(self) -> str:
        return f"{self.place.lstrip('.') or 'the whole'}: {self.words[:200]}"


_CLOSELY = 1_000
"""The part of the remaining steps beyond which a cost is counted exactly."""

_MOST_NAMES = 10
"""The most references in a row that lead to a branch."""


@define(eq=False)
class ReplyCheck:
    """The library's checks of one reply, on one account."""

    check: Check
    account: Account

    def fits(self, at: At) -> bool:
        """Return whether the value fits the part. Raises TooMuch."""
        most = self.account.left
        self.account.spend(self.check.steps(at.value, at.part, most / _CLOSELY, most))
        return self.check.fits_part(at.value, at.part, at.reference)


def misfits(check: Check, data: Any, account: Account) -> Iterator[Misfit]:
    """Return the misfits of data that do not fit. A union is judged by the branch that was meant,
    or by the field that tells its branches apart. If that is too much work, the place is
    reported."""
    first = At(check.schema, data)
    asking = ReplyCheck(check, account)
    work = [(first, _at(asking, first))]
    seen: set[tuple[int, str]] = set()
    told = 0
    while work:
        at, rest = work[-1]
        try:
            each = next(rest, None)
            goes_on = False
            if isinstance(each, At) and (id(each.part), each.place) not in seen:
                goes_on = not asking.fits(each)
        except TooMuch:
            yield Misfit(at.place, "it does not fit, and is too much to say where")
            return
        if each is None:
            work.pop()
            if not told:  # only the library knows which fields were evaluated
                told += 1
                yield Misfit(at.place, "it has more than the schema allows")
        elif isinstance(each, Misfit):
            told += 1
            yield each
        elif goes_on:
            seen.add((id(each.part), each.place))
            work.append((each, _at(asking, each)))


def _at(asking: ReplyCheck, at: At) -> Iterator[At | Misfit]:
    """Return the misfits at one place, and the places to visit next."""
    if not isinstance(at.part, dict):
        yield Misfit(at.place, f"{show(at.value)} is not allowed here")
        return
    own = asking.check.own(at.part)
    for error in own.iter_errors(at.value) if own is not None else ():
        yield Misfit(at.place, error.message)
    if isinstance(at.value, dict):
        yield from _of_table(asking, at)
    elif isinstance(at.value, list):
        yield from _of_list(asking, at)
    yield from _list_applicators(asking, at)


def _of_table(asking: ReplyCheck, at: At) -> Iterator[At | Misfit]:
    part, value = at.part, at.value
    wanted = [*part.get("required", ())]
    for word in ("dependentRequired", "dependencies", "dependentSchemas"):
        for name, each in part.get(word, {}).items():
            if name in value and isinstance(each, list):
                wanted += each
            elif name in value:
                yield at.beside(word, name)
    for name in dict.fromkeys(wanted):
        if name not in value:
            yield Misfit(at.place, f"{show(name)} is a required property")
    for key in value:
        if "propertyNames" in part:
            named = evolve(at.beside("propertyNames"), value=key)
            if not asking.fits(named):
                yield Misfit(at.place, f"{show(key)} is no name of a field here")
        known = list(_parts_at(part, key))
        if known:
            yield from [at.inside(key, *each) for each in known]
        elif part.get("additionalProperties") is False:
            yield Misfit(at.place, f"the field {show(key)} is not allowed here")
        elif "additionalProperties" in part:
            yield at.inside(key, "additionalProperties")


def _parts_at(part: Part, key: str) -> Iterator[tuple[str, str]]:
    """Return the keys of the subparts that apply to a field."""
    if key in part.get("properties", ()):
        yield "properties", key
    for text in part.get("patternProperties", ()):
        if pattern(text).fits(key):
            yield "patternProperties", text


def _of_list(asking: ReplyCheck, at: At) -> Iterator[At | Misfit]:
    part, value = at.part, at.value
    word = "items" if isinstance(part.get("items"), list) else "prefixItems"
    rest = "additionalItems" if word == "items" else "items"
    listed = part.get(word, ())
    for index in range(len(value)):
        if index < len(listed):
            yield at.inside(index, word, index)
        elif rest in part:
            yield at.inside(index, rest)
    if "contains" in part:
        held = at.beside("contains")
        found = sum([asking.fits(evolve(held, value=each)) for each in value])
        least, most = part.get("minContains", 1), part.get("maxContains", len(value))
        if not least <= found <= most:
            yield Misfit(at.place, f"{found} of its items are as `contains` asks")


def _list_applicators(asking: ReplyCheck, at: At) -> Iterator[At | Misfit]:
    """Return the misfits and subparts that apply to the same value."""
    part = at.part
    if "$ref" in part:
        yield evolve(at, part=asking.check.references.at(part["$ref"]), reference=part["$ref"])
    yield from [at.beside("allOf", index) for index in range(len(part.get("allOf", ())))]
    for word in ("anyOf", "oneOf"):
        if word in part:
            yield from _union(asking, at, word)
    if "not" in part and asking.fits(at.beside("not")):
        yield Misfit(at.place, f"{show(at.value)} is what `not` excludes")
    if "if" in part:
        word = "then" if asking.fits(at.beside("if")) else "else"
        if word in part:
            yield at.beside(word)


def _union(asking: ReplyCheck, at: At, word: str) -> Iterator[At | Misfit]:
    ways = [at.beside(word, index) for index in range(len(at.part[word]))]
    fitting = sum([asking.fits(way) for way in ways])
    if fitting > 1 and word == "oneOf":
        words = f"{show(at.value)} is valid under more than one of the schemas of `oneOf`"
        yield Misfit(at.place, words)
    if fitting:
        return
    branches = [_resolve(asking, way.part) for way in ways]
    if all(isinstance(each, dict) for each in branches):
        wrong = astray(at.value, branches)
        if wrong is not None:
            name, known = wrong
            listed = ", ".join([show(each) for each in known])
            words = f"{show(at.value[name])} is none of {listed}"
            yield Misfit(f"{at.place}.{name}", words)
            return
        chosen = choose_branch(at.value, branches, _may_be)
        if chosen is not None:
            yield ways[chosen]
            return
    yield Misfit(at.place, f"{show(at.value)} is not valid under any of the schemas of `{word}`")


def _resolve(asking: ReplyCheck, branch: Any) -> Any:
    """Return the branch that a reference leads to."""
    for _ in range(_MOST_NAMES):
        if not isinstance(branch, dict) or "$ref" not in branch:
            break
        branch = asking.check.references.at(branch["$ref"])
    return branch


def _may_be(data: Any, branch: Part) -> bool:
    """Return whether the data have a type of the branch. A branch without types admits any."""
    said = branch.get("type")
    types = said if isinstance(said, list) else [said]
    return any(is_of(data, type_) for type_ in types)


def _under(part: Any, keys: tuple[str | int, ...]) -> Any:
    for key in keys:
        part = part[key]
    return part


_PLAIN = frozenset(string.ascii_letters + string.digits + "-._$")


def _step(keys: tuple[str | int, ...]) -> str:
    """Return keys as the end of a reference."""
    steps = [str(key).replace("~", "~0").replace("/", "~1") for key in keys]
    return "".join([f"/{''.join(map(_quote, step))}" for step in steps])


def _quote(char: str) -> str:
    if char in _PLAIN:
        return char
    return "".join([f"%{byte:02X}" for byte in char.encode("utf-8", "replace")])


def show(data: Any) -> str:
    """Return data for a sentence."""
    return json.dumps(data, ensure_ascii=False, default=str)[:60]


def choose_branch(data: Any, branches: Sequence[Schema], is_of: Fits) -> int | None:
    """Return the index of the branch that the data were meant for. It is the only one of the data's
    kind; for objects, the one whose choice a field has, else the one with the most common fields.
    None if it is uncertain."""
    kind = [at for at, branch in enumerate(branches) if is_of(data, branch)]
    if type(data) is not dict:
        return kind[0] if len(kind) == 1 else None
    for name in _discriminators([branches[at] for at in kind]):
        if name in data:
            chosen = [at for at in kind if _is_among(data[name], choices(branches[at], name))]
            if len(kind) > len(chosen) == 1:
                return chosen[0]
    return max(kind, key=lambda at: len(data.keys() & _fields(branches[at])), default=None)


def astray(data: Any, branches: Sequence[Schema]) -> tuple[str, list[Any]] | None:
    """Return a field that tells the branches apart and has none of their choices, and all these
    choices. Else None."""
    for name in _discriminators(branches) if type(data) is dict and len(branches) > 1 else ():
        every = [each for branch in branches for each in choices(branch, name)]
        if name in data and not _is_among(data[name], every):
            return name, list({json.dumps(each, default=str): each for each in every}.values())
    return None


def _discriminators(branches: Sequence[Schema]) -> list[str]:
    """Return the fields for which every branch has choices."""
    first = _fields(branches[0]) if branches else {}
    return [name for name in first if all(choices(branch, name) for branch in branches)]


def choices(branch: Schema, name: str) -> Sequence[Any]:
    """Return the choices of a branch for a field. Empty if it lists none."""
    field = _fields(branch).get(name)
    if not isinstance(field, dict):
        return ()
    return (field["const"],) if "const" in field else field.get("enum") or ()


def _fields(branch: Schema) -> Schema:
    fields = branch.get("properties")
    return fields if isinstance(fields, dict) else {}


def _is_among(value: Any, listed: Sequence[Any]) -> bool:
    """Return whether a value is one of the choices. To Python, true equals 1."""
    return any(
        value == each and isinstance(value, bool) is isinstance(each, bool) for each in listed
    )
